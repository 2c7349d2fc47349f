//===- WindowSchedule.h - Schedules of windows ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the schedules of pooling and of convolutions of single
// channels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_WINDOWSCHEDULE_H
#define FUSION_LIB_SCHEDULING_WINDOWSCHEDULE_H

#include "fusion/Scheduling/SelectSchedule.h"

namespace mlir::fusion {

/// What the schedule of a kernel that reduces windows depends on.
struct WindowFacts {
  /// By iteration dimension, with typical sizes for dynamic ones.
  ArrayRef<int64_t> extents;
  /// Bytes of operands and results whose fastest dimension this is.
  ArrayRef<double> contiguousBytes;
  /// Bytes of the narrowest element that the kernel reads or writes.
  int64_t narrowestElement;
};

/// The schedule of `kernel` when every reduction in it is over the elements of
/// a window; null otherwise.
ScheduleAttr scheduleWindows(KernelOp kernel, const IterationSpace &space,
                             const WindowFacts &facts,
                             const ScheduleLimits &limits);

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_WINDOWSCHEDULE_H
