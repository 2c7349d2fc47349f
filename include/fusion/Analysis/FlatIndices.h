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

#ifndef FUSION_ANALYSIS_FLATINDICES_H
#define FUSION_ANALYSIS_FLATINDICES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// outer * extent + inner, `inner` being the index of `loop`.
struct FlatSum {
  arith::AddIOp sum;
  arith::MulIOp product;
  Value outer, inner;
  int64_t extent;
  unsigned loop;

  static std::optional<FlatSum> match(Operation *op);
  /// The loop whose index `outer` is or ends with.
  std::optional<unsigned> getOuterLoop() const;
  /// `outer` is an index, and no such sum.
  bool beginsWithIndex() const;
};

/// The uses of loop indices in the body of an op.
class FlatIndices {
public:
  explicit FlatIndices(linalg::LinalgOp op);

  /// True when the body says the same of one loop over both: it uses neither
  /// index, or both only as index `first` times the extent of `second` plus
  /// index `second`.
  bool areOneLoop(unsigned first, unsigned second) const;

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

#endif // FUSION_ANALYSIS_FLATINDICES_H
