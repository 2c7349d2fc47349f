//===- CascadeArithmetic.h - What a step of products computes ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the elements of a step cost that products which share
// a walk give.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_CASCADEARITHMETIC_H
#define FUSION_LIB_SCHEDULING_CASCADEARITHMETIC_H

#include "PreparedOperands.h"
#include "fusion/Analysis/OpCosts.h"

namespace mlir::fusion {

/// What is computed of one element of what a step gives, each value once.
OpCost getStepElementCost(const KernelBody &body, const CascadeBody &cascade,
                          const PreparedOperands &prepared);

/// Instructions of an element of a step that masks of positions are, which
/// steps within the limits do without.
double countMaskInstructions(const KernelBody &body, unsigned walked);

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_CASCADEARITHMETIC_H
