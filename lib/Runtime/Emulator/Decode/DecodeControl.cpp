//===- DecodeControl.cpp - Control flow and the warp ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of barriers and of instructions that cross
// lanes.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Decode/Families.h"

using namespace fusionemu;

static bool decodeTrap(InstructionDecoder &d) { return d.emit(d.make(trap)); }

static bool decodeNothing(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  // What only suggests, sleeps or names a line has no effect here.
  modifiers.takeType();
  while (modifiers.takeOneOf({"wait", "launch_dependents"}) >= 0) {
  }
  return d.emit(d.make(handlers.special("nop")));
}

static bool decodeBarrier(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const InstructionSyntax &syntax = d.getSyntax();
  // bar is barrier.aligned by definition.
  bool isBar = syntax.name == "bar";
  if (modifiers.take("warp")) {
    if (!modifiers.take("sync"))
      return d.failInstruction();
    Instruction I = d.make(warpBarrier);
    if (!d.needOperands(1, 1) || !d.read(d.operand(0), Type::U32, I.a))
      return false;
    return d.emit(I);
  }
  if (modifiers.take("cluster"))
    return decodeClusterBarrier(d);
  modifiers.take("cta");
  int kind = modifiers.takeOneOf({"sync", "arrive", "red"});
  if (kind < 0)
    return d.failInstruction();
  bool aligned = modifiers.take("aligned") || isBar;
  Instruction I = d.make(blockBarrier);
  I.aux = aligned ? barrierAligned : 0;
  I.b = -1;
  size_t next = 0;
  if (kind == 2) {
    int op = modifiers.takeOneOf({"popc", "and", "or"});
    Type type = modifiers.takeType();
    if (op < 0 || type != (op == 0 ? Type::U32 : Type::Pred))
      return d.failInstruction();
    I.aux |= barrierReduce | (op == 0   ? barrierPopc
                              : op == 1 ? barrierAnd
                                        : barrierOr);
    if (!d.needOperands(3, 4))
      return false;
    bool negated = false;
    const Operand &last = d.operand(syntax.operands.size() - 1);
    if (!d.readPredicate(last, I.c, negated))
      return false;
    if (negated)
      I.aux |= barrierNegate;
    // The result is written when the barrier opens, by the waiting
    // instruction's own description, so that it cannot be resized.
    Symbol *symbol = d.registerOf(d.operand(0));
    if (!symbol || symbol->isPredicate != (op != 0) ||
        (op == 0 && symbol->bytes != 4))
      return d.failSyntax("the destination does not fit");
    I.dst = int32_t(symbol->where);
    next = 1;
    if (!d.read(d.operand(1), Type::U32, I.a) ||
        (syntax.operands.size() == 4 && !d.read(d.operand(2), Type::U32, I.b)))
      return false;
    return d.emit(I);
  }
  if (!d.needOperands(1, 2) || !d.read(d.operand(next), Type::U32, I.a) ||
      (syntax.operands.size() == 2 && !d.read(d.operand(1), Type::U32, I.b)))
    return false;
  if (kind == 1) {
    I.aux |= barrierArrive;
    if (syntax.operands.size() != 2)
      return d.failSyntax("an arrive needs the number of threads");
  }
  return d.emit(I);
}

static bool decodeFence(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  const InstructionSyntax &syntax = d.getSyntax();
  if (syntax.name == "membar") {
    int level = modifiers.takeOneOf({"cta", "gl", "sys"});
    if (level < 0)
      return d.failInstruction();
    kernel.ordersBlocks |= level > 0;
    Instruction I = d.make(fenceProxy);
    I.aux = fenceBlockScope | (level > 0 ? fenceClusterScope : 0);
    return d.emit(I);
  }
  if (modifiers.take("proxy") || modifiers.has("mbarrier_init"))
    return decodeProxyFence(d);
  modifiers.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  int scope = modifiers.takeOneOf({"cta", "cluster", "gpu", "sys"});
  if (scope < 0)
    return d.failInstruction();
  kernel.ordersBlocks |= scope > 1;
  Instruction I = d.make(fenceProxy);
  I.aux = fenceBlockScope | (scope > 0 ? fenceClusterScope : 0);
  return d.emit(I);
}

static bool decodeShfl(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  if (!modifiers.take("sync"))
    return d.failUnsupported("shfl without .sync is not supported");
  int mode = modifiers.takeOneOf({"up", "down", "bfly", "idx"});
  Type type = modifiers.takeType();
  static const char *const names[] = {"shfl.up", "shfl.down", "shfl.bfly",
                                      "shfl.idx"};
  if (mode < 0 || type != Type::U32)
    return d.failInstruction();
  if (!d.needOperands(5, 5))
    return false;
  Instruction I = d.make(handlers.special(names[mode]));
  int32_t predicate = int32_t(sinkPredicate);
  if (!d.read(d.operand(1), type, I.a) || !d.read(d.operand(2), type, I.b) ||
      !d.read(d.operand(3), type, I.c) || !d.read(d.operand(4), type, I.d) ||
      !d.write(d.operand(0), type, I.dst) ||
      (!d.operand(0).second.empty() &&
       !d.writePredicate(d.operand(0).second[0], predicate)))
    return false;
  I.aux = uint32_t(predicate);
  return d.emitAll(I);
}

static bool decodeVote(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  if (!modifiers.take("sync"))
    return d.failUnsupported("vote without .sync is not supported");
  int mode = modifiers.takeOneOf({"all", "any", "uni", "ballot"});
  Type type = modifiers.takeType();
  static const char *const names[] = {"vote.all", "vote.any", "vote.uni",
                                      "vote.ballot"};
  if (mode < 0 || type != (mode == 3 ? Type::U32 : Type::Pred))
    return d.failInstruction();
  if (!d.needOperands(3, 3))
    return false;
  Instruction I = d.make(handlers.special(names[mode]));
  bool negated = false;
  if (!d.readPredicate(d.operand(1), I.a, negated) ||
      !d.read(d.operand(2), Type::U32, I.d) ||
      !(mode == 3 ? d.write(d.operand(0), type, I.dst)
                  : d.writePredicate(d.operand(0), I.dst)))
    return false;
  I.aux = negated ? 1 : 0;
  return d.emitAll(I);
}

static bool decodeMatch(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  int mode = modifiers.takeOneOf({"any", "all"});
  bool sync = modifiers.take("sync");
  Type type = modifiers.takeType();
  if (mode < 0 || !sync || (type != Type::U32 && type != Type::U64))
    return d.failInstruction();
  if (!d.needOperands(3, 3))
    return false;
  std::string name = std::string("match.") + (mode == 0 ? "any" : "all") +
                     (type == Type::U32 ? ".b32" : ".b64");
  Instruction I = d.make(handlers.special(name));
  int32_t predicate = int32_t(sinkPredicate);
  if (!d.read(d.operand(1), type, I.a) ||
      !d.read(d.operand(2), Type::U32, I.d) ||
      !d.write(d.operand(0), Type::U32, I.dst) ||
      (!d.operand(0).second.empty() &&
       !d.writePredicate(d.operand(0).second[0], predicate)))
    return false;
  I.aux = uint32_t(predicate);
  return d.emitAll(I);
}

static bool decodeRedux(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  bool sync = modifiers.take("sync");
  int op = modifiers.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  static const char *const ops[] = {"add", "min", "max", "and", "or", "xor"};
  Type type = modifiers.takeType();
  bool isFloat = type == Type::F32 && (op == 1 || op == 2);
  if (!sync || op < 0 || (type != Type::U32 && type != Type::S32 && !isFloat))
    return d.failInstruction();
  uint32_t aux = 0;
  if (isFloat)
    aux = (modifiers.take("abs") ? 1 : 0) | (modifiers.take("NaN") ? 2 : 0);
  if (!d.needOperands(3, 3))
    return false;
  const char *suffix = op >= 3             ? ".b32"
                       : isFloat           ? ".f32"
                       : type == Type::S32 ? ".s32"
                                           : ".u32";
  Instruction I =
      d.make(handlers.special(std::string("redux.") + ops[op] + suffix));
  I.aux = aux;
  if (!d.read(d.operand(1), type, I.a) ||
      !d.read(d.operand(2), Type::U32, I.d) ||
      !d.write(d.operand(0), type, I.dst))
    return false;
  return d.emitAll(I);
}

static bool decodeActivemask(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  Instruction I = d.make(handlers.special("activemask"));
  if (type != Type::U32)
    return d.failInstruction();
  if (!d.needOperands(1, 1) || !d.write(d.operand(0), type, I.dst))
    return false;
  return d.emitAll(I);
}

static bool decodeElect(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  if (!modifiers.take("sync"))
    return d.failInstruction();
  if (!d.needOperands(2, 2))
    return false;
  Instruction I = d.make(handlers.special("elect"));
  int32_t predicate = int32_t(sinkPredicate);
  if (!d.read(d.operand(1), Type::U32, I.d) ||
      !d.write(d.operand(0), Type::U32, I.dst) ||
      (!d.operand(0).second.empty() &&
       !d.writePredicate(d.operand(0).second[0], predicate)))
    return false;
  I.aux = uint32_t(predicate);
  return d.emitAll(I);
}

void fusionemu::addControlDecoders(DecodeTable &table) {
  table.insert({
      {"activemask", decodeActivemask},
      {"bar", decodeBarrier},
      {"barrier", decodeBarrier},
      {"elect", decodeElect},
      {"fence", decodeFence},
      {"membar", decodeFence},
      {"griddepcontrol", decodeNothing},
      {"nanosleep", decodeNothing},
      {"pmevent", decodeNothing},
      {"match", decodeMatch},
      {"redux", decodeRedux},
      {"shfl", decodeShfl},
      {"trap", decodeTrap},
      {"vote", decodeVote},
  });
}
