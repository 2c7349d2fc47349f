//===- RepackOperands.h - Operands laid out for tensor copies ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the repacking of operands of products: a light kernel
// writes an operand in a form that tensor copies and warpgroups take, where
// that and the faster product cost less than the product as it is.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_REPACKOPERANDS_H
#define FUSION_FUSIONPLANNING_REPACKOPERANDS_H

#include "fusion/FusionPlanning/FusionPlanner.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <map>

namespace mlir::fusion {

/// Writes operands of products anew, each of one form once.
class OperandRepacker {
public:
  /// What is written is marked as made for `reason`.
  explicit OperandRepacker(StringRef reason) : reason(reason) {}

  /// What a convolution, or the gradient of a filter, needs.
  struct Convolution;

  void setReason(StringRef newReason) { reason = newReason; }

  /// True when `product` is one of matrices or images of which some do not lie
  /// as warpgroups take them, by their types and maps alone.
  static bool applies(linalg::GenericOp product);

  /// Leaves `operand` as it is, in whatever products.
  void keep(Value operand) { kept.insert(operand); }
  /// The same for `product` as it is now, without operands that are kept.
  bool canRepack(linalg::GenericOp product) const;

  /// Replaces `product`, which it can repack, by one whose operands do.
  linalg::GenericOp repack(linalg::GenericOp product);

private:
  static bool areMatrices(linalg::GenericOp product);
  static bool areImages(linalg::GenericOp product);
  linalg::GenericOp repackMatrices(linalg::GenericOp product);
  linalg::GenericOp repackImages(linalg::GenericOp product);
  Value writeImage(linalg::GenericOp product, const Convolution &conv);
  Value writeFilter(linalg::GenericOp product, const Convolution &conv);
  linalg::GenericOp repackGradient(linalg::GenericOp product,
                                   const Convolution &conv);
  /// `operand` with its dimensions in `order` (the old one of each new) and
  /// zeros added up to `sizes`, written by a kernel.
  Value write(Value operand, ArrayRef<unsigned> order, ArrayRef<int64_t> sizes);
  /// The same with all dimensions in their order and zeros added to the last
  /// ones alone, up to `sizes`.
  Value writePadded(Value operand, ArrayRef<int64_t> sizes);
  /// Replaces `product` by one that reads `inputs` through `maps`.
  linalg::GenericOp replace(linalg::GenericOp product, ArrayRef<Value> inputs,
                            ArrayRef<AffineMap> maps,
                            ArrayRef<utils::IteratorType> kinds);
  /// Says of `value` what it is made for.
  void mark(Value value);

  StringRef reason;
  DenseSet<Value> kept;
  /// By operand and form.
  std::map<std::pair<void *, std::vector<int64_t>>, Value> written;
};

/// `tensor` with zeros added at the ends of its dimensions up to `sizes`.
Value buildPadded(OpBuilder &builder, Location loc, Value tensor,
                  ArrayRef<int64_t> sizes);

/// The first `sizes` elements of `tensor`, of static shape unless it has those
/// sizes.
Value buildCut(OpBuilder &builder, Location loc, Value tensor,
               ArrayRef<int64_t> sizes);

/// Repacks operands of those products of `func` that `isMeant` where that pays
/// on `target`: the product alone is planned with and without. What was
/// considered is added to `entries`, each with the product that shows it;
/// products there that are replaced are replaced there too.
void repackOperands(
    FunctionOpInterface func, const TargetInfo &target,
    const PlanOptions &options,
    SmallVectorImpl<std::pair<Operation *, LedgerEntry>> &entries,
    llvm::function_ref<bool(linalg::GenericOp)> isMeant);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_REPACKOPERANDS_H
