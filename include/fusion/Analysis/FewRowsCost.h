//===- FewRowsCost.h - Products that few rows make bound by memory -*- C++ -*-//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares schedules of products in which one operand has few rows,
// so that the other is read once and computes little: the warps of a block
// share the depth.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_FEWROWSCOST_H
#define FUSION_ANALYSIS_FEWROWSCOST_H

#include "fusion/Analysis/MmaCost.h"

namespace mlir::fusion {

/// Predicted seconds of the products by single warps that share the depth.
/// `config.warps` is how many share it.
double getFewRowsSeconds(const MmaProblem &problem, const MmaConfig &config,
                         const TargetInfo &target);

/// Shared memory of a block: operands on their way, then sums of warps.
int64_t getFewRowsSharedBytes(const MmaProblem &problem,
                              const MmaConfig &config);

/// Such schedules that `target` can run, the one predicted to be fastest first;
/// none where no operand has few rows.
llvm::SmallVector<MmaConfig> getFewRowsConfigs(const MmaProblem &problem,
                                               const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_FEWROWSCOST_H
