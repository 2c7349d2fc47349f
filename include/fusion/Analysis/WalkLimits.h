//===- WalkLimits.h - What of a walk has elements ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares which elements of reductions are the identity of their
// combination because of where they are: those that a mask of positions, causal
// or of a window, removes. A walk leaves out steps of nothing but these.
// docs/Rationale/Cascades.md says what that changes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_WALKLIMITS_H
#define FUSION_ANALYSIS_WALKLIMITS_H

#include "fusion/Support/LinearExpr.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// An integer that a limit depends on beside positions: a scalar, the same for
/// all elements, or the element of a tensor at coordinates that loops or
/// dimensions give, such as the length of a sequence.
struct LimitSymbol {
  Value value;
  /// Of a tensor.
  SmallVector<AffineExpr> coords;

  bool operator==(const LimitSymbol &other) const {
    return value == other.value && coords == other.coords;
  }
  bool isElement() const { return isa<ShapedType>(value.getType()); }
};

/// Linear expressions over the loops of reduction `op` and over `symbols`, to
/// which it adds. Wherever one of them is negative, the element is the identity
/// of the combination, or NaN because of infinite or NaN operands. Elements of
/// tensors are symbols where `isInput` says that the tensor is in memory before
/// the kernel begins.
SmallVector<AffineExpr, 2>
findElementLimits(linalg::LinalgOp op, SmallVectorImpl<LimitSymbol> &symbols,
                  function_ref<bool(Value)> isInput);

/// The same where the loops of `op` are `loops`: expressions of these, and of
/// what `getSymbol` gives for a symbol with coordinates of these. Limits by
/// symbols that it gives nothing for are left out.
SmallVector<AffineExpr, 2>
findLimitsAt(linalg::LinalgOp op, ArrayRef<AffineExpr> loops,
             function_ref<bool(Value)> isInput,
             function_ref<AffineExpr(const LimitSymbol &)> getSymbol);

/// The symbol of `limit` that differs along dimension `walked`, all else being
/// the same there: of an element of the walk, data alone say whether it may
/// count. Its factor is 1, and what it is a least value follows from, or -1,
/// and it is a greatest one. Symbol `first` of the limit is the first of
/// `symbols`, and elements are at coordinates that no other dimension is part
/// of.
std::optional<unsigned> findDataSymbol(const LinearExpr &limit, unsigned walked,
                                       ArrayRef<LimitSymbol> symbols,
                                       unsigned first);

/// Keeps those of `limits` that are among `others`, too.
void intersectLimits(SmallVectorImpl<AffineExpr> &limits,
                     ArrayRef<AffineExpr> others);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_WALKLIMITS_H
