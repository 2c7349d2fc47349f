//===- DeferDivisions.h - Divisions of whole sums -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the last step of forming a kernel whose contractions share
// a walk.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_DEFERDIVISIONS_H
#define FUSION_LIB_FUSIONPLANNING_DEFERDIVISIONS_H

#include "fusion/Dialect/Fusion/FusionOps.h"

namespace mlir::fusion {

/// Divides sums that `kernel` makes, instead of their elements, by the results
/// of other sums along the same dimension: sum (p / l) v = (sum p v) / l. In
/// one walk l is known as late as that.
void deferDivisions(KernelOp kernel);

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_DEFERDIVISIONS_H
