//===- StepStores.h - Results that steps of a walk store --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how a walk has results stored that vary along it: whoever
// stores results leaves what the walk does at the end of each step.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_STEPSTORES_H
#define FUSION_LIB_CODEGEN_STEPSTORES_H

#include "mlir/IR/Operation.h"
#include <functional>

namespace mlir::fusion {

/// Stores what a step has, at the insertion point; null where no result varies
/// along a walk.
using StepStores = std::function<LogicalResult()>;

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_STEPSTORES_H
