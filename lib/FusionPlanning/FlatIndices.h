//===- FlatIndices.h - Loop indices that count elements ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what loop indices are used for: the number of an element,
// (i n + j) m + k, survives when loops become one, other uses do not.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_FLATINDICES_H
#define FUSION_LIB_FUSIONPLANNING_FLATINDICES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fusion {

/// The uses of loop indices in the body of an op.
class FlatIndices {
public:
  explicit FlatIndices(linalg::LinalgOp op);

  /// True when the body says the same of one loop over both: it uses neither
  /// index, or both only as index `first` times the extent of `second` plus
  /// index `second`.
  bool areOneLoop(unsigned first, unsigned second) const;

  /// Writes such sums as the index of `first`, where `follows` has `second`:
  /// one that counts the elements of both.
  static void merge(linalg::LinalgOp op, const llvm::SmallBitVector &follows);

private:
  /// A neighbour of a loop in a sum: kNone where the sum begins or ends with
  /// the loop, kOther where it is no such sum.
  static constexpr int kNone = -1, kOther = -2;

  void addUses(Value index, unsigned loop);
  void addAfter(Value sum, unsigned loop);

  SmallVector<int64_t> extents;
  /// Of each loop.
  SmallVector<SmallVector<int>> before, after;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_FLATINDICES_H
