//===- AsyncShared.cpp - Memory under asynchronous operations -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what asynchronous operations check and record of shared
// and global memory, and the fences between the proxies.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Machine/LaneShadow.h"
#include "Machine/Launch.h"
#include "Machine/ReadQueue.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

Block *fusionemu::findShared(Context &c, Space space, uint64_t address,
                             unsigned lane, uint32_t bytes, uint32_t align,
                             const char *verb, uint64_t &offset) {
  if (space == Space::Generic) {
    if (address - sharedWindow >= windowBytes) {
      failSpace(c, lane, "shared", address, 0, bytes, verb);
      return nullptr;
    }
    address -= sharedWindow;
  }
  Block *block = findSharedBlock(*c.block, address, offset);
  if (!block || offset > block->sharedBytes ||
      bytes > block->sharedBytes - offset) {
    failSpace(c, lane, "shared", block ? offset : address,
              block ? block->sharedBytes : 0, bytes, verb);
    return nullptr;
  }
  if (offset % align != 0) {
    fail(c, ErrorKind::Misaligned, lane,
         std::string(verb) + " " + std::to_string(offset) +
             " of shared memory, which is not a multiple of " +
             std::to_string(align));
    return nullptr;
  }
  return block;
}

Block *fusionemu::findShared(Context &c, const Instruction &I, int32_t slot,
                             unsigned lane, uint32_t bytes, uint32_t align,
                             const char *verb, uint64_t &offset) {
  return findShared(c, I.space, c.slot<uint64_t>(slot)[lane], lane, bytes,
                    align, verb, offset);
}

void fusionemu::markReading(Block &block, uint32_t offset, uint32_t bytes,
                            int change) {
  for (uint32_t k = offset / 4; k < (offset + bytes + 3) / 4; ++k)
    block.sharedReading[k] = uint16_t(block.sharedReading[k] + change);
}

void fusionemu::markWriting(Block &block, uint32_t offset, uint32_t bytes,
                            int change) {
  for (uint32_t k = offset / 4; k < (offset + bytes + 3) / 4; ++k)
    block.sharedWriting[k] = uint16_t(block.sharedWriting[k] + change);
}

void fusionemu::recordAsyncRead(Block &block, const Warp &warp, uint32_t offset,
                                uint32_t bytes) {
  recordAsyncRead(block, warp.agent, warp.clock[warp.agent], offset, bytes);
}

void fusionemu::recordAsyncRead(Block &block, uint32_t agent, uint32_t time,
                                uint32_t offset, uint32_t bytes) {
  uint32_t entry = time << 8 | agent;
  std::fill(block.sharedAsyncReader + offset / 4,
            block.sharedAsyncReader + (offset + bytes + 3) / 4, entry);
}

void fusionemu::recordAsyncWrite(Block &block, uint32_t agent, uint32_t time,
                                 uint32_t offset, uint32_t bytes,
                                 uint32_t flags) {
  std::memset(block.sharedInit + offset, sharedWritten, bytes);
  const Kernel &kernel = *block.kernel;
  uint64_t first = offset >> kernel.sharedGranuleShift;
  uint64_t last = (offset + bytes - 1) >> kernel.sharedGranuleShift;
  std::fill(block.sharedWriter + first, block.sharedWriter + last + 1,
            time << 8 | flags | agent);
  std::fill(block.sharedReader + first, block.sharedReader + last + 1,
            uint64_t(0));
  std::fill(block.laneWriter + first, block.laneWriter + last + 1, 0u);
  std::fill(block.laneReader + first, block.laneReader + last + 1, uint64_t(0));
}

static AccessMode modeOf(SharedUse use) {
  switch (use) {
  case SharedUse::AsyncRead:
  case SharedUse::WgmmaRead:
    return AccessMode::Read;
  case SharedUse::GenericReduce:
  case SharedUse::AsyncReduce:
    return AccessMode::Atomic;
  default:
    return AccessMode::Write;
  }
}

/// A generic write that the async proxy is about to read or overwrite must
/// have been made visible to it. Returns the agent of one that was not, or -1.
static int findUnfenced(const Context &c, const Block &block, uint64_t first,
                        uint64_t last) {
  const uint32_t *writers = block.sharedWriter;
  for (uint64_t g = first; g <= last; ++g) {
    uint32_t entry = writers[g] & ~strongWriter;
    if (entry & proxyWriter)
      continue;
    if (entry >> 8 > c.warp->proxyClock[entry & agentMask])
      return int(entry & agentMask);
  }
  return -1;
}

bool fusionemu::checkAsyncShared(Context &c, unsigned lane, const Block &block,
                                 uint32_t offset, uint32_t bytes,
                                 SharedUse use) {
  AccessMode mode = modeOf(use);
  bool isWrite = writes(mode);
  bool isGeneric =
      use == SharedUse::GenericWrite || use == SharedUse::GenericReduce;
  uint8_t all = sharedWritten, any = 0;
  for (uint32_t k = offset; k < offset + bytes; ++k) {
    all &= block.sharedInit[k];
    any |= block.sharedInit[k];
  }
  if (c.checkAsync &&
      ((any & sharedMBarrier) ||
       (block.inFlight && isInFlight(block, offset, bytes, isWrite)))) {
    failSharedState(c, lane, block, offset, bytes, mode);
    return false;
  }
  if (reads(mode) && c.checkUninitialized && !all) {
    uint32_t k = offset;
    while (block.sharedInit[k] & sharedWritten)
      ++k;
    failUninitializedShared(c, lane, k, bytes - (k - offset));
    return false;
  }
  if (!c.checkSharedRaces && !c.checkAsync)
    return true;
  if (&block != c.block && !block.cluster->sharesClocks)
    return true;
  unsigned shift = c.kernel->sharedGranuleShift, other = 0;
  uint64_t first = offset >> shift, last = (offset + bytes - 1) >> shift;
  bool otherWrites = false;
  if (c.checkSharedRaces) {
    if (isWrite && racesAsyncRead(c, block, offset, bytes, other)) {
      failSharedRace(c, lane, block, offset, bytes, mode, other, false);
      return false;
    }
    bool fine =
        isGeneric
            ? raceSharedRun(c, block, first, last, mode, other, otherWrites)
            : isOrdered(*c.warp, block, first, last, isWrite,
                        mode == AccessMode::Atomic, other, otherWrites);
    if (!fine) {
      failSharedRace(c, lane, block, offset, bytes, mode, other, otherWrites);
      return false;
    }
    if (isGeneric)
      fine = raceLaneRun(*c.warp, block, first, last, lane, mode, other,
                         otherWrites);
    else if (use != SharedUse::WgmmaRead)
      fine = raceLaneRun</*records=*/false>(*c.warp, block, first, last, lane,
                                            mode, other, otherWrites);
    if (!fine) {
      failLaneRace(c, lane, block, offset, bytes, mode, other, otherWrites);
      return false;
    }
  }
  if (isGeneric || !c.checkAsync)
    return true;
  auto report = [&](const std::string &what) {
    fail(c, ErrorKind::MissingFence, lane,
         std::string(isWrite ? "writes" : "reads") + " " +
             std::to_string(bytes) + " bytes at " + std::to_string(offset) +
             " of shared memory through the async proxy, part of which " +
             what);
    return false;
  };
  int unfenced = findUnfenced(c, block, first, last);
  if (unfenced >= 0)
    return report(describeAgent(c, unsigned(unfenced)) +
                  " wrote with no fence.proxy.async in between");
  const Warp *reader = nullptr;
  const QueuedRead *read =
      isWrite ? findQueuedRead(c, block, offset, bytes, reader) : nullptr;
  if (!read)
    return true;
  return report(describeAgent(c, reader->agent) +
                " may not have read yet: before it said that it had, it "
                "neither used what " +
                describePlace(c, read->pc) +
                " loads nor came to a fence.proxy.async");
}

uint8_t *fusionemu::accessGlobal(Context &c, unsigned lane, uint64_t address,
                                 uint64_t bytes, AccessMode mode) {
  const char *verb = writes(mode) ? "writes" : "reads";
  Allocation *a = findAllocation(c, address);
  uint64_t offset = a ? address - a->base : 0;
  if (!a || !a->live || bytes > a->size - offset ||
      (a->readOnly && writes(mode))) {
    failGlobal(c, lane, address, unsigned(bytes), verb);
    return nullptr;
  }
  if (a->init && c.checkUninitialized && reads(mode) &&
      !testBits(a->init, offset, bytes)) {
    failUninitializedGlobal(c, lane, *a, offset, unsigned(bytes));
    return nullptr;
  }
  if (a->init && writes(mode))
    setBits(a->init, offset, bytes);
  if (c.checkGlobalRaces && mode != AccessMode::Atomic && !a->readOnly &&
      (__atomic_load_n(&a->readers, __ATOMIC_ACQUIRE) ||
       createRaceShadow(c, *a))) {
    unsigned shift = c.kernel->globalGranuleShift;
    bool otherWrites = false;
    uint32_t other =
        raceGlobalRun(*a, offset >> shift, (offset + bytes - 1) >> shift,
                      uint32_t(c.block->linear) + 1, writes(mode), otherWrites);
    if (other) {
      failGlobalRace(c, lane, *a, offset, unsigned(bytes), mode, other,
                     otherWrites);
      return nullptr;
    }
  }
  if (c.countMemory) {
    bool isStore = writes(mode);
    uint64_t *&bits = isStore ? a->storeSectors : a->loadSectors;
    uint64_t *map = __atomic_load_n(&bits, __ATOMIC_ACQUIRE);
    if (!map)
      map = createSectors(c, *a, isStore);
    if (map)
      setBits(map, offset >> 5,
              ((offset + bytes - 1) >> 5) - (offset >> 5) + 1);
  }
  return a->data + offset;
}

Next fusionemu::fenceProxy(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  if (I.aux & fenceBlockScope) {
    joinTimes(w.clock, w.seenClock);
    joinTimes(w.blockFencedClock, w.clock);
  }
  if (I.aux & fenceAsync) {
    joinTimes(w.proxyClock, w.clock);
    if (w.reads && w.reads->live)
      endReads(w);
  }
  if (I.aux & (fenceAsync | fenceMBarrierInit))
    fenceMBarriers(c);
  if (I.aux & (fenceClusterScope | fenceMBarrierInit)) {
    joinTimes(w.fencedClock, w.clock);
    joinTimes(w.fencedProxy, w.proxyClock);
  }
  // What comes later is behind the fence.
  noteArrival(w, c.exec);
  w.clock[w.agent] = tick(*c.block->cluster);
  updateOldest(*c.block->cluster, w);
  return Next::Continue;
}

/// The agent whose last use of the block's shared memory nothing puts before
/// the end of the block, or -1.
static int findUseAfterExit(const Cluster &cluster, const Block &block) {
  Clock known = {};
  for (unsigned i = 0; i < block.numWarps; ++i) {
    joinTimes(known, block.warps[i].clock);
    joinTimes(known, block.warps[i].seenClock);
  }
  // Copies first: they say more than the arrivals that go with them.
  for (unsigned agent = maxAgents; agent-- > 0;)
    if (block.touched[agent] > known[agent])
      return int(agent);
  return -1;
}

bool fusionemu::checkExit(Context &c, Cluster &cluster) {
  for (unsigned r = 0; r < cluster.size; ++r) {
    Block &block = cluster.blocks[r];
    int agent = findUseAfterExit(cluster, block);
    if (agent < 0)
      continue;
    c.block = &block;
    c.warp = &block.warps[0];
    c.pc = block.touchedPc[agent] + 1;
    bool isAsync = uint32_t(agent) & asyncAgent;
    fail(c, isAsync ? ErrorKind::InFlight : ErrorKind::UseAfterFree, warpSize,
         "and its block may exit before " + describeAgent(c, unsigned(agent)) +
             " has used their shared memory: nobody of the block has waited "
             "for it");
    return false;
  }
  return true;
}

Next fusionemu::mapAddress(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t address = c.slot<uint64_t>(I.a)[lane], window = 0, offset = 0;
    uint32_t rank = c.slot<uint32_t>(I.b)[lane];
    if (I.space == Space::Generic)
      window = sharedWindow;
    if (address - window >= windowBytes || rank >= c.block->cluster->size ||
        !findSharedBlock(*c.block, address - window, offset))
      return fail(c, ErrorKind::BadDescriptor, lane,
                  rank >= c.block->cluster->size
                      ? "maps an address to block " + std::to_string(rank) +
                            " of a cluster of " +
                            std::to_string(c.block->cluster->size)
                      : "maps an address that is not of shared memory");
    c.slot<uint64_t>(I.dst)[lane] =
        window + (uint64_t(rank + 1) << clusterShift) + offset;
  }
  return Next::Continue;
}

Next fusionemu::getBlockRank(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t offset = 0;
    Block *block = findShared(c, I, I.a, lane, 0, 1, "looks at", offset);
    if (!block)
      return Next::Fail;
    c.slot<uint32_t>(I.dst)[lane] = block->rank;
  }
  return Next::Continue;
}
