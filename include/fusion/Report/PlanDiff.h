//===- PlanDiff.h - Two plans side by side ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the comparison of two explanations of one program: by two
// compilers, for two chips, or with other options.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REPORT_PLANDIFF_H
#define FUSION_REPORT_PLANDIFF_H

#include "fusion/Report/ReadExplanation.h"

namespace mlir::fusion {

/// What differs, for people: totals, kernels that were split, joined, arranged
/// anew or priced anew, and candidates that were decided otherwise. Kernels are
/// matched by the operations that they compute, in the order of the program.
std::string diffPlans(const Explanation &before, const Explanation &after);

} // namespace mlir::fusion

#endif // FUSION_REPORT_PLANDIFF_H
