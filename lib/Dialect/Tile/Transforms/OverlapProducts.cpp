//===- OverlapProducts.cpp - Keeps a group of products in flight ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the overlap of one iteration's products with the wait
// for the next one's operands. Where several warpgroups share a tile they fill
// each other's gaps; a single one has to do so by itself.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Support/Hardware.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_OVERLAPPRODUCTSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-overlap-products"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
/// The end of an iteration: products waited for, their stage freed.
struct Finish {
  MmaWaitOp wait;
  ReleaseOp release;
};
} // namespace

/// True for a condition under which only a turn is passed on.
static bool passesTurn(Operation &op) {
  auto condition = dyn_cast<scf::IfOp>(op);
  return condition && condition.getNumResults() == 0 &&
         !condition.elseBlock() &&
         llvm::all_of(condition.thenBlock()->without_terminator(),
                      [](Operation &inner) {
                        auto release = dyn_cast<ReleaseOp>(inner);
                        return release &&
                               release.getRing().getType().getBuffers().empty();
                      });
}

/// The end of `loop`'s iterations, when all their products read the ring only
/// and nothing but the loop uses the sums.
static std::optional<Finish> findFinish(scf::ForOp loop) {
  Finish finish;
  for (Operation &op : *loop.getBody()) {
    if (auto wait = dyn_cast<MmaWaitOp>(op)) {
      if (finish.wait)
        return std::nullopt;
      finish.wait = wait;
    } else if (auto release = dyn_cast<ReleaseOp>(op)) {
      if (finish.release || !finish.wait)
        return std::nullopt;
      finish.release = release;
    } else if (op.getNumRegions() != 0 && !passesTurn(op)) {
      return std::nullopt;
    }
  }
  if (!finish.wait || !finish.release || finish.wait.getPending() != 0 ||
      !finish.wait.getKept().empty())
    return std::nullopt;
  for (Value value : finish.wait.getValues()) {
    auto product = value.getDefiningOp<MmaAsyncOp>();
    // The consumer's own buffers are filled again in the next iteration.
    if (!product || !product.getA().getDefiningOp<WaitOp>() ||
        !product.getB().getDefiningOp<WaitOp>() ||
        !llvm::is_contained(loop.getRegionIterArgs(), product.getAcc()))
      return std::nullopt;
  }
  for (Value result : finish.wait.getResults())
    if (!result.hasOneUse() || !isa<scf::YieldOp>(*result.user_begin()))
      return std::nullopt;
  return finish;
}

/// Frees the stage before `position` when `first` is below `now`.
static void releasePrevious(OpBuilder &builder, Location loc, Value ring,
                            Value position, Value first, Value now) {
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     first, now);
  auto guarded = scf::IfOp::create(builder, loc, some,
                                   /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value previous = arith::SubIOp::create(builder, loc, position, one);
  ReleaseOp::create(builder, loc, ring, previous);
}

/// Lets the products of each iteration run until those of the next have begun.
static void overlap(scf::ForOp loop, Finish finish) {
  Location loc = finish.wait.getLoc();
  Value ring = finish.release.getRing();
  Value position = finish.release.getPosition();
  auto carried = cast<BlockArgument>(position);
  finish.wait.setPending(1);
  OpBuilder builder(finish.release);
  releasePrevious(builder, loc, ring, position, loop.getLowerBound(),
                  loop.getInductionVar());
  finish.release.erase();

  builder.setInsertionPointAfter(loop);
  SmallVector<Value> sums;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (Value result : finish.wait.getResults())
    for (auto [yielded, sum] :
         llvm::zip(yield.getOperands(), loop.getResults()))
      if (yielded == result)
        sums.push_back(sum);
  auto wait = MmaWaitOp::create(builder, loc, TypeRange(ValueRange(sums)), sums,
                                ValueRange(), /*pending=*/0);
  for (auto [sum, result] : llvm::zip(sums, wait.getResults()))
    sum.replaceAllUsesExcept(result, wait);
  Value end = loop.getResult(carried.getArgNumber() - 1);
  releasePrevious(builder, loc, ring, end, loop.getLowerBound(),
                  loop.getUpperBound());
}

namespace {
class OverlapProductsPass
    : public tile::impl::OverlapProductsPassBase<OverlapProductsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (program.getNumWarps() != fusion::kWarpgroupWarps)
      return;
    SmallVector<std::pair<scf::ForOp, Finish>> loops;
    program.getBody().walk([&](scf::ForOp loop) {
      std::optional<Finish> finish = findFinish(loop);
      if (!finish)
        return;
      Value position = finish->release.getPosition();
      if (llvm::is_contained(loop.getRegionIterArgs(), position) &&
          position != loop.getInductionVar())
        loops.push_back({loop, *finish});
    });
    for (auto &[loop, finish] : loops)
      overlap(loop, finish);
  }
};
} // namespace
