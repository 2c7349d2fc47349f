//===- JoinRelativeSums.h - Losses in one sweep -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rewrite of softmax statistics and of a sum of terms
// that are linear in their logarithms to one reduction, which reads its
// elements once.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_JOINRELATIVESUMS_H
#define FUSION_FUSIONPLANNING_JOINRELATIVESUMS_H

#include "fusion/FusionPlanning/PricedRewrites.h"

namespace mlir::fusion {

/// The rewrite of all such sums (fusion/Analysis/RelativeSums.h).
PricedRewrite getRelativeRewrite(const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_JOINRELATIVESUMS_H
