//===- SplitContraction.h - Contractions split among blocks -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares contractions of which the blocks of a cluster, or blocks
// that exchange through global memory, have parts.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_SPLITCONTRACTION_H
#define FUSION_LIB_CODEGEN_SPLITCONTRACTION_H

#include "DotEmitter.h"
#include "Grid.h"
#include "Scratch.h"

namespace mlir::fusion {

/// Splits contracted dimensions among the blocks that share a tile.
class SplitContraction {
public:
  SplitContraction(TileBuilder &builder, const Grid &grid)
      : builder(builder), grid(grid), kernel(builder.getKernel()),
        axes(builder.getAxes()), loc(builder.getLoc()) {}

  /// When blocks share the contracted dimension and all of `group` are dots
  /// along `reduced`, or of rows that all of them have: moves the dots to the
  /// coordinates of the whole tile.
  bool share(MutableArrayRef<Reduction> group, ArrayRef<unsigned> reduced,
             DotEmitter &dots) const;
  /// Lets `loop`, over `axis`, run through this block's share; of what a limit
  /// leaves of the walk, if `limited`.
  void restrictToShare(scf::ForOp loop, const Axis &axis, bool limited);
  /// This block's part of the sum of all blocks' tiles.
  Tile addShares(Tile sum);
  /// The same for blocks that are no cluster, of all sums at once; `sumAxes`
  /// become those of the parts.
  FailureOr<SmallVector<Value>>
  exchangeShares(ValueRange sums,
                 MutableArrayRef<SmallVector<unsigned>> sumAxes);

  /// What all blocks have of `sums`, along the new axis `gathered` behind those
  /// that `sumAxes` become: of tiles with an axis of which each block finishes
  /// a part this one's part, of others the whole.
  FailureOr<SmallVector<Value>>
  gatherShares(ValueRange sums, MutableArrayRef<SmallVector<unsigned>> sumAxes,
               unsigned &gathered);

private:
  /// Of a tile's axes: replaces the one of which each block has a part. Returns
  /// where it is; nothing where there is none.
  std::optional<unsigned> takePart(SmallVectorImpl<unsigned> &tileAxes) const;
  /// Memory of `slotBytes` for each block, through which blocks that are no
  /// cluster exchange what they have, once in a kernel.
  FailureOr<Scratch> makeExchange(int64_t slotBytes);

  TileBuilder &builder;
  const Grid &grid;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_SPLITCONTRACTION_H
