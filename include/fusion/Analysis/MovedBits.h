//===- MovedBits.h - What it takes to move bits between lanes ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the price of bits that lanes of a warp compute for each
// other.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_MOVEDBITS_H
#define FUSION_ANALYSIS_MOVEDBITS_H

#include "mlir/IR/Region.h"

namespace mlir::fusion {

/// Instructions of a bit that another lane computes: it becomes part of a word,
/// which four lanes ask for, and is tested.
constexpr double kMovedBitInstructions = 3;

/// Instructions of an element of `region`, without those that `isKnown`, where
/// threads have `neighbours` side by side. What follows from indices alone is
/// done once for `together` neighbours at most, those that never are in two
/// rows; bits of whole groups of them may be computed by one lane for others.
double countInstructions(Region &region, double neighbours, double together,
                         function_ref<bool(Operation *)> isKnown);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_MOVEDBITS_H
