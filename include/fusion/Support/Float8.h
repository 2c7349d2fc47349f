//===- Float8.h - The 8-bit floats of the project ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines which 8-bit floats are computed with. Tensor cores take the
// same ones.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_FLOAT8_H
#define FUSION_SUPPORT_FLOAT8_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::fusion {

inline bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// The product of two such numbers is exact in f32: 11 bits of precision and an
/// exponent of 5 at most.
inline bool hasExactProducts(Type type) {
  return type.isF16() || isFloat8(type);
}

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_FLOAT8_H
