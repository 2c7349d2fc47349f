//===- NestReductions.h - Reductions past those of rows ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the splitting of reductions whose inputs depend on an
// earlier reduction of some of their dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_NESTREDUCTIONS_H
#define FUSION_FUSIONPLANNING_NESTREDUCTIONS_H

#include "fusion/FusionPlanning/PricedRewrites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// A reduction of what is computed from an earlier one, element by element, or
/// of what another one reduces; or one that begins with some of its loops for
/// itself, without one.
struct NestedReduction {
  linalg::LinalgOp op, earlier;
  /// The loops of `op`, some of those that it reduces, that `earlier` reduces,
  /// or that it begins with.
  SmallVector<unsigned> inner;
  /// The same loops of `earlier`, if it reduces others that `op` keeps: both
  /// nest.
  SmallVector<unsigned> innerOfEarlier;
};

/// How `op` nests, if it does.
std::optional<NestedReduction> findNestedReduction(linalg::LinalgOp op);

/// How `op` would begin with the loops that lie outside of what it keeps in
/// memory, where it reduces others inside of that.
std::optional<NestedReduction> findInterleavedReduction(linalg::LinalgOp op);

/// True when `op` is a reduction of which parts may come first: it is divisible
/// (SplitReductions.h), or gives the moments of elements, of none at first.
bool mayBeginByParts(linalg::LinalgOp op);

/// Makes two reductions of one, first along the inner loops, then along the
/// others; returns the first, which is `reduction.earlier` where that gives the
/// same. `reduction.op` is erased; parts of it may come first.
linalg::LinalgOp nestReduction(const NestedReduction &reduction);

/// The nesting of all such reductions.
PricedRewrite getNestRewrite();

/// The same of reductions that keep dimensions between those that they reduce.
PricedRewrite getInterleaveRewrite(const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_NESTREDUCTIONS_H
