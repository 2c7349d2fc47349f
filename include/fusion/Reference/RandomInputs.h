//===- RandomInputs.h - Inputs that nobody chose ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the drawing of sizes and values for the inputs of an entry,
// the same for a seed on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_RANDOMINPUTS_H
#define FUSION_REFERENCE_RANDOMINPUTS_H

#include "fusion/Reference/HostTensor.h"
#include "fusion/Reference/Signature.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mlir::fusion {

struct RandomInputOptions {
  uint64_t seed = 0;
  /// Sizes by the name of the extent.
  std::map<std::string, int64_t> dims;
  /// Integers are drawn from this range, both ends included.
  int64_t intLow = 0, intHigh = 7;
  /// Values of integer scalars by the number of the input; others are drawn.
  std::map<unsigned, int64_t> scalars;
  /// The standard deviation of floats.
  double floatStd = 1;
  /// The share of floats that are zeros of either sign, infinities, NaNs,
  /// numbers next to 0 or powers of two instead.
  double specialShare = 0;
  /// The share of floats that are infinity instead. Without NaNs and zeros
  /// beside them, most results of a contraction stay numbers or infinities.
  double infinityShare = 0;
  /// Floats get random bits instead, for payload mode.
  bool floatBits = false;
};

/// What a failure is about: the sizes that were asked for, or their product.
enum class RandomInputError { None, BadDim, Overflow };

/// Draws sizes for the extents that `options` does not give (the same for
/// extents of the same name; odd ones, 1 and multiples of 8 all occur), then
/// values: floats from the normal distribution, integers from the range. On
/// failure `message` says what is wrong and `inputs` is empty.
RandomInputError drawInputs(const Signature &signature,
                            const RandomInputOptions &options,
                            std::vector<HostTensor> &inputs,
                            std::string &message);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_RANDOMINPUTS_H
