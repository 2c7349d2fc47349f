//===- RescalableSums.h - Sums relative to a maximum -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis of sums of exponentials relative to a maximum
// of the same elements.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_RESCALABLESUMS_H
#define FUSION_ANALYSIS_RESCALABLESUMS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// m = max x along some dimensions, and sum exp(x - m) along the same ones.
struct RescalableSum {
  linalg::LinalgOp maximum, sum;
  /// What the exponentials may be.
  arith::FastMathFlags fastmath = arith::FastMathFlags::none;
};

/// The maximum that `sum` is relative to, if it is such a sum. Where its terms
/// are computed, by how many operations, does not matter.
std::optional<RescalableSum> findRescalableSum(linalg::LinalgOp sum);

/// True when the terms of `sum` are powers of e or 2 whose exponents are a
/// positive multiple of the distance to the maximum of the same elements along
/// the same dimensions, in whatever order that is computed: no term is above
/// one, and one of them is one, but for rounding.
bool isRelativeToMaximum(linalg::LinalgOp sum);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_RESCALABLESUMS_H
