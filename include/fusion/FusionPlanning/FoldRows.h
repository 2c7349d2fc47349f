//===- FoldRows.h - Reductions over rows of any length ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the folding of rows. Vectors of elements cannot be loaded
// from rows that begin anywhere in memory, of 35 elements of two bytes, say. A
// reduction over such rows first keeps so many neighbours apart that they are
// one row of whole vectors, and reduces these few rows then.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_FOLDROWS_H
#define FUSION_FUSIONPLANNING_FOLDROWS_H

#include "fusion/FusionPlanning/PricedRewrites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// A reduction over rows that are no whole vectors.
struct FoldedRows {
  linalg::LinalgOp op;
  /// The dimensions of what it reads that lie next to each other outside of its
  /// rows and that it reduces: the first one and how many.
  unsigned first = 0, count = 1;
  /// Neighbours that are one row of vectors, or of larger ones: a power of two
  /// that divides the number of rows.
  int64_t rows = 1;
};

/// How the rows that `op` reduces are folded, if that makes vectors of them.
std::optional<FoldedRows> findFoldedRows(linalg::LinalgOp op);

/// Makes two reductions of `folded.op`, which is erased; returns the first.
/// What it reads is reshaped where it is no function of other tensors element
/// by element.
linalg::LinalgOp foldRows(const FoldedRows &folded);

/// The folding of all such rows.
PricedRewrite getFoldRewrite();

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_FOLDROWS_H
