//===- SymbolicShapes.h - Sizes as expressions over symbols ----*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis that gives every tensor size and every index
// computation of a function as an affine expression over symbols: the dynamic
// dimensions and positions that a launch tells.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_SYMBOLICSHAPES_H
#define FUSION_ANALYSIS_SYMBOLICSHAPES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
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
/// without a name is called `argI.D`. An integer argument that sizes, positions
/// or assertions are computed from is a symbol called `argI`. The least or
/// greatest of several sizes, which is not affine, is a symbol of its own; what
/// depends on the sign of a number or on a comparison is written with them.
/// Arguments of a `fusion.kernel` body have the sizes of the kernel's operands,
/// so expressions inside and outside a kernel are over the same symbols.
class SymbolicShapes {
public:
  enum class SymbolKind { Size, Scalar, Least, Greatest };

  /// One symbol and where its value comes from.
  struct Symbol {
    std::string name;
    /// Size: (argument number, dimension) pairs, all of one size. Scalar: the
    /// number of the argument, with 0.
    SmallVector<std::pair<unsigned, unsigned>, 2> places;
    SymbolKind kind = SymbolKind::Size;
    /// Least and Greatest: of what, over symbols before this one.
    SmallVector<AffineExpr, 2> operands;

    bool isDerived() const {
      return kind == SymbolKind::Least || kind == SymbolKind::Greatest;
    }
  };

  explicit SymbolicShapes(FunctionOpInterface func);

  ArrayRef<Symbol> getSymbols() const { return symbols; }

  /// The size of each dimension of `tensor`; fails when a size depends on data.
  FailureOr<SmallVector<AffineExpr>> getShape(Value tensor);

  /// The value of an `index` (or integer) computation over sizes, positions and
  /// constants; fails when it depends on data.
  FailureOr<AffineExpr> getIndex(Value index);

  /// The value of a size given statically or by an SSA value.
  FailureOr<AffineExpr> getIndex(OpFoldResult index);

  /// True when `expr` is at least 0 for all sizes.
  bool isNonNegative(AffineExpr expr) const;

  MLIRContext *getContext() const { return context; }

private:
  FailureOr<SmallVector<AffineExpr>> computeShape(Value tensor);
  FailureOr<AffineExpr> computeIndex(Value index);
  FailureOr<AffineExpr> computeExtremum(Operation *op, SymbolKind kind);
  AffineExpr getExtremum(SymbolKind kind, ArrayRef<AffineExpr> operands);
  /// The values of both operands of `op`; what depends on data ends it at once,
  /// since nothing keeps that of it.
  FailureOr<std::pair<AffineExpr, AffineExpr>> getOperands(Operation *op);
  /// The quotient or remainder that `op` is, of numbers of any signs.
  FailureOr<AffineExpr> computeDivision(Operation *op);
  /// 1 where `condition`, a comparison of such values, holds and 0 otherwise.
  FailureOr<AffineExpr> computeCondition(Value condition);
  FailureOr<AffineExpr> computeSelect(arith::SelectOp select);
  /// The same of lhs >= rhs, or of the two as numbers without a sign.
  AffineExpr isAtLeast(AffineExpr lhs, AffineExpr rhs, bool isUnsigned = false);
  /// The value of result `number` of `map` on `operands`.
  FailureOr<AffineExpr> computeMap(AffineMap map, unsigned number,
                                   ValueRange operands);
  void addSizes(unsigned number, RankedTensorType type);
  void addScalar(unsigned number);

  MLIRContext *context;
  FunctionOpInterface function;
  SmallVector<Symbol> symbols;
  DenseMap<Value, SmallVector<AffineExpr>> shapes;
  DenseMap<Value, AffineExpr> indices;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_SYMBOLICSHAPES_H
