//===- RootEmitter.h - Stores of a kernel's results -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emission of what a kernel stores.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_ROOTEMITTER_H
#define FUSION_LIB_CODEGEN_ROOTEMITTER_H

#include "GroupedTiles.h"
#include "ScanEmitter.h"
#include "StepStores.h"

namespace mlir::fusion {

/// Stores the present tile of each result of a kernel.
class RootEmitter {
public:
  RootEmitter(TileEvaluator &evaluator, MemoryViews &views, WalkBuilder &walks,
              GroupedTiles &groups, PanelEmitter &panels, StepStores &steps)
      : evaluator(evaluator), views(views), walks(walks), groups(groups),
        panels(panels), steps(steps), builder(evaluator.getBuilder()),
        kernel(builder.getKernel()), axes(builder.getAxes()),
        scopes(builder.getScopes()), loc(builder.getLoc()) {}

  LogicalResult emit();

private:
  /// Results that need the same loops share them.
  LogicalResult emitGroups();
  LogicalResult emitGroup(ArrayRef<unsigned> results,
                          ArrayRef<unsigned> loopDims);
  LogicalResult store(unsigned result);
  /// Leaves results that vary along a sequential walk to its steps.
  LogicalResult leaveToSteps();
  /// True when elements or parts before the present one stored what result
  /// elements at `coords` are.
  bool isStored(ArrayRef<AffineExpr> coords);
  /// Where the elements of result `result` at `coords` go.
  FailureOr<MemoryViews::Place> getPlace(unsigned result,
                                         ArrayRef<AffineExpr> coords);
  /// True for an axis along which blocks have different elements at `coords`.
  bool isCovered(unsigned axis, ArrayRef<AffineExpr> coords) const;
  /// The condition under which this block is the one of those with the same
  /// elements that writes them; null: it always is.
  Value getPredicate(ArrayRef<AffineExpr> coords);

  /// Stores one element of the strips after the other, in a loop when there are
  /// several strips at a place.
  LogicalResult emitStrips(function_ref<LogicalResult()> storeElement);

  TileEvaluator &evaluator;
  MemoryViews &views;
  WalkBuilder &walks;
  GroupedTiles &groups;
  PanelEmitter &panels;
  StepStores &steps;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  ScopeStack &scopes;
  Location loc;
  /// Results that steps of a walk store.
  SmallVector<unsigned, 1> ofSteps;
  /// The number of the part after the one whose results are stored now.
  size_t nextPart = 1;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_ROOTEMITTER_H
