//===- WholeDims.cpp - Dimensions that tensor ops keep whole --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements when a loop walks a dimension from end to end.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/WholeDims.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when `op` moves elements between a slice and dimension `dim` of `whole`
/// one by one, from the first to the last.
static bool coversDim(OffsetSizeAndStrideOpInterface op, Value whole,
                      unsigned dim, SymbolicShapes &shapes) {
  if (!isConstantIntValue(op.getMixedOffsets()[dim], 0) ||
      !isConstantIntValue(op.getMixedStrides()[dim], 1))
    return false;
  FailureOr<AffineExpr> size = shapes.getIndex(op.getMixedSizes()[dim]);
  FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(whole);
  return succeeded(size) && succeeded(shape) && *size == (*shape)[dim];
}

bool mlir::fusion::takesWhole(tensor::ExtractSliceOp slice, unsigned dim,
                              SymbolicShapes &shapes) {
  return coversDim(slice, slice.getSource(), dim, shapes);
}

bool mlir::fusion::takesWhole(tensor::InsertSliceOp insert, unsigned dim,
                              SymbolicShapes &shapes) {
  return coversDim(insert, insert.getDest(), dim, shapes);
}

bool mlir::fusion::takesWhole(tensor::PadOp pad, unsigned dim) {
  return isConstantIntValue(pad.getMixedLowPad()[dim], 0) &&
         isConstantIntValue(pad.getMixedHighPad()[dim], 0);
}
