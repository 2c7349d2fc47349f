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
#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Dialect/Fusion/FusionOps.h"

namespace mlir::fusion {

/// Limits of the chip that a schedule must respect and fill.
struct ScheduleLimits {
  int64_t multiprocessors = 132;
  /// A dynamic size is taken to be this to choose tiles.
  int64_t typicalExtent = 1024;
  /// Elements of one tile that a block may keep in registers.
  int64_t residentElements = 65536;
  /// The chip, for kernels on tensor cores; without it there are none.
  const TargetInfo *target = nullptr;
};

/// The schedule of `kernel`. A pure function of its arguments.
ScheduleAttr selectSchedule(KernelOp kernel, const IterationSpace &space,
                            const ScheduleLimits &limits);

/// All schedules that selectSchedule chooses from, the chosen one first.
SmallVector<ScheduleAttr> getSchedules(KernelOp kernel,
                                       const IterationSpace &space,
                                       const ScheduleLimits &limits);

} // namespace mlir::fusion

#endif // FUSION_SCHEDULING_SELECTSCHEDULE_H
