//===- Random.h - Random numbers by index -----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the generator that dropout draws from.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FORMULAS_RANDOM_H
#define FUSION_LIB_REFERENCE_FORMULAS_RANDOM_H

#include "Real.h"

#include <array>
#include <cstdint>
#include <optional>

namespace mlir::fusion::formulas {

/// The four words that Philox4x32-7 draws for `counter` under `key` (Salmon et
/// al., 2011), both with the low word first.
std::array<uint32_t, 4> drawPhilox(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

/// Dropout as `fusion.dropout` documents it.
class Dropout {
public:
  /// Nothing is known of the results when there is no seed.
  Dropout(std::optional<int64_t> seed, int64_t opId, double probability)
      : seed(seed), opId(opId), probability(probability) {}

  /// True if element `n` is kept.
  bool keeps(int64_t n) const;
  /// `x / (1 - p)` where element `n` is kept, else 0.
  Real apply(int64_t n, const Real &x) const;

private:
  std::optional<int64_t> seed;
  int64_t opId;
  double probability;
};

} // namespace mlir::fusion::formulas

#endif // FUSION_LIB_REFERENCE_FORMULAS_RANDOM_H
