//===- SplitContractions.h - Long sums of products in parts -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares split-K: products of few results as sums of parts.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_SPLITCONTRACTIONS_H
#define FUSION_FUSIONPLANNING_SPLITCONTRACTIONS_H

#include "fusion/FusionPlanning/PricedRewrites.h"

namespace mlir::fusion {

/// Lets products of few results give a result for each of several parts of one
/// contracted dimension, and a reduction add these up.
PricedRewrite getPartsRewrite(const TargetInfo &target);

/// The same for each element of some of the dimensions, of products that no
/// layout of their factors makes ones of warpgroups. Asked before layouts are
/// decided, of those that would leave most of a tile empty.
PricedRewrite getDimensionsRewrite(const TargetInfo &target,
                                   bool beforeLayouts);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_SPLITCONTRACTIONS_H
