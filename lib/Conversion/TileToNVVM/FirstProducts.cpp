//===- FirstProducts.cpp - Sums that begin with a product -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of sums whose zeros need not be written.
//
//===----------------------------------------------------------------------===//

#include "FirstProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

static bool isZeroSplat(Value value) {
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat && (matchPattern(splat.getValue(), m_PosZeroFloat()) ||
                   matchPattern(splat.getValue(), m_Zero()));
}

/// True if `loop` is known to run at least once.
static bool runs(scf::ForOp loop) {
  APInt lower, upper;
  return matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
         matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) &&
         lower.slt(upper);
}

/// True if the epilogue has all of a tile in registers while it waits for other
/// blocks: in those of the sums, which must not live on to the next tile.
static bool waitsWithTile(tile::ProgramOp program) {
  return program
      .walk([](tile::PanelReduceOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

std::optional<SmallVector<scf::ForOp, 2>>
mlir::fusion::findSumLoops(tile::MmaAsyncOp product) {
  if (waitsWithTile(product->getParentOfType<tile::ProgramOp>()))
    return std::nullopt;
  SmallVector<scf::ForOp, 2> loops;
  Value sums = product.getAcc();
  Operation *reader = product;
  while (!isZeroSplat(sums)) {
    auto argument = dyn_cast<BlockArgument>(sums);
    auto loop = argument
                    ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                    : scf::ForOp();
    if (!loop || !runs(loop) || !sums.hasOneUse() ||
        reader->getBlock() != loop.getBody())
      return std::nullopt;
    OpOperand *init = loop.getTiedLoopInit(argument);
    if (!init)
      return std::nullopt;
    loops.push_back(loop);
    sums = init->get();
    reader = loop;
  }
  return loops;
}

/// True when `value`, of the block of `op`, is kept rounded and nothing reads
/// it from `op` on.
static bool isKeptRounded(Value value, Operation *op) {
  bool isKept = llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<arith::TruncFOp>(user) &&
           llvm::any_of(user->getUsers(), llvm::IsaPred<tile::PinOp>);
  });
  return isKept && llvm::all_of(value.getUsers(), [&](Operation *user) {
           Operation *reader = op->getBlock()->findAncestorOpInBlock(*user);
           return reader && reader->isBeforeInBlock(op);
         });
}

Value mlir::fusion::findEarlierSums(Operation *op, Type type) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (!isa<scf::ForOp, tile::MmaWaitOp>(before))
      continue;
    for (OpResult result : before->getResults()) {
      if (result.getType() != type || !isKeptRounded(result, op))
        continue;
      Value sums = result;
      while (auto loop = sums.getDefiningOp<scf::ForOp>())
        sums = loop.getYieldedValues()[cast<OpResult>(sums).getResultNumber()];
      if (sums.getDefiningOp<tile::MmaWaitOp>())
        return result;
    }
  }
  return nullptr;
}

bool mlir::fusion::isSumOfFirstProduct(OpOperand &init) {
  if (!isZeroSplat(init.get()))
    return false;
  OpOperand *use = &init;
  while (auto loop = dyn_cast<scf::ForOp>(use->getOwner())) {
    BlockArgument argument = loop.getTiedLoopRegionIterArg(use);
    if (!argument || !argument.hasOneUse())
      return false;
    use = &*argument.use_begin();
  }
  auto product = dyn_cast<tile::MmaAsyncOp>(use->getOwner());
  return product && use->get() == product.getAcc() &&
         findSumLoops(product).has_value();
}
