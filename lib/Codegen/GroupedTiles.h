//===- GroupedTiles.h - Tiles of rows of one group --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the tiles of rows in groups whose sizes are known at run
// time.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_GROUPEDTILES_H
#define FUSION_LIB_CODEGEN_GROUPEDTILES_H

#include "Grid.h"
#include "MemoryViews.h"
#include "fusion/Analysis/Reductions.h"

namespace mlir::fusion {

/// Where the schedule has an axis of kind `group`, each tile of rows has rows
/// of one group, which is a scalar for all that the tile computes.
class GroupedTiles {
public:
  GroupedTiles(TileBuilder &builder, MemoryViews &views, const Grid &grid)
      : builder(builder), views(views), grid(grid), kernel(builder.getKernel()),
        axes(builder.getAxes()), loc(builder.getLoc()) {}

  /// Finds out what the schedule's axes of kind `group` mean.
  LogicalResult find();
  /// True when the schedule has such axes.
  bool areUsed() const { return bool(groups); }
  /// True for what groups the rows of tiles.
  bool areOf(RowGroupsOp op) const { return groups && groups == op; }
  bool areAlong(unsigned axis) const { return groups && axes[axis].dim == dim; }

  /// The most tiles that there can be along an axis of the grid, over the
  /// function's symbols, and how many there are.
  AffineExpr getMostTiles(unsigned axis) const;
  Value countTiles(unsigned axis);
  /// Makes tile `number` of all groups the present one; returns its first row.
  Value place(Value number);
  /// The group of the present tile, as a number and as a coordinate.
  const Tile &getGroup() const { return group; }
  AffineExpr getCoordinate() const { return coord; }

  /// `view`, up to the last row of the tile's group.
  TypedValue<tile::ViewType> endWithGroup(TypedValue<tile::ViewType> view);
  /// True when `sum`, the form of `op`, needs the tile's group alone.
  bool isGroupOfTile(linalg::LinalgOp op, const GroupedSum &sum,
                     ArrayRef<AffineExpr> loopCoords) const;
  /// Zero where the tile's rows are in no group, else `sum`.
  Tile clearUngrouped(Tile sum, TypedAttr zero) const;

private:
  LogicalResult refuse(const Twine &reason) const;
  /// Finds what groups rows, and along which dimension.
  LogicalResult findGroups();
  tile::FindGroupOp findGroup(Value number);

  TileBuilder &builder;
  MemoryViews &views;
  const Grid &grid;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
  /// What groups rows, and along which dimension; null: nothing does.
  RowGroupsOp groups;
  unsigned dim = 0;
  /// How many tiles there are.
  Value total;
  /// Of the present tile the group, and the group's last row plus one.
  Tile group;
  AffineExpr coord;
  Value end;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_GROUPEDTILES_H
