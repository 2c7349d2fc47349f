//===- SymbolicShapes.h - Sizes as expressions over symbols ----*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis that gives every tensor size and every index
// computation of a function as an affine expression over the function's
// symbolic dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_SYMBOLICSHAPES_H
#define FUSION_ANALYSIS_SYMBOLICSHAPES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::fusion {

/// Sizes of the tensors of one function, inside and outside its kernels.
///
/// A dynamic dimension of a function argument is a symbol. Dimensions that the
/// argument attribute `fusion.dims` gives one name are one symbol; a dimension
/// without a name is called `argI.D`. Arguments of a `fusion.kernel` body have
/// the sizes of the kernel's operands, so expressions inside and outside a
/// kernel are over the same symbols.
class SymbolicShapes {
public:
  /// One symbol and the places it can be read from.
  struct Symbol {
    std::string name;
    /// (argument number, dimension) pairs, all of one size.
    SmallVector<std::pair<unsigned, unsigned>, 2> places;
  };

  explicit SymbolicShapes(FunctionOpInterface func);

  ArrayRef<Symbol> getSymbols() const { return symbols; }

  /// The size of each dimension of `tensor`; fails when a size depends on data.
  FailureOr<SmallVector<AffineExpr>> getShape(Value tensor);

  /// The value of an `index` (or integer) computation over sizes and constants;
  /// fails when it depends on data.
  FailureOr<AffineExpr> getIndex(Value index);

  /// The value of a size given statically or by an SSA value.
  FailureOr<AffineExpr> getIndex(OpFoldResult index);

  MLIRContext *getContext() const { return context; }

private:
  FailureOr<SmallVector<AffineExpr>> computeShape(Value tensor);
  FailureOr<AffineExpr> computeIndex(Value index);

  MLIRContext *context;
  FunctionOpInterface function;
  SmallVector<Symbol> symbols;
  DenseMap<Value, SmallVector<AffineExpr>> shapes;
  DenseMap<Value, AffineExpr> indices;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_SYMBOLICSHAPES_H
