//===- Diff.h - How two packages differ -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the difference of two packages.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_PACKAGE_DIFF_H
#define FUSION_TOOLS_FUSION_PACKAGE_DIFF_H

#include "OpenPackage.h"

namespace packagetool {

/// What differs between two packages, for people: the target, entries and their
/// figures, launches, kernels with what they use, constants. Kernels and
/// entries are the same if their names are. Then the PTX of those that
/// `kernels` names. Empty if nothing differs. `error` has a code where neither
/// package has a kernel that is named.
std::string diffPackages(const OpenPackage &before, const OpenPackage &after,
                         const std::vector<std::string> &kernels,
                         const Dims &dims, std::string &error);

} // namespace packagetool

#endif // FUSION_TOOLS_FUSION_PACKAGE_DIFF_H
