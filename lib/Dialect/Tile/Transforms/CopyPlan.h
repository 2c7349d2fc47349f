//===- CopyPlan.h - How threads copy a tile ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the plan of an asynchronous copy: which thread copies
// which piece of a tile, and where in shared memory the piece goes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_COPYPLAN_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_COPYPLAN_H

#include "fusion/Dialect/Tile/IR/TileDialect.h"

#include <optional>

namespace mlir::fusion::tile {

/// How the threads copy a tile.
struct CopyPlan {
  LinearLayout threads;
  SharedLayout buffer;
  /// Each warp copies what it reads itself.
  bool byReader = false;
};

/// The one layout in which a tile that `load` loads is used; none if there are
/// several.
std::optional<LinearLayout> getOnlyUse(LoadOp load);

/// Bits of the tensor that `load` reads from; a large number when they are not
/// known.
int64_t getViewBits(LoadOp load);

/// How `numWarps` warps copy what `load` loads; with `byReader` each what it
/// reads itself, pieces of rows of memory only with `mayCut`. None when the
/// instruction, which moves 4, 8 or 16 bytes that are contiguous and aligned on
/// both sides, cannot copy the tile.
std::optional<CopyPlan> planCopy(LoadOp load, unsigned numWarps,
                                 bool byReader = false, bool mayCut = false);

/// How each thread copies what `load` gives it, so that it waits for no other
/// one; none when threads share what they load, or as with planCopy().
std::optional<CopyPlan> planOwnCopy(LoadOp load);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_COPYPLAN_H
