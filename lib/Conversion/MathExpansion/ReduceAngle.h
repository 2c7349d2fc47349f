//===- ReduceAngle.h - Angles modulo pi/2 -----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the reduction of angles modulo pi/2.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_REDUCEANGLE_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_REDUCEANGLE_H

#include "Num.h"

namespace mlir::fusion {

/// x = quadrant * pi/2 + rest, |rest| <= 0.8, the quadrant modulo 4 in the low
/// bits of integers as wide as x. The rest is NaN for infinite x and NaN.
struct ReducedAngle {
  Num quadrant;
  Num rest;
};

/// Reduces angles of f32 or f64. Where an operand may be too large for three
/// products (2^18 in f32, 2^24 in f64; `largestOperand` says that it is not), a
/// branch on such an operand multiplies with enough digits of 2/pi.
ReducedAngle reduceAngle(Num x, double largestOperand);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_REDUCEANGLE_H
