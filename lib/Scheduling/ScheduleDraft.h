//===- ScheduleDraft.h - Schedules under construction -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the schedules of all forms of kernels are made from:
// the facts of a kernel, and a schedule under construction.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_SCHEDULEDRAFT_H
#define FUSION_LIB_SCHEDULING_SCHEDULEDRAFT_H

#include "fusion/Scheduling/SelectSchedule.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fusion {

/// The facts of a kernel that its schedule depends on.
struct KernelFacts {
  SmallVector<int64_t> extents;
  /// Bytes of operands and results whose fastest dimension this is.
  SmallVector<double> contiguousBytes;
  /// Widest element, in bytes, of an operand or result.
  int64_t widestElement = 1;
  int64_t narrowestElement = 8;
  /// Root dimensions that some operand of rank 1 or more does not have, so that
  /// tiles along them read the operand again.
  llvm::SmallBitVector repeats;
  /// Operations in the bodies of the kernel's structured operations.
  int64_t operations = 0;
  /// The contraction, if the kernel has one, with its dimensions by role.
  linalg::LinalgOp contraction;
  SmallVector<unsigned> rows, columns, contracted;
  bool hasReduction = false;
};

/// A schedule under construction.
struct Draft {
  SmallVector<AxisKind> kinds;
  SmallVector<int64_t> tiles;
  SmallVector<int64_t> vectors;
  /// Blocks that share the walk along a dimension.
  SmallVector<int64_t> splits;

  explicit Draft(unsigned dims)
      : kinds(dims, AxisKind::Grid), tiles(dims, 1), vectors(dims, 1),
        splits(dims, 1) {}

  int64_t tileElements() const {
    int64_t elements = 1;
    for (int64_t tile : tiles)
      elements *= tile;
    return elements;
  }

  ScheduleAttr finish(MLIRContext *context, Strategy strategy,
                      int64_t warps) const {
    SmallVector<AxisAttr> axes;
    for (auto [kind, tile, vector, split] :
         llvm::zip(kinds, tiles, vectors, splits))
      axes.push_back(AxisAttr::get(context, kind, tile, 1,
                                   std::min(vector, tile), 1, 1, split));
    return ScheduleAttr::get(context, strategy, axes, warps);
  }
};

/// Blocks of the grid that a draft gives.
inline double gridBlocks(const Draft &draft, const KernelFacts &facts) {
  double blocks = 1;
  for (unsigned i = 0; i < draft.kinds.size(); ++i)
    if (draft.kinds[i] == AxisKind::Grid)
      blocks *= llvm::divideCeil(facts.extents[i], draft.tiles[i]);
  return blocks;
}

/// Warps so that a thread holds about `perThread` elements of the tile.
inline int64_t warpsFor(int64_t elements, int64_t perThread,
                        int64_t most = 32) {
  int64_t warps = 1;
  while (warps < most && elements > warps * 32 * perThread)
    warps *= 2;
  return warps;
}

/// The schedule of a kernel that reduces, but neither windows nor products.
ScheduleAttr scheduleReduction(KernelOp kernel, const IterationSpace &space,
                               const KernelFacts &facts,
                               const ScheduleLimits &limits);

/// The schedule of a kernel some operations of which scan along one dimension:
/// blocks walk it in tiles, which they scan together, where all of them are
/// known to be associative, and else one element after the other.
ScheduleAttr scheduleScan(KernelOp kernel, const IterationSpace &space,
                          const KernelFacts &facts,
                          const ScheduleLimits &limits);

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_SCHEDULEDRAFT_H
