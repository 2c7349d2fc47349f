//===- PrefetchEpilogue.cpp - Loads small operands ahead of the products --===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the move of loads of vectors that follow a contraction
// to before its loop: the products then hide their latency.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tile {
#define GEN_PASS_DEF_PREFETCHEPILOGUEPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#define DEBUG_TYPE "tile-prefetch-epilogue"

using namespace mlir;
using namespace mlir::tile;

/// Registers of a thread that loads ahead may take. An accumulator of 128
/// leaves about 90 to everything else.
static constexpr int64_t kMaxRegisters = 48;

/// Registers of a thread that hold the tile `load` makes, when all four lanes
/// of a fragment's row share its columns out.
static int64_t registersOf(LoadOp load) {
  constexpr int64_t kLanesOfRow = 4, kRegisterBits = 32;
  int64_t bits = getTileElementType(load.getType()).getIntOrFloatBitWidth();
  return std::max<int64_t>(
      getTileShape(load.getType())[0] * bits / (kLanesOfRow * kRegisterBits),
      1);
}

/// Is `value` known before `op` runs, perhaps by moving pure scalar arithmetic?
static bool isKnownBefore(Value value, Operation *op) {
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != op->getBlock() ||
      producer->isBeforeInBlock(op))
    return true;
  return isPure(producer) && producer->getNumRegions() == 0 &&
         llvm::all_of(producer->getOperands(), [&](Value operand) {
           return isKnownBefore(operand, op);
         });
}

static void moveBefore(Operation *moved, Operation *op) {
  if (moved->getBlock() != op->getBlock() || moved->isBeforeInBlock(op))
    return;
  for (Value operand : moved->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      moveBefore(producer, op);
  moved->moveBefore(op);
}

namespace {
class PrefetchEpiloguePass
    : public tile::impl::PrefetchEpiloguePassBase<PrefetchEpiloguePass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // What the program writes must not be read earlier.
    llvm::SmallDenseSet<Value> written;
    getOperation().getBody().walk([&](Operation *op) {
      if (auto store = dyn_cast<StoreOp>(op))
        written.insert(store.getView().getDefiningOp<MakeViewOp>().getBase());
      else if (auto store = dyn_cast<AsyncStoreOp>(op))
        written.insert(store.getMap()
                           .getDefiningOp<TensorMapOp>()
                           .getView()
                           .getDefiningOp<MakeViewOp>()
                           .getBase());
    });
    SmallVector<scf::ForOp> loops;
    getOperation().getBody().walk([&](scf::ForOp loop) {
      if (llvm::any_of(loop.getResultTypes(), llvm::IsaPred<RankedTensorType>))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      if (isa<scf::ForOp>(loop->getParentOp()) &&
          cast<scf::ForOp>(loop->getParentOp()).getNumResults() > 0 &&
          llvm::is_contained(loops, cast<scf::ForOp>(loop->getParentOp())))
        continue; // taps inside taps: the outer loop is the one
      int64_t left = kMaxRegisters;
      SmallVector<LoadOp> ahead;
      for (Operation &op : llvm::make_range(std::next(loop->getIterator()),
                                            loop->getBlock()->end())) {
        auto load = dyn_cast<LoadOp>(op);
        if (!load || getTileShape(load.getType()).size() != 1 ||
            !load.getIndices().empty() ||
            written.contains(
                load.getView().getDefiningOp<MakeViewOp>().getBase()) ||
            !llvm::all_of(load->getOperands(), [&](Value operand) {
              return isKnownBefore(operand, loop);
            }))
          continue;
        left -= registersOf(load);
        if (left < 0)
          break;
        ahead.push_back(load);
      }
      for (LoadOp load : ahead)
        moveBefore(load, loop);
    }
  }
};
} // namespace
