//===- Cascades.h - Reductions that follow one another ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what lets a reduction share one walk with an earlier one
// whose result its elements depend on: while the earlier result is that of the
// elements so far, what the later one has added up is repaired by a factor
// whenever it changes. docs/Rationale/Cascades.md has the condition and its
// proof.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_CASCADES_H
#define FUSION_ANALYSIS_CASCADES_H

#include "fusion/Analysis/BodyValues.h"

namespace mlir::fusion {

/// How the elements of a sum depend on the result m of an earlier maximum or
/// minimum: f(x, m') = f(x, m) e^(scale (m - m')), with the base of
/// `exponential`.
struct Repair {
  /// Where elements of the later reduction read m, by its loops.
  TensorElement source;
  /// A `math.exp` or `math.exp2`.
  Operation *exponential = nullptr;
  /// Positive for maxima and negative for minima, so that the factor is at most
  /// one: partial sums do not overflow where the whole one does not.
  double scale = 1;
};

/// What is done to the elements of a sum, the same for all of them, by earlier
/// results: the whole sum can have it done instead, when all are known. Either
/// they are divided by an earlier sum of exponentials relative to their
/// maximum, which is at least one, and none of its terms is above one: what is
/// not divided yet neither overflows nor loses more digits. Or zero is chosen
/// instead of all of them.
struct Deferral {
  /// Where elements of the later reduction read the divisor, or what chooses.
  TensorElement source;
  /// The operation of a body that divides, multiplies by the reciprocal, or
  /// chooses, and the operand that is the element.
  Operation *application = nullptr;
  unsigned element = 0;
  /// What the division, or that which makes the reciprocal, may be.
  arith::FastMathFlags fastmath = arith::FastMathFlags::none;

  bool isChoice() const { return isa<arith::SelectOp>(application); }
};

/// How the elements of a sum depend on earlier results.
struct CascadeLinks {
  SmallVector<Repair> repairs;
  /// From the last that is applied to the first.
  SmallVector<Deferral> deferrals;
  /// Operations that round what a factor is repaired or applied in later: in a
  /// walk they round another number.
  SmallVector<Operation *> roundings;
};

/// What lets sum `op` share a walk with `earlier`, reductions of one result
/// each; nothing where it depends on none of them. Fails when it depends on one
/// in any other way.
FailureOr<CascadeLinks> matchRepairs(linalg::LinalgOp op,
                                     ArrayRef<linalg::LinalgOp> earlier);

/// True for reductions of one result that keep one type, those that
/// `matchRepairs` is about.
bool isPlainReduction(linalg::LinalgOp op);

/// True when `op` combines values of several operands along some loops: sums of
/// products, whether or not they are contractions. Those of a single row are
/// none, until several rows that share a matrix are taken together.
bool sumsProducts(linalg::LinalgOp op);

/// True when an operation of `op`'s block that `op` needs is in `others`.
bool needsAny(Operation *op, ArrayRef<Operation *> others);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_CASCADES_H
