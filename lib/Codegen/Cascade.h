//===- Cascade.h - Reductions that share a sequential walk ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the reductions that share a walk although later ones need
// the results of earlier ones: these are then results so far.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_CASCADE_H
#define FUSION_LIB_CODEGEN_CASCADE_H

#include "GroupedTiles.h"
#include "Reduction.h"
#include "TileEvaluator.h"

namespace mlir::fusion {

/// Makes of `group`, which has one reduction, all that run along the same
/// dimensions, in the order of the kernel. Returns the number of the one that
/// was there; diagnoses when one needs the result of another as a whole.
FailureOr<unsigned> formCascade(std::vector<Reduction> &group,
                                const GroupedTiles &groups,
                                const TileAxes &axes);

/// The results so far in one step of a walk.
class RunningResults {
public:
  explicit RunningResults(TileEvaluator &evaluator)
      : builder(evaluator.getBuilder()), loc(builder.getLoc()) {}

  /// Lets what is computed from now on in the innermost scope see `now` as the
  /// result of `member`, the reduction `number` of its group. Before this step
  /// it was `before`.
  void publish(const Reduction &member, unsigned number, Tile before, Tile now);
  /// Lets repairs from now on be from `before` to `now`, or to zero where that
  /// is the combination of nothing. Returns what they are to.
  Tile note(const Reduction &member, unsigned number, Tile before, Tile now);
  /// `sum`, what `member` has added up so far, relative to what the results it
  /// needs are now.
  Tile repair(const Reduction &member, Tile sum);

private:
  /// A result so far, and the one of the step before.
  struct Running {
    Tile before, now;
  };
  Tile getFactor(const Reduction::Link &link);

  TileBuilder &builder;
  Location loc;
  DenseMap<unsigned, Running> results;
  /// By link of the same meaning: source, base and scale.
  std::map<std::tuple<unsigned, StringRef, double>, Tile> factors;
};

/// `sum` of a member whose sources are `sources` in the end, along dimensions
/// of `extents`: no number where one of the sources is none or infinite, as it
/// would be if they had been known, unless there is nothing to add up.
Tile checkSources(Tile sum, ArrayRef<Tile> sources,
                  ArrayRef<AffineExpr> extents, TileBuilder &builder);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_CASCADE_H
