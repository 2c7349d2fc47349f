//===- TileEvaluator.h - Tiles on demand ------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the interface by which what is emitted asks for the tiles
// that it needs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TILEEVALUATOR_H
#define FUSION_LIB_CODEGEN_TILEEVALUATOR_H

#include "TileBuilder.h"

namespace mlir::fusion {

/// Computes tiles of the tensors of a kernel, each once in the scopes that see
/// it.
class TileEvaluator {
public:
  virtual ~TileEvaluator() = default;

  TileBuilder &getBuilder() const { return builder; }

  /// The tile of `tensor` at `coords`, computed in the outermost scope that
  /// binds all of them.
  virtual FailureOr<Tile> evaluate(Value tensor,
                                   ArrayRef<AffineExpr> coords) = 0;
  /// A scalar that the kernel is passed or computes outside of operations.
  virtual FailureOr<Tile> evaluateScalar(Value scalar) = 0;
  /// The memory of `tensor`, an operand of the kernel with dimensions.
  virtual TypedValue<tile::ViewType> getView(Value tensor) const = 0;

  /// Where a slice begins along a dimension: an expression of sizes, or a
  /// coordinate that is computed here from elements of tensors.
  FailureOr<AffineExpr> evaluatePosition(OpFoldResult offset);
  /// Says that `tile` is that of `tensor` at `coords`.
  void remember(Value tensor, ArrayRef<AffineExpr> coords, Tile tile) {
    ScopeStack &scopes = builder.getScopes();
    unsigned depth = builder.getAxes().getDepth(coords);
    scopes.remember(tensor, coords, scopes.getComputedDepth(depth),
                    std::move(tile));
  }

protected:
  explicit TileEvaluator(TileBuilder &builder) : builder(builder) {}

  TileBuilder &builder;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TILEEVALUATOR_H
