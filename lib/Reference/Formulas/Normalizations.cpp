//===- Normalizations.cpp - Formulas of softmax and norms ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the ops of FusionNormalizationOps.td as formulas.
//
//===----------------------------------------------------------------------===//

#include "../Bounder.h"
#include "FormulaRegistry.h"
#include "fusion/Support/ElementType.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Results softmax(SoftmaxOp op, const Operands &in) {
  int64_t axis = op.getAxis();
  Array x = in[op.getInput()];
  Array e = expRelativeTo(x, shiftOf(x, axis));
  Array y = e / sum(e, axis);
  BoundedTensor result = y.round(elementTypeOf(op.getResult()));
  // In a walk weights are divided by the sum after they are rounded.
  if (op->hasAttr(kRepairedAttrName))
    for (int64_t n = 0; n < y.size(); ++n) {
      Bounded walked =
          roundScaled(y[n].get(), *getDType(elementTypeOf(op.getResult())));
      if (walked.isKnown())
        result[n] = Bounded::hull(result[n].value, walked.low(), walked.high());
    }
  return {std::move(result)};
}

static Results logSoftmax(LogSoftmaxOp op, const Operands &in) {
  int64_t axis = op.getAxis();
  Array x = in[op.getInput()];
  Array m = shiftOf(x, axis);
  Array y = (x - m) - log(sum(expRelativeTo(x, m), axis));
  return {y.round(elementTypeOf(op.getResult()))};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

namespace {
/// Mean and biased variance over some dimensions, which keep size 1.
struct Statistics {
  Array mean, variance;
};
} // namespace

static Shape dimsFrom(int64_t first, int64_t rank) {
  return llvm::to_vector<4>(llvm::seq<int64_t>(first, rank));
}

/// The number of elements that statistics over `dims` are made of.
static double countAlong(const Array &x, ArrayRef<int64_t> dims) {
  double n = 1;
  for (int64_t dim : dims)
    n *= x.getDim(dim);
  return n;
}

static Array meanOf(const Array &x, ArrayRef<int64_t> dims) {
  return sum(x, dims) / countAlong(x, dims);
}

static Statistics getStatistics(const Array &x, ArrayRef<int64_t> dims) {
  Array mean = meanOf(x, dims);
  Array distance = x - mean;
  return {mean, meanOf(distance * distance, dims)};
}

static Array normalize(const Array &x, const Statistics &statistics,
                       double eps) {
  return (x - statistics.mean) * rsqrt(statistics.variance + eps);
}

/// `y scale + bias`, each where `op` has it, in the form that `place` gives it.
template <typename OpTy, typename Place>
static Array applyAffine(OpTy op, const Operands &in, Array y, Place place) {
  if (op.getScale())
    y = y * place(in[op.getScale()]);
  if (op.getBias())
    y = y + place(in[op.getBias()]);
  return y;
}

/// Places a vector of channels along dimension `dim` of `rank`.
static auto alongChannels(int64_t dim, int64_t rank) {
  return [=](const Array &vector) { return vector.along(dim, rank); };
}

/// Leaves what already lies right, aligned with the trailing dimensions.
static Array asItIs(const Array &array) { return array; }

static Results layerNorm(LayerNormOp op, const Operands &in) {
  Array x = in[op.getInput()];
  Shape dims = dimsFrom(op.getAxis(), x.getRank());
  Array y = normalize(x, getStatistics(x, dims), op.getEps().convertToDouble());
  return {applyAffine(op, in, y, asItIs).round(elementTypeOf(op.getResult()))};
}

static Results rmsNorm(RmsNormOp op, const Operands &in) {
  Array x = in[op.getInput()];
  Shape dims = dimsFrom(op.getAxis(), x.getRank());
  Array y = x * rsqrt(meanOf(x * x, dims) + op.getEps().convertToDouble());
  return {applyAffine(op, in, y, asItIs).round(elementTypeOf(op.getResult()))};
}

/// [N, C, space...] as [N, groups, C / groups, space...] and back.
static Results groupNorm(GroupNormOp op, const Operands &in) {
  Array x = in[op.getInput()];
  int64_t groups = op.getGroups();
  Shape split{x.getDim(0), groups, x.getDim(1) / groups};
  llvm::append_range(split, x.getShape().drop_front(2));
  Array grouped = x.reshape(split);
  Array y =
      normalize(grouped, getStatistics(grouped, dimsFrom(2, grouped.getRank())),
                op.getEps().convertToDouble())
          .reshape(x.getShape());
  return {applyAffine(op, in, y, alongChannels(1, x.getRank()))
              .round(elementTypeOf(op.getResult()))};
}

static Results instanceNorm(InstanceNormOp op, const Operands &in) {
  Array x = in[op.getInput()];
  Array y = normalize(x, getStatistics(x, dimsFrom(2, x.getRank())),
                      op.getEps().convertToDouble());
  return {applyAffine(op, in, y, alongChannels(1, x.getRank()))
              .round(elementTypeOf(op.getResult()))};
}

static Results batchNorm(BatchNormOp op, const Operands &in) {
  Array x = in[op.getInput()];
  auto place = alongChannels(op.getChannelAxis(), x.getRank());
  Statistics statistics{place(in[op.getMean()]), place(in[op.getVariance()])};
  Array y = normalize(x, statistics, op.getEps().convertToDouble());
  return {applyAffine(op, in, y, place).round(elementTypeOf(op.getResult()))};
}

static Results batchNormTraining(BatchNormTrainingOp op, const Operands &in) {
  Array x = in[op.getInput()];
  int64_t channelAxis = op.getChannelAxis(), channels = x.getDim(channelAxis);
  Shape dims = dimsFrom(0, x.getRank());
  dims.erase(dims.begin() + channelAxis);
  Statistics statistics = getStatistics(x, dims);
  Array y = normalize(x, statistics, op.getEps().convertToDouble());
  y = applyAffine(op, in, y, alongChannels(channelAxis, x.getRank()));
  return {y.round(elementTypeOf(op.getResult())),
          statistics.mean.reshape(channels).round(elementTypeOf(op.getMean())),
          statistics.variance.reshape(channels).round(
              elementTypeOf(op.getVariance()))};
}

void formulas::addNormalizationFormulas(FormulaRegistry &registry) {
  registry.add(softmax);
  registry.add(logSoftmax);
  registry.add(layerNorm);
  registry.add(rmsNorm);
  registry.add(groupNorm);
  registry.add(instanceNorm);
  registry.add(batchNorm);
  registry.add(batchNormTraining);
}
