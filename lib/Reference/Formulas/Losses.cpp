//===- Losses.cpp - Formulas of losses ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the ops of FusionLossOps.td as formulas.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"

#include "fusion/Support/ElementType.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

namespace {
/// What both forms of cross-entropy share.
struct LossRule {
  LossReduction reduction;
  std::optional<int64_t> ignoreIndex;
  double smoothing;
};
} // namespace

template <typename OpTy>
static LossRule getRule(OpTy op) {
  return {op.getReduction(), op.getIgnoreIndex(),
          op.getLabelSmoothing().convertToDouble()};
}

/// The losses of `x`, [outer, classes, inner], for targets [outer, inner].
/// `numCounted` becomes the number of targets that are not ignored.
static Array computeLosses(const Array &x, const BoundedTensor &target,
                           const LossRule &rule, int64_t &numCounted) {
  const Arithmetic &arithmetic = x.getArithmetic();
  int64_t classes = x.getDim(1), inner = x.getDim(2);
  double e = rule.smoothing;
  Array m = shiftOf(x, 1);
  Array lse = m + log(sum(expRelativeTo(x, m), 1));
  Array mean = sum(x, 1) / static_cast<double>(classes);

  Array losses({x.getDim(0), inner}, arithmetic);
  numCounted = 0;
  for (int64_t n = 0; n < losses.size(); ++n) {
    std::optional<int64_t> t = target.getIndex(n);
    if (t && t == rule.ignoreIndex)
      continue;
    ++numCounted;
    if (!t) {
      losses.set(n, Bounded::unknown());
    } else if (*t < 0 || *t >= classes) {
      losses.set(n, Bounded(std::numeric_limits<double>::quiet_NaN()));
    } else {
      Real likelihood =
          lse[n] - x[(n / inner * classes + *t) * inner + n % inner];
      losses.set(n, e == 0 ? likelihood
                           : (1 - likelihood.constant(e)) * likelihood +
                                 e * (lse[n] - mean[n]));
    }
  }
  return losses;
}

/// The losses, their sum, or the sum over the number of those that count.
static Array reduceLosses(const Array &losses, const LossRule &rule,
                          int64_t numCounted) {
  if (rule.reduction == LossReduction::None)
    return losses;
  Array total = sum(losses, {0, 1}).reshape({});
  if (rule.reduction == LossReduction::Sum)
    return total;
  return total / static_cast<double>(numCounted);
}

/// Cross-entropy of `x`, whose classes lie along `axis`.
template <typename OpTy>
static Results crossEntropyOf(OpTy op, const Operands &in, const Array &x,
                              int64_t axis) {
  LossRule rule = getRule(op);
  Shape blocks{countElements(x.getShape().take_front(axis)), x.getDim(axis),
               countElements(x.getShape().drop_front(axis + 1))};
  const BoundedTensor &target = in.get(op.getTarget());
  int64_t numCounted;
  Array losses = computeLosses(x.reshape(blocks), target, rule, numCounted);
  Array result = reduceLosses(losses, rule, numCounted);
  if (rule.reduction == LossReduction::None)
    result = result.reshape(target.getShape());
  return {result.round(elementTypeOf(op.getResult()))};
}

static Results crossEntropy(CrossEntropyOp op, const Operands &in) {
  return crossEntropyOf(op, in, in[op.getInput()], op.getAxis());
}

/// `logits[n, c] = sum_k input[n, k] weight[c, k] (+ bias[c])`, never rounded.
static Results linearCrossEntropy(LinearCrossEntropyOp op, const Operands &in) {
  const BoundedTensor &input = in.get(op.getInput());
  const BoundedTensor &weight = in.get(op.getWeight());
  DType factor = *getDType(input.getElementType());
  int64_t depth = input.getDim(1);
  Array logits({input.getDim(0), weight.getDim(0)}, in.getArithmetic());
  forEachIndex(logits.getShape(), [&](int64_t at, ArrayRef<int64_t> index) {
    Sum sum(in.getArithmetic(), factor);
    for (int64_t k = 0; k < depth; ++k)
      sum.addProduct(input[index[0] * depth + k], weight[index[1] * depth + k]);
    logits.set(at, sum.get());
  });
  if (op.getBias())
    logits = logits + in[op.getBias()];
  return crossEntropyOf(op, in, logits, 1);
}

void formulas::addLossFormulas(FormulaRegistry &registry) {
  registry.add(crossEntropy);
  registry.add(linearCrossEntropy);
}
