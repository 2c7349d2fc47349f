//===- EmitGrid.cpp - Which tiles a block computes ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the part of the tile emitter that binds the axes of the
// grid: the order in which tiles are walked, blocks that walk several, clusters
// that share one, and axes that run through several dimensions.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when every coordinate of every tile of size `tile` is below `extent`.
bool mlir::fusion::tilesExactly(AffineExpr extent, int64_t tile) {
  if (tile == 1)
    return true;
  return extent.getLargestKnownDivisor() % tile == 0;
}

bool TileEmitter::isUsed(ArrayRef<AffineExpr> coords, unsigned axis) const {
  return llvm::any_of(
      coords, [&](AffineExpr coord) { return coord.isFunctionOfDim(axis); });
}

LogicalResult TileEmitter::addGridAxis(ArrayRef<unsigned> dims) {
  AxisAttr decision = schedule.getAxes()[dims.back()];
  const IterationDim &last = space.getDims()[dims.back()];
  bool full = decision.getKind() == AxisKind::Full && !isOfPanel(dims.back());
  Axis axis{dims.back(), last.extent, decision.getTile(), Value(), gridDepth};
  for (unsigned dim : dims.drop_back())
    axis.extent = space.getDims()[dim].extent * axis.extent;
  axis.exact = full ? last.getStaticExtent() == decision.getTile()
                    : tilesExactly(axis.extent, decision.getTile());
  int64_t strip = decision.getStrip(), steps = decision.getSteps();
  if (strip > 1 || steps > 1) {
    // Positions along the axis are those of walks through strips.
    axis.exact = tilesExactly(axis.extent, decision.getTile() * strip * steps);
    axis.extent = axis.extent.ceilDiv(strip * steps);
    strips.push_back({dims.back(), strip, 0, steps, AffineExpr()});
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
  if (tileGroups && tileGroups->dim == dims.back())
    axis.exact = axis.tile == 1;
  unsigned number = axes.size();
  axes.push_back(axis);
  bound[dims.back()] = number;
  if (failed(addGranuleAxes(dims)))
    return failure();
  if (dims.size() == 1)
    return success();
  // Row-major position among the dimensions; the outermost needs no remainder.
  AffineExpr position = builder.getAffineDimExpr(number);
  for (unsigned i = dims.size(); i-- > 0;) {
    AffineExpr size = space.getDims()[dims[i]].extent;
    merged[dims[i]] = i == 0 ? position : position % size;
    position = position.floorDiv(size);
  }
  return success();
}

void TileEmitter::placeTile(Value number, ArrayRef<unsigned> gridAxes) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto countOf = [&](unsigned axis) { return countTiles(axis); };
  auto split = [&](Value &linear, Value count) -> Value {
    Value position = arith::RemUIOp::create(builder, loc, linear, count);
    linear = arith::DivUIOp::create(builder, loc, linear, count);
    return position;
  };
  auto place = [&](unsigned axis, Value position) {
    int64_t tile = axes[axis].tile;
    if (isGrouped(axis))
      position = placeGroup(position);
    else if (tile != 1)
      position = arith::MulIOp::create(builder, loc, position, index(tile));
    axes[axis].offset = position;
  };
  SmallVector<unsigned> left(gridAxes);
  MmaAttr mma = schedule.getMma();
  if (mma && mma.getGroup() > 1 && left.size() >= 2) {
    // The two innermost axes in groups of rows: blocks that run at the same
    // time then read few rows and few columns of the operands.
    unsigned column = left.pop_back_val(), row = left.pop_back_val();
    Value rows = countOf(row), columns = countOf(column);
    Value inGroup = number;
    Value area = arith::MulIOp::create(builder, loc, rows, columns);
    if (left.empty())
      number = nullptr;
    else
      inGroup = split(number, area);
    Value group = index(mma.getGroup());
    Value perGroup = arith::MulIOp::create(builder, loc, group, columns);
    Value position = split(inGroup, perGroup);
    Value first = arith::MulIOp::create(builder, loc, inGroup, group);
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
    place(row, arith::AddIOp::create(builder, loc, first, inColumn));
    place(column, position);
  }
  // The last axis varies fastest, so that neighbouring blocks read
  // neighbouring memory.
  for (unsigned i = left.size(); i-- > 0;)
    place(left[i], i > 0 ? split(number, countOf(left[i])) : number);
  for (Axis &axis : axes)
    if (axis.whole) {
      Value start = axis.start
                        ? index(*axis.start)
                        : Value(arith::MulIOp::create(
                              builder, loc, rowGroup ? rowGroup : clusterRank,
                              index(axis.tile)));
      axis.offset =
          arith::AddIOp::create(builder, loc, axes[*axis.whole].offset, start);
    }
  placeGranules();
}

void TileEmitter::rebind(unsigned from, unsigned to) {
  bound[*axes[to].dim] = to;
  AffineExpr old = builder.getAffineDimExpr(from),
             own = builder.getAffineDimExpr(to);
  for (auto &[dim, coord] : merged)
    coord = coord.replace(old, own);
}

void TileEmitter::addPartAxis(unsigned whole, int64_t tile,
                              std::optional<int64_t> start) {
  Axis part = axes[whole];
  part.tile = tile;
  part.whole = whole;
  part.start = start;
  axes.push_back(part);
  // Blocks differ in the parts of a cluster's tile, of others in the whole.
  (start ? axes.back() : axes[whole]).grid = false;
}

scf::ForOp TileEmitter::openPlainLoop(Value begin, Value end, Value step) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, step);
  loop.getBody()->getTerminator()->erase();
  Scope scope{loop.getBody()};
  scopes.back().nested = loop;
  scopes.push_back(std::move(scope));
  builder.setInsertionPointToEnd(loop.getBody());
  return loop;
}

void TileEmitter::openRowGroups(int64_t groups) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  scf::ForOp loop = openPlainLoop(index(0), index(groups), index(1));
  loop->setAttr(tile::kRowGroupsAttrName, builder.getUnitAttr());
  rowGroup = loop.getInductionVar();
}

int64_t TileEmitter::countRowGroups() const {
  MmaAttr mma = schedule.getMma();
  int64_t groups = mma ? mma.getGroups() : 1;
  // Columns come after rows.
  for (AxisAttr axis : schedule.getAxes())
    if (!llvm::isPowerOf2_64(axis.getTile()))
      return axis.getTile() % groups == 0 &&
                     llvm::isPowerOf2_64(axis.getTile() / groups)
                 ? groups
                 : 1;
  return 1;
}

LogicalResult TileEmitter::emitGrid() {
  MmaAttr mma = schedule.getMma();
  int64_t blocks = mma ? mma.getBlocks() : 0;
  int64_t split = mma ? mma.getSplit() : 1;
  if (failed(findTileGroups()))
    return failure();
  int64_t rowGroups = countRowGroups();
  // How many tiles there are of groups is known at run time: each block asks.
  gridDepth = (blocks > 0 || tileGroups ? 1 : 0) + (rowGroups > 1 ? 1 : 0);

  SmallVector<unsigned> gridAxes, group;
  gridSize = builder.getAffineConstantExpr(1);
  for (auto [id, dim] : llvm::enumerate(space.getDims())) {
    AxisAttr decision = schedule.getAxes()[id];
    bool unused = decision.getKind() == AxisKind::Grid && !dim.root;
    // Dimensions that are walked as one with a next one.
    unsigned last = id;
    while (schedule.getAxes()[last].getKind() == AxisKind::Merged &&
           last + 1 < schedule.getAxes().size())
      ++last;
    if (last != id && schedule.getStrategy() == Strategy::Reduction)
      continue;
    if (decision.getKind() == AxisKind::Loop ||
        decision.getKind() == AxisKind::Group || unused)
      continue;
    group.push_back(id);
    if (decision.getKind() == AxisKind::Merged)
      continue;
    if (failed(addGridAxis(group)))
      return failure();
    unsigned number = bound.lookup(id);
    const Axis &axis = axes[number];
    bool single = group.size() == 1 && dim.getStaticExtent() == 1;
    group.clear();
    if (!axis.grid || single)
      continue;
    gridAxes.push_back(number);
  }
  if (!group.empty())
    return kernel.emitError("FUS-3116: the last dimension of the schedule is "
                            "merged with a next one");
  if (failed(addPanelAxis(gridAxes)))
    return failure();
  if (gridAxes.empty() && rowGroups == 1) {
    gridDepth = 0;
    return mma && mma.getStream() ? refuseStream("there is one tile only")
                                  : success();
  }
  int64_t multicast = mma ? mma.getMulticast() : 1;
  if (multicast > 1) {
    if (gridAxes.size() < 2 ||
        !llvm::isPowerOf2_64(axes[gridAxes.rbegin()[1]].tile))
      return kernel.emitError("FUS-3118: blocks of a cluster share columns, "
                              "but the schedule has no axis of rows with a "
                              "power of two as its tile");
    // What all of them own is one tile of the grid.
    Axis &rows = axes[gridAxes.rbegin()[1]];
    rows.tile *= multicast;
    rows.exact = tilesExactly(rows.extent, rows.tile);
  }
  if (rowGroups > 1) {
    unsigned rows = gridAxes.size() < 2 ? 0 : gridAxes.rbegin()[1];
    if (gridAxes.size() < 2 || axes[rows].tile % rowGroups != 0 ||
        !llvm::isPowerOf2_64(axes[rows].tile / rowGroups))
      return kernel.emitError("FUS-3118: ")
             << rowGroups << " groups share rows, but the schedule has no axis "
             << "of rows with a power of two for each as its tile";
    if (granuleAxes.contains(*axes[rows].dim))
      return kernel.emitError("FUS-3119: groups of warps share a dimension "
                              "that the kernel reduces in granules");
  }
  for (unsigned axis : gridAxes)
    gridSize = gridSize * getMostTiles(axis);
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value slot = block;
  int64_t cluster = split * multicast;
  if (cluster > 1) {
    unsigned whole = split > 1 ? gridAxes.back() : gridAxes.rbegin()[1];
    if (granuleAxes.contains(*axes[whole].dim))
      return kernel.emitError("FUS-3119: the blocks of a cluster share a "
                              "dimension that the kernel reduces in granules");
    addPartAxis(whole, axes[whole].tile / cluster, std::nullopt);
    rebind(whole, axes.size() - 1);
    Value size = arith::ConstantIndexOp::create(builder, loc, cluster);
    if (mma.getApart()) {
      program.setTogether(cluster);
      blockNumber = block;
      clusterRank = arith::RemUIOp::create(builder, loc, block, size);
    } else {
      program.setCluster(cluster);
      clusterRank =
          tile::ClusterRankOp::create(builder, loc, builder.getIndexType());
    }
    block = arith::DivUIOp::create(builder, loc, block, size);
    blocks /= cluster;
  }
  // Dimensions of tiles are in the order of axes: columns follow the rows that
  // a block or a group has of a tile.
  bool hasOwnRows = multicast > 1;
  for (unsigned whole : gridAxes) {
    int64_t tile = axes[whole].tile, start = 0;
    if (rowGroups > 1 && whole == gridAxes.rbegin()[1]) {
      addPartAxis(whole, tile / rowGroups, std::nullopt);
      rebind(whole, axes.size() - 1);
      hasOwnRows = true;
      continue;
    }
    bool inOrder =
        !hasOwnRows || !granuleAxes.empty() || whole != gridAxes.back();
    if (llvm::isPowerOf2_64(tile) && inOrder)
      continue;
    for (; start < tile; start += llvm::bit_floor(uint64_t(tile - start))) {
      parts.push_back(axes.size());
      addPartAxis(whole, llvm::bit_floor(uint64_t(tile - start)), start);
    }
    rebind(whole, parts.front());
  }
  if (mma && mma.getStream()) {
    FailureOr<Value> tile = emitSegments(slot, block, blocks);
    if (failed(tile))
      return failure();
    block = *tile;
    gridSize = builder.getAffineConstantExpr(blocks);
  } else if (blocks > 0 || tileGroups) {
    Value total = sizeOf(gridSize);
    if (tileGroups) {
      total = nullptr;
      for (unsigned axis : gridAxes) {
        Value count = countTiles(axis);
        total =
            total
                ? arith::MulIOp::create(builder, loc, total, count).getResult()
                : count;
      }
      if (blocks == 0)
        blocks = cast<AffineConstantExpr>(gridSize).getValue();
    }
    Value step = arith::ConstantIndexOp::create(builder, loc, blocks);
    block = openPlainLoop(block, total, step).getInductionVar();
    if (auto tiles = dyn_cast<AffineConstantExpr>(gridSize))
      blocks = std::min(blocks, tiles.getValue());
    gridSize = builder.getAffineConstantExpr(blocks);
  }
  if (failed(openPanel(gridAxes, slot, block)))
    return failure();
  gridSize = gridSize * cluster;
  if (rowGroups > 1)
    openRowGroups(rowGroups);
  placeTile(block, gridAxes);
  leadTiles();
  return success();
}

//===----------------------------------------------------------------------===//
// Places in memory
//===----------------------------------------------------------------------===//

TypedValue<tile::ViewType> TileEmitter::viewAs(Value key,
                                               ArrayRef<AffineExpr> sizes) {
  std::vector<const void *> identity;
  for (AffineExpr size : sizes)
    identity.push_back(size.getAsOpaquePointer());
  Value &known = otherViews[{key.getAsOpaquePointer(), std::move(identity)}];
  if (known)
    return cast<TypedValue<tile::ViewType>>(known);
  SmallVector<Value> dynamic;
  SmallVector<int64_t> staticSizes;
  for (AffineExpr size : sizes) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    staticSizes.push_back(constant ? constant.getValue()
                                   : ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(sizeOf(size));
  }
  OpBuilder::InsertionGuard guard(builder);
  if (lastSize)
    builder.setInsertionPointAfter(lastSize);
  else
    builder.setInsertionPointToStart(&program.getBody().front());
  auto whole = views.lookup(key).getDefiningOp<tile::MakeViewOp>();
  auto view = tile::MakeViewOp::create(
      builder, loc,
      tile::ViewType::get(context, staticSizes,
                          whole.getType().getElementType()),
      whole.getBase(), dynamic,
      AffineMapAttr::get(
          AffineMap::get(0, shapes.getSymbols().size(), sizes, context)));
  known = view;
  lastSize = view;
  return view;
}

TileEmitter::Place TileEmitter::placeOf(Value key, Value tensor,
                                        ArrayRef<AffineExpr> coords) {
  SmallVector<AffineExpr> shape = *shapes.getShape(tensor);
  Place place;
  SmallVector<AffineExpr> sizes;
  SmallVector<unsigned> ends;
  for (unsigned i = 0; i < coords.size();) {
    // Does a run of dimensions from here on count along one axis?
    unsigned end = i + 1;
    AffineExpr coord = coords[i], size = shape[i];
    for (const auto &[number, axis] : llvm::enumerate(axes)) {
      AffineExpr position = builder.getAffineDimExpr(number), total;
      bool runsOn = axis.dim && (merged.contains(*axis.dim) ||
                                 getWalkedDims(*axis.dim).size() > 1);
      if (!runsOn || !isUsed(coords, number))
        continue;
      // The run ends with the axis's fastest dimension.
      for (unsigned last = i + 1; last < coords.size() && !total; ++last) {
        AffineExpr rest = position, product = builder.getAffineConstantExpr(1);
        bool matches = true;
        for (unsigned j = last + 1; j-- > i && matches;) {
          matches = coords[j] == (j == i ? rest : rest % shape[j]);
          rest = rest.floorDiv(shape[j]);
          product = shape[j] * product;
        }
        if (matches && product == axis.extent) {
          total = product;
          end = last + 1;
        }
      }
      if (total) {
        coord = position;
        size = total;
        break;
      }
    }
    place.coords.push_back(coord);
    sizes.push_back(size);
    ends.push_back(end);
    i = end;
  }
  place.view = sizes.size() == coords.size()
                   ? cast<TypedValue<tile::ViewType>>(views.lookup(key))
                   : viewAs(key, sizes);
  unsigned start = 0;
  for (auto [coord, size, end] : llvm::zip(place.coords, sizes, ends)) {
    std::optional<unsigned> dim;
    if (end == start + 1)
      dim = space.findDimOfTensor(tensor, start);
    place.checked.push_back(!isInBounds(coord, size, dim));
    start = end;
  }
  return place;
}
