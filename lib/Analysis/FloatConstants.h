//===- FloatConstants.h - Float constants of bodies -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how bodies of reductions are built with constants, and
// found to have them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_ANALYSIS_FLOATCONSTANTS_H
#define FUSION_LIB_ANALYSIS_FLOATCONSTANTS_H

#include "mlir/IR/Builders.h"

namespace mlir::fusion {

/// A constant of `like`'s type, a float or a tile of floats.
Value buildNumber(OpBuilder &builder, Location loc, Value like, double number);

/// True for a float constant equal to `number`.
bool isNumber(Value value, double number);

} // namespace mlir::fusion

#endif // FUSION_LIB_ANALYSIS_FLOATCONSTANTS_H
