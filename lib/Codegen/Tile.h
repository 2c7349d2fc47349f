//===- Tile.h - A tile and its coordinates ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the values that the emission of a kernel computes with:
// tiles of tensors, and the coordinates that they are computed at.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TILE_H
#define FUSION_LIB_CODEGEN_TILE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

namespace mlir::fusion {

/// A value of the tile program with the axes its dimensions stand for, in
/// increasing order. A scalar has no axes.
struct Tile {
  Value value;
  SmallVector<unsigned> axes;
};

/// One affine expression (semi-affine where sizes are symbols) for each
/// dimension of a tensor, in which dimension `i` is axis `i`, symbols below the
/// number of shape symbols are sizes, and further symbols are index tiles.
using Coords = SmallVector<AffineExpr>;

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TILE_H
