//===- Format.cpp - Figures as text ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the writing of figures.
//
//===----------------------------------------------------------------------===//

#include "fusion/Report/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

std::string mlir::fusion::formatByteCount(int64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? llvm::formatv("{0} B", bytes).str()
                   : llvm::formatv("{0:F2} {1}", value, kUnits[unit]).str();
}

std::string mlir::fusion::formatNanoseconds(int64_t ns) {
  return llvm::formatv("{0:F2} us", double(ns) / 1000).str();
}

std::string mlir::fusion::formatLine(int64_t line) {
  return line ? " (line " + std::to_string(line) + ")" : "";
}

std::string mlir::fusion::formatAssumedSize(int64_t size) {
  return size ? " with dynamic sizes of " + std::to_string(size) : "";
}
