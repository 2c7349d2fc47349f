//===- MergeFlatSums.h - Numbers of elements of fewer loops -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rewrite of sums that number the elements of several
// loops for loops that became one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_MERGEFLATSUMS_H
#define FUSION_LIB_FUSIONPLANNING_MERGEFLATSUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fusion {

/// Writes `i * extent + j` in `op` as the index of loop `i`, where `follows`
/// has loop `j`: one that counts the elements of both.
void mergeFlatSums(linalg::LinalgOp op, const llvm::SmallBitVector &follows);

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_MERGEFLATSUMS_H
