//===- LoadAhead.cpp - Loads one iteration ahead --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements loads one iteration ahead, into registers that the loop
// carries: what the asynchronous copies cannot take, or what is too little to
// be worth them.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

using namespace mlir;
using namespace mlir::fusion::tile;

void LoopPipeliner::loadAhead(ArrayRef<LoadOp> loads) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  // Before a loop that may not run at all nothing may be loaded.
  if (loads.empty() || !trips || trips->isZero())
    return;
  auto cloneAt = [&](Value position) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), position);
    SmallVector<Value> results;
    for (LoadOp load : loads) {
      for (Value symbol : load.getSymbols())
        computeAhead(rewriter, symbol, loop, mapping);
      results.push_back(rewriter.clone(*load, mapping)->getResult(0));
    }
    return results;
  };
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> first = cloneAt(loop.getLowerBound());
  auto yieldNext = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
    return SmallVector<Value>(first);
  };
  unsigned before = loop.getNumRegionIterArgs();
  FailureOr<LoopLikeOpInterface> carried =
      loop.replaceWithAdditionalYields(rewriter, first, false, yieldNext);
  assert(succeeded(carried) && "scf.for takes more values");
  loop = cast<scf::ForOp>(carried->getOperation());
  // The last iteration repeats its own loads: what lies beyond may not exist.
  rewriter.setInsertionPointToStart(loop.getBody());
  Value next = positionAhead(1, loop.getInductionVar());
  Value position = arith::SelectOp::create(rewriter, loc, isInLoop(next), next,
                                           loop.getInductionVar());
  SmallVector<Value> ahead = cloneAt(position);
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, load] : llvm::enumerate(loads)) {
    yield->setOperand(before + i, ahead[i]);
    rewriter.replaceOp(load, loop.getRegionIterArg(before + i));
  }
}

void LoopPipeliner::loadAsUsed(ArrayRef<LoadOp> loads) {
  for (LoadOp load : loads)
    for (Operation *user :
         llvm::make_early_inc_range(load.getResult().getUsers()))
      if (auto convert = dyn_cast<ConvertLayoutOp>(user)) {
        load.getResult().setType(convert.getType());
        rewriter.replaceOp(convert, load.getResult());
      }
}
