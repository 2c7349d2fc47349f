//===- Passes.h - Passes of the tile level stage ---------------*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes of the tile level stage.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_PASSES_H
#define FUSION_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::fusion::tile {

#define GEN_PASS_DECL
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_PASSES_H
