//===- FusionLegality.h - What may be one kernel ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the rules on bodies that the code generator can evaluate
// tile by tile. They are free functions of the body; none looks at prices.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_FUSIONLEGALITY_H
#define FUSION_FUSIONPLANNING_FUSIONLEGALITY_H

#include "fusion/Analysis/CascadeBody.h"
#include "fusion/Analysis/KernelBody.h"
#include "fusion/FusionPlanning/FusionDecision.h"

namespace mlir::fusion {

/// Limits on one kernel.
struct KernelLimits {
  /// Bounds compile time, not speed.
  unsigned maxOps = 512;
  /// Kernel parameters are at most 4 KiB; a dynamic tensor takes up to ten
  /// words of it.
  unsigned maxOperands = 48;
  /// On four warps, the fewest that tensor cores take, a tile of 64 x 64, the
  /// smallest that keeps them busy, has 32 registers a thread. Four leave as
  /// many for everything else.
  unsigned maxContractions = 4;
};

/// May `body` be one kernel?
FusionDecision checkBody(const KernelBody &body, const KernelLimits &limits);

/// The rules by the kind of body; each presumes that the body has no problem.
FusionDecision checkPointwiseBody(const KernelBody &body);
FusionDecision checkRowBody(const KernelBody &body);
FusionDecision checkContractionBody(const KernelBody &body);
FusionDecision checkCascadeBody(const KernelBody &body);

/// Whether steps of the walk `cascade` may leave `output`, which varies along
/// it, in memory: for the caller, or for a sum over several walks. What only
/// contractions read, they make again, and what is reduced along the walk, the
/// walk reduces.
bool isLeftBySteps(const KernelBody &body, const BodyOutput &output,
                   const CascadeBody &cascade);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_FUSIONLEGALITY_H
