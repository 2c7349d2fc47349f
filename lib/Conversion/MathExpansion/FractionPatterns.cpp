//===- FractionPatterns.cpp - Functions of numbers in [0, 1] --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements logarithms whose operand is known to be in [0, 1], such
// as an exponential of what is never positive: they need neither an exponent
// nor what handles other operands.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;

/// Beyond this depth of expressions the search is not worth its time.
static constexpr unsigned kMaxDepth = 4;

namespace {
enum class Sign { NotNegative, NotPositive };
} // namespace

static bool isConstantOf(Value value, Sign sign) {
  APFloat constant(0.0f);
  return matchPattern(value, m_ConstantFloat(&constant)) &&
         (constant.isZero() ||
          constant.isNegative() == (sign != Sign::NotNegative));
}

/// Whether `value` has `sign`, or is NaN, whatever the program's arguments.
static bool hasSign(Value value, Sign sign, unsigned depth = 0) {
  if (isConstantOf(value, sign))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return false;
  auto operandHas = [&](unsigned number, Sign wanted) {
    return hasSign(op->getOperand(number), wanted, depth + 1);
  };
  bool wantsPositive = sign == Sign::NotNegative;
  if (isa<math::AbsFOp, math::ExpOp, math::Exp2Op, math::SqrtOp>(op))
    return wantsPositive;
  if (isa<arith::NegFOp>(op))
    return operandHas(0, wantsPositive ? Sign::NotPositive : Sign::NotNegative);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return operandHas(0, sign);
  // NaN where one operand is, of which the other says nothing then.
  if (wantsPositive ? isa<arith::MaximumFOp>(op) : isa<arith::MinimumFOp>(op))
    return operandHas(0, sign) || operandHas(1, sign);
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::AddFOp>(op))
    return operandHas(0, sign) && operandHas(1, sign);
  if (isa<arith::MulFOp>(op)) {
    Sign first = Sign::NotNegative;
    if (!operandHas(0, first))
      first = Sign::NotPositive;
    return operandHas(0, first) &&
           operandHas(1, (first == Sign::NotNegative) == wantsPositive
                             ? Sign::NotNegative
                             : Sign::NotPositive);
  }
  return false;
}

/// Whether `value` is in [0, 1] or NaN.
static bool isFraction(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::ExtFOp, arith::TruncFOp>(op))
    return isFraction(op->getOperand(0));
  // Rounding may give what is a little above 1, where the polynomial still
  // holds.
  return isa_and_present<math::ExpOp, math::Exp2Op>(op) &&
         hasSign(op->getOperand(0), Sign::NotPositive);
}

namespace {
struct ExpandLog1pOfFraction final : OpRewritePattern<math::Log1pOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Log1pOp op,
                                PatternRewriter &rewriter) const override {
    if (getElementTypeOrSelf(op.getType()).isF64() ||
        !isExpandableFloat(op.getType()) || !isFraction(op.getOperand()))
      return rewriter.notifyMatchFailure(op, "not of an f32 in [0, 1]");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num result = log1pOfFractionKernel(computeNum(b, op.getOperand()));
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};
} // namespace

void mlir::fusion::populateFractionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandLog1pOfFraction>(patterns.getContext());
}
