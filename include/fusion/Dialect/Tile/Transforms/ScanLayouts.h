//===- ScanLayouts.h - How threads hold what they scan ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the layouts in which threads hold runs of what is scanned,
// and what a scan costs in a layout.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_SCANLAYOUTS_H
#define FUSION_DIALECT_TILE_TRANSFORMS_SCANLAYOUTS_H

#include "fusion/Analysis/FittedConstants.h"
#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"

namespace mlir::fusion::tile {

/// The layout of a tile in which threads hold as long runs of dimension
/// `scanned` as there are, with lanes along the others as far as they go:
/// along `fastest` first, of which a thread has `vector` neighbours, unless
/// that is the scanned dimension itself.
LinearLayout getRunLayout(ArrayRef<int64_t> shape, unsigned scanned,
                          unsigned fastest, int64_t vector, int64_t numWarps);

/// `layout`, or a layout of runs where what is in it cannot be scanned along
/// `dim`.
LinearLayout getScannedLayout(const LinearLayout &layout, unsigned dim,
                              int64_t numWarps);

/// What a scan does with each element.
struct ScanWork {
  /// Values that are scanned together; the combination's cheap operations, and
  /// those that are functions.
  double states = 1, operations = 1, functions = 0;
  bool inOrder = false;
  /// It begins with no value of its own.
  bool forTotals = false;

  static ScanWork of(ScanOp op);
  /// Of what combines two elements' states.
  static ScanWork of(Block &combiner);
};

/// Instructions of a thread, about, for each element of a scan along `dim` in
/// `layout`.
double countScanInstructions(const ScanWork &scan, unsigned dim,
                             const LinearLayout &layout,
                             const fusion::FittedConstants &fitted);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_SCANLAYOUTS_H
