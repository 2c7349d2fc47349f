//===- MovedBits.cpp - What it takes to move bits between lanes -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the price of bits that lanes of a warp compute for each
// other (`fusion-tile-assign-layouts`).
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/MovedBits.h"

#include "fusion/Analysis/OpCosts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

/// Bits of `region` that follow from indices alone, and that others read or
/// choose by.
static unsigned countBitsOfIndices(Region &region,
                                   function_ref<bool(Operation *)> isKnown) {
  if (!region.hasOneBlock())
    return 0;
  llvm::SmallPtrSet<Operation *, 32> ofIndices;
  auto isOfIndices = [&](Value value) {
    return value.getParentRegion() != &region ||
           ofIndices.contains(value.getDefiningOp());
  };
  for (Operation &op : region.front().without_terminator())
    if (isa<linalg::IndexOp>(op) ||
        (op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         op.getNumResults() == 1 && op.getResult(0).getType().isIntOrIndex() &&
         llvm::all_of(op.getOperands(), isOfIndices)))
      ofIndices.insert(&op);
  return llvm::count_if(ofIndices, [&](Operation *op) {
    return !isKnown(op) && op->getResult(0).getType().isInteger(1) &&
           llvm::any_of(op->getUsers(), [&](Operation *user) {
             return !ofIndices.contains(user);
           });
  });
}

double
mlir::fusion::countInstructions(Region &region, double neighbours,
                                double together,
                                function_ref<bool(Operation *)> isKnown) {
  auto count = [&](double held) {
    auto countSharers = [&](Operation *op) {
      return isKnown(op) ? std::numeric_limits<double>::infinity() : 1.0;
    };
    return getRegionCost(region, countSharers, held).instructions;
  };
  unsigned bits = countBitsOfIndices(region, isKnown);
  if (bits == 0)
    return count(neighbours);
  double own = count(std::min(neighbours, together));
  if (together < kMostNeighbours)
    return own;
  return std::min(own, count(kMostNeighbours) + bits * kMovedBitInstructions);
}
