//===- SharedStores.h - Tiles into shared memory ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how threads write a tile's registers to shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_SHAREDSTORES_H
#define FUSION_LIB_CONVERSION_TILETONVVM_SHAREDSTORES_H

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"

namespace mlir::fusion {

/// Writes `source`, registers of `layout`, to what lies at `place`; by stmatrix
/// where the layouts let it. Errors are `op`'s.
LogicalResult storeShared(ProgramLowering &lowering, Operation *op,
                          const Scalars &source,
                          const tile::LinearLayout &layout,
                          const tile::SharedLayout &shared,
                          const SharedPlace &place);

/// Lets copies and tensor cores see what this thread wrote to shared memory.
void fenceCopies(ThreadBuilder &builder);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_SHAREDSTORES_H
