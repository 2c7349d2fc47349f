//===- SharedExchange.h - Layout conversion via shared memory ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the planning of a layout conversion through shared memory:
// the choice of the buffer's layout and of the vector widths on both sides.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_SHAREDEXCHANGE_H
#define FUSION_DIALECT_TILE_IR_SHAREDEXCHANGE_H

#include "fusion/Dialect/Tile/IR/SharedLayout.h"

namespace mlir::fusion::tile {

/// A conversion through shared memory: write, barrier, read.
struct SharedExchange {
  SharedLayout buffer;
  SharedAccess write;
  SharedAccess read;
  SharedAccessCost writeCost;
  SharedAccessCost readCost;

  int64_t sizeInBytes() const { return buffer.sizeInBytes(); }
};

/// Plans the conversion of `src` to `dst` with elements of `elementBytes` (1,
/// 2, 4, 8 or 16). Takes the fewest wavefronts, then the fewest instructions,
/// over all pairs of vector widths up to `maxAccessBytes`. One element at a
/// time, a buffer free of bank conflicts always exists
/// (docs/Rationale/LinearLayout.md) and is among the choices; so conflicts
/// remain only where elements below 4 bytes move faster with them than singly.
/// Threads for which `src` replicates (freeLaneMask, freeWarpMask) need not
/// write. None if a layout spreads over blocks or `src` lacks elements.
/// Precondition: same shape.
std::optional<SharedExchange>
planSharedExchange(const LinearLayout &src, const LinearLayout &dst,
                   unsigned elementBytes,
                   unsigned maxAccessBytes = kMaxAccessBytes);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_SHAREDEXCHANGE_H
