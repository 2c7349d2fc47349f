//===- SizeConditions.h - Sizes and conditions for a launch -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how symbolic sizes, and conditions on them, become the
// expressions that a package states and a launch evaluates.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_SIZECONDITIONS_H
#define FUSION_ANALYSIS_SIZECONDITIONS_H

#include "fusion/Analysis/SymbolicShapes.h"
#include "fusion/Executable/Expr.h"

namespace mlir::fusion {

/// `expr` over the symbols of `shapes` as a node of `pool`, whose symbols are
/// those of `shapes` that are not derived, in their order.
fusionpkg::ExprId convertSize(AffineExpr expr, const SymbolicShapes &shapes,
                              fusionpkg::ExprPool &pool);

/// The value of `condition`, an i1, as a node of `pool`: a constant where it
/// holds or fails for all sizes. Fails when it depends on data, or on
/// operations that a launch cannot evaluate.
FailureOr<fusionpkg::ExprId> convertCondition(Value condition,
                                              SymbolicShapes &shapes,
                                              fusionpkg::ExprPool &pool);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_SIZECONDITIONS_H
