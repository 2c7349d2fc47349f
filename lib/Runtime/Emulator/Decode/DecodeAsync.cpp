//===- DecodeAsync.cpp - mbarriers, clusters and cp.async -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of mbarrier instructions, of the copies of
// single threads, and of what belongs to clusters and proxies.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Decode/Decoder.h"

using namespace fusionemu;

bool Decoder::readAddress(const Operand &o, Space space, int32_t &slot) {
  Instruction I;
  if (!resolveAddress(o, I, space))
    return false;
  if (I.addressBytes == 0) {
    slot = constantSlot(8, uint64_t(I.offset));
    return error.empty();
  }
  // What computes an address is no instruction of the program.
  Instruction step = make(nullptr);
  step.guard = truePredicate;
  step.guardXor = 0;
  step.counted = 0;
  slot = I.a;
  Type type = I.addressBytes == 8 ? Type::U64 : Type::U32;
  if (I.offset != 0) {
    step.handler = handlers.integer(Op::Add, type);
    step.a = slot;
    step.b = constantSlot(I.addressBytes, uint64_t(I.offset));
    step.dst = slot = allocateRegister(I.addressBytes);
    if (!emit(step))
      return false;
  }
  if (I.addressBytes == 8)
    return error.empty();
  return resizeSlot(slot, 4, 8, false) && error.empty();
}

Space Decoder::takeSharedSpace() {
  return modifiers->takeOneOf({"shared", "shared::cta", "shared::cluster"}) >= 0
             ? Space::Shared
             : Space::Generic;
}

/// Takes ordering and scope of an mbarrier instruction; true when relaxed.
static bool takeRelaxed(Modifiers &m) {
  bool relaxed = m.take("relaxed");
  m.takeOneOf({"acquire", "release"});
  m.takeOneOf({"cta", "cluster"});
  return relaxed;
}

bool Decoder::decodeMBarrier() {
  kernel.usesAsync = true;
  int kind = modifiers->takeOneOf({"init", "inval", "expect_tx", "complete_tx",
                                   "arrive", "arrive_drop", "test_wait",
                                   "try_wait", "pending_count"});
  switch (kind) {
  case 0:
  case 1:
    return decodeMBarrierInit(kind == 0);
  case 2:
  case 3: {
    // The form of arrive has been taken for what it ends in.
    if (kind == 2 && modifiers->take("arrive"))
      return decodeMBarrierArrive(false, true);
    if (kind == 2 && modifiers->take("arrive_drop"))
      return decodeMBarrierArrive(true, true);
    takeRelaxed(*modifiers);
    Instruction I = make(mbarrierBytes);
    I.space = takeSharedSpace();
    I.aux = kind == 3;
    return modifiers->take("b64") && needOperands(2, 2) &&
           readAddress(operand(0), I.space, I.a) &&
           read(operand(1), Type::U32, I.b) && emit(I);
  }
  case 4:
  case 5:
    return decodeMBarrierArrive(kind == 5, false);
  case 6:
  case 7:
    return decodeMBarrierWait(kind == 7);
  case 8: {
    Instruction I = make(mbarrierPending);
    return modifiers->take("b64") && needOperands(2, 2) &&
           read(operand(1), Type::U64, I.a) &&
           write(operand(0), Type::U32, I.dst) && emitAll(I);
  }
  default:
    return failInstruction();
  }
}

bool Decoder::decodeMBarrierInit(bool isInit) {
  Instruction I = make(isInit ? mbarrierInit : mbarrierInval);
  I.space = takeSharedSpace();
  size_t operands = isInit ? 2 : 1;
  if (!modifiers->take("b64"))
    return failInstruction();
  return needOperands(operands, operands) &&
         readAddress(operand(0), I.space, I.a) &&
         (!isInit || read(operand(1), Type::U32, I.b)) && emit(I);
}

bool Decoder::decodeMBarrierArrive(bool isDrop, bool expects) {
  Instruction I = make(mbarrierArrive);
  I.aux = isDrop ? arriveDrop : 0;
  bool noComplete = modifiers->take("noComplete");
  if (noComplete)
    I.aux |= arriveNoComplete;
  if (takeRelaxed(*modifiers))
    I.aux |= orderRelaxed;
  I.space = takeSharedSpace();
  if (!modifiers->take("b64") || (noComplete && expects))
    return failInstruction();
  // A state is only left out for an mbarrier of another block.
  size_t n = syntax->operands.size();
  bool hasState = n != 0 && operand(0).kind != Operand::Kind::Address;
  size_t next = hasState ? 1 : 0;
  if (!needOperands(next + 1, next + 2) ||
      !readAddress(operand(next), I.space, I.a))
    return false;
  bool hasCount = n == next + 2;
  I.b = constantSlot(4, 1);
  I.c = -1;
  if (expects && !hasCount)
    return failSyntax("expected the number of bytes");
  if (hasCount && !read(operand(next + 1), Type::U32, expects ? I.c : I.b))
    return false;
  I.dst = -1;
  if (hasState && operand(0).kind != Operand::Kind::Sink &&
      !write(operand(0), Type::U64, I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodeMBarrierWait(bool isTry) {
  Instruction I = make(mbarrierWait);
  bool parity = modifiers->take("parity");
  I.aux = parity ? 0 : waitState;
  if (takeRelaxed(*modifiers))
    I.aux |= orderRelaxed;
  I.space = takeSharedSpace();
  if (!modifiers->take("b64"))
    return failInstruction();
  // A hint of how long to wait changes nothing here.
  return needOperands(3, isTry ? 4 : 3) &&
         readAddress(operand(1), I.space, I.a) &&
         read(operand(2), parity ? Type::U32 : Type::U64, I.b) &&
         writePredicate(operand(0), I.dst) && emit(I);
}

/// cp.async and, with .bulk, cp.async.bulk; cp.reduce.async.bulk.
bool Decoder::decodeCp() {
  bool reduces = modifiers->take("reduce");
  if (!modifiers->take("async"))
    return failInstruction();
  kernel.usesAsync = true;
  if (modifiers->take("bulk"))
    return decodeBulk(reduces);
  if (reduces)
    return failInstruction();
  if (modifiers->take("commit_group"))
    return needOperands(0, 0) && emit(make(threadCopyCommit));
  if (modifiers->take("wait_all")) {
    Instruction I = make(threadCopyWait);
    I.aux = ~uint32_t(0);
    return needOperands(0, 0) && emit(I);
  }
  if (modifiers->take("wait_group")) {
    Instruction I = make(threadCopyWait);
    return needOperands(1, 1) && readGroupCount(operand(0), I.aux) && emit(I);
  }
  if (modifiers->take("mbarrier")) {
    Instruction I = make(threadCopyArrive);
    if (!modifiers->take("arrive"))
      return failInstruction();
    I.aux = modifiers->take("noinc");
    I.space = takeSharedSpace();
    return modifiers->take("b64") && needOperands(1, 1) &&
           readAddress(operand(0), I.space, I.a) && emit(I);
  }
  return decodeThreadCopy();
}

bool Decoder::readGroupCount(const Operand &o, uint32_t &count) {
  uint64_t value = 0;
  if (!readImmediate(o, value))
    return false;
  if (value > 0x7fffffff)
    return failSyntax("the number of groups is out of range");
  count = uint32_t(value);
  return true;
}

bool Decoder::decodeThreadCopy() {
  bool bypass = modifiers->takeOneOf({"ca", "cg"}) == 1;
  Instruction I = make(threadCopy);
  I.space = takeSharedSpace();
  bool hint = modifiers->has("L2::cache_hint");
  modifiers->takePrefix("L2::");
  if (I.space != Space::Shared || !modifiers->take("global"))
    return failInstruction();
  size_t n = syntax->operands.size() - (hint ? 1 : 0);
  uint64_t bytes = 0;
  if (!needOperands(hint ? 4 : 3, hint ? 5 : 4) ||
      !readAddress(operand(0), Space::Shared, I.a) ||
      !readAddress(operand(1), Space::Global, I.b) ||
      !readImmediate(operand(2), bytes))
    return false;
  if (bytes != 16 && (bypass || (bytes != 4 && bytes != 8)))
    return failSyntax("cannot copy " + std::to_string(bytes) + " bytes");
  I.aux = uint32_t(bytes);
  I.c = I.d = -1;
  if (n == 4) {
    Symbol *symbol = registerOf(operand(3));
    bool negated = false;
    if (symbol && symbol->isPredicate) {
      if (!readPredicate(operand(3), I.d, negated) || negated)
        return failSyntax("expected a predicate as it is");
    } else if (!read(operand(3), Type::U32, I.c)) {
      return false;
    }
  }
  kernel.sharedGranuleShift = std::min(kernel.sharedGranuleShift, 2u);
  return emit(I);
}

/// fence.proxy and fence.mbarrier_init; the others are in DecodeControl.cpp.
bool Decoder::decodeProxyFence() {
  Instruction I = make(fenceProxy);
  if (modifiers->take("mbarrier_init")) {
    I.aux = fenceMBarrierInit;
    bool fine = modifiers->take("release") && modifiers->take("cluster");
    return (fine || failInstruction()) && needOperands(0, 0) && emit(I);
  }
  if (modifiers->take("alias"))
    return needOperands(0, 0) && emit(make(handlers.special("nop")));
  // A tensor map that the kernel itself writes is read when a copy is issued.
  if (modifiers->take("tensormap::generic")) {
    modifiers->takeOneOf({"acquire", "release"});
    modifiers->takeOneOf({"cta", "cluster", "gpu", "sys"});
    return needOperands(0, 2) && emit(make(handlers.special("nop")));
  }
  if (modifiers->take("async")) {
    int space =
        modifiers->takeOneOf({"global", "shared::cta", "shared::cluster"});
    I.aux = space == 0 ? 0 : fenceAsync;
    return needOperands(0, 0) && emit(I);
  }
  // The forms that order shared memory against the async proxy one way.
  if (modifiers->take("async::generic")) {
    modifiers->takeOneOf({"acquire", "release"});
    modifiers->takeOneOf(
        {"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    modifiers->take("cluster");
    I.aux = fenceAsync | fenceClusterScope;
    return needOperands(0, 0) && emit(I);
  }
  return failInstruction();
}

bool Decoder::decodeClusterBarrier() {
  int kind = modifiers->takeOneOf({"arrive", "wait"});
  modifiers->takeOneOf({"release", "acquire"});
  bool relaxed = modifiers->take("relaxed");
  bool aligned = modifiers->take("aligned");
  if (kind < 0 || (relaxed && kind != 0))
    return failInstruction();
  Instruction I = make(kind == 0 ? clusterArrive : clusterWait);
  I.aux = (relaxed ? orderRelaxed : 0) | (aligned ? allLanes : 0);
  return needOperands(0, 0) && emit(I);
}

bool Decoder::decodeMapa() {
  Instruction I = make(mapAddress);
  I.space = takeSharedSpace();
  Type type = modifiers->takeType();
  if (type != Type::U32 && type != Type::U64)
    return failInstruction();
  if (!needOperands(3, 3) || !read(operand(2), Type::U32, I.b))
    return false;
  return readPlainAddress(operand(1), type, I.space, I.a) &&
         writeSized(operand(0), 8, false, I.dst) && emitAll(I);
}

bool Decoder::decodeGetctarank() {
  Instruction I = make(getBlockRank);
  I.space = takeSharedSpace();
  Type type = modifiers->takeType();
  if (type != Type::U32 && type != Type::U64)
    return failInstruction();
  return needOperands(2, 2) &&
         readPlainAddress(operand(1), type, I.space, I.a) &&
         write(operand(0), Type::U32, I.dst) && emitAll(I);
}

/// An address that is written without brackets, as 64 bits.
bool Decoder::readPlainAddress(const Operand &o, Type type, Space space,
                               int32_t &slot) {
  Symbol *symbol = o.kind == Operand::Kind::Name ? lookUp(o.name) : nullptr;
  if (symbol && symbol->kind == Symbol::Kind::Variable) {
    Operand address = o;
    address.kind = Operand::Kind::Address;
    return readAddress(address, space, slot);
  }
  if (!read(o, type, slot))
    return false;
  if (type == Type::U64)
    return true;
  return resizeSlot(slot, 4, 8, false);
}

/// setmaxnreg: checked, without effect.
bool Decoder::decodeSetmaxnreg() {
  int kind = modifiers->takeOneOf({"inc", "dec"});
  bool fine = modifiers->take("sync") && modifiers->take("aligned") &&
              modifiers->take("u32");
  uint64_t count = 0;
  if (kind < 0 || !fine)
    return failInstruction();
  if (!needOperands(1, 1) || !readImmediate(operand(0), count))
    return false;
  if (count < 24 || count > 256 || count % 8 != 0)
    return failSyntax("a warp cannot have " + std::to_string(count) +
                      " registers a thread");
  Instruction I = make(setMaxRegisters);
  I.aux = allLanes;
  return emit(I);
}
