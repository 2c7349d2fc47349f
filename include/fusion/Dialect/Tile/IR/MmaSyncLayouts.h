//===- MmaSyncLayouts.h - Fragments of mma.sync over a block ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the layouts in which the warps of a block hold the
// accumulator and the operands of products by mma.sync.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_MMASYNCLAYOUTS_H
#define FUSION_DIALECT_TILE_IR_MMASYNCLAYOUTS_H

#include "fusion/Dialect/Tile/IR/LinearLayout.h"

namespace mlir::fusion::tile {

/// The rows, columns and depth of the instruction for operands of so many bits:
/// m16n8 with a depth of 32 bytes (m16n8k16 for 16 bits, m16n8k32 for 8,
/// m16n8k8 for 32), m8n8k4 for 64 bits; none for other widths.
struct MmaSyncShape {
  unsigned rows;
  unsigned columns;
  unsigned depth;

  static std::optional<MmaSyncShape> get(unsigned operandBits);
};

/// The accumulator [M, N] over `numWarps` warps, which are dealt to rows and
/// columns such that each needs few elements of the operands; what is left
/// becomes registers. The instruction's rows are rows of the tile or, with
/// `swapped`, its columns. A tile with fewer instruction columns than 8 is held
/// several times. None when the tile has fewer rows than the instruction, or
/// for another width. Register bit 0 is the lowest bit of the instruction's
/// columns; with m16n8, register bit 1 is its row bit 3. A thread has
/// 2^`log2RowRun` neighbours along the instruction's rows (none when the tile
/// is too small for that), which permutes rows among instructions.
///
/// For [P, M, N], P groups of warps have a sum each, of a part of the depth.
std::optional<LinearLayout> mmaSyncAccumulator(llvm::ArrayRef<int64_t> shape,
                                               unsigned numWarps,
                                               unsigned operandBits,
                                               bool swapped = false,
                                               unsigned log2RowRun = 0);

/// Whether the instruction's rows run along the last dimension of an
/// accumulator that mmaSyncAccumulator made.
bool isMmaSyncSwapped(const LinearLayout &accumulator);

/// The operand [extent, depth] of which the rows (`dim` 0) or columns (1) of
/// `accumulator` are made: each thread holds what its instructions take. A
/// thread has 2^`log2Run` neighbours along the depth side by side, at least
/// those that share a 32-bit register. Both operands must have the same, since
/// it permutes the depth within the instructions. None when the depth is too
/// small. Precondition: mmaSyncAccumulator made the accumulator, for operands
/// of this width.
std::optional<LinearLayout> mmaSyncOperand(unsigned dim,
                                           const LinearLayout &accumulator,
                                           int64_t depth, unsigned operandBits,
                                           unsigned log2Run = 0);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_MMASYNCLAYOUTS_H
