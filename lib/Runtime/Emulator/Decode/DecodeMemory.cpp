//===- DecodeMemory.cpp - Moves and memory --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of moves, memory access and address
// conversion.
//
//===----------------------------------------------------------------------===//

#include "Decode/Decoder.h"
#include "Parse/Parser.h"

#include <algorithm>

using namespace fusionemu;

bool Decoder::decodeMov() {
  Type type = modifiers->takeType();
  if (!needOperands(2, 2))
    return false;
  const Operand &to = operand(0), &from = operand(1);
  if (type == Type::Pred) {
    bool negated = false;
    Instruction I = make(handlers.special("mov.pred"));
    if (!readPredicate(from, I.a, negated) || !writePredicate(to, I.dst))
      return false;
    I.aux = negated ? 1 : 0;
    return emitAll(I);
  }
  unsigned bytes = getSize(type);
  if (bytes == 0)
    return failInstruction();
  bool isFloat = type == Type::F32 || type == Type::F64;
  if (from.kind == Operand::Kind::Vector) {
    size_t n = from.elements.size();
    if (n == 0 || bytes % n != 0)
      return failSyntax("the elements do not fill the register");
    unsigned part = bytes / unsigned(n);
    Instruction I = make(handlers.pack(part, bytes));
    if (!I.handler)
      return failInstruction();
    std::vector<int32_t> slots(n);
    for (size_t i = 0; i < n; ++i)
      if (!readSized(from.elements[i], part, false, false, slots[i]))
        return false;
    I.target = keepSlots(slots);
    return writeSized(to, bytes, false, I.dst) && emitAll(I);
  }
  if (to.kind == Operand::Kind::Vector) {
    size_t n = to.elements.size();
    if (n == 0 || bytes % n != 0)
      return failSyntax("the elements do not match the register");
    unsigned part = bytes / unsigned(n);
    Instruction I = make(handlers.unpack(bytes, part));
    if (!I.handler)
      return failInstruction();
    if (!readSized(from, bytes, false, false, I.a))
      return false;
    std::vector<int32_t> slots(n);
    for (size_t i = 0; i < n; ++i)
      if (!writeSized(to.elements[i], part, false, slots[i]))
        return false;
    I.target = keepSlots(slots);
    return emitAll(I);
  }
  Instruction I = make(handlers.move(bytes));
  if (!readSized(from, bytes, isSigned(type), isFloat, I.a) ||
      !writeSized(to, bytes, isSigned(type), I.dst))
    return false;
  return emitAll(I);
}

/// What memory instructions share about ordering; all of it is consumed.
static void takeOrdering(Modifiers &m, bool &strong, bool &orders) {
  strong = m.take("volatile");
  strong |= m.take("relaxed");
  bool sync = m.take("acquire");
  sync |= m.take("release");
  sync |= m.take("acq_rel");
  strong |= sync;
  m.take("weak");
  strong |= m.take("mmio");
  bool wide = m.take("gpu");
  wide |= m.take("sys");
  wide |= m.take("cluster");
  m.take("cta");
  orders = sync && wide;
}

static void takeCacheHints(Modifiers &m) {
  while (m.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
                      "unified"}) >= 0) {
  }
  m.takePrefix("L1::");
  m.takePrefix("L2::");
}

static Space takeSpace(Modifiers &m) {
  switch (
      m.takeOneOf({"global", "shared", "shared::cta", "shared::cluster",
                   "local", "const", "param", "param::entry", "param::func"})) {
  case 0:
    return Space::Global;
  case 1:
  case 2:
  case 3:
    return Space::Shared;
  case 4:
    return Space::Local;
  case 5:
    return Space::Const;
  case 6:
  case 7:
  case 8:
    return Space::Param;
  default:
    return Space::Generic;
  }
}

/// Completes what loads, stores and atomics share.
bool Decoder::finishAccess(Instruction &I, Type type, unsigned count) {
  unsigned bytes = getSize(type) * count;
  I.accessBytes = uint8_t(bytes);
  I.memoryIndex = kernel.memoryInstructions++;
  unsigned element = getSize(type);
  unsigned shift = element >= 4 ? 2 : element == 2 ? 1 : 0;
  if (I.space == Space::Shared || I.space == Space::Generic)
    kernel.sharedGranuleShift = std::min(kernel.sharedGranuleShift, shift);
  if (I.space == Space::Global || I.space == Space::Generic)
    kernel.globalGranuleShift = std::min(kernel.globalGranuleShift, shift);
  return true;
}

static unsigned takeVector(Modifiers &m) {
  switch (m.takeOneOf({"v2", "v4", "v8"})) {
  case 0:
    return 2;
  case 1:
    return 4;
  case 2:
    return 8;
  default:
    return 1;
  }
}

/// A load or store up to its registers, the elements of operand `data`; the
/// address is the other one.
bool Decoder::beginAccess(RegisterAccess &access, size_t data) {
  bool strong = false, orders = false;
  takeOrdering(*modifiers, strong, orders);
  access.space = takeSpace(*modifiers);
  bool hint = modifiers->has("L2::cache_hint");
  takeCacheHints(*modifiers);
  unsigned count = takeVector(*modifiers);
  access.type = modifiers->takeType();
  unsigned bytes = getSize(access.type);
  if (bytes == 0 || bytes * count > 32)
    return failInstruction();
  if (!needOperands(hint ? 3 : 2, hint ? 3 : 2))
    return false;
  kernel.ordersBlocks |= orders;
  access.I = make(nullptr);
  if (!resolveAddress(operand(1 - data), access.I, access.space))
    return false;
  access.I.aux = count | (strong ? strongAccess : 0);
  access.parts = partsOf(operand(data));
  if (access.parts.size() != count)
    return failSyntax("expected a vector of " + std::to_string(count) +
                      " registers");
  // All registers must have one width, which is the rule for vectors too.
  access.registerBytes = bytes;
  for (const Operand *part : access.parts)
    if (Symbol *symbol = registerOf(*part))
      access.registerBytes =
          std::max<unsigned>(access.registerBytes, symbol->bytes);
  return true;
}

/// Completes a load or store whose handler is known.
bool Decoder::endAccess(RegisterAccess &access,
                        const std::vector<int32_t> &slots) {
  Instruction &I = access.I;
  I.d = int32_t(access.registerBytes);
  I.dst = slots[0];
  if (slots.size() > 1)
    I.target = keepSlots(slots);
  return finishAccess(I, access.type, unsigned(slots.size())) && emitAll(I);
}

bool Decoder::decodeLoad() {
  RegisterAccess access;
  if (!beginAccess(access, 0))
    return false;
  Type type = access.type;
  unsigned bytes = getSize(type), registerBytes = access.registerBytes;
  std::vector<int32_t> slots;
  for (const Operand *part : access.parts) {
    int32_t slot;
    if (!writeSized(*part, registerBytes, isSigned(type), slot))
      return false;
    slots.push_back(slot);
  }
  access.I.handler = handlers.load(bytes, isSigned(type), registerBytes);
  return endAccess(access, slots);
}

bool Decoder::decodeStore() {
  if (modifiers->take("async"))
    return decodeStoreAsync(false);
  RegisterAccess access;
  if (!beginAccess(access, 1))
    return false;
  Type type = access.type;
  unsigned bytes = getSize(type), registerBytes = access.registerBytes;
  if (access.space == Space::Const || (registerBytes == 16 && bytes != 16))
    return failInstruction();
  bool isFloat = type == Type::F32 || type == Type::F64;
  std::vector<int32_t> slots;
  for (const Operand *part : access.parts) {
    int32_t slot;
    if (!readSized(*part, registerBytes, false,
                   isFloat && registerBytes == bytes, slot))
      return false;
    slots.push_back(slot);
  }
  access.I.handler = handlers.store(bytes, registerBytes);
  return endAccess(access, slots);
}

bool Decoder::decodeAtomic() {
  bool isReduction = syntax->name == "red";
  if (isReduction && modifiers->take("async"))
    return decodeStoreAsync(true);
  bool strong = false, orders = false;
  takeOrdering(*modifiers, strong, orders);
  Space space = takeSpace(*modifiers);
  bool hint = modifiers->has("L2::cache_hint");
  takeCacheHints(*modifiers);
  if (modifiers->has("async"))
    return failInstruction();
  unsigned count = takeVector(*modifiers);
  int index = modifiers->takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  static const Op ops[] = {Op::Add, Op::Min,  Op::Max, Op::And, Op::Or,
                           Op::Xor, Op::Exch, Op::Cas, Op::Inc, Op::Dec};
  modifiers->take("noftz");
  Type type = modifiers->takeType();
  if (index < 0)
    return failInstruction();
  Op op = ops[index];
  kernel.ordersBlocks |= orders;
  size_t operands =
      (isReduction ? 2 : 3) + (op == Op::Cas ? 1 : 0) + (hint ? 1 : 0);
  if (!needOperands(operands, operands))
    return false;
  Instruction I = make(handlers.atomic(op, type, count > 1));
  if (!I.handler)
    return failInstruction();
  size_t first = isReduction ? 0 : 1;
  if (count > 1)
    return resolveAddress(operand(first), I, space) &&
           finishVectorAtomic(I, type, count, isReduction);
  if (!resolveAddress(operand(first), I, space) ||
      !read(operand(first + 1), type, I.b))
    return false;
  I.c = I.b;
  if (op == Op::Cas && !read(operand(first + 2), type, I.c))
    return false;
  bool dropped = isReduction || operand(0).kind == Operand::Kind::Sink;
  I.aux = dropped ? reductionOnly : 0;
  if (!dropped && !write(operand(0), type, I.dst))
    return false;
  if (I.space != Space::Shared)
    noteReduction(op, type, dropped);
  return finishAccess(I, type, 1) && emitAll(I);
}

/// Sums of integers and the like do not depend on the order of blocks, as long
/// as nobody looks at what was there before and all reductions are of one kind.
void Decoder::noteReduction(Op op, Type type, bool dropped) {
  bool commutes = isInteger(type) && dropped && op != Op::Exch &&
                  op != Op::Cas && op != Op::Inc && op != Op::Dec;
  // Signed and unsigned differ only in what is less.
  bool isOrdered = op == Op::Min || op == Op::Max;
  uint32_t kind = uint32_t(op) << 8 | getSize(type) << 1 |
                  uint32_t(isOrdered && isSigned(type));
  if (!commutes || (globalReduction != 0 && globalReduction != kind))
    kernel.orderSensitive = true;
  globalReduction = kind;
}

/// The vector forms of sm_90: each element is an atomic operation by itself.
bool Decoder::finishVectorAtomic(Instruction &I, Type type, unsigned count,
                                 bool isReduction) {
  unsigned bytes = getSize(type) * count;
  if (bytes > 16 || (I.space != Space::Global && I.space != Space::Generic))
    return failInstruction();
  const Operand &from = operand(isReduction ? 1 : 2), &to = operand(0);
  bool dropped = isReduction || to.kind == Operand::Kind::Sink;
  if (from.kind != Operand::Kind::Vector || from.elements.size() != count ||
      (!dropped &&
       (to.kind != Operand::Kind::Vector || to.elements.size() != count)))
    return failSyntax("expected a vector of " + std::to_string(count) +
                      " registers");
  std::vector<int32_t> slots(dropped ? count : 2 * count);
  for (unsigned k = 0; k < count; ++k)
    if (!read(from.elements[k], type, slots[k]) ||
        (!dropped && !write(to.elements[k], type, slots[count + k])))
      return false;
  I.target = keepSlots(slots);
  I.aux = (dropped ? reductionOnly : 0) | count << 8;
  kernel.orderSensitive = true;
  return finishAccess(I, type, count) && emitAll(I);
}

bool Decoder::decodeCvta() {
  bool toSpace = modifiers->take("to");
  Space space = takeSpace(*modifiers);
  Type type = modifiers->takeType();
  if (type != Type::U64 || space == Space::Generic)
    return failInstruction();
  if (!needOperands(2, 2))
    return false;
  uint64_t window = space == Space::Shared  ? sharedWindow
                    : space == Space::Local ? localWindow
                    : space == Space::Param ? paramWindow
                                            : 0;
  Instruction I = make(handlers.integer(Op::Add, Type::U64));
  I.b = constantSlot(8, toSpace ? 0 - window : window);
  if (!read(operand(1), Type::U64, I.a) || !write(operand(0), type, I.dst))
    return false;
  return emitAll(I);
}

/// isspacep: aux is the space.
static Next isInSpace(Context &c, const Instruction &I) {
  const uint64_t *a = c.slot<uint64_t>(I.a);
  uint32_t bits = 0;
  for (unsigned i = 0; i < warpSize; ++i) {
    Space space = a[i] - sharedWindow < windowBytes  ? Space::Shared
                  : a[i] - localWindow < windowBytes ? Space::Local
                  : a[i] - paramWindow < windowBytes ? Space::Param
                                                     : Space::Global;
    bits |= uint32_t(space == Space(I.aux)) << i;
  }
  uint32_t &p = c.preds[I.dst];
  p = (p & ~c.exec) | (bits & c.exec);
  return Next::Continue;
}

bool Decoder::decodeIsspacep() {
  Space space = takeSpace(*modifiers);
  if (space == Space::Generic || space == Space::Const)
    return failInstruction();
  Instruction I = make(isInSpace);
  I.aux = uint32_t(space);
  if (!needOperands(2, 2) || !read(operand(1), Type::U64, I.a) ||
      !writePredicate(operand(0), I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodePrefetch() {
  // Hints about caches do nothing here.
  takeSpace(*modifiers);
  modifiers->take("L1");
  modifiers->take("L2");
  takeCacheHints(*modifiers);
  modifiers->take("tensormap");
  modifiers->takeType();
  return emit(make(handlers.special("nop")));
}
