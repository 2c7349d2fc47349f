//===- Package.h - Packages on two devices ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the comparison of packages of the compiler: every entry
// runs on the emulator and on a GPU with the same inputs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_CONFORMANCE_PACKAGE_H
#define FUSION_TOOLS_FUSION_CONFORMANCE_PACKAGE_H

#include <cstdint>
#include <string>
#include <vector>

namespace conformance {

struct PackageResult {
  std::vector<std::string> kernels;
  bool failed = false;
  bool exact = true;  ///< Every output is the same, bit by bit.
  std::string reason; ///< Of a failure: which element, and both values.
  /// The largest difference relative to the largest element of its output.
  double difference = 0;
};

/// Runs every entry of the package at `path` on the emulator and, if `useGpu`,
/// on the first GPU. Sizes that are not fixed become 48. Outputs may differ by
/// `bound` relative to their largest element.
PackageResult runPackage(const std::string &path, bool useGpu, uint64_t seed,
                         double bound);

} // namespace conformance

#endif // FUSION_TOOLS_FUSION_CONFORMANCE_PACKAGE_H
