//===- SimplifyMaps.h - Coordinates of aligned tiles ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the simplification of the maps of accesses by what is
// known of where tiles begin.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_SIMPLIFYMAPS_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_SIMPLIFYMAPS_H

#include "fusion/Dialect/Tile/IR/TileDialect.h"

namespace mlir::fusion::tile {

/// `map` from positions in a tile of `shape` and from `symbols` (those beyond
/// may have any value), without the divisions and remainders that stay within
/// one multiple of their divisor.
AffineMap simplifyMap(AffineMap map, ArrayRef<int64_t> shape,
                      ValueRange symbols);

/// Simplifies the maps of what `program` loads and computes behind its
/// products.
void simplifyEpilogueMaps(ProgramOp program);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_SIMPLIFYMAPS_H
