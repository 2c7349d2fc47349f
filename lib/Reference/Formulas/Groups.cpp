//===- Groups.cpp - Formulas of rows in groups --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the ops of FusionGroupOps.td as formulas.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"

#include "fusion/Support/ElementType.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

/// True if groups are defined: all offsets are known and none is less than the
/// one before.
static bool isSorted(const BoundedTensor &offsets) {
  for (int64_t e = 0; e < offsets.size(); ++e)
    if (!offsets.getIndex(e) ||
        (e && *offsets.getIndex(e) < *offsets.getIndex(e - 1)))
      return false;
  return true;
}

/// The group of row `t`: that with `offsets[e] <= t < offsets[e + 1]`, or the
/// number of groups.
static int64_t findGroup(const BoundedTensor &offsets, int64_t t) {
  int64_t groups = offsets.size() - 1;
  for (int64_t e = 0; e < groups; ++e)
    if (*offsets.getIndex(e) <= t && t < *offsets.getIndex(e + 1))
      return e;
  return groups;
}

static Results rowGroups(RowGroupsOp op, const Operands &in) {
  const BoundedTensor &offsets = in.get(op.getOffsets());
  int64_t rows = op.getRows() ? *in.get(op.getRows()).getIndex(0)
                              : op.getType().getDimSize(0);
  bool isDefined = isSorted(offsets);
  BoundedTensor result(op.getType().getElementType(), {rows}, !isDefined);
  double groups = offsets.size() - 1;
  for (int64_t t = 0; t < rows; ++t) {
    if (isDefined)
      result.integer(t) = findGroup(offsets, t);
    else
      result[t] = Bounded::hull(groups, 0, groups);
  }
  return {result};
}

/// `y[t, n] = sum over k of input[t, k] * weight[e, k, n] + bias[e, n]` for a
/// row t of group e; zero for one of none.
static Results groupedMatmul(GroupedMatmulOp op, const Operands &in) {
  const BoundedTensor &x = in.get(op.getInput());
  const BoundedTensor &weight = in.get(op.getWeight());
  const BoundedTensor &offsets = in.get(op.getOffsets());
  bool isTransposed = op.getTransposed();
  int64_t rows = x.getDim(0), depth = x.getDim(1);
  int64_t columns = weight.getDim(isTransposed ? 1 : 2);
  DType factors = std::min(getFactorType(x.getElementType()),
                           getFactorType(weight.getElementType()));
  bool isDefined = isSorted(offsets);

  Array y({rows, columns}, in.getArithmetic());
  for (int64_t t = 0; t < rows; ++t) {
    int64_t e = isDefined ? findGroup(offsets, t) : 0;
    for (int64_t n = 0; n < columns; ++n) {
      if (!isDefined) {
        y.set(t * columns + n, Bounded::unknown());
        continue;
      }
      if (e == offsets.size() - 1)
        continue;
      Sum sum(in.getArithmetic(), factors);
      for (int64_t k = 0; k < depth; ++k)
        sum.addProduct(x.getNumber(t * depth + k),
                       weight.getNumber(isTransposed
                                            ? (e * columns + n) * depth + k
                                            : (e * depth + k) * columns + n));
      Real total = sum.get();
      if (op.getBias())
        total =
            total + total.with(in.get(op.getBias()).getNumber(e * columns + n));
      y.set(t * columns + n, total);
    }
  }
  return {y.round(elementTypeOf(op.getResult()))};
}

void formulas::addGroupFormulas(FormulaRegistry &registry) {
  registry.add(rowGroups);
  registry.add(groupedMatmul);
}
