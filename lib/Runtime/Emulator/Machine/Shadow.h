//===- Shadow.h - What the checks know of memory ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the steps of the race detectors on the shadow of shared
// and global memory. They are compiled into every user, since some of those
// are built for other instruction sets.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_SHADOW_H
#define FUSION_LIB_RUNTIME_EMULATOR_SHADOW_H

#include "Machine/Cluster.h"
#include "Machine/MemoryImpl.h"

namespace fusionemu {
namespace {

inline unsigned lowest(uint32_t mask) { return unsigned(__builtin_ctz(mask)); }
inline bool writes(AccessMode mode) {
  return mode == AccessMode::Write || mode == AccessMode::StrongWrite ||
         mode == AccessMode::Atomic;
}
inline bool reads(AccessMode mode) {
  return mode != AccessMode::Write && mode != AccessMode::StrongWrite;
}

/// Checks and records granules [first, last] of shared memory. Returns false
/// when another warp's access is not ordered before this one; `other` is that
/// warp.
inline bool raceSharedRun(Context &c, const Block &b, uint64_t first,
                          uint64_t last, AccessMode mode, unsigned &other,
                          bool &otherWrites) {
  const Warp &w = *c.warp;
  uint32_t *writers = b.sharedWriter;
  uint64_t *readers = b.sharedReader;
  uint32_t me = w.agent, oldest = w.oldestClock;
  // Nothing is old enough where asynchronous operations write.
  uint32_t oldestWrite = c.kernel->usesAsync ? 0 : oldest;
  uint32_t mine = w.clock[me] << 8 | me;
  bool strong = mode != AccessMode::Read && mode != AccessMode::Write;
  bool isWrite = writes(mode);
  uint64_t myRead = uint64_t(w.clock[me]) << 32 | uint64_t(1) << me;
  for (uint64_t g = first; g <= last; ++g) {
    uint32_t entry = writers[g];
    uint32_t time = (entry & ~strongWriter) >> 8;
    if (time > oldestWrite && (entry & 0xff) != me &&
        !(strong && (entry & strongWriter)) &&
        time > w.clock[entry & agentMask]) {
      other = entry & agentMask;
      otherWrites = true;
      return false;
    }
    uint64_t read = readers[g];
    uint32_t readTime = uint32_t(read >> 32), readMask = uint32_t(read);
    if (isWrite) {
      if (readTime > oldest) {
        for (uint32_t r = readMask & ~(uint32_t(1) << me); r; r &= r - 1)
          if (w.clock[lowest(r)] < readTime) {
            other = lowest(r);
            otherWrites = false;
            return false;
          }
      }
      // An atomic of ours does not excuse a plain store of ours before it.
      writers[g] = strong && entry != mine ? mine | strongWriter : mine;
      readers[g] = 0;
    } else if (!strong) {
      // An older read that is ordered before now is no use any more.
      readers[g] = readTime <= oldest ? myRead
                                      : (read & (uint64_t(0xffffffff) << 32)) |
                                            readMask | uint64_t(1) << me;
    }
  }
  return true;
}

/// Whether the warp knows of every write of the granules, and of every read
/// where it is about to write. Otherwise `other` is who it does not know of.
/// With `strong`, atomic and volatile writes do not matter.
inline bool isOrdered(const Warp &w, const Block &b, uint64_t first,
                      uint64_t last, bool isWrite, bool strong, unsigned &other,
                      bool &otherWrites) {
  for (uint64_t g = first; g <= last; ++g) {
    uint32_t entry = b.sharedWriter[g] & ~strongWriter;
    bool isOwn = (entry & 0xff) == w.agent;
    bool isForgiven = strong && (b.sharedWriter[g] & strongWriter);
    if (!isOwn && !isForgiven && entry >> 8 > w.clock[entry & agentMask]) {
      other = entry & agentMask;
      otherWrites = true;
      return false;
    }
    if (!isWrite)
      continue;
    uint64_t read = b.sharedReader[g];
    uint32_t time = uint32_t(read >> 32);
    for (uint32_t r = uint32_t(read) & ~(uint32_t(1) << w.agent); r; r &= r - 1)
      if (w.clock[lowest(r)] < time) {
        other = lowest(r);
        otherWrites = false;
        return false;
      }
  }
  return true;
}

/// Whether an operation in flight uses these bytes in a way that forbids the
/// access.
inline bool isInFlight(const Block &b, uint64_t first, uint64_t bytes,
                       bool isWrite) {
  unsigned any = 0;
  for (uint64_t k = first / 4; k <= (first + bytes - 1) / 4; ++k)
    any |= b.sharedWriting[k] | (isWrite ? b.sharedReading[k] : 0);
  return any != 0;
}

/// A write must come after the last asynchronous read of the bytes.
inline bool racesAsyncRead(const Context &c, const Block &b, uint64_t first,
                           uint64_t bytes, unsigned &other) {
  for (uint64_t k = first / 4; k <= (first + bytes - 1) / 4; ++k) {
    uint32_t entry = b.sharedAsyncReader[k];
    if (entry >> 8 > c.warp->clock[entry & agentMask]) {
      other = (entry & agentMask) | asyncAgent;
      return true;
    }
  }
  return false;
}

/// Records that an agent uses the shared memory of a block that may be over by
/// then; see checkExit().
inline void touch(const Context &c, Block &b, uint32_t agent, uint32_t time) {
  if (&b != c.block && !b.cluster->sharesClocks)
    return;
  b.touched[agent] = time;
  b.touchedPc[agent] = c.here();
}

/// Checks and records one run of granules for races between blocks. Returns
/// the entry of the other party, or 0.
inline uint32_t raceGlobalRun(Allocation &a, uint64_t first, uint64_t last,
                              uint32_t me, bool isWrite, bool &otherWrites) {
  uint32_t *writers = a.writers, *readers = a.readers;
  for (uint64_t g = first; g <= last; ++g) {
    uint32_t writer = __atomic_load_n(writers + g, __ATOMIC_RELAXED);
    if (writer != 0 && writer != me) {
      otherWrites = true;
      return writer;
    }
    uint32_t reader = __atomic_load_n(readers + g, __ATOMIC_RELAXED);
    if (isWrite) {
      if (reader != 0 && reader != me) {
        otherWrites = false;
        return reader;
      }
      if (writer != me)
        __atomic_store_n(writers + g, me, __ATOMIC_RELAXED);
    } else if (reader != me) {
      if (reader == 0)
        __atomic_store_n(readers + g, me, __ATOMIC_RELAXED);
      else if (reader != manyReaders)
        __atomic_store_n(readers + g, manyReaders, __ATOMIC_RELAXED);
    }
  }
  return 0;
}

} // namespace
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_SHADOW_H
