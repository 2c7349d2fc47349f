//===- LinearSums.h - Sums linear in distances ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the part of a reduction's body that adds up terms which
// are linear in the distances from maxima.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_ANALYSIS_LINEARSUMS_H
#define FUSION_LIB_ANALYSIS_LINEARSUMS_H

#include "fusion/Analysis/Reductions.h"

namespace mlir::fusion {

/// A, and B unless a pair has it, of the states `kept` and `next` of `sums`,
/// whose maxima meet in `meetings`.
SmallVector<Value> combineLinear(OpBuilder &builder, Location loc,
                                 const RescaledSums &sums,
                                 ArrayRef<RescaledSum::Meeting> meetings,
                                 ValueRange kept, ValueRange next);

/// What the results behind `pairs` of `op` add up, if that has the form that
/// combineLinear() gives the body.
std::optional<LinearSum> matchLinearSum(linalg::LinalgOp op,
                                        ArrayRef<RescaledSum> pairs);

} // namespace mlir::fusion

#endif // FUSION_LIB_ANALYSIS_LINEARSUMS_H
