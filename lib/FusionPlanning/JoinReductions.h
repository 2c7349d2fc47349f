//===- JoinReductions.h - Two reductions become one -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what rewrites share that make one reduction of two of
// which the later needs the result of the earlier one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_JOINREDUCTIONS_H
#define FUSION_LIB_FUSIONPLANNING_JOINREDUCTIONS_H

#include "fusion/Analysis/BodyValues.h"
#include "fusion/FusionPlanning/PricedRewrites.h"

namespace mlir::fusion {

/// One reduction along the loops of `like` to `inits`, whose body first
/// computes `element` as that of `like` does, and then what `combine` makes of
/// the accumulators and the element.
linalg::GenericOp buildJoined(
    OpBuilder &builder, linalg::LinalgOp like, const Combiner &combiner,
    ValueRange inits,
    function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange, Value)>
        combine);

/// A tensor like `like` of `value`.
Value buildFilled(OpBuilder &builder, Location loc, Value like,
                  TypedAttr value);

/// s + (m - m), element by element: NaN where a maximum is no number.
Value buildChecked(OpBuilder &builder, Location loc, Value m, Value s);

/// Erases `op` and what only it needed.
void eraseUnused(Operation *op);

/// `apply` makes one reduction of `earlier` and of `later`, which needs its
/// result.
RewriteMatch getJoinMatch(linalg::LinalgOp earlier, linalg::LinalgOp later,
                          std::function<Operation *()> apply);

/// The rewrite of all reductions at which `findAt` finds an earlier one that
/// can be had with them; of the time before, it may take `mostTime`.
PricedRewrite getJoinRewrite(
    ReasonCode reason, double mostTime,
    std::function<std::optional<RewriteMatch>(linalg::LinalgOp)> findAt);

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_JOINREDUCTIONS_H
