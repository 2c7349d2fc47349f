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
#include "Decode/Families.h"

using namespace fusionemu;

static bool decodeMBarrierInit(InstructionDecoder &d, bool isInit);
static bool decodeMBarrierArrive(InstructionDecoder &d, bool isDrop,
                                 bool expects);
static bool decodeMBarrierWait(InstructionDecoder &d, bool isTry);
static bool decodeThreadCopy(InstructionDecoder &d);
static bool readPlainAddress(InstructionDecoder &d, const Operand &o, Type type,
                             Space space, int32_t &slot);

bool fusionemu::readAddress(InstructionDecoder &d, const Operand &o,
                            Space space, int32_t &slot) {
  const HandlerTable &handlers = d.getHandlers();
  Instruction I;
  if (!d.resolveAddress(o, I, space))
    return false;
  if (I.addressBytes == 0) {
    slot = d.constantSlot(8, uint64_t(I.offset));
    return !d.hasFailed();
  }
  // What computes an address is no instruction of the program.
  Instruction step = d.make(nullptr);
  step.guard = truePredicate;
  step.guardXor = 0;
  step.counted = 0;
  slot = I.a;
  Type type = I.addressBytes == 8 ? Type::U64 : Type::U32;
  if (I.offset != 0) {
    step.handler = handlers.integer(Op::Add, type);
    step.a = slot;
    step.b = d.constantSlot(I.addressBytes, uint64_t(I.offset));
    step.dst = slot = d.allocateRegister(I.addressBytes);
    if (!d.emit(step))
      return false;
  }
  if (I.addressBytes == 8)
    return !d.hasFailed();
  return d.resizeSlot(slot, 4, 8, false) && !d.hasFailed();
}

static Space takeSharedSpace(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  return modifiers.takeOneOf({"shared", "shared::cta", "shared::cluster"}) >= 0
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

static bool decodeMBarrier(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  kernel.usesAsync = true;
  int kind = modifiers.takeOneOf({"init", "inval", "expect_tx", "complete_tx",
                                  "arrive", "arrive_drop", "test_wait",
                                  "try_wait", "pending_count"});
  switch (kind) {
  case 0:
  case 1:
    return decodeMBarrierInit(d, kind == 0);
  case 2:
  case 3: {
    // The form of arrive has been taken for what it ends in.
    if (kind == 2 && modifiers.take("arrive"))
      return decodeMBarrierArrive(d, false, true);
    if (kind == 2 && modifiers.take("arrive_drop"))
      return decodeMBarrierArrive(d, true, true);
    takeRelaxed(modifiers);
    Instruction I = d.make(mbarrierBytes);
    I.space = takeSharedSpace(d);
    I.aux = kind == 3;
    return modifiers.take("b64") && d.needOperands(2, 2) &&
           readAddress(d, d.operand(0), I.space, I.a) &&
           d.read(d.operand(1), Type::U32, I.b) && d.emit(I);
  }
  case 4:
  case 5:
    return decodeMBarrierArrive(d, kind == 5, false);
  case 6:
  case 7:
    return decodeMBarrierWait(d, kind == 7);
  case 8: {
    Instruction I = d.make(mbarrierPending);
    return modifiers.take("b64") && d.needOperands(2, 2) &&
           d.read(d.operand(1), Type::U64, I.a) &&
           d.write(d.operand(0), Type::U32, I.dst) && d.emitAll(I);
  }
  default:
    return d.failInstruction();
  }
}

static bool decodeMBarrierInit(InstructionDecoder &d, bool isInit) {
  Modifiers &modifiers = d.getModifiers();
  Instruction I = d.make(isInit ? mbarrierInit : mbarrierInval);
  I.space = takeSharedSpace(d);
  size_t operands = isInit ? 2 : 1;
  if (!modifiers.take("b64"))
    return d.failInstruction();
  return d.needOperands(operands, operands) &&
         readAddress(d, d.operand(0), I.space, I.a) &&
         (!isInit || d.read(d.operand(1), Type::U32, I.b)) && d.emit(I);
}

static bool decodeMBarrierArrive(InstructionDecoder &d, bool isDrop,
                                 bool expects) {
  Modifiers &modifiers = d.getModifiers();
  const InstructionSyntax &syntax = d.getSyntax();
  Instruction I = d.make(mbarrierArrive);
  I.aux = isDrop ? arriveDrop : 0;
  bool noComplete = modifiers.take("noComplete");
  if (noComplete)
    I.aux |= arriveNoComplete;
  if (takeRelaxed(modifiers))
    I.aux |= orderRelaxed;
  I.space = takeSharedSpace(d);
  if (!modifiers.take("b64") || (noComplete && expects))
    return d.failInstruction();
  // A state is only left out for an mbarrier of another block.
  size_t n = syntax.operands.size();
  bool hasState = n != 0 && d.operand(0).kind != Operand::Kind::Address;
  size_t next = hasState ? 1 : 0;
  if (!d.needOperands(next + 1, next + 2) ||
      !readAddress(d, d.operand(next), I.space, I.a))
    return false;
  bool hasCount = n == next + 2;
  I.b = d.constantSlot(4, 1);
  I.c = -1;
  if (expects && !hasCount)
    return d.failSyntax("expected the number of bytes");
  if (hasCount && !d.read(d.operand(next + 1), Type::U32, expects ? I.c : I.b))
    return false;
  I.dst = -1;
  if (hasState && d.operand(0).kind != Operand::Kind::Sink &&
      !d.write(d.operand(0), Type::U64, I.dst))
    return false;
  return d.emitAll(I);
}

static bool decodeMBarrierWait(InstructionDecoder &d, bool isTry) {
  Modifiers &modifiers = d.getModifiers();
  Instruction I = d.make(mbarrierWait);
  bool parity = modifiers.take("parity");
  I.aux = parity ? 0 : waitState;
  if (takeRelaxed(modifiers))
    I.aux |= orderRelaxed;
  I.space = takeSharedSpace(d);
  if (!modifiers.take("b64"))
    return d.failInstruction();
  // A hint of how long to wait changes nothing here.
  return d.needOperands(3, isTry ? 4 : 3) &&
         readAddress(d, d.operand(1), I.space, I.a) &&
         d.read(d.operand(2), parity ? Type::U32 : Type::U64, I.b) &&
         d.writePredicate(d.operand(0), I.dst) && d.emit(I);
}

/// cp.async and, with .bulk, cp.async.bulk; cp.reduce.async.bulk.
static bool decodeCp(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  bool reduces = modifiers.take("reduce");
  if (!modifiers.take("async"))
    return d.failInstruction();
  kernel.usesAsync = true;
  if (modifiers.take("bulk"))
    return decodeBulk(d, reduces);
  if (reduces)
    return d.failInstruction();
  if (modifiers.take("commit_group"))
    return d.needOperands(0, 0) && d.emit(d.make(threadCopyCommit));
  if (modifiers.take("wait_all")) {
    Instruction I = d.make(threadCopyWait);
    I.aux = ~uint32_t(0);
    return d.needOperands(0, 0) && d.emit(I);
  }
  if (modifiers.take("wait_group")) {
    Instruction I = d.make(threadCopyWait);
    return d.needOperands(1, 1) && readGroupCount(d, d.operand(0), I.aux) &&
           d.emit(I);
  }
  if (modifiers.take("mbarrier")) {
    Instruction I = d.make(threadCopyArrive);
    if (!modifiers.take("arrive"))
      return d.failInstruction();
    I.aux = modifiers.take("noinc");
    I.space = takeSharedSpace(d);
    return modifiers.take("b64") && d.needOperands(1, 1) &&
           readAddress(d, d.operand(0), I.space, I.a) && d.emit(I);
  }
  return decodeThreadCopy(d);
}

bool fusionemu::readGroupCount(InstructionDecoder &d, const Operand &o,
                               uint32_t &count) {
  uint64_t value = 0;
  if (!d.readImmediate(o, value))
    return false;
  if (value > 0x7fffffff)
    return d.failSyntax("the number of groups is out of range");
  count = uint32_t(value);
  return true;
}

static bool decodeThreadCopy(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  const InstructionSyntax &syntax = d.getSyntax();
  bool bypass = modifiers.takeOneOf({"ca", "cg"}) == 1;
  Instruction I = d.make(threadCopy);
  I.space = takeSharedSpace(d);
  bool hint = modifiers.has("L2::cache_hint");
  modifiers.takePrefix("L2::");
  if (I.space != Space::Shared || !modifiers.take("global"))
    return d.failInstruction();
  size_t n = syntax.operands.size() - (hint ? 1 : 0);
  uint64_t bytes = 0;
  if (!d.needOperands(hint ? 4 : 3, hint ? 5 : 4) ||
      !readAddress(d, d.operand(0), Space::Shared, I.a) ||
      !readAddress(d, d.operand(1), Space::Global, I.b) ||
      !d.readImmediate(d.operand(2), bytes))
    return false;
  if (bytes != 16 && (bypass || (bytes != 4 && bytes != 8)))
    return d.failSyntax("cannot copy " + std::to_string(bytes) + " bytes");
  I.aux = uint32_t(bytes);
  I.c = I.d = -1;
  if (n == 4) {
    Symbol *symbol = d.registerOf(d.operand(3));
    bool negated = false;
    if (symbol && symbol->isPredicate) {
      if (!d.readPredicate(d.operand(3), I.d, negated) || negated)
        return d.failSyntax("expected a predicate as it is");
    } else if (!d.read(d.operand(3), Type::U32, I.c)) {
      return false;
    }
  }
  kernel.sharedGranuleShift = std::min(kernel.sharedGranuleShift, 2u);
  return d.emit(I);
}

/// fence.proxy and fence.mbarrier_init; the others are in DecodeControl.cpp.
bool fusionemu::decodeProxyFence(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Instruction I = d.make(fenceProxy);
  if (modifiers.take("mbarrier_init")) {
    I.aux = fenceMBarrierInit;
    bool fine = modifiers.take("release") && modifiers.take("cluster");
    return (fine || d.failInstruction()) && d.needOperands(0, 0) && d.emit(I);
  }
  if (modifiers.take("alias"))
    return d.needOperands(0, 0) && d.emit(d.make(handlers.special("nop")));
  // A tensor map that the kernel itself writes is read when a copy is issued.
  if (modifiers.take("tensormap::generic")) {
    modifiers.takeOneOf({"acquire", "release"});
    modifiers.takeOneOf({"cta", "cluster", "gpu", "sys"});
    return d.needOperands(0, 2) && d.emit(d.make(handlers.special("nop")));
  }
  if (modifiers.take("async")) {
    int space =
        modifiers.takeOneOf({"global", "shared::cta", "shared::cluster"});
    I.aux = space == 0 ? 0 : fenceAsync;
    return d.needOperands(0, 0) && d.emit(I);
  }
  // The forms that order shared memory against the async proxy one way.
  if (modifiers.take("async::generic")) {
    modifiers.takeOneOf({"acquire", "release"});
    modifiers.takeOneOf(
        {"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    modifiers.take("cluster");
    I.aux = fenceAsync | fenceClusterScope;
    return d.needOperands(0, 0) && d.emit(I);
  }
  return d.failInstruction();
}

bool fusionemu::decodeClusterBarrier(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  int kind = modifiers.takeOneOf({"arrive", "wait"});
  modifiers.takeOneOf({"release", "acquire"});
  bool relaxed = modifiers.take("relaxed");
  bool aligned = modifiers.take("aligned");
  if (kind < 0 || (relaxed && kind != 0))
    return d.failInstruction();
  Instruction I = d.make(kind == 0 ? clusterArrive : clusterWait);
  I.aux = (relaxed ? orderRelaxed : 0) | (aligned ? allLanes : 0);
  return d.needOperands(0, 0) && d.emit(I);
}

static bool decodeMapa(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Instruction I = d.make(mapAddress);
  I.space = takeSharedSpace(d);
  Type type = modifiers.takeType();
  if (type != Type::U32 && type != Type::U64)
    return d.failInstruction();
  if (!d.needOperands(3, 3) || !d.read(d.operand(2), Type::U32, I.b))
    return false;
  return readPlainAddress(d, d.operand(1), type, I.space, I.a) &&
         d.writeSized(d.operand(0), 8, false, I.dst) && d.emitAll(I);
}

static bool decodeGetctarank(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Instruction I = d.make(getBlockRank);
  I.space = takeSharedSpace(d);
  Type type = modifiers.takeType();
  if (type != Type::U32 && type != Type::U64)
    return d.failInstruction();
  return d.needOperands(2, 2) &&
         readPlainAddress(d, d.operand(1), type, I.space, I.a) &&
         d.write(d.operand(0), Type::U32, I.dst) && d.emitAll(I);
}

/// An address that is written without brackets, as 64 bits.
static bool readPlainAddress(InstructionDecoder &d, const Operand &o, Type type,
                             Space space, int32_t &slot) {
  Symbol *symbol = o.kind == Operand::Kind::Name ? d.lookUp(o.name) : nullptr;
  if (symbol && symbol->kind == Symbol::Kind::Variable) {
    Operand address = o;
    address.kind = Operand::Kind::Address;
    return readAddress(d, address, space, slot);
  }
  if (!d.read(o, type, slot))
    return false;
  if (type == Type::U64)
    return true;
  return d.resizeSlot(slot, 4, 8, false);
}

/// setmaxnreg: checked, without effect.
static bool decodeSetmaxnreg(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  int kind = modifiers.takeOneOf({"inc", "dec"});
  bool fine = modifiers.take("sync") && modifiers.take("aligned") &&
              modifiers.take("u32");
  uint64_t count = 0;
  if (kind < 0 || !fine)
    return d.failInstruction();
  if (!d.needOperands(1, 1) || !d.readImmediate(d.operand(0), count))
    return false;
  if (count < 24 || count > 256 || count % 8 != 0)
    return d.failSyntax("a warp cannot have " + std::to_string(count) +
                        " registers a thread");
  Instruction I = d.make(setMaxRegisters);
  I.aux = allLanes;
  return d.emit(I);
}

void fusionemu::addAsyncDecoders(DecodeTable &table) {
  table.insert({
      {"cp", decodeCp},
      {"getctarank", decodeGetctarank},
      {"mapa", decodeMapa},
      {"mbarrier", decodeMBarrier},
      {"setmaxnreg", decodeSetmaxnreg},
  });
}
