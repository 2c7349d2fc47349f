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
#include <optional>

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

/// What is known of a number of elements, by which a mean is divided: of f32,
/// whole, not negative, and 2^20 at most, so that quotients by it are exact
/// after one step of correction.
struct Count {
  int64_t most;
  /// Products with its reciprocal are exact: of powers of two.
  bool isExact;

  /// Nothing is known where `value` need not be one, or may be a constant 0.
  static std::optional<Count> of(Value value);
};

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_FLOATRANGE_H
