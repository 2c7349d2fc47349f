//===- Random.h - Numbers that are the same everywhere ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the generator that random inputs come from.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_RANDOM_H
#define FUSION_LIB_REFERENCE_RANDOM_H

#include <cmath>
#include <cstdint>
#include <iterator>

namespace mlir::fusion {

/// SplitMix64: the distributions of the standard library differ between its
/// implementations, and a seed in a report must mean the same everywhere.
class Random {
public:
  Random(uint64_t seed, uint64_t stream)
      : state(seed * 0x9E3779B97F4A7C15u + stream) {
    next();
  }

  uint64_t next() {
    uint64_t bits = state += 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
  }

  /// In (0, 1].
  double nextUniform() { return ((next() >> 11) + 1) * 0x1p-53; }

  double nextNormal() {
    double radius = std::sqrt(-2 * std::log(nextUniform()));
    return radius * std::cos(2 * M_PI * nextUniform());
  }

  /// In [low, high].
  int64_t nextInt(int64_t low, int64_t high) {
    uint64_t span =
        static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(low) +
                                (span ? next() % span : next()));
  }

  /// A size around what kernels are tiled by, or one that fits nothing.
  int64_t nextSize() { return kSizes[nextInt(0, std::size(kSizes) - 1)]; }

  static constexpr int64_t kSizes[] = {1,  2,  3,  5,   7,   8,   13,
                                       16, 17, 31, 32,  33,  48,  63,
                                       64, 65, 96, 100, 127, 128, 129};

private:
  uint64_t state;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_RANDOM_H
