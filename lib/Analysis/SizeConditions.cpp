//===- SizeConditions.cpp - Sizes and conditions for a launch -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the conversion of sizes and of conditions on sizes to
// expressions of packages.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/SizeConditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;
using arith::CmpIPredicate;
using fusionpkg::ExprId;
using fusionpkg::ExprPool;
using SymbolKind = SymbolicShapes::SymbolKind;

ExprId fusion::convertSize(AffineExpr expr, const SymbolicShapes &shapes,
                           ExprPool &pool) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return pool.constant(constant.getValue());
  if (auto position = dyn_cast<AffineSymbolExpr>(expr)) {
    const SymbolicShapes::Symbol &symbol =
        shapes.getSymbols()[position.getPosition()];
    if (!symbol.isDerived())
      return pool.symbol(position.getPosition());
    ExprId result = convertSize(symbol.operands.front(), shapes, pool);
    for (AffineExpr operand : ArrayRef(symbol.operands).drop_front()) {
      ExprId other = convertSize(operand, shapes, pool);
      result = symbol.kind == SymbolKind::Least ? pool.min(result, other)
                                                : pool.max(result, other);
    }
    return result;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  ExprId lhs = convertSize(binary.getLHS(), shapes, pool);
  ExprId rhs = convertSize(binary.getRHS(), shapes, pool);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return pool.add(lhs, rhs);
  case AffineExprKind::Mul:
    return pool.mul(lhs, rhs);
  case AffineExprKind::Mod:
    return pool.mod(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return pool.floorDiv(lhs, rhs);
  default:
    return pool.ceilDiv(lhs, rhs);
  }
}

namespace {
/// Converts one condition, operations before those that use them.
class ConditionBuilder {
public:
  ConditionBuilder(SymbolicShapes &shapes, ExprPool &pool)
      : shapes(shapes), pool(pool) {}

  FailureOr<ExprId> convert(Value condition);

private:
  ExprId compare(CmpIPredicate predicate, AffineExpr lhs, AffineExpr rhs);
  /// lhs < rhs as signed numbers.
  ExprId less(AffineExpr lhs, AffineExpr rhs);
  ExprId lessUnsigned(AffineExpr lhs, AffineExpr rhs);
  ExprId equal(AffineExpr lhs, AffineExpr rhs);

  ExprId conjunction(ExprId lhs, ExprId rhs);
  ExprId disjunction(ExprId lhs, ExprId rhs);
  ExprId negation(ExprId value) { return pool.eq(value, pool.constant(0)); }

  SymbolicShapes &shapes;
  ExprPool &pool;
};
} // namespace

ExprId ConditionBuilder::conjunction(ExprId lhs, ExprId rhs) {
  if (std::optional<int64_t> known = pool.getConstant(lhs))
    return *known ? rhs : lhs;
  if (std::optional<int64_t> known = pool.getConstant(rhs))
    return *known ? lhs : rhs;
  return pool.logicalAnd(lhs, rhs);
}

ExprId ConditionBuilder::disjunction(ExprId lhs, ExprId rhs) {
  if (std::optional<int64_t> known = pool.getConstant(lhs))
    return *known ? lhs : rhs;
  if (std::optional<int64_t> known = pool.getConstant(rhs))
    return *known ? rhs : lhs;
  return pool.logicalOr(lhs, rhs);
}

ExprId ConditionBuilder::less(AffineExpr lhs, AffineExpr rhs) {
  if (shapes.isNonNegative(rhs - lhs - 1))
    return pool.constant(1);
  if (shapes.isNonNegative(lhs - rhs))
    return pool.constant(0);
  return pool.lt(convertSize(lhs, shapes, pool),
                 convertSize(rhs, shapes, pool));
}

ExprId ConditionBuilder::lessUnsigned(AffineExpr lhs, AffineExpr rhs) {
  // A negative number is greater than any that is not.
  AffineExpr zero = getAffineConstantExpr(0, lhs.getContext());
  ExprId isLeftNegative = less(lhs, zero), isRightNegative = less(rhs, zero);
  ExprId sameSign = disjunction(
      conjunction(isLeftNegative, isRightNegative),
      conjunction(negation(isLeftNegative), negation(isRightNegative)));
  return disjunction(conjunction(sameSign, less(lhs, rhs)),
                     conjunction(negation(isLeftNegative), isRightNegative));
}

ExprId ConditionBuilder::equal(AffineExpr lhs, AffineExpr rhs) {
  if (lhs == rhs || lhs - rhs == getAffineConstantExpr(0, lhs.getContext()))
    return pool.constant(1);
  if (shapes.isNonNegative(lhs - rhs - 1) ||
      shapes.isNonNegative(rhs - lhs - 1))
    return pool.constant(0);
  return pool.eq(convertSize(lhs, shapes, pool),
                 convertSize(rhs, shapes, pool));
}

ExprId ConditionBuilder::compare(CmpIPredicate predicate, AffineExpr lhs,
                                 AffineExpr rhs) {
  switch (predicate) {
  case CmpIPredicate::eq:
    return equal(lhs, rhs);
  case CmpIPredicate::ne:
    return negation(equal(lhs, rhs));
  case CmpIPredicate::slt:
    return less(lhs, rhs);
  case CmpIPredicate::sgt:
    return less(rhs, lhs);
  case CmpIPredicate::sle:
    return negation(less(rhs, lhs));
  case CmpIPredicate::sge:
    return negation(less(lhs, rhs));
  case CmpIPredicate::ult:
    return lessUnsigned(lhs, rhs);
  case CmpIPredicate::ugt:
    return lessUnsigned(rhs, lhs);
  case CmpIPredicate::ule:
    return negation(lessUnsigned(rhs, lhs));
  case CmpIPredicate::uge:
    return negation(lessUnsigned(lhs, rhs));
  }
  llvm_unreachable("not a predicate");
}

FailureOr<ExprId> ConditionBuilder::convert(Value condition) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)))
    return pool.constant(!constant.isZero());
  Operation *op = condition.getDefiningOp();
  if (!op) {
    FailureOr<AffineExpr> value = shapes.getIndex(condition);
    if (failed(value))
      return failure();
    return pool.ne(convertSize(*value, shapes, pool), pool.constant(0));
  }
  SmallVector<ExprId> operands;
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op))
    for (Value operand : op->getOperands()) {
      FailureOr<ExprId> converted = convert(operand);
      if (failed(converted))
        return failure();
      operands.push_back(*converted);
    }
  using Result = FailureOr<ExprId>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::CmpIOp comparison) -> Result {
        FailureOr<AffineExpr> lhs = shapes.getIndex(comparison.getLhs());
        FailureOr<AffineExpr> rhs = shapes.getIndex(comparison.getRhs());
        if (failed(lhs) || failed(rhs))
          return failure();
        return compare(comparison.getPredicate(), *lhs, *rhs);
      })
      .Case([&](arith::AndIOp) -> Result {
        return conjunction(operands[0], operands[1]);
      })
      .Case([&](arith::OrIOp) -> Result {
        return disjunction(operands[0], operands[1]);
      })
      .Case([&](arith::XOrIOp) -> Result {
        return disjunction(conjunction(operands[0], negation(operands[1])),
                           conjunction(negation(operands[0]), operands[1]));
      })
      .Case([&](arith::SelectOp) -> Result {
        return disjunction(conjunction(operands[0], operands[1]),
                           conjunction(negation(operands[0]), operands[2]));
      })
      .Default([](Operation *) -> Result { return failure(); });
}

FailureOr<ExprId> fusion::convertCondition(Value condition,
                                           SymbolicShapes &shapes,
                                           ExprPool &pool) {
  return ConditionBuilder(shapes, pool).convert(condition);
}
