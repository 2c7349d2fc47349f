//===- Compare.h - Is a result right? ---------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the rule by which results are verified. The error that is
// allowed is not a tuned constant: it follows from what rounding does to the
// unfused program in its own precision.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_COMPARE_H
#define FUSION_REFERENCE_COMPARE_H

#include "fusion/Reference/HostTensor.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::fusion {

/// The byte that outputs are filled with before a run, so that an element that
/// no kernel writes is found: all floats made of it are NaNs that no
/// instruction makes.
constexpr uint8_t kPoisonByte = 0xFF;

/// What was found about one output.
struct OutputReport {
  bool verified = false;
  /// Against the float64 results: largest and root-mean-square error, and
  /// either divided by the root mean square of the results. 0 for integers.
  double maxError = 0, rmsError = 0;
  double maxRelativeError = 0, rmsRelativeError = 0;
  /// What the rule allows.
  double allowedMaxError = 0, allowedRmsError = 0;
  /// The allowed root-mean-square error divided by that of the results. Near 1,
  /// rounding alone moves the results as far as they are large, and being
  /// verified means little.
  double allowedRelativeError = 0;
  /// Integers that differ from the declared program's and were let pass,
  /// because they derive from floats.
  int64_t numTolerated = 0;
  /// The first wrong element and what is wrong with it; -1 and empty if
  /// verified. Where only the mean error is too large, the worst element.
  int64_t failingIndex = -1;
  std::string failure;
};

/// Verifies one output.
///  - `got`: the result, of the declared type.
///  - `exact`: the float64 reference's result; floats are F64.
///  - `declared`: the declared reference's result, of the declared type.
///  - `perturbed`: the float64 results for inputs that are off by the program's
///    own rounding. They count for outputs of less than kSmallOutput floats,
///    whose unfused error can be small by chance.
///  - `derivesFromFloat`: integers depend on rounded floats, by a comparison or
///    a conversion.
///  - `sumError`: what tensor cores may lose in the sums on the way, relative
///    to their root mean square.
///
/// Floats: error(got) <= m * error(declared) + floor, for the largest and for
/// the root-mean-square error, m = 2, or 3 below 1,000 elements; the floor
/// contains the root mean square of the results times `sumError`, 4 times that
/// for the largest error. NaN and infinity where `exact`, rounded to the type,
/// has them (or `declared`, where the two disagree). Integers: equal to
/// `declared`; if they derive from floats, one in 1,000 and twice as many as
/// differ between the two references may differ.
OutputReport compareOutput(const HostTensor &got, const HostTensor &exact,
                           const HostTensor &declared,
                           const std::vector<const HostTensor *> &perturbed,
                           bool derivesFromFloat, double sumError = 0);

/// Below this many elements, outputs want `perturbed` results.
constexpr int64_t kSmallOutput = 64;

/// "[3, 5]" for element `index` of a tensor of this shape.
std::string formatIndex(int64_t index, const std::vector<int64_t> &shape);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_COMPARE_H
