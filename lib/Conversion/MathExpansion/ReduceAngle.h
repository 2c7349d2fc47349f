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

/// An angle in turns of some size, whose number stands in the low bits of
/// integers as wide as the angle, and what is left, which is NaN for infinite
/// angles and NaN.
struct ReducedAngle {
  Num turns;
  Num rest;
};

/// x = turns * pi/2 + rest, |rest| <= 0.8, the turns modulo 4, of f32 or f64.
/// Where an operand may be too large for three products (2^18 in f32, 2^24 in
/// f64; `largestOperand` says that it is not), a branch on such an operand
/// multiplies with enough digits of 2/pi.
ReducedAngle reduceAngle(Num x, double largestOperand);

/// sin(x), or cos(x) with `isCosine`, as (-1)^turns sin(rest), |rest| <= 1.58,
/// of an f32 that 16 bits hold, which is never so close to a zero that 16 bits
/// of the rest want a third product. Huge angles as above.
ReducedAngle reduceToSine(Num x, bool isCosine, double largestOperand);

/// Whether angles of `element`, at most `largestOperand` in magnitude, take
/// such a branch.
bool mayBeHuge(Type element, double largestOperand);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_REDUCEANGLE_H
