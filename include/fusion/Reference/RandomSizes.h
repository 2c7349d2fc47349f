//===- RandomSizes.h - Sizes that a program allows --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the drawing of sizes that meet the requirements of an
// entry.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_RANDOMSIZES_H
#define FUSION_REFERENCE_RANDOMSIZES_H

#include "fusion/Executable/PackageModel.h"
#include "fusion/Reference/RandomInputs.h"

namespace mlir::fusion {

/// The most elements of a tensor of `entry` whose sizes are drawn; a tensor
/// with more has them by sizes that were given.
constexpr int64_t kMaxRandomElements = int64_t(1) << 20;

/// Draws the sizes, and the integer scalars that requirements ask for, which
/// `options` does not give: what drawInputs would draw if that meets the
/// requirements of `entry` and the bound on elements, else the first that is
/// found to. Adds them to `options`; leaves it alone, and returns false, if
/// none is found.
bool drawSizes(const fusionpkg::Entry &entry, RandomInputOptions &options);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_RANDOMSIZES_H
