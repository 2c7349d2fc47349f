//===- LoadAhead.cpp - Loads of the next iteration ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the software pipelining of what a loop loads: a walk
// whose steps wait for something else, such as other blocks, has its next tile
// on the way meanwhile.
//
//===----------------------------------------------------------------------===//

#include "LoadAhead.h"

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// Adds to `slice` the operations of `loop`'s body that `value` is computed by;
/// false when it depends on more than the iteration.
static bool addSlice(scf::ForOp loop, Value value,
                     llvm::SetVector<Operation *> &slice) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
      !isPure(op))
    return false;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) {
        return addSlice(loop, operand, slice);
      }))
    return false;
  slice.insert(op);
  return true;
}

/// The induction variable of the last iteration, when it is known that there
/// are two or more.
static std::optional<int64_t> findLast(scf::ForOp loop) {
  APInt begin, end, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&begin)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&end)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
      (begin + step).sge(end))
    return std::nullopt;
  int64_t first = begin.getSExtValue(), size = step.getSExtValue();
  return first + (end.getSExtValue() - 1 - first) / size * size;
}

scf::ForOp mlir::fusion::loadAhead(scf::ForOp loop) {
  std::optional<int64_t> last = findLast(loop);
  if (!last)
    return loop;
  // Each after what it depends on.
  llvm::SetVector<Operation *> slice;
  SmallVector<tile::LoadOp> loads;
  for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
    llvm::SetVector<Operation *> own;
    if (!llvm::all_of(load->getOperands(), [&](Value operand) {
          return addSlice(loop, operand, own);
        }))
      continue;
    slice.insert(own.begin(), own.end());
    loads.push_back(load);
  }
  if (loads.empty())
    return loop;

  Location loc = loop.getLoc();
  auto loadAt = [&](OpBuilder &builder, Value iteration) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), iteration);
    for (Operation *op : slice)
      builder.clone(*op, mapping);
    SmallVector<Value> tiles;
    for (tile::LoadOp load : loads)
      tiles.push_back(builder.clone(*load, mapping)->getResult(0));
    return tiles;
  };
  IRRewriter rewriter(loop);
  SmallVector<Value> first = loadAt(rewriter, loop.getLowerBound());
  auto carry = [&](OpBuilder &builder, Location,
                   ArrayRef<BlockArgument> carried) {
    // The last iteration loads its own tiles again: what it read is in a cache,
    // and past the end there may be no memory.
    builder.setInsertionPointToStart(loop.getBody());
    Value next = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                       loop.getStep());
    next = arith::MinUIOp::create(
        builder, loc, next,
        arith::ConstantIndexOp::create(builder, loc, *last));
    SmallVector<Value> tiles = loadAt(builder, next);
    for (auto [load, tile] : llvm::zip_equal(loads, carried))
      rewriter.replaceOp(load, tile);
    return tiles;
  };
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, carry);
  return cast<scf::ForOp>(carrying->getOperation());
}
