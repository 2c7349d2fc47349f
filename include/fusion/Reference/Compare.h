//===- Compare.h - Is a result right? ---------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the rule by which results are verified. The error that is
// allowed is not a tuned constant: it follows, element by element, from what
// the program rounds on the way to that element (docs/Verification.md).
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_COMPARE_H
#define FUSION_REFERENCE_COMPARE_H

#include "fusion/Reference/HostTensor.h"
#include "fusion/Reference/Reference.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::fusion {

/// Fills `tensor` with what an element has that no kernel wrote: of floats of
/// 16 bits and more NaNs that no instruction makes. Those that one makes have
/// the first bit of their fraction alone or all of them, and either sign.
void poison(HostTensor &tensor);

/// The share of elements that may go unchecked in an output that is verified.
constexpr double kMaxUncheckedShare = 0.01;

enum class Verdict {
  Verified,
  Wrong,
  /// Nothing is wrong, but too few elements could be told from wrong ones.
  NotChecked
};

/// What was found about one output.
struct OutputReport {
  Verdict verdict = Verdict::Wrong;
  /// Of the elements that are numbers: the largest error, and the same divided
  /// by the root mean square of what was expected. 0 for integers.
  double maxError = 0, maxRelativeError = 0;
  /// The largest allowance of an element that was checked.
  double allowedMaxError = 0;
  /// The largest error divided by what its element is allowed. The closer to 1,
  /// the tighter the bounds.
  double maxUse = 0;
  /// Elements with no allowance, or one beyond the output's own scale.
  int64_t numUnchecked = 0;
  /// The first wrong element and what is wrong with it, or why the output is
  /// not checked; -1 and empty if verified.
  int64_t failingIndex = -1;
  std::string failure;

  bool isVerified() const { return verdict == Verdict::Verified; }
};

/// Verifies one output of the declared type against what the reference expects.
///  - A float: within the error of its element and half a unit in the last
///    place; NaN and infinity where they are expected for certain; infinity
///    also where the interval goes beyond the largest number of the type.
///  - An integer: equal, or within the error of its element.
/// An element is not checked when its error is infinite or larger than both
/// the element and the root mean square of all; a truth value when it is open.
OutputReport compareOutput(const HostTensor &got,
                           const ReferenceTensor &expected);

/// "[3, 5]" for element `index` of a tensor of this shape.
std::string formatIndex(int64_t index, const std::vector<int64_t> &shape);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_COMPARE_H
