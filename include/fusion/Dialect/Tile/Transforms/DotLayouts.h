//===- DotLayouts.h - Layouts that matrix instructions want -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the choice of layouts for the accumulator and the operands
// of a `fusion_tile.dot` that an instruction of the warp (mma.sync) makes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_DOTLAYOUTS_H
#define FUSION_DIALECT_TILE_TRANSFORMS_DOTLAYOUTS_H

#include "fusion/Dialect/Tile/IR/TileDialect.h"

namespace mlir::fusion::tile {

/// Whether mma.sync multiplies operands of type `a` and `b` into `accumulator`:
/// f16 and bf16, f8E4M3FN and f8E5M2 (from sm_89 on), and f32, rounded to tf32
/// or as three products, into f32; i8 into i32; f64 into f64.
bool hasMmaSync(Type a, Type b, Type accumulator);

/// The accumulator's layout in a program of kind `mma_sync`. None, for the
/// products to be made by scalar instructions, in other programs, for types
/// without an instruction, and for tiles smaller than an instruction takes.
std::optional<LinearLayout> getDotAccumulatorLayout(DotOp dot);

/// The layout of operand 0 (a) or 1 (b) that goes with the accumulator's, which
/// getDotAccumulatorLayout has given.
LinearLayout getDotOperandLayout(DotOp dot, unsigned operand,
                                 const LinearLayout &accumulator);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_DOTLAYOUTS_H
