//===- SinkBehindProducts.cpp - What is not computed of products, later ---===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that computes tiles where they are needed, not
// before the products that they are combined with. What a bias or a mask is by
// positions, or what was loaded is in a wider type, would be as many registers
// as the product's result, and live while that is computed; so would a tile
// that is read from a stage, a mask's:
//
//   b = f(positions)               s = product
//   s = product             ==>    wait for s
//   wait for s                     b = f(positions)
//   x = s + b                      x = s + b
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_SINKBEHINDPRODUCTSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-sink-behind-products"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// The first operation of the block of `op` that needs a result of it, or has
/// one that does; null where other blocks do.
static Operation *findFirstUser(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *own = op->getBlock()->findAncestorOpInBlock(*user);
    if (!own)
      return nullptr;
    if (!first || own->isBeforeInBlock(first))
      first = own;
  }
  return first;
}

/// True when `op`, or one inside it, may let others write to a stage.
static bool freesStages(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<ReleaseOp, BarrierOp, LocalStoreOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True when `read` gives as many elements as a product that `wait` is for.
static bool isAsLarge(LocalLoadOp read, MmaWaitOp wait) {
  auto count = [](Type type) {
    return cast<RankedTensorType>(type).getNumElements();
  };
  return llvm::any_of(wait.getValues(), [&](Value value) {
    return count(read.getType()) >= count(value.getType());
  });
}

/// Moves what is computed before `wait` of no memory, and needed behind it
/// only, to where it is needed.
static void sinkBehind(MmaWaitOp wait) {
  SmallVector<Operation *> before;
  for (Operation *op = wait->getPrevNode(); op; op = op->getPrevNode())
    before.push_back(op);
  bool mayRead = true;
  for (Operation *op : before) {
    // What a stage has may be read until it is freed, by each thread for
    // itself. A row of it is few registers, and there when the product is.
    mayRead &= !freesStages(op);
    auto read = dyn_cast<LocalLoadOp>(op);
    if (read && mayRead && isAsLarge(read, wait) &&
        getStageBuffer(read.getBuffer()).getDefiningOp<WaitOp>()) {
      Operation *user = findFirstUser(op);
      if (user && wait->isBeforeInBlock(user))
        op->moveAfter(wait);
      continue;
    }
    if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
        !isa<RankedTensorType>(op->getResult(0).getType()) ||
        !isMemoryEffectFree(op) || isa<MmaAsyncOp, MmaWaitOp, PinOp>(op))
      continue;
    Operation *user = findFirstUser(op);
    if (user && wait->isBeforeInBlock(user))
      op->moveBefore(user);
  }
}

namespace {
class SinkBehindProductsPass
    : public tile::impl::SinkBehindProductsPassBase<SinkBehindProductsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](MmaWaitOp wait) {
      if (wait->getNumResults() > 0)
        sinkBehind(wait);
    });
  }
};
} // namespace
