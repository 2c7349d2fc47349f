//===- GranuleReduction.h - Reductions in granules --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emission of reductions in granules.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_GRANULEREDUCTION_H
#define FUSION_LIB_CODEGEN_GRANULEREDUCTION_H

#include "ReductionStates.h"

namespace mlir::fusion {

/// Emits result `result` of `op`, which reduces `granules`.
FailureOr<Tile> emitGranules(linalg::LinalgOp op, unsigned result,
                             const Granules &granules, TileEvaluator &evaluator,
                             ReductionStates &states);

/// Repeats what a tile has for each granule for all elements of it.
Tile spreadGranules(Tile tile, const GranuleAxes &granules,
                    TileBuilder &builder);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_GRANULEREDUCTION_H
