//===- TileEvaluator.cpp - Tiles on demand --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the positions that are computed from elements of
// tensors.
//
//===----------------------------------------------------------------------===//

#include "TileEvaluator.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<AffineExpr> TileEvaluator::evaluatePosition(OpFoldResult offset) {
  FailureOr<AffineExpr> known =
      builder.getKernel().getShapes().getIndex(offset);
  if (succeeded(known))
    return known;
  FailureOr<Tile> tile = evaluateScalar(cast<Value>(offset));
  if (failed(tile))
    return failure();
  return builder.getAxes().asCoordinate(*tile, builder.getScopes().getDepth());
}
