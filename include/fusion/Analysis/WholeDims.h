//===- WholeDims.h - Dimensions that tensor ops keep whole ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares when a loop that an operation reads a tensor along is a
// dimension of that tensor: when it walks the dimension from end to end. A loop
// over a part of it is another one, though its coordinates may be equal.
// Planning and scheduling both ask here, so that the kernels that planning
// forms have the loops that it priced.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_WHOLEDIMS_H
#define FUSION_ANALYSIS_WHOLEDIMS_H

#include "fusion/Analysis/SymbolicShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {

/// True when `slice` takes all of dimension `dim` of its source.
bool takesWhole(tensor::ExtractSliceOp slice, unsigned dim,
                SymbolicShapes &shapes);

/// True when `insert` writes all of dimension `dim` of its destination.
bool takesWhole(tensor::InsertSliceOp insert, unsigned dim,
                SymbolicShapes &shapes);

/// True when `pad` adds nothing along dimension `dim`.
bool takesWhole(tensor::PadOp pad, unsigned dim);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_WHOLEDIMS_H
