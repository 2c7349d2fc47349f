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

#include "Decode/Decoder.h"

using namespace fusionemu;

/// The flags that handlers of 16-bit floats find in aux.
uint32_t Decoder::halfAux(FloatMode mode) const {
  return (mode.ftz ? 1 : 0) | (mode.sat ? 2 : 0) | (mode.relu ? 4 : 0) |
         (mode.nan ? 8 : 0) | (mode.xorsign ? 16 : 0);
}

static bool isHalf(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F16x2 ||
         type == Type::BF16x2;
}

bool Decoder::decodeFloatBinary(Op op, Type type) {
  FloatMode mode;
  bool hasRound = modifiers->takeRound(mode.round);
  mode.ftz = modifiers->take("ftz");
  mode.sat = modifiers->take("sat");
  if (op == Op::Div) {
    bool approx = modifiers->take("approx");
    // Within 2 ulp everywhere: a division that rounds correctly will do.
    bool full = modifiers->take("full");
    mode.approx = approx;
    if (!hasRound && !approx && !full && type == Type::F32)
      return failInstruction();
    if (isHalf(type) || mode.sat)
      return failInstruction();
  }
  uint32_t aux = isHalf(type) ? halfAux(mode) : uint32_t(mode.round);
  Handler handler = handlers.floating(op, type, mode);
  Type narrow = takeNarrowType(type);
  if (narrow == Type::None)
    return emitSimple(handler, type, 2, aux);
  if ((op != Op::Add && op != Op::Sub) || mode.ftz)
    return failInstruction();
  return emitMixed(handler, narrow, 1, aux);
}

Type Decoder::takeNarrowType(Type type) {
  if (type != Type::F32)
    return Type::None;
  return modifiers->take("f16")    ? Type::F16
         : modifiers->take("bf16") ? Type::BF16
                                   : Type::None;
}

bool Decoder::emitMixed(Handler handler, Type narrow, unsigned count,
                        uint32_t aux) {
  Conversion widen;
  widen.from = narrow;
  widen.to = Type::F32;
  if (!handler || !needOperands(count + 2, count + 2))
    return failInstruction();
  Instruction I = make(handler);
  I.aux = aux;
  int32_t *sources[] = {&I.a, &I.b, &I.c};
  for (unsigned i = 0; i < count; ++i) {
    Instruction convert = make(handlers.convert(widen));
    convert.counted = 0;
    if (!read(operand(i + 1), narrow, convert.a))
      return false;
    convert.dst = *sources[i] = allocateRegister(4);
    if (!emit(convert))
      return false;
  }
  if (!read(operand(count + 1), Type::F32, *sources[count]) ||
      !write(operand(0), Type::F32, I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodeFma() {
  FloatMode mode;
  modifiers->takeRound(mode.round);
  mode.ftz = modifiers->take("ftz");
  mode.sat = modifiers->take("sat");
  mode.relu = modifiers->take("relu");
  if (modifiers->has("oob"))
    return failInstruction();
  Type type = modifiers->takeType();
  if (mode.relu && !isHalf(type))
    return failInstruction();
  uint32_t aux = isHalf(type) ? halfAux(mode) : uint32_t(mode.round);
  Handler handler = handlers.floating(Op::Fma, type, mode);
  Type narrow = takeNarrowType(type);
  if (narrow == Type::None)
    return emitSimple(handler, type, 3, aux);
  return mode.ftz ? failInstruction() : emitMixed(handler, narrow, 2, aux);
}

bool Decoder::decodeFunction() {
  std::string_view name = syntax->name;
  Op op = name == "sqrt"    ? Op::Sqrt
          : name == "rcp"   ? Op::Rcp
          : name == "rsqrt" ? Op::Rsqrt
          : name == "sin"   ? Op::Sin
          : name == "cos"   ? Op::Cos
          : name == "lg2"   ? Op::Lg2
          : name == "ex2"   ? Op::Ex2
                            : Op::Tanh;
  FloatMode mode;
  bool hasRound = modifiers->takeRound(mode.round);
  mode.approx = modifiers->take("approx");
  mode.ftz = modifiers->take("ftz");
  Type type = modifiers->takeType();
  if (hasRound == mode.approx)
    return failInstruction();
  if (hasRound && op != Op::Sqrt && op != Op::Rcp)
    return failInstruction();
  return emitSimple(handlers.floating(op, type, mode), type, 1,
                    uint32_t(mode.round));
}

bool Decoder::decodeCopysign() {
  Type type = modifiers->takeType();
  return emitSimple(handlers.floating(Op::Copysign, type, FloatMode()), type,
                    2);
}

bool Decoder::decodeTestp() {
  int kind = modifiers->takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = modifiers->takeType();
  if (kind < 0)
    return failInstruction();
  if (!needOperands(2, 2))
    return false;
  Instruction I = make(handlers.floating(Op::Testp, type, FloatMode()));
  I.aux = uint32_t(kind);
  if (!I.handler)
    return failInstruction();
  if (!read(operand(1), type, I.a) || !writePredicate(operand(0), I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::takeConditions(Modifiers &m, Compare &op, BoolOp &boolOp) {
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

bool Decoder::decodeSetp() {
  Compare op;
  BoolOp boolOp;
  if (!takeConditions(*modifiers, op, boolOp))
    return failInstruction();
  bool ftz = modifiers->take("ftz");
  Type type = modifiers->takeType();
  size_t operands = boolOp == BoolOp::None ? 3 : 4;
  if (!needOperands(operands, operands))
    return false;
  Instruction I = make(handlers.compare(op, type, ftz, false));
  if (!I.handler)
    return failInstruction();
  bool negated = false;
  if (!read(operand(1), type, I.a) || !read(operand(2), type, I.b) ||
      (operands == 4 && !readPredicate(operand(3), I.c, negated)) ||
      !writePredicate(operand(0), I.dst))
    return false;
  I.d = int32_t(sinkPredicate);
  if (!operand(0).second.empty() && !writePredicate(operand(0).second[0], I.d))
    return false;
  I.aux = uint32_t(boolOp) | (negated ? 4 : 0);
  return emitAll(I);
}

bool Decoder::decodeSet() {
  Compare op;
  BoolOp boolOp;
  if (!takeConditions(*modifiers, op, boolOp))
    return failInstruction();
  bool ftz = modifiers->take("ftz");
  Type to = modifiers->takeType(), from = modifiers->takeType();
  size_t operands = boolOp == BoolOp::None ? 3 : 4;
  if (!needOperands(operands, operands))
    return false;
  Instruction I = make(handlers.compare(op, from, ftz, true));
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
    return failInstruction();
  bool negated = false;
  if (!read(operand(1), from, I.a) || !read(operand(2), from, I.b) ||
      (operands == 4 && !readPredicate(operand(3), I.c, negated)) ||
      !write(operand(0), to, I.dst))
    return false;
  I.aux = uint32_t(boolOp) | (negated ? 4 : 0) | bytes << 4;
  return emitAll(I);
}

bool Decoder::decodeSelp() {
  Type type = modifiers->takeType();
  if (!needOperands(4, 4))
    return false;
  bool negated = false;
  if (type == Type::Pred) {
    bool negatedA = false, negatedB = false;
    Instruction I = make(handlers.special("selp.pred"));
    if (!readPredicate(operand(1), I.a, negatedA) ||
        !readPredicate(operand(2), I.b, negatedB) ||
        !readPredicate(operand(3), I.c, negated) ||
        !writePredicate(operand(0), I.dst))
      return false;
    I.aux = (negatedA ? 1 : 0) | (negatedB ? 2 : 0) | (negated ? 4 : 0);
    return emitAll(I);
  }
  Instruction I = make(handlers.select(getSize(type)));
  if (!I.handler)
    return failInstruction();
  if (!read(operand(1), type, I.a) || !read(operand(2), type, I.b) ||
      !readPredicate(operand(3), I.c, negated) ||
      !write(operand(0), type, I.dst))
    return false;
  I.aux = negated ? ~uint32_t(0) : 0;
  return emitAll(I);
}

bool Decoder::decodeSlct() {
  bool ftz = modifiers->take("ftz");
  Type type = modifiers->takeType(), selector = modifiers->takeType();
  // The selected values are only moved.
  unsigned bytes = getSize(type);
  Type moved = bytes == 2   ? Type::U16
               : bytes == 4 ? Type::U32
               : bytes == 8 ? Type::U64
                            : Type::None;
  bool isFloat = selector == Type::F32;
  if (!isFloat && (selector != Type::S32 || ftz))
    return failInstruction();
  Instruction I = make(handlers.integer(isFloat ? Op::SlctF : Op::Slct, moved));
  I.aux = ftz ? 1 : 0;
  if (!I.handler)
    return failInstruction();
  if (!needOperands(4, 4) || !read(operand(1), type, I.a) ||
      !read(operand(2), type, I.b) || !read(operand(3), selector, I.c) ||
      !write(operand(0), type, I.dst))
    return false;
  return emitAll(I);
}

static bool isSmallFloat(Type type) {
  return type == Type::E4M3 || type == Type::E5M2;
}

bool Decoder::decodeCvt() {
  Conversion v;
  if (modifiers->take("pack"))
    return decodeCvtPack();
  if (modifiers->has("rs")) // Stochastic rounding, of sm_100.
    return failInstruction();
  bool hasRound = modifiers->takeRound(v.round);
  if (modifiers->take("rna")) {
    v.round = Round::NearestAway;
    hasRound = true;
  }
  switch (modifiers->takeOneOf({"rni", "rzi", "rmi", "rpi"})) {
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
  v.relu = modifiers->take("relu");
  v.satfinite = modifiers->take("satfinite");
  v.ftz = modifiers->take("ftz");
  v.sat = modifiers->take("sat");
  v.to = modifiers->takeType();
  v.from = modifiers->takeType();
  if (v.to == Type::None || v.from == Type::None || v.to == Type::Pred ||
      v.from == Type::Pred)
    return failInstruction();
  bool floatSource = !isInteger(v.from), floatResult = !isInteger(v.to);
  // Which conversions must say how they round.
  bool narrows = floatSource && floatResult && v.from != v.to &&
                 getSize(v.to) < getSize(v.from);
  if ((narrows || (!floatSource && floatResult)) && !hasRound)
    return failInstruction();
  if (floatSource && !floatResult && !v.toInteger)
    return failInstruction();
  if (floatSource && floatResult && v.from == v.to && !v.toInteger && !v.sat &&
      !v.ftz && !v.relu && hasRound && v.to != Type::TF32)
    return failInstruction();
  bool toPair =
      v.to == Type::F16x2 || v.to == Type::BF16x2 || isSmallFloat(v.to);
  Instruction I = make(handlers.convert(v));
  if (!I.handler)
    return failInstruction();
  I.aux = uint32_t(v.round) | (v.toInteger ? 8 : 0) | (v.ftz ? 16 : 0) |
          (v.sat ? 32 : 0) | (v.relu ? 64 : 0) | (v.satfinite ? 128 : 0);
  size_t operands = toPair && v.from == Type::F32 ? 3 : 2;
  if (!needOperands(operands, operands) || !read(operand(1), v.from, I.a) ||
      (operands == 3 && !read(operand(2), v.from, I.b)) ||
      !write(operand(0), v.to, I.dst))
    return false;
  return emitAll(I);
}
