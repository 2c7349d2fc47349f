//===- DecodeInteger.cpp - Integer instructions ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of integer instructions and of those that
// share a name with them.
//
//===----------------------------------------------------------------------===//

#include "Decode/Decoder.h"

using namespace fusionemu;

static bool isFloatType(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
  case Type::F32:
  case Type::F64:
  case Type::F16x2:
  case Type::BF16x2:
  case Type::F32x2:
    return true;
  default:
    return false;
  }
}

bool Decoder::decodeAddSub() {
  bool isAdd = syntax->name == "add" || syntax->name == "addc";
  bool carries = syntax->name.back() == 'c' || modifiers->has("cc");
  if (carries)
    return decodeCarry(isAdd ? Op::AddCarry : Op::SubCarry, false);
  Type type = modifiers->takeType();
  if (isFloatType(type))
    return decodeFloatBinary(isAdd ? Op::Add : Op::Sub, type);
  if (modifiers->take("sat"))
    return emitSimple(handlers.integer(isAdd ? Op::AddSat : Op::SubSat, type),
                      type, 2);
  return emitSimple(handlers.integer(isAdd ? Op::Add : Op::Sub, type), type, 2);
}

bool Decoder::decodeMul() {
  if (modifiers->take("wide")) {
    Type type = modifiers->takeType();
    Type wide = type == Type::U16   ? Type::U32
                : type == Type::S16 ? Type::S32
                : type == Type::U32 ? Type::U64
                : type == Type::S32 ? Type::S64
                                    : Type::None;
    Instruction I = make(handlers.integer(Op::MulWide, type));
    if (!I.handler)
      return failInstruction();
    if (!needOperands(3, 3) || !read(operand(1), type, I.a) ||
        !read(operand(2), type, I.b) || !write(operand(0), wide, I.dst))
      return false;
    return emitAll(I);
  }
  bool low = modifiers->take("lo"), high = modifiers->take("hi");
  Type type = modifiers->takeType();
  if (isFloatType(type) && !low && !high)
    return decodeFloatBinary(Op::Mul, type);
  if (!isInteger(type) || low == high)
    return failInstruction();
  return emitSimple(handlers.integer(low ? Op::MulLo : Op::MulHi, type), type,
                    2);
}

bool Decoder::decodeMad() {
  if (modifiers->take("wide")) {
    Type type = modifiers->takeType();
    Type wide = type == Type::U16   ? Type::U32
                : type == Type::S16 ? Type::S32
                : type == Type::U32 ? Type::U64
                : type == Type::S32 ? Type::S64
                                    : Type::None;
    Instruction I = make(handlers.integer(Op::MadWide, type));
    if (!I.handler)
      return failInstruction();
    if (!needOperands(4, 4) || !read(operand(1), type, I.a) ||
        !read(operand(2), type, I.b) || !read(operand(3), wide, I.c) ||
        !write(operand(0), wide, I.dst))
      return false;
    return emitAll(I);
  }
  bool carry = modifiers->has("cc") || syntax->name == "madc";
  bool low = modifiers->take("lo"), high = modifiers->take("hi");
  if (!low && !high)
    return decodeFma();
  if (carry)
    return decodeCarry(low ? Op::MadCarryLo : Op::MadCarryHi, true);
  if (high && modifiers->take("sat"))
    return decodeMadSaturated();
  Type type = modifiers->takeType();
  return emitSimple(handlers.integer(low ? Op::MadLo : Op::MadHi, type), type,
                    3);
}

bool Decoder::decodeCarry(Op op, bool isMad) {
  uint32_t aux = 0;
  std::string_view name = syntax->name;
  if (name == "addc" || name == "subc" || name == "madc")
    aux |= carryIn;
  if (modifiers->take("cc"))
    aux |= carryOut;
  Type type = modifiers->takeType();
  return emitSimple(handlers.integer(op, type), type, isMad ? 3 : 2, aux);
}

bool Decoder::decodeMul24() {
  bool isMad = syntax->name == "mad24";
  bool low = modifiers->take("lo"), high = modifiers->take("hi");
  if (isMad && high && modifiers->take("sat"))
    return decodeMadSaturated();
  Type type = modifiers->takeType();
  if (low == high)
    return failInstruction();
  Op op = isMad ? (low ? Op::Mad24Lo : Op::Mad24Hi)
                : (low ? Op::Mul24Lo : Op::Mul24Hi);
  return emitSimple(handlers.integer(op, type), type, isMad ? 3 : 2);
}

bool Decoder::decodeDiv() {
  Type type = modifiers->takeType();
  if (isFloatType(type))
    return decodeFloatBinary(Op::Div, type);
  return emitSimple(handlers.integer(Op::Div, type), type, 2);
}

bool Decoder::decodeRem() {
  Type type = modifiers->takeType();
  return emitSimple(handlers.integer(Op::Rem, type), type, 2);
}

bool Decoder::decodeUnary() {
  bool isNeg = syntax->name == "neg", isAbs = syntax->name == "abs";
  FloatMode mode;
  mode.ftz = modifiers->take("ftz");
  Type type = modifiers->takeType();
  Op op = isNeg ? Op::Neg : isAbs ? Op::Abs : Op::Cnot;
  if (isFloatType(type) && (isNeg || isAbs))
    return emitSimple(handlers.floating(op, type, mode), type, 1,
                      halfAux(mode));
  if (mode.ftz)
    return failInstruction();
  return emitSimple(handlers.integer(op, type), type, 1);
}

bool Decoder::decodeMinMax() {
  // The form of three sources, of sm_100.
  if (syntax->operands.size() == 4)
    return failInstruction();
  bool isMin = syntax->name == "min";
  FloatMode mode;
  mode.ftz = modifiers->take("ftz");
  mode.nan = modifiers->take("NaN");
  mode.relu = modifiers->take("relu");
  mode.xorsign = modifiers->take("xorsign");
  if (mode.xorsign && !modifiers->take("abs"))
    return failInstruction();
  Type type = modifiers->takeType();
  if (isFloatType(type)) {
    if (mode.relu && (type == Type::F32 || type == Type::F64))
      return failInstruction();
    return emitSimple(handlers.floating(isMin ? Op::Min : Op::Max, type, mode),
                      type, 2, halfAux(mode));
  }
  if (mode.ftz || mode.nan || mode.xorsign)
    return failInstruction();
  Op op = isMin ? Op::Min : Op::Max;
  if (mode.relu) {
    if (type != Type::S32 && type != Type::S16x2)
      return failInstruction();
    op = isMin ? Op::MinRelu : Op::MaxRelu;
  }
  return emitSimple(handlers.integer(op, type), type, 2);
}

bool Decoder::decodeLogic() {
  std::string_view name = syntax->name;
  Type type = modifiers->takeType();
  if (type == Type::Pred) {
    bool isNot = name == "not";
    if (!needOperands(isNot ? 2 : 3, isNot ? 2 : 3))
      return false;
    std::string handler = std::string(name) + ".pred";
    Instruction I = make(handlers.special(handler));
    bool negatedA = false, negatedB = false;
    if (!readPredicate(operand(1), I.a, negatedA) ||
        (!isNot && !readPredicate(operand(2), I.b, negatedB)) ||
        !writePredicate(operand(0), I.dst))
      return false;
    I.aux = (negatedA ? 1 : 0) | (negatedB ? 2 : 0);
    return emitAll(I);
  }
  Op op = name == "and"   ? Op::And
          : name == "or"  ? Op::Or
          : name == "xor" ? Op::Xor
                          : Op::Not;
  return emitSimple(handlers.integer(op, type), type, op == Op::Not ? 1 : 2);
}

bool Decoder::decodeShift() {
  Op op = syntax->name == "shl" ? Op::Shl : Op::Shr;
  Type type = modifiers->takeType();
  if (!needOperands(3, 3))
    return false;
  Instruction I = make(handlers.integer(op, type));
  if (!I.handler)
    return failInstruction();
  if (!read(operand(1), type, I.a) || !read(operand(2), Type::U32, I.b) ||
      !write(operand(0), type, I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodeBits() {
  std::string_view name = syntax->name;
  bool shiftAmount = modifiers->take("shiftamt");
  Type type = modifiers->takeType();
  Op op = name == "popc"   ? Op::Popc
          : name == "clz"  ? Op::Clz
          : name == "brev" ? Op::Brev
          : shiftAmount    ? Op::BfindShift
                           : Op::Bfind;
  if (!needOperands(2, 2) || (shiftAmount && name != "bfind"))
    return failInstruction();
  Instruction I = make(handlers.integer(op, type));
  if (!I.handler)
    return failInstruction();
  if (!read(operand(1), type, I.a) ||
      !write(operand(0), op == Op::Brev ? type : Type::U32, I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodeBitField() {
  bool isInsert = syntax->name == "bfi";
  Type type = modifiers->takeType();
  Instruction I = make(handlers.integer(isInsert ? Op::Bfi : Op::Bfe, type));
  if (!I.handler)
    return failInstruction();
  if (isInsert) {
    if (!needOperands(5, 5) || !read(operand(1), type, I.a) ||
        !read(operand(2), type, I.b) || !read(operand(3), Type::U32, I.c) ||
        !read(operand(4), Type::U32, I.d))
      return false;
  } else if (!needOperands(4, 4) || !read(operand(1), type, I.a) ||
             !read(operand(2), Type::U32, I.b) ||
             !read(operand(3), Type::U32, I.c)) {
    return false;
  }
  return write(operand(0), type, I.dst) && emitAll(I);
}

bool Decoder::decodePrmt() {
  Type type = modifiers->takeType();
  int mode = modifiers->takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (type != Type::U32)
    return failInstruction();
  return emitSimple(handlers.integer(Op::Prmt, type), type, 3,
                    uint32_t(mode + 1));
}

bool Decoder::decodeShf() {
  bool left = modifiers->take("l"), right = modifiers->take("r");
  bool clamp = modifiers->take("clamp"), wrap = modifiers->take("wrap");
  Type type = modifiers->takeType();
  if (left == right || clamp == wrap || type != Type::U32)
    return failInstruction();
  Op op = left ? (clamp ? Op::ShfLClamp : Op::ShfL)
               : (clamp ? Op::ShfRClamp : Op::ShfR);
  return emitSimple(handlers.integer(op, type), type, 3);
}

bool Decoder::decodeLop3() {
  Type type = modifiers->takeType();
  // With six operands it has a predicate.
  if (type != Type::U32 || syntax->operands.size() == 6)
    return failInstruction();
  uint64_t table;
  if (!needOperands(5, 5) || !readImmediate(operand(4), table))
    return false;
  Instruction I = make(handlers.integer(Op::Lop3, type));
  I.aux = uint32_t(table & 0xff);
  if (!read(operand(1), type, I.a) || !read(operand(2), type, I.b) ||
      !read(operand(3), type, I.c) || !write(operand(0), type, I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodeSad() {
  Type type = modifiers->takeType();
  return emitSimple(handlers.integer(Op::Sad, type), type, 3);
}

bool Decoder::decodeDot() {
  bool isFour = syntax->name == "dp4a";
  bool low = !isFour && modifiers->take("lo");
  bool high = !isFour && modifiers->take("hi");
  Type a = modifiers->takeType(), b = modifiers->takeType();
  bool valid = (a == Type::U32 || a == Type::S32) &&
               (b == Type::U32 || b == Type::S32) && (isFour || low != high);
  if (!valid)
    return failInstruction();
  uint32_t aux =
      (a == Type::S32 ? 1 : 0) | (b == Type::S32 ? 2 : 0) | (high ? 4 : 0);
  return emitSimple(handlers.integer(isFour ? Op::Dp4a : Op::Dp2a, Type::U32),
                    Type::U32, 3, aux);
}

bool Decoder::decodeBmsk() {
  bool clamp = modifiers->take("clamp"), wrap = modifiers->take("wrap");
  Type type = modifiers->takeType();
  if (clamp == wrap)
    return failInstruction();
  Op op = syntax->name == "bmsk" ? Op::Bmsk : Op::Szext;
  return emitSimple(handlers.integer(op, type), type, 2, wrap ? 1 : 0);
}
