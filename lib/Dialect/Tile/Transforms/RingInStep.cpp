//===- RingInStep.cpp - A ring walked in step -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the ring of stages whose readers wait for one another: a
// barrier at the head of each iteration says that the stage of the last one has
// been read, and what other threads have copied into this one is there.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

using namespace mlir;
using namespace mlir::fusion::tile;

void LoopPipeliner::takeTurns(Readers readers) {
  fillFirstStages(stages - 1, readers);
  Value zero = constant(0), one = constant(1), last = constant(stages - 1);
  Value stage = carryStage();
  rewriter.setInsertionPointToStart(loop.getBody());
  CopyWaitOp::create(rewriter, loc, stages - 2);
  if (readers != Readers::Threads)
    BarrierOp::create(rewriter, loc,
                      /*within_warp=*/readers == Readers::Warps);
  Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                        stage, zero);
  Value before = arith::SubIOp::create(rewriter, loc, stage, one);
  Value target = arith::SelectOp::create(rewriter, loc, isFirst, last, before);
  Value position = positionAhead(stages - 1, loop.getInductionVar());
  startCopies(position, target, isInLoop(position));
  readStages(stage);
  eraseLoads();
}
