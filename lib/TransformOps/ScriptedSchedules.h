//===- ScriptedSchedules.h - Schedules that a script asks for ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the choice of a schedule that is as a script asks.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TRANSFORMOPS_SCRIPTEDSCHEDULES_H
#define FUSION_LIB_TRANSFORMOPS_SCRIPTEDSCHEDULES_H

#include "fusion/Dialect/Fusion/FusionOps.h"
#include <optional>

namespace mlir::fusion {

/// What is asked of a schedule.
struct ScheduleRequest {
  /// Tiles of the iteration dimensions, 0 for any; empty for any of all.
  ArrayRef<int64_t> tileSizes;
  std::optional<int64_t> warps, stages;
  /// This one; null to choose.
  ScheduleAttr exactly;

  /// As the script words it.
  std::string str() const;
};

/// Gives `kernel` a schedule as asked, with its estimate. Fails with an error,
/// and without a change, where there is none.
LogicalResult scheduleAsAsked(KernelOp kernel, const ScheduleRequest &request);

} // namespace mlir::fusion

#endif // FUSION_LIB_TRANSFORMOPS_SCRIPTEDSCHEDULES_H
