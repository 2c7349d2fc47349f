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

/// Binds the axes of the grid of one kernel.
class mlir::fusion::GridBuilder {
public:
  explicit GridBuilder(TileEmitter &emitter)
      : emitter(emitter), mma(emitter.schedule.getMma()),
        blocks(mma ? mma.getBlocks() : 0), split(mma ? mma.getSplit() : 1),
        multicast(mma ? mma.getMulticast() : 1),
        rowGroups(emitter.countRowGroups()) {}

  LogicalResult build();

private:
  InFlightDiagnostic emitError(const Twine &message) {
    return emitter.kernel.emitError(message);
  }
  /// The axis of rows, which columns follow.
  unsigned rows() const { return gridAxes.rbegin()[1]; }
  bool isReducedInGranules(unsigned axis) const {
    return emitter.granuleAxes.contains(*emitter.axes[axis].dim);
  }

  /// Adds an axis for each dimension, or for several that are walked as one.
  LogicalResult addAxes();
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

  TileEmitter &emitter;
  MmaAttr mma;
  int64_t blocks, split, multicast, rowGroups;
  SmallVector<unsigned> gridAxes;
  /// Blocks that share a tile.
  int64_t cluster = 1;
  /// The number of the block, and that of the tile.
  Value slot, block;
};

LogicalResult GridBuilder::addAxes() {
  ArrayRef<AxisAttr> decisions = emitter.schedule.getAxes();
  SmallVector<unsigned> group;
  for (auto [id, dim] : llvm::enumerate(emitter.space.getDims())) {
    AxisAttr decision = decisions[id];
    bool unused = decision.getKind() == AxisKind::Grid && !dim.root;
    // Dimensions that are walked as one with a next one.
    unsigned last = id;
    while (decisions[last].getKind() == AxisKind::Merged &&
           last + 1 < decisions.size())
      ++last;
    if (last != id && emitter.schedule.getStrategy() == Strategy::Reduction)
      continue;
    if (decision.getKind() == AxisKind::Loop ||
        decision.getKind() == AxisKind::Group || unused)
      continue;
    group.push_back(id);
    if (decision.getKind() == AxisKind::Merged)
      continue;
    if (failed(emitter.addGridAxis(group)))
      return failure();
    unsigned number = emitter.bound.lookup(id);
    bool single = group.size() == 1 && dim.getStaticExtent() == 1;
    group.clear();
    if (emitter.axes[number].grid && !single)
      gridAxes.push_back(number);
  }
  if (!group.empty())
    return emitError("FUS-3116: the last dimension of the schedule is "
                     "merged with a next one");
  return emitter.addPanelAxis(gridAxes);
}

LogicalResult GridBuilder::joinRows() {
  bool hasRows = gridAxes.size() >= 2;
  if (multicast > 1) {
    if (!hasRows || !llvm::isPowerOf2_64(emitter.axes[rows()].tile))
      return emitError("FUS-3118: blocks of a cluster share columns, "
                       "but the schedule has no axis of rows with a "
                       "power of two as its tile");
    // What all of them own is one tile of the grid.
    Axis &axis = emitter.axes[rows()];
    axis.tile *= multicast;
    axis.exact = tilesExactly(axis.extent, axis.tile);
  }
  if (rowGroups == 1)
    return success();
  int64_t tile = hasRows ? emitter.axes[rows()].tile : 0;
  if (!hasRows || tile % rowGroups != 0 ||
      !llvm::isPowerOf2_64(tile / rowGroups))
    return emitError("FUS-3118: ")
           << rowGroups << " groups share rows, but the schedule has no axis "
           << "of rows with a power of two for each as its tile";
  if (isReducedInGranules(rows()))
    return emitError("FUS-3119: groups of warps share a dimension "
                     "that the kernel reduces in granules");
  return success();
}

LogicalResult GridBuilder::shareTiles() {
  cluster = split * multicast;
  if (cluster == 1)
    return success();
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  unsigned whole = split > 1 ? gridAxes.back() : rows();
  if (isReducedInGranules(whole))
    return emitError("FUS-3119: the blocks of a cluster share a "
                     "dimension that the kernel reduces in granules");
  emitter.addPartAxis(whole, emitter.axes[whole].tile / cluster, std::nullopt);
  emitter.rebind(whole, emitter.axes.size() - 1);
  Value size = arith::ConstantIndexOp::create(builder, loc, cluster);
  if (mma.getApart()) {
    emitter.program.setTogether(cluster);
    emitter.blockNumber = block;
    emitter.clusterRank = arith::RemUIOp::create(builder, loc, block, size);
  } else {
    emitter.program.setCluster(cluster);
    emitter.clusterRank =
        tile::ClusterRankOp::create(builder, loc, builder.getIndexType());
  }
  block = arith::DivUIOp::create(builder, loc, block, size);
  blocks /= cluster;
  return success();
}

void GridBuilder::splitTiles() {
  // Dimensions of tiles are in the order of axes: columns follow the rows that
  // a block or a group has of a tile.
  bool hasOwnRows = multicast > 1;
  for (unsigned whole : gridAxes) {
    int64_t tile = emitter.axes[whole].tile, start = 0;
    if (rowGroups > 1 && whole == rows()) {
      emitter.addPartAxis(whole, tile / rowGroups, std::nullopt);
      emitter.rebind(whole, emitter.axes.size() - 1);
      hasOwnRows = true;
      continue;
    }
    bool inOrder =
        !hasOwnRows || !emitter.granuleAxes.empty() || whole != gridAxes.back();
    if (llvm::isPowerOf2_64(tile) && inOrder)
      continue;
    for (; start < tile; start += llvm::bit_floor(uint64_t(tile - start))) {
      emitter.parts.push_back(emitter.axes.size());
      emitter.addPartAxis(whole, llvm::bit_floor(uint64_t(tile - start)),
                          start);
    }
    emitter.rebind(whole, emitter.parts.front());
  }
}

Value GridBuilder::countTiles() {
  Value total = emitter.sizeOf(emitter.gridSize);
  if (!emitter.tileGroups)
    return total;
  total = nullptr;
  for (unsigned axis : gridAxes) {
    Value count = emitter.countTiles(axis);
    total = total ? arith::MulIOp::create(emitter.builder, emitter.loc, total,
                                          count)
                        .getResult()
                  : count;
  }
  return total;
}

LogicalResult GridBuilder::walkTiles() {
  OpBuilder &builder = emitter.builder;
  if (mma && mma.getStream()) {
    FailureOr<Value> tile = emitter.emitSegments(slot, block, blocks);
    if (failed(tile))
      return failure();
    block = *tile;
    emitter.gridSize = builder.getAffineConstantExpr(blocks);
    return success();
  }
  if (blocks == 0 && !emitter.tileGroups)
    return success();
  Value total = countTiles();
  auto tiles = dyn_cast<AffineConstantExpr>(emitter.gridSize);
  if (emitter.tileGroups && blocks == 0)
    blocks = cast<AffineConstantExpr>(emitter.gridSize).getValue();
  Value step = arith::ConstantIndexOp::create(builder, emitter.loc, blocks);
  block = emitter.openPlainLoop(block, total, step).getInductionVar();
  if (tiles)
    blocks = std::min(blocks, tiles.getValue());
  emitter.gridSize = builder.getAffineConstantExpr(blocks);
  return success();
}

LogicalResult GridBuilder::build() {
  // How many tiles there are of groups is known at run time: each block asks.
  emitter.gridDepth =
      (blocks > 0 || emitter.tileGroups ? 1 : 0) + (rowGroups > 1 ? 1 : 0);
  emitter.gridSize = emitter.builder.getAffineConstantExpr(1);
  if (failed(addAxes()))
    return failure();
  if (gridAxes.empty() && rowGroups == 1) {
    emitter.gridDepth = 0;
    return mma && mma.getStream()
               ? emitter.refuseStream("there is one tile only")
               : success();
  }
  if (failed(joinRows()))
    return failure();
  for (unsigned axis : gridAxes)
    emitter.gridSize = emitter.gridSize * emitter.getMostTiles(axis);
  block = slot =
      gpu::BlockIdOp::create(emitter.builder, emitter.loc, gpu::Dimension::x);
  if (failed(shareTiles()))
    return failure();
  splitTiles();
  if (failed(walkTiles()) || failed(emitter.openPanel(gridAxes, slot, block)))
    return failure();
  emitter.gridSize = emitter.gridSize * cluster;
  if (rowGroups > 1)
    emitter.openRowGroups(rowGroups);
  emitter.placeTile(block, gridAxes);
  emitter.leadTiles();
  return success();
}

LogicalResult TileEmitter::emitGrid() {
  if (failed(findTileGroups()))
    return failure();
  return GridBuilder(*this).build();
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
