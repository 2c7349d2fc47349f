//===- EmitGroups.cpp - Rows in groups of sizes known at run time ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the part of the tile emitter that knows of rows in
// groups. Where the schedule has an axis of kind `group`, tiles of rows are
// those of the groups, one after the other: the grid walks as many as there
// are, and the group is a scalar for all that a tile computes. Elsewhere the
// group is found for each row.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult TileEmitter::refuseGroups(const Twine &reason) {
  return kernel.emitError("FUS-3122: the schedule has tiles of rows of one "
                          "group each, but ")
         << reason;
}

LogicalResult TileEmitter::findTileGroups() {
  bool wanted = llvm::any_of(schedule.getAxes(), [](AxisAttr axis) {
    return axis.getKind() == AxisKind::Group;
  });
  if (!wanted)
    return success();
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>()) {
    std::optional<GroupedSum> sum = matchGroupedSum(op);
    if (!sum)
      continue;
    auto groups = sum->groups.getDefiningOp<RowGroupsOp>();
    unsigned rowDim = space.getDimOfLoop(op, sum->rowLoop);
    if (schedule.getAxes()[space.getDimOfLoop(op, sum->loop)].getKind() !=
        AxisKind::Group)
      return refuseGroups("a sum walks all groups");
    if (!groups || !isa<BlockArgument>(groups.getOffsets()))
      return refuseGroups("offsets of the groups are computed in the kernel");
    if (tileGroups && (tileGroups->op != groups || tileGroups->dim != rowDim))
      return refuseGroups("it groups rows in two ways");
    tileGroups = TileGroups{groups, rowDim};
  }
  if (!tileGroups)
    return refuseGroups("it has no sum of what belongs to a row's group");
  AxisAttr axis = schedule.getAxes()[tileGroups->dim];
  MmaAttr mma = schedule.getMma();
  bool plain = !mma || (mma.getCluster() == 1 && !mma.getStream());
  if (axis.getKind() != AxisKind::Grid || axis.getStrip() != 1 ||
      axis.getSteps() != 1 || !llvm::isPowerOf2_64(axis.getTile()) || !plain ||
      space.getDims()[tileGroups->dim].granule != 1)
    return refuseGroups("the rows' axis is no plain one of the grid, with a "
                        "power of two as its tile");
  if (!space.getDims()[tileGroups->dim].getStaticExtent() ||
      ShapedType::isDynamic(tileGroups->op.getNumGroups()))
    return refuseGroups("the numbers of rows and groups are not known");
  for (Value result : kernel.getStoredValues())
    if (cast<RankedTensorType>(result.getType()).getRank() == 0 ||
        space.getDimOfTensor(result, 0) != tileGroups->dim)
      return refuseGroups("rows are not the first dimension of a result");
  return success();
}

tile::FindGroupOp TileEmitter::findGroup(Value number) {
  auto view = cast<TypedValue<tile::ViewType>>(
      views.lookup(tileGroups->op.getOffsets()));
  Type index = builder.getIndexType();
  return tile::FindGroupOp::create(
      builder, loc, index, index, index, index, view, number,
      schedule.getAxes()[tileGroups->dim].getTile(),
      *space.getDims()[tileGroups->dim].getStaticExtent());
}

AffineExpr TileEmitter::getMostTiles(unsigned axis) const {
  AffineExpr tiles = axes[axis].extent.ceilDiv(axes[axis].tile);
  if (!isGrouped(axis))
    return tiles;
  // Each of the groups, with the rows before and after them, may end in a tile
  // that is not full, but one.
  RowGroupsOp op = tileGroups->op;
  return tiles + (op.getNumGroups() + 1);
}

Value TileEmitter::countTiles(unsigned axis) {
  if (!isGrouped(axis))
    return sizeOf(getMostTiles(axis));
  if (!tileGroups->total)
    tileGroups->total =
        findGroup(arith::ConstantIndexOp::create(builder, loc, 0)).getTotal();
  return tileGroups->total;
}

Value TileEmitter::placeGroup(Value number) {
  tile::FindGroupOp found = findGroup(number);
  Value group = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                           found.getGroup());
  tileGroups->group = {group, {}};
  tileGroups->coord = asCoordinate({found.getGroup(), {}}, gridDepth);
  tileGroups->end = found.getEnd();
  return found.getBegin();
}

TypedValue<tile::ViewType>
TileEmitter::endWithGroup(TypedValue<tile::ViewType> view) {
  // Rows after the group's last are another's. Only the size of the outermost
  // dimension changes, on which no address depends.
  tile::ViewType type = view.getType();
  SmallVector<int64_t> sizes(type.getShape());
  sizes.front() = ShapedType::kDynamic;
  SmallVector<Value> dynamic{tileGroups->end};
  auto whole = view.getDefiningOp<tile::MakeViewOp>();
  llvm::append_range(dynamic, ValueRange(whole.getSizes()));
  return tile::MakeViewOp::create(
      builder, loc, tile::ViewType::get(context, sizes, type.getElementType()),
      whole.getBase(), dynamic, /*shape=*/AffineMapAttr());
}

bool TileEmitter::isGroupOfTile(linalg::LinalgOp op, const GroupedSum &sum,
                                ArrayRef<AffineExpr> loopCoords) const {
  return tileGroups && sum.groups.getDefiningOp() == tileGroups->op &&
         schedule.getAxes()[space.getDimOfLoop(op, sum.loop)].getKind() ==
             AxisKind::Group &&
         loopCoords[sum.rowLoop] ==
             getAffineDimExpr(bound.lookup(tileGroups->dim), context);
}

Tile TileEmitter::clearUngrouped(Tile sum, TypedAttr zero) {
  Value groups = arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(tileGroups->op.getNumGroups()));
  Value isGroup = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        tileGroups->group.value, groups);
  return select({isGroup, {}}, sum, {constant(zero), {}});
}

FailureOr<Tile> TileEmitter::evaluateGroups(RowGroupsOp op,
                                            ArrayRef<AffineExpr> coords) {
  auto axis = dyn_cast<AffineDimExpr>(coords.front());
  if (tileGroups && tileGroups->op == op && axis && tileGroups->group.value &&
      isGrouped(axis.getPosition()))
    return tileGroups->group;

  // Count the offsets up to the row: all but the first begin a new group.
  FailureOr<SmallVector<AffineExpr>> size = shapes.getShape(op.getOffsets());
  if (failed(size))
    return failure();
  Type i32 = builder.getI32Type();
  auto number = [&](int64_t value) -> Tile {
    return {constant(builder.getI32IntegerAttr(value)), {}};
  };
  Tile row = indexTile(coords.front());
  SmallVector<unsigned> tileAxes = row.axes;
  row.value = arith::IndexCastOp::create(builder, loc, tileType(tileAxes, i32),
                                         row.value);
  auto spread = [&](Tile tile) { return broadcast(tile, tileAxes).value; };
  SmallVector<Value> count{spread(number(0))};
  scf::ForOp loop;
  unsigned offsets =
      openLoop(std::nullopt, size->front(), /*tile=*/1, count, &loop);
  FailureOr<Tile> offset =
      evaluate(op.getOffsets(), builder.getAffineDimExpr(offsets));
  if (failed(offset))
    return failure();
  insertAt(scopes.size() - 1);
  Value isBegun = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        row.value, spread(*offset));
  Value one =
      arith::ExtUIOp::create(builder, loc, tileType(tileAxes, i32), isBegun);
  Value next =
      arith::AddIOp::create(builder, loc, loop.getRegionIterArg(0), one);
  Tile begun{closeLoop(next).getResult(0), tileAxes};
  // Before the first group is no group, as after the last.
  Value last =
      arith::IndexCastOp::create(builder, loc, i32, sizeOf(size->front()));
  Value isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         begun.value, spread(number(0)));
  Tile all = select({isBefore, tileAxes}, {last, {}}, begun);
  return Tile{arith::SubIOp::create(builder, loc, all.value, spread(number(1))),
              tileAxes};
}

LogicalResult TileEmitter::restrictToGroups(scf::ForOp loop,
                                            const Reduction &sum) {
  // Groups of the first and of the last row, which need not be in this order
  // when rows before the first group are there.
  GroupedSum grouped = *matchGroupedSum(sum.op);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  FailureOr<Tile> groups =
      evaluate(grouped.groups, sum.loopCoords[grouped.rowLoop]);
  if (failed(groups))
    return failure();
  if (groups->axes.size() > 1)
    return success();
  Type i32 = builder.getI32Type();
  auto findBound = [&](auto combine) -> Value {
    Value bound = groups->value;
    if (!groups->axes.empty()) {
      auto reduce = tile::ReduceOp::create(builder, loc, TypeRange(i32), bound,
                                           /*dim=*/0, /*within_warp=*/false);
      OpBuilder::InsertionGuard inner(builder);
      Block *block = builder.createBlock(&reduce.getCombiner(), {}, {i32, i32},
                                         {loc, loc});
      Value both = combine(block->getArgument(0), block->getArgument(1));
      tile::YieldOp::create(builder, loc, both);
      bound = reduce.getResult(0);
    }
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      bound);
  };
  Value first = findBound([&](Value a, Value b) -> Value {
    return arith::MinSIOp::create(builder, loc, a, b);
  });
  Value last = findBound([&](Value a, Value b) -> Value {
    return arith::MaxSIOp::create(builder, loc, a, b);
  });
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value end = arith::AddIOp::create(builder, loc, last, one);
  loop.setLowerBound(first);
  loop.setUpperBound(
      arith::MinUIOp::create(builder, loc, end, loop.getUpperBound()));
  return success();
}
