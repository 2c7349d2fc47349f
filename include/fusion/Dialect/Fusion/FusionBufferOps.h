//===- FusionBufferOps.h - Kernels on memory --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what kernels become where tensors have become memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONBUFFEROPS_H
#define FUSION_DIALECT_FUSION_FUSIONBUFFEROPS_H

#include "fusion/Dialect/Fusion/FusionOps.h"
#include <optional>

#define GET_OP_CLASSES
#include "fusion/Dialect/Fusion/FusionBufferOps.h.inc"

namespace mlir::fusion {

/// The number of the argument of its block that `yielded` is, but for a slice
/// that is written in place; none for other values.
std::optional<unsigned> getOverwrittenArgument(Value yielded);

} // namespace mlir::fusion

#endif // FUSION_DIALECT_FUSION_FUSIONBUFFEROPS_H
