//===- CenterSums.h - Variances in one sweep --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rewrite of a sum and of the sum of squares of
// distances from its mean to one reduction, which reads its elements once.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_CENTERSUMS_H
#define FUSION_FUSIONPLANNING_CENTERSUMS_H

#include "fusion/FusionPlanning/PricedRewrites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// s = sum x along some dimensions of N elements in all, and
/// sum (x - s / N)^2 along the same ones.
struct CenteredSum {
  linalg::LinalgOp sum, squares;
};

/// The sum whose mean `squares` is relative to, if it is such a sum, in f32 and
/// of a known number of terms. Where its terms are computed, by how many
/// operations, does not matter.
std::optional<CenteredSum> findCenteredSum(linalg::LinalgOp squares);

/// Makes one reduction of the two (fusion/Analysis/Reductions.h, Moments),
/// which are erased; returns it.
linalg::GenericOp centerSum(const CenteredSum &sum);

/// The rewrite of all such sums.
PricedRewrite getCenterRewrite(const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_CENTERSUMS_H
