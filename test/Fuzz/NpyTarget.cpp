//===- NpyTarget.cpp - .npy files from strangers --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the fuzz target of .npy files.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "fusion-rt/Npy.h"

#include <cstring>
#include <optional>

using namespace fusionrt;

/// Whether two tensors have the same type, shape and bits.
static bool areEqual(const HostTensor &a, const HostTensor &b) {
  return a.getDType() == b.getDType() && a.getDims() == b.getDims() &&
         a.getNumBytes() == b.getNumBytes() &&
         (a.getNumBytes() == 0 ||
          std::memcmp(a.data(), b.data(), a.getNumBytes()) == 0);
}

std::string fusionfuzz::fuzzNpy(const uint8_t *data, size_t size) {
  if (size == 0)
    return {};
  // The first byte is the element type that is expected, if any.
  std::optional<DType> expected;
  unsigned choice = data[0] % (unsigned(fusionpkg::kLastDType) + 2);
  if (choice <= fusionpkg::kLastDType)
    expected = static_cast<DType>(choice);
  std::string bytes(reinterpret_cast<const char *>(data + 1), size - 1);
  auto tensor = parseNpy(bytes, expected);
  if (!tensor) {
    auto code = static_cast<int>(tensor.getError().getCode());
    if (code < 6501 || code > 6504)
      return "an error of another kind: " + tensor.getError().str();
    return {};
  }
  if (expected && tensor->getDType() != *expected)
    return "another element type than expected";
  // Every element was in the file, four bits in a byte at least.
  if (tensor->getNumBytes() > size)
    return "more bytes than the file has";
  for (bool bitsAsUnsigned : {false, true}) {
    auto again =
        parseNpy(formatNpy(*tensor, {bitsAsUnsigned}), tensor->getDType());
    if (!again)
      return "written, but not read: " + again.getError().str();
    if (!areEqual(*tensor, *again))
      return "written and read, another tensor";
  }
  return {};
}
