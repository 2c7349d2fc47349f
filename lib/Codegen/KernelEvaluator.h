//===- KernelEvaluator.h - Tiles of any tensor ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the evaluation of a tile of any tensor of a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_KERNELEVALUATOR_H
#define FUSION_LIB_CODEGEN_KERNELEVALUATOR_H

#include "ExchangedReads.h"
#include "MemoryViews.h"
#include "ReductionContext.h"
#include "ReductionStates.h"

namespace mlir::fusion {

/// Computes tiles by what defines their tensors.
class KernelEvaluator : public TileEvaluator {
public:
  KernelEvaluator(TileBuilder &builder, MemoryViews &views, WalkBuilder &walks,
                  const GroupedTiles &groups, PanelEmitter &panels,
                  StreamEmitter &stream, const Grid &grid,
                  const StepStores &steps)
      : TileEvaluator(builder), views(views),
        context{*this, walks, groups, panels, stream, grid, steps},
        states(*this, groups, panels), exchanges(*this),
        kernel(builder.getKernel()), axes(builder.getAxes()) {}

  FailureOr<Tile> evaluate(Value tensor, ArrayRef<AffineExpr> coords) override;
  FailureOr<Tile> evaluateScalar(Value scalar) override;
  TypedValue<tile::ViewType> getView(Value tensor) const override {
    return cast<TypedValue<tile::ViewType>>(views.lookup(tensor));
  }

private:
  FailureOr<Tile> evaluateUncached(Value tensor, ArrayRef<AffineExpr> coords);
  /// The tile where what is the same within a granule is computed once for
  /// each; none where nothing is.
  FailureOr<std::optional<Tile>>
  evaluateByGranules(Value tensor, ArrayRef<AffineExpr> coords);
  /// The tile of a value that `op` defines.
  FailureOr<Tile> evaluateResult(OpResult result, ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluateStructured(linalg::LinalgOp op, unsigned result,
                                     ArrayRef<AffineExpr> coords);
  FailureOr<Tile> load(Value argument, ArrayRef<AffineExpr> coords);

  MemoryViews &views;
  ReductionContext context;
  ReductionStates states;
  ExchangedReads exchanges;
  const ScheduledKernel &kernel;
  TileAxes &axes;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_KERNELEVALUATOR_H
