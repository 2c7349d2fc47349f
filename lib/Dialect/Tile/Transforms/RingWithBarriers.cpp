//===- RingWithBarriers.cpp - Stages with barriers ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the ring whose stages have barriers of their own:
//
//   wait until the stage of iteration i is full; read it; say so
//   multiply
//   wait until all warps have read it; start the copies of iteration i + S
//
// Warps that run ahead of others by up to one iteration keep different units of
// the chip busy; behind a barrier all would read, unpack and multiply at once.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

using namespace mlir;
using namespace mlir::fusion::tile;

bool LoopPipeliner::unpacksOnce() {
  auto isComputed = [](Value operand) {
    if (auto convert = operand.getDefiningOp<ConvertLayoutOp>())
      operand = convert.getValue();
    return !operand.getDefiningOp<LoadOp>();
  };
  return llvm::all_of(loop.getBody()->getOps<DotOp>(), [&](DotOp dot) {
    return getTileShape(dot.getType()).size() == 3 &&
           (isComputed(dot.getA()) || isComputed(dot.getB()));
  });
}

void LoopPipeliner::takeTurnsWithBarriers() {
  ring = MakeRingOp::create(
      rewriter, loc, RingType::get(rewriter.getContext(), stages, {}),
      /*offset=*/IntegerAttr(), /*multicast=*/false, /*by_threads=*/true,
      /*groups=*/IntegerAttr());
  fillFirstStages(stages, Readers::Block);
  Value zero = constant(0), one = constant(1), all = constant(stages);
  carryStage();
  Value turn = carry(zero, [&](OpBuilder &builder, Value turn) -> Value {
    return arith::AddIOp::create(builder, loc, turn, one);
  });
  // Each value that is carried makes the loop, and all its values, anew.
  Value stage = loop.getRegionIterArgs().drop_back().back();
  rewriter.setInsertionPointToStart(loop.getBody());
  WaitOp::create(rewriter, loc, TypeRange(), ring, turn);
  readStages(stage);
  for (Operation &op : *loop.getBody())
    if (isa<LocalLoadOp>(op))
      rewriter.setInsertionPointAfter(&op);
  ReleaseOp::create(rewriter, loc, ring, turn);
  // Behind the products: nobody waits for these copies yet.
  for (Operation &op : *loop.getBody())
    if (isa<DotOp>(op))
      rewriter.setInsertionPointAfter(&op);
  Value next = arith::AddIOp::create(rewriter, loc, turn, all);
  AcquireOp::create(rewriter, loc, TypeRange(), ring, next);
  Value position = positionAhead(stages, loop.getInductionVar());
  startCopies(position, stage, isInLoop(position));
  eraseLoads();
  CopyArriveOp::create(rewriter, loc, ring, next);
}
