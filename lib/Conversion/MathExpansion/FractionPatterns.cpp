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

/// The logarithm log(1 + x) of an x in [0, 1] that `value` is; null for another
/// value.
static math::Log1pOp getLogarithm(Value value) {
  auto log = value.getDefiningOp<math::Log1pOp>();
  return log && !getElementTypeOrSelf(log.getType()).isF64() &&
                 isExpandableFloat(log.getType()) &&
                 isFraction(log.getOperand())
             ? log
             : nullptr;
}

/// The operand of `op`, a sum or difference in f32, that is such a logarithm
/// and is used there alone; null if none is.
static OpOperand *findLogarithm(Operation *op) {
  if (isa<arith::AddFOp, arith::SubFOp>(op) &&
      getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    for (OpOperand &operand : op->getOpOperands())
      if (getLogarithm(operand.get()) && operand.get().hasOneUse())
        return &operand;
  return nullptr;
}

namespace {
struct ExpandLog1pOfFraction final : OpRewritePattern<math::Log1pOp> {
  ExpandLog1pOfFraction(MLIRContext *context, const MathOptions &options)
      : OpRewritePattern(context), options(options) {}

  LogicalResult matchAndRewrite(math::Log1pOp op,
                                PatternRewriter &rewriter) const override {
    if (!getLogarithm(op))
      return rewriter.notifyMatchFailure(op, "not of an f32 in [0, 1]");
    // Sums come later than their operands and know more.
    if (op->hasOneUse() &&
        findLogarithm(*op->user_begin()) == &*op->use_begin())
      return rewriter.notifyMatchFailure(op, "part of a sum");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num result = log1pOfFractionKernel(
        computeNum(b, op.getOperand()),
        kernelOptions(options, op.getType(), op.getFastmath()));
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }

  MathOptions options;
};

/// Sums with such a logarithm, as in the logarithm of a sum of exponentials and
/// in a softplus: its last product is part of the sum.
template <typename OpTy>
struct ExpandSumWithLog1p final : OpRewritePattern<OpTy> {
  ExpandSumWithLog1p(MLIRContext *context, const MathOptions &options)
      : OpRewritePattern<OpTy>(context), options(options) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    OpOperand *term = findLogarithm(op);
    if (!term)
      return rewriter.notifyMatchFailure(op, "no logarithm of 1 to 2");
    math::Log1pOp log = getLogarithm(term->get());
    bool isSecond = term->getOperandNumber() == 1;
    bool isDifference = isa<arith::SubFOp>(op);
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num other = computeNum(b, op->getOperand(isSecond ? 0 : 1));
    Num result = addLog1pOfFraction(
        computeNum(b, log.getOperand()), isDifference && isSecond,
        isDifference && !isSecond ? -other : other,
        kernelOptions(options, log.getType(), log.getFastmath()));
    rewriter.replaceOp(op, restore(result, op.getType()));
    rewriter.eraseOp(log);
    return success();
  }

  MathOptions options;
};
} // namespace

void mlir::fusion::populateFractionPatterns(RewritePatternSet &patterns,
                                            const MathOptions &options) {
  patterns.add<ExpandLog1pOfFraction, ExpandSumWithLog1p<arith::AddFOp>,
               ExpandSumWithLog1p<arith::SubFOp>>(patterns.getContext(),
                                                  options);
}
