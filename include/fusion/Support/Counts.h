//===- Counts.h - Counts from estimates -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how an estimate becomes a count. Estimates are computed as
// floating-point numbers, since dynamic sizes that are assumed may multiply to
// more than any integer holds.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_COUNTS_H
#define FUSION_SUPPORT_COUNTS_H

#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdint>
#include <limits>

namespace mlir::fusion {

/// Elements that a dynamic dimension is taken to have where nobody says how
/// many.
constexpr int64_t kRepresentativeSize = 1024;

/// Bytes of the largest value that contractions are given by other kernels
/// where nobody says how many.
constexpr int64_t kLargestValue = int64_t(1) << 30;

/// `estimate` without its fraction, and the nearest count where there is none
/// of that size; 0 for what is no number.
inline int64_t toCount(double estimate) {
  // 2^63 is the least double beyond the largest count.
  constexpr double kBeyond = 9223372036854775808.0;
  if (std::isnan(estimate))
    return 0;
  if (estimate >= kBeyond)
    return std::numeric_limits<int64_t>::max();
  if (estimate < -kBeyond)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(estimate);
}

/// A time without the last bits of what it was summed up of.
inline double roundToNanoseconds(double microseconds) {
  return std::round(microseconds * 1000) / 1000;
}

/// The least power of two that is `count` or more; 1 below that.
inline int64_t nextPowerOfTwo(int64_t count) {
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(count < 1 ? 1 : count)));
}

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_COUNTS_H
