//===- Real.cpp - Numbers of a formula ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the roundings of numbers in formulas.
//
//===----------------------------------------------------------------------===//

#include "Real.h"

using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

Real Real::constant(double constant) const {
  if (!std::isfinite(constant))
    return with(constant);
  return with(either(constant, roundTo(constant, getType())));
}

Real Real::loosen(double ulps) const {
  if (!std::isfinite(number.value) || !number.isKnown())
    return *this;
  // The reference's own float64 may be off by as much as the program's.
  if (getType() == DType::F64)
    ulps += 0.5;
  double reach = std::fabs(number.value) + number.error;
  if (!std::isfinite(roundTo(reach, getType()).value)) {
    bool isSure = !std::isfinite(
        roundTo(std::fabs(number.value) - number.error, getType()).value);
    double infinity = std::numeric_limits<double>::infinity();
    return with(isSure ? Bounded(std::copysign(infinity, number.value))
                       : Bounded::unknown(number.value));
  }
  return with(
      Bounded(number.value, number.error + ulps * getUlp(reach, getType())));
}

Real formulas::expRelativeTo(const Real &x, const Real &m) {
  return exp(x - m).loosen(getUlps(Function::Exp, x.getType()) + 1);
}

Real formulas::sigmoid(const Real &x) {
  // Small results are exponentials, so that what is lost of those counts. A
  // reciprocal may be approximate (docs/Numerics.md, "Arithmetic").
  const double kReciprocal = 2.5;
  if (x.get().value < 0) {
    Real e = exp(x);
    return (e / (1 + e)).loosen(kReciprocal);
  }
  return (1 / (1 + exp(-x))).loosen(kReciprocal);
}
