//===- StreamEmitter.h - Tiles that blocks share ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the tiles that the blocks of the grid share along the
// contracted dimension.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_STREAMEMITTER_H
#define FUSION_LIB_CODEGEN_STREAMEMITTER_H

#include "Grid.h"
#include "TileBuilder.h"

namespace mlir::fusion {

/// The part of a tile that is computed now: chunks of the contracted
/// dimension from `begin` to `end`, in elements.
struct Segment {
  Value begin, end;
  /// The segment is the tile's last: this block finishes the tile.
  Value owns;
  /// This block's slot for what it hands over, the first that this tile's
  /// other segments lie in, how far these are apart, and how many there are.
  Value slot, firstSlot;
  int64_t slotStep = 1, numSlots = 0;
};

/// Emits what blocks that share tiles hand to each other.
class StreamEmitter {
public:
  StreamEmitter(TileBuilder &builder, const Grid &grid)
      : builder(builder), grid(grid), kernel(builder.getKernel()),
        loc(builder.getLoc()) {}

  /// Blocks share tiles.
  bool isUsed() const { return segment.has_value(); }
  LogicalResult refuse(const Twine &reason) const;
  /// Opens the loop over the segments of `block`, of so many blocks or
  /// clusters, whose place for what it hands over is `slot`; returns the number
  /// of the tile.
  FailureOr<Value> openSegments(Value slot, Value block, int64_t blocks);
  /// Restricts `loop` to the segment, hands `sums` over unless the block
  /// owns the tile, and adds what others have of it.
  FailureOr<SmallVector<Value>> shareSums(scf::ForOp loop, ValueRange sums);
  /// Puts all that follows the sums under the condition that the block owns
  /// the tile.
  LogicalResult guardFinish();

private:
  TileBuilder &builder;
  const Grid &grid;
  const ScheduledKernel &kernel;
  Location loc;
  std::optional<Segment> segment;
  /// The contraction, and what follows it in blocks that own no tile.
  scf::ForOp contraction;
  scf::IfOp given;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_STREAMEMITTER_H
