//===- DivisorGuard.h - Divisions always defined ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the divisors of a program's divisions of integers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_DIVISORGUARD_H
#define FUSION_LIB_CODEGEN_DIVISORGUARD_H

#include "TileBuilder.h"

namespace mlir::fusion {

/// When `op` divides integers: replaces its divisor among `tiles`, its
/// operands, by 1 where the division is undefined.
void guardDivisor(Operation *op, MutableArrayRef<Tile> tiles,
                  TileBuilder &builder);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_DIVISORGUARD_H
