//===- ReductionSplit.h - Reductions over several blocks --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how many co-resident blocks share what is reduced to one
// tile of results: asked where kernels are priced and where they are scheduled.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_REDUCTIONSPLIT_H
#define FUSION_ANALYSIS_REDUCTIONSPLIT_H

#include "fusion/Analysis/TargetInfo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// True when blocks that have parts of what `op` reduces can combine them: in
/// any order, by values of at most 32 bits.
bool isCombinable(linalg::LinalgOp op);

/// True when a launch has memory for `groups` groups of `blocks` blocks, each
/// of which gives the others `words` values.
bool fitsExchange(double groups, int64_t blocks, int64_t words);

/// Blocks that walk the `elements` that one block would, where there are
/// `groups` of those: as many as fill the chip.
int64_t getWalkSplit(double groups, double elements, const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_REDUCTIONSPLIT_H
