//===- Scratch.h - Memory that blocks exchange in ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the global memory in which blocks hand sums to each other.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_SCRATCH_H
#define FUSION_LIB_CODEGEN_SCRATCH_H

#include "TileBuilder.h"

namespace mlir::fusion {

/// Memory for sums, and for the signals that they are there.
struct Scratch {
  Value slots, signals;
};

/// Memory for `numSlots` times `slotBytes` bytes; fails when their signals do
/// not fit.
FailureOr<Scratch> makeScratch(int64_t slotBytes, int64_t numSlots,
                               TileBuilder &builder);
/// Bytes of the elements of `tiles`.
int64_t countBytes(ValueRange tiles);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_SCRATCH_H
