//===- ThreadIndex.h - Values that depend on the thread only ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the linear functions over GF(2) of the thread's number:
// coordinates, offsets in shared memory, ownership.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_TILETONVVM_THREADINDEX_H
#define FUSION_CONVERSION_TILETONVVM_THREADINDEX_H

#include "fusion/Conversion/TileToNVVM/ThreadBuilder.h"
#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "fusion/Support/Hardware.h"
#include <map>

namespace mlir::fusion {

/// The number of the thread and what is computed of it, each once and at the
/// entry of the kernel.
class ThreadIndex {
public:
  explicit ThreadIndex(ThreadBuilder &builder) : builder(builder) {}

  /// The thread's number from here on; what is computed of it goes behind
  /// `last`.
  void setThread(Value number, Operation *last);
  Value getThread() const { return thread; }
  /// The number of the lane in the warp.
  Value getLane();
  /// The number of the warp in the block, known to be the same in its threads.
  Value getWarp();
  /// The number of the warpgroup.
  Value getWarpgroup();

  /// The part of the coordinate along `dim` that depends on the thread.
  Value getCoordinate(const tile::LinearLayout &layout, unsigned dim);
  /// The coordinate along `dim` of a register whose own part is
  /// `registerPart`.
  Value getCoordinate(const tile::LinearLayout &layout, unsigned dim,
                      int64_t registerPart);
  /// XOR of matrix columns over the set bits of lane and warp.
  Value apply(const tile::BitMatrix &lane, const tile::BitMatrix &warp);
  /// XOR of what the set bits of the thread's number stand for.
  Value apply(ArrayRef<std::pair<unsigned, uint64_t>> bits);
  /// True in the one thread that stands for all that hold the same elements;
  /// null when every thread does.
  Value isOwner(const tile::LinearLayout &layout);
  /// True in thread 0.
  Value isFirst();

private:
  ThreadBuilder &builder;
  Value thread, warp;
  Operation *last = nullptr;
  std::map<std::vector<std::pair<unsigned, uint64_t>>, Value> known;
};

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_TILETONVVM_THREADINDEX_H
