//===- Pointwise.cpp - Formulas of rotary embedding and dropout ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the pointwise ops of FusionPointwiseOps.td that are no
// activations as formulas.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"
#include "Random.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

/// Rotates the pair (x[i], x[j]) by the angle of its position and of its
/// number p among the pairs: `y[i] = x[i] c - x[j] t`, `y[j] = x[j] c + x[i]
/// t`.
static Results rope(RopeOp op, const Operands &in) {
  Array x = in[op.getInput()], cos = in[op.getCos()], sin = in[op.getSin()];
  Array y(x.getShape(), in.getArithmetic());
  int64_t last = x.getRank() - 1, seqAxis = op.getSeqAxis();
  int64_t half = x.getDim(last) / 2;
  bool hasBatch = cos.getRank() == 3;
  bool isInterleaved = op.getInterleaved();

  Shape pairs(x.getShape());
  pairs[last] = half;
  Shape strides = getStrides(x.getShape());
  forEachIndex(pairs, [&](int64_t, ArrayRef<int64_t> index) {
    int64_t row = 0;
    for (int64_t dim = 0; dim < last; ++dim)
      row += index[dim] * strides[dim];
    int64_t p = index[last];
    int64_t i = row + (isInterleaved ? 2 * p : p);
    int64_t j = row + (isInterleaved ? 2 * p + 1 : p + half);
    int64_t angle = index[seqAxis] * half + p;
    if (hasBatch)
      angle += index[0] * cos.getDim(1) * half;
    Real c = cos[angle], t = sin[angle];
    y.set(i, x[i] * c - x[j] * t);
    y.set(j, x[j] * c + x[i] * t);
  });
  return {y.round(elementTypeOf(op.getResult()))};
}

/// `x / (1 - p)` where the generator keeps the element, else 0.
static Results dropout(DropoutOp op, const Operands &in) {
  Array x = in[op.getInput()];
  Array y(x.getShape(), in.getArithmetic());
  Dropout dropout(in.get(op.getSeed()).getIndex(0), op.getOpId(),
                  op.getProbability().convertToDouble());
  for (int64_t n = 0; n < x.size(); ++n)
    y.set(n, dropout.apply(n, x[n]));
  return {y.round(elementTypeOf(op.getResult()))};
}

void formulas::addPointwiseFormulas(FormulaRegistry &registry) {
  registry.add(rope);
  registry.add(dropout);
}
