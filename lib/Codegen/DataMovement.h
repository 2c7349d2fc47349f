//===- DataMovement.h - Tiles of operations that move -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the tiles of operations that only move data.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_DATAMOVEMENT_H
#define FUSION_LIB_CODEGEN_DATAMOVEMENT_H

#include "TileEvaluator.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {

/// The tile of the result at `coords`.
FailureOr<Tile> evaluateMoved(tensor::PadOp pad, ArrayRef<AffineExpr> coords,
                              TileEvaluator &evaluator);
FailureOr<Tile> evaluateMoved(tensor::ConcatOp op, ArrayRef<AffineExpr> coords,
                              TileEvaluator &evaluator);
FailureOr<Tile> evaluateMoved(tensor::ExtractSliceOp op,
                              ArrayRef<AffineExpr> coords,
                              TileEvaluator &evaluator);
FailureOr<Tile> evaluateMoved(tensor::InsertSliceOp op,
                              ArrayRef<AffineExpr> coords,
                              TileEvaluator &evaluator);
FailureOr<Tile> evaluateMoved(tensor::ExpandShapeOp op,
                              ArrayRef<AffineExpr> coords,
                              TileEvaluator &evaluator);
FailureOr<Tile> evaluateMoved(tensor::CollapseShapeOp op,
                              ArrayRef<AffineExpr> coords,
                              TileEvaluator &evaluator);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_DATAMOVEMENT_H
