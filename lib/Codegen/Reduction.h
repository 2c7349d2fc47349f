//===- Reduction.h - A reduction that is emitted ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the reductions whose elements may be combined in any
// order.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_REDUCTION_H
#define FUSION_LIB_CODEGEN_REDUCTION_H

#include "Tile.h"
#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

class GroupedTiles;

/// A reduction at some coordinates: by one operation for each result, a
/// selection, sums that are relative to maxima, or one with the squares of
/// distances from the mean.
struct Reduction {
  linalg::LinalgOp op;
  Coords coords;     // of the results
  Coords loopCoords; // of the loops; those of reduction loops come later
  /// What is accumulated: for each result; or, for a selection, its key,
  /// what it carries besides and the position, which has no element.
  SmallVector<Combiner> combiners;
  std::optional<Selection> selection;
  std::optional<RescaledSums> rescaled;
  /// The counts, in combiner 0, and the squares, in combiner 2, have no element
  /// either.
  std::optional<Moments> moments;
  /// A sum of what belongs to the group of the tile's rows.
  bool ofGroup = false;
  /// Of a dimension that the blocks of a panel have parts of.
  bool inPanel = false;
  /// What repairs it when the result so far of reduction `source` of its group
  /// changes.
  struct Link {
    unsigned source = 0;
    Repair repair;
  };
  SmallVector<Link> links;
  /// Others of its group need its result so far.
  bool isRunning = false;
  /// What a tile adds is reduced before it is added: what is repaired is then a
  /// row's, and not each element's of a tile.
  bool reducesTiles = false;

  /// True when what combiner `number` has of an element that there is not
  /// has to be its identity; else another combiner's is enough.
  bool decidesBy(unsigned number) const;
  /// True for what is made of parts (WalkBuilder.cpp).
  bool isCascaded(unsigned number) const;
  /// Combines what is accumulated, scalars or tiles, by combiner. `inOrder`:
  /// all elements of `next` come after those of `kept`.
  SmallVector<Value> combine(OpBuilder &builder, Location loc, ValueRange kept,
                             ValueRange next, bool inOrder) const;
  /// Adds the block to `region` that combines two states of `types`.
  void addCombiner(OpBuilder &builder, Location loc, ArrayRef<Type> types,
                   Region &region) const;
};

/// The reduction that `op` is, if its elements may be combined in any order. A
/// sum over groups adds what it adds for the group of the tile's rows.
std::optional<Reduction> makeReduction(linalg::LinalgOp op, Coords coords,
                                       Coords loopCoords,
                                       const GroupedTiles &groups);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_REDUCTION_H
