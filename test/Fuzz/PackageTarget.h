//===- PackageTarget.h - Packages from strangers ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the run of any bytes as a package, within limits, which the
// fuzzer and the tests that flip bytes share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_PACKAGETARGET_H
#define FUSION_TEST_FUZZ_PACKAGETARGET_H

#include <cstdint>
#include <string>
#include <vector>

namespace fusionfuzz {

/// How the run of a package ended.
struct PackageOutcome {
  enum class Kind : uint8_t {
    Refused,  ///< It was not loaded.
    TooLarge, ///< It asks for more than the harness gives.
    Failed,   ///< Loaded; a check of the launch or of the emulator objected.
    Ran,
  };
  Kind kind = Kind::Refused;
  int32_t status = 0; ///< Of Refused and Failed: nnnn of FUS-nnnn.
  /// Contents of the outputs of the first entries.
  std::vector<std::vector<uint8_t>> outputs;
  /// What contradicts the promises of the interface; empty if nothing.
  std::string wrong;
};

/// Loads `bytes` on the emulator and launches the first entries with fixed
/// inputs, each dynamic size `size`.
PackageOutcome runPackage(const std::string &bytes, int64_t size);

/// Writes the size and the checksum of `bytes` into its header, where there is
/// one, so that the checks behind them are reached.
void repairPackage(std::string &bytes);

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_PACKAGETARGET_H
