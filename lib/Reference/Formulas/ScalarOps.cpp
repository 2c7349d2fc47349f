//===- ScalarOps.cpp - Operations on bounded scalars --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the operations of arith and math on bounded scalars.
//
//===----------------------------------------------------------------------===//

#include "ScalarOps.h"

#include "fusion/Support/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

namespace {
using Values = ArrayRef<Scalar>;
} // namespace

static DType resultTypeOf(Operation *op) {
  return *getDType(op->getResult(0).getType());
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// `exact` as an operation of `op`'s type gives it, rounded or not.
static Scalar roundResult(Operation *op, const Bounded &exact) {
  Arithmetic arithmetic{resultTypeOf(op)};
  return Real(exact, arithmetic).rounded().get();
}

template <Bounded (*f)(Bounded, Bounded)>
static Scalar binary(Operation *op, Values x) {
  return roundResult(op, f(x[0].number, x[1].number));
}

/// An operation whose result is one of the operands or is exact.
template <Bounded (*f)(Bounded, Bounded)>
static Scalar pick(Operation *, Values x) {
  return f(x[0].number, x[1].number);
}

template <Bounded (*f)(Bounded)>
static Scalar unary(Operation *, Values x) {
  return f(x[0].number);
}

template <Function function>
static Scalar call(Operation *op, Values x) {
  return evaluate(function, x[0].number, resultTypeOf(op));
}

template <Function function>
static Scalar callBinary(Operation *op, Values x) {
  return evaluate(function, x[0].number, x[1].number, resultTypeOf(op));
}

static Scalar multiplyAdd(Operation *op, Values x) {
  return roundResult(op, fma(x[0].number, x[1].number, x[2].number));
}

static Scalar quotient(Operation *op, Values x) {
  return roundResult(op, divide(x[0].number, x[1].number, resultTypeOf(op)));
}

static Scalar convert(Operation *op, Values x) {
  return roundTo(x[0].getNumber(), resultTypeOf(op), /*mayDrop=*/true);
}

static Scalar compareFloats(Operation *op, Values x) {
  Bounded a = x[0].number, b = x[1].number, unordered = isUnordered(a, b);
  auto orUnordered = [&](Bounded truth) { return logicalOr(truth, unordered); };
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case arith::CmpFPredicate::AlwaysFalse:
    return Bounded(0);
  case arith::CmpFPredicate::AlwaysTrue:
    return Bounded(1);
  case arith::CmpFPredicate::OEQ:
    return isEqual(a, b);
  case arith::CmpFPredicate::OGT:
    return isLess(b, a);
  case arith::CmpFPredicate::OGE:
    return isLessOrEqual(b, a);
  case arith::CmpFPredicate::OLT:
    return isLess(a, b);
  case arith::CmpFPredicate::OLE:
    return isLessOrEqual(a, b);
  case arith::CmpFPredicate::ONE:
    return logicalAnd(isNotEqual(a, b), logicalNot(unordered));
  case arith::CmpFPredicate::ORD:
    return logicalNot(unordered);
  case arith::CmpFPredicate::UEQ:
    return orUnordered(isEqual(a, b));
  case arith::CmpFPredicate::UGT:
    return orUnordered(isLess(b, a));
  case arith::CmpFPredicate::UGE:
    return orUnordered(isLessOrEqual(b, a));
  case arith::CmpFPredicate::ULT:
    return orUnordered(isLess(a, b));
  case arith::CmpFPredicate::ULE:
    return orUnordered(isLessOrEqual(a, b));
  case arith::CmpFPredicate::UNE:
    return isNotEqual(a, b);
  case arith::CmpFPredicate::UNO:
    return unordered;
  }
  return Bounded::unknown();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// `value` as a signed integer of `type`'s width holds it.
static int64_t wrap(int64_t value, Type type) {
  return llvm::SignExtend64(static_cast<uint64_t>(value), widthOf(type));
}

static uint64_t toUnsigned(int64_t value, Type type) {
  return static_cast<uint64_t>(value) &
         llvm::maskTrailingOnes<uint64_t>(widthOf(type));
}

/// `f` of integers, signed or not; unknown where an operand is.
template <bool isUnsigned, int64_t (*f)(int64_t, int64_t)>
static Scalar integerBinary(Operation *op, Values x) {
  std::optional<int64_t> a = x[0].getInteger(), b = x[1].getInteger();
  if (!a || !b)
    return Bounded::unknown();
  Type type = op->getOperand(0).getType();
  if (isUnsigned) {
    a = static_cast<int64_t>(toUnsigned(*a, type));
    b = static_cast<int64_t>(toUnsigned(*b, type));
  }
  return Scalar::ofInteger(wrap(f(*a, *b), op->getResult(0).getType()));
}

// Arithmetic of unsigned numbers, which may wrap.
static int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + uint64_t(b));
}
static int64_t subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - uint64_t(b));
}
static int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * uint64_t(b));
}
static int64_t bitAnd(int64_t a, int64_t b) { return a & b; }
static int64_t bitOr(int64_t a, int64_t b) { return a | b; }
static int64_t bitXor(int64_t a, int64_t b) { return a ^ b; }
static int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t smaller(int64_t a, int64_t b) { return std::min(a, b); }
static int64_t largerUnsigned(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a) < static_cast<uint64_t>(b) ? b : a;
}
static int64_t smallerUnsigned(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a) < static_cast<uint64_t>(b) ? a : b;
}
// What is not defined gives 0.
static int64_t quotientOf(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? subtract(0, a) : a / b;
}
static int64_t remainderOf(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
static int64_t floorQuotient(int64_t a, int64_t b) {
  int64_t q = quotientOf(a, b);
  return b && remainderOf(a, b) && (a < 0) != (b < 0) ? q - 1 : q;
}
static int64_t ceilQuotient(int64_t a, int64_t b) {
  int64_t q = quotientOf(a, b);
  return b && remainderOf(a, b) && (a < 0) == (b < 0) ? q + 1 : q;
}
static int64_t quotientUnsigned(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<int64_t>(uint64_t(a) / uint64_t(b));
}
static int64_t remainderUnsigned(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<int64_t>(uint64_t(a) % uint64_t(b));
}
static int64_t shiftLeft(int64_t a, int64_t b) {
  return uint64_t(b) < 64 ? static_cast<int64_t>(uint64_t(a) << b) : 0;
}
static int64_t shiftRight(int64_t a, int64_t b) {
  return uint64_t(b) < 64 ? a >> b : 0;
}
static int64_t shiftRightUnsigned(int64_t a, int64_t b) {
  return uint64_t(b) < 64 ? static_cast<int64_t>(uint64_t(a) >> b) : 0;
}

/// A logical operation: on truth values that are open, too.
template <Bounded (*truth)(Bounded, Bounded), int64_t (*f)(int64_t, int64_t)>
static Scalar logical(Operation *op, Values x) {
  bool isTruth = op->getResult(0).getType().isInteger(1);
  if (!isTruth || (x[0].isInteger && x[1].isInteger))
    return integerBinary<false, f>(op, x);
  auto toTruth = [](const Scalar &scalar) {
    return scalar.isInteger ? Bounded(scalar.integer != 0) : scalar.number;
  };
  return truth(toTruth(x[0]), toTruth(x[1]));
}

static Scalar compareIntegers(Operation *op, Values x) {
  std::optional<int64_t> a = x[0].getInteger(), b = x[1].getInteger();
  if (!a || !b)
    return openTruth(false);
  Type type = op->getOperand(0).getType();
  uint64_t ua = toUnsigned(*a, type), ub = toUnsigned(*b, type);
  auto truth = [](bool value) { return Scalar::ofInteger(value); };
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case arith::CmpIPredicate::eq:
    return truth(ua == ub);
  case arith::CmpIPredicate::ne:
    return truth(ua != ub);
  case arith::CmpIPredicate::slt:
    return truth(*a < *b);
  case arith::CmpIPredicate::sle:
    return truth(*a <= *b);
  case arith::CmpIPredicate::sgt:
    return truth(*a > *b);
  case arith::CmpIPredicate::sge:
    return truth(*a >= *b);
  case arith::CmpIPredicate::ult:
    return truth(ua < ub);
  case arith::CmpIPredicate::ule:
    return truth(ua <= ub);
  case arith::CmpIPredicate::ugt:
    return truth(ua > ub);
  case arith::CmpIPredicate::uge:
    return truth(ua >= ub);
  }
  return Bounded::unknown();
}

/// Another width, from a signed or an unsigned number.
template <bool isUnsigned>
static Scalar resize(Operation *op, Values x) {
  std::optional<int64_t> value = x[0].getInteger();
  if (!value)
    return x[0];
  if (isUnsigned)
    value =
        static_cast<int64_t>(toUnsigned(*value, op->getOperand(0).getType()));
  return Scalar::ofInteger(wrap(*value, op->getResult(0).getType()));
}

static Scalar fromUnsigned(Operation *op, Values x) {
  std::optional<int64_t> value = x[0].getInteger();
  if (!value)
    return Bounded::unknown();
  uint64_t number = toUnsigned(*value, op->getOperand(0).getType());
  return roundTo(static_cast<double>(number), resultTypeOf(op), true);
}

template <bool isSigned>
static Scalar toInteger(Operation *op, Values x) {
  return fusion::toInteger(x[0].number, widthOf(op->getResult(0).getType()),
                           isSigned);
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

static Scalar selectValue(Operation *, Values x) {
  if (std::optional<int64_t> condition = x[0].getInteger())
    return *condition != 0 ? x[1] : x[2];
  return fusion::select(x[0].number, x[1].getNumber(), x[2].getNumber());
}

static Scalar constant(Operation *op, Values) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    return Bounded(number.getValueAsDouble());
  APInt integer = cast<IntegerAttr>(value).getValue();
  return Scalar::ofInteger(integer.getSExtValue());
}

static Bounded plus(Bounded a, Bounded b) { return a + b; }
static Bounded minus(Bounded a, Bounded b) { return a - b; }
static Bounded times(Bounded a, Bounded b) { return a * b; }
static Bounded negate(Bounded a) { return -a; }
static Bounded logicalXor(Bounded a, Bounded b) {
  return logicalOr(logicalAnd(a, logicalNot(b)), logicalAnd(logicalNot(a), b));
}

static const llvm::StringMap<ScalarOp> &getTable() {
  static const llvm::StringMap<ScalarOp> table{
      {"arith.constant", constant},
      {"arith.select", selectValue},
      {"arith.addf", binary<plus>},
      {"arith.subf", binary<minus>},
      {"arith.mulf", binary<times>},
      {"arith.divf", quotient},
      {"arith.remf", pick<remainder>},
      {"arith.negf", unary<negate>},
      {"arith.maximumf", pick<maximum>},
      {"arith.minimumf", pick<minimum>},
      {"arith.maxnumf", pick<maximumNumber>},
      {"arith.minnumf", pick<minimumNumber>},
      {"arith.cmpf", compareFloats},
      {"arith.extf", convert},
      {"arith.truncf", convert},
      {"arith.sitofp", convert},
      {"arith.uitofp", fromUnsigned},
      {"arith.fptosi", toInteger<true>},
      {"arith.fptoui", toInteger<false>},
      {"arith.addi", integerBinary<false, add>},
      {"arith.subi", integerBinary<false, subtract>},
      {"arith.muli", integerBinary<false, multiply>},
      {"arith.divsi", integerBinary<false, quotientOf>},
      {"arith.remsi", integerBinary<false, remainderOf>},
      {"arith.floordivsi", integerBinary<false, floorQuotient>},
      {"arith.ceildivsi", integerBinary<false, ceilQuotient>},
      {"arith.divui", integerBinary<true, quotientUnsigned>},
      {"arith.remui", integerBinary<true, remainderUnsigned>},
      {"arith.maxsi", integerBinary<false, larger>},
      {"arith.minsi", integerBinary<false, smaller>},
      {"arith.maxui", integerBinary<true, largerUnsigned>},
      {"arith.minui", integerBinary<true, smallerUnsigned>},
      {"arith.shli", integerBinary<false, shiftLeft>},
      {"arith.shrsi", integerBinary<false, shiftRight>},
      {"arith.shrui", integerBinary<true, shiftRightUnsigned>},
      {"arith.andi", logical<logicalAnd, bitAnd>},
      {"arith.ori", logical<logicalOr, bitOr>},
      {"arith.xori", logical<logicalXor, bitXor>},
      {"arith.cmpi", compareIntegers},
      {"arith.extsi", resize<false>},
      {"arith.extui", resize<true>},
      {"arith.trunci", resize<false>},
      {"arith.index_cast", resize<false>},
      {"arith.index_castui", resize<true>},
      {"math.absf", unary<abs>},
      {"math.floor", unary<floor>},
      {"math.ceil", unary<ceil>},
      {"math.trunc", unary<truncate>},
      {"math.round", unary<round>},
      {"math.roundeven", unary<roundEven>},
      {"math.copysign", pick<copySign>},
      {"math.fma", multiplyAdd},
      {"math.exp", call<Function::Exp>},
      {"math.exp2", call<Function::Exp2>},
      {"math.expm1", call<Function::Expm1>},
      {"math.log", call<Function::Log>},
      {"math.log2", call<Function::Log2>},
      {"math.log10", call<Function::Log10>},
      {"math.log1p", call<Function::Log1p>},
      {"math.sinh", call<Function::Sinh>},
      {"math.cosh", call<Function::Cosh>},
      {"math.tanh", call<Function::Tanh>},
      {"math.asinh", call<Function::Asinh>},
      {"math.acosh", call<Function::Acosh>},
      {"math.atanh", call<Function::Atanh>},
      {"math.sin", call<Function::Sin>},
      {"math.cos", call<Function::Cos>},
      {"math.tan", call<Function::Tan>},
      {"math.asin", call<Function::Asin>},
      {"math.acos", call<Function::Acos>},
      {"math.atan", call<Function::Atan>},
      {"math.erf", call<Function::Erf>},
      {"math.erfc", call<Function::Erfc>},
      {"math.sqrt", call<Function::Sqrt>},
      {"math.rsqrt", call<Function::Rsqrt>},
      {"math.cbrt", call<Function::Cbrt>},
      {"math.powf", callBinary<Function::Pow>},
      {"math.atan2", callBinary<Function::Atan2>},
  };
  return table;
}

ScalarOp formulas::findScalarOp(Operation *op) {
  auto it = getTable().find(op->getName().getStringRef());
  bool isScalar = op->getNumResults() == 1 &&
                  op->getResult(0).getType().isIntOrIndexOrFloat();
  return it == getTable().end() || !isScalar ? nullptr : it->second;
}
