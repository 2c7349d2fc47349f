//===- Permutations.h - Permuted dimensions, and moving them ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares operations that permute the dimensions of a tensor, and
// how they move: up past operations that give their operand another shape, down
// past whatever works as well on permuted tensors. Where two meet that undo
// each other, nothing is left of them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_PERMUTATIONS_H
#define FUSION_LIB_FUSIONPLANNING_PERMUTATIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// Dimensions in an order: the old one of each new one.
using DimOrder = SmallVector<unsigned>;

/// The order that undoes `order`.
DimOrder invertOrder(ArrayRef<unsigned> order);

/// A tensor that is another one with its dimensions in another order.
struct Permutation {
  linalg::GenericOp op;
  Value source;
  /// The dimension of the source that each one is.
  DimOrder order;
};

/// The permutation that makes `tensor`, if one does.
std::optional<Permutation> matchPermutation(Value tensor);

/// An operation that writes `tensor`, of static shape, with its dimensions in
/// `order`.
linalg::GenericOp createPermutation(OpBuilder &builder, Location loc,
                                    Value tensor, ArrayRef<unsigned> order);

/// `tensor`, of static shape, with its dimensions in `order`, for `user`:
/// itself, what it is a permutation of, or written by an operation before the
/// reshapes, pads and slices that make it.
Value buildPermuted(Value tensor, ArrayRef<unsigned> order, Operation *user);

/// Lets the result of `op`, its only one, have its dimensions in `order` and
/// the kept loops of `op` that of its result; the contracted loops are last, in
/// the order of `reduced`. Users read it through a permutation, which is
/// returned.
Permutation permuteResult(linalg::GenericOp op, ArrayRef<unsigned> order,
                          ArrayRef<unsigned> reduced);

/// Lets `operand` of a structured operation read what its tensor, made by
/// `permutation`, is a permutation of.
void readSource(OpOperand &operand, const Permutation &permutation);

/// Moves `permutation` behind its users, as far as each can work on its source
/// instead. Products stay where they are: what they take is their own decision.
void sinkPermutation(const Permutation &permutation);

/// Erases what makes `tensor`, permutations, reshapes, pads and slices, if
/// nothing needs it.
void eraseUnused(Value tensor);

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_PERMUTATIONS_H
