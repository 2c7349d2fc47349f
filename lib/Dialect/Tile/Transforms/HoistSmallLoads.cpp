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
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Loads of more elements would take too many registers for too long.
static constexpr int64_t kMaxElements = 128;
/// Bytes of all loads that wait in registers while products are made: those of
/// 256 columns of bf16, 32 registers of a thread.
static constexpr int64_t kMaxBytes = 512;

static int64_t getBytes(LoadOp load) {
  // A scalar is a tile of rank 0.
  int64_t bits = getTileElementType(load.getType()).getIntOrFloatBitWidth();
  for (int64_t size : getTileShape(load.getType()))
    bits *= size;
  return llvm::divideCeil(bits, 8);
}

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
  Operation *first = getNest(plan.getFirst()),
            *last = getNest(plan.blocks.back());
  if (!first)
    first = plan.products.front().dot;
  if (!last)
    last = plan.products.back().dot;
  SmallVector<Operation *> epilogue;
  scf::IfOp finish = findFinish(program, plan);
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    if (op != finish)
      epilogue.push_back(op);
    else
      for (Operation &inner : *finish.thenBlock())
        epilogue.push_back(&inner);
  // A part of the epilogue ends with a store. The loads of the first part go
  // before the contraction, and those of other parts while that takes few
  // registers; else to where the part before begins. There they are less often
  // in time, and what waits for special functions waits for them too: ptxas has
  // six counters for all that is on its way.
  // Not beside tiles that the epilogue loads, which need registers as well.
  bool hasTiles = llvm::any_of(epilogue, [](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    return load && getTileShape(load.getType()).size() > 1;
  });
  // Nor where the epilogue runs beside the products of another group: what
  // made it denser there made the products slower, what waited for its loads as
  // well.
  bool isBeside = program.getPipelineAttr().getGroups() > 1;
  int64_t bytes = 0, mostBytes = hasTiles || isBeside ? 0 : kMaxBytes;
  Operation *place = first, *begin = nullptr;
  SmallVector<std::pair<LoadOp, Operation *>> moves;
  for (Operation *op : epilogue) {
    // Adding up what others have of the sums needs the registers itself.
    if (isa<scf::ForOp>(op))
      continue;
    // Waiting for other blocks hides what is wanted after it, and registers are
    // short before: they hold all of the tile.
    if (isa<PanelReduceOp>(op)) {
      place = op;
      begin = nullptr;
      mostBytes = 0;
      continue;
    }
    if (!begin)
      begin = op;
    if (auto load = dyn_cast<LoadOp>(op); load && isSmall(load)) {
      bytes += getBytes(load);
      moves.push_back({load, bytes <= mostBytes ? first : place});
    }
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
