//===- GridBuilder.cpp - Axes of the grid ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the binding of the axes of the grid: the order in which
// tiles are walked, blocks that walk several, clusters that share one, and axes
// that run through several dimensions.
//
//===----------------------------------------------------------------------===//

#include "GridBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

GridBuilder::GridBuilder(TileBuilder &builder, Grid &grid, GroupedTiles &groups,
                         RowStarts &rowStarts, PanelEmitter &panels,
                         StreamEmitter &stream)
    : builder(builder), grid(grid), groups(groups), rowStarts(rowStarts),
      panels(panels), stream(stream), kernel(builder.getKernel()),
      axes(builder.getAxes()), loc(builder.getLoc()), mma(kernel.getMma()),
      blocks(mma ? mma.getBlocks() : 0), splitBlocks(mma ? mma.getSplit() : 1),
      multicast(mma ? mma.getMulticast() : 1),
      rowGroups(kernel.countRowGroups()) {}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

FailureOr<Axis> GridBuilder::describeAxis(ArrayRef<unsigned> dims) {
  AxisAttr decision = kernel.getDecision(dims.back());
  const IterationDim &last = kernel.getDim(dims.back());
  bool full =
      decision.getKind() == AxisKind::Full && !kernel.isOfPanel(dims.back());
  Axis axis{dims.back(), last.extent, decision.getTile(), Value(), grid.depth};
  for (unsigned dim : dims.drop_back())
    axis.extent = kernel.getDim(dim).extent * axis.extent;
  axis.exact = full ? last.getStaticExtent() == decision.getTile()
                    : tilesExactly(axis.extent, decision.getTile());
  int64_t strip = decision.getStrip(), steps = decision.getSteps();
  if (strip > 1 || steps > 1) {
    // Positions along the axis are those of walks through strips.
    axis.exact = tilesExactly(axis.extent, decision.getTile() * strip * steps);
    axis.extent = axis.extent.ceilDiv(strip * steps);
    axes.addStrip({dims.back(), strip, 0, steps, AffineExpr()});
  }
  if (full) {
    axis.depth = 0;
    std::optional<int64_t> extent = last.getStaticExtent();
    if (!extent || *extent > decision.getTile())
      return kernel.emitError("FUS-3102: dimension ")
             << dims.back() << " is scheduled to live in one tile of "
             << decision.getTile() << " elements, which does not hold it";
  }
  axis.grid = !full;
  // Groups begin at any row.
  if (axes.getGroupedDim() == dims.back())
    axis.exact = axis.tile == 1;
  return axis;
}

LogicalResult GridBuilder::addGranuleAxes(unsigned number,
                                          ArrayRef<unsigned> dims) {
  const IterationDim &last = kernel.getDim(dims.back());
  if (last.granule == 1)
    return success();
  // Granules of the last of several dimensions must not cross into the next
  // row of it.
  int64_t tile = axes[number].tile;
  bool isWhole = tile % last.granule == 0 && llvm::isPowerOf2_64(tile);
  if (dims.size() > 1)
    isWhole &= last.extent.getLargestKnownDivisor() % last.granule == 0;
  if (!isWhole)
    return kernel.emitError("FUS-3119: a tile of ")
           << tile << " elements along dimension " << dims.back()
           << " holds no whole granules of " << last.granule
           << ", which the kernel reduces";
  axes.addGranules(number, dims);
  return success();
}

LogicalResult GridBuilder::addAxis(ArrayRef<unsigned> dims) {
  FailureOr<Axis> axis = describeAxis(dims);
  if (failed(axis))
    return failure();
  unsigned number = axes.add(*axis);
  axes.bind(dims.back(), number);
  if (failed(addGranuleAxes(number, dims)))
    return failure();
  // Row-major position among the dimensions.
  if (dims.size() > 1)
    axes.merge(dims, number);
  return success();
}

LogicalResult GridBuilder::addAxes() {
  ArrayRef<AxisAttr> decisions = kernel.getSchedule().getAxes();
  SmallVector<unsigned> group;
  for (auto [id, dim] : llvm::enumerate(kernel.getSpace().getDims())) {
    AxisAttr decision = decisions[id];
    bool unused = decision.getKind() == AxisKind::Grid && !dim.root;
    // Dimensions that are walked as one with a next one.
    unsigned last = id;
    while (decisions[last].getKind() == AxisKind::Merged &&
           last + 1 < decisions.size())
      ++last;
    if (last != id && (kernel.getStrategy() == Strategy::Reduction ||
                       decisions[last].isWalked()))
      continue;
    if (kernel.walksGranules(id)) {
      if (dim.granule % decision.getTile() != 0)
        return kernel.emitError("FUS-3119: granules of ")
               << dim.granule << " elements along dimension " << id
               << " are walked in tiles of " << decision.getTile()
               << ", which do not divide them";
      unsigned parts = axes.addWalkedGranules(id);
      axes[parts].depth = grid.depth;
      gridAxes.push_back(parts);
      continue;
    }
    if (decision.isWalked() || decision.getKind() == AxisKind::Group || unused)
      continue;
    group.push_back(id);
    if (decision.getKind() == AxisKind::Merged)
      continue;
    if (failed(addAxis(group)))
      return failure();
    unsigned number = axes.getBound(id);
    bool single = group.size() == 1 && dim.getStaticExtent() == 1;
    group.clear();
    if (axes[number].grid && !single)
      gridAxes.push_back(number);
  }
  if (!group.empty())
    return kernel.emitError("FUS-3116: the last dimension of the schedule is "
                            "merged with a next one");
  return panels.addAxis(gridAxes);
}

LogicalResult GridBuilder::joinRows() {
  bool hasRows = gridAxes.size() >= 2;
  if (multicast > 1) {
    if (!hasRows || !llvm::isPowerOf2_64(axes[rows()].tile))
      return kernel.emitError("FUS-3118: blocks of a cluster share columns, "
                              "but the schedule has no axis of rows with a "
                              "power of two as its tile");
    // What all of them own is one tile of the grid.
    Axis &axis = axes[rows()];
    axis.tile *= multicast;
    axis.exact = tilesExactly(axis.extent, axis.tile);
  }
  if (rowGroups == 1)
    return success();
  int64_t tile = hasRows ? axes[rows()].tile : 0;
  if (!hasRows || tile % rowGroups != 0 ||
      !llvm::isPowerOf2_64(tile / rowGroups))
    return kernel.emitError("FUS-3118: ")
           << rowGroups << " groups share rows, but the schedule has no axis "
           << "of rows with a power of two for each as its tile";
  if (isReducedInGranules(rows()))
    return kernel.emitError("FUS-3119: groups of warps share a dimension "
                            "that the kernel reduces in granules");
  return success();
}

LogicalResult GridBuilder::shareTiles() {
  cluster = splitBlocks * multicast;
  if (cluster == 1)
    return success();
  unsigned whole = splitBlocks > 1 ? gridAxes.back() : rows();
  if (isReducedInGranules(whole))
    return kernel.emitError("FUS-3119: the blocks of a cluster share a "
                            "dimension that the kernel reduces in granules");
  // More blocks may share a walk than there are parts of a tile.
  int64_t parts = cluster;
  if (mma.getApart() && walksOnce())
    parts = std::min(parts, axes[whole].tile / kLeastSharedColumns);
  if (parts == 0)
    return kernel.emitError(
               "FUS-3123: blocks share a walk ('split'), but tiles "
               "have fewer than ")
           << kLeastSharedColumns << " columns";
  axes.addPart(whole, axes[whole].tile / parts, std::nullopt);
  axes.rebind(whole, axes.size() - 1);
  Value size = arith::ConstantIndexOp::create(builder, loc, cluster);
  if (mma.getApart()) {
    builder.getProgram().setTogether(cluster);
    grid.blockNumber = block;
    grid.clusterRank = arith::RemUIOp::create(builder, loc, block, size);
  } else {
    builder.getProgram().setCluster(cluster);
    grid.clusterRank =
        tile::ClusterRankOp::create(builder, loc, builder.getIndexType());
  }
  grid.part = parts == cluster
                  ? grid.clusterRank
                  : arith::RemUIOp::create(builder, loc, grid.clusterRank,
                                           builder.createIndex(parts));
  block = arith::DivUIOp::create(builder, loc, block, size);
  blocks /= cluster;
  return success();
}

void GridBuilder::splitTiles() {
  // Dimensions of tiles are in the order of axes: columns follow the rows that
  // a block or a group has of a tile.
  bool hasOwnRows = multicast > 1;
  SmallVector<unsigned> parts;
  for (unsigned whole : gridAxes) {
    int64_t tile = axes[whole].tile, start = 0;
    if (rowGroups > 1 && whole == rows()) {
      axes.addPart(whole, tile / rowGroups, std::nullopt);
      axes.rebind(whole, axes.size() - 1);
      hasOwnRows = true;
      continue;
    }
    bool inOrder =
        !hasOwnRows || !axes.getGranules().empty() || whole != gridAxes.back();
    if (llvm::isPowerOf2_64(tile) && inOrder)
      continue;
    for (; start < tile; start += llvm::bit_floor(uint64_t(tile - start)))
      parts.push_back(
          axes.addPart(whole, llvm::bit_floor(uint64_t(tile - start)), start));
    axes.rebind(whole, parts.front());
  }
  axes.setParts(parts);
}

//===----------------------------------------------------------------------===//
// Walks over tiles
//===----------------------------------------------------------------------===//

Value GridBuilder::openPlainLoop(Value begin, Value end, Value step,
                                 bool overRowGroups) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, step);
  builder.getScopes().enter(loop);
  if (overRowGroups)
    loop->setAttr(tile::kRowGroupsAttrName, builder.getUnitAttr());
  return loop.getInductionVar();
}

Value GridBuilder::countTiles() {
  Value total = builder.getSize(grid.size);
  if (!groups.areUsed())
    return total;
  total = nullptr;
  for (unsigned axis : gridAxes) {
    Value count = groups.countTiles(axis);
    total = total
                ? arith::MulIOp::create(builder, loc, total, count).getResult()
                : count;
  }
  return total;
}

bool GridBuilder::getsShorter() const {
  return blocks > 0 &&
         llvm::any_of(kernel.getSchedule().getAxes(),
                      [](AxisAttr axis) { return axis.getDescending(); });
}

Value GridBuilder::turnBack(Value first, Value total) {
  // Of a round that all blocks have a tile of, the last block has the first one
  // after a round in which it had the last.
  Value size = builder.createIndex(blocks);
  Value round = arith::DivUIOp::create(builder, loc, block, size);
  Value isOdd = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq,
      arith::RemUIOp::create(builder, loc, round, builder.createIndex(2)),
      builder.createIndex(1));
  Value end = arith::AddIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, block, first), size);
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                        end, total);
  Value last = arith::SubIOp::create(builder, loc, end, builder.createIndex(1));
  Value back = arith::SubIOp::create(builder, loc, last, first);
  return arith::SelectOp::create(
      builder, loc, arith::AndIOp::create(builder, loc, isOdd, isWhole), back,
      block);
}

LogicalResult GridBuilder::walkTiles() {
  if (mma && mma.getStream()) {
    FailureOr<Value> tile = stream.openSegments(slot, block, blocks);
    if (failed(tile))
      return failure();
    block = *tile;
    grid.size = builder.getAffineConstantExpr(blocks);
    return success();
  }
  if (blocks == 0 && !groups.areUsed())
    return success();
  Value total = countTiles();
  auto tiles = dyn_cast<AffineConstantExpr>(grid.size);
  if (groups.areUsed() && blocks == 0)
    blocks = cast<AffineConstantExpr>(grid.size).getValue();
  Value step = arith::ConstantIndexOp::create(builder, loc, blocks);
  Value first = block;
  block = openPlainLoop(first, total, step);
  if (getsShorter())
    block = turnBack(first, total);
  if (tiles)
    blocks = std::min(blocks, tiles.getValue());
  grid.size = builder.getAffineConstantExpr(blocks);
  return success();
}

//===----------------------------------------------------------------------===//
// Places of tiles
//===----------------------------------------------------------------------===//

Value GridBuilder::split(Value &linear, Value count) {
  Value position = arith::RemUIOp::create(builder, loc, linear, count);
  linear = arith::DivUIOp::create(builder, loc, linear, count);
  return position;
}

void GridBuilder::place(unsigned axis, Value position) {
  int64_t tile = axes[axis].tile;
  std::optional<unsigned> dim = axes[axis].dim;
  if (dim && kernel.getDecision(*dim).getDescending()) {
    Value last = arith::SubIOp::create(builder, loc, groups.countTiles(axis),
                                       builder.createIndex(1));
    position = arith::SubIOp::create(builder, loc, last, position);
  }
  if (groups.areAlong(axis))
    position = groups.place(position);
  else if (tile != 1)
    position = arith::MulIOp::create(builder, loc, position,
                                     builder.createIndex(tile));
  axes[axis].offset = position;
}

bool GridBuilder::walksOnce() const {
  return llvm::any_of(kernel.getSchedule().getAxes(), [](AxisAttr axis) {
    return axis.getKind() == AxisKind::Sequential;
  });
}

void GridBuilder::placeGranules() {
  for (unsigned dim = 0; dim < kernel.getSpace().getNumDims(); ++dim) {
    if (!kernel.walksGranules(dim))
      continue;
    const Axis &parts = axes[axes.getGranules().find(dim)->second.parts];
    Value size = builder.createIndex(parts.granule);
    Value begin = arith::MulIOp::create(builder, loc, parts.offset, size);
    Value past = arith::AddIOp::create(builder, loc, begin, size);
    Value all = builder.getSize(kernel.getDim(dim).extent);
    axes.placeGranule(dim, begin,
                      arith::MinUIOp::create(builder, loc, past, all));
  }
}

void GridBuilder::placeTile(Value number) {
  SmallVector<unsigned> left(gridAxes);
  bool isGrouped = mma && mma.getGroup() > 1;
  // A walk that contractions share has all columns in one tile: its rows are
  // grouped with slices of the dimensions before.
  bool hasSlices = isGrouped && walksOnce();
  if (hasSlices && groups.getMostTiles(left.back()) == 1)
    place(left.pop_back_val(), builder.createIndex(0));
  if (isGrouped && left.size() >= 2) {
    unsigned column = left.pop_back_val();
    // Of slices the innermost ones that make up whole groups, if any do.
    unsigned firstRow = left.size() - 1;
    AffineExpr most = groups.getMostTiles(left[firstRow]);
    while (hasSlices && firstRow > 0 &&
           most.getLargestKnownDivisor() % mma.getGroup() != 0)
      most = most * groups.getMostTiles(left[--firstRow]);
    Value rows =
        hasSlices ? builder.getSize(most) : groups.countTiles(left[firstRow]);
    Value columns = groups.countTiles(column);
    Value row = number;
    if (firstRow > 0)
      row = split(number, arith::MulIOp::create(builder, loc, rows, columns));
    Value position = splitGrouped(row, rows, columns);
    placeAll(ArrayRef(left).drop_front(firstRow), row);
    place(column, position);
    left.truncate(firstRow);
  }
  placeAll(left, number);
  placeParts();
  placeGranules();
}

void GridBuilder::placeAll(ArrayRef<unsigned> inOrder, Value number) {
  // The last axis varies fastest, so that neighbouring blocks read
  // neighbouring memory.
  for (unsigned i = inOrder.size(); i-- > 0;) {
    unsigned axis = inOrder[i];
    place(axis, i > 0 ? split(number, groups.countTiles(axis)) : number);
  }
}

Value GridBuilder::splitGrouped(Value &number, Value rows, Value columns) {
  // Blocks that run at the same time then read few rows and few columns of the
  // operands.
  Value group = builder.createIndex(mma.getGroup());
  Value perGroup = arith::MulIOp::create(builder, loc, group, columns);
  Value position = split(number, perGroup);
  Value first = arith::MulIOp::create(builder, loc, number, group);
  // The last group may have fewer rows. Dividing by what only the block knows
  // is long, and no copy begins before it is done.
  Value height = group;
  APInt count;
  if (!matchPattern(rows, m_ConstantInt(&count)) ||
      count.urem(mma.getGroup()) != 0) {
    Value rest = arith::SubIOp::create(builder, loc, rows, first);
    height = arith::MinUIOp::create(builder, loc, rest, group);
  }
  Value inColumn = split(position, height);
  number = arith::AddIOp::create(builder, loc, first, inColumn);
  return position;
}

void GridBuilder::placeParts() {
  for (Axis &axis : axes)
    if (axis.whole) {
      Value start = axis.start
                        ? builder.createIndex(*axis.start)
                        : Value(arith::MulIOp::create(
                              builder, loc, rowGroup ? rowGroup : grid.part,
                              builder.createIndex(axis.tile)));
      axis.offset =
          arith::AddIOp::create(builder, loc, axes[*axis.whole].offset, start);
    }
  for (Axis &axis : axes) {
    if (!axis.granulesOf || !axes[*axis.granulesOf].offset)
      continue;
    axis.offset =
        arith::DivUIOp::create(builder, loc, axes[*axis.granulesOf].offset,
                               builder.createIndex(axis.granule));
  }
}

LogicalResult GridBuilder::build() {
  if (failed(groups.find()))
    return failure();
  // How many tiles there are of groups is known at run time: each block asks.
  grid.depth =
      (blocks > 0 || groups.areUsed() ? 1 : 0) + (rowGroups > 1 ? 1 : 0);
  grid.size = builder.getAffineConstantExpr(1);
  if (failed(addAxes()))
    return failure();
  if (gridAxes.empty() && rowGroups == 1) {
    grid.depth = 0;
    return mma && mma.getStream() ? stream.refuse("there is one tile only")
                                  : success();
  }
  if (failed(joinRows()))
    return failure();
  for (unsigned axis : gridAxes)
    grid.size = grid.size * groups.getMostTiles(axis);
  block = slot = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  if (failed(shareTiles()))
    return failure();
  splitTiles();
  if (failed(walkTiles()) || failed(panels.open(slot, block)))
    return failure();
  grid.size = grid.size * cluster;
  if (rowGroups > 1)
    rowGroup =
        openPlainLoop(builder.createIndex(0), builder.createIndex(rowGroups),
                      builder.createIndex(1), /*overRowGroups=*/true);
  placeTile(block);
  rowStarts.leadTiles(grid.depth);
  return success();
}
