//===- LinearExpr.cpp - Affine expressions as sums ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/LinearExpr.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;
using namespace mlir::fusion;

std::optional<LinearExpr> mlir::fusion::getLinear(AffineExpr expr,
                                                  unsigned numDims,
                                                  unsigned numSymbols) {
  // Of products of two of them there is no flat form, and asking for it is an
  // error; divisions would be columns of their own.
  SmallVector<int64_t> flat;
  if (!expr.isPureAffine() ||
      failed(getFlattenedAffineExpr(expr, numDims, numSymbols, &flat)) ||
      flat.size() != numDims + numSymbols + 1)
    return std::nullopt;
  LinearExpr linear;
  linear.number = flat.pop_back_val();
  linear.symbols.assign(flat.begin() + numDims, flat.end());
  flat.truncate(numDims);
  linear.factors = std::move(flat);
  return linear;
}
