//===- ArithPatterns.cpp - Arithmetic that PTX lacks ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the patterns for operations of the arith dialect that
// NVPTX computes wrongly, slowly or not at all.
//
//===----------------------------------------------------------------------===//

#include "Constants.h"
#include "Operands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// x / (1 + exp(y)), as sigmoids and their products are written: the divisor is
/// at least 1, which the exact division's slow path for extreme divisors does
/// not need to know.
struct ExpandLogisticDivision final : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isOne(Value value) { return matchPattern(value, m_OneFloat()); }

  /// The exponent e of a sum 1 + exp(e); null for another value.
  static Value getExponent(Value value) {
    auto add = value.getDefiningOp<arith::AddFOp>();
    if (!add)
      return nullptr;
    for (unsigned i = 0; i < 2; ++i)
      if (auto exp = add->getOperand(i).getDefiningOp<math::ExpOp>())
        if (isOne(add->getOperand(1 - i)))
          return exp.getOperand();
    return nullptr;
  }

  /// x / (1 + exp(-x)): the divisor is large where x is not, and the quotient
  /// then too small to matter, so that the reciprocal's lack of subnormal
  /// numbers does not show.
  static bool isSigmoidTimes(Value x, Value exponent) {
    auto negation = exponent.getDefiningOp<arith::NegFOp>();
    return negation && negation.getOperand() == x;
  }

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()) ||
        getElementTypeOrSelf(op.getType()).isF64() || !getExponent(op.getRhs()))
      return rewriter.notifyMatchFailure(op, "not a logistic function");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num divisor = computeNum(b, op.getRhs());
    Num result = isOne(op.getLhs()) ? rcpApproxFtz(divisor)
                 : isSigmoidTimes(op.getLhs(), getExponent(op.getRhs()))
                     ? computeNum(b, op.getLhs()) * rcpApproxFtz(divisor)
                     : divFull(computeNum(b, op.getLhs()), divisor);
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};

/// tanh(x) + 1, as in the tanh form of GELU, is 2 / (1 + e^-2x): one expression
/// without cancellation, where the sum of the two would lose near -1 what tanh
/// rounds away.
struct ExpandTanhPlusOne final : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Where the sum is multiplied by half of something, as in GELU, makes that
  /// the whole of it: the factor 2 of the sum goes with it, exactly. Says
  /// whether it did.
  static bool takeHalf(arith::AddFOp op, PatternRewriter &rewriter) {
    if (!op->hasOneUse())
      return false;
    OpOperand &use = *op->use_begin();
    auto product = dyn_cast<arith::MulFOp>(use.getOwner());
    if (!product)
      return false;
    OpOperand &other = product->getOpOperand(1 - use.getOperandNumber());
    auto half = other.get().getDefiningOp<arith::MulFOp>();
    for (unsigned i = 0; half && i < 2; ++i) {
      APFloat factor(0.0f);
      if (!matchPattern(half->getOperand(i), m_ConstantFloat(&factor)) ||
          !factor.isExactlyValue(0.5))
        continue;
      Value whole = half->getOperand(1 - i);
      rewriter.modifyOpInPlace(product, [&] { other.set(whole); });
      return true;
    }
    return false;
  }

  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < 2; ++i) {
      auto tanh = op->getOperand(i).getDefiningOp<math::TanhOp>();
      if (!tanh || !tanh->hasOneUse() ||
          !getElementTypeOrSelf(op.getType()).isF32() ||
          !matchPattern(op->getOperand(1 - i), m_OneFloat()))
        continue;
      ImplicitLocOpBuilder b(op.getLoc(), rewriter);
      Num x = computeNum(b, tanh.getOperand());
      Num power = ex2ApproxFtz(x * x.c(-2.0 * constants::log2e));
      Num result = rcpApproxFtz(power + x.c(1.0));
      if (!takeHalf(op, rewriter))
        result = result * x.c(2.0);
      rewriter.replaceOp(op, restore(result, op.getType()));
      rewriter.eraseOp(tanh);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "not a hyperbolic tangent plus one");
  }
};

/// Division to 2 ULP where approximation is allowed.
struct ExpandFastDivision final : OpRewritePattern<arith::DivFOp> {
  ExpandFastDivision(MLIRContext *context, const MathOptions &options)
      : OpRewritePattern(context), options(options) {}

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()) ||
        getElementTypeOrSelf(op.getType()).isF64() ||
        !kernelOptions(options, op.getType(), op.getFastmath()).fast)
      return rewriter.notifyMatchFailure(op, "an exact division");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num result =
        divFull(computeNum(b, op.getLhs()), computeNum(b, op.getRhs()));
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }

  MathOptions options;
};

struct ExpandRemainder final : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "no such float in PTX");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num result = mapElements(
        {computeNum(b, op.getLhs()), computeNum(b, op.getRhs())},
        [](ArrayRef<Num> xy) { return remainderKernel(xy[0], xy[1]); });
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};

struct ExpandExtend final : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type source = getElementTypeOrSelf(op.getIn().getType());
    if (!isExpandableFloat(op.getType()) ||
        !isExpandableFloat(op.getIn().getType()) || !isFloat8(source))
      return rewriter.notifyMatchFailure(op, "PTX converts this itself");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num x = computeNum(b, op.getIn());
    Type target = getElementTypeOrSelf(op.getType());
    if (target.isF64())
      x = x.extendTo(target);
    rewriter.replaceOp(op, restore(x, op.getType()));
    return success();
  }
};

struct ExpandTruncate final : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()) ||
        !isExpandableFloat(op.getIn().getType()) ||
        !isFloat8(getElementTypeOrSelf(op.getType())))
      return rewriter.notifyMatchFailure(op, "PTX converts this itself");
    if (op.getRoundingmode() &&
        *op.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op,
                                         "rounds otherwise than to nearest");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, restore(computeNum(b, op.getIn()), op.getType()));
    return success();
  }
};
/// Arithmetic on 8-bit floats: in f32, rounded once.
struct WidenFloat8 final : RewritePattern {
  WidenFloat8(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  static bool isFloat8Value(Value value) {
    return isExpandableFloat(value.getType()) &&
           isFloat8(getElementTypeOrSelf(value.getType()));
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    // What moves or reinterprets bits needs no arithmetic.
    if (!isa_and_present<arith::ArithDialect>(op->getDialect()) ||
        isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::SelectOp,
            arith::TruncFOp>(op) ||
        op->getNumResults() != 1 ||
        (llvm::none_of(op->getOperands(), isFloat8Value) &&
         llvm::none_of(op->getResults(), isFloat8Value)))
      return rewriter.notifyMatchFailure(op, "no arithmetic on 8-bit floats");
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isFloat8Value(operand) ? Value(computeNum(b, operand))
                                                : Value(flatNum(b, operand)));
    Value result = op->getResult(0);
    Type element = getElementTypeOrSelf(result.getType());
    Type wide = isFloat8(element) ? Type(b.getF32Type()) : element;
    if (!operands.empty())
      wide = Num(b, operands.front()).shaped(wide);
    Operation *widened = b.create(op->getLoc(), op->getName().getIdentifier(),
                                  operands, wide, op->getAttrs());
    rewriter.replaceOp(
        op, restore(Num(b, widened->getResult(0)), result.getType()));
    return success();
  }
};
} // namespace

void mlir::fusion::populateArithPatterns(RewritePatternSet &patterns,
                                         const MathOptions &options) {
  patterns.add<ExpandRemainder, ExpandExtend, ExpandTruncate, WidenFloat8>(
      patterns.getContext());
  patterns.add<ExpandFastDivision>(patterns.getContext(), options);
}

void mlir::fusion::populateLogisticPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandLogisticDivision, ExpandTanhPlusOne>(
      patterns.getContext());
}

void mlir::fusion::populateMathExpansionPatterns(RewritePatternSet &patterns,
                                                 const MathOptions &options) {
  populateFunctionPatterns(patterns, options);
  populateRoundingPatterns(patterns);
  populateIntegerPatterns(patterns);
  populateArithPatterns(patterns, options);
}
