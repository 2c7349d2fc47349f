//===- PlanMemory.h - What planning remembers -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the prices that plans share: a function is planned, and
// parts of it many times, before its kernels are formed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_PLANMEMORY_H
#define FUSION_LIB_FUSIONPLANNING_PLANMEMORY_H

#include "GroupShapes.h"
#include "fusion/FusionPlanning/FusionPlanner.h"

namespace mlir::fusion {

namespace planning {

/// What a kernel takes.
struct Price {
  KernelEstimate estimate;
  double bytes = 0;
  bool recomputes = false;
};

/// Whether nodes can be one kernel, and its price.
using PricedKernel = std::pair<FusionDecision, Price>;

} // namespace planning

/// What is known of kernels, whichever graph they are of, by their shapes.
class PlanMemory {
public:
  planning::GroupShapes::Classes classes;
  OpKeyMemory<planning::PricedKernel> prices;
  /// Of walks, the places among their stored values of those that they do not
  /// leave in memory.
  OpKeyMemory<SmallVector<unsigned, 1>> stepValues;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_PLANMEMORY_H
