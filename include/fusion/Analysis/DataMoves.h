//===- DataMoves.h - Operations that move elements --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines which operations move elements and compute none.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_DATAMOVES_H
#define FUSION_ANALYSIS_DATAMOVES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {

/// True for joins, pads and slices: their dimensions are those of what they
/// move. Null is none.
inline bool isDataMove(Operation *op) {
  return isa_and_nonnull<tensor::ConcatOp, tensor::PadOp,
                         tensor::ExtractSliceOp>(op);
}

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_DATAMOVES_H
