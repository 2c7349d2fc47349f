//===- PanelEmitter.h - Rows that several blocks have -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emission of what the blocks of the grid that share a
// dimension tell each other.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_PANELEMITTER_H
#define FUSION_LIB_CODEGEN_PANELEMITTER_H

#include "Grid.h"
#include "Reduction.h"
#include "RowStarts.h"

namespace mlir::fusion {

struct Panel {
  unsigned dim = 0;
  /// The axis of the grid along which they differ: that of the dimension's
  /// tiles, or one of their numbers.
  unsigned axis = 0;
  int64_t members = 1, panels = 1;
  /// The tiles of the dimension are dealt out in rounds, one to each member, or
  /// so many.
  bool inRounds = false;
  int64_t steps = 1;
  /// They are a cluster.
  bool inCluster = false;
  /// The part of the dimension that the block walks; null where it has tiles
  /// of it.
  Value begin, end;
  /// Where it would end if the dimension went on.
  Value past;
  /// Where the run of this round begins.
  Value run;
  /// This block's panel, its number in it, and how many tiles it had before.
  Value panel, member, turn;
};

/// Emits what the blocks of a panel have in common, when the schedule has
/// panels.
class PanelEmitter {
public:
  PanelEmitter(TileBuilder &builder, RowStarts &rowStarts, const Grid &grid)
      : builder(builder), rowStarts(rowStarts), grid(grid),
        kernel(builder.getKernel()), axes(builder.getAxes()),
        loc(builder.getLoc()) {}

  /// The panel of this block, if any.
  const Panel *getPanel() const { return panel ? &*panel : nullptr; }
  /// Tiles of the panel's dimension are dealt out in rounds, one by one.
  bool isInRounds() const {
    return panel && panel->inRounds && panel->steps == 1;
  }
  /// Or several at a time.
  bool isInRuns() const { return panel && panel->inRounds && panel->steps > 1; }
  LogicalResult refuse(const Twine &reason) const;

  /// Puts the axis along which the blocks of a panel differ last in `gridAxes`.
  LogicalResult addAxis(SmallVector<unsigned> &gridAxes);
  /// Describes the panel of block `first`, which is at tile `number` of the
  /// grid.
  LogicalResult open(Value first, Value number);
  /// Sets how many tiles the block had before the present one.
  void setTurn(Value turn) { panel->turn = turn; }
  /// Sets where the run of the block begins in round `turn` of `rounds`. With
  /// `backwards` the first round has the last of all.
  void setRun(Value turn, AffineExpr rounds, bool backwards);
  /// What a block's `parts` are together with those of the panel's others.
  FailureOr<SmallVector<Tile>> combine(ArrayRef<Tile> parts,
                                       const Reduction &reduction);
  /// The states before this block's tile of a round, and after the round, from
  /// those before it and what all blocks have, for `scanned`, whose pieces it
  /// may be called for one after the other: an operation whose combiner is to
  /// be filled in.
  tile::PanelScanOp scan(Operation *scanned, ValueRange totals,
                         ValueRange states);
  /// Gives the exchanges their memory, which the last block leaves as it was.
  LogicalResult close();

private:
  /// Counts the blocks of a panel, and the panels; refuses what cannot be one.
  LogicalResult countMembers();
  /// Sets the part of the dimension that the block walks.
  void setPart();
  /// The memory of all exchanges; its size is set when they are known.
  Value getMemory();
  /// Sets where in the memory each exchange is; returns the bytes of a panel.
  int64_t placeExchanges();

  TileBuilder &builder;
  RowStarts &rowStarts;
  const Grid &grid;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
  std::optional<Panel> panel;
  /// Of the launch, or of the cluster.
  Operation *memory = nullptr;
  SmallVector<tile::PanelReduceOp> exchanges;
  /// Those of walks in rounds: for each scan, those of its pieces.
  llvm::MapVector<
      Operation *,
      SmallVector<std::pair<tile::PanelPublishOp, tile::PanelScanOp>>>
      scans;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_PANELEMITTER_H
