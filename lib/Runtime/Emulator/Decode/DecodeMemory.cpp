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

#include "Decode/Families.h"
#include "Parse/Parser.h"

#include <algorithm>

using namespace fusionemu;

namespace {
/// A load to registers or a store of registers.
struct RegisterAccess {
  Instruction I;
  Space space = Space::None;
  Type type = Type::None;
  std::vector<const Operand *> parts; ///< Its registers.
  unsigned registerBytes = 0;         ///< Of each of them.
};
} // namespace

static void noteReduction(InstructionDecoder &d, Op op, Type type,
                          bool dropped);
static bool finishVectorAtomic(InstructionDecoder &d, Instruction &I, Type type,
                               unsigned count, bool isReduction);

static bool decodeMov(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  if (!d.needOperands(2, 2))
    return false;
  const Operand &to = d.operand(0), &from = d.operand(1);
  if (type == Type::Pred) {
    bool negated = false;
    Instruction I = d.make(handlers.special("mov.pred"));
    if (!d.readPredicate(from, I.a, negated) || !d.writePredicate(to, I.dst))
      return false;
    I.aux = negated ? 1 : 0;
    return d.emitAll(I);
  }
  unsigned bytes = getSize(type);
  if (bytes == 0)
    return d.failInstruction();
  bool isFloat = type == Type::F32 || type == Type::F64;
  if (from.kind == Operand::Kind::Vector) {
    size_t n = from.elements.size();
    if (n == 0 || bytes % n != 0)
      return d.failSyntax("the elements do not fill the register");
    unsigned part = bytes / unsigned(n);
    Instruction I = d.make(handlers.pack(part, bytes));
    if (!I.handler)
      return d.failInstruction();
    std::vector<int32_t> slots(n);
    for (size_t i = 0; i < n; ++i)
      if (!d.readSized(from.elements[i], part, false, false, slots[i]))
        return false;
    I.target = d.keepSlots(slots);
    return d.writeSized(to, bytes, false, I.dst) && d.emitAll(I);
  }
  if (to.kind == Operand::Kind::Vector) {
    size_t n = to.elements.size();
    if (n == 0 || bytes % n != 0)
      return d.failSyntax("the elements do not match the register");
    unsigned part = bytes / unsigned(n);
    Instruction I = d.make(handlers.unpack(bytes, part));
    if (!I.handler)
      return d.failInstruction();
    if (!d.readSized(from, bytes, false, false, I.a))
      return false;
    std::vector<int32_t> slots(n);
    for (size_t i = 0; i < n; ++i)
      if (!d.writeSized(to.elements[i], part, false, slots[i]))
        return false;
    I.target = d.keepSlots(slots);
    return d.emitAll(I);
  }
  Instruction I = d.make(handlers.move(bytes));
  if (!d.readSized(from, bytes, isSigned(type), isFloat, I.a) ||
      !d.writeSized(to, bytes, isSigned(type), I.dst))
    return false;
  return d.emitAll(I);
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
bool fusionemu::finishAccess(InstructionDecoder &d, Instruction &I, Type type,
                             unsigned count) {
  Kernel &kernel = d.getKernel();
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
static bool beginAccess(InstructionDecoder &d, RegisterAccess &access,
                        size_t data) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  bool strong = false, orders = false;
  takeOrdering(modifiers, strong, orders);
  access.space = takeSpace(modifiers);
  bool hint = modifiers.has("L2::cache_hint");
  takeCacheHints(modifiers);
  unsigned count = takeVector(modifiers);
  access.type = modifiers.takeType();
  unsigned bytes = getSize(access.type);
  if (bytes == 0 || bytes * count > 32)
    return d.failInstruction();
  if (!d.needOperands(hint ? 3 : 2, hint ? 3 : 2))
    return false;
  kernel.ordersBlocks |= orders;
  access.I = d.make(nullptr);
  if (!d.resolveAddress(d.operand(1 - data), access.I, access.space))
    return false;
  access.I.aux = count | (strong ? strongAccess : 0);
  access.parts = partsOf(d.operand(data));
  if (access.parts.size() != count)
    return d.failSyntax("expected a vector of " + std::to_string(count) +
                        " registers");
  // All registers must have one width, which is the rule for vectors too.
  access.registerBytes = bytes;
  for (const Operand *part : access.parts)
    if (Symbol *symbol = d.registerOf(*part))
      access.registerBytes =
          std::max<unsigned>(access.registerBytes, symbol->bytes);
  return true;
}

/// Completes a load or store whose handler is known.
static bool endAccess(InstructionDecoder &d, RegisterAccess &access,
                      const std::vector<int32_t> &slots) {
  Instruction &I = access.I;
  I.d = int32_t(access.registerBytes);
  I.dst = slots[0];
  if (slots.size() > 1)
    I.target = d.keepSlots(slots);
  return finishAccess(d, I, access.type, unsigned(slots.size())) &&
         d.emitAll(I);
}

/// Makes of a load one of the bytes that a pragma says are used.
static void restrictLoad(InstructionDecoder &d, RegisterAccess &access) {
  Instruction &I = access.I;
  unsigned bytes = getSize(access.type) * unsigned(access.parts.size());
  auto all = uint32_t((uint64_t(1) << bytes) - 1);
  uint32_t used = d.getSyntax().usedBytes & all;
  if (used == all || !I.handler)
    return;
  I.handler = d.getHandlers().special("ld.used");
  I.c = int32_t(used);
  I.aux |= isSigned(access.type) ? signedLoad : 0;
  Kernel &kernel = d.getKernel();
  for (unsigned at = 0; at < bytes; ++at) {
    unsigned size = getUsedRun(used, at);
    if (size == 0)
      continue;
    unsigned shift = size >= 4 ? 2 : size == 2 ? 1 : 0;
    kernel.sharedGranuleShift = std::min(kernel.sharedGranuleShift, shift);
    kernel.globalGranuleShift = std::min(kernel.globalGranuleShift, shift);
    at += size - 1;
  }
}

static bool decodeLoad(InstructionDecoder &d) {
  const HandlerTable &handlers = d.getHandlers();
  RegisterAccess access;
  if (!beginAccess(d, access, 0))
    return false;
  Type type = access.type;
  unsigned bytes = getSize(type), registerBytes = access.registerBytes;
  std::vector<int32_t> slots;
  for (const Operand *part : access.parts) {
    int32_t slot;
    if (!d.writeSized(*part, registerBytes, isSigned(type), slot))
      return false;
    slots.push_back(slot);
  }
  access.I.handler = handlers.load(bytes, isSigned(type), registerBytes);
  restrictLoad(d, access);
  return endAccess(d, access, slots);
}

static bool decodeStore(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  if (modifiers.take("async"))
    return decodeStoreAsync(d, false);
  RegisterAccess access;
  if (!beginAccess(d, access, 1))
    return false;
  Type type = access.type;
  unsigned bytes = getSize(type), registerBytes = access.registerBytes;
  if (access.space == Space::Const || (registerBytes == 16 && bytes != 16))
    return d.failInstruction();
  bool isFloat = type == Type::F32 || type == Type::F64;
  std::vector<int32_t> slots;
  for (const Operand *part : access.parts) {
    int32_t slot;
    if (!d.readSized(*part, registerBytes, false,
                     isFloat && registerBytes == bytes, slot))
      return false;
    slots.push_back(slot);
  }
  access.I.handler = handlers.store(bytes, registerBytes);
  return endAccess(d, access, slots);
}

static bool decodeAtomic(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Kernel &kernel = d.getKernel();
  const InstructionSyntax &syntax = d.getSyntax();
  bool isReduction = syntax.name == "red";
  if (isReduction && modifiers.take("async"))
    return decodeStoreAsync(d, true);
  bool strong = false, orders = false;
  takeOrdering(modifiers, strong, orders);
  Space space = takeSpace(modifiers);
  bool hint = modifiers.has("L2::cache_hint");
  takeCacheHints(modifiers);
  if (modifiers.has("async"))
    return d.failInstruction();
  unsigned count = takeVector(modifiers);
  int index = modifiers.takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  static const Op ops[] = {Op::Add, Op::Min,  Op::Max, Op::And, Op::Or,
                           Op::Xor, Op::Exch, Op::Cas, Op::Inc, Op::Dec};
  modifiers.take("noftz");
  Type type = modifiers.takeType();
  if (index < 0)
    return d.failInstruction();
  Op op = ops[index];
  kernel.ordersBlocks |= orders;
  size_t operands =
      (isReduction ? 2 : 3) + (op == Op::Cas ? 1 : 0) + (hint ? 1 : 0);
  if (!d.needOperands(operands, operands))
    return false;
  Instruction I = d.make(handlers.atomic(op, type, count > 1));
  if (!I.handler)
    return d.failInstruction();
  size_t first = isReduction ? 0 : 1;
  if (count > 1)
    return d.resolveAddress(d.operand(first), I, space) &&
           finishVectorAtomic(d, I, type, count, isReduction);
  if (!d.resolveAddress(d.operand(first), I, space) ||
      !d.read(d.operand(first + 1), type, I.b))
    return false;
  I.c = I.b;
  if (op == Op::Cas && !d.read(d.operand(first + 2), type, I.c))
    return false;
  bool dropped = isReduction || d.operand(0).kind == Operand::Kind::Sink;
  I.aux = dropped ? reductionOnly : 0;
  if (!dropped && !d.write(d.operand(0), type, I.dst))
    return false;
  if (I.space != Space::Shared)
    noteReduction(d, op, type, dropped);
  return finishAccess(d, I, type, 1) && d.emitAll(I);
}

/// Sums of integers and the like do not depend on the order of blocks, as long
/// as nobody looks at what was there before and all reductions are of one kind.
static void noteReduction(InstructionDecoder &d, Op op, Type type,
                          bool dropped) {
  Kernel &kernel = d.getKernel();
  bool commutes = isInteger(type) && dropped && op != Op::Exch &&
                  op != Op::Cas && op != Op::Inc && op != Op::Dec;
  // Signed and unsigned differ only in what is less.
  bool isOrdered = op == Op::Min || op == Op::Max;
  uint32_t kind = uint32_t(op) << 8 | getSize(type) << 1 |
                  uint32_t(isOrdered && isSigned(type));
  if (!d.noteReduction(kind) || !commutes)
    kernel.orderSensitive = true;
}

/// The vector forms of sm_90: each element is an atomic operation by itself.
static bool finishVectorAtomic(InstructionDecoder &d, Instruction &I, Type type,
                               unsigned count, bool isReduction) {
  Kernel &kernel = d.getKernel();
  unsigned bytes = getSize(type) * count;
  if (bytes > 16 || (I.space != Space::Global && I.space != Space::Generic))
    return d.failInstruction();
  const Operand &from = d.operand(isReduction ? 1 : 2), &to = d.operand(0);
  bool dropped = isReduction || to.kind == Operand::Kind::Sink;
  if (from.kind != Operand::Kind::Vector || from.elements.size() != count ||
      (!dropped &&
       (to.kind != Operand::Kind::Vector || to.elements.size() != count)))
    return d.failSyntax("expected a vector of " + std::to_string(count) +
                        " registers");
  std::vector<int32_t> slots(dropped ? count : 2 * count);
  for (unsigned k = 0; k < count; ++k)
    if (!d.read(from.elements[k], type, slots[k]) ||
        (!dropped && !d.write(to.elements[k], type, slots[count + k])))
      return false;
  I.target = d.keepSlots(slots);
  I.aux = (dropped ? reductionOnly : 0) | count << 8;
  kernel.orderSensitive = true;
  return finishAccess(d, I, type, count) && d.emitAll(I);
}

static bool decodeCvta(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  bool toSpace = modifiers.take("to");
  Space space = takeSpace(modifiers);
  Type type = modifiers.takeType();
  if (type != Type::U64 || space == Space::Generic)
    return d.failInstruction();
  if (!d.needOperands(2, 2))
    return false;
  uint64_t window = space == Space::Shared  ? sharedWindow
                    : space == Space::Local ? localWindow
                    : space == Space::Param ? paramWindow
                                            : 0;
  Instruction I = d.make(handlers.integer(Op::Add, Type::U64));
  I.b = d.constantSlot(8, toSpace ? 0 - window : window);
  if (!d.read(d.operand(1), Type::U64, I.a) ||
      !d.write(d.operand(0), type, I.dst))
    return false;
  return d.emitAll(I);
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

static bool decodeIsspacep(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Space space = takeSpace(modifiers);
  if (space == Space::Generic || space == Space::Const)
    return d.failInstruction();
  Instruction I = d.make(isInSpace);
  I.aux = uint32_t(space);
  if (!d.needOperands(2, 2) || !d.read(d.operand(1), Type::U64, I.a) ||
      !d.writePredicate(d.operand(0), I.dst))
    return false;
  return d.emitAll(I);
}

static bool decodePrefetch(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  // Hints about caches do nothing here.
  takeSpace(modifiers);
  modifiers.take("L1");
  modifiers.take("L2");
  takeCacheHints(modifiers);
  modifiers.take("tensormap");
  modifiers.takeType();
  return d.emit(d.make(handlers.special("nop")));
}

void fusionemu::addMemoryDecoders(DecodeTable &table) {
  table.insert({
      {"applypriority", decodePrefetch},
      {"discard", decodePrefetch},
      {"prefetch", decodePrefetch},
      {"prefetchu", decodePrefetch},
      {"atom", decodeAtomic},
      {"red", decodeAtomic},
      {"cvta", decodeCvta},
      {"isspacep", decodeIsspacep},
      {"ld", decodeLoad},
      {"ldu", decodeLoad},
      {"mov", decodeMov},
      {"st", decodeStore},
  });
}
