//===- ScanEmitter.h - Scans on tiles ---------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emission of scans.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_SCANEMITTER_H
#define FUSION_LIB_CODEGEN_SCANEMITTER_H

#include "TileEvaluator.h"
#include "WalkBuilder.h"

namespace mlir::fusion {

/// A scan along the axis that is walked now.
struct WalkedScan {
  ScanOp op;
  Coords coords;
  /// Axes of its results, and of its states from step to step.
  SmallVector<unsigned> axes, outerAxes;
  /// Types of its states, and their identities where tiles are walked.
  SmallVector<Type> types;
  SmallVector<TypedAttr> neutral;
};

/// Emits the loop that walks a scanned dimension.
class ScanEmitter {
public:
  ScanEmitter(TileEvaluator &evaluator, WalkBuilder &walks,
              PanelEmitter &panels)
      : evaluator(evaluator), walks(walks), panels(panels),
        builder(evaluator.getBuilder()), kernel(builder.getKernel()),
        axes(builder.getAxes()), scopes(builder.getScopes()),
        loc(builder.getLoc()) {}

  /// Walks iteration dimension `dim` tile by tile, carrying the states of
  /// `scans`; `emitStep` emits what consumes their results in each step.
  LogicalResult emit(ArrayRef<ScanOp> scans, unsigned dim,
                     function_ref<LogicalResult()> emitStep);

private:
  /// What a step of a walk does: from the states before it, those after it.
  using Step = function_ref<FailureOr<SmallVector<Value>>(ValueRange states)>;

  /// Adds the axis that is walked, before its loop, so that coordinates can be
  /// formed.
  unsigned addAxis(unsigned dim);
  /// Steps of the walk along `axis` are several elements, written out.
  bool isWrittenOut(unsigned axis) const {
    return axes[axis].round > 1 && !panels.isInRounds();
  }
  /// Lets a step of the walk along `axis` be one element after the other,
  /// written out, in each of which `emitStep` emits what consumes the scans.
  FailureOr<SmallVector<Value>>
  emitTurns(ArrayRef<ScanOp> scans, unsigned axis, ValueRange states,
            function_ref<LogicalResult()> emitStep);
  /// Walks what the block has along `axis`, from `states`; returns those
  /// behind.
  FailureOr<SmallVector<Value>> walk(unsigned axis, bool backwards,
                                     SmallVector<Value> states, Step step);
  /// Rounds in which a block has a run of several tiles: it walks them for
  /// their totals, learns what comes before, and walks them again to scan them.
  LogicalResult emitRuns(MutableArrayRef<WalkedScan> scans, unsigned axis,
                         SmallVector<Value> states, Step scanStep);
  FailureOr<std::vector<WalkedScan>> find(ArrayRef<ScanOp> scans,
                                          unsigned axis);
  /// The states of `scans` before the first step.
  FailureOr<SmallVector<Value>> evaluateInits(ArrayRef<WalkedScan> scans);
  /// One step of all `scans`, from `states`; returns those after it.
  FailureOr<SmallVector<Value>> scanStep(MutableArrayRef<WalkedScan> scans,
                                         unsigned axis, ValueRange states);
  /// Scans the present tile, or element, from `states`; appends those after it.
  LogicalResult scanTile(WalkedScan &scan, unsigned axis, ValueRange states,
                         SmallVectorImpl<Value> &next);
  /// What `scanned` is but for the first element of an exclusive scan, which is
  /// the initial value itself, whatever else it was combined with.
  FailureOr<Tile> beginWithInit(const WalkedScan &scan, unsigned axis,
                                unsigned state, Value scanned);
  LogicalResult scanElement(WalkedScan &scan, ValueRange states,
                            SmallVectorImpl<Value> &next);
  /// The states of one element of `scan`, `elements`, behind `states`.
  FailureOr<SmallVector<Tile>> combineElement(const WalkedScan &scan,
                                              ValueRange states,
                                              ArrayRef<Tile> elements);
  /// One step for the totals of all `scans`, from `totals` of what came before.
  FailureOr<SmallVector<Value>> addTotals(ArrayRef<WalkedScan> scans,
                                          unsigned axis, ValueRange totals);
  /// Exchanges what the parts of this block's run have, `totals`; returns the
  /// states before each of them, and appends those after the round.
  FailureOr<SmallVector<Value>> exchangeTotals(ArrayRef<WalkedScan> scans,
                                               ValueRange totals,
                                               ValueRange states,
                                               SmallVectorImpl<Value> &next);
  /// Scans `elements` along `axis`, from `inits`.
  tile::ScanOp createScan(const WalkedScan &scan, unsigned axis,
                          ValueRange elements, ValueRange inits, bool exclusive,
                          bool inOrder);
  /// Tiles of the identities of the states of `scan`.
  SmallVector<Value> getNeutral(const WalkedScan &scan);
  /// The elements of the present tile that are scanned.
  FailureOr<SmallVector<Value>> evaluateElements(const WalkedScan &scan,
                                                 unsigned axis);
  /// Scans `elements`, of this block's tile of a round, from `states`, which
  /// are those before the round. Returns those before the tile; appends those
  /// after the round.
  FailureOr<SmallVector<Value>> scanRound(const WalkedScan &scan, unsigned axis,
                                          ValueRange elements,
                                          ValueRange states,
                                          SmallVectorImpl<Value> &next);
  /// Sets where the tile of the present step begins, in a loop over the axis's
  /// piece, number `number` of those that are walked.
  void placeWalk(unsigned axis, scf::ForOp loop, bool backwards,
                 unsigned number);

  TileEvaluator &evaluator;
  WalkBuilder &walks;
  PanelEmitter &panels;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  ScopeStack &scopes;
  Location loc;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_SCANEMITTER_H
