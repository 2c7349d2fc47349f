//===- WalkBuilder.h - Loops along axes -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the loops of a tile program that walk an axis tile by
// tile, and what they are cut into.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_WALKBUILDER_H
#define FUSION_LIB_CODEGEN_WALKBUILDER_H

#include "PanelEmitter.h"

namespace mlir::fusion {

/// Opens and closes the loops that walk the axes of a kernel.
class WalkBuilder {
public:
  WalkBuilder(TileBuilder &builder, RowStarts &rowStarts,
              const PanelEmitter &panels)
      : builder(builder), rowStarts(rowStarts), panels(panels),
        kernel(builder.getKernel()), axes(builder.getAxes()),
        scopes(builder.getScopes()), loc(builder.getLoc()) {}

  /// Opens a loop over all steps from 0 to `extent`, which no dimension is
  /// bound to, carrying `inits`; returns the new axis.
  unsigned openLoop(AffineExpr extent, ValueRange inits,
                    scf::ForOp *loop = nullptr);
  /// Opens the loop of an axis that is described but not bound yet.
  scf::ForOp openLoopOn(unsigned axis, ValueRange inits);
  /// True when no step of the walk along `axis` goes past its end.
  bool isExact(const Axis &axis) const;
  /// Closes the innermost loop.
  scf::ForOp closeLoop(ValueRange yielded);

  /// The pieces that a walk along `dim` in steps of `step` is cut into, so that
  /// only the last, or the first and the last, asks what lies in the extent;
  /// `inOrder`: in the order of positions.
  SmallVector<Piece, 2> getPieces(unsigned dim, int64_t step, bool inOrder);
  /// Opens the loop over the parts, of so many steps each, of a walk along
  /// `axis` that is opened next.
  scf::ForOp openParts(unsigned axis, int64_t steps, ValueRange sums);
  /// Lets `loop` walk the part that `parts` is at.
  void restrictToPart(scf::ForOp loop, scf::ForOp parts);

private:
  /// Chunks of the walk along `axis` in flight or in use at once: the ends of a
  /// walk are few.
  int64_t getStages(const Axis &axis) const;
  struct WalkBounds {
    Value begin, end, step;
  };
  /// The block has a part of the dimension of `axis`.
  bool hasPart(const Axis &axis) const;
  /// The steps of a walk along `axis`: of its piece, or what the block has of
  /// that.
  WalkBounds getWalk(const Axis &axis);
  /// The same where the present row begins `lead` elements into its first tile.
  WalkBounds getLeadingWalk(const Axis &axis, Value lead);

  TileBuilder &builder;
  RowStarts &rowStarts;
  const PanelEmitter &panels;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  ScopeStack &scopes;
  Location loc;
};

/// Lets `loop` begin at `begin`, and end at `end` if that is before its own
/// end.
void restrictWalk(OpBuilder &builder, scf::ForOp loop, Value begin, Value end);

/// After how many steps of each of the loops around each other, outermost
/// first, another part of a sum begins; 0: never. `trips` are their steps where
/// known, of which each of the innermost adds `terms`.
SmallVector<int64_t> divideSums(ArrayRef<std::optional<int64_t>> trips,
                                int64_t terms);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_WALKBUILDER_H
