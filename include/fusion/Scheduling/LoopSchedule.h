//===- LoopSchedule.h - How kernels without products run --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the schedules of kernels without products: which there
// are, what each costs, and the one that planning prices a kernel by and that
// it is then run with.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULING_LOOPSCHEDULE_H
#define FUSION_SCHEDULING_LOOPSCHEDULE_H

#include "fusion/Analysis/KernelEstimate.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Support/Hardware.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

namespace mlir::fusion {

/// What is done with one dimension of a kernel's body (#fusion.axis).
struct LoopAxis {
  AxisKind kind = AxisKind::Grid;
  int64_t tile = 1;
  int64_t vector = 1;
  int64_t strip = 1;
  int64_t steps = 1;
  int64_t split = 1;
  int64_t cluster = 1;
  int64_t stages = 1;
  bool limited = false;
  bool descending = false;
  bool parted = false;
};

/// How the products of a walk are made and fed (#fusion.mma).
struct WalkProducts {
  MmaKind kind = MmaKind::Fma;
  int64_t stages = 1;
  int64_t skew = 0;
  int64_t group = 1;
  /// Groups of warps that have rows of a tile.
  int64_t groups = 1;
  /// Blocks that have one tile after the other; 0: each has one.
  int64_t blocks = 0;
  /// Blocks that share the walk of a tile, and are no cluster.
  int64_t split = 1;
};

/// How a kernel is executed that walks its dimensions (#fusion.schedule).
struct LoopSchedule {
  Strategy strategy = Strategy::Pointwise;
  /// One for each dimension of the kernel's body.
  SmallVector<LoopAxis> axes;
  int64_t warps = 1;
  /// Of contractions that feed each other in one walk.
  std::optional<WalkProducts> products;

  LoopSchedule() = default;
  LoopSchedule(Strategy strategy, unsigned dims)
      : strategy(strategy), axes(dims) {}

  LoopAxis &operator[](unsigned dim) { return axes[dim]; }
  const LoopAxis &operator[](unsigned dim) const { return axes[dim]; }
  /// Elements of a block's tile.
  int64_t tileElements() const;
  /// The same as an attribute.
  ScheduleAttr toAttr(MLIRContext *context) const;
};

/// Elements of a walk that a block of so many warps looks at together, where
/// data say which of them count (`limited` of a `loop` dimension): each thread
/// at a few.
constexpr int64_t countLookedAt(int64_t warps) {
  return std::clamp<int64_t>(warps * kWarpThreads * 8, 128, 4096);
}

/// Of those that count, so many are added in a step.
constexpr int64_t kCountingAtOnce = 4;

/// Elements of a window up to which the steps of its walk are written out;
/// where threads have strips, all are.
constexpr int64_t kMaxWrittenOut = 32;

/// A schedule and its price.
struct PricedSchedule {
  LoopSchedule schedule;
  KernelEstimate estimate;
};

/// The schedules of `body`, which has no product and no problem, on `target`,
/// the fastest first. Never empty.
std::vector<PricedSchedule> getLoopSchedules(const KernelBody &body,
                                             const TargetInfo &target);

/// The schedules of `body`, in which contractions feed contractions
/// (`hasCascade`), on `target`, the fastest first; empty where they share no
/// walk.
std::vector<PricedSchedule> getCascadeSchedules(const KernelBody &body,
                                                const TargetInfo &target);

/// The price of `body`, which has no problem: of its product, or of the
/// schedule that its loops will have. Infinite where contractions feed
/// contractions and share no walk.
KernelEstimate priceKernel(const KernelBody &body, const TargetInfo &target);

/// True when `body`, whose dimensions side by side are one already, has no
/// product, and is predicted to be faster with its results as one dimension.
bool isFasterFlat(const KernelBody &body, const TargetInfo &target);

/// What scheduling says of scans that it had to leave to one block; empty
/// otherwise.
StringRef getUnsplitScanReason(const KernelBody &body,
                               const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_SCHEDULING_LOOPSCHEDULE_H
