//===- Cluster.h - Blocks that run together ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a cluster: its blocks, their barrier, and the bulk copies
// that move bytes between them and global memory on their own.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_CLUSTER_H
#define FUSION_LIB_RUNTIME_EMULATOR_CLUSTER_H

#include "Machine/Context.h"
#include "Operations.h"
#include "fusion-rt/Emulator/TensorMap.h"

#include <deque>
#include <map>

namespace fusionemu {

/// Bytes of a bulk copy that lie side by side in both memories. `shared` is an
/// offset in the shared memory of a block.
struct BulkRun {
  uint64_t global = 0;
  uint32_t shared = 0, bytes = 0;
  bool isFill = false; ///< Outside of the tensor: nothing in global memory.
};

/// One bulk copy, cp.async.bulk and its kin, from its issue to its end.
/// Consecutive bytes of shared memory.
struct SharedRange {
  uint32_t begin = 0, bytes = 0;
};

struct BulkCopy {
  enum class Kind : uint8_t {
    Load,  ///< Global memory to the shared memory of `targets`.
    Store, ///< The shared memory of `block` to global memory.
    Share, ///< The shared memory of `block` to that of `targets`.
    Value, ///< Bytes of registers, in `staged`, to that of `targets`.
  };
  Kind kind = Kind::Load;
  Block *block = nullptr; ///< Of the thread that issued it.
  Warp *warp = nullptr;
  uint8_t lane = 0;
  uint32_t pc = 0;
  bool isTensor = false;
  /// Reduces into the destination instead of replacing it.
  bool reduces = false;
  Op op = Op::Add;
  Type type = Type::None;

  uint16_t targets = 0; ///< Ranks of the blocks that receive.
  uint32_t shared = 0;  ///< Offset of the shared side.
  uint32_t source = 0;  ///< Share: offset of the source.
  uint32_t bytes = 0;   ///< Of the shared side, fill included.
  /// For the global side: parts of the shared side and where they come from
  /// or go to. Offsets are absolute.
  std::vector<BulkRun> runs;
  /// What the copy touches of its shared side, in order. A swizzle can leave
  /// gaps behind narrow rows, and a store leaves out what is outside of the
  /// tensor.
  std::vector<SharedRange> ranges;
  TensorMapInfo map; ///< Of a tensor copy.

  bool signals = false;  ///< Completes bytes at an mbarrier of the targets.
  uint32_t mbarrier = 0; ///< Its offset.
  /// The bulk group, once committed; 0 before. Without mbarrier only.
  uint32_t group = 0;

  /// Of a store: `staged` holds the bytes, they are in global memory, and the
  /// thread has waited until the source was free.
  bool sourceRead = false, written = false, sourceReleased = false;
  std::vector<uint8_t> staged;
};

/// What a tensor copy brought to shared memory, until another copy does.
struct LoadedTile {
  uint32_t end = 0; ///< Of its bytes.
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  uint32_t pc = 0; ///< Of the copy.
};

struct Cluster {
  Dim3 id, shape;
  unsigned size = 1;
  Block *blocks = nullptr;
  /// Warps of all blocks have clocks of their own, see Warp::agent.
  bool sharesClocks = true;
  uint32_t numAgents = 0;
  uint32_t time = 1; ///< Of the race detector; grows with every barrier.
  std::deque<BulkCopy> copies; ///< In order of issue, not yet complete.
  size_t runsInFlight = 0;     ///< Of all of them.
  /// By rank and offset; they do not overlap.
  std::map<uint32_t, LoadedTile> tiles[maxClusterSize];
};

/// A new time of the race detector; stands still at its end.
inline uint32_t tick(Cluster &cluster) {
  if (cluster.time < maxTime)
    ++cluster.time;
  return cluster.time;
}

/// Adds what `from` knows to `to`.
inline void joinTimes(Clock &to, const Clock &from) {
  for (unsigned i = 0; i < maxAgents; ++i)
    to[i] = to[i] < from[i] ? from[i] : to[i];
}

/// To be called when the clock of a warp has changed.
void updateOldest(const Cluster &cluster, Warp &warp);

/// The block and the offset in it of an address of the shared window, or null
/// when there is no such block.
inline Block *findSharedBlock(Block &own, uint64_t address, uint64_t &offset) {
  if (address < (uint64_t(1) << clusterShift)) {
    offset = address;
    return &own;
  }
  if (hasOwnSharedBits(address)) {
    offset = address - ownSharedBits;
    return &own;
  }
  uint64_t rank = (address >> clusterShift) - 1;
  offset = address & ((uint64_t(1) << clusterShift) - 1);
  return rank < own.cluster->size ? &own.cluster->blocks[rank] : nullptr;
}

/// Cluster barrier, in ClusterBarrier.cpp.
Next clusterArrive(Context &c, const Instruction &I);
Next clusterWait(Context &c, const Instruction &I);
/// Opens the barrier when all threads have come; true when it did.
bool releaseClusterBarrier(Context &c, Cluster &cluster);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_CLUSTER_H
