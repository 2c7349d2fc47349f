//===- SerialReduction.h - Reductions in their order ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emission of reductions that run in the order of their
// loops.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_SERIALREDUCTION_H
#define FUSION_LIB_CODEGEN_SERIALREDUCTION_H

#include "TileEvaluator.h"
#include "WalkBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// Emits `op`, whose parallel loops are at `loopCoords`, element by element;
/// returns the tile of result `result`, which is at `coords`.
FailureOr<Tile> emitSerialReduction(linalg::LinalgOp op, unsigned result,
                                    ArrayRef<AffineExpr> coords,
                                    Coords loopCoords, TileEvaluator &evaluator,
                                    WalkBuilder &walks);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_SERIALREDUCTION_H
