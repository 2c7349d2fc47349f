//===- RoundingPatterns.cpp - Signs, roundings, classes ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the patterns for math operations that have an LLVM
// intrinsic or a few bit operations in every format.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;

/// The operands of `op` in a format that has instructions: their own, or f32
/// for 8-bit floats.
static SmallVector<Value> nativeOperands(ImplicitLocOpBuilder &b,
                                         Operation *op) {
  SmallVector<Value> values;
  for (Value operand : op->getOperands())
    values.push_back(isFloat8(getElementTypeOrSelf(operand.getType()))
                         ? computeNum(b, operand)
                         : flatNum(b, operand));
  return values;
}

namespace {
/// One intrinsic on floats of any format.
template <typename OpTy>
struct ToIntrinsic final : OpRewritePattern<OpTy> {
  ToIntrinsic(MLIRContext *context, StringRef intrinsic)
      : OpRewritePattern<OpTy>(context), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "no such float in PTX");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Num> operands;
    for (Value operand : nativeOperands(b, op))
      operands.push_back(Num(b, operand));
    Num result = callIntrinsic(intrinsic, operands);
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }

  StringRef intrinsic;
};

struct ExpandClamp final : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "no such float in PTX");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> operands = nativeOperands(b, op);
    Num result = minNaN(maxNaN(Num(b, operands[0]), Num(b, operands[1])),
                        Num(b, operands[2]));
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};

enum class FloatClass { NaN, Infinite, Finite, Normal };

/// Classes by the bits of the magnitude, in every format that has IEEE's
/// layout.
template <typename OpTy, FloatClass wanted>
struct ExpandClass final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getOperand().getType();
    if (!isExpandableFloat(type) || isFloat8(getElementTypeOrSelf(type)))
      return rewriter.notifyMatchFailure(op, "no such float in PTX");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num x = flatNum(b, op.getOperand());
    const llvm::fltSemantics &semantics =
        cast<FloatType>(x.element()).getFloatSemantics();
    auto bitsOf = [](APFloat value) {
      return value.bitcastToAPInt().getSExtValue();
    };
    Num bits = x.asInt();
    unsigned width = x.element().getIntOrFloatBitWidth();
    Num magnitude = bits & bits.i((uint64_t(1) << (width - 1)) - 1);
    Num infinity = bits.i(bitsOf(APFloat::getInf(semantics)));
    Num result;
    switch (wanted) {
    case FloatClass::NaN:
      result = magnitude.icmp(arith::CmpIPredicate::ugt, infinity);
      break;
    case FloatClass::Infinite:
      result = magnitude.icmp(arith::CmpIPredicate::eq, infinity);
      break;
    case FloatClass::Finite:
      result = magnitude.icmp(arith::CmpIPredicate::ult, infinity);
      break;
    case FloatClass::Normal: {
      Num smallest = bits.i(bitsOf(APFloat::getSmallestNormalized(semantics)));
      result = (magnitude - smallest)
                   .icmp(arith::CmpIPredicate::ult, infinity - smallest);
      break;
    }
    }
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};
} // namespace

void mlir::fusion::populateRoundingPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ToIntrinsic<math::AbsFOp>>(context, "llvm.fabs");
  patterns.add<ToIntrinsic<math::CeilOp>>(context, "llvm.ceil");
  patterns.add<ToIntrinsic<math::CopySignOp>>(context, "llvm.copysign");
  patterns.add<ToIntrinsic<math::FloorOp>>(context, "llvm.floor");
  patterns.add<ToIntrinsic<math::FmaOp>>(context, "llvm.fma");
  patterns.add<ToIntrinsic<math::RoundOp>>(context, "llvm.round");
  patterns.add<ToIntrinsic<math::RoundEvenOp>>(context, "llvm.roundeven");
  patterns.add<ToIntrinsic<math::TruncOp>>(context, "llvm.trunc");
  patterns.add<ToIntrinsic<arith::MaxNumFOp>>(context, "llvm.maxnum");
  patterns.add<ToIntrinsic<arith::MinNumFOp>>(context, "llvm.minnum");
  patterns.add<ExpandClamp, ExpandClass<math::IsNaNOp, FloatClass::NaN>,
               ExpandClass<math::IsInfOp, FloatClass::Infinite>,
               ExpandClass<math::IsFiniteOp, FloatClass::Finite>,
               ExpandClass<math::IsNormalOp, FloatClass::Normal>>(context);
}
