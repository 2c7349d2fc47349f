//===- LowerImports.h - Ops that importers write ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how single ops that importers write become ops of the
// normal form.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PREPROCESSING_LOWERIMPORTS_H
#define FUSION_LIB_PREPROCESSING_LOWERIMPORTS_H

#include "fusion/Analysis/SymbolicShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {

/// A tensor that equals the result of `op`, made of casts, collapses and
/// expansions in front of it. Fails, with an error, where the shape depends on
/// data or has another number of elements.
FailureOr<Value> lowerReshape(tensor::ReshapeOp op, SymbolicShapes &shapes,
                              OpBuilder &builder);

/// A tensor that equals the result of `op`, made of generics in front of it:
/// for every place the last index that names it, then the element there.
FailureOr<Value> lowerScatter(tensor::ScatterOp op, OpBuilder &builder);

/// The scalar that `op` reads, at constant indices, of a tensor that is put
/// together from scalars; null if it is not.
Value findStatedElement(tensor::ExtractOp op, OpBuilder &builder);

} // namespace mlir::fusion

#endif // FUSION_LIB_PREPROCESSING_LOWERIMPORTS_H
