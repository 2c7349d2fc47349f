//===- ScanSchedule.h - Schedules of scans ---------------------*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the choice of a schedule for kernels that scan.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_SCANSCHEDULE_H
#define FUSION_LIB_SCHEDULING_SCANSCHEDULE_H

#include "fusion/Scheduling/SelectSchedule.h"

namespace mlir::fusion {

/// What the schedule of a kernel that scans depends on.
struct ScanFacts {
  /// By iteration dimension, with typical sizes for dynamic ones.
  ArrayRef<int64_t> extents;
  /// Bytes of operands and results whose fastest dimension this is.
  ArrayRef<double> contiguousBytes;
  /// Bytes of the narrowest element that the kernel reads or writes.
  int64_t narrowestElement;
};

/// The schedule of `kernel`, some operations of which scan along one dimension:
/// blocks walk it in tiles, which they scan together, where all of them are
/// known to be associative, and else one element after the other.
ScheduleAttr scheduleScan(KernelOp kernel, const IterationSpace &space,
                          const ScanFacts &facts, const ScheduleLimits &limits);

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_SCANSCHEDULE_H
