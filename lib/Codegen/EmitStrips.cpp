//===- EmitStrips.cpp - Elements of strips, one after the other -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the part of the tile emitter that computes the elements
// of strips, and walks from strip to strip.
//
//===----------------------------------------------------------------------===//

#include "RollLoads.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// Moves the loads of `block` before its arithmetic: they are in flight
/// together, whatever of the strips waits for them.
static void hoistLoads(Block &block) {
  auto computes = [](Operation &op) {
    return !isa<tile::LoadOp, arith::ConstantOp>(op) &&
           llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  };
  auto first = llvm::find_if(block, computes);
  if (first == block.end())
    return;
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(first), block.end())))
    if (isa<tile::LoadOp>(op) &&
        llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *producer = operand.getDefiningOp();
          return !producer || producer->getBlock() != &block ||
                 producer->isBeforeInBlock(&*first);
        }))
      op.moveBefore(&*first);
}

bool TileEmitter::advanceStrips() {
  for (Strip &strip : llvm::reverse(strips)) {
    if (++strip.position < strip.size)
      return true;
    strip.position = 0;
  }
  return false;
}

LogicalResult
TileEmitter::emitStrips(function_ref<LogicalResult()> storeElement) {
  Block &block = *scopes.back().block;
  auto walked =
      llvm::find_if(strips, [](const Strip &strip) { return strip.steps > 1; });
  if (walked != strips.end()) {
    insertAt(scopes.size() - 1);
    unsigned axis = openLoop(
        std::nullopt, builder.getAffineConstantExpr(walked->steps), 1, {});
    walked->step = builder.getAffineDimExpr(axis);
  }
  // What an element shares with those before is known by its coordinates.
  do {
    if (failed(storeElement()))
      return failure();
  } while (advanceStrips());
  if (walked != strips.end()) {
    walked->step = nullptr;
    rollLoads(closeLoop({}));
  }
  hoistLoads(block);
  return success();
}
