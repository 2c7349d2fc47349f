//===- LoopFamilies.h - Schedules of each form of kernel --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the schedules to choose from, for each form of kernel
// without products, and what they are made with.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_LOOPFAMILIES_H
#define FUSION_LIB_SCHEDULING_LOOPFAMILIES_H

#include "LoopFacts.h"
#include "fusion/Support/Counts.h"

namespace mlir::fusion {

/// What threads have to keep, at most, from one sweep along a dimension to a
/// later one.
struct KeptValues {
  /// Registers of each element, narrow ones packed; results of all.
  double elements = 0;
  int64_t results = 0;
  /// Registers of each element for operands that are not needed before a later
  /// sweep.
  double late = 0;
};

/// Counts what sweeps along `dim` keep.
KeptValues countKept(const LoopFacts &facts, unsigned dim);

/// Blocks of the grid that a schedule gives, without those that share a walk.
double gridBlocks(const LoopSchedule &schedule, const LoopFacts &facts);

/// Warps so that a thread holds about `perThread` elements of the tile.
inline int64_t warpsFor(int64_t elements, int64_t perThread,
                        int64_t most = 32) {
  int64_t warps = 1;
  while (warps < most && elements > warps * kWarpThreads * perThread)
    warps *= 2;
  return warps;
}

using LoopSchedules = SmallVector<LoopSchedule>;

/// Schedules of kernels that neither reduce nor scan.
LoopSchedules getPointwiseSchedules(const LoopFacts &facts);

/// Schedules of kernels that reduce, but no windows.
LoopSchedules getReductionSchedules(const LoopFacts &facts);

/// Schedules of kernels that reduce a dimension in granules, each of which a
/// block walks, and others beside it, which it holds.
LoopSchedules getGranuleSchedules(const LoopFacts &facts);

/// The schedule of a kernel that reduces windows; empty for any other.
LoopSchedules getWindowSchedules(const LoopFacts &facts);

/// The schedule of a kernel some operations of which scan along one dimension:
/// blocks walk it in tiles, which they scan together, where all of them are
/// known to be associative, and else one element after the other.
LoopSchedules getScanSchedules(const LoopFacts &facts);

/// The time of a kernel with a schedule.
KernelEstimate priceSchedule(const LoopFacts &facts,
                             const LoopSchedule &schedule);

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_LOOPFAMILIES_H
