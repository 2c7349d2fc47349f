//===- Coordinates.h - Coordinates over axes --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what is known of coordinates over the axes of tiles, and
// the coordinates that tensors have by their iteration dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_COORDINATES_H
#define FUSION_LIB_CODEGEN_COORDINATES_H

#include "TileAxes.h"

namespace mlir::fusion {

/// Any of `coords` depends on axis `axis`.
bool isUsed(ArrayRef<AffineExpr> coords, unsigned axis);
/// Any of `coords` depends on an axis of dimension `dim`.
bool mentions(ArrayRef<AffineExpr> coords, unsigned dim, const TileAxes &axes);

/// Least and greatest value of `coord` in all tiles, or nothing when it has no
/// static bounds.
std::optional<std::pair<int64_t, int64_t>> getBounds(AffineExpr coord,
                                                     const TileAxes &axes);

/// True when `coord` lies below `size`, that of dimension `dim` where it is
/// known, in all tiles.
bool isInBounds(AffineExpr coord, AffineExpr size, std::optional<unsigned> dim,
                const TileAxes &axes);

/// Splits `linear`, a row-major position in a box of `sizes`, into coordinates.
SmallVector<AffineExpr> delinearize(AffineExpr linear,
                                    ArrayRef<AffineExpr> sizes);

/// Coordinates of every dimension of a tensor that is indexed by plain
/// iteration dimensions, in the present scope.
FailureOr<Coords> getPlainCoords(Value tensor, const TileAxes &axes);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_COORDINATES_H
