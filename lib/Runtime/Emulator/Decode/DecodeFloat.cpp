//===- DecodeFloat.cpp - Float instructions -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of float arithmetic, comparisons and
// conversions.
//
//===----------------------------------------------------------------------===//

#include "Decode/Families.h"

using namespace fusionemu;

static Type takeNarrowType(InstructionDecoder &d, Type type);
static bool emitMixed(InstructionDecoder &d, Handler handler, Type narrow,
                      unsigned count, uint32_t aux);

/// The flags that handlers of 16-bit floats find in aux.
uint32_t fusionemu::halfAux(FloatMode mode) {
  return (mode.ftz ? 1 : 0) | (mode.sat ? 2 : 0) | (mode.relu ? 4 : 0) |
         (mode.nan ? 8 : 0) | (mode.xorsign ? 16 : 0);
}

static bool isHalf(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F16x2 ||
         type == Type::BF16x2;
}

bool fusionemu::decodeFloatBinary(InstructionDecoder &d, Op op, Type type) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  FloatMode mode;
  bool hasRound = modifiers.takeRound(mode.round);
  mode.ftz = modifiers.take("ftz");
  mode.sat = modifiers.take("sat");
  if (op == Op::Div) {
    bool approx = modifiers.take("approx");
    // Within 2 ulp everywhere: a division that rounds correctly will do.
    bool full = modifiers.take("full");
    mode.approx = approx;
    if (!hasRound && !approx && !full && type == Type::F32)
      return d.failInstruction();
    if (isHalf(type) || mode.sat)
      return d.failInstruction();
  }
  uint32_t aux = isHalf(type) ? halfAux(mode) : uint32_t(mode.round);
  Handler handler = handlers.floating(op, type, mode);
  Type narrow = takeNarrowType(d, type);
  if (narrow == Type::None)
    return d.emitSimple(handler, type, 2, aux);
  if ((op != Op::Add && op != Op::Sub) || mode.ftz)
    return d.failInstruction();
  return emitMixed(d, handler, narrow, 1, aux);
}

static Type takeNarrowType(InstructionDecoder &d, Type type) {
  Modifiers &modifiers = d.getModifiers();
  if (type != Type::F32)
    return Type::None;
  return modifiers.take("f16")    ? Type::F16
         : modifiers.take("bf16") ? Type::BF16
                                  : Type::None;
}

static bool emitMixed(InstructionDecoder &d, Handler handler, Type narrow,
                      unsigned count, uint32_t aux) {
  const HandlerTable &handlers = d.getHandlers();
  Conversion widen;
  widen.from = narrow;
  widen.to = Type::F32;
  if (!handler || !d.needOperands(count + 2, count + 2))
    return d.failInstruction();
  Instruction I = d.make(handler);
  I.aux = aux;
  int32_t *sources[] = {&I.a, &I.b, &I.c};
  for (unsigned i = 0; i < count; ++i) {
    Instruction convert = d.make(handlers.convert(widen));
    convert.counted = 0;
    if (!d.read(d.operand(i + 1), narrow, convert.a))
      return false;
    convert.dst = *sources[i] = d.allocateRegister(4);
    if (!d.emit(convert))
      return false;
  }
  if (!d.read(d.operand(count + 1), Type::F32, *sources[count]) ||
      !d.write(d.operand(0), Type::F32, I.dst))
    return false;
  return d.emitAll(I);
}

bool fusionemu::decodeFma(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  FloatMode mode;
  modifiers.takeRound(mode.round);
  mode.ftz = modifiers.take("ftz");
  mode.sat = modifiers.take("sat");
  mode.relu = modifiers.take("relu");
  if (modifiers.has("oob"))
    return d.failInstruction();
  Type type = modifiers.takeType();
  if (mode.relu && !isHalf(type))
    return d.failInstruction();
  uint32_t aux = isHalf(type) ? halfAux(mode) : uint32_t(mode.round);
  Handler handler = handlers.floating(Op::Fma, type, mode);
  Type narrow = takeNarrowType(d, type);
  if (narrow == Type::None)
    return d.emitSimple(handler, type, 3, aux);
  return mode.ftz ? d.failInstruction() : emitMixed(d, handler, narrow, 2, aux);
}

static bool decodeFunction(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  std::string_view name = syntax.name;
  Op op = name == "sqrt"    ? Op::Sqrt
          : name == "rcp"   ? Op::Rcp
          : name == "rsqrt" ? Op::Rsqrt
          : name == "sin"   ? Op::Sin
          : name == "cos"   ? Op::Cos
          : name == "lg2"   ? Op::Lg2
          : name == "ex2"   ? Op::Ex2
                            : Op::Tanh;
  FloatMode mode;
  bool hasRound = modifiers.takeRound(mode.round);
  mode.approx = modifiers.take("approx");
  mode.ftz = modifiers.take("ftz");
  Type type = modifiers.takeType();
  if (hasRound == mode.approx)
    return d.failInstruction();
  if (hasRound && op != Op::Sqrt && op != Op::Rcp)
    return d.failInstruction();
  return d.emitSimple(handlers.floating(op, type, mode), type, 1,
                      uint32_t(mode.round));
}

static bool decodeCopysign(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  return d.emitSimple(handlers.floating(Op::Copysign, type, FloatMode()), type,
                      2);
}

static bool decodeTestp(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  int kind = modifiers.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = modifiers.takeType();
  if (kind < 0)
    return d.failInstruction();
  if (!d.needOperands(2, 2))
    return false;
  Instruction I = d.make(handlers.floating(Op::Testp, type, FloatMode()));
  I.aux = uint32_t(kind);
  if (!I.handler)
    return d.failInstruction();
  if (!d.read(d.operand(1), type, I.a) ||
      !d.writePredicate(d.operand(0), I.dst))
    return false;
  return d.emitAll(I);
}

static bool takeConditions(InstructionDecoder &, Modifiers &m, Compare &op,
                           BoolOp &boolOp) {
  // lo, ls, hi and hs are the unsigned names.
  int index =
      m.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu",
                   "leu", "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  if (index < 0)
    return false;
  op = index < 14 ? Compare(index) : Compare(2 + index - 14);
  switch (m.takeOneOf({"and", "or", "xor"})) {
  case 0:
    boolOp = BoolOp::And;
    break;
  case 1:
    boolOp = BoolOp::Or;
    break;
  case 2:
    boolOp = BoolOp::Xor;
    break;
  default:
    boolOp = BoolOp::None;
    break;
  }
  return true;
}

static bool decodeSetp(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Compare op;
  BoolOp boolOp;
  if (!takeConditions(d, modifiers, op, boolOp))
    return d.failInstruction();
  bool ftz = modifiers.take("ftz");
  Type type = modifiers.takeType();
  size_t operands = boolOp == BoolOp::None ? 3 : 4;
  if (!d.needOperands(operands, operands))
    return false;
  Instruction I = d.make(handlers.compare(op, type, ftz, false));
  if (!I.handler)
    return d.failInstruction();
  bool negated = false;
  if (!d.read(d.operand(1), type, I.a) || !d.read(d.operand(2), type, I.b) ||
      (operands == 4 && !d.readPredicate(d.operand(3), I.c, negated)) ||
      !d.writePredicate(d.operand(0), I.dst))
    return false;
  I.d = int32_t(sinkPredicate);
  if (!d.operand(0).second.empty() &&
      !d.writePredicate(d.operand(0).second[0], I.d))
    return false;
  I.aux = uint32_t(boolOp) | (negated ? 4 : 0);
  return d.emitAll(I);
}

static bool decodeSet(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Compare op;
  BoolOp boolOp;
  if (!takeConditions(d, modifiers, op, boolOp))
    return d.failInstruction();
  bool ftz = modifiers.take("ftz");
  Type to = modifiers.takeType(), from = modifiers.takeType();
  size_t operands = boolOp == BoolOp::None ? 3 : 4;
  if (!d.needOperands(operands, operands))
    return false;
  Instruction I = d.make(handlers.compare(op, from, ftz, true));
  unsigned bytes = 4;
  bool packed = from == Type::F16x2 || from == Type::BF16x2;
  switch (to) {
  case Type::U32:
  case Type::S32:
    I.offset = packed ? 0xffff : 0xffffffff;
    break;
  case Type::F32:
    I.offset = 0x3f800000;
    break;
  case Type::F16x2:
    I.offset = 0x3c00;
    break;
  case Type::BF16x2:
    I.offset = 0x3f80;
    break;
  case Type::U16:
  case Type::S16:
    I.offset = 0xffff;
    bytes = 2;
    break;
  case Type::F16:
    I.offset = 0x3c00;
    bytes = 2;
    break;
  case Type::BF16:
    I.offset = 0x3f80;
    bytes = 2;
    break;
  default:
    I.handler = nullptr;
    break;
  }
  // A float that is an integer has 1 for 1.0.
  if (handlers.payload && !isInteger(to))
    I.offset = 1;
  if (!I.handler || (packed && to == Type::F32))
    return d.failInstruction();
  bool negated = false;
  if (!d.read(d.operand(1), from, I.a) || !d.read(d.operand(2), from, I.b) ||
      (operands == 4 && !d.readPredicate(d.operand(3), I.c, negated)) ||
      !d.write(d.operand(0), to, I.dst))
    return false;
  I.aux = uint32_t(boolOp) | (negated ? 4 : 0) | bytes << 4;
  return d.emitAll(I);
}

static bool decodeSelp(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  if (!d.needOperands(4, 4))
    return false;
  bool negated = false;
  if (type == Type::Pred) {
    bool negatedA = false, negatedB = false;
    Instruction I = d.make(handlers.special("selp.pred"));
    if (!d.readPredicate(d.operand(1), I.a, negatedA) ||
        !d.readPredicate(d.operand(2), I.b, negatedB) ||
        !d.readPredicate(d.operand(3), I.c, negated) ||
        !d.writePredicate(d.operand(0), I.dst))
      return false;
    I.aux = (negatedA ? 1 : 0) | (negatedB ? 2 : 0) | (negated ? 4 : 0);
    return d.emitAll(I);
  }
  Instruction I = d.make(handlers.select(getSize(type)));
  if (!I.handler)
    return d.failInstruction();
  if (!d.read(d.operand(1), type, I.a) || !d.read(d.operand(2), type, I.b) ||
      !d.readPredicate(d.operand(3), I.c, negated) ||
      !d.write(d.operand(0), type, I.dst))
    return false;
  I.aux = negated ? ~uint32_t(0) : 0;
  return d.emitAll(I);
}

static bool decodeSlct(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  bool ftz = modifiers.take("ftz");
  Type type = modifiers.takeType(), selector = modifiers.takeType();
  // The selected values are only moved.
  unsigned bytes = getSize(type);
  Type moved = bytes == 2   ? Type::U16
               : bytes == 4 ? Type::U32
               : bytes == 8 ? Type::U64
                            : Type::None;
  bool isFloat = selector == Type::F32;
  if (!isFloat && (selector != Type::S32 || ftz))
    return d.failInstruction();
  Instruction I =
      d.make(handlers.integer(isFloat ? Op::SlctF : Op::Slct, moved));
  I.aux = ftz ? 1 : 0;
  if (!I.handler)
    return d.failInstruction();
  if (!d.needOperands(4, 4) || !d.read(d.operand(1), type, I.a) ||
      !d.read(d.operand(2), type, I.b) ||
      !d.read(d.operand(3), selector, I.c) ||
      !d.write(d.operand(0), type, I.dst))
    return false;
  return d.emitAll(I);
}

static bool isSmallFloat(Type type) {
  return type == Type::E4M3 || type == Type::E5M2;
}

static bool decodeCvt(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Conversion v;
  if (modifiers.take("pack"))
    return decodeCvtPack(d);
  if (modifiers.has("rs")) // Stochastic rounding, of sm_100.
    return d.failInstruction();
  bool hasRound = modifiers.takeRound(v.round);
  if (modifiers.take("rna")) {
    v.round = Round::NearestAway;
    hasRound = true;
  }
  switch (modifiers.takeOneOf({"rni", "rzi", "rmi", "rpi"})) {
  case 0:
    v.round = Round::Nearest;
    v.toInteger = true;
    break;
  case 1:
    v.round = Round::Zero;
    v.toInteger = true;
    break;
  case 2:
    v.round = Round::Down;
    v.toInteger = true;
    break;
  case 3:
    v.round = Round::Up;
    v.toInteger = true;
    break;
  default:
    break;
  }
  v.relu = modifiers.take("relu");
  v.satfinite = modifiers.take("satfinite");
  v.ftz = modifiers.take("ftz");
  v.sat = modifiers.take("sat");
  v.to = modifiers.takeType();
  v.from = modifiers.takeType();
  if (v.to == Type::None || v.from == Type::None || v.to == Type::Pred ||
      v.from == Type::Pred)
    return d.failInstruction();
  bool floatSource = !isInteger(v.from), floatResult = !isInteger(v.to);
  // Which conversions must say how they round.
  bool narrows = floatSource && floatResult && v.from != v.to &&
                 getSize(v.to) < getSize(v.from);
  if ((narrows || (!floatSource && floatResult)) && !hasRound)
    return d.failInstruction();
  if (floatSource && !floatResult && !v.toInteger)
    return d.failInstruction();
  if (floatSource && floatResult && v.from == v.to && !v.toInteger && !v.sat &&
      !v.ftz && !v.relu && hasRound && v.to != Type::TF32)
    return d.failInstruction();
  bool toPair =
      v.to == Type::F16x2 || v.to == Type::BF16x2 || isSmallFloat(v.to);
  Instruction I = d.make(handlers.convert(v));
  if (!I.handler)
    return d.failInstruction();
  I.aux = uint32_t(v.round) | (v.toInteger ? 8 : 0) | (v.ftz ? 16 : 0) |
          (v.sat ? 32 : 0) | (v.relu ? 64 : 0) | (v.satfinite ? 128 : 0);
  size_t operands = toPair && v.from == Type::F32 ? 3 : 2;
  if (!d.needOperands(operands, operands) ||
      !d.read(d.operand(1), v.from, I.a) ||
      (operands == 3 && !d.read(d.operand(2), v.from, I.b)) ||
      !d.write(d.operand(0), v.to, I.dst))
    return false;
  return d.emitAll(I);
}

void fusionemu::addFloatDecoders(DecodeTable &table) {
  table.insert({
      {"copysign", decodeCopysign},
      {"cos", decodeFunction},
      {"ex2", decodeFunction},
      {"lg2", decodeFunction},
      {"rcp", decodeFunction},
      {"rsqrt", decodeFunction},
      {"sin", decodeFunction},
      {"sqrt", decodeFunction},
      {"tanh", decodeFunction},
      {"cvt", decodeCvt},
      {"fma", decodeFma},
      {"selp", decodeSelp},
      {"set", decodeSet},
      {"setp", decodeSetp},
      {"slct", decodeSlct},
      {"testp", decodeTestp},
  });
}
