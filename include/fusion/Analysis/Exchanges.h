//===- Exchanges.h - Coordinates that differ in a bit -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the recognition of coordinates that are one loop with some
// of its bits flipped, such as the other half of a rotated pair, and of the
// index arithmetic that such coordinates are written in.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_EXCHANGES_H
#define FUSION_ANALYSIS_EXCHANGES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace mlir::fusion {

/// A coordinate that is dimension `dim` with the bits of `mask` flipped; the
/// dimension itself when the mask is zero.
struct Exchange {
  unsigned dim = 0;
  int64_t mask = 0;

  /// The elements that stay among themselves: the power of two above the mask.
  int64_t getSpan() const {
    return mask ? int64_t(2) << llvm::Log2_64(mask) : 1;
  }
};

/// `expr xor mask` as an affine expression. Precondition: `mask` is positive.
AffineExpr flipBits(AffineExpr expr, int64_t mask);

/// The exchange that `expr`, whatever its form, is on all of [0, extent) of the
/// one dimension that it depends on; also beyond when `extent` is none. Flipped
/// coordinates stay below the extent. `getExtent` gives the size of a dimension
/// where it is known.
std::optional<Exchange>
matchExchange(AffineExpr expr,
              llvm::function_ref<std::optional<int64_t>(unsigned)> getExtent);

/// What `def`, an addition, a subtraction or a product by a constant, makes of
/// its operands `lhs` and `rhs`; none for other operations.
std::optional<AffineExpr> combineLinearly(Operation *def, AffineExpr lhs,
                                          AffineExpr rhs);

/// `index`, computed in the body of `op`, as an affine expression of its loops,
/// if it is one of arithmetic with constants.
std::optional<AffineExpr> getIndexExpr(linalg::LinalgOp op, Value index);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_EXCHANGES_H
