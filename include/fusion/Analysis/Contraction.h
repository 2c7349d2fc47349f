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
// in, and where the factors come from. Planning, scheduling and the prices of
// both decide by it, and the reference knows by it which products lose digits;
// code generation emits what the schedule says and asks here for element types.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_CONTRACTION_H
#define FUSION_ANALYSIS_CONTRACTION_H

#include "fusion/Analysis/Lookups.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <array>

namespace mlir::fusion {

/// The terms of a sum, each with its constant factor; none when a term is
/// another operation than that product.
std::optional<SmallVector<std::pair<int64_t, AffineExpr>>>
getScaledTerms(AffineExpr sum);

/// The value that `factor` is a lossless conversion of: extensions of floats
/// and integers, and integers of up to 8 bits made floats.
Value stripExtensions(Value factor);

/// The element types in which the products of factors of types `a` and `b`,
/// added up in `sum`, can be made without change of any value and in which
/// tensor cores take them; null types if there are none.
std::array<Type, 2> getNarrowTypes(Type a, Type b, Type sum);

/// The unit attribute of operations, functions and modules by which a program
/// asks for tf32.
constexpr llvm::StringLiteral kTF32AttrName = "fusion.tf32";

/// True when the program lets products of f32 factors of `op` be made in tf32
/// (docs/Numerics.md).
bool allowsTF32(Operation *op);

/// One factor of a contraction.
struct ContractionOperand {
  /// The operand of the structured operation.
  Value tensor;
  /// The argument of the kernel that it is an elementwise function of, that it
  /// pads with zeros, that it is the beginning of, or where it is looked up, or
  /// null when several
  /// arguments or other operations make it. The factors of a convolution may
  /// have channels in groups that are not in groups in the argument.
  Value source;
  /// No arithmetic but lossless conversions lies between `source` and the
  /// product, and none at all: the product reads it as it is in memory.
  bool direct = false;
  /// Element type that the product is made in.
  Type element;
  /// For images whose windows the other factor is multiplied with: the
  /// contracted dimension that neighbours in memory lie along, the channels.
  std::optional<unsigned> channels;
  /// For images that keep their channels and whose windows are what is
  /// contracted, as for the gradient of a filter: the contracted dimensions
  /// that count images and windows, in the order of memory.
  SmallVector<unsigned> places;
  /// How elements are found in `source` where tables say where they lie, and
  /// the iteration dimension of each loop of that.
  std::optional<Lookup> lookup;
  SmallVector<unsigned> lookupDims;
};

/// A structured operation that adds up products of two factors.
struct Contraction {
  linalg::LinalgOp op;
  /// Operand 0 gives the rows, operand 1 the columns.
  std::array<ContractionOperand, 2> operands;
  /// Type in which products are added up.
  Type sum;
  /// Products of f32 factors may be made in tf32.
  bool tf32 = false;
  /// Iteration dimensions by role, in increasing order.
  SmallVector<unsigned> rows, columns, contracted, batch;
  /// When each row is multiplied with the matrix of its group only: how, and
  /// the dimensions that count groups and rows. The former has no role.
  std::optional<GroupedSum> grouped;
  unsigned groupDim = 0, groupedDim = 0;

  /// The dimensions of the result that operand `side` alone has.
  ArrayRef<unsigned> getOwn(unsigned side) const {
    return side == 0 ? rows : columns;
  }
};

/// The contraction that `op` is, if it is one: a single result that adds, to
/// what it had, products of values of two different inputs. `dimOfLoop` numbers
/// its loops, `isOutside` tells the tensors that a kernel around it reads.
std::optional<Contraction>
matchContraction(linalg::LinalgOp op,
                 llvm::function_ref<unsigned(unsigned)> dimOfLoop,
                 llvm::function_ref<bool(Value)> isOutside);

/// Where the operation reads the tensor of operand `side`; null for a tensor
/// that it does not read.
OpOperand *getFactor(const Contraction &sum, unsigned side);

/// True when the loops of the operation index the operand's tensor plainly, as
/// a matrix's do: each dimension by one loop of its own.
bool isPlain(const Contraction &sum, unsigned side);

/// The longest run of `dims`, up to the last, that lie side by side in every
/// one of `tensors` (lists of dimensions with more than one element) that has
/// the last: one axis can run through them. `dims` are in increasing order.
SmallVector<unsigned>
getMergeableDims(ArrayRef<unsigned> dims,
                 ArrayRef<SmallVector<unsigned>> tensors,
                 llvm::function_ref<int64_t(unsigned)> extentOf);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_CONTRACTION_H
