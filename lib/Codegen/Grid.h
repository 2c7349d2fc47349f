//===- Grid.h - The grid of a program ---------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what is known of the blocks of a tile program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_GRID_H
#define FUSION_LIB_CODEGEN_GRID_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

namespace mlir::fusion {

/// The blocks that a program runs in.
struct Grid {
  /// How many there are, over the function's symbols.
  AffineExpr size;
  /// The scope in which the axes of the grid are bound: one more when each
  /// block walks several tiles, and when groups of warps have rows of a tile.
  unsigned depth = 0;
  /// The rank of the block in its cluster, when a cluster shares a tile.
  Value clusterRank;
  /// The part of the tile that it finishes; several may finish the same one.
  Value part;
  /// The number of this block, where blocks share a tile and are no cluster.
  Value blockNumber;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_GRID_H
