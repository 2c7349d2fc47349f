//===- LowerGroups.cpp - Tiles of rows in groups --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for the group of a tile of rows. Rows are cut
// into ranges: those before the first group, those of each group, and those
// after the last. A warp looks at 32 ranges at a time, one a lane; a producer,
// which is a single thread, at one after the other.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;

/// Offsets that a thread reads together, so that their latency is there once.
static constexpr int32_t kAtOnce = 4;

namespace {
/// What is known of the range that has the tile: its number, its first row and
/// the number of its first tile, and where it ends.
struct FoundRange {
  Value number, row, tile, end;
};

/// Builds one search, in integers of 32 bits.
class GroupSearch {
public:
  GroupSearch(ThreadBuilder &builder, tile::FindGroupOp op, Value base,
              Value wanted)
      : builder(builder), base(base), wanted(wanted),
        last(op.getOffsets().getType().getShape().front() - 1),
        tile(op.getTile()), rows(constant(op.getRows())) {}

  /// Both leave the number of tiles of all ranges in `total`.
  void findAlone();
  void findByWarp(Value lane);

  Value getGroup();
  Value getBegin() {
    Value within = sub(wanted, found.tile);
    return add(found.row,
               arith::MulIOp::create(builder, within, constant(tile)));
  }

  FoundRange found;
  Value total;

private:
  Value constant(int64_t value) {
    return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value));
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, a, b); }
  Value min(Value a, Value b) { return arith::MinSIOp::create(builder, a, b); }
  Value max(Value a, Value b) { return arith::MaxSIOp::create(builder, a, b); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, predicate, a, b);
  }
  Value choose(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, condition, a, b);
  }
  Value shuffle(NVVM::ShflKind kind, Value value, Value lane, int32_t clamp) {
    return NVVM::ShflOp::create(builder, builder.getI32Type(), constant(-1),
                                value, lane, constant(clamp), kind, UnitAttr());
  }
  /// The row that range `number`, of those up to the last offset, ends with.
  /// What is `invariant` may be kept in registers from one tile to the next.
  Value loadEnd(Value number, bool invariant);
  /// Tiles of the range from `row` to `end`.
  Value countTiles(Value row, Value end) {
    return arith::DivUIOp::create(
        builder, add(sub(end, row), constant(tile - 1)), constant(tile));
  }
  /// True in the range that has the tile: before it the difference is larger,
  /// behind it negative.
  Value isFound(Value firstTile, Value count) {
    return compare(arith::CmpIPredicate::ult, sub(wanted, firstTile), count);
  }
  FoundRange chooseRange(Value condition, const FoundRange &a,
                         const FoundRange &b) {
    return {choose(condition, a.number, b.number),
            choose(condition, a.row, b.row), choose(condition, a.tile, b.tile),
            choose(condition, a.end, b.end)};
  }

  ThreadBuilder &builder;
  Value base, wanted;
  /// The last range but one begins with the last offset's group.
  int64_t last, tile;
  Value rows;
};
} // namespace

Value GroupSearch::loadEnd(Value number, bool invariant) {
  Value place = min(number, constant(last));
  Value address =
      LLVM::GEPOp::create(builder, base.getType(), builder.getI32Type(), base,
                          ArrayRef<LLVM::GEPArg>{place});
  Value offset = LLVM::LoadOp::create(
      builder, builder.getI32Type(), address, /*alignment=*/4,
      /*isVolatile=*/false, /*isNonTemporal=*/false, invariant);
  return max(min(offset, rows), constant(0));
}

void GroupSearch::findAlone() {
  // Producers have few registers: where the range lies is read again. Beyond
  // the last offset ranges are empty.
  Value zero = constant(0);
  auto loop =
      scf::ForOp::create(builder, zero, constant(last + 1), constant(kAtOnce),
                         ValueRange{zero, zero, constant(last + 2), wanted});
  Value row, tiles;
  auto take = [&](ValueRange state) {
    row = state[0];
    tiles = state[1];
    found.number = state[2];
    found.tile = state[3];
  };
  auto visit = [&](Value number, Value next) {
    Value count = countTiles(row, max(row, next));
    Value isHere = isFound(tiles, count);
    found.number = choose(isHere, number, found.number);
    found.tile = choose(isHere, tiles, found.tile);
    row = next;
    tiles = add(tiles, count);
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    if (!loop.getBody()->empty())
      loop.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(loop.getBody());
    take(loop.getRegionIterArgs());
    SmallVector<std::pair<Value, Value>> ends;
    for (int32_t i = 0; i < kAtOnce; ++i) {
      Value number = add(loop.getInductionVar(), constant(i));
      ends.push_back({number, loadEnd(number, /*invariant=*/false)});
    }
    for (auto [number, end] : ends)
      visit(number, end);
    scf::YieldOp::create(builder,
                         ValueRange{row, tiles, found.number, found.tile});
  }
  take(loop.getResults());
  visit(constant(last + 1), rows);
  total = tiles;
  auto rowOf = [&](Value number) {
    return choose(compare(arith::CmpIPredicate::sgt, number, constant(last)),
                  rows, loadEnd(max(number, zero), /*invariant=*/false));
  };
  Value before = sub(found.number, constant(1));
  found.row = choose(compare(arith::CmpIPredicate::eq, found.number, zero),
                     zero, rowOf(before));
  found.end = max(found.row, rowOf(found.number));
}

void GroupSearch::findByWarp(Value lane) {
  found = {constant(last + 1), rows, wanted, rows};
  total = constant(0);
  Value before = total;
  constexpr int32_t clampUp = 0, clampIndex = kWarpThreads - 1;
  for (int64_t first = 0; first < last + 2; first += kWarpThreads) {
    Value number = add(lane, constant(first));
    Value next =
        choose(compare(arith::CmpIPredicate::sgt, number, constant(last)), rows,
               loadEnd(number, /*invariant=*/true));
    Value row =
        choose(compare(arith::CmpIPredicate::eq, lane, constant(0)), before,
               shuffle(NVVM::ShflKind::up, next, constant(1), clampUp));
    Value end = max(row, next), count = countTiles(row, end), sum = count;
    for (int32_t distance = 1; distance < kWarpThreads; distance *= 2) {
      Value other =
          shuffle(NVVM::ShflKind::up, sum, constant(distance), clampUp);
      Value adds = compare(arith::CmpIPredicate::sge, lane, constant(distance));
      sum = add(sum, choose(adds, other, constant(0)));
    }
    Value tiles = add(total, sub(sum, count));
    Value ballot = NVVM::VoteSyncOp::create(builder, builder.getI32Type(),
                                            constant(-1), isFound(tiles, count),
                                            NVVM::VoteSyncKind::ballot);
    Value isHere = compare(arith::CmpIPredicate::ne, ballot, constant(0));
    Value place = LLVM::CountTrailingZerosOp::create(
        builder, builder.getI32Type(), ballot, /*is_zero_poison=*/false);
    auto ofPlace = [&](Value value) {
      return shuffle(NVVM::ShflKind::idx, value, place, clampIndex);
    };
    found = chooseRange(isHere,
                        {add(place, constant(first)), ofPlace(row),
                         ofPlace(tiles), ofPlace(end)},
                        found);
    auto ofLast = [&](Value value) {
      return shuffle(NVVM::ShflKind::idx, value, constant(kWarpThreads - 1),
                     clampIndex);
    };
    total = add(total, ofLast(sum));
    before = ofLast(next);
  }
}

Value GroupSearch::getGroup() {
  // The first range and the last have no group.
  Value isFirst = compare(arith::CmpIPredicate::eq, found.number, constant(0));
  Value none = constant(last);
  return choose(isFirst, none, min(sub(found.number, constant(1)), none));
}

namespace {
struct FindGroupLowering : public TileOpLowering<tile::FindGroupOp> {
  LogicalResult lower(tile::FindGroupOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

LogicalResult FindGroupLowering::lower(tile::FindGroupOp op,
                                       ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  auto view = op.getOffsets().getDefiningOp<tile::MakeViewOp>();
  GroupSearch search(builder, op, lowering.getScalar(view.getBase()),
                     builder.toI32(lowering.getScalar(op.getNumber())));
  if (lowering.getRole().isProducer())
    search.findAlone();
  else
    search.findByWarp(lowering.getThreads().getLane());
  lowering.set(op.getGroup(), {builder.toIndex(search.getGroup())});
  lowering.set(op.getBegin(), {builder.toIndex(search.getBegin())});
  lowering.set(op.getEnd(), {builder.toIndex(search.found.end)});
  lowering.set(op.getTotal(), {builder.toIndex(search.total)});
  return success();
}

void mlir::fusion::populateRowGroupLowerings(LoweringSet &lowerings) {
  lowerings.add<FindGroupLowering>();
}
