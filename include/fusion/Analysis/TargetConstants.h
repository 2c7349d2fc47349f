//===- TargetConstants.h - Constants of a chip by name -------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a description of a chip is changed by name: what
// `#fusion.target` on a module and target files say.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_TARGETCONSTANTS_H
#define FUSION_ANALYSIS_TARGETCONSTANTS_H

#include "fusion/Analysis/TargetInfo.h"

namespace mlir::fusion {

/// Makes `value` that of constant `name` of `group`. The group `chip` has what
/// distinguishes another part with the same instructions, or a share of one:
/// `numSMs`, `clockHz` (in 1/s), `l2Bytes`; and limits, which can be lowered
/// only: `registersPerSM`, `maxRegistersPerThread`, `maxThreadsPerSM`,
/// `maxThreadsPerBlock`, `maxBlocksPerSM`, `maxBlocksPerCluster`,
/// `sharedPerSM`, `maxSharedPerBlock`. Other groups are those of
/// FittedConstants.def. Fails if there is no such constant or the value does
/// not suit it.
llvm::Error setConstant(TargetInfo &target, llvm::StringRef group,
                        llvm::StringRef name, double value);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_TARGETCONSTANTS_H
