//===- Format.h - Figures as text -------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how reports for people write figures.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REPORT_FORMAT_H
#define FUSION_REPORT_FORMAT_H

#include <cstdint>
#include <string>

namespace mlir::fusion {

/// 1234567 as "1.23 MB"; negative ones too.
std::string formatByteCount(int64_t bytes);
/// 1234 nanoseconds as "1.23 us".
std::string formatNanoseconds(int64_t ns);
/// " (line 5)", or nothing for 0.
std::string formatLine(int64_t line);
/// " with dynamic sizes of 1024", or nothing for 0: said of every figure that
/// holds for such sizes only.
std::string formatAssumedSize(int64_t size);

} // namespace mlir::fusion

#endif // FUSION_REPORT_FORMAT_H
