//===- LimitedWalk.h - Walks that masks of positions limit ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the bounds of walks that leave out what a mask of
// positions removes, and the elements that are left of walks where a mask of
// data removes the others.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_LIMITEDWALK_H
#define FUSION_LIB_CODEGEN_LIMITEDWALK_H

#include "Reduction.h"
#include "TileEvaluator.h"
#include "WalkBuilder.h"

namespace mlir::fusion {

/// Lets `loop`, the walk along axis `walk` that `group` shares, leave out the
/// steps at both ends in which no element of the block's tile counts. Fails
/// where no mask of positions says so.
LogicalResult limitWalk(scf::ForOp loop, unsigned walk,
                        ArrayRef<Reduction> group, TileEvaluator &evaluator);

/// Of the elements of axis `walk`, which `group` walks and whose tile is that
/// of a step: bits of those that may count in the block's tile of results, by
/// what data say. Fails where data say that of none.
FailureOr<Tile> findCounting(unsigned walk, ArrayRef<Reduction> group,
                             TileEvaluator &evaluator);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_LIMITEDWALK_H
