//===- ChooseLayouts.h - The layout of each group of tiles ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the choice of layouts, which changes no program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_CHOOSELAYOUTS_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_CHOOSELAYOUTS_H

#include "LayoutGroups.h"
#include "fusion/Dialect/Tile/Transforms/LayoutVotes.h"
#include "fusion/Dialect/Tile/Transforms/NeighbourLayouts.h"

namespace mlir::fusion::tile {

/// Gives each of `groups` a layout; those of `positionBits` have layouts of
/// their own beside those of what reads them.
void chooseLayouts(LayoutGroups &groups, ArrayRef<PositionBits> positionBits,
                   int64_t numWarps, const LayoutVoter &voter,
                   const fusion::TargetInfo &target);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_CHOOSELAYOUTS_H
