//===- GridBuilder.h - Axes of the grid -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the binding of the axes of the grid.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_GRIDBUILDER_H
#define FUSION_LIB_CODEGEN_GRIDBUILDER_H

#include "GroupedTiles.h"
#include "PanelEmitter.h"
#include "RowStarts.h"
#include "StreamEmitter.h"

namespace mlir::fusion {

/// Binds the axes of the grid of one kernel.
class GridBuilder {
public:
  GridBuilder(TileBuilder &builder, Grid &grid, GroupedTiles &groups,
              RowStarts &rowStarts, PanelEmitter &panels,
              StreamEmitter &stream);

  /// Opens the scopes of the grid.
  LogicalResult build();

private:
  /// The axis of rows, which columns follow.
  unsigned rows() const { return gridAxes.rbegin()[1]; }
  bool isReducedInGranules(unsigned axis) const {
    return axes.getGranules().contains(*axes[axis].dim);
  }

  /// Adds an axis for each dimension, or for several that are walked as one.
  LogicalResult addAxes();
  /// Gives iteration dimensions `dims`, adjacent ones, their axis.
  LogicalResult addAxis(ArrayRef<unsigned> dims);
  /// The axis of `dims`.
  FailureOr<Axis> describeAxis(ArrayRef<unsigned> dims);
  /// Gives `axis`, of `dims`, one that counts granules of it, and one along a
  /// granule.
  LogicalResult addGranuleAxes(unsigned axis, ArrayRef<unsigned> dims);
  /// Makes what blocks of a cluster own together one tile of the grid, and
  /// checks what groups of warps own.
  LogicalResult joinRows();
  /// Gives the blocks of a cluster their parts of a tile.
  LogicalResult shareTiles();
  /// Splits tiles whose size is no power of two, or whose dimensions would not
  /// be in the order of axes.
  void splitTiles();
  /// Lets a block walk several tiles.
  LogicalResult walkTiles();
  /// How many tiles there are.
  Value countTiles();
  /// A block's tiles are the shorter the later they come.
  bool getsShorter() const;
  /// The tile of a block that begins with `first` of `total`, where it goes
  /// back and forth: for `block`, which it has where it goes on.
  Value turnBack(Value first, Value total);

  /// Opens a loop that carries nothing and belongs to no axis; returns its
  /// variable.
  Value openPlainLoop(Value begin, Value end, Value step,
                      bool overRowGroups = false);
  /// The position along the last of several axes of `count` tiles, which
  /// `linear` numbers; `linear` becomes the position along those before.
  Value split(Value &linear, Value count);
  /// Sets the offset of an axis in the grid for tile `position` along it.
  void place(unsigned axis, Value position);
  /// The same for several, the last of which varies fastest.
  void placeAll(ArrayRef<unsigned> inOrder, Value number);
  /// The kernel walks a dimension once for all that it reduces along it.
  bool walksOnce() const;
  /// Sets the offsets of the axes in the grid for tile number `number`.
  void placeTile(Value number);
  /// Splits `number`, of a tile among `rows` times `columns`, in groups of
  /// rows: leaves its row there and returns its column.
  Value splitGrouped(Value &number, Value rows, Value columns);
  /// Sets the offsets of axes that have parts of others, and of those that
  /// count granules.
  void placeParts();
  /// Says where the granules that the block walks begin and end.
  void placeGranules();

  TileBuilder &builder;
  Grid &grid;
  GroupedTiles &groups;
  RowStarts &rowStarts;
  PanelEmitter &panels;
  StreamEmitter &stream;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
  MmaAttr mma;
  int64_t blocks, splitBlocks, multicast, rowGroups;
  SmallVector<unsigned> gridAxes;
  /// Blocks that share a tile.
  int64_t cluster = 1;
  /// The number of the block, and that of the tile.
  Value slot, block;
  /// The number of the group that has these rows of the tile.
  Value rowGroup;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_GRIDBUILDER_H
