//===- LogOfSums.h - Logarithms of sums of exponentials ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the logarithm of a sum of exponentials, by which scans
// combine.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_LOGOFSUMS_H
#define FUSION_ANALYSIS_LOGOFSUMS_H

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace mlir::fusion {

/// The logarithm of e^a + e^b, as max(a, b) + log1p(exp(-|a - b|)).
struct LogOfSum {
  Operation *maximum = nullptr;
  math::ExpOp exponential;
  math::Log1pOp logarithm;

  /// The form of `combined` when it is such a combination of `a` and `b`.
  static std::optional<LogOfSum> match(Value combined, Value a, Value b);
  /// The same of a region that combines two states of one value.
  static std::optional<LogOfSum> match(Block &combiner);

  /// The combination of all of `elements` in f32 or f64, scalars: m +
  /// log1p(r) of their maximum m and the sum r of the exponentials, relative to
  /// it, of all others. It is NaN or infinite where the combination of one
  /// after the other is.
  Value fold(OpBuilder &builder, Location loc, ArrayRef<Value> elements) const;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_LOGOFSUMS_H
