//===- Random.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the generator behind dropout, written once for all ops
// that draw.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_RANDOM_H
#define FUSION_LIB_DIALECT_FUSION_RANDOM_H

#include "Decomposition.h"

namespace mlir::fusion {

/// Where a dropout draws: a stream per seed and op.
struct RandomStream {
  Value seed;
  int64_t opId;
};

/// The i1 that keeps the element at the current loop indices, as
/// `fusion.dropout` documents it: `shape` has one size per loop.
Scalar buildKeep(ImplicitLocOpBuilder &body, ArrayRef<OpFoldResult> shape,
                 RandomStream stream, double probability);

} // namespace mlir::fusion

#endif // FUSION_LIB_DIALECT_FUSION_RANDOM_H
