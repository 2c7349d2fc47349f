//===- RowGroups.h - The groups of rows -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the tiles of the groups that rows belong to.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_ROWGROUPS_H
#define FUSION_LIB_CODEGEN_ROWGROUPS_H

#include "GroupedTiles.h"
#include "Reduction.h"
#include "TileEvaluator.h"
#include "WalkBuilder.h"

namespace mlir::fusion {

/// The groups of the rows at `coords`.
FailureOr<Tile> evaluateRowGroups(RowGroupsOp op, ArrayRef<AffineExpr> coords,
                                  const GroupedTiles &groups,
                                  TileEvaluator &evaluator, WalkBuilder &walks);
/// Lets `loop`, over the groups of `sum`, run through those of the tile's
/// rows.
LogicalResult restrictToGroups(scf::ForOp loop, const Reduction &sum,
                               TileEvaluator &evaluator);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_ROWGROUPS_H
