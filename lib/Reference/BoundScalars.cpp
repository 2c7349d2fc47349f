//===- BoundScalars.cpp - Scalar operations on bounded numbers ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the conversion of scalar operations of arith and math.
//
//===----------------------------------------------------------------------===//

#include "Bounder.h"

#include "fusion/Support/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

/// What the flags of `op` allow.
static int32_t getFlags(Operation *op) {
  if (op->hasAttr(kRepairedAttrName))
    return kRepaired;
  auto math = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!math || !math.getFastMathFlagsAttr())
    return 0;
  auto allows = [flags = math.getFastMathFlagsAttr().getValue()](
                    arith::FastMathFlags flag) {
    return arith::bitEnumContainsAll(flags, flag);
  };
  int32_t flags = allows(arith::FastMathFlags::afn) ? kApproximate : 0;
  if (allows(arith::FastMathFlags::contract) ||
      allows(arith::FastMathFlags::reassoc))
    flags |= kMayDrop;
  return flags;
}

ScalarBounder::ScalarBounder(BoundedBuilder &builder, Operation *op,
                             const DeclaredTypes &declared, int32_t flags)
    : builder(builder), op(op), declared(declared), flags(flags | getFlags(op)),
      b(op), loc(op->getLoc()) {}

int32_t ScalarBounder::getFormat(Type type) const {
  return static_cast<int32_t>(*getDType(type));
}

unsigned ScalarBounder::getWidth(Type type) const {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

Value ScalarBounder::operand(unsigned i) {
  Value value = op->getOperand(i);
  return value.getType() == builder.getType()
             ? value
             : builder.fromInteger(b, loc, value);
}

Value ScalarBounder::compute(BoundedOp what, ValueRange operands,
                             int32_t format) {
  return builder.compute(b, loc, what, operands, format, flags);
}

Value ScalarBounder::computeAll(BoundedOp what) {
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(operand(i));
  return compute(what, operands, getFormat(declared.results[0]));
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

Value ScalarBounder::convertFloat() {
  using Op = BoundedOp;
  auto negate = [&](Value x) {
    Value value = builder.getValue(b, loc, x);
    return builder.create(b, loc, arith::NegFOp::create(b, loc, value),
                          builder.getError(b, loc, x));
  };
  auto clamp = [&] {
    return compute(Op::Minimum, {compute(Op::Maximum, {operand(0), operand(1)}),
                                 operand(2)});
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::AddFOp) { return computeAll(Op::Add); })
      .Case([&](arith::SubFOp) { return computeAll(Op::Sub); })
      .Case([&](arith::MulFOp) { return computeAll(Op::Mul); })
      .Case([&](arith::DivFOp) { return computeAll(Op::Div); })
      .Case([&](arith::RemFOp) { return computeAll(Op::Rem); })
      .Case([&](arith::NegFOp) { return negate(operand(0)); })
      .Case([&](arith::MinimumFOp) { return computeAll(Op::Minimum); })
      .Case([&](arith::MaximumFOp) { return computeAll(Op::Maximum); })
      .Case([&](arith::MinNumFOp) { return computeAll(Op::MinNumber); })
      .Case([&](arith::MaxNumFOp) { return computeAll(Op::MaxNumber); })
      .Case(
          [&](arith::CmpFOp cmp) { return compareFloats(cmp.getPredicate()); })
      .Case([&](math::FmaOp) { return computeAll(Op::Fma); })
      .Case([&](math::AbsFOp) { return computeAll(Op::Abs); })
      .Case([&](math::FloorOp) { return computeAll(Op::Floor); })
      .Case([&](math::CeilOp) { return computeAll(Op::Ceil); })
      .Case([&](math::TruncOp) { return computeAll(Op::Trunc); })
      .Case([&](math::RoundOp) { return computeAll(Op::RoundAway); })
      .Case([&](math::RoundEvenOp) { return computeAll(Op::RoundEven); })
      .Case([&](math::CopySignOp) { return computeAll(Op::CopySign); })
      .Case([&](math::PowFOp) { return computeAll(Op::Pow); })
      .Case([&](math::FPowIOp) { return computeAll(Op::Pow); })
      .Case([&](math::Atan2Op) { return computeAll(Op::Atan2); })
      .Case([&](math::ClampFOp) { return clamp(); })
      .Case([&](math::IsNaNOp) { return compute(Op::IsNaN, operand(0)); })
      .Case([&](math::IsInfOp) { return compute(Op::IsInf, operand(0)); })
      .Case([&](math::IsFiniteOp) { return compute(Op::IsFinite, operand(0)); })
      .Default([](Operation *) { return Value(); });
}

Value ScalarBounder::convertFunction() {
  std::optional<Function> function =
      llvm::StringSwitch<std::optional<Function>>(op->getName().getStringRef())
          .Case("math.exp", Function::Exp)
          .Case("math.exp2", Function::Exp2)
          .Case("math.expm1", Function::Expm1)
          .Case("math.log", Function::Log)
          .Case("math.log2", Function::Log2)
          .Case("math.log10", Function::Log10)
          .Case("math.log1p", Function::Log1p)
          .Case("math.sinh", Function::Sinh)
          .Case("math.cosh", Function::Cosh)
          .Case("math.tanh", Function::Tanh)
          .Case("math.asinh", Function::Asinh)
          .Case("math.acosh", Function::Acosh)
          .Case("math.atanh", Function::Atanh)
          .Case("math.sin", Function::Sin)
          .Case("math.cos", Function::Cos)
          .Case("math.tan", Function::Tan)
          .Case("math.asin", Function::Asin)
          .Case("math.acos", Function::Acos)
          .Case("math.atan", Function::Atan)
          .Case("math.erf", Function::Erf)
          .Case("math.erfc", Function::Erfc)
          .Case("math.sqrt", Function::Sqrt)
          .Case("math.rsqrt", Function::Rsqrt)
          .Case("math.cbrt", Function::Cbrt)
          .Default(std::nullopt);
  if (!function)
    return {};
  return computeAll(
      static_cast<BoundedOp>(static_cast<int32_t>(BoundedOp::FirstFunction) +
                             static_cast<int32_t>(*function)));
}

Value ScalarBounder::compareFloats(arith::CmpFPredicate predicate) {
  using Op = BoundedOp;
  using Predicate = arith::CmpFPredicate;
  Value x = operand(0), y = operand(1);
  Value unordered = compute(Op::Unordered, {x, y});
  auto orUnordered = [&](Value truth) {
    return compute(Op::Or, {unordered, truth});
  };
  auto less = [&](Value x, Value y) { return compute(Op::Less, {x, y}); };
  auto lessEqual = [&](Value x, Value y) {
    return compute(Op::LessEqual, {x, y});
  };
  auto ordered = [&] {
    return compute(Op::Equal, {unordered, builder.constant(b, loc, 0)});
  };
  switch (predicate) {
  case Predicate::AlwaysFalse:
    return builder.constant(b, loc, 0);
  case Predicate::AlwaysTrue:
    return builder.constant(b, loc, 1);
  case Predicate::OEQ:
    return compute(Op::Equal, {x, y});
  case Predicate::OGT:
    return less(y, x);
  case Predicate::OGE:
    return lessEqual(y, x);
  case Predicate::OLT:
    return less(x, y);
  case Predicate::OLE:
    return lessEqual(x, y);
  case Predicate::ONE:
    return compute(Op::And, {ordered(), compute(Op::NotEqual, {x, y})});
  case Predicate::ORD:
    return ordered();
  case Predicate::UEQ:
    return orUnordered(compute(Op::Equal, {x, y}));
  case Predicate::UGT:
    return orUnordered(less(y, x));
  case Predicate::UGE:
    return orUnordered(lessEqual(y, x));
  case Predicate::ULT:
    return orUnordered(less(x, y));
  case Predicate::ULE:
    return orUnordered(lessEqual(x, y));
  case Predicate::UNE:
    return compute(Op::NotEqual, {x, y});
  case Predicate::UNO:
    return unordered;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value ScalarBounder::asUnsigned(unsigned i) {
  unsigned width = getWidth(declared.operands[i]);
  Value value = operand(i);
  return width == 1 ? value
                    : compute(BoundedOp::ToUnsigned, value,
                              static_cast<int32_t>(width));
}

Value ScalarBounder::convertConversion() {
  using Op = BoundedOp;
  auto from = [&] { return declared.operands[0]; };
  auto to = [&] { return declared.results[0]; };
  auto width = [&](Type type) { return static_cast<int32_t>(getWidth(type)); };
  auto negated = [&](Value x) {
    return compute(Op::IntSub, {builder.constant(b, loc, 0), x}, 64);
  };
  // A truth value of one bit is -1 where it has a sign.
  auto asSigned = [&] {
    return from().isInteger(1) ? negated(operand(0)) : operand(0);
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::ExtFOp) { return operand(0); })
      .Case([&](arith::TruncFOp) { return computeAll(Op::Round); })
      .Case([&](arith::SIToFPOp) {
        return compute(Op::Round, asSigned(), getFormat(to()));
      })
      .Case([&](arith::UIToFPOp) {
        return compute(Op::Round, asUnsigned(0), getFormat(to()));
      })
      .Case([&](arith::FPToSIOp) {
        return compute(Op::FloatToSigned, operand(0), width(to()));
      })
      .Case([&](arith::FPToUIOp) {
        return compute(Op::FloatToUnsigned, operand(0), width(to()));
      })
      .Case([&](arith::BitcastOp) {
        Value bits = operand(0);
        if (isa<FloatType>(from()))
          bits = compute(Op::ToBits, bits, getFormat(from()));
        if (isa<FloatType>(to()))
          bits = compute(Op::FromBits, bits, getFormat(to()));
        return bits;
      })
      .Case([&](arith::ExtSIOp) { return asSigned(); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](Operation *) { return asUnsigned(0); })
      .Case<arith::TruncIOp, arith::IndexCastOp>([&](Operation *) {
        return width(to()) < width(from())
                   ? compute(Op::Narrow, operand(0), width(to()))
                   : operand(0);
      })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value ScalarBounder::compareIntegers(arith::CmpIPredicate predicate) {
  using Op = BoundedOp;
  using Predicate = arith::CmpIPredicate;
  bool isUnsigned = predicate >= Predicate::ult;
  Value x = isUnsigned ? asUnsigned(0) : operand(0);
  Value y = isUnsigned ? asUnsigned(1) : operand(1);
  switch (predicate) {
  case Predicate::eq:
    return compute(Op::Equal, {x, y});
  case Predicate::ne:
    return compute(Op::NotEqual, {x, y});
  case Predicate::slt:
  case Predicate::ult:
    return compute(Op::Less, {x, y});
  case Predicate::sle:
  case Predicate::ule:
    return compute(Op::LessEqual, {x, y});
  case Predicate::sgt:
  case Predicate::ugt:
    return compute(Op::Less, {y, x});
  case Predicate::sge:
  case Predicate::uge:
    return compute(Op::LessEqual, {y, x});
  }
  return {};
}

Value ScalarBounder::convertInteger() {
  using Op = BoundedOp;
  Type type = declared.results[0];
  bool isTruth = type.isInteger(1);
  auto width = static_cast<int32_t>(isa<FloatType>(type) ? 0 : getWidth(type));
  auto both = [&](Op what) {
    return compute(what, {operand(0), operand(1)}, width);
  };
  auto truth = [&](Op what) { return isTruth ? both(what) : Value(); };
  auto number = [&](Op what) { return isTruth ? Value() : both(what); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::SelectOp select) -> Value {
        if (select.getCondition().getType() == builder.getType())
          return compute(Op::Select, {operand(0), operand(1), operand(2)});
        return arith::SelectOp::create(b, loc, select.getCondition(),
                                       operand(1), operand(2));
      })
      .Case([&](arith::CmpIOp cmp) {
        return compareIntegers(cmp.getPredicate());
      })
      .Case([&](arith::AndIOp) { return truth(Op::And); })
      .Case([&](arith::OrIOp) { return truth(Op::Or); })
      .Case([&](arith::XOrIOp) { return truth(Op::Xor); })
      .Case([&](arith::AddIOp) { return number(Op::IntAdd); })
      .Case([&](arith::SubIOp) { return number(Op::IntSub); })
      .Case([&](arith::MulIOp) { return number(Op::IntMul); })
      .Case([&](arith::MinSIOp) { return number(Op::IntMin); })
      .Case([&](arith::MaxSIOp) { return number(Op::IntMax); })
      .Default([](Operation *) { return Value(); });
}

Value ScalarBounder::evaluateExactly() {
  auto isInteger = [](Type type) { return type.isIntOrIndex(); };
  if (!llvm::all_of(declared.operands, isInteger) ||
      !llvm::all_of(declared.results, isInteger) ||
      declared.results.size() != 1)
    return {};
  IRMapping mapping;
  Value isOpen;
  for (auto [value, type] : llvm::zip(op->getOperands(), declared.operands)) {
    if (value.getType() != builder.getType())
      continue;
    mapping.map(value, builder.toInteger(b, loc, value, type));
    Value open = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                       builder.getError(b, loc, value),
                                       builder.f64(b, loc, 0));
    isOpen = isOpen ? arith::OrIOp::create(b, loc, isOpen, open) : open;
  }
  Operation *clone = b.clone(*op, mapping);
  clone->getResult(0).setType(declared.results[0]);
  Value result = builder.fromInteger(b, loc, clone->getResult(0));
  Value unknown = builder.create(
      b, loc, builder.getValue(b, loc, result),
      builder.f64(b, loc, std::numeric_limits<double>::infinity()));
  return isOpen ? arith::SelectOp::create(b, loc, isOpen, unknown, result)
                : result;
}

FailureOr<SmallVector<Value>> ScalarBounder::convert() {
  if (isa<math::SincosOp>(op)) {
    auto call = [&](Function function, Type result) {
      return compute(static_cast<BoundedOp>(
                         static_cast<int32_t>(BoundedOp::FirstFunction) +
                         static_cast<int32_t>(function)),
                     operand(0), getFormat(result));
    };
    return SmallVector<Value>{call(Function::Sin, declared.results[0]),
                              call(Function::Cos, declared.results[1])};
  }
  for (auto convert :
       {&ScalarBounder::convertFloat, &ScalarBounder::convertFunction,
        &ScalarBounder::convertConversion, &ScalarBounder::convertInteger,
        &ScalarBounder::evaluateExactly})
    if (Value result = (this->*convert)())
      return SmallVector<Value>{result};
  return failure();
}
