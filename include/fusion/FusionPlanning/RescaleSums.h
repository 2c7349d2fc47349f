//===- RescaleSums.h - Sums relative to a maximum ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rewrite of a maximum and of a sum of exponentials
// relative to it to one reduction, which reads its elements once.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_RESCALESUMS_H
#define FUSION_FUSIONPLANNING_RESCALESUMS_H

#include "fusion/Analysis/RescalableSums.h"
#include "fusion/FusionPlanning/PricedRewrites.h"

namespace mlir::fusion {

/// Makes one reduction of the two (fusion/Analysis/Reductions.h, RescaledSum),
/// which are erased; returns it.
linalg::GenericOp rescaleSum(const RescalableSum &sum);

/// The rewrite of all such sums.
PricedRewrite getRescaleRewrite(const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_RESCALESUMS_H
