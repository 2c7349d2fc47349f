//===- Barriers.cpp - Barriers of a block ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements bar and barrier, and the clocks of the race detector
// that they order.
//
//===----------------------------------------------------------------------===//

#include "Machine/Cluster.h"

#include <algorithm>

using namespace fusionemu;

static unsigned countLanes(uint32_t mask) {
  return unsigned(__builtin_popcount(mask));
}

/// The threads that a warp counts for at a barrier. A warp that is there as a
/// whole counts in full, also when the block ends inside it.
static uint32_t threadsOf(const Warp &w, uint32_t lanes) {
  if (lanes == 0)
    return 0;
  return (w.live & ~lanes) == 0 ? warpSize : countLanes(lanes);
}

/// Adds the clocks of one to those of the other. Without asynchronous
/// operations only the warps' own times matter.
template <typename To, typename From>
static void joinClocks(const Block &block, To &to, const From &from) {
  if (block.kernel->usesAsync) {
    joinTimes(to.clock, from.clock);
    joinTimes(to.proxyClock, from.proxyClock);
    return;
  }
  for (unsigned i = 0; i < block.cluster->numAgents; ++i)
    to.clock[i] = std::max(to.clock[i], from.clock[i]);
}

/// Makes a barrier ready for those that come.
static void open(const Block &block, Barrier &b, bool counted,
                 uint32_t expected) {
  b.inUse = true;
  b.counted = counted;
  b.expected = expected;
  b.arrivedThreads = b.votesTrue = b.votes = 0;
  std::fill_n(b.arrived, block.numWarps, 0u);
  bool isAsync = block.kernel->usesAsync;
  std::fill_n(b.clock, isAsync ? maxAgents : block.cluster->numAgents, 0u);
  std::copy_n(b.arrivals, block.cluster->numAgents, b.lastArrivals);
  std::fill_n(b.arrivals, block.cluster->numAgents, 0u);
  if (isAsync)
    std::fill_n(b.proxyClock, maxAgents, 0u);
}

void fusionemu::updateOldest(const Cluster &cluster, Warp &w) {
  w.oldestClock = maxTime;
  for (unsigned i = 0; i < cluster.numAgents; ++i)
    if (i != w.agent)
      w.oldestClock = std::min(w.oldestClock, w.clock[i]);
}

static bool isComplete(const Block &block, const Barrier &b) {
  uint32_t threads = b.arrivedThreads;
  bool anyone = threads != 0;
  for (unsigned i = 0; i < block.numWarps; ++i) {
    const Warp &w = block.warps[i];
    anyone |= b.arrived[i] != 0;
    if (!b.counted && (w.live & ~b.arrived[i]))
      return false;
    threads += threadsOf(w, b.arrived[i]);
  }
  return anyone && (!b.counted || threads >= b.expected);
}

/// Gives the lanes of a fragment the result of bar.red.
static void writeReduction(Context &c, const Warp &w, const Fragment &f,
                           const Barrier &b) {
  const Instruction &I = c.kernel->code[f.pc - 1];
  if (!(I.aux & barrierReduce))
    return;
  if (I.aux & barrierPopc) {
    auto *d = reinterpret_cast<uint32_t *>(w.regs + I.dst);
    for (uint32_t r = f.exec; r; r &= r - 1)
      d[__builtin_ctz(r)] = b.votesTrue;
    return;
  }
  bool value = I.aux & barrierAnd ? b.votesTrue == b.votes : b.votesTrue != 0;
  uint32_t &p = w.preds[I.dst];
  p = value ? p | f.exec : p & ~f.exec;
}

static void release(Context &c, Block &block, uint32_t id) {
  Barrier &b = block.barriers[id];
  for (unsigned i = 0; i < block.numWarps; ++i) {
    const Warp &w = block.warps[i];
    // What an exited thread did is as if it had come.
    if (b.arrived[i] != 0 || (!b.counted && w.live == 0))
      joinClocks(block, b, w);
  }
  uint32_t now = tick(*block.cluster);
  for (unsigned i = 0; i < block.numWarps; ++i) {
    Warp &w = block.warps[i];
    if (b.arrived[i] == 0)
      continue;
    unsigned kept = 0;
    int merged = -1;
    for (unsigned k = 0; k < w.numFragments; ++k) {
      Fragment f = w.fragments[k];
      if (f.state == Fragment::State::BlockBarrier && f.waitsFor == id) {
        writeReduction(c, w, f, b);
        f.state = Fragment::State::Ready;
        // Lanes that diverged for good meet again here.
        if (merged >= 0 && w.fragments[merged].pc == f.pc &&
            w.fragments[merged].join == f.join) {
          w.fragments[merged].mask |= f.mask;
          continue;
        }
        merged = int(kept);
      }
      w.fragments[kept++] = f;
    }
    w.numFragments = kept;
    w.current = 0;
    meetLanes(w, b.arrived[i]);
    joinClocks(block, w, b);
    w.clock[w.agent] = now;
    updateOldest(*block.cluster, w);
  }
  b.inUse = false;
}

/// Who comes to a barrier must know of all arrivals of the phase before, or it
/// could have come in place of one. False after a report.
static bool checkPhase(Context &c, const Clock &arrivals, uint32_t id) {
  const Warp &w = *c.warp;
  unsigned agents = c.block->cluster->numAgents;
  for (unsigned i = 0; i < agents && c.checkSharedRaces; ++i) {
    if (arrivals[i] <= w.clock[i])
      continue;
    fail(c, ErrorKind::BarrierMisuse, unsigned(__builtin_ctz(c.exec)),
         "arrives at barrier " + std::to_string(id) +
             ", while nothing orders it behind the arrival of " +
             describeAgent(c, i) +
             " in the phase before: it may count for that phase");
    return false;
  }
  return true;
}

Next fusionemu::blockBarrier(Context &c, const Instruction &I) {
  Block &block = *c.block;
  Warp &w = *c.warp;
  unsigned first = unsigned(__builtin_ctz(c.exec));
  uint32_t id = c.slot<uint32_t>(I.a)[first];
  for (uint32_t r = c.exec; r; r &= r - 1)
    if (c.slot<uint32_t>(I.a)[__builtin_ctz(r)] != id)
      return fail(c, ErrorKind::BarrierDivergence, unsigned(__builtin_ctz(r)),
                  "waits at another barrier than its warp");
  if (id >= numBarriers)
    return fail(c, ErrorKind::BarrierDivergence, first,
                "uses barrier " + std::to_string(id) +
                    ", but a block has barriers 0 to 15");
  Barrier &b = block.barriers[id];
  bool counted = I.b >= 0;
  uint32_t expected = counted ? c.slot<uint32_t>(I.b)[first] : 0;
  if (counted && (expected == 0 || expected % warpSize != 0))
    return fail(c, ErrorKind::BarrierDivergence, first,
                "expects " + std::to_string(expected) +
                    " threads at a barrier, which is no multiple of 32");
  // Complete, but nobody has looked since: whoever comes now is early for the
  // next phase.
  if (b.inUse && b.counted && b.arrived[w.index] == 0 && isComplete(block, b)) {
    if (!checkPhase(c, b.arrivals, id))
      return Next::Fail;
    release(c, block, id);
  }
  if (b.inUse && (b.counted != counted || b.expected != expected))
    return fail(
        c, ErrorKind::BarrierDivergence, first,
        "expects " + (counted ? std::to_string(expected) : std::string("all")) +
            " threads at barrier " + std::to_string(id) +
            ", where others expect " +
            (b.counted ? std::to_string(b.expected) : std::string("all")));
  if (!b.inUse)
    open(block, b, counted, expected);
  if (!checkPhase(c, b.lastArrivals, id))
    return Next::Fail;
  b.arrivals[w.agent] = w.clock[w.agent];
  if (I.aux & barrierAligned)
    for (unsigned k = 0; k < w.numFragments; ++k) {
      const Fragment &f = w.fragments[k];
      if (f.state == Fragment::State::BlockBarrier && f.waitsFor == id &&
          f.pc != c.pc)
        return fail(c, ErrorKind::BarrierDivergence, first,
                    "comes to barrier " + std::to_string(id) +
                        " here, while other threads of its warp wait at "
                        "another place: " +
                        describePlace(c, f.pc - 1));
    }
  ++c.counters.barriers;
  if (I.aux & barrierReduce) {
    uint32_t bits = c.preds[I.c] ^ (I.aux & barrierNegate ? ~0u : 0u);
    b.votes += countLanes(c.exec);
    b.votesTrue += countLanes(bits & c.exec);
  }
  if (I.aux & barrierArrive) {
    b.arrivedThreads += threadsOf(w, c.exec);
    joinClocks(block, b, w);
    noteArrival(w, c.exec);
    w.clock[w.agent] = tick(*block.cluster);
    w.fragments[w.current].pc = c.pc;
    return Next::Switch;
  }
  // Lanes that skip a guarded barrier go on alone.
  uint32_t idle = c.active & ~c.exec;
  Fragment &f = w.fragments[w.current];
  if (idle != 0) {
    Fragment &other = w.fragments[w.numFragments++];
    other = f;
    other.pc = c.pc;
    other.mask = idle;
    c.active = c.exec;
    f.mask = c.exec;
  }
  f.state = Fragment::State::BlockBarrier;
  f.waitsFor = id;
  f.exec = c.exec;
  f.pc = c.pc;
  b.arrived[w.index] |= c.exec;
  return Next::Switch;
}

bool fusionemu::releaseBarriers(Context &c, Block &block) {
  bool any = false;
  for (unsigned id = 0; id < numBarriers; ++id) {
    Barrier &b = block.barriers[id];
    if (!b.inUse || !isComplete(block, b))
      continue;
    release(c, block, id);
    any = true;
  }
  return any;
}
