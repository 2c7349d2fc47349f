//===- ProductResults.h - What is made of products --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the search for products that tensors are elementwise
// functions of.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_PRODUCTRESULTS_H
#define FUSION_LIB_FUSIONPLANNING_PRODUCTRESULTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// True when `op` is a product that tensor cores might make.
bool isProduct(linalg::LinalgOp op);

/// True for an elementwise operation with one result that has all loops in
/// order.
bool isElementwise(linalg::LinalgOp op);

/// The product that `tensor` is an elementwise function of, if there is one.
linalg::LinalgOp findProduct(Value tensor);

/// The sizes of the loops of `op`; none when a size cannot be had without
/// computing something.
std::optional<SmallVector<OpFoldResult>> getLoopSizes(linalg::LinalgOp op);

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_PRODUCTRESULTS_H
