//===- LineDiff.h - How two texts differ ------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the difference of two texts, line by line.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_PACKAGE_LINEDIFF_H
#define FUSION_TOOLS_FUSION_PACKAGE_LINEDIFF_H

#include <string>

namespace packagetool {

/// What turns `before` into `after`, in the unified format, with three lines
/// around each change; empty if they are equal. Of a longest common
/// subsequence: in time the product of the lines that differ.
std::string diffLines(const std::string &before, const std::string &after,
                      const std::string &beforeName,
                      const std::string &afterName);

} // namespace packagetool

#endif // FUSION_TOOLS_FUSION_PACKAGE_LINEDIFF_H
