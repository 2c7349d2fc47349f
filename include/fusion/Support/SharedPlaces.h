//===- SharedPlaces.h - Places in the shared memory of a block --*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how what a block keeps in shared memory gets its places:
// by the pass that gives them, by the plan of what warps do, and by the prices
// that say how much there will be of it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_SHAREDPLACES_H
#define FUSION_SUPPORT_SHAREDPLACES_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mlir::fusion {

/// Bytes of shared memory that never limit the number of blocks that run at
/// once: 228 KiB among 8 blocks of 256 threads, on the smallest chip 100 KiB
/// among 6.
constexpr int64_t kPlentifulShared = 16 * 1024;

/// A buffer, or what is not one.
struct SharedPiece {
  enum class Kind {
    Buffer,
    /// Copies of a ring come and go all the time.
    Ring,
    /// Other blocks write to it, whenever they do: it is behind all else.
    Last
  };

  int64_t bytes = 0, alignment = 16;
  Kind kind = Kind::Buffer;
  /// The first and the last use of a buffer, in the order of the program. A
  /// buffer that copies use lasts beyond them.
  unsigned first = 0, last = ~0u;
  /// Each group of consumers has one of its own.
  bool isOfGroup = false;
  int64_t offset = 0;

  bool meets(const SharedPiece &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// The two barriers at which the blocks of a cluster meet, and memory that they
/// write to.
SharedPiece getClusterBarriers();
SharedPiece getClusterMemory(int64_t bytes);

/// Bytes of a block, and of those the bytes of each group of consumers.
struct SharedBytes {
  int64_t ofBlock = 0, ofGroup = 0;
};

/// Gives `pieces` their offsets: each the first place where it fits beside
/// those that it `meets`, larger ones first. Returns the bytes that they take
/// together.
int64_t placeFirstFit(llvm::SmallVectorImpl<SharedPiece> &pieces);

/// Gives all that a block keeps its offsets; those of groups in the first of
/// `groups`. Buffers of which there is little share no memory: some that would
/// lie idle is better than barriers.
SharedBytes placeShared(llvm::SmallVectorImpl<SharedPiece> &pieces,
                        int64_t groups = 1);

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_SHAREDPLACES_H
