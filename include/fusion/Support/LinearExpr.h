//===- LinearExpr.h - Affine expressions as sums ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the form of affine expressions without divisions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_LINEAREXPR_H
#define FUSION_SUPPORT_LINEAREXPR_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir::fusion {

/// A linear expression: the sum of dimensions and of symbols, each times its
/// factor, and a number.
struct LinearExpr {
  llvm::SmallVector<int64_t> factors, symbols;
  int64_t number = 0;
};

/// `expr`, over `numDims` dimensions and `numSymbols` symbols; nothing where it
/// is not linear in them: where it divides, or multiplies two of them.
std::optional<LinearExpr> getLinear(AffineExpr expr, unsigned numDims,
                                    unsigned numSymbols);

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_LINEAREXPR_H
