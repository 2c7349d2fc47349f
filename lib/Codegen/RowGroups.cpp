//===- RowGroups.cpp - The groups of rows ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the groups that rows belong to: where a tile of rows has
// rows of several, the group is found for each row.
//
//===----------------------------------------------------------------------===//

#include "RowGroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<Tile> mlir::fusion::evaluateRowGroups(RowGroupsOp op,
                                                ArrayRef<AffineExpr> coords,
                                                const GroupedTiles &groups,
                                                TileEvaluator &evaluator,
                                                WalkBuilder &walks) {
  TileBuilder &builder = evaluator.getBuilder();
  Location loc = builder.getLoc();
  auto axis = dyn_cast<AffineDimExpr>(coords.front());
  if (groups.areOf(op) && axis && groups.getGroup().value &&
      groups.areAlong(axis.getPosition()))
    return groups.getGroup();

  // Count the offsets up to the row: all but the first begin a new group.
  FailureOr<SmallVector<AffineExpr>> size =
      builder.getKernel().getShapes().getShape(op.getOffsets());
  if (failed(size))
    return failure();
  Type i32 = builder.getI32Type();
  auto number = [&](int64_t value) -> Tile {
    return {builder.createConstant(builder.getI32IntegerAttr(value)), {}};
  };
  Tile row = builder.getIndexTile(coords.front());
  SmallVector<unsigned> tileAxes = row.axes;
  row.value = arith::IndexCastOp::create(
      builder, loc, builder.getTileType(tileAxes, i32), row.value);
  auto spread = [&](Tile tile) {
    return builder.broadcast(tile, tileAxes).value;
  };
  SmallVector<Value> count{spread(number(0))};
  scf::ForOp loop;
  unsigned offsets = walks.openLoop(size->front(), count, &loop);
  FailureOr<Tile> offset =
      evaluator.evaluate(op.getOffsets(), builder.getAffineDimExpr(offsets));
  if (failed(offset))
    return failure();
  builder.getScopes().insertInnermost();
  Value isBegun = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        row.value, spread(*offset));
  Value one = arith::ExtUIOp::create(
      builder, loc, builder.getTileType(tileAxes, i32), isBegun);
  Value next =
      arith::AddIOp::create(builder, loc, loop.getRegionIterArg(0), one);
  Tile begun{walks.closeLoop(next).getResult(0), tileAxes};
  // Before the first group is no group, as after the last.
  Value last = arith::IndexCastOp::create(builder, loc, i32,
                                          builder.getSize(size->front()));
  Value isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         begun.value, spread(number(0)));
  Tile all = builder.select({isBefore, tileAxes}, {last, {}}, begun);
  return Tile{arith::SubIOp::create(builder, loc, all.value, spread(number(1))),
              tileAxes};
}

LogicalResult mlir::fusion::restrictToGroups(scf::ForOp loop,
                                             const Reduction &sum,
                                             TileEvaluator &evaluator) {
  TileBuilder &builder = evaluator.getBuilder();
  Location loc = builder.getLoc();
  // Groups of the first and of the last row, which need not be in this order
  // when rows before the first group are there.
  GroupedSum grouped = *matchGroupedSum(sum.op);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  FailureOr<Tile> groups =
      evaluator.evaluate(grouped.groups, sum.loopCoords[grouped.rowLoop]);
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
  restrictWalk(builder, loop, first, end);
  return success();
}
