//===- NearIndex.h - Where computed coordinates lie about -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what prices know of coordinates that are computed from
// loops alone, but by more than affine arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_NEARINDEX_H
#define FUSION_ANALYSIS_NEARINDEX_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// `index`, computed in the body of `op` or in tensors that it reads, as an
/// affine expression of its loops, but for where it is cut off at bounds and
/// for conditions, which count for nothing. None when data take part in it.
/// Good for prices only: places that are near in the one are near in the other.
std::optional<AffineExpr> getNearIndex(linalg::LinalgOp op, Value index);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_NEARINDEX_H
