//===- FoldedStates.h - States with all that a thread has -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how states that are dear to combine take in a tile: first
// each thread reduces the elements that it has of it, then it combines once.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_FOLDEDSTATES_H
#define FUSION_LIB_CODEGEN_FOLDEDSTATES_H

#include "Reduction.h"
#include "TileFold.h"

namespace mlir::fusion {

/// Of a tile's elements, what sums relative to maxima are made of.
struct RescaledElements {
  /// Minus infinity where there are no elements.
  SmallVector<Tile> maxima;
  /// q and u of terms that are linear in distances, if they have any.
  std::optional<Tile> plain, weight;
};

/// The states `kept` of sums relative to maxima, over the axes of `fold`, with
/// the elements `x` of a tile. None is past the end along axes that are not
/// `masked`.
SmallVector<Value> addRescaled(const RescaledSums &sums, const TileFold &fold,
                               TileBuilder &builder, ValueRange kept,
                               const RescaledElements &x,
                               ArrayRef<unsigned> masked);

/// The moments `kept` with the elements `x` of a tile, zero where there are
/// none. A count that is a number is that of all elements of the states, of
/// which then none may lack elements past `masked`.
SmallVector<Value> addMoments(const Moments &moments, const TileFold &fold,
                              TileBuilder &builder, ValueRange kept, Tile x,
                              ArrayRef<unsigned> masked);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_FOLDEDSTATES_H
