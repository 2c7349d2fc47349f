//===- SplitReductions.h - Reductions begun by products' tiles --*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the split of a reduction along a result dimension of a
// product: the product's tiles reduce granules of the dimension while they have
// them, a light kernel finishes in a fixed order. The matrix is then not read
// again, and not written where nothing else needs it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_SPLITREDUCTIONS_H
#define FUSION_FUSIONPLANNING_SPLITREDUCTIONS_H

#include "fusion/FusionPlanning/PricedRewrites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// True for a reduction that is no contraction, and neither of groups nor of
/// granules.
bool isUngroupedReduction(linalg::LinalgOp op);

/// True when `op`, a reduction, may combine its elements in any order, with
/// results in between that are as exact as its own.
bool isDivisible(linalg::LinalgOp op);

/// A reduction of a product's results, or of what is computed from them element
/// by element.
struct SplittableReduction {
  linalg::LinalgOp op;
  /// The loop that is divided, and the size of a granule.
  unsigned loop = 0;
  int64_t granule = 1;
  /// The product.
  Operation *product = nullptr;
  /// The reduction is a sum of exponentials relative to this maximum along the
  /// same loop. Both are split: first parts are relative to the maxima of their
  /// granules.
  linalg::LinalgOp maximum;
};

/// How `op` can be split, if it can.
std::optional<SplittableReduction> findSplittableReduction(linalg::LinalgOp op);

/// Splits the reduction, which is erased, with its maximum; returns its first
/// part.
linalg::GenericOp splitReduction(const SplittableReduction &reduction);

/// The split of all such reductions that then begin in the kernels of their
/// products; with `mayRepair`, sums of exponentials with their maxima.
PricedRewrite getSplitRewrite(bool mayRepair);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_SPLITREDUCTIONS_H
