//===- ReductionStates.h - What a reduction accumulates ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what is combined of the elements of a reduction, and how
// tiles of that become the reduction's results.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_REDUCTIONSTATES_H
#define FUSION_LIB_CODEGEN_REDUCTIONSTATES_H

#include "BodyEvaluator.h"
#include "GroupedTiles.h"
#include "PanelEmitter.h"

namespace mlir::fusion {

/// The element of a body that `combiner` combines.
FailureOr<Tile> evaluateElement(BodyEvaluator &body, const Combiner &combiner);

/// Tiles of what reductions accumulate: states.
class ReductionStates {
public:
  ReductionStates(TileEvaluator &evaluator, const GroupedTiles &groups,
                  PanelEmitter &panels)
      : evaluator(evaluator), groups(groups), panels(panels),
        builder(evaluator.getBuilder()), kernel(builder.getKernel()),
        axes(builder.getAxes()), loc(builder.getLoc()) {}

  /// What combiner `number` combines of an element.
  FailureOr<Tile> evaluate(BodyEvaluator &body, const Reduction &reduction,
                           unsigned number);
  /// Makes elements of a selection whose keys are NaN such that any others
  /// replace them, unless NaN is kept.
  void dropNaN(const Reduction &reduction, MutableArrayRef<Tile> states);

  /// What the elements `states` of a tile come to along `reduced`.
  SmallVector<Tile> reduceTile(const Reduction &reduction,
                               SmallVector<Tile> states,
                               ArrayRef<unsigned> reduced);

  /// The results of what is accumulated over `reduced`, of which the axes
  /// `held` are no walks.
  FailureOr<SmallVector<Tile>> finish(const Reduction &reduction,
                                      SmallVector<Tile> states,
                                      ArrayRef<unsigned> reduced,
                                      ArrayRef<unsigned> held);
  /// The same for result `result` of a reduction by combiners.
  FailureOr<Tile> finishCombiner(const Reduction &reduction, unsigned result,
                                 Tile sum, ArrayRef<unsigned> reduced);

  /// `states` of elements along `axis`, if they have it, combined.
  SmallVector<Tile> reduceAlong(const Reduction &reduction,
                                ArrayRef<Tile> states, unsigned axis);

private:
  /// The position of an element in the order of a selection's loops.
  Tile evaluatePosition(const Reduction &reduction);
  FailureOr<Tile> evaluateInit(const Reduction &reduction, unsigned result);
  /// What is accumulated in `states`, of the axes `reduced` and of all blocks
  /// that have parts of them.
  FailureOr<SmallVector<Tile>> reduce(const Reduction &reduction,
                                      SmallVector<Tile> states,
                                      ArrayRef<unsigned> reduced);
  /// Combines states element by element.
  SmallVector<Tile> combine(const Reduction &reduction, ArrayRef<Tile> kept,
                            ArrayRef<Tile> next);
  FailureOr<SmallVector<Tile>> finishSelection(const Reduction &reduction,
                                               SmallVector<Tile> states,
                                               ArrayRef<unsigned> reduced);
  FailureOr<SmallVector<Tile>> finishRescaled(const Reduction &reduction,
                                              SmallVector<Tile> states,
                                              ArrayRef<unsigned> reduced);
  FailureOr<SmallVector<Tile>> finishMoments(const Reduction &reduction,
                                             ArrayRef<Tile> states,
                                             ArrayRef<unsigned> reduced,
                                             ArrayRef<unsigned> held);
  /// The sums of tiles of the same axes over `reduced`.
  SmallVector<Tile> sum(ArrayRef<Tile> tiles, ArrayRef<unsigned> reduced);
  /// `whole` together with what the reduction begins with.
  FailureOr<SmallVector<Tile>> addInits(const Reduction &reduction,
                                        SmallVector<Tile> whole);
  /// What result `result` of a selection is for the element at `position`.
  FailureOr<Tile> evaluateAt(const Reduction &reduction, unsigned result,
                             Tile position);

  TileEvaluator &evaluator;
  const GroupedTiles &groups;
  PanelEmitter &panels;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_REDUCTIONSTATES_H
