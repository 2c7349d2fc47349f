//===- SharedDivisors.h - Quotients by one divisor --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares quotients by divisors that several of a thread's have.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_SHAREDDIVISORS_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_SHAREDDIVISORS_H

#include "mlir/IR/Operation.h"

namespace mlir::fusion {

/// Lets quotients of f32 below `root` that have a divisor in common share its
/// reciprocal, where they are enough; they are rounded as before, but for those
/// that may be approximate.
void shareReciprocals(Operation *root);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_SHAREDDIVISORS_H
