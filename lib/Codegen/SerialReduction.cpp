//===- SerialReduction.cpp - Reductions in their order --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reductions whose elements cannot be combined in any
// other order: loops carry tiles of all results.
//
//===----------------------------------------------------------------------===//

#include "SerialReduction.h"

#include "BodyEvaluator.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<Tile> mlir::fusion::emitSerialReduction(
    linalg::LinalgOp op, unsigned result, ArrayRef<AffineExpr> coords,
    Coords loopCoords, TileEvaluator &evaluator, WalkBuilder &walks) {
  TileBuilder &builder = evaluator.getBuilder();
  const ScheduledKernel &kernel = builder.getKernel();
  const TileAxes &axes = builder.getAxes();
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  SmallVector<unsigned> resultAxes = axes.getAxesOf(coords);
  SmallVector<Value> carried;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    OpOperand *init = op.getDpsInitOperand(i);
    FailureOr<Tile> tile = evaluator.evaluate(
        init->get(), getOperandCoords(op, *init, loopCoords));
    if (failed(tile))
      return failure();
    carried.push_back(builder.broadcast(*tile, resultAxes).value);
  }
  for (unsigned loop : loops) {
    unsigned dim = kernel.getSpace().getDimOfLoop(op, loop);
    scf::ForOp forOp;
    unsigned axis = walks.openLoop(kernel.getDim(dim).extent, carried, &forOp);
    loopCoords[loop] = builder.getAffineDimExpr(axis);
    carried.assign(forOp.getRegionIterArgs().begin(),
                   forOp.getRegionIterArgs().end());
  }
  BodyEvaluator body(evaluator, op, loopCoords);
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    body.setTile(op.getMatchingBlockArgument(op.getDpsInitOperand(i)),
                 {carried[i], resultAxes});
  SmallVector<Value> next;
  for (Value yielded : op.getBlock()->getTerminator()->getOperands()) {
    FailureOr<Tile> tile = body.evaluate(yielded);
    if (failed(tile))
      return failure();
    next.push_back(builder.broadcast(*tile, resultAxes).value);
  }
  for (unsigned i = 0; i < loops.size(); ++i)
    next = llvm::to_vector_of<Value>(walks.closeLoop(next).getResults());
  for (auto [i, value] : llvm::enumerate(next))
    evaluator.remember(op->getResult(i), coords, {value, resultAxes});
  return Tile{next[result], resultAxes};
}
