//===- ConsumerGroups.cpp - Groups that take turns at tiles ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for the loop over the tiles of a block, and
// the count of the stages that each tile takes.
//
//===----------------------------------------------------------------------===//

#include "ConsumerGroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

FailureOr<TileWalk> tile::findTileWalk(const ContractionPlan &plan,
                                       std::string &whyNot) {
  SmallVector<scf::ForOp> loops;
  if (plan.blocks.size() > 1) {
    whyNot = "each tile has several contractions";
    return failure();
  }
  for (Operation *op = plan.getFirst()->getParentOp(); !isa<ProgramOp>(op);
       op = op->getParentOp())
    loops.push_back(cast<scf::ForOp>(op));
  // A loop that carries sums belongs to the contraction.
  if (loops.empty() || loops.back().getNumResults() != 0) {
    whyNot = "a block has one tile only";
    return failure();
  }
  TileWalk walk;
  walk.tiles = loops.pop_back_val();
  walk.contraction.assign(loops.rbegin(), loops.rend());
  for (scf::ForOp loop : walk.contraction)
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!matchPattern(bound, m_Constant()) &&
          !walk.tiles.isDefinedOutsideOfLoop(bound)) {
        whyNot = "tiles differ in the length of their contraction";
        return failure();
      }
  return walk;
}

Value tile::emitStagesOfTile(OpBuilder &builder, Location loc,
                             const TileWalk &walk,
                             function_ref<Value(Value)> find) {
  Value stages = arith::ConstantIndexOp::create(builder, loc, 1);
  auto valueOf = [&](Value bound) -> Value {
    if (std::optional<int64_t> constant = getConstantIntValue(bound))
      return arith::ConstantIndexOp::create(builder, loc, *constant);
    return find(bound);
  };
  for (scf::ForOp loop : walk.contraction) {
    Value length =
        arith::SubIOp::create(builder, loc, valueOf(loop.getUpperBound()),
                              valueOf(loop.getLowerBound()));
    // Bounds are not negative: arith.ceildivui would do, but has no form of its
    // own below.
    Value step = valueOf(loop.getStep());
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value last = arith::AddIOp::create(
        builder, loc, length, arith::SubIOp::create(builder, loc, step, one));
    Value count = arith::DivUIOp::create(builder, loc, last, step);
    stages = arith::MulIOp::create(builder, loc, stages, count);
  }
  return stages;
}
