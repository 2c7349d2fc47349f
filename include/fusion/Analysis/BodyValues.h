//===- BodyValues.h - What bodies compute, across operations ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what reductions that depend on one another are found by:
// how values follow from others does not depend on how many operations compute
// them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_BODYVALUES_H
#define FUSION_ANALYSIS_BODYVALUES_H

#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// An element of a tensor, at coordinates that the loops of a reduction give.
struct TensorElement {
  Value tensor;
  SmallVector<AffineExpr> coords;
};

/// A value of an operation's body, at the point of its loops that those of a
/// reduction give.
struct BodyValue {
  Value value;
  linalg::LinalgOp op;
  SmallVector<AffineExpr> point;

  BodyValue at(Value other) const { return {other, op, point}; }
  /// False for what the body captures from around the operation.
  bool isOfBody() const {
    return Value(value).getParentRegion() == &op->getRegion(0);
  }
};

/// Operations on the way from a value to what it depends on, at most.
constexpr unsigned kMaxBodyDepth = 16;

/// The element of an operand, or of what that gives or takes dimensions of size
/// one, that `value` is, if it is one.
std::optional<TensorElement> getElement(const BodyValue &value);

/// What computes `element`, before it is reshaped, where that is done point by
/// point.
std::optional<BodyValue> getProducer(const TensorElement &element);

/// `value`, or what computes it, when `Op` does.
template <typename Op>
std::pair<Op, BodyValue> findOp(BodyValue value) {
  for (unsigned depth = 0; depth < kMaxBodyDepth; ++depth) {
    if (auto op = value.value.getDefiningOp<Op>())
      return {op, value};
    std::optional<TensorElement> element = getElement(value);
    std::optional<BodyValue> producer =
        element ? getProducer(*element) : std::nullopt;
    if (!producer)
      break;
    value = *producer;
  }
  return {nullptr, value};
}

/// The element of a reduction's result that `value` is.
std::optional<TensorElement> findReduced(BodyValue value);

/// The only combiner of `op`, a reduction that begins with its identity and
/// keeps one type.
std::optional<Combiner> getOnlyCombiner(linalg::LinalgOp op);

/// The loops of `op`, as they are.
SmallVector<AffineExpr> getLoops(linalg::LinalgOp op);

/// Compares what an earlier reduction is made of with what is computed at the
/// loops of a later one, and finds out which loop of the later each of the
/// earlier one's is.
class LoopMatcher {
public:
  LoopMatcher(linalg::LinalgOp later, linalg::LinalgOp earlier);
  /// Of the loops of the later one that it reduces, `reduced` are meant; others
  /// it might as well keep.
  LoopMatcher(linalg::LinalgOp later, linalg::LinalgOp earlier,
              llvm::SmallBitVector reduced)
      : later(later), earlier(earlier), loops(earlier.getNumLoops()),
        taken(later.getNumLoops()), reduced(std::move(reduced)) {}

  /// The results of the earlier one are at `coords`, where the later has its
  /// own.
  bool haveSameResults(ArrayRef<AffineExpr> coords);
  /// The results of the earlier one are at `coords`.
  bool haveResultsAt(ArrayRef<AffineExpr> coords);
  /// `value` is what `other`, of the earlier one's body, is.
  bool areSame(const BodyValue &value, const BodyValue &other,
               unsigned depth = 0);
  bool knowsAll() {
    return taken.all() && later.getNumLoops() == earlier.getNumLoops();
  }

private:
  /// Both run along one dimension.
  bool isSameLoop(AffineExpr coord, AffineExpr own);
  bool areSameLoops(ArrayRef<AffineExpr> coords, ArrayRef<AffineExpr> own);

  linalg::LinalgOp later, earlier;
  SmallVector<AffineExpr> loops;
  llvm::SmallBitVector taken, reduced;
};

/// The loops that `op` reduces.
llvm::SmallBitVector getReducedLoops(linalg::LinalgOp op);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_BODYVALUES_H
