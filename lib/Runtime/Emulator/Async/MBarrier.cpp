//===- MBarrier.cpp - mbarrier objects ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements mbarrier objects: arrivals, transaction counts, phases
// and the waits for them. A wait that finds its phase incomplete suspends the
// thread, as PTX allows for try_wait and test_wait alike, so that nothing spins
// and a deadlock is seen.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Machine/Shadow.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

namespace {
/// An mbarrier and where it is.
struct MBarrierPlace {
  MBarrier *barrier = nullptr;
  Block *block = nullptr;
  uint64_t offset = 0;
};
} // namespace

/// Bounds of PTX for the pending count and the transaction count.
static constexpr uint32_t maxArrivals = (1 << 20) - 1;
static constexpr int64_t maxBytes = (1 << 20) - 1;

static std::string describe(const Context &c, const Block &block,
                            uint64_t offset) {
  std::string text =
      "the mbarrier at " + std::to_string(offset) + " of shared memory";
  if (&block != c.block)
    text += " of block " + std::to_string(block.rank) + " of the cluster";
  return text;
}

/// The mbarrier that a lane names, or null when an error was reported.
static MBarrier *findMBarrier(Context &c, unsigned lane, Block &block,
                              uint64_t offset) {
  auto found = block.mbarriers.find(uint32_t(offset));
  if (found == block.mbarriers.end()) {
    fail(c, ErrorKind::BarrierMisuse, lane,
         "uses " + describe(c, block, offset) + ", where none was initialised");
    return nullptr;
  }
  MBarrier &m = found->second;
  bool known = &block == c.block || block.cluster->sharesClocks;
  const Warp &w = *c.warp;
  std::string other;
  if (!c.checkSharedRaces || !known)
    return &m;
  if (m.initAgent != w.agent && m.initTime > w.clock[m.initAgent])
    other = describeAgent(c, m.initAgent);
  else if (w.lanes.isRecent(m.initStamp) &&
           w.lanes.isUnknown(m.initStamp, laneOf(m.initStamp), lane))
    other = describeLane(c, laneOf(m.initStamp));
  else
    return &m;
  fail(c, ErrorKind::SharedRace, lane,
       "uses " + describe(c, block, offset) + ", which " + other +
           " initialised with no barrier in between");
  return nullptr;
}

static void completeIfDone(Context &c, MBarrier &m) {
  if (m.pending != 0 || m.bytes != 0)
    return;
  ++m.phase;
  m.pending = m.expected;
  joinTimes(m.doneClock, m.clock);
  joinTimes(m.doneProxy, m.proxyClock);
  ++c.events;
}

/// Adds what an arrival makes visible: with .relaxed only what came before a
/// fence.
static void releaseTo(Context &c, Block &block, MBarrier &m, bool relaxed) {
  Warp &w = *c.warp;
  if (&block != c.block) {
    if (!block.cluster->sharesClocks)
      return;
    const Clock &known = relaxed ? w.fencedClock : w.clock;
    touch(c, block, w.agent, known[w.agent]);
    joinTimes(m.clock, known);
  } else {
    joinTimes(m.clock, relaxed ? w.blockFencedClock : w.clock);
  }
  joinTimes(m.proxyClock, w.proxyClock);
}

/// An mbarrier of another block can be arrived at, but not more. False after a
/// report.
static bool isOwn(Context &c, unsigned lane, const Block &block,
                  uint64_t offset, const char *verb) {
  if (&block == c.block)
    return true;
  fail(c, ErrorKind::BarrierMisuse, lane,
       std::string(verb) + " " + describe(c, block, offset) +
           ", which only that block may do");
  return false;
}

/// Finds the mbarrier at the address of a lane. False after a report.
static bool findMBarrier(Context &c, const Instruction &I, unsigned lane,
                         const char *verb, MBarrierPlace &at) {
  at.block = findShared(c, I, I.a, lane, 8, 8, verb, at.offset);
  if (at.block)
    at.barrier = findMBarrier(c, lane, *at.block, at.offset);
  return at.barrier != nullptr;
}

/// The same for what only the mbarrier's own block may do.
static bool findOwnMBarrier(Context &c, const Instruction &I, unsigned lane,
                            const char *verb, MBarrierPlace &at) {
  at.block = findShared(c, I, I.a, lane, 8, 8, verb, at.offset);
  if (at.block && isOwn(c, lane, *at.block, at.offset, verb))
    at.barrier = findMBarrier(c, lane, *at.block, at.offset);
  return at.barrier != nullptr;
}

static bool addBytes(Context &c, unsigned lane, const Block &block,
                     uint64_t offset, MBarrier &m, int64_t bytes) {
  m.bytes += bytes;
  if (m.bytes >= -maxBytes && m.bytes <= maxBytes)
    return true;
  fail(c, ErrorKind::BarrierMisuse, lane,
       "moves the transaction count of " + describe(c, block, offset) + " to " +
           std::to_string(m.bytes) + ", beyond its range of " +
           std::to_string(maxBytes));
  return false;
}

static bool takeArrivals(Context &c, unsigned lane, const Block &block,
                         uint64_t offset, MBarrier &m, uint32_t count) {
  if (count <= m.pending && count != 0) {
    m.pending -= count;
    return true;
  }
  fail(c, ErrorKind::BarrierMisuse, lane,
       "arrives " + std::to_string(count) + " times at " +
           describe(c, block, offset) + ", whose phase expects " +
           std::to_string(m.pending) + " more of " +
           std::to_string(m.expected));
  return false;
}

Next fusionemu::mbarrierInit(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t offset = 0;
    Block *block = findShared(c, I, I.a, lane, 8, 8, "initialises", offset);
    if (!block)
      return Next::Fail;
    uint32_t count = c.slot<uint32_t>(I.b)[lane];
    if (!isOwn(c, lane, *block, offset, "initialises"))
      return Next::Fail;
    if (count == 0 || count > maxArrivals)
      return fail(c, ErrorKind::BarrierMisuse, lane,
                  "initialises an mbarrier for " + std::to_string(count) +
                      " arrivals; 1 to " + std::to_string(maxArrivals) +
                      " are possible");
    for (uint64_t k = 0; k < 8; ++k)
      if (block->sharedInit[offset + k] & sharedMBarrier)
        return fail(c, ErrorKind::BarrierMisuse, lane,
                    "initialises " + describe(c, *block, offset) +
                        ", where there is one already");
    if (!checkAsyncShared(c, lane, *block, uint32_t(offset), 8,
                          SharedUse::GenericWrite))
      return Next::Fail;
    std::memset(block->sharedInit + offset, sharedWritten | sharedMBarrier, 8);
    MBarrier &m = block->mbarriers[uint32_t(offset)];
    m = MBarrier();
    m.expected = m.pending = count;
    m.initAgent = c.warp->agent;
    m.initTime = c.warp->clock[c.warp->agent];
    m.initPc = c.here();
    m.initStamp = c.warp->lanes.stamp | lane;
  }
  c.warp->clock[c.warp->agent] = tick(*c.block->cluster);
  ++c.events;
  return Next::Continue;
}

Next fusionemu::mbarrierInval(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    MBarrierPlace at;
    if (!findOwnMBarrier(c, I, lane, "invalidates", at))
      return Next::Fail;
    auto [m, block, offset] = at;
    if (c.checkAsync && (m->bytes != 0 || m->pending != m->expected))
      return fail(c, ErrorKind::BarrierLeak, lane,
                  "invalidates " + describe(c, *block, offset) +
                      " in the middle of a phase");
    block->mbarriers.erase(uint32_t(offset));
    // What the object leaves behind is nothing that may be read.
    std::memset(block->sharedInit + offset, 0, 8);
  }
  ++c.events;
  return Next::Continue;
}

/// mbarrier.expect_tx and complete_tx: b is the number of bytes, aux 1 to
/// complete.
Next fusionemu::mbarrierBytes(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    MBarrierPlace at;
    if (!findMBarrier(c, I, lane, "uses", at))
      return Next::Fail;
    auto [m, block, offset] = at;
    if (block != c.block)
      touch(c, *block, c.warp->agent, c.warp->clock[c.warp->agent]);
    int64_t bytes = c.slot<uint32_t>(I.b)[lane];
    if (!addBytes(c, lane, *block, offset, *m, I.aux & 1 ? -bytes : bytes))
      return Next::Fail;
    completeIfDone(c, *m);
  }
  ++c.events;
  return Next::Continue;
}

/// All forms of mbarrier.arrive: b is the count, c the expected bytes; dst
/// receives the state.
Next fusionemu::mbarrierArrive(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    MBarrierPlace at;
    if (!findMBarrier(c, I, lane, "arrives at", at))
      return Next::Fail;
    auto [m, block, offset] = at;
    uint64_t state = m->phase << 32 | m->pending;
    uint32_t count = c.slot<uint32_t>(I.b)[lane];
    if (I.c >= 0 && !addBytes(c, lane, *block, offset, *m,
                              int64_t(c.slot<uint32_t>(I.c)[lane])))
      return Next::Fail;
    if (!takeArrivals(c, lane, *block, offset, *m, count))
      return Next::Fail;
    if ((I.aux & arriveNoComplete) && m->pending == 0 && m->bytes == 0)
      return fail(c, ErrorKind::BarrierMisuse, lane,
                  "completes a phase of " + describe(c, *block, offset) +
                      " by an arrival with .noComplete");
    if (I.aux & arriveDrop)
      m->expected -= count;
    releaseTo(c, *block, *m, I.aux & orderRelaxed);
    completeIfDone(c, *m);
    if (I.dst >= 0)
      c.slot<uint64_t>(I.dst)[lane] = state;
  }
  noteArrival(*c.warp, c.exec);
  c.warp->clock[c.warp->agent] = tick(*c.block->cluster);
  ++c.events;
  return Next::Continue;
}

/// mbarrier.pending_count of a state.
Next fusionemu::mbarrierPending(Context &c, const Instruction &I) {
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    c.slot<uint32_t>(I.dst)[lane] = uint32_t(c.slot<uint64_t>(I.a)[lane]);
  }
  return Next::Continue;
}

/// test_wait and try_wait: b is the parity, or the state with waitState; dst is
/// the predicate.
Next fusionemu::mbarrierWait(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  uint32_t complete = 0, learnt = 0;
  uint64_t first = 0;
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    MBarrierPlace at;
    if (!findOwnMBarrier(c, I, lane, "waits at", at))
      return Next::Fail;
    auto [m, block, offset] = at;
    if (r == c.exec)
      first = uint64_t(block->rank + 1) << clusterShift | offset;
    bool done = false;
    if (I.aux & waitState) {
      uint64_t phase = c.slot<uint64_t>(I.b)[lane] >> 32;
      uint64_t current = m->phase & 0xffffffff;
      done = phase != current;
      if (done && uint32_t(phase + 1) != current)
        return fail(c, ErrorKind::BarrierMisuse, lane,
                    "waits at " + describe(c, *block, offset) + " for phase " +
                        std::to_string(phase) + ", but it is in phase " +
                        std::to_string(current));
    } else {
      uint32_t parity = c.slot<uint32_t>(I.b)[lane];
      if (parity > 1)
        return fail(c, ErrorKind::BarrierMisuse, lane,
                    "waits at " + describe(c, *block, offset) + " for parity " +
                        std::to_string(parity) + "; it is 0 or 1");
      done = (m->phase & 1) != parity;
    }
    if (!done)
      continue;
    complete |= uint32_t(1) << lane;
    // With .relaxed only after a fence; nobody is blamed before it.
    learnt = std::max(learnt, m->doneClock[w.agent]);
    joinTimes(I.aux & orderRelaxed ? w.seenClock : w.clock, m->doneClock);
    joinTimes(w.proxyClock, m->doneProxy);
  }
  if (complete)
    learnArrivals(w, complete, learnt);
  Fragment &f = w.fragments[w.current];
  uint64_t here = uint64_t(1) << (c.here() & 63);
  // A wait may give up early: who does not try again is found out by that.
  bool givesUp = c.isLate && !(f.gaveUp & here);
  if (complete == 0 && !f.timedOut && !givesUp) {
    // Lanes that skip a guarded wait stay with the others: they come back to
    // this instruction together.
    f.state = Fragment::State::MBarrier;
    f.waitsFor = uint32_t(first);
    f.exec = c.exec;
    f.pc = c.here();
    return Next::Switch;
  }
  f.timedOut = false;
  f.gaveUp = complete ? f.gaveUp & ~here : f.gaveUp | here;
  updateOldest(*c.block->cluster, w);
  uint32_t &p = c.preds[I.dst];
  p = (p & ~c.exec) | complete;
  return Next::Continue;
}

/// Whether a suspended wait would find its phase complete.
static bool isWaitOver(Block &own, const Warp &w, const Fragment &f,
                       const Instruction &I) {
  for (uint32_t r = f.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t offset = 0;
    uint64_t address = reinterpret_cast<uint64_t *>(w.regs + I.a)[lane];
    if (I.space == Space::Generic)
      address -= sharedWindow;
    Block *block = findSharedBlock(own, address, offset);
    if (!block)
      return true;
    auto found = block->mbarriers.find(uint32_t(offset));
    // One that is gone is for the wait itself to report.
    if (found == block->mbarriers.end())
      return true;
    const MBarrier &m = found->second;
    bool done =
        I.aux & waitState
            ? reinterpret_cast<uint64_t *>(w.regs + I.b)[lane] >> 32 !=
                  (m.phase & 0xffffffff)
            : reinterpret_cast<uint32_t *>(w.regs + I.b)[lane] != (m.phase & 1);
    if (done)
      return true;
  }
  return false;
}

template <typename F>
static bool forEachWait(Cluster &cluster, F f) {
  bool any = false;
  for (unsigned r = 0; r < cluster.size; ++r) {
    Block &block = cluster.blocks[r];
    for (unsigned i = 0; i < block.numWarps; ++i) {
      Warp &w = block.warps[i];
      for (unsigned k = 0; k < w.numFragments; ++k)
        if (w.fragments[k].state == Fragment::State::MBarrier)
          any |= f(block, w, w.fragments[k]);
    }
  }
  return any;
}

bool fusionemu::releaseMBarrierWaits(Context &c, Cluster &cluster) {
  return forEachWait(cluster, [&](Block &block, Warp &w, Fragment &f) {
    if (!isWaitOver(block, w, f, c.kernel->code[f.pc]))
      return false;
    f.state = Fragment::State::Ready;
    return true;
  });
}

bool fusionemu::expireMBarrierWaits(Cluster &cluster) {
  return forEachWait(cluster, [](Block &, Warp &, Fragment &f) {
    f.state = Fragment::State::Ready;
    f.timedOut = true;
    return true;
  });
}

bool fusionemu::isAwaited(Cluster &cluster, uint32_t ranks, uint32_t offset) {
  return forEachWait(cluster, [&](Block &block, Warp &w, Fragment &f) {
    if (!((ranks >> block.rank) & 1))
      return false;
    const Instruction &I = block.kernel->code[f.pc];
    for (uint32_t r = f.exec; r; r &= r - 1) {
      uint64_t at = 0;
      uint64_t address = reinterpret_cast<uint64_t *>(w.regs + I.a)[lowest(r)];
      if (I.space == Space::Generic)
        address -= sharedWindow;
      if (findSharedBlock(block, address, at) == &block && at == offset)
        return true;
    }
    return false;
  });
}

bool fusionemu::completeBytes(Context &c, unsigned lane, Block &block,
                              uint32_t offset, uint32_t bytes, uint32_t agent,
                              uint32_t time) {
  auto found = block.mbarriers.find(offset);
  if (found == block.mbarriers.end()) {
    fail(c, ErrorKind::BarrierMisuse, lane,
         "completes bytes at " + describe(c, block, offset) +
             ", where none was initialised");
    return false;
  }
  MBarrier &m = found->second;
  if (&block == c.block || block.cluster->sharesClocks)
    m.clock[agent] = std::max(m.clock[agent], time);
  if (!addBytes(c, lane, block, offset, m, -int64_t(bytes)))
    return false;
  completeIfDone(c, m);
  ++c.events;
  return true;
}

bool fusionemu::arriveFor(Context &c, unsigned lane, Block &block,
                          uint32_t offset, uint32_t agent, uint32_t time) {
  MBarrier *m = findMBarrier(c, lane, block, offset);
  if (!m || !takeArrivals(c, lane, block, offset, *m, 1))
    return false;
  m->clock[agent] = std::max(m->clock[agent], time);
  completeIfDone(c, *m);
  ++c.events;
  return true;
}

bool fusionemu::addPending(Context &c, unsigned lane, Block &block,
                           uint32_t offset) {
  MBarrier *m = findMBarrier(c, lane, block, offset);
  if (!m)
    return false;
  if (m->pending >= maxArrivals) {
    fail(c, ErrorKind::BarrierMisuse, lane,
         "adds an arrival to " + describe(c, block, offset) +
             ", which expects the most that is possible");
    return false;
  }
  ++m->pending;
  return true;
}

bool fusionemu::checkSignal(Context &c, unsigned lane, Block &block,
                            uint32_t offset, bool byProxy) {
  MBarrier *m = findMBarrier(c, lane, block, offset);
  if (!m)
    return false;
  if (m->fenced || !byProxy || !c.checkAsync)
    return true;
  fail(c, ErrorKind::MissingFence, lane,
       "lets an asynchronous copy signal " + describe(c, block, offset) +
           ", whose initialisation at " + describePlace(c, m->initPc) +
           " no fence.mbarrier_init or fence.proxy.async has made visible to "
           "it");
  return false;
}

void fusionemu::fenceMBarriers(Context &c) {
  // Whoever knows of an initialisation may publish it.
  for (auto &entry : c.block->mbarriers) {
    MBarrier &m = entry.second;
    if (m.initAgent == c.warp->agent ||
        m.initTime <= c.warp->clock[m.initAgent])
      m.fenced = true;
  }
}

bool fusionemu::checkMBarriersAtEnd(Context &c, Block &block) {
  for (auto &[offset, m] : block.mbarriers) {
    if (m.bytes == 0 && m.pending == m.expected)
      continue;
    c.block = &block;
    c.warp = &block.warps[0];
    c.pc = m.initPc + 1;
    std::string what = "ends while the mbarrier at " + std::to_string(offset) +
                       " of shared memory is in the middle of phase " +
                       std::to_string(m.phase) + ": ";
    if (m.pending != m.expected)
      what += std::to_string(m.pending) + " of " + std::to_string(m.expected) +
              " arrivals are missing";
    if (m.bytes != 0)
      what += std::string(m.pending != m.expected ? " and " : "") +
              std::to_string(m.bytes < 0 ? -m.bytes : m.bytes) +
              (m.bytes < 0 ? " bytes came that nobody expected"
                           : " bytes did not come");
    fail(c, ErrorKind::BarrierLeak, warpSize, what);
    return false;
  }
  return true;
}
