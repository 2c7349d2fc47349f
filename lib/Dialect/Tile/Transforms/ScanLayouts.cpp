//===- ScanLayouts.cpp - How threads hold what they scan ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the layouts in which threads hold runs of what is
// scanned, and what a scan costs in a layout.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Transforms/ScanLayouts.h"

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/Transforms/BitDealer.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

LinearLayout tile::getRunLayout(ArrayRef<int64_t> shape, unsigned scanned,
                                unsigned fastest, int64_t vector,
                                int64_t numWarps) {
  SmallVector<unsigned> order;
  if (fastest != scanned)
    order.push_back(fastest);
  for (unsigned dim = shape.size(); dim-- > 0;)
    if (dim != fastest && dim != scanned)
      order.push_back(dim);
  BitDealer dealer(shape, numWarps);
  if (fastest != scanned) {
    dealer.giveRegisters(fastest, llvm::Log2_64(vector));
    dealer.giveLanes(fastest);
  }
  // What is left of a scan to lanes costs less than what is left to warps.
  for (unsigned dim : order)
    dealer.giveWarps(dim);
  order.push_back(scanned);
  dealer.giveRest(order);
  // Rows of a warp lie side by side, so that its accesses touch few lines.
  for (unsigned dim : order)
    if (dim != fastest && dim != scanned)
      dealer.followByLanes(dim);
  dealer.holdRuns(scanned);
  return dealer.getLayout();
}

LinearLayout tile::getScannedLayout(const LinearLayout &layout, unsigned dim,
                                    int64_t numWarps) {
  if (getScanPlan(layout, dim))
    return layout;
  SmallVector<int64_t, 4> shape = layout.shape();
  unsigned fastest = dim + 1 == shape.size() ? 0 : shape.size() - 1;
  return getRunLayout(shape, dim, fastest, /*vector=*/1, numWarps);
}

/// Instructions, about, that combine two states.
static double countCombination(Block &combiner, double ofFunction) {
  double count = 0;
  for (Operation &inner : combiner.without_terminator())
    count += isa<math::MathDialect>(inner.getDialect()) &&
                     !isa<math::AbsFOp, math::FmaOp>(inner)
                 ? ofFunction
                 : 1;
  return count;
}

ScanWork ScanWork::of(Block &combiner) {
  ScanWork work;
  work.states = static_cast<double>(combiner.getNumArguments()) / 2;
  work.operations = countCombination(combiner, /*ofFunction=*/0);
  work.functions =
      countCombination(combiner, /*ofFunction=*/1) - work.operations;
  return work;
}

ScanWork ScanWork::of(ScanOp op) {
  ScanWork work = of(op.getCombiner().front());
  work.inOrder = op.getInOrder();
  work.forTotals = op.getInits().empty();
  return work;
}

double tile::countScanInstructions(const ScanWork &scan, unsigned dim,
                                   const LinearLayout &layout,
                                   const fusion::FittedConstants &fitted) {
  std::optional<ScanPlan> plan = getScanPlan(layout, dim);
  if (!plan)
    return std::numeric_limits<double>::infinity();
  double one =
      scan.operations + scan.functions * fitted.loops.functionInstructions;
  double step = one + fitted.loops.laneStepInstructions * scan.states;
  auto run = static_cast<double>(int64_t(1) << plan->regBits);
  // A thread's elements first, then those of lanes, then each element again.
  double ofLanes = plan->laneBits * step / run;
  double count = one * (run - 1) / run + ofLanes;
  if (!plan->laneBits && !plan->warpBits)
    return scan.inOrder ? one : count + one;
  if (!scan.forTotals)
    count += one + (plan->laneBits ? step / run : 0);
  unsigned rounds = layout.dimLog2(dim) - plan->bitsOfWarp();
  auto held = static_cast<double>(int64_t(1)
                                  << (plan->regBits + rounds - plan->warpBits));
  if (!plan->warpBits)
    return count + (rounds ? step / run : 0);
  return count +
         ((rounds + 1) * step + fitted.layouts.warpScanInstructions) / held;
}
