//===- ActivationOps.cpp - Activations ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the elementwise activations of the fusion dialect.
//
//===----------------------------------------------------------------------===//

#include "DecomposeActivation.h"
#include "Decomposition.h"
#include "fusion/Dialect/Fusion/FusionOps.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<SmallVector<Value>> fusion::decomposeActivation(
    OpBuilder &builder, Operation *op,
    function_ref<Value(OpBuilder &, Location, Value)> function) {
  Value input = op->getOperand(0);
  Type elementType = getElementTypeOrSelf(input.getType());
  Decomposer d(builder, op->getLoc(), getComputeType(elementType));
  Value result = d.elementwise(
      {d.along(input)}, d.getSizes(input), elementType,
      [&](ImplicitLocOpBuilder &body, ArrayRef<Scalar> args) {
        return Scalar(body, function(body, body.getLoc(), args[0]));
      });
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// max(x, 0) + log1p(exp(-|x|)): the softplus that does not overflow.
static Scalar buildSoftplus(Scalar x) {
  return max(x, x.constant(0.0)) + log1p(exp(-abs(x)));
}

static Scalar buildSigmoid(Scalar x) {
  return x.constant(1.0) / (x.constant(1.0) + exp(-x));
}

Value ReluOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  return max(x, x.constant(0.0));
}

Value Relu6Op::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  return min(max(x, x.constant(0.0)), x.constant(6.0));
}

Value SigmoidOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  return buildSigmoid(Scalar(b, value));
}

Value LogSigmoidOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  return min(x, x.constant(0.0)) - log1p(exp(-abs(x)));
}

Value SiluOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  return x / (x.constant(1.0) + exp(-x));
}

Value MishOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  // tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), e being exp(x): above 20
  // that is 1 in every format, and below nothing overflows or cancels.
  Scalar power = exp(min(x, x.constant(20.0)));
  Scalar n = power * (power + 2.0);
  return x * (n / (n + 2.0));
}

Value HardSwishOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  return x * min(max(x + 3.0, x.constant(0.0)), x.constant(6.0)) * (1.0 / 6.0);
}

Value HardSigmoidOp::buildScalar(OpBuilder &builder, Location loc,
                                 Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  Scalar line = x * getAlpha().convertToDouble() + getBeta().convertToDouble();
  return min(max(line, x.constant(0.0)), x.constant(1.0));
}

Value GeluOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  constexpr double sqrtHalf = 0.70710678118654752440;
  constexpr double sqrtTwoOverPi = 0.79788456080286535588;
  Scalar inner = getApproximate() == GeluApproximation::Erf
                     ? erf(x * sqrtHalf)
                     : tanh((x + x * x * x * 0.044715) * sqrtTwoOverPi);
  return x * 0.5 * (inner + 1.0);
}

Value SoftplusOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  Scalar scaled = x * getBeta().convertToDouble();
  Scalar curve = buildSoftplus(scaled) / getBeta().convertToDouble();
  Scalar limit = x.constant(getThreshold().convertToDouble());
  return select(gt(scaled, limit), x, curve);
}

Value EluOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  return select(gt(x, x.constant(0.0)), x,
                expm1(x) * getAlpha().convertToDouble());
}

Value SeluOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  constexpr double alpha = 1.6732632423543772;
  constexpr double scale = 1.0507009873554805;
  Scalar zero = x.constant(0.0);
  return (max(x, zero) + min(expm1(x) * alpha, zero)) * scale;
}

Value LeakyReluOp::buildScalar(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Scalar x(b, value);
  return select(gt(x, x.constant(0.0)), x, x * getSlope().convertToDouble());
}

//===----------------------------------------------------------------------===//
// Verification and folds
//===----------------------------------------------------------------------===//

LogicalResult SoftplusOp::verify() {
  if (getBeta().isZero() || !getBeta().isFinite())
    return emitOpError("'beta' must be finite and not zero");
  return success();
}

OpFoldResult ReluOp::fold(FoldAdaptor) {
  // Rectified already: relu, or relu6, which rectifies too.
  if (isa_and_present<ReluOp, Relu6Op>(getInput().getDefiningOp()))
    return getInput();
  return {};
}

OpFoldResult Relu6Op::fold(FoldAdaptor) {
  if (getInput().getDefiningOp<Relu6Op>())
    return getInput();
  return {};
}

OpFoldResult LeakyReluOp::fold(FoldAdaptor) {
  // A slope of 1 leaves both branches as they are.
  if (getSlope().isExactlyValue(1.0))
    return getInput();
  return {};
}
