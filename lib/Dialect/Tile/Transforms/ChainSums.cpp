//===- ChainSums.cpp - Sums that go on where others ended -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets products which are added to others
// begin with these:
//
//   s = for ... iter_args(a = 0)        s = for ... iter_args(a = 0)
//   t = for ... iter_args(b = 0)  ==>   t = for ... iter_args(b = s)
//   x = s + t                           x = t
//
// One tile of sums is in registers, not two. The terms are added up in another
// order, as those of any sum may be.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_CHAINSUMSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-chain-sums"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// What the sum of products `value` begins with; null for what is none.
static OpOperand *findBegin(Value value) {
  if (auto dot = value.getDefiningOp<DotOp>())
    return &dot.getAccMutable();
  auto loop = value.getDefiningOp<scf::ForOp>();
  if (!loop)
    return nullptr;
  auto result = cast<OpResult>(value);
  OpOperand *inner =
      findBegin(loop.getYieldedValues()[result.getResultNumber()]);
  bool isCarried =
      inner && inner->get() == loop.getTiedLoopRegionIterArg(result);
  return isCarried ? loop.getTiedLoopInit(result) : nullptr;
}

static bool isZero(Value tile) {
  if (auto splat = tile.getDefiningOp<SplatOp>())
    return matchPattern(splat.getValue(), m_AnyZeroFloat());
  return matchPattern(tile, m_AnyZeroFloat());
}

/// Lets `later` begin with `earlier` where it can; `sum` adds both.
static bool chain(arith::AddFOp sum, Value earlier, Value later) {
  OpOperand *begin = findBegin(later);
  if (!findBegin(earlier) || !begin || !isZero(begin->get()) ||
      !earlier.hasOneUse() || !later.hasOneUse())
    return false;
  Operation *first = earlier.getDefiningOp(), *second = later.getDefiningOp();
  if (first->getBlock() != second->getBlock() ||
      !first->isBeforeInBlock(second))
    return false;
  begin->set(earlier);
  sum.replaceAllUsesWith(later);
  sum.erase();
  return true;
}

namespace {
class ChainSumsPass : public tile::impl::ChainSumsPassBase<ChainSumsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<arith::AddFOp> sums;
    getOperation().getBody().walk([&](arith::AddFOp sum) {
      if (isa<RankedTensorType>(sum.getType()))
        sums.push_back(sum);
    });
    for (arith::AddFOp sum : sums)
      if (!chain(sum, sum.getLhs(), sum.getRhs()))
        chain(sum, sum.getRhs(), sum.getLhs());
  }
};
} // namespace
