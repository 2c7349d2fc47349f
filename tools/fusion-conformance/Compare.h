//===- Compare.h - Do two results agree -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the comparison of the buffers that two runs left behind.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_CONFORMANCE_COMPARE_H
#define FUSION_TOOLS_FUSION_CONFORMANCE_COMPARE_H

#include "Manifest.h"

namespace conformance {

/// The buffers of one case after a launch, in the order of the arguments;
/// scalars have an empty entry.
using Buffers = std::vector<std::vector<uint8_t>>;

struct Comparison {
  bool agrees = true;
  bool identical = true;   ///< Every bit is the same, up to allowed NaNs.
  uint64_t different = 0;  ///< Elements that do not agree.
  uint64_t largestUlp = 0; ///< Over all floats that differ.
  /// The first elements that do not agree: both values, and what the buffers
  /// held at that place before the launch.
  std::vector<std::string> mismatches;
};

/// `initial` are the contents before the launch. At most `describe` mismatches
/// are described.
Comparison compareBuffers(const Case &c, const Buffers &initial,
                          const Buffers &emulator, const Buffers &gpu,
                          size_t describe = 1);

/// A hash of all buffers. NaNs count as one where the case says so.
uint64_t hashBuffers(const Case &c, const Buffers &buffers);

} // namespace conformance

#endif // FUSION_TOOLS_FUSION_CONFORMANCE_COMPARE_H
