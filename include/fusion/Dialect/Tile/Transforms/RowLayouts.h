//===- RowLayouts.h - Threads that have whole rows --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the layout in which each thread has all that it reduces
// along memory, and what it costs to access memory in it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_ROWLAYOUTS_H
#define FUSION_DIALECT_TILE_TRANSFORMS_ROWLAYOUTS_H

#include "fusion/Analysis/FittedConstants.h"
#include "fusion/Dialect/Tile/Transforms/LayoutVotes.h"

namespace mlir::fusion::tile {

/// The layout of a tile in which threads have all of the dimensions `reduced`,
/// and neighbours those next to them along the others, the last one first.
LinearLayout getRowLayout(ArrayRef<int64_t> shape,
                          const llvm::SmallBitVector &reduced,
                          int64_t numWarps);

/// Instructions, about, of an element that threads access as they hold it,
/// where they have rows along `fastest`; none where it is not known how far
/// from each other lanes are.
std::optional<double> countRowAccess(const VotingAccess &access,
                                     const LinearLayout &layout,
                                     unsigned fastest,
                                     const fusion::FittedConstants &fitted);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_ROWLAYOUTS_H
