//===- Contraction.h - Sums of products of two factors ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis of contractions: which loops are rows,
// columns, contracted or batch, which element types the products can be made
// in, and where the factors come from. Scheduling decides by it and code
// generation emits by it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_CONTRACTION_H
#define FUSION_ANALYSIS_CONTRACTION_H

#include "fusion/Analysis/IterationSpace.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <array>

namespace mlir::fusion {

/// The value that `factor` is a lossless conversion of: extensions of floats
/// and integers, and integers of up to 8 bits made floats.
Value stripExtensions(Value factor);

/// The element types in which the products of factors of types `a` and `b`,
/// added up in `sum`, can be made without change of any value and in which
/// tensor cores take them; null types if there are none.
std::array<Type, 2> getNarrowTypes(Type a, Type b, Type sum);

/// One factor of a contraction.
struct ContractionOperand {
  /// The operand of the structured operation.
  Value tensor;
  /// The argument of the kernel that it is an elementwise function of, or null
  /// when several arguments or other operations make it.
  Value source;
  /// No arithmetic but lossless conversions lies between `source` and the
  /// product, and none at all: the product reads it as it is in memory.
  bool direct = false;
  /// Element type that the product is made in.
  Type element;
};

/// A structured operation that adds up products of two factors.
struct Contraction {
  linalg::LinalgOp op;
  /// Operand 0 gives the rows, operand 1 the columns.
  std::array<ContractionOperand, 2> operands;
  /// Type in which products are added up.
  Type sum;
  /// Iteration dimensions by role, in increasing order.
  SmallVector<unsigned> rows, columns, contracted, batch;
};

/// The contraction that `op` is, if it is one: a single result that adds, to
/// what it had, products of values of two different inputs.
std::optional<Contraction> matchContraction(linalg::LinalgOp op,
                                            const IterationSpace &space);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_CONTRACTION_H
