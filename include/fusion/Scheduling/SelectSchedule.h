//===- SelectSchedule.h - Chooses how a kernel is executed -----*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the choice of a schedule.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULING_SELECTSCHEDULE_H
#define FUSION_SCHEDULING_SELECTSCHEDULE_H

#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Analysis/KernelEstimate.h"
#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Support/Counts.h"

namespace mlir::fusion {

/// What schedules are chosen for.
struct ScheduleLimits {
  /// The chip.
  const TargetInfo *target = nullptr;
  /// A dynamic size is taken to be this to choose tiles.
  int64_t typicalExtent = kRepresentativeSize;
};

/// A schedule, with its price where it has loops only.
struct RankedSchedule {
  ScheduleAttr schedule;
  std::optional<KernelEstimate> estimate;
};

/// The schedules of `kernel`, the one predicted to be fastest first. Fails,
/// with a diagnostic, where no block can compute the kernel. A pure function of
/// its arguments.
FailureOr<std::vector<RankedSchedule>>
getSchedules(KernelOp kernel, const IterationSpace &space,
             const ScheduleLimits &limits);

/// What `estimate`, of a kernel, becomes with a schedule of that price.
EstimateAttr predictFor(EstimateAttr estimate, const KernelEstimate &priced);

/// What the estimate of `kernel` becomes with `choice`; null if it has none.
EstimateAttr predictFor(KernelOp kernel, const IterationSpace &space,
                        const RankedSchedule &choice,
                        const ScheduleLimits &limits);

} // namespace mlir::fusion

#endif // FUSION_SCHEDULING_SELECTSCHEDULE_H
