//===- AngleGroups.h - One branch for several huge angles -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the grouping of functions of angles.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_ANGLEGROUPS_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_ANGLEGROUPS_H

#include "fusion/Conversion/MathExpansion/MathExpansion.h"

namespace mlir::fusion {

/// Makes one function of a vector of each run of neighbouring sines, cosines or
/// tangents of scalars that branch on huge angles, so that all of them share a
/// branch.
void groupAngles(Operation *root, const MathOptions &options);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_ANGLEGROUPS_H
