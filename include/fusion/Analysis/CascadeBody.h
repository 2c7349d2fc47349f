//===- CascadeBody.h - Bodies whose reductions share one walk ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis of kernel bodies in which contractions feed
// contractions: one dimension is walked once (`sequential` in a schedule), in
// each step of which the inner contractions are made as a whole, and the
// members, reductions and contractions along the walked dimension, take in what
// they give. docs/Rationale/Cascades.md has the condition.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_CASCADEBODY_H
#define FUSION_ANALYSIS_CASCADEBODY_H

#include "fusion/Analysis/KernelBody.h"
#include "fusion/Analysis/WalkLimits.h"

namespace mlir::fusion {

/// Why the contractions of a body share no walk.
enum class CascadeProblem {
  None,
  /// A scan, rows in groups, or a reduction of what contractions read.
  Form,
  /// What is contracted or reduced last has not the same dimensions.
  SeveralWalks,
  /// The results of members and inner contractions have other dimensions than
  /// blocks that own rows can give.
  Dimensions,
  /// A later reduction needs the whole result of an earlier one.
  NoRepair,
  /// An operand that is computed in each step, of nothing that copies bring in
  /// whole tiles.
  ComputedOperand,
  /// Rows of an operand that no copy brings, as tables place each.
  LookedUpRows,
  /// The kernel stores what varies along the walk, and what later steps change,
  /// or not for each element of all rows.
  StoredSteps,
};

/// The parts of a body by their role in the walk.
struct CascadeBody {
  CascadeProblem problem = CascadeProblem::None;
  /// The instance that has the problem.
  unsigned culprit = 0;
  /// The dimension that is walked, in tiles; where several are reduced, the
  /// longest of them. It is walked for each element of the others.
  unsigned walked = 0;
  /// All that are reduced.
  DimMask reduced = 0;
  /// Instances: contractions that each step makes as a whole, and what is
  /// reduced along the walked dimension, both in order.
  SmallVector<unsigned, 2> inner;
  SmallVector<unsigned, 4> members;
  /// Those whose results are operands of contractions, computed of what is in
  /// memory.
  SmallVector<unsigned, 2> prepared;
  /// Each step stores what it has of some results.
  bool storesSteps = false;
  /// Divisions of elements that the results of members get instead.
  SmallVector<Operation *, 2> deferred;
  /// Dimensions that blocks own one element or a tile of: those that all
  /// members keep, and those that only the contractions among them keep.
  DimMask rows = 0, columns = 0;
  /// Linear expressions over the dimensions and over symbols, of which those
  /// that are elements have coordinates of the dimensions (WalkLimits.h). Where
  /// one is negative, all members have nothing to take in.
  SmallVector<AffineExpr, 2> limits;
  SmallVector<LimitSymbol, 2> limitSymbols;

  /// The reduced dimensions but the one that is walked in tiles.
  DimMask getRepeated() const { return reduced & ~(DimMask(1) << walked); }
};

/// The instances of `body` that `last` is computed by, itself among them, in
/// order: pointwise ones, up to what is in memory.
SmallVector<unsigned> getPreparing(const KernelBody &body, unsigned last);

/// True when a contraction of `body`, which has no problem, depends on another.
bool hasCascade(const KernelBody &body);

/// The roles in `body`, for which `hasCascade` holds.
CascadeBody analyzeCascade(const KernelBody &body);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_CASCADEBODY_H
