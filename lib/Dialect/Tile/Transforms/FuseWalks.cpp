//===- FuseWalks.cpp - Stores what another walk reads ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the fusion of sibling loops of which one stores tiles
// that it computes from what the other one reads, too: a result that needs no
// reduction is stored while the reduction walks.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_FUSEWALKSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-fuse-walks"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// True for a loop that stores what it computes from what it loads, and does
/// nothing else: when it runs matters to nobody in the program.
static bool onlyStores(scf::ForOp loop) {
  if (loop.getNumResults() != 0)
    return false;
  bool stores = false;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    stores |= isa<StoreOp>(op);
    bool isKnown = isa<LoadOp, StoreOp, scf::ForOp, scf::IfOp>(op) ||
                   op->hasTrait<OpTrait::IsTerminator>() || isPure(op);
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return stores && !result.wasInterrupted();
}

/// True when the loops load a tile at the same place of the same tensor; their
/// induction variables stand for each other.
static bool loadAlike(scf::ForOp one, scf::ForOp other) {
  auto isSame = [&](LoadOp a, LoadOp b) {
    auto isSameSymbol = [&](auto pair) {
      auto [x, y] = pair;
      return x == y ||
             (x == one.getInductionVar() && y == other.getInductionVar());
    };
    return a.getView() == b.getView() && a.getMap() == b.getMap() &&
           a.getSymbols().size() == b.getSymbols().size() &&
           llvm::all_of(llvm::zip(a.getSymbols(), b.getSymbols()),
                        isSameSymbol);
  };
  for (auto a : one.getBody()->getOps<LoadOp>())
    for (auto b : other.getBody()->getOps<LoadOp>())
      if (isSame(a, b))
        return true;
  // Loops in these are compared when these are one.
  auto inOne = one.getBody()->getOps<scf::ForOp>();
  auto inOther = other.getBody()->getOps<scf::ForOp>();
  return !inOne.empty() && !inOther.empty();
}

static bool haveSameBounds(scf::ForOp one, scf::ForOp other) {
  return one.getLowerBound() == other.getLowerBound() &&
         one.getUpperBound() == other.getUpperBound() &&
         one.getStep() == other.getStep() &&
         one->getDiscardableAttrDictionary() ==
             other->getDiscardableAttrDictionary();
}

/// True when all that `loop` uses is known before `place`.
static bool isKnownAt(scf::ForOp loop, Operation *place) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  DominanceInfo dominance;
  return llvm::all_of(used, [&](Value value) {
    return dominance.properlyDominates(value, place);
  });
}

/// Puts the body of `storing` behind that of `reading`: what is stored is
/// stored last, so that what both load is loaded once.
static void fuse(scf::ForOp reading, scf::ForOp storing) {
  IRRewriter rewriter(reading);
  rewriter.setInsertionPoint(reading.getBody()->getTerminator());
  IRMapping mapping;
  mapping.map(storing.getInductionVar(), reading.getInductionVar());
  for (Operation &op : storing.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  rewriter.eraseOp(storing);
}

/// Fuses one pair of loops of `block`; false when there is none left.
static bool fuseOne(Block &block) {
  for (auto storing : block.getOps<scf::ForOp>()) {
    if (!onlyStores(storing))
      continue;
    for (auto reading : block.getOps<scf::ForOp>()) {
      if (reading == storing || reading.getNumResults() == 0 ||
          !haveSameBounds(storing, reading) || !loadAlike(storing, reading) ||
          !isKnownAt(storing, reading))
        continue;
      fuse(reading, storing);
      return true;
    }
  }
  return false;
}

namespace {
class FuseWalksPass : public tile::impl::FuseWalksPassBase<FuseWalksPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // Outer loops first, which bring those in them side by side.
    getOperation().getBody().walk<WalkOrder::PreOrder>([](Block *block) {
      while (fuseOne(*block)) {
      }
    });
  }
};
} // namespace
