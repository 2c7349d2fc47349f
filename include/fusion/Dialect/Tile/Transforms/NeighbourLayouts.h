//===- NeighbourLayouts.h - What neighbours have in common ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the search for tiles of bits of which groups of neighbours
// have most of the work in common, and the choice of layouts in which threads
// have whole groups.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_NEIGHBOURLAYOUTS_H
#define FUSION_DIALECT_TILE_TRANSFORMS_NEIGHBOURLAYOUTS_H

#include "fusion/Dialect/Tile/IR/TileDialect.h"

namespace mlir::fusion::tile {

/// A tile of bits that follows from positions and scalars alone, which has a
/// layout of its own: what it is made of, and the conversion that others read.
struct PositionBits {
  struct Part {
    Operation *op;
    /// Along each dimension, how many neighbours have it in common: a power of
    /// two.
    SmallVector<int64_t, 2> groups;
  };
  ConvertLayoutOp conversion;
  /// Operands come first.
  SmallVector<Part> parts;

  /// Instructions of an element in `layout`, one that several registers of a
  /// thread have in common counted once for all of them.
  double countInstructions(const LinearLayout &layout) const;
  /// The layout to compute it in where it is used in `used`: with the fewest
  /// instructions, those that convert it included.
  LinearLayout chooseLayout(const LinearLayout &used) const;
};

/// Finds the tiles of bits in `program` that are worth a layout of their own
/// where others have few neighbours side by side, gives what they are made of
/// to them alone, and makes others read them through a conversion, between
/// layouts that are still to be chosen.
SmallVector<PositionBits> separatePositionBits(ProgramOp program);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_NEIGHBOURLAYOUTS_H
