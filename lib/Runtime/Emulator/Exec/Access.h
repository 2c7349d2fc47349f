//===- Access.h - Addresses of a warp, checked ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the addresses of one memory instruction are checked
// against allocations, shadows and race records and turned into host
// addresses. Built once for each host instruction set.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_EXEC_ACCESS_H
#define FUSION_LIB_RUNTIME_EMULATOR_EXEC_ACCESS_H

#include "Exec/Lanes.h"
#include "Machine/LaneShadow.h"

namespace fusionemu {
namespace FUSIONEMU_ISA {
namespace {

/// Where the lanes of one memory instruction go on the host.
struct Access {
  uint64_t address[warpSize]; ///< As the program computed them.
  uint64_t offset[warpSize];  ///< From `base`.
  uint8_t *base = nullptr;
  /// Executing lanes follow each other without gaps, from offset[first].
  bool unit = false;
  /// Every lane has the address of lane 0.
  bool uniform = false;
  unsigned bytes = 0;
  AccessMode mode = AccessMode::Read;
};

inline const char *verbOf(AccessMode mode) {
  return writes(mode) ? "writes" : "reads";
}

/// Whether the executing lanes' offsets follow each other without gaps.
inline bool isUnitStride(const Access &A, uint32_t exec, unsigned bytes) {
  unsigned first = lowest(exec);
  uint32_t shifted = exec >> first;
  if (shifted & (shifted + 1))
    return false;
  uint64_t start = A.offset[first] - uint64_t(first) * bytes;
  uint32_t wrong = collect(
      [&](unsigned i) { return A.offset[i] != start + uint64_t(i) * bytes; });
  return (wrong & exec) == 0;
}

inline void computeAddresses(Context &c, const Instruction &I, Access &A) {
  uint64_t offset = uint64_t(I.offset);
  if (I.addressBytes == 0) {
    A.uniform = true;
    for (unsigned i = 0; i < warpSize; ++i)
      A.address[i] = offset;
  } else if (I.addressBytes == 8) {
    const uint64_t *a = c.slot<uint64_t>(I.a);
    FUSIONEMU_LANES
    for (unsigned i = 0; i < warpSize; ++i)
      A.address[i] = a[i] + offset;
  } else {
    const uint32_t *a = c.slot<uint32_t>(I.a);
    FUSIONEMU_LANES
    for (unsigned i = 0; i < warpSize; ++i)
      A.address[i] = uint32_t(a[i] + uint32_t(offset));
  }
}

/// Lanes whose access leaves [0, limit), and lanes that are misaligned.
inline uint32_t findBadLanes(const Access &A, uint32_t exec, uint64_t limit,
                             unsigned bytes) {
  if (limit < bytes)
    return exec;
  uint64_t last = limit - bytes;
  return exec & collect([&](unsigned i) {
           return (A.offset[i] > last) | ((A.offset[i] & (bytes - 1)) != 0);
         });
}

/// The number of distinct sectors, each lane touching one.
inline unsigned countSectors(const Access &A, uint32_t exec) {
  uint64_t table[64];
  uint64_t used = 0;
  unsigned count = 0;
  uint64_t previous = ~uint64_t(0);
  for (uint32_t r = exec; r; r &= r - 1) {
    uint64_t sector = A.offset[lowest(r)] >> 5;
    if (sector == previous)
      continue;
    previous = sector;
    unsigned slot = unsigned((sector * 0x9e3779b97f4a7c15ull) >> 58);
    while ((used >> slot) & 1) {
      if (table[slot] == sector)
        break;
      slot = (slot + 1) & 63;
    }
    if ((used >> slot) & 1)
      continue;
    used |= uint64_t(1) << slot;
    table[slot] = sector;
    ++count;
  }
  return count;
}

inline uint64_t &globalRequests(Counters &n, AccessMode mode) {
  return mode == AccessMode::Atomic ? n.globalAtomicRequests
         : writes(mode)             ? n.globalStoreRequests
                                    : n.globalLoadRequests;
}

inline void countGlobal(Context &c, const Access &A, Allocation &a) {
  Counters &n = c.counters;
  bool isStore =
      A.mode == AccessMode::Write || A.mode == AccessMode::StrongWrite;
  unsigned lanes = unsigned(__builtin_popcount(c.exec));
  ++globalRequests(n, A.mode);
  if (!c.countMemory)
    return;
  uint64_t first = A.offset[lowest(c.exec)];
  uint64_t sectors =
      A.unit ? ((first + uint64_t(lanes) * A.bytes - 1) >> 5) - (first >> 5) + 1
             : countSectors(A, c.exec);
  bool touchesStore = writes(A.mode);
  bool isAtomic = A.mode == AccessMode::Atomic;
  (isAtomic  ? n.globalAtomicSectors
   : isStore ? n.globalStoreSectors
             : n.globalLoadSectors) += sectors;
  (isAtomic  ? n.globalAtomicBytes
   : isStore ? n.globalStoreBytes
             : n.globalLoadBytes) += uint64_t(lanes) * A.bytes;
  uint64_t *&bits = touchesStore ? a.storeSectors : a.loadSectors;
  uint64_t *map = __atomic_load_n(&bits, __ATOMIC_ACQUIRE);
  if (!map)
    map = createSectors(c, a, touchesStore);
  if (!map)
    return;
  if (A.unit) {
    setBits(map, first >> 5, sectors);
    return;
  }
  uint64_t previous = ~uint64_t(0);
  for (uint32_t r = c.exec; r; r &= r - 1) {
    uint64_t sector = A.offset[lowest(r)] >> 5;
    if (sector != previous)
      setBits(map, sector, 1);
    previous = sector;
  }
}

inline bool checkGlobalRaces(Context &c, const Instruction &I, const Access &A,
                             Allocation &a) {
  if (!__atomic_load_n(&a.readers, __ATOMIC_ACQUIRE) && !createRaceShadow(c, a))
    return true;
  unsigned shift = c.kernel->globalGranuleShift;
  uint32_t me = uint32_t(c.block->linear) + 1;
  bool isWrite = writes(A.mode), otherWrites = false;
  if (A.unit) {
    unsigned lane = lowest(c.exec);
    uint64_t bytes = uint64_t(__builtin_popcount(c.exec)) * A.bytes;
    uint64_t first = A.offset[lane];
    if (!raceGlobalRun(a, first >> shift, (first + bytes - 1) >> shift, me,
                       isWrite, otherWrites))
      return true;
  }
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t first = A.offset[lane];
    uint32_t other =
        raceGlobalRun(a, first >> shift, (first + A.bytes - 1) >> shift, me,
                      isWrite, otherWrites);
    if (!other)
      continue;
    // Two blocks that store the same value leave the same memory behind.
    if (isWrite && otherWrites && storesSameValue(c, I, lane, a.data + first))
      continue;
    failGlobalRace(c, lane, a, first, A.bytes, A.mode, other, otherWrites);
    return false;
  }
  return true;
}

/// Checks what only depends on one allocation, once offsets are known to lie
/// in it, and records the access in its shadow.
inline bool checkGlobal(Context &c, const Instruction &I, const Access &A,
                        Allocation &a) {
  if (a.init && (c.checkUninitialized || writes(A.mode))) {
    bool check = c.checkUninitialized && reads(A.mode);
    if (A.unit) {
      uint64_t first = A.offset[lowest(c.exec)];
      uint64_t bytes = uint64_t(__builtin_popcount(c.exec)) * A.bytes;
      if (check && !testBits(a.init, first, bytes)) {
        for (uint32_t r = c.exec; r; r &= r - 1)
          if (!testBits(a.init, A.offset[lowest(r)], A.bytes)) {
            failUninitializedGlobal(c, lowest(r), a, A.offset[lowest(r)],
                                    A.bytes);
            return false;
          }
      }
      if (writes(A.mode))
        setBits(a.init, first, bytes);
    } else {
      for (uint32_t r = c.exec; r; r &= r - 1) {
        uint64_t first = A.offset[lowest(r)];
        if (check && !testBits(a.init, first, A.bytes)) {
          failUninitializedGlobal(c, lowest(r), a, first, A.bytes);
          return false;
        }
        if (writes(A.mode))
          setBits(a.init, first, A.bytes);
      }
    }
  }
  if (c.checkGlobalRaces &&
      (A.mode == AccessMode::Read || A.mode == AccessMode::Write) &&
      !a.readOnly && !checkGlobalRaces(c, I, A, a))
    return false;
  countGlobal(c, A, a);
  return true;
}

/// Lanes that lie in different allocations, one at a time.
inline bool resolveScattered(Context &c, const Instruction &I, Access &A) {
  uint32_t exec = c.exec;
  for (uint32_t r = exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t address = A.address[lane];
    Allocation *a = findAllocation(c, address);
    uint64_t offset = a ? address - a->base : 0;
    if (!a || !a->live || a->size < A.bytes || offset > a->size - A.bytes ||
        (offset & (A.bytes - 1)) || (a->readOnly && writes(A.mode))) {
      failGlobal(c, lane, address, A.bytes, verbOf(A.mode));
      return false;
    }
    A.offset[lane] = offset;
    c.exec = uint32_t(1) << lane;
    bool fine = checkGlobal(c, I, A, *a);
    c.exec = exec;
    if (!fine)
      return false;
    A.offset[lane] = uint64_t(reinterpret_cast<uintptr_t>(a->data)) + offset;
  }
  // Each lane was counted, but the warp makes one request.
  globalRequests(c.counters, A.mode) -= unsigned(__builtin_popcount(exec)) - 1;
  A.base = nullptr;
  return true;
}

inline bool resolveGlobal(Context &c, const Instruction &I, Access &A) {
  uint64_t address = A.address[lowest(c.exec)];
  Allocation *a = c.allocationCache[I.memoryIndex];
  if (!a || address - a->base >= a->size) {
    a = findAllocation(c, address);
    if (!a || !a->live)
      return resolveScattered(c, I, A);
    c.allocationCache[I.memoryIndex] = a;
  }
  uint64_t base = a->base;
  FUSIONEMU_LANES
  for (unsigned i = 0; i < warpSize; ++i)
    A.offset[i] = A.address[i] - base;
  if (findBadLanes(A, c.exec, a->size, A.bytes) ||
      (a->readOnly && writes(A.mode)))
    return resolveScattered(c, I, A);
  A.base = a->data;
  A.unit = isUnitStride(A, c.exec, A.bytes);
  return checkGlobal(c, I, A, *a);
}

/// Extra passes over the banks beyond the least for this access size.
inline unsigned countBankConflicts(const Access &A, uint32_t exec) {
  unsigned words = A.bytes < 4 ? 1 : A.bytes / 4;
  unsigned lanesPerPass = words >= 4 ? 8 : words == 2 ? 16 : 32;
  unsigned extra = 0;
  for (unsigned first = 0; first < warpSize; first += lanesPerPass) {
    uint64_t seen[32][8];
    uint8_t distinct[32] = {};
    unsigned worst = 1;
    uint32_t group = exec >> first;
    if (lanesPerPass < 32)
      group &= (uint32_t(1) << lanesPerPass) - 1;
    for (; group; group &= group - 1) {
      uint64_t word = A.offset[first + lowest(group)] >> 2;
      for (unsigned w = 0; w < words; ++w) {
        unsigned bank = (word + w) & 31;
        bool known = false;
        for (unsigned k = 0; k < distinct[bank] && k < 8; ++k)
          known |= seen[bank][k] == word + w;
        if (known)
          continue;
        // Beyond eight words of a bank a repeated one may count again.
        if (distinct[bank] < 8)
          seen[bank][distinct[bank]] = word + w;
        if (++distinct[bank] > worst)
          worst = distinct[bank];
      }
    }
    extra += worst - 1;
  }
  return extra;
}

/// Whether all executing lanes access the same bytes.
inline bool isCommon(const Access &A, uint32_t exec) {
  uint64_t first = A.offset[lowest(exec)];
  return (collect([&](unsigned i) { return A.offset[i] != first; }) & exec) ==
         0;
}

/// Whether a lane is about to store what `other` has left at the same place, or
/// stores there by the same instruction.
inline bool storesSameAs(const Context &c, const Instruction &I,
                         const Access &A, const Block &b, unsigned lane,
                         unsigned other) {
  uint64_t at = A.offset[lane];
  bool isNow = other < lane && ((c.exec >> other) & 1) && A.offset[other] == at;
  return isNow ? storeSameValue(c, I, lane, other)
               : storesSameValue(c, I, lane, b.shared + at);
}

/// Checks and records the access for races between lanes of the warp.
inline bool checkLaneRaces(Context &c, const Instruction &I, const Access &A,
                           const Block &b) {
  const Warp &w = *c.warp;
  unsigned shift = c.kernel->sharedGranuleShift, front = lowest(c.exec);
  bool isRead = A.mode == AccessMode::Read;
  auto firstOf = [&](unsigned lane) { return A.offset[lane] >> shift; };
  auto lastOf = [&](unsigned lane) {
    return (A.offset[lane] + A.bytes - 1) >> shift;
  };
  if (A.unit && (isRead || A.mode == AccessMode::Write) &&
      raceUnitLanes(w, b, firstOf(front), lastOf(31 - __builtin_clz(c.exec)),
                    front, unsigned(__builtin_ctz(A.bytes)) - shift, !isRead))
    return true;
  if (!A.unit && isRead && isCommon(A, c.exec) &&
      raceCommonRead(w, b, firstOf(front), lastOf(front), c.exec))
    return true;
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r), other = 0;
    bool otherWrites = false;
    if (raceLaneRun(w, b, firstOf(lane), lastOf(lane), lane, A.mode, other,
                    otherWrites) ||
        (otherWrites && A.mode == AccessMode::Write &&
         storesSameAs(c, I, A, b, lane, other)))
      continue;
    failLaneRace(c, lane, b, A.offset[lane], A.bytes, A.mode, other,
                 otherWrites);
    return false;
  }
  return true;
}

inline bool checkShared(Context &c, const Instruction &I, Access &A,
                        const Block &b) {
  uint8_t *init = b.sharedInit;
  bool async = c.kernel->usesAsync && c.checkAsync;
  bool races = c.checkSharedRaces && (&b == c.block || b.cluster->sharesClocks);
  for (uint32_t r = c.exec; r;) {
    // A whole unit-stride warp is one run.
    unsigned lane = lowest(r);
    uint64_t first = A.offset[lane];
    uint64_t bytes =
        A.unit ? uint64_t(__builtin_popcount(c.exec)) * A.bytes : A.bytes;
    uint8_t all = sharedWritten, any = 0;
    if (async) {
      for (uint64_t k = 0; k < bytes; ++k) {
        all &= init[first + k];
        any |= init[first + k];
      }
    } else if (reads(A.mode)) {
      for (uint64_t k = 0; k < bytes; ++k)
        all &= init[first + k];
    }
    // What is in flight counts as not written yet: say so first.
    if (async &&
        ((any & sharedMBarrier) ||
         (b.inFlight && isInFlight(b, first, bytes, writes(A.mode))))) {
      // Look again lane by lane, to name the lane.
      for (uint32_t k = A.unit ? c.exec : uint32_t(1) << lane; k; k &= k - 1) {
        uint64_t at = A.offset[lowest(k)];
        uint8_t here = 0;
        for (uint64_t n = 0; n < A.bytes; ++n)
          here |= init[at + n];
        if ((here & sharedMBarrier) ||
            isInFlight(b, at, A.bytes, writes(A.mode))) {
          failSharedState(c, lowest(k), b, at, A.bytes, A.mode);
          return false;
        }
      }
    }
    if (c.checkUninitialized && reads(A.mode) && !all) {
      uint64_t k = 0;
      while (init[first + k] & sharedWritten)
        ++k;
      unsigned which = lane + unsigned(k / A.bytes);
      failUninitializedShared(c, which, A.offset[which], A.bytes);
      return false;
    }
    if (writes(A.mode))
      __builtin_memset(init + first, sharedWritten, bytes);
    unsigned other = 0;
    if (async && races && writes(A.mode) &&
        racesAsyncRead(c, b, first, bytes, other)) {
      failSharedRace(c, lane, b, first, A.bytes, A.mode, other, false);
      return false;
    }
    if (races) {
      unsigned shift = c.kernel->sharedGranuleShift;
      bool otherWrites = false;
      for (uint64_t done = 0; done < bytes;) {
        if (raceSharedRun(c, b, (first + done) >> shift,
                          (first + bytes - 1) >> shift, A.mode, other,
                          otherWrites))
          break;
        // Look again lane by lane, to name the lane and to forgive equal
        // values.
        uint64_t step = A.bytes;
        unsigned which = lane + unsigned(done / A.bytes);
        uint64_t at = first + done;
        if (!raceSharedRun(c, b, at >> shift, (at + step - 1) >> shift, A.mode,
                           other, otherWrites) &&
            !(otherWrites && A.mode == AccessMode::Write &&
              storesSameValue(c, I, which, b.shared + at))) {
          failSharedRace(c, which, b, at, A.bytes, A.mode, other, otherWrites);
          return false;
        }
        done += step;
      }
    }
    if (A.unit)
      break;
    r &= r - 1;
  }
  return !races || checkLaneRaces(c, I, A, b);
}

/// Once offsets are known to be meant for the shared memory of `b`, where
/// those of the lanes `bad` cannot be.
inline bool resolveSharedIn(Context &c, const Instruction &I, Access &A,
                            const Block &b, uint32_t bad) {
  if (bad) {
    failSpace(c, lowest(bad), "shared", A.offset[lowest(bad)], b.sharedBytes,
              A.bytes, verbOf(A.mode));
    return false;
  }
  A.base = b.shared;
  A.unit = isUnitStride(A, c.exec, A.bytes);
  if ((c.checkUninitialized || c.checkSharedRaces || c.kernel->usesAsync) &&
      !checkShared(c, I, A, b))
    return false;
  Counters &n = c.counters;
  if (A.mode == AccessMode::Atomic)
    ++n.sharedAtomicRequests;
  else
    ++(writes(A.mode) ? n.sharedStoreRequests : n.sharedLoadRequests);
  if (c.countMemory && !A.unit)
    n.bankConflicts += countBankConflicts(A, c.exec);
  return true;
}

/// Lanes that go to the shared memory of other blocks, one block at a time.
inline bool resolveCluster(Context &c, const Instruction &I, Access &A) {
  uint32_t exec = c.exec;
  uint64_t window[warpSize], place[warpSize];
  std::memcpy(window, A.offset, sizeof(window));
  for (uint32_t rest = exec; rest;) {
    uint64_t offset = 0, rank = window[lowest(rest)] >> clusterShift;
    Block *b = findSharedBlock(*c.block, window[lowest(rest)], offset);
    uint32_t same = 0;
    for (uint32_t r = rest; r; r &= r - 1)
      if (window[lowest(r)] >> clusterShift == rank) {
        same |= uint32_t(1) << lowest(r);
        A.offset[lowest(r)] =
            window[lowest(r)] & ((uint64_t(1) << clusterShift) - 1);
      }
    if (!b) {
      failNoBlock(c, lowest(rest), window[lowest(rest)]);
      return false;
    }
    if (b != c.block)
      touch(c, *b, c.warp->agent, c.warp->clock[c.warp->agent]);
    c.exec = same;
    bool fine = resolveSharedIn(c, I, A, *b,
                                findBadLanes(A, same, b->sharedBytes, A.bytes));
    c.exec = exec;
    if (!fine)
      return false;
    for (uint32_t r = same; r; r &= r - 1)
      place[lowest(r)] =
          uint64_t(reinterpret_cast<uintptr_t>(A.base)) + A.offset[lowest(r)];
    rest &= ~same;
  }
  for (uint32_t r = exec; r; r &= r - 1)
    A.offset[lowest(r)] = place[lowest(r)];
  A.base = nullptr;
  A.unit = false;
  return true;
}

inline bool resolveShared(Context &c, const Instruction &I, Access &A) {
  if (c.kernel->ownSharedBits)
    for (uint32_t r = c.exec; r; r &= r - 1)
      if (hasOwnSharedBits(A.offset[lowest(r)]))
        A.offset[lowest(r)] -= c.kernel->ownSharedBits;
  uint32_t bad = findBadLanes(A, c.exec, c.block->sharedBytes, A.bytes);
  // Addresses of other blocks lie beyond the own memory.
  for (uint32_t r = bad; r; r &= r - 1)
    if (A.offset[lowest(r)] >> clusterShift)
      return resolveCluster(c, I, A);
  return resolveSharedIn(c, I, A, *c.block, bad);
}

inline bool resolveLocal(Context &c, const Instruction &, Access &A) {
  uint32_t limit = c.kernel->info.localBytes;
  uint32_t bad = findBadLanes(A, c.exec, limit, A.bytes);
  if (bad) {
    failSpace(c, lowest(bad), "local", A.offset[lowest(bad)], limit, A.bytes,
              verbOf(A.mode));
    return false;
  }
  A.base = c.warp->local;
  for (unsigned i = 0; i < warpSize; ++i)
    A.offset[i] += uint64_t(i) * limit;
  return true;
}

inline bool resolveParam(Context &c, const Instruction &, Access &A) {
  uint32_t bad = findBadLanes(A, c.exec, c.paramBytes, A.bytes);
  if (bad || writes(A.mode)) {
    unsigned lane = lowest(bad ? bad : c.exec);
    failSpace(c, lane, "parameter", A.offset[lane],
              writes(A.mode) ? 0 : c.paramBytes, A.bytes, verbOf(A.mode));
    return false;
  }
  A.base = const_cast<uint8_t *>(c.params);
  return true;
}

inline Space spaceOf(uint64_t address) {
  if (address - sharedWindow < windowBytes)
    return Space::Shared;
  if (address - localWindow < windowBytes)
    return Space::Local;
  if (address - paramWindow < windowBytes)
    return Space::Param;
  return Space::Global;
}

bool resolveIn(Space space, uint64_t window, Context &c, const Instruction &I,
               Access &A) {
  if (space == Space::Global || space == Space::Const)
    return resolveGlobal(c, I, A);
  FUSIONEMU_LANES
  for (unsigned i = 0; i < warpSize; ++i)
    A.offset[i] = A.address[i] - window;
  switch (space) {
  case Space::Shared:
    return resolveShared(c, I, A);
  case Space::Local:
    return resolveLocal(c, I, A);
  default:
    return resolveParam(c, I, A);
  }
}

inline uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
    return sharedWindow;
  case Space::Local:
    return localWindow;
  case Space::Param:
    return paramWindow;
  default:
    return 0;
  }
}

bool resolveGeneric(Context &c, const Instruction &I, Access &A) {
  uint32_t exec = c.exec;
  Space first = spaceOf(A.address[lowest(exec)]);
  uint32_t same = 0;
  for (uint32_t r = exec; r; r &= r - 1)
    if (spaceOf(A.address[lowest(r)]) == first)
      same |= uint32_t(1) << lowest(r);
  if (same == exec)
    return resolveIn(first, windowOf(first), c, I, A);
  // Lanes in different spaces go one at a time.
  uint64_t place[warpSize];
  for (uint32_t r = exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    Space space = spaceOf(A.address[lane]);
    c.exec = uint32_t(1) << lane;
    bool fine = resolveIn(space, windowOf(space), c, I, A);
    c.exec = exec;
    if (!fine)
      return false;
    place[lane] =
        uint64_t(reinterpret_cast<uintptr_t>(A.base)) + A.offset[lane];
  }
  for (uint32_t r = exec; r; r &= r - 1)
    A.offset[lowest(r)] = place[lowest(r)];
  A.base = nullptr;
  A.unit = false;
  return true;
}

/// Finds and checks the host addresses of all executing lanes. False when an
/// error was reported.
inline bool resolve(Context &c, const Instruction &I, Access &A) {
  A.bytes = I.accessBytes;
  computeAddresses(c, I, A);
  if (I.space == Space::Generic)
    return resolveGeneric(c, I, A);
  return resolveIn(I.space, 0, c, I, A);
}

/// The host address of a lane, after resolve().
inline uint8_t *pointerOf(const Access &A, unsigned lane) {
  return reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(A.base) +
                                     uintptr_t(A.offset[lane]));
}

} // namespace
} // namespace FUSIONEMU_ISA
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_EXEC_ACCESS_H
