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

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// Linear expressions over the loops of reduction `op` and over `symbols`,
/// scalars that are the same for all elements, to which it adds. Wherever one
/// of them is negative, the element is the identity of the combination, or NaN
/// because of infinite or NaN operands.
SmallVector<AffineExpr, 2> findElementLimits(linalg::LinalgOp op,
                                             SmallVectorImpl<Value> &symbols);

/// Keeps those of `limits` that are among `others`, too.
void intersectLimits(SmallVectorImpl<AffineExpr> &limits,
                     ArrayRef<AffineExpr> others);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_WALKLIMITS_H
