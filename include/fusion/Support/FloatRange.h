//===- FloatRange.h - What is known of a float ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the range of a float in an expression, from which
// expansions learn which cases need no code.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_FLOATRANGE_H
#define FUSION_SUPPORT_FLOATRANGE_H

#include "mlir/IR/Value.h"

#include <limits>

namespace mlir::fusion {

/// The numbers that a value may be, infinities included; a NaN is always
/// possible. Bounds are those of exact arithmetic: what rounding adds to them
/// is below 2^-16 of them.
struct FloatRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  /// The range of a scalar or of a vector's elements, by what defines it.
  static FloatRange of(Value value);
};

/// True for sums and products of exponentials, at least one, and constants, all
/// of them positive.
bool isMadeOfExponentials(Value value);

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_FLOATRANGE_H
