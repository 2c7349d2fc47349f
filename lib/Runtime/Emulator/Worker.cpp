//===- Worker.cpp - Running blocks on one host thread ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the scheduling of a block's warps, in turns between
// barriers.
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

/// Instructions that a warp runs before another one gets its turn, so that one
/// may wait for what the other stores.
static constexpr uint64_t warpQuantum = 1 << 16;
/// The same between the fragments of one warp.
static constexpr uint64_t fragmentQuantum = 1 << 10;

namespace {
/// One host thread: the memory of one block and the context that runs it.
class Worker {
public:
  explicit Worker(Launch &launch);
  ~Worker();
  /// False when the host has no memory for a block.
  bool isReady() const { return ready; }
  bool runBlock(uint64_t linear);

  Context c;
  /// By instruction; empty without a profile.
  std::vector<InstructionCounts> profile;

private:
  void fillConstants(Warp &w);
  void startWarp(Warp &w);
  void setSpecial(Warp &w, const SpecialSlot &slot);
  uint32_t specialValue(const Warp &w, Special special, unsigned lane) const;
  bool runWarp(Warp &w);

  Launch &launch;
  const Kernel &kernel;
  const HandlerTable &handlers;
  Block block;
  std::vector<Warp> warps;
  /// When each warp's fragments last met, split or waited.
  std::vector<uint64_t> lastSwitch;
  std::vector<Allocation *> cache;
  uint8_t *arena = nullptr;
  uint64_t arenaBytes = 0;
  uint64_t shadowEntries = 0;
  bool ready = false;
};
} // namespace

static uint64_t alignUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

Worker::Worker(Launch &launch)
    : launch(launch), kernel(launch.kernel), handlers(getHandlers()),
      warps(launch.numWarps), lastSwitch(launch.numWarps, 0),
      cache(kernel.memoryInstructions, nullptr) {
  // Everything that blocks reuse lies in one mapping.
  uint64_t file = alignUp(kernel.fileBytes, 64);
  uint64_t preds = alignUp(uint64_t(kernel.predicates) * 4, 64);
  uint64_t local = alignUp(uint64_t(kernel.info.localBytes) * warpSize, 64);
  uint64_t perWarp = file + preds + local;
  uint64_t shared = alignUp(launch.sharedBytes, 64);
  shadowEntries = (shared >> kernel.sharedGranuleShift) + 1;
  arenaBytes = perWarp * launch.numWarps + 2 * shared + 64 + shadowEntries * 12;
  arena = mapPages(arenaBytes);
  if (!arena)
    return;
  ready = true;
  uint8_t *next = arena;
  for (unsigned i = 0; i < launch.numWarps; ++i) {
    Warp &w = warps[i];
    w.index = i;
    w.regs = next;
    w.preds = reinterpret_cast<uint32_t *>(next + file);
    w.local = next + file + preds;
    uint32_t threads = launch.numThreads - i * warpSize;
    w.exists =
        threads >= warpSize ? ~uint32_t(0) : (uint32_t(1) << threads) - 1;
    next += perWarp;
    fillConstants(w);
  }
  block.numWarps = launch.numWarps;
  block.warps = warps.data();
  block.shared = next;
  block.sharedBytes = launch.sharedBytes;
  block.sharedInit = next + shared;
  next += 2 * shared;
  block.sharedReader = reinterpret_cast<uint64_t *>(next);
  block.sharedWriter = reinterpret_cast<uint32_t *>(next + shadowEntries * 8);
  c.block = &block;
  c.kernel = &kernel;
  c.launch = &launch;
  c.params = launch.params.data();
  c.paramBytes = uint32_t(kernel.info.argumentBytes);
  c.allocations = launch.memory.allocations.data();
  c.numAllocations = uint32_t(launch.memory.allocations.size());
  c.allocationCache = cache.data();
  const Checks &checks = launch.options.checks;
  c.checkUninitialized = checks.uninitialized;
  // A race needs two parties.
  c.checkSharedRaces = checks.sharedRaces && launch.numWarps > 1;
  c.checkGlobalRaces = checks.globalRaces && launch.numBlocks > 1 &&
                       !kernel.ordersBlocks &&
                       launch.numBlocks < manyReaders - 1;
  c.countMemory = launch.options.countMemory;
  if (launch.options.profile) {
    profile.resize(kernel.code.size());
    c.profile = profile.data();
  }
}

Worker::~Worker() { unmapPages(arena, arenaBytes); }

static void fillSlot(Warp &w, int32_t slot, unsigned size, uint64_t low,
                     uint64_t high) {
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint8_t *p = w.regs + slot + lane * size;
    std::memcpy(p, &low, std::min(size, 8u));
    if (size == 16)
      std::memcpy(p + 8, &high, 8);
  }
}

void Worker::fillConstants(Warp &w) {
  for (const Constant &constant : kernel.constants)
    fillSlot(w, constant.slot, constant.size, constant.low, constant.high);
  for (const Relocation &r : kernel.relocations)
    fillSlot(w, r.slot, r.size, launch.variables[r.variable] + r.addend, 0);
}

uint32_t Worker::specialValue(const Warp &w, Special special,
                              unsigned lane) const {
  const Dim3 &n = launch.blockDim;
  uint32_t thread = w.index * warpSize + lane;
  uint32_t below = (uint32_t(1) << lane) - 1;
  switch (special) {
  case Special::TidX:
    return thread % n.x;
  case Special::TidY:
    return thread / n.x % n.y;
  case Special::TidZ:
    return thread / n.x / n.y;
  case Special::NTidX:
    return n.x;
  case Special::NTidY:
    return n.y;
  case Special::NTidZ:
    return n.z;
  case Special::CtaIdX:
    return block.id.x;
  case Special::CtaIdY:
    return block.id.y;
  case Special::CtaIdZ:
    return block.id.z;
  case Special::NCtaIdX:
    return launch.grid.x;
  case Special::NCtaIdY:
    return launch.grid.y;
  case Special::NCtaIdZ:
    return launch.grid.z;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return w.index;
  case Special::NWarpId:
    return launch.numWarps;
  case Special::SmId:
    return 0;
  case Special::NSmId:
    return 1;
  case Special::GridId:
    return 0;
  case Special::LaneMaskEq:
    return uint32_t(1) << lane;
  case Special::LaneMaskLt:
    return below;
  case Special::LaneMaskLe:
    return below | uint32_t(1) << lane;
  case Special::LaneMaskGt:
    return ~(below | uint32_t(1) << lane);
  case Special::LaneMaskGe:
    return ~below;
  case Special::DynamicSharedSize:
    return launch.dynamicSharedBytes;
  case Special::TotalSharedSize:
    return launch.sharedBytes;
  case Special::Zero:
    return 0;
  case Special::One:
    return 1;
  }
  return 0;
}

void Worker::setSpecial(Warp &w, const SpecialSlot &slot) {
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t value = specialValue(w, slot.special, lane);
    std::memcpy(w.regs + slot.slot + lane * slot.size, &value, slot.size);
  }
}

void Worker::startWarp(Warp &w) {
  std::memset(w.regs, 0, kernel.registerBytes);
  std::memset(w.preds, 0, size_t(kernel.predicates) * 4);
  if (kernel.info.localBytes)
    std::memset(w.local, 0, size_t(kernel.info.localBytes) * warpSize);
  w.preds[truePredicate] = ~uint32_t(0);
  for (const SpecialSlot &slot : kernel.specials)
    setSpecial(w, slot);
  w.live = w.exists;
  w.carry = 0;
  w.steps = 0;
  lastSwitch[w.index] = 0;
  w.current = 0;
  w.numFragments = 1;
  w.fragments[0] = Fragment();
  w.fragments[0].mask = w.exists;
  for (Join &join : w.joins)
    join = Join();
  for (uint32_t &clock : w.clock)
    clock = 0;
  w.clock[w.index] = 1;
  w.oldestClock = 0;
}

/// Lets a warp run until it can go no further or its turn is over. False on
/// error.
bool Worker::runWarp(Warp &w) {
  c.warp = &w;
  c.regs = w.regs;
  c.preds = w.preds;
  uint64_t maxSteps = launch.options.maxSteps;
  uint64_t end = w.steps + warpQuantum;
  while (w.numFragments != 0 && w.steps < end) {
    unsigned tried = 0;
    for (; tried < w.numFragments; ++tried) {
      if (w.current >= w.numFragments)
        w.current = 0;
      if (w.fragments[w.current].state == Fragment::State::Ready)
        break;
      ++w.current;
    }
    if (tried == w.numFragments) {
      // wakeFragments runs between turns; nothing more to do in this one.
      return true;
    }
    const Fragment &f = w.fragments[w.current];
    c.pc = f.pc;
    c.active = f.mask;
    uint64_t budget = w.numFragments == 1 ? warpQuantum : fragmentQuantum;
    budget = std::min(budget, end - w.steps);
    if (w.steps >= maxSteps) {
      fail(c, ErrorKind::StepLimit, warpSize,
           "has run " + std::to_string(maxSteps) +
               " instructions without finishing, the limit of this launch "
               "(an endless loop, or raise the limit)");
      return false;
    }
    budget = std::min(budget, maxSteps - w.steps);
    Next next = handlers.run(c, budget);
    if (next == Next::Fail)
      return false;
    if (next == Next::Continue) {
      w.fragments[w.current].pc = c.pc;
      ++w.current;
      if (w.steps - lastSwitch[w.index] >= warpQuantum) {
        releaseWaitingLanes(w);
        lastSwitch[w.index] = w.steps;
      }
    } else {
      lastSwitch[w.index] = w.steps;
    }
    wakeFragments(w);
  }
  return true;
}

bool Worker::runBlock(uint64_t linear) {
  block.linear = linear;
  block.id.x = uint32_t(linear % launch.grid.x);
  block.id.y = uint32_t(linear / launch.grid.x % launch.grid.y);
  block.id.z = uint32_t(linear / launch.grid.x / launch.grid.y);
  block.time = 1;
  std::memset(block.shared, 0, launch.sharedBytes);
  if (c.checkUninitialized)
    std::memset(block.sharedInit, 0, launch.sharedBytes);
  if (c.checkSharedRaces)
    std::memset(block.sharedReader, 0, shadowEntries * 12);
  for (Barrier &barrier : block.barriers)
    barrier.inUse = false;
  for (Warp &w : warps)
    startWarp(w);
  while (true) {
    bool progress = false, alive = false;
    for (Warp &w : warps) {
      if (w.numFragments == 0)
        continue;
      uint64_t before = w.steps;
      if (!runWarp(w))
        return false;
      progress |= w.steps != before;
      alive = true;
    }
    if (!alive)
      return true;
    progress |= releaseBarriers(c, block);
    if (!progress) {
      failDeadlock(c, block);
      return false;
    }
  }
}

void Launch::work() {
  Worker worker(*this);
  if (!worker.isReady()) {
    std::lock_guard<std::mutex> lock(resultMutex);
    if (failedBlock != 0) {
      failedBlock = 0;
      error = Status(ErrorKind::OutOfMemory,
                     "the host cannot back a block of kernel '" +
                         kernel.info.name + "'");
    }
    return;
  }
  while (true) {
    uint64_t linear = nextBlock.fetch_add(1);
    if (linear >= numBlocks || linear > failedBlock.load())
      break;
    if (worker.runBlock(linear))
      continue;
    std::lock_guard<std::mutex> lock(resultMutex);
    if (linear < failedBlock.load()) {
      failedBlock = linear;
      error = worker.c.error;
    }
    break;
  }
  std::lock_guard<std::mutex> lock(resultMutex);
  counters += worker.c.counters;
  addProfile(profile, worker.profile);
}
