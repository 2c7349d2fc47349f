//===- Activations.cpp - Formulas of activations ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the activations of FusionPointwiseOps.td as formulas.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"

using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

/// `log(1 + exp(x))` in the form that does not overflow.
static Real softplus(const Real &x) { return max(x, 0) + log1p(exp(-abs(x))); }

static Real geluErf(const Real &x) {
  return x / 2 * (1 + erf(x / std::sqrt(2.0)));
}

static Real geluTanh(const Real &x) {
  const double c = std::sqrt(2 / M_PI);
  // It may be computed as x / (1 + exp(-2y)) (docs/Numerics.md, "Arithmetic").
  const double kQuotient = 7;
  return (x / 2 * (1 + tanh(c * (x + 0.044715 * (x * x * x)))))
      .loosen(kQuotient);
}

/// `scale (max(x, 0) + min(alpha expm1(x), 0))`.
static Real selu(const Real &x) {
  const double alpha = 1.6732632423543772, scale = 1.0507009873554805;
  return scale * (max(x, 0) + min(alpha * expm1(min(x, 0)), 0));
}

/// The result of an op with `f` as its function.
template <typename OpTy, typename Function>
static Results activate(OpTy op, const Operands &in, Function f) {
  return {map(in[op.getInput()], f).round(elementTypeOf(op.getResult()))};
}

/// Adds the op whose function is `f` without further arguments.
template <typename OpTy, Real (*f)(const Real &)>
static void add(FormulaRegistry &registry) {
  registry.add<OpTy>(+[](OpTy op, const Operands &in) -> Results {
    return activate(op, in, f);
  });
}

static Real relu(const Real &x) { return max(x, 0); }
static Real relu6(const Real &x) { return min(max(x, 0), 6); }
static Real logSigmoid(const Real &x) {
  return min(x, 0) - log1p(exp(-abs(x)));
}
static Real silu(const Real &x) { return x * sigmoid(x); }
static Real mish(const Real &x) { return x * tanh(softplus(x)); }
/// A sixth may be a factor: the rounding of 1/6 is another.
static Real hardSwish(const Real &x) {
  return (x * min(max(x + 3, 0), 6) / 6).loosen(1);
}

static Results hardSigmoid(HardSigmoidOp op, const Operands &in) {
  double alpha = op.getAlpha().convertToDouble();
  double beta = op.getBeta().convertToDouble();
  return activate(
      op, in, [=](const Real &x) { return min(max(alpha * x + beta, 0), 1); });
}

static Results gelu(GeluOp op, const Operands &in) {
  bool isTanh = op.getApproximate() == GeluApproximation::Tanh;
  return activate(op, in, isTanh ? geluTanh : geluErf);
}

/// `log(1 + exp(beta x)) / beta`, and x where `beta x > threshold`.
static Results softplusOf(SoftplusOp op, const Operands &in) {
  double beta = op.getBeta().convertToDouble();
  double threshold = op.getThreshold().convertToDouble();
  return activate(op, in, [=](const Real &x) {
    Real scaled = beta * x;
    return where(scaled > threshold, x, softplus(scaled) / beta);
  });
}

/// x where it is positive, `alpha expm1(x)` elsewhere.
static Results elu(EluOp op, const Operands &in) {
  double alpha = op.getAlpha().convertToDouble();
  return activate(op, in, [=](const Real &x) {
    return where(x > 0, x, alpha * expm1(min(x, 0)));
  });
}

/// x where it is positive, `slope x` elsewhere.
static Results leakyRelu(LeakyReluOp op, const Operands &in) {
  double slope = op.getSlope().convertToDouble();
  return activate(op, in,
                  [=](const Real &x) { return where(x > 0, x, slope * x); });
}

void formulas::addActivationFormulas(FormulaRegistry &registry) {
  add<ReluOp, relu>(registry);
  add<Relu6Op, relu6>(registry);
  add<SigmoidOp, sigmoid>(registry);
  add<LogSigmoidOp, logSigmoid>(registry);
  add<SiluOp, silu>(registry);
  add<MishOp, mish>(registry);
  add<HardSwishOp, hardSwish>(registry);
  add<SeluOp, selu>(registry);
  registry.add(hardSigmoid);
  registry.add(gelu);
  registry.add(softplusOf);
  registry.add(elu);
  registry.add(leakyRelu);
}
