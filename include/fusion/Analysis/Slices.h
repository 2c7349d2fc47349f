//===- Slices.h - Slices of tensors -----------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares a rewrite of slices that drop dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_SLICES_H
#define FUSION_ANALYSIS_SLICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fusion {

/// Groups of all dimensions, one for each that is not `dropped`, in order: what
/// a reshape needs that drops, or adds, dimensions of size one.
SmallVector<ReassociationIndices>
groupByKept(const llvm::SmallBitVector &dropped);

/// Makes a slice that drops dimensions of size 1 one of full rank, and reshapes
/// its result (the source of an insertion). Upstream finds the dropped
/// dimensions again by other rules than those of the op wherever it makes such
/// a slice anew: it exchanges sizes when it folds a constant offset of
/// `[%c0, 0, 0] [2, 2, 1]` to `tensor<2x2>`, and reads beyond the end when it
/// bufferizes a stride of a dimension of size 1.
void expandRankReduction(tensor::ExtractSliceOp slice);
void expandRankReduction(tensor::InsertSliceOp insert);

/// Makes a slice, and padding of what is left, of padding of which a constant
/// width is negative. Upstream takes padding that keeps a type for none, one
/// element more before and one less behind too.
void cutNegativePadding(tensor::PadOp pad);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_SLICES_H
