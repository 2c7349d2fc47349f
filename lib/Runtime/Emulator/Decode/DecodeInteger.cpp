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

#include "Decode/Families.h"

using namespace fusionemu;

static bool decodeCarry(InstructionDecoder &d, Op op, bool isMad);

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

static bool decodeAddSub(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool isAdd = syntax.name == "add" || syntax.name == "addc";
  bool carries = syntax.name.back() == 'c' || modifiers.has("cc");
  if (carries)
    return decodeCarry(d, isAdd ? Op::AddCarry : Op::SubCarry, false);
  Type type = modifiers.takeType();
  if (isFloatType(type))
    return decodeFloatBinary(d, isAdd ? Op::Add : Op::Sub, type);
  if (modifiers.take("sat"))
    return d.emitSimple(handlers.integer(isAdd ? Op::AddSat : Op::SubSat, type),
                        type, 2);
  return d.emitSimple(handlers.integer(isAdd ? Op::Add : Op::Sub, type), type,
                      2);
}

static bool decodeMul(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  if (modifiers.take("wide")) {
    Type type = modifiers.takeType();
    Type wide = type == Type::U16   ? Type::U32
                : type == Type::S16 ? Type::S32
                : type == Type::U32 ? Type::U64
                : type == Type::S32 ? Type::S64
                                    : Type::None;
    Instruction I = d.make(handlers.integer(Op::MulWide, type));
    if (!I.handler)
      return d.failInstruction();
    if (!d.needOperands(3, 3) || !d.read(d.operand(1), type, I.a) ||
        !d.read(d.operand(2), type, I.b) || !d.write(d.operand(0), wide, I.dst))
      return false;
    return d.emitAll(I);
  }
  bool low = modifiers.take("lo"), high = modifiers.take("hi");
  Type type = modifiers.takeType();
  if (isFloatType(type) && !low && !high)
    return decodeFloatBinary(d, Op::Mul, type);
  if (!isInteger(type) || low == high)
    return d.failInstruction();
  return d.emitSimple(handlers.integer(low ? Op::MulLo : Op::MulHi, type), type,
                      2);
}

static bool decodeMad(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  if (modifiers.take("wide")) {
    Type type = modifiers.takeType();
    Type wide = type == Type::U16   ? Type::U32
                : type == Type::S16 ? Type::S32
                : type == Type::U32 ? Type::U64
                : type == Type::S32 ? Type::S64
                                    : Type::None;
    Instruction I = d.make(handlers.integer(Op::MadWide, type));
    if (!I.handler)
      return d.failInstruction();
    if (!d.needOperands(4, 4) || !d.read(d.operand(1), type, I.a) ||
        !d.read(d.operand(2), type, I.b) || !d.read(d.operand(3), wide, I.c) ||
        !d.write(d.operand(0), wide, I.dst))
      return false;
    return d.emitAll(I);
  }
  bool carry = modifiers.has("cc") || syntax.name == "madc";
  bool low = modifiers.take("lo"), high = modifiers.take("hi");
  if (!low && !high)
    return decodeFma(d);
  if (carry)
    return decodeCarry(d, low ? Op::MadCarryLo : Op::MadCarryHi, true);
  if (high && modifiers.take("sat"))
    return decodeMadSaturated(d);
  Type type = modifiers.takeType();
  return d.emitSimple(handlers.integer(low ? Op::MadLo : Op::MadHi, type), type,
                      3);
}

static bool decodeCarry(InstructionDecoder &d, Op op, bool isMad) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  uint32_t aux = 0;
  std::string_view name = syntax.name;
  if (name == "addc" || name == "subc" || name == "madc")
    aux |= carryIn;
  if (modifiers.take("cc"))
    aux |= carryOut;
  Type type = modifiers.takeType();
  return d.emitSimple(handlers.integer(op, type), type, isMad ? 3 : 2, aux);
}

static bool decodeMul24(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool isMad = syntax.name == "mad24";
  bool low = modifiers.take("lo"), high = modifiers.take("hi");
  if (isMad && high && modifiers.take("sat"))
    return decodeMadSaturated(d);
  Type type = modifiers.takeType();
  if (low == high)
    return d.failInstruction();
  Op op = isMad ? (low ? Op::Mad24Lo : Op::Mad24Hi)
                : (low ? Op::Mul24Lo : Op::Mul24Hi);
  return d.emitSimple(handlers.integer(op, type), type, isMad ? 3 : 2);
}

static bool decodeDiv(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  if (isFloatType(type))
    return decodeFloatBinary(d, Op::Div, type);
  return d.emitSimple(handlers.integer(Op::Div, type), type, 2);
}

static bool decodeRem(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  return d.emitSimple(handlers.integer(Op::Rem, type), type, 2);
}

static bool decodeUnary(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool isNeg = syntax.name == "neg", isAbs = syntax.name == "abs";
  FloatMode mode;
  mode.ftz = modifiers.take("ftz");
  Type type = modifiers.takeType();
  Op op = isNeg ? Op::Neg : isAbs ? Op::Abs : Op::Cnot;
  if (isFloatType(type) && (isNeg || isAbs))
    return d.emitSimple(handlers.floating(op, type, mode), type, 1,
                        halfAux(mode));
  if (mode.ftz)
    return d.failInstruction();
  return d.emitSimple(handlers.integer(op, type), type, 1);
}

static bool decodeMinMax(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  // The form of three sources, of sm_100.
  if (syntax.operands.size() == 4)
    return d.failInstruction();
  bool isMin = syntax.name == "min";
  FloatMode mode;
  mode.ftz = modifiers.take("ftz");
  mode.nan = modifiers.take("NaN");
  mode.relu = modifiers.take("relu");
  mode.xorsign = modifiers.take("xorsign");
  if (mode.xorsign && !modifiers.take("abs"))
    return d.failInstruction();
  Type type = modifiers.takeType();
  if (isFloatType(type)) {
    if (mode.relu && (type == Type::F32 || type == Type::F64))
      return d.failInstruction();
    return d.emitSimple(
        handlers.floating(isMin ? Op::Min : Op::Max, type, mode), type, 2,
        halfAux(mode));
  }
  if (mode.ftz || mode.nan || mode.xorsign)
    return d.failInstruction();
  Op op = isMin ? Op::Min : Op::Max;
  if (mode.relu) {
    if (type != Type::S32 && type != Type::S16x2)
      return d.failInstruction();
    op = isMin ? Op::MinRelu : Op::MaxRelu;
  }
  return d.emitSimple(handlers.integer(op, type), type, 2);
}

static bool decodeLogic(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  std::string_view name = syntax.name;
  Type type = modifiers.takeType();
  if (type == Type::Pred) {
    bool isNot = name == "not";
    if (!d.needOperands(isNot ? 2 : 3, isNot ? 2 : 3))
      return false;
    std::string handler = std::string(name) + ".pred";
    Instruction I = d.make(handlers.special(handler));
    bool negatedA = false, negatedB = false;
    if (!d.readPredicate(d.operand(1), I.a, negatedA) ||
        (!isNot && !d.readPredicate(d.operand(2), I.b, negatedB)) ||
        !d.writePredicate(d.operand(0), I.dst))
      return false;
    I.aux = (negatedA ? 1 : 0) | (negatedB ? 2 : 0);
    return d.emitAll(I);
  }
  Op op = name == "and"   ? Op::And
          : name == "or"  ? Op::Or
          : name == "xor" ? Op::Xor
                          : Op::Not;
  return d.emitSimple(handlers.integer(op, type), type, op == Op::Not ? 1 : 2);
}

static bool decodeShift(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  Op op = syntax.name == "shl" ? Op::Shl : Op::Shr;
  Type type = modifiers.takeType();
  if (!d.needOperands(3, 3))
    return false;
  Instruction I = d.make(handlers.integer(op, type));
  if (!I.handler)
    return d.failInstruction();
  if (!d.read(d.operand(1), type, I.a) ||
      !d.read(d.operand(2), Type::U32, I.b) ||
      !d.write(d.operand(0), type, I.dst))
    return false;
  return d.emitAll(I);
}

static bool decodeBits(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  std::string_view name = syntax.name;
  bool shiftAmount = modifiers.take("shiftamt");
  Type type = modifiers.takeType();
  Op op = name == "popc"   ? Op::Popc
          : name == "clz"  ? Op::Clz
          : name == "brev" ? Op::Brev
          : shiftAmount    ? Op::BfindShift
                           : Op::Bfind;
  if (!d.needOperands(2, 2) || (shiftAmount && name != "bfind"))
    return d.failInstruction();
  Instruction I = d.make(handlers.integer(op, type));
  if (!I.handler)
    return d.failInstruction();
  if (!d.read(d.operand(1), type, I.a) ||
      !d.write(d.operand(0), op == Op::Brev ? type : Type::U32, I.dst))
    return false;
  return d.emitAll(I);
}

static bool decodeBitField(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool isInsert = syntax.name == "bfi";
  Type type = modifiers.takeType();
  Instruction I = d.make(handlers.integer(isInsert ? Op::Bfi : Op::Bfe, type));
  if (!I.handler)
    return d.failInstruction();
  if (isInsert) {
    if (!d.needOperands(5, 5) || !d.read(d.operand(1), type, I.a) ||
        !d.read(d.operand(2), type, I.b) ||
        !d.read(d.operand(3), Type::U32, I.c) ||
        !d.read(d.operand(4), Type::U32, I.d))
      return false;
  } else if (!d.needOperands(4, 4) || !d.read(d.operand(1), type, I.a) ||
             !d.read(d.operand(2), Type::U32, I.b) ||
             !d.read(d.operand(3), Type::U32, I.c)) {
    return false;
  }
  return d.write(d.operand(0), type, I.dst) && d.emitAll(I);
}

static bool decodePrmt(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  int mode = modifiers.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (type != Type::U32)
    return d.failInstruction();
  return d.emitSimple(handlers.integer(Op::Prmt, type), type, 3,
                      uint32_t(mode + 1));
}

static bool decodeShf(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  bool left = modifiers.take("l"), right = modifiers.take("r");
  bool clamp = modifiers.take("clamp"), wrap = modifiers.take("wrap");
  Type type = modifiers.takeType();
  if (left == right || clamp == wrap || type != Type::U32)
    return d.failInstruction();
  Op op = left ? (clamp ? Op::ShfLClamp : Op::ShfL)
               : (clamp ? Op::ShfRClamp : Op::ShfR);
  return d.emitSimple(handlers.integer(op, type), type, 3);
}

static bool decodeLop3(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  Type type = modifiers.takeType();
  // With six operands it has a predicate.
  if (type != Type::U32 || syntax.operands.size() == 6)
    return d.failInstruction();
  uint64_t table;
  if (!d.needOperands(5, 5) || !d.readImmediate(d.operand(4), table))
    return false;
  Instruction I = d.make(handlers.integer(Op::Lop3, type));
  I.aux = uint32_t(table & 0xff);
  if (!d.read(d.operand(1), type, I.a) || !d.read(d.operand(2), type, I.b) ||
      !d.read(d.operand(3), type, I.c) || !d.write(d.operand(0), type, I.dst))
    return false;
  return d.emitAll(I);
}

static bool decodeSad(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Type type = modifiers.takeType();
  return d.emitSimple(handlers.integer(Op::Sad, type), type, 3);
}

static bool decodeDot(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool isFour = syntax.name == "dp4a";
  bool low = !isFour && modifiers.take("lo");
  bool high = !isFour && modifiers.take("hi");
  Type a = modifiers.takeType(), b = modifiers.takeType();
  bool valid = (a == Type::U32 || a == Type::S32) &&
               (b == Type::U32 || b == Type::S32) && (isFour || low != high);
  if (!valid)
    return d.failInstruction();
  uint32_t aux =
      (a == Type::S32 ? 1 : 0) | (b == Type::S32 ? 2 : 0) | (high ? 4 : 0);
  return d.emitSimple(handlers.integer(isFour ? Op::Dp4a : Op::Dp2a, Type::U32),
                      Type::U32, 3, aux);
}

static bool decodeBmsk(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool clamp = modifiers.take("clamp"), wrap = modifiers.take("wrap");
  Type type = modifiers.takeType();
  if (clamp == wrap)
    return d.failInstruction();
  Op op = syntax.name == "bmsk" ? Op::Bmsk : Op::Szext;
  return d.emitSimple(handlers.integer(op, type), type, 2, wrap ? 1 : 0);
}

void fusionemu::addIntegerDecoders(DecodeTable &table) {
  table.insert({
      {"abs", decodeUnary},    {"cnot", decodeUnary},  {"neg", decodeUnary},
      {"add", decodeAddSub},   {"sub", decodeAddSub},  {"addc", decodeAddSub},
      {"subc", decodeAddSub},  {"and", decodeLogic},   {"not", decodeLogic},
      {"or", decodeLogic},     {"xor", decodeLogic},   {"bfe", decodeBitField},
      {"bfi", decodeBitField}, {"bfind", decodeBits},  {"brev", decodeBits},
      {"clz", decodeBits},     {"popc", decodeBits},   {"bmsk", decodeBmsk},
      {"szext", decodeBmsk},   {"div", decodeDiv},     {"dp2a", decodeDot},
      {"dp4a", decodeDot},     {"lop3", decodeLop3},   {"mad", decodeMad},
      {"madc", decodeMad},     {"mad24", decodeMul24}, {"mul24", decodeMul24},
      {"max", decodeMinMax},   {"min", decodeMinMax},  {"mul", decodeMul},
      {"prmt", decodePrmt},    {"rem", decodeRem},     {"sad", decodeSad},
      {"shf", decodeShf},      {"shl", decodeShift},   {"shr", decodeShift},
  });
}
