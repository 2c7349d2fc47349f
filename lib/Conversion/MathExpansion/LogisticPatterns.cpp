//===- LogisticPatterns.cpp - Sigmoids and their products -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the expansion of logistic functions.
//
//===----------------------------------------------------------------------===//

#include "Logistic.h"
#include "Operands.h"

#include "fusion/Conversion/MathExpansion/MathExpansion.h"
#include "fusion/Support/FloatRange.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
template <typename OpTy>
struct ExpandLogistic final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<Logistic> logistic = Logistic::match(op);
    if (!logistic)
      return rewriter.notifyMatchFailure(op, "not a logistic function");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    logistic->replace(rewriter, rcpApproxFtz(logistic->emitDivisor(b)));
    return success();
  }
};

/// The least number whose approximate reciprocal is 0.
constexpr double kLargeDivisor = 0x1p126;

/// Quotients by 1 + exp(y) and others by positive numbers and exponentials: the
/// divisor is no smaller than the constant in it, which the exact division's
/// slow path for extreme divisors does not need to know.
struct ExpandLogisticDivision final : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    FloatRange range = FloatRange::of(op.getRhs());
    // A constant that is no less than 2^-60 keeps the divisor normal.
    if (!isMadeOfExponentials(op.getRhs()) || range.low < 0x1p-60 ||
        getElementTypeOrSelf(op.getType()).isF64() ||
        !isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a logistic function");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num dividend = computeNum(b, op.getLhs());
    Num divisor = computeNum(b, op.getRhs());
    Num quotient = range.high < kLargeDivisor / 2
                       ? dividend * rcpApproxFtz(divisor)
                       : divFull(dividend, divisor);
    rewriter.replaceOp(op, restore(quotient, op.getType()));
    return success();
  }
};
} // namespace

void mlir::fusion::populateLogisticPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandLogistic<arith::AddFOp>, ExpandLogistic<arith::DivFOp>>(
      patterns.getContext(), /*benefit=*/2);
  patterns.add<ExpandLogisticDivision>(patterns.getContext());
}
