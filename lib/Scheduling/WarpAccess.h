//===- WarpAccess.h - What an access of a warp touches ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what lanes of a warp access at once where threads have
// several places of windows: the sectors and lines of memory, and the banks of
// the first cache.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_WARPACCESS_H
#define FUSION_LIB_SCHEDULING_WARPACCESS_H

#include "LoopFacts.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "fusion/Support/Hardware.h"
#include <set>

namespace mlir::fusion {

/// The elements along a coordinate that a thread has, of all its places and
/// windows.
struct ThreadPlaces {
  std::set<int64_t> places;
  /// What divides how far those of other threads are; 0 where none has others.
  int64_t step = 0;

  /// How many of them one access has, of `span` elements from a multiple of
  /// these on.
  double countTogether(int64_t span) const;
};

ThreadPlaces getPlaces(AffineExpr coord, const LoopFacts &facts,
                       const LoopSchedule &schedule);

/// Bytes in a tensor of `shape` from one element of each dimension of a kernel
/// to the next.
SmallVector<int64_t> getDistances(ArrayRef<AffineExpr> coords,
                                  ArrayRef<int64_t> shape, int64_t elementBytes,
                                  unsigned numDims);

/// An instruction by which each lane of a warp accesses `bytes`.
class WarpAccess {
public:
  /// Lanes follow dimension `fastest`, beyond `vector` elements of it, and then
  /// the last ones, as layouts do; elements are `distances` apart.
  WarpAccess(const LoopFacts &facts, const LoopSchedule &schedule,
             std::optional<unsigned> fastest, int64_t vector, int64_t bytes,
             ArrayRef<int64_t> distances);

  /// Pieces of memory of `size` bytes that it touches; in the mean, where it
  /// begins anywhere in a sector. Of several accesses, each lane's element lies
  /// so many bytes behind that of the first one.
  double countPieces(int64_t size, bool isAligned,
                     ArrayRef<int64_t> behind = {0}) const;
  /// Turns that the banks of the first cache take.
  double countBankTurns() const;

private:
  int64_t bytes;
  /// Of lanes; those past the end of a dimension access nothing.
  SmallVector<std::optional<int64_t>, kWarpThreads> offsets = {0};
};

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_WARPACCESS_H
