//===- ReductionGroup.h - Reductions that share loops -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares which reductions of a kernel are emitted together.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_REDUCTIONGROUP_H
#define FUSION_LIB_CODEGEN_REDUCTIONGROUP_H

#include "GroupedTiles.h"
#include "Reduction.h"

namespace mlir::fusion {

/// The dimensions that `op` reduces, but for groups of rows.
SmallVector<unsigned> getReducedDims(linalg::LinalgOp op,
                                     const ScheduledKernel &kernel);
/// Adds the reductions that can share the loops of the first of `group`.
void addSiblings(std::vector<Reduction> &group, const GroupedTiles &groups,
                 const TileAxes &axes);
/// Adds the reductions of `group` for the other parts of the tile.
void addParts(std::vector<Reduction> &group, const TileAxes &axes);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_REDUCTIONGROUP_H
