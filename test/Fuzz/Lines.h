//===- Lines.h - Arguments of a command line from bytes ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the bytes of a fuzzer become arguments of a program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_LINES_H
#define FUSION_TEST_FUZZ_LINES_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace fusionfuzz {

/// The lines of the text, each up to its first zero byte, as the arguments of
/// a program would be; 64 at most.
inline std::vector<std::string> splitLines(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size() && lines.size() < 64;) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at).c_str());
    at = end + 1;
  }
  return lines;
}

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_LINES_H
