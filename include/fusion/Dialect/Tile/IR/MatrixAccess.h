//===- MatrixAccess.h - Reading fragments by ldmatrix -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares when and how a warp reads a tile from shared memory by
// ldmatrix, and the buffers that suit it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_MATRIXACCESS_H
#define FUSION_DIALECT_TILE_IR_MATRIXACCESS_H

#include "fusion/Dialect/Tile/IR/SharedLayout.h"

namespace mlir::fusion::tile {

/// How the lanes of a warp read a tile by ldmatrix: an instruction reads 1, 2
/// or 4 matrices of 8 rows of 16 bytes, and lane `l` names row `l % 8` of
/// matrix `l / 8`. The byte offset that it names for a group is
///   laneOffset(lane) ^ warpOffset(warp) ^ group.offset.
struct MatrixAccess {
  struct Group {
    /// For each matrix the registers that come in its 32 bits, lowest first.
    llvm::SmallVector<RegisterMap, 4> regs;
    uint64_t offset;
  };

  /// Each lane gets parts of columns instead of rows (elements of 2 bytes).
  bool transposed = false;
  unsigned matrices = 1;
  llvm::SmallVector<Group, 8> groups;
  /// As in SharedAccess.
  RegisterMap holder;
  BitMatrix laneOffset;
  BitMatrix warpOffset;
  uint64_t threadMask = 0;

  uint64_t xorPart(const Group &group) const {
    return group.offset & threadMask;
  }
  uint64_t immediatePart(const Group &group) const {
    return group.offset & ~threadMask;
  }
};

/// None when the layout does not spread rows of 16 bytes over lanes as ldmatrix
/// does. Precondition: same shape.
std::optional<MatrixAccess> getMatrixAccess(const LinearLayout &layout,
                                            const SharedLayout &shared);

/// The buffer of a [rows, columns] tile in which chunks of 16 bytes along
/// dimension `fastest` stay whole and are swizzled within spans of 128 bytes:
/// neither rows of one chunk nor whole rows meet bank conflicts. None when a
/// row is shorter than a chunk.
std::optional<SharedLayout> getChunkedBuffer(llvm::ArrayRef<int64_t> shape,
                                             unsigned elementBytes,
                                             unsigned fastest);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_MATRIXACCESS_H
