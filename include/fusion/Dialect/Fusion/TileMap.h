//===- TileMap.h - Which tiles belong together ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what an op says about its tiles: the loops over them, and
// which elements of operands and results belong to a tile. All of upstream's
// TilingInterface follows from that (lib/Dialect/Fusion/Tiling.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_TILEMAP_H
#define FUSION_DIALECT_FUSION_TILEMAP_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/ValueRange.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::fusion {

/// Which tiles a loop can be cut into.
enum class TileLoop {
  Free,
  /// Those whose size is a constant: types decide what the op means.
  Constant,
  /// One alone, of the whole loop: elements depend on others along it, or on
  /// where they are.
  Whole
};

/// The elements of one dimension that belong to a tile of `size` iterations
/// from `offset` on: `(size - 1) * step + extent` of them from `offset * step`
/// on. Without a loop, all of the dimension.
struct TiledDim {
  static constexpr int64_t kNoLoop = -1;

  int64_t loop = kNoLoop;
  int64_t step = 1;
  int64_t extent = 1;

  /// Whether iterations own elements of the dimension, none in common.
  bool isOwned() const { return loop != kNoLoop && step == extent; }
  /// Whether there is one element for each iteration.
  bool isPlain() const { return isOwned() && step == 1; }
};

/// The tiles of an op on tensors of known rank.
struct TileMap {
  SmallVector<TileLoop> loops;
  /// One list for each operand and result, empty for scalars, with one entry
  /// for each dimension. Dimensions of results are owned by loops.
  SmallVector<SmallVector<TiledDim>> operands, results;

  /// One loop for each dimension of the first result, which it owns alone.
  /// Everything else belongs to every tile.
  static TileMap overFirstResult(Operation *op);
  /// Same, of an op whose first operand has the sizes of the result, and of
  /// which it takes the element at the same place.
  static TileMap overFirstOperand(Operation *op);

  /// Dimension i of the operand runs with loop `alongLoops[i]`.
  void tie(OpOperand &operand, ArrayRef<int64_t> alongLoops);
  /// Same, of each of the operands given, of which there may be none.
  void tie(MutableOperandRange given, ArrayRef<int64_t> alongLoops);
  /// Lets one dimension run with a loop.
  void tieDim(OpOperand &operand, int64_t dim, TiledDim tied);
  void tieDim(MutableOperandRange given, int64_t dim, TiledDim tied);

  /// Leaves tiles of all of the loops from `begin` to before `end` only.
  void keepWhole(int64_t begin, int64_t end);
  void keepWhole(int64_t loop) { keepWhole(loop, loop + 1); }
  void keepAllWhole() { keepWhole(0, loops.size()); }
};

} // namespace mlir::fusion

#endif // FUSION_DIALECT_FUSION_TILEMAP_H
