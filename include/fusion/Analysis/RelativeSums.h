//===- RelativeSums.h - Sums of log-probabilities ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis of sums whose terms are linear in values that
// are constant along them and follow from softmax statistics of the same loops:
// divergences, entropies and losses over probabilities.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_RELATIVESUMS_H
#define FUSION_ANALYSIS_RELATIVESUMS_H

#include "fusion/Analysis/BodyValues.h"

namespace mlir::fusion {

/// A maximum and the sum of exponentials relative to it, of one reduction or of
/// two.
struct SoftmaxStatistics {
  linalg::LinalgOp maximum, sum;

  bool areJoined() const { return maximum == sum; }
  Value getMaximum() const { return linalg::LinalgOp(maximum)->getResult(0); }
  Value getSum() const {
    return linalg::LinalgOp(sum)->getResult(areJoined() ? 1 : 0);
  }
  /// What the maximum is of, in the body of its reduction, and the operation
  /// that combines.
  Value getElement() const;
  Operation *getCombiner() const;
};

/// A value that is added, or subtracted.
struct SignedValue {
  BodyValue value;
  bool isNegative = false;
};

/// A value that is constant along a sum and multiplies it, or divides it.
struct ConstantFactor {
  BodyValue value;
  bool isDivisor = false;
};

/// A sum of terms
///
///   +-c e^(b + (x_j - m_j)) u (e + p + sum of +-(x_k - m_k))
///
/// where c, b and e are constant along the loops `reduced`, along which m_k is
/// the maximum of x_k, e is a sum of logarithms, and x, u and p depend on no m.
/// There may be others, q, beside a term without c, b and x_j. The sum is
///
///   +-c e^b (A + e B)
///
/// of A and B of a LinearSum (fusion/Analysis/Reductions.h), with q + u p as
/// its q.
struct RelativeSum {
  linalg::LinalgOp sum;
  /// Those of its loops along which statistics are had; it may reduce others.
  llvm::SmallBitVector reduced;
  /// Where it reads these, by its loops.
  SmallVector<AffineExpr> coords;
  /// m_k and the sum of exponentials relative to it, with x_k as the sum reads
  /// it.
  struct Source {
    SoftmaxStatistics statistics;
    BodyValue element;
  };
  SmallVector<Source, 2> sources;
  SmallVector<LinearSum::Distance, 2> distances;
  std::optional<unsigned> base;
  /// The sums q, p, e and b, and the products u and c.
  SmallVector<SignedValue> beside, plain, constants, exponents;
  SmallVector<BodyValue> weights;
  SmallVector<ConstantFactor> factors;
  bool isNegative = false;
  /// False where terms depend on statistics in another way.
  bool isLinear = false;
};

/// The form of `sum` if its terms depend on softmax statistics along loops that
/// it reduces, linearly or on such as `rescaled-sum` made. By how many
/// operations they are computed does not matter.
std::optional<RelativeSum> findRelativeSum(linalg::LinalgOp sum);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_RELATIVESUMS_H
