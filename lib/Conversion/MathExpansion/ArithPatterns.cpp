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

#include "Operands.h"
#include "fusion/Support/FloatRange.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
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

/// The reciprocal of a count, correctly rounded: infinity of none.
static Num invertCount(Num n) {
  APFloat constant(0.0f);
  if (matchPattern(Value(n), m_ConstantFloat(&constant)))
    return n.c(1.0f / constant.convertToFloat());
  // What is off by 2^-23 is off by 2^-46 after the step, and no reciprocal of a
  // count but those of powers of two is that close to where rounding changes.
  Num approximate = rcpApproxFtz(n);
  Num rest = fma(-n, approximate, n.c(1.0));
  return select(n.eq(n.c(0.0)), approximate,
                fma(rest, approximate, approximate));
}

/// Quotients by counts: the rest that a product by the reciprocal leaves is
/// exact, since a count has few bits, and corrects it by its rounding. Where
/// nothing is left the product is the quotient: of zeros and infinities. Only
/// below 2^-126 can a quotient lie in the middle of two numbers, and become the
/// other one.
struct ExpandDivisionByCount final : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Count> count = Count::of(op.getRhs());
    if (!isExpandableFloat(op.getType()) || !count)
      return rewriter.notifyMatchFailure(op, "not by a count");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num n(b, op.getRhs());
    // Beside the count, where all that it divides find it.
    b.setInsertionPointAfterValue(op.getRhs());
    Num reciprocal = invertCount(n);
    b.setInsertionPoint(op);
    Num x(b, op.getLhs());
    Num product = x * reciprocal;
    if (count->isExact) {
      rewriter.replaceOp(op, Value(product));
      return success();
    }
    Num rest = fma(-product, n, x);
    Num result =
        select(fabs(rest) > x.c(0.0), fma(rest, reciprocal, product), product);
    rewriter.replaceOp(op, Value(result));
    return success();
  }
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

/// f32 rounded to bf16 and back, by one instruction: of a pair whose lower half
/// is zero, the upper one is in its place. By itself a bf16 takes a conversion
/// of the slow units and a shift.
struct RoundToBFloat16 final : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto narrow = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrow || !op.getType().isF32() || !narrow.getType().isBF16() ||
        !narrow.getIn().getType().isF32())
      return rewriter.notifyMatchFailure(op, "no f32 rounded to bf16");
    if (narrow.getRoundingmode() &&
        *narrow.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op,
                                         "rounds otherwise than to nearest");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    auto pair =
        LLVM::CallIntrinsicOp::create(b, VectorType::get(2, b.getBF16Type()),
                                      b.getStringAttr("llvm.nvvm.ff2bf16x2.rn"),
                                      ValueRange{narrow.getIn(), zero});
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, op.getType(),
                                                 pair.getResult(0));
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
  patterns.add<ExpandDivisionByCount, ExpandRemainder, ExpandExtend,
               ExpandTruncate, WidenFloat8>(patterns.getContext());
  if (!options.alone)
    patterns.add<RoundToBFloat16>(patterns.getContext());
  patterns.add<ExpandFastDivision>(patterns.getContext(), options);
}

void mlir::fusion::populateMathExpansionPatterns(RewritePatternSet &patterns,
                                                 const MathOptions &options) {
  populateFunctionPatterns(patterns, options);
  populateRoundingPatterns(patterns);
  populateIntegerPatterns(patterns, options);
  populateArithPatterns(patterns, options);
}
