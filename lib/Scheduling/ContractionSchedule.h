//===- ContractionSchedule.h - Schedules of contractions --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the schedules of kernels around a contraction.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_CONTRACTIONSCHEDULE_H
#define FUSION_LIB_SCHEDULING_CONTRACTIONSCHEDULE_H

#include "fusion/Analysis/Contraction.h"
#include "fusion/Scheduling/SelectSchedule.h"

namespace mlir::fusion {

/// The contraction that `op`, of the kernel with the dimensions `space`, is.
std::optional<Contraction> matchContraction(linalg::LinalgOp op,
                                            const IterationSpace &space);

/// The schedules on tensor cores that `kernel` can have, the one predicted to
/// be fastest first; empty when none can run it.
SmallVector<ScheduleAttr> getTensorCoreSchedules(KernelOp kernel,
                                                 const IterationSpace &space,
                                                 const ScheduleLimits &limits);

/// `estimate`, of `kernel`, with the time, registers and shared memory that
/// the model predicts for `schedule`; unchanged when the schedule is not one of
/// getTensorCoreSchedules. `limits` name the chip.
EstimateAttr predictFor(EstimateAttr estimate, KernelOp kernel,
                        const IterationSpace &space, ScheduleAttr schedule,
                        const ScheduleLimits &limits);

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_CONTRACTIONSCHEDULE_H
