//===- FunctionPatterns.cpp - Elementary functions --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the patterns that put kernels in the place of the math
// dialect's elementary functions.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;

using UnaryKernel = Num (*)(Num, const KernelOptions &);
using BinaryKernel = Num (*)(Num, Num, const KernelOptions &);

namespace {
/// A pattern that knows how to expand.
template <typename OpTy>
struct ExpansionPattern : OpRewritePattern<OpTy> {
  ExpansionPattern(MLIRContext *context, const MathOptions &options)
      : OpRewritePattern<OpTy>(context), options(options) {}

  MathOptions options;
};

template <typename OpTy, UnaryKernel kernel>
struct ExpandUnary final : ExpansionPattern<OpTy> {
  using ExpansionPattern<OpTy>::ExpansionPattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "no kernel for this type");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    KernelOptions kernelOpts =
        kernelOptions(this->options, op.getType(), op.getFastmath());
    Num result = kernel(computeNum(b, op.getOperand()), kernelOpts);
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};

template <typename OpTy, BinaryKernel kernel>
struct ExpandBinary final : ExpansionPattern<OpTy> {
  using ExpansionPattern<OpTy>::ExpansionPattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "no kernel for this type");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    KernelOptions kernelOpts =
        kernelOptions(this->options, op.getType(), op.getFastmath());
    Num result = kernel(computeNum(b, op.getLhs()), computeNum(b, op.getRhs()),
                        kernelOpts);
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};

struct ExpandSincos final : ExpansionPattern<math::SincosOp> {
  using ExpansionPattern::ExpansionPattern;

  LogicalResult matchAndRewrite(math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getOperand().getType();
    if (!isExpandableFloat(type))
      return rewriter.notifyMatchFailure(op, "no kernel for this type");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    KernelOptions kernelOpts = kernelOptions(options, type, op.getFastmath());
    Num x = computeNum(b, op.getOperand());
    rewriter.replaceOp(op, {restore(sinKernel(x, kernelOpts), type),
                            restore(cosKernel(x, kernelOpts), type)});
    return success();
  }
};

/// The value of every element of `value`, when it is one constant.
static std::optional<double> splatConstant(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto dense = dyn_cast<SplatElementsAttr>(attribute))
    attribute = dense.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  return std::nullopt;
}

struct ExpandPow final : ExpansionPattern<math::PowFOp> {
  using ExpansionPattern::ExpansionPattern;

  /// Exponents that take a few operations.
  static std::optional<Num> expandConstant(Num x, double exponent,
                                           const KernelOptions &options) {
    if (exponent == 1.0)
      return x;
    if (exponent == 2.0)
      return x * x;
    if (exponent == 3.0)
      return x * x * x;
    if (exponent == -1.0)
      return x.c(1.0) / x;
    if (exponent == 0.5) {
      // Unlike the root, the power of -0 is +0 and that of -inf is +inf.
      Num root = sqrtKernel(x + x.c(0.0), options);
      return select(x.eq(-x.inf()), x.inf(), root);
    }
    if (exponent == -0.5) {
      Num root = rsqrtKernel(x + x.c(0.0), options);
      return select(x.eq(-x.inf()), x.c(0.0), root);
    }
    return std::nullopt;
  }

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "no kernel for this type");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    KernelOptions kernelOpts =
        kernelOptions(options, op.getType(), op.getFastmath());
    Num x = computeNum(b, op.getLhs());
    std::optional<Num> result;
    std::optional<double> exponent;
    if (!options.alone)
      exponent = splatConstant(op.getRhs());
    if (exponent)
      result = expandConstant(x, *exponent, kernelOpts);
    if (!result)
      result = powKernel(x, computeNum(b, op.getRhs()), kernelOpts);
    rewriter.replaceOp(op, restore(*result, op.getType()));
    return success();
  }
};

/// x^n for an integer n: |x|^n, with the sign of x where n is odd.
struct ExpandFPowI final : ExpansionPattern<math::FPowIOp> {
  using ExpansionPattern::ExpansionPattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "no kernel for this type");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    KernelOptions kernelOpts =
        kernelOptions(options, op.getType(), op.getFastmath());
    // f32 holds integers up to 2^24 only; f64 holds all of 32 bits.
    Num base = computeNum(b, op.getLhs()).extendTo(b.getF64Type());
    Num n = flatNum(b, op.getRhs());
    Num power = powKernel(fabs(base), n.toFloat(b.getF64Type()), kernelOpts);
    Num odd = (n & n.i(1)).icmp(arith::CmpIPredicate::ne, n.i(0));
    Num bits = base.asInt();
    Num negative = bits.icmp(arith::CmpIPredicate::slt, bits.i(0));
    Num result = select(negative & odd, -power, power);
    if (!getElementTypeOrSelf(op.getType()).isF64())
      result = result.truncateTo(b.getF32Type());
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};
} // namespace

void mlir::fusion::populateFunctionPatterns(RewritePatternSet &patterns,
                                            const MathOptions &options) {
  patterns.add<ExpandUnary<math::ExpOp, expKernel>,
               ExpandUnary<math::Exp2Op, exp2Kernel>,
               ExpandUnary<math::ExpM1Op, expm1Kernel>,
               ExpandUnary<math::LogOp, logKernel>,
               ExpandUnary<math::Log2Op, log2Kernel>,
               ExpandUnary<math::Log10Op, log10Kernel>,
               ExpandUnary<math::Log1pOp, log1pKernel>,
               ExpandUnary<math::SinhOp, sinhKernel>,
               ExpandUnary<math::CoshOp, coshKernel>,
               ExpandUnary<math::TanhOp, tanhKernel>,
               ExpandUnary<math::AsinhOp, asinhKernel>,
               ExpandUnary<math::AcoshOp, acoshKernel>,
               ExpandUnary<math::AtanhOp, atanhKernel>,
               ExpandUnary<math::SinOp, sinKernel>,
               ExpandUnary<math::CosOp, cosKernel>,
               ExpandUnary<math::TanOp, tanKernel>,
               ExpandUnary<math::AsinOp, asinKernel>,
               ExpandUnary<math::AcosOp, acosKernel>,
               ExpandUnary<math::AtanOp, atanKernel>,
               ExpandUnary<math::ErfOp, erfKernel>,
               ExpandUnary<math::ErfcOp, erfcKernel>,
               ExpandUnary<math::SqrtOp, sqrtKernel>,
               ExpandUnary<math::RsqrtOp, rsqrtKernel>,
               ExpandUnary<math::CbrtOp, cbrtKernel>,
               ExpandBinary<math::Atan2Op, atan2Kernel>, ExpandSincos,
               ExpandPow, ExpandFPowI>(patterns.getContext(), options);
}
