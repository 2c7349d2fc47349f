//===- ScanSchedule.cpp - Schedules of scans ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of a schedule for kernels that scan. The
// grid has all dimensions but the scanned one, which each block walks, or
// several together.
//
//===----------------------------------------------------------------------===//

#include "ScheduleDraft.h"
#include "fusion/Analysis/ScanTiles.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;

/// More rows than this are as good as so many.
static constexpr uint64_t kMany = uint64_t(1) << 40;

/// Why several blocks cannot walk what `kernel` scans together; empty: they
/// can.
static StringRef getSplitObstacle(const IterationSpace &space,
                                  const ScanSizes &sizes) {
  for (const IterationDim &dim : space.getDims())
    if (!dim.getStaticExtent())
      return "its sizes are known at run time only";
  if (sizes.stateWords == 0)
    return "a state has more than 32 bits";
  return "";
}

/// The tiles of one block, or of several where they would and can walk
/// together; a remark where they cannot.
static ScanTiles chooseTiles(KernelOp kernel, const IterationSpace &space,
                             const TargetInfo &target, ScanSizes sizes) {
  StringRef obstacle = getSplitObstacle(space, sizes);
  if (sizes.stateBytes == 0 || obstacle.empty())
    return chooseScanTiles(sizes, target);
  sizes.stateWords = 1;
  bool isWorth = chooseScanTiles(sizes, target).split > 1;
  sizes.stateWords = 0;
  auto func = kernel->getParentOfType<FunctionOpInterface>();
  if (isWorth && func) {
    auto remark =
        remark::missed(kernel.getLoc(), remark::RemarkOpts::name("unsplit-scan")
                                            .category("fusion-schedule")
                                            .function(func.getName()));
    if (remark)
      remark << ("one block walks a long scanned dimension: " + obstacle).str();
  }
  return chooseScanTiles(sizes, target);
}

ScheduleAttr mlir::fusion::scheduleScan(KernelOp kernel,
                                        const IterationSpace &space,
                                        const KernelFacts &facts,
                                        const ScheduleLimits &limits) {
  unsigned numDims = space.getNumDims(), scanned = 0;
  auto isOuter = [&](unsigned dim) {
    return !space.getDims()[dim].scan && !space.getDims()[dim].reduction;
  };
  for (unsigned i = 0; i < numDims; ++i)
    if (space.getDims()[i].scan)
      scanned = i;
  unsigned fastest = scanned;
  for (unsigned i = 0; i < numDims; ++i)
    if (isOuter(i) && facts.contiguousBytes[i] > facts.contiguousBytes[fastest])
      fastest = i;
  ScanSizes sizes;
  describeStates(llvm::to_vector(kernel.getBlock().getOps<ScanOp>()), sizes);
  sizes.narrowestElement = facts.narrowestElement;
  sizes.scanned = facts.extents[scanned];
  for (unsigned i = 0; i < numDims; ++i) {
    int64_t &size = i == fastest ? sizes.columns : sizes.rows;
    if (isOuter(i))
      size = static_cast<int64_t>(std::min<uint64_t>(
          llvm::SaturatingMultiply<uint64_t>(size, facts.extents[i]), kMany));
  }
  ScanTiles chosen = chooseTiles(kernel, space, *limits.target, sizes);

  Draft draft(numDims);
  for (unsigned i = 0; i < numDims; ++i)
    if (!isOuter(i))
      draft.kinds[i] = AxisKind::Loop;
  draft.tiles[scanned] = chosen.scanned;
  draft.splits[scanned] = chosen.split;
  if (fastest != scanned)
    draft.tiles[fastest] = chosen.columns;
  // Rows from the fastest dimension of the primary result outwards.
  Value primary = kernel.getStoredValues()[space.getPrimaryResult()];
  int64_t rows = chosen.rows;
  for (int64_t i = cast<RankedTensorType>(primary.getType()).getRank();
       i-- > 0;) {
    unsigned dim = space.getDimOfTensor(primary, i);
    if (!isOuter(dim) || dim == fastest)
      continue;
    draft.tiles[dim] = std::min(rows, nextPowerOfTwo(facts.extents[dim]));
    rows /= draft.tiles[dim];
  }
  return draft.finish(kernel.getContext(), Strategy::Scan, chosen.warps);
}
