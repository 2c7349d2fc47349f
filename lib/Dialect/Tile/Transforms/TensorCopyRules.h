//===- TensorCopyRules.h - Rules of the tensor copy engine ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what copies of boxes and copies of windows have in common.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_TENSORCOPYRULES_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_TENSORCOPYRULES_H

#include "fusion/Dialect/Tile/Transforms/TensorCopy.h"

namespace mlir::fusion::tile {

/// The terms that `expr` adds up.
void collectTerms(AffineExpr expr, SmallVector<AffineExpr> &terms);

bool hasDims(AffineExpr expr);

/// Checks what does not depend on the coordinates of `access`.
LogicalResult checkTensor(const Access &access, std::string &whyNot);

/// Sets the boxes and the buffer of `copy`, whose `dims` and `fastDim` are
/// known; boxes have at most `maxRows` elements of the tile's first dimension.
LogicalResult setBoxes(const Access &access, int64_t maxRows, TensorCopy &copy,
                       std::string &whyNot);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_TENSORCOPYRULES_H
