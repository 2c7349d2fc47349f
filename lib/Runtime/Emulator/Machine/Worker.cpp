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

#include "Machine/Launch.h"

#include "Async/Async.h"
#include "Machine/ReadQueue.h"
#include "Matrix/Wgmma.h"
#include "Support.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace fusionemu;

/// Instructions that a warp runs before another one gets its turn, so that one
/// may wait for what the other stores.
static constexpr uint64_t warpQuantum = 1 << 16;
/// The same where blocks wait for each other.
static constexpr uint64_t teamQuantum = 1 << 10;
/// The same between the fragments of one warp.
static constexpr uint64_t fragmentQuantum = 1 << 10;

namespace {
/// One host thread: the memory of one cluster and the context that runs it.
class Worker {
public:
  explicit Worker(Launch &launch);
  ~Worker();
  /// False when the host has no memory for a cluster.
  bool isReady() const { return ready; }
  /// Begins the cluster of that number.
  void startCluster(uint64_t linear);
  /// Lets every warp of the cluster have a turn. False when it failed.
  bool runCluster(bool &isDone);

  Context c;
  /// By instruction; empty without a profile.
  std::vector<InstructionCounts> profile;

private:
  uint64_t layOutWarp(uint8_t *base, Warp &w) const;
  uint64_t layOutShared(uint8_t *base, Block &block) const;
  void fillConstants(Warp &w);
  void startBlock(Block &block);
  void startWarp(Block &block, Warp &w);
  void setSpecial(const Block &block, Warp &w, const SpecialSlot &slot);
  uint32_t specialValue(const Block &block, const Warp &w, Special special,
                        unsigned lane) const;
  bool runWarp(Warp &w);
  void renewLaneTimes();
  bool runTurns(bool &alive, bool &progress);
  bool finishCluster();

  Launch &launch;
  const Kernel &kernel;
  const HandlerTable &handlers;
  /// Instructions of a warp at a time.
  const uint64_t quantum;
  Cluster cluster;
  std::vector<Block> blocks;
  std::vector<Warp> warps;
  std::vector<Allocation *> cache;
  uint8_t *arena = nullptr;
  uint64_t arenaBytes = 0;
  uint64_t shadowEntries = 0;
  /// What had happened when waits last gave up.
  uint64_t expiredAt = 0;
  /// Events when all warps had had their turn before this one.
  uint64_t eventsBefore = 0;
  bool ready = false;
};
} // namespace

/// Gives a warp its place at `base`, or only measures it when that is null.
uint64_t Worker::layOutWarp(uint8_t *base, Warp &w) const {
  uint64_t next = 0;
  auto take = [&](uint64_t bytes) {
    uint8_t *at = base ? base + next : nullptr;
    next += alignUp(bytes, 64);
    return at;
  };
  w.regs = take(kernel.fileBytes);
  w.preds = reinterpret_cast<uint32_t *>(take(uint64_t(kernel.predicates) * 4));
  w.local = take(uint64_t(kernel.info.localBytes) * warpSize);
  if (kernel.usesWgmma) {
    w.registerUse = take(kernel.fileBytes / 32 + 1);
    w.registerWrite =
        reinterpret_cast<uint64_t *>(take((kernel.fileBytes / 32 + 1) * 8));
  }
  const Checks &checks = launch.options.checks;
  if (kernel.overwritesShared && checks.asynchrony && checks.sharedRaces) {
    w.reads = reinterpret_cast<ReadQueue *>(take(sizeof(ReadQueue)));
    w.registerLoad =
        reinterpret_cast<uint32_t *>(take((kernel.fileBytes / 32 + 1) * 4));
  }
  return next;
}

/// The same for the shared memory of a block and its shadows.
uint64_t Worker::layOutShared(uint8_t *base, Block &block) const {
  uint64_t next = 0;
  auto take = [&](uint64_t bytes) {
    uint8_t *at = base ? base + next : nullptr;
    next += alignUp(bytes, 64);
    return at;
  };
  uint64_t shared = alignUp(launch.sharedBytes, 64);
  block.shared = take(shared);
  block.sharedInit = take(shared);
  block.sharedReader = reinterpret_cast<uint64_t *>(take(shadowEntries * 8));
  block.sharedWriter = reinterpret_cast<uint32_t *>(take(shadowEntries * 4));
  block.laneReader = reinterpret_cast<uint64_t *>(take(shadowEntries * 8));
  block.laneWriter = reinterpret_cast<uint32_t *>(take(shadowEntries * 4));
  if (kernel.usesAsync) {
    block.sharedReading = reinterpret_cast<uint16_t *>(take(shared / 2));
    block.sharedWriting = reinterpret_cast<uint16_t *>(take(shared / 2));
    block.sharedAsyncReader = reinterpret_cast<uint32_t *>(take(shared));
  }
  return next;
}

Worker::Worker(Launch &launch)
    : launch(launch), kernel(launch.kernel), handlers(getHandlers()),
      quantum(launch.teamSize > 1 ? teamQuantum : warpQuantum),
      blocks(launch.clusterSize),
      warps(size_t(launch.numWarps) * launch.clusterSize),
      cache(kernel.memoryInstructions, nullptr) {
  // Everything that clusters reuse lies in one mapping.
  shadowEntries =
      (alignUp(launch.sharedBytes, 64) >> kernel.sharedGranuleShift) + 1;
  uint64_t perWarp = layOutWarp(nullptr, warps[0]);
  uint64_t perBlock = layOutShared(nullptr, blocks[0]);
  arenaBytes = perWarp * warps.size() + perBlock * blocks.size();
  arena = mapPages(arenaBytes);
  if (!arena)
    return;
  ready = true;
  uint8_t *next = arena;
  cluster.size = launch.clusterSize;
  cluster.shape = launch.cluster;
  cluster.blocks = blocks.data();
  cluster.sharesClocks = warps.size() <= maxWarps;
  cluster.numAgents =
      cluster.sharesClocks ? uint32_t(warps.size()) : launch.numWarps;
  for (unsigned r = 0; r < blocks.size(); ++r) {
    Block &block = blocks[r];
    block.rank = r;
    block.cluster = &cluster;
    block.kernel = &kernel;
    block.numWarps = launch.numWarps;
    block.warps = warps.data() + size_t(r) * launch.numWarps;
    block.sharedBytes = launch.sharedBytes;
    next += layOutShared(next, block);
    for (unsigned i = 0; i < launch.numWarps; ++i) {
      Warp &w = block.warps[i];
      w.index = i;
      w.agent = cluster.sharesClocks ? r * launch.numWarps + i : i;
      uint32_t threads = launch.numThreads - i * warpSize;
      w.exists =
          threads >= warpSize ? ~uint32_t(0) : (uint32_t(1) << threads) - 1;
      next += layOutWarp(next, w);
      fillConstants(w);
    }
  }
  c.kernel = &kernel;
  c.launch = &launch;
  c.params = launch.params.data();
  c.paramBytes = uint32_t(kernel.info.argumentBytes);
  c.allocations = launch.memory.allocations.data();
  c.numAllocations = uint32_t(launch.memory.allocations.size());
  c.allocationCache = cache.data();
  const Checks &checks = launch.options.checks;
  c.checkUninitialized = checks.uninitialized;
  c.checkAsync = checks.asynchrony;
  c.isLate = launch.options.asynchrony == Asynchrony::Late;
  // A race needs two parties.
  c.checkSharedRaces =
      checks.sharedRaces &&
      (launch.numThreads > 1 || warps.size() > 1 || kernel.usesAsync);
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

uint32_t Worker::specialValue(const Block &block, const Warp &w,
                              Special special, unsigned lane) const {
  const Dim3 &n = launch.blockDim, &k = cluster.shape;
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
  case Special::ClusterIdX:
    return cluster.id.x;
  case Special::ClusterIdY:
    return cluster.id.y;
  case Special::ClusterIdZ:
    return cluster.id.z;
  case Special::NClusterIdX:
    return launch.grid.x / k.x;
  case Special::NClusterIdY:
    return launch.grid.y / k.y;
  case Special::NClusterIdZ:
    return launch.grid.z / k.z;
  case Special::ClusterCtaIdX:
    return block.rank % k.x;
  case Special::ClusterCtaIdY:
    return block.rank / k.x % k.y;
  case Special::ClusterCtaIdZ:
    return block.rank / k.x / k.y;
  case Special::ClusterNCtaIdX:
    return k.x;
  case Special::ClusterNCtaIdY:
    return k.y;
  case Special::ClusterNCtaIdZ:
    return k.z;
  case Special::ClusterCtaRank:
    return block.rank;
  case Special::ClusterNCtaRank:
    return cluster.size;
  case Special::Zero:
    return 0;
  }
  return 0;
}

void Worker::setSpecial(const Block &block, Warp &w, const SpecialSlot &slot) {
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t value = specialValue(block, w, slot.special, lane);
    std::memcpy(w.regs + slot.slot + lane * slot.size, &value, slot.size);
  }
}

void Worker::startWarp(Block &block, Warp &w) {
  std::memset(w.regs, 0, kernel.registerBytes);
  std::memset(w.preds, 0, size_t(kernel.predicates) * 4);
  if (kernel.info.localBytes)
    std::memset(w.local, 0, size_t(kernel.info.localBytes) * warpSize);
  w.preds[truePredicate] = ~uint32_t(0);
  for (const SpecialSlot &slot : kernel.specials)
    setSpecial(block, w, slot);
  w.live = w.exists;
  w.carry = 0;
  w.steps = 0;
  w.lastSwitch = 0;
  w.current = 0;
  w.numFragments = 1;
  w.fragments[0] = Fragment();
  w.fragments[0].mask = w.exists;
  for (Join &join : w.joins)
    join = Join();
  for (uint32_t *clock : {w.clock, w.proxyClock, w.fencedClock, w.fencedProxy,
                          w.blockFencedClock, w.seenClock})
    std::fill_n(clock, maxAgents, 0u);
  for (uint32_t *groups : {w.copyGroups, w.bulkGroups})
    std::fill_n(groups, warpSize, 0u);
  w.clock[w.agent] = 1;
  w.oldestClock = 0;
  startLanes(w);
  w.clusterArrived = w.clusterPending = 0;
  w.copies.clear();
  w.wgmmas.clear();
  w.wgmmaGroups = 0;
  w.wgmmaIssued = 0;
  w.wgmmaFence = 0;
  w.registerTime = 1;
  if (w.registerUse) {
    std::memset(w.registerUse, 0, kernel.fileBytes / 32 + 1);
    std::memset(w.registerWrite, 0, (size_t(kernel.fileBytes) / 32 + 1) * 8);
  }
  if (w.reads)
    clearReads(kernel, w);
}

/// Lets a warp run until it can go no further or its turn is over. False on
/// error.
bool Worker::runWarp(Warp &w) {
  c.warp = &w;
  c.regs = w.regs;
  c.preds = w.preds;
  uint64_t maxSteps = launch.options.maxSteps;
  uint64_t end = w.steps + quantum;
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
      if (w.steps - w.lastSwitch >= warpQuantum) {
        releaseWaitingLanes(w);
        w.lastSwitch = w.steps;
      }
    } else {
      w.lastSwitch = w.steps;
    }
    wakeFragments(w);
  }
  return true;
}

void Worker::startBlock(Block &block) {
  std::memset(block.shared, 0, launch.sharedBytes);
  std::memset(block.sharedInit, 0, launch.sharedBytes);
  if (c.checkSharedRaces || kernel.usesAsync) {
    std::memset(block.sharedReader, 0, shadowEntries * 8);
    std::memset(block.sharedWriter, 0, shadowEntries * 4);
  }
  if (kernel.usesAsync) {
    std::memset(block.sharedReading, 0, launch.sharedBytes / 2);
    std::memset(block.sharedWriting, 0, launch.sharedBytes / 2);
    std::memset(block.sharedAsyncReader, 0, launch.sharedBytes);
  }
  block.inFlight = 0;
  std::fill_n(block.touched, maxAgents, 0u);
  for (Barrier &barrier : block.barriers)
    barrier = Barrier();
  block.mbarriers.clear();
  for (WgmmaLog &log : block.wgmmaLogs)
    log = WgmmaLog();
  for (unsigned i = 0; i < block.numWarps; ++i)
    startWarp(block, block.warps[i]);
}

/// Gives every warp one turn. False on error.
bool Worker::runTurns(bool &alive, bool &progress) {
  for (Block &block : blocks) {
    c.block = &block;
    for (unsigned i = 0; i < block.numWarps; ++i) {
      Warp &w = block.warps[i];
      if (w.numFragments == 0)
        continue;
      uint64_t before = w.steps;
      if (!runWarp(w))
        return false;
      progress |= w.steps != before;
      alive = true;
    }
    progress |= releaseBarriers(c, block);
    progress |= kernel.usesWgmma && releaseWarpgroups(block);
  }
  return true;
}

/// What remains to do and to check when every thread has exited.
bool Worker::finishCluster() {
  if (kernel.usesAsync && !finishAsync(c, cluster))
    return false;
  if (c.checkAsync && !checkExit(c, cluster))
    return false;
  if (c.checkAsync)
    for (Block &block : blocks)
      if (!checkWgmmasAtEnd(c, block) || !checkMBarriersAtEnd(c, block))
        return false;
  return true;
}

/// The times of lanes go on from block to block, so that what they stamped need
/// not be cleared, until half of them are used.
void Worker::renewLaneTimes() {
  bool isLate = false;
  for (const Warp &w : warps)
    isLate |= laneTimeOf(w.lanes.stamp) > maxLaneTime / 2;
  if (!isLate)
    return;
  for (Warp &w : warps)
    w.lanes.stamp = 0;
  for (Block &block : blocks) {
    std::memset(block.laneReader, 0, shadowEntries * 8);
    std::memset(block.laneWriter, 0, shadowEntries * 4);
  }
}

void Worker::startCluster(uint64_t linear) {
  const Dim3 &k = cluster.shape;
  uint64_t nx = launch.grid.x / k.x, ny = launch.grid.y / k.y;
  cluster.id = {uint32_t(linear % nx), uint32_t(linear / nx % ny),
                uint32_t(linear / nx / ny)};
  cluster.time = 1;
  renewLaneTimes();
  cluster.copies.clear();
  for (auto &tiles : cluster.tiles)
    tiles.clear();
  cluster.runsInFlight = 0;
  for (Block &block : blocks) {
    for (uint32_t *clock : {block.clusterClock, block.clusterProxy,
                            block.clusterDoneClock, block.clusterDoneProxy})
      std::fill_n(clock, maxAgents, 0u);
    block.id = {cluster.id.x * k.x + block.rank % k.x,
                cluster.id.y * k.y + block.rank / k.x % k.y,
                cluster.id.z * k.z + block.rank / k.x / k.y};
    block.linear =
        block.id.x + uint64_t(launch.grid.x) *
                         (block.id.y + uint64_t(launch.grid.y) * block.id.z);
    startBlock(block);
  }
  expiredAt = ~uint64_t(0);
  eventsBefore = 0;
}

bool Worker::runCluster(bool &isDone) {
  bool progress = false, alive = false;
  isDone = false;
  if (!runTurns(alive, progress))
    return false;
  if (!alive) {
    isDone = true;
    return finishCluster();
  }
  progress |= releaseClusterBarrier(c, cluster);
  progress |= releaseMBarrierWaits(c, cluster);
  uint64_t events = c.events + c.counters.globalStoreRequests +
                    c.counters.globalAtomicRequests +
                    c.counters.sharedStoreRequests +
                    c.counters.sharedAtomicRequests + c.counters.barriers;
  // Who looks again and again for what another block will write does not get
  // on, and that block may be waiting for a copy.
  bool isLooking = launch.teamSize > 1 && events == eventsBefore;
  eventsBefore = events;
  if (progress && !isLooking)
    return true;
  // Nobody can go on by itself: now asynchronous operations take effect.
  if (kernel.usesAsync && !forceAsync(c, cluster, progress))
    return false;
  if (progress)
    return true;
  // A wait may give up after a while, and its thread do something else. When
  // all have done so once and nothing has come of it, nothing ever will.
  if (events != expiredAt && expireMBarrierWaits(cluster)) {
    expiredAt = events;
    return true;
  }
  failDeadlock(c, cluster);
  return false;
}

bool Launch::exceedsSteps(uint64_t count) {
  if (options.maxLaunchSteps == ~uint64_t(0) ||
      steps.fetch_add(count) + count <= options.maxLaunchSteps)
    return false;
  std::lock_guard<std::mutex> lock(resultMutex);
  // Which block came last depends on the host's threads: none is named.
  if (error.ok()) {
    failedBlock = 0;
    error = Status(ErrorKind::StepLimit,
                   "launch of '" + kernel.info.name + "': its " +
                       std::to_string(numBlocks) +
                       " blocks together run more than " +
                       std::to_string(options.maxLaunchSteps) +
                       " instructions, the limit of this launch");
  }
  return true;
}

/// Runs clusters until there are none left: one, or those whose blocks wait for
/// each other, in turns.
void Launch::work() {
  std::vector<std::unique_ptr<Worker>> workers;
  bool isReady = true;
  for (uint32_t i = 0; i < teamSize && isReady; ++i) {
    workers.push_back(std::make_unique<Worker>(*this));
    isReady = workers.back()->isReady();
  }
  if (!isReady) {
    std::lock_guard<std::mutex> lock(resultMutex);
    if (failedBlock != 0) {
      failedBlock = 0;
      error = Status(ErrorKind::OutOfMemory,
                     "the host cannot back the blocks of kernel '" +
                         kernel.info.name + "'");
    }
    return;
  }
  uint64_t numClusters = numBlocks / clusterSize;
  bool hasFailed = false;
  while (!hasFailed) {
    uint64_t first = nextBlock.fetch_add(1) * teamSize;
    if (first >= numClusters || first > failedBlock.load())
      break;
    uint64_t count = std::min<uint64_t>(teamSize, numClusters - first);
    std::vector<char> isRunning(count, 1);
    for (uint64_t i = 0; i < count; ++i)
      workers[i]->startCluster(first + i);
    for (uint64_t left = count; left > 0 && !hasFailed;)
      for (uint64_t i = 0; i < count && !hasFailed; ++i) {
        bool isDone = false;
        if (!isRunning[i])
          continue;
        const uint64_t &executed = workers[i]->c.counters.instructions;
        uint64_t before = executed;
        bool isFine = workers[i]->runCluster(isDone);
        if (isFine && exceedsSteps(executed - before)) {
          hasFailed = true;
        } else if (!isFine) {
          hasFailed = true;
          std::lock_guard<std::mutex> lock(resultMutex);
          if (first + i < failedBlock.load()) {
            failedBlock = first + i;
            error = workers[i]->c.error;
          }
        } else if (isDone) {
          isRunning[i] = 0;
          --left;
        }
      }
  }
  std::lock_guard<std::mutex> lock(resultMutex);
  for (const std::unique_ptr<Worker> &worker : workers) {
    counters += worker->c.counters;
    addProfile(profile, worker->profile);
  }
}
