//===- FirstProducts.h - Sums that begin with a product ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the recognition of sums whose zeros need not be written,
// since the first product puts its own result in their place.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_FIRSTPRODUCTS_H
#define FUSION_LIB_CONVERSION_TILETONVVM_FIRSTPRODUCTS_H

#include "fusion/Dialect/Tile/IR/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fusion {

/// The loops that carry the sums of `product`, from the inside, when the sums
/// are zero before them and nothing but `product` reads them there: in the
/// first iteration of all of them the sums are those zeros. Nothing when the
/// sums may be something else, or when there may be no first iteration.
std::optional<llvm::SmallVector<scf::ForOp, 2>>
findSumLoops(tile::MmaAsyncOp product);

/// True for the initial value of an iteration argument that holds sums as
/// above.
bool isSumOfFirstProduct(OpOperand &init);

/// Sums of `type` that products before `op` in its block have made, and that
/// are kept rounded and read no more; null without any. Sums that begin with a
/// product may begin in their registers: others, which nothing has written,
/// would be reserved all the time.
Value findEarlierSums(Operation *op, Type type);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_FIRSTPRODUCTS_H
