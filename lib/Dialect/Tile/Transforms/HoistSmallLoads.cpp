//===- HoistSmallLoads.cpp - Loads of the epilogue before they are due ----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the early issue of the small loads that follow a
// contraction: biases, scales and the like.
//
//===----------------------------------------------------------------------===//

#include "RolePlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tile;

/// Loads of more elements would take too many registers for too long.
static constexpr int64_t kMaxElements = 128;

static bool isSmall(LoadOp load) {
  ArrayRef<int64_t> shape = getTileShape(load.getType());
  return shape.size() <= 1 && (shape.empty() || shape[0] <= kMaxElements) &&
         load.getIndices().empty();
}

/// True when all that `op` needs exists before `place`, of the same block or of
/// one around it.
static bool isReadyAt(Operation *op, Operation *place) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (!producer)
      return true;
    if (producer->getBlock() == place->getBlock())
      return producer->isBeforeInBlock(place);
    return producer->getBlock() != op->getBlock();
  });
}

/// The outermost loop that carries the sums of a contraction, or null when
/// there is none.
static Operation *getNest(Block *products) {
  auto carriesTiles = [](Operation *op) {
    return isa<scf::ForOp>(op) &&
           llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  };
  Operation *nest = nullptr;
  for (Operation *op = products->getParentOp(); carriesTiles(op);
       op = op->getParentOp())
    nest = op;
  return nest;
}

void tile::hoistSmallLoads(ProgramOp program, const ContractionPlan &plan) {
  // A sum of a single step has no loop.
  Operation *first = getNest(plan.block), *last = first;
  if (!first) {
    first = plan.products.front().dot;
    last = plan.products.back().dot;
  }
  // A part of the epilogue ends with a store. The loads of the first part go
  // before the contraction, those of each other part to where the part before
  // begins: what they take of registers is little, and they are there in time.
  Operation *place = first, *begin = nullptr;
  SmallVector<std::pair<LoadOp, Operation *>> moves;
  SmallVector<Operation *> epilogue;
  scf::IfOp finish = findFinish(program, plan);
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    if (op != finish)
      epilogue.push_back(op);
    else
      for (Operation &inner : *finish.thenBlock())
        epilogue.push_back(&inner);
  for (Operation *op : epilogue) {
    // Adding up what others have of the sums needs the registers itself.
    if (isa<scf::ForOp>(op))
      continue;
    if (!begin)
      begin = op;
    if (auto load = dyn_cast<LoadOp>(op); load && isSmall(load))
      moves.push_back({load, place});
    if (isa<StoreOp>(op)) {
      place = begin;
      begin = nullptr;
    }
  }
  // The last first: a load may be where a later one goes.
  for (auto [load, target] : llvm::reverse(moves))
    if (isReadyAt(load, target))
      load->moveBefore(target);
}
