//===- BulkCopy.cpp - cp.async.bulk ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the life of bulk copies: issue, effect and completion,
// by an mbarrier or by bulk groups. What they move is found in BulkIssue.cpp.
//
//===----------------------------------------------------------------------===//

#include "Async/Bulk.h"
#include "Machine/Launch.h"
#include "Machine/Shadow.h"

#include <cstring>

using namespace fusionemu;

namespace {
/// Makes the context that of the thread that issued a copy, for reports and
/// checks, and puts back what was there.
class AsIssuer {
public:
  AsIssuer(Context &c, const BulkCopy &copy)
      : c(c), warp(c.warp), block(c.block), pc(c.pc) {
    c.warp = copy.warp;
    c.block = copy.block;
    c.pc = copy.pc + 1;
  }
  /// A report keeps the place of its copy.
  ~AsIssuer() {
    if (!c.error.ok())
      return;
    c.warp = warp;
    c.block = block;
    c.pc = pc;
  }

private:
  Context &c;
  Warp *warp;
  Block *block;
  uint32_t pc;
};
} // namespace

template <typename F>
static void forEachTarget(const BulkCopy &copy, F f) {
  Cluster &cluster = *copy.block->cluster;
  for (uint32_t r = copy.targets; r; r &= r - 1)
    f(cluster.blocks[lowest(r)]);
}

/// From `shared` to the end of the last byte that is touched.
static uint32_t getExtent(const BulkCopy &copy) {
  if (copy.ranges.empty())
    return 0;
  return copy.ranges.back().begin + copy.ranges.back().bytes - copy.shared;
}

/// Whether the bytes travel through the async proxy.
static bool usesProxy(const BulkCopy &copy) {
  return copy.kind != BulkCopy::Kind::Value;
}

/// Others may reduce into the same bytes at the same time, but not write them.
static bool writesAlone(const BulkCopy &copy) { return !copy.reduces; }

static SharedUse targetUse(const BulkCopy &copy) {
  if (usesProxy(copy))
    return copy.reduces ? SharedUse::AsyncReduce : SharedUse::AsyncWrite;
  return copy.reduces ? SharedUse::GenericReduce : SharedUse::GenericWrite;
}

/// Remembers how the bytes of a tensor copy lie in a block's shared memory.
static void recordTile(const BulkCopy &copy, Block &block) {
  std::map<uint32_t, LoadedTile> &tiles = block.cluster->tiles[block.rank];
  uint32_t end = copy.shared + getExtent(copy);
  auto it = tiles.lower_bound(copy.shared);
  if (it != tiles.begin() && std::prev(it)->second.end > copy.shared)
    --it;
  while (it != tiles.end() && it->first < end)
    it = tiles.erase(it);
  if (copy.isTensor)
    tiles[copy.shared] = {end, copy.map.swizzle, copy.pc};
}

/// Records the bytes of a target as written by the operation at `time`.
static void recordArrival(Context &c, const BulkCopy &copy, Block &block,
                          uint32_t time) {
  uint32_t flags =
      (usesProxy(copy) ? proxyWriter : 0) | (copy.reduces ? strongWriter : 0);
  // Agents of another block mean nothing here unless they are shared.
  bool known = &block == c.block || block.cluster->sharesClocks;
  for (const SharedRange &range : copy.ranges)
    recordAsyncWrite(block, asyncAgentOf(*copy.warp), known ? time : 0,
                     range.begin, range.bytes, flags);
  touch(c, block, asyncAgentOf(*copy.warp), time);
  recordTile(copy, block);
}

static bool readsOwnShared(const BulkCopy &copy) {
  return copy.kind == BulkCopy::Kind::Store ||
         copy.kind == BulkCopy::Kind::Share;
}

/// Calls `f` with the parts of shared memory that the own block gives away,
/// until it is false.
template <typename F>
static bool forEachSource(const BulkCopy &copy, F f) {
  if (copy.kind == BulkCopy::Kind::Share)
    return f(SharedRange{copy.source, copy.bytes});
  for (const SharedRange &range : copy.ranges)
    if (!f(range))
      return false;
  return true;
}

/// Gathers what is to arrive in shared memory, in the order of its bytes.
/// False after a report.
static bool gather(Context &c, BulkCopy &copy) {
  if (copy.kind == BulkCopy::Kind::Value)
    return true;
  copy.staged.resize(getExtent(copy));
  if (copy.kind == BulkCopy::Kind::Share) {
    std::memcpy(copy.staged.data(), copy.block->shared + copy.source,
                copy.bytes);
    return true;
  }
  for (const BulkRun &run : copy.runs) {
    uint8_t *to = copy.staged.data() + (run.shared - copy.shared);
    if (run.isFill) {
      fillElements(copy.map, to, run.bytes);
      continue;
    }
    const uint8_t *from =
        accessGlobal(c, copy.lane, run.global, run.bytes, AccessMode::Read);
    if (!from)
      return false;
    std::memcpy(to, from, run.bytes);
    // Payloads are integers, which no conversion may round.
    if (copy.isTensor && convertsOnLoad(copy.map) &&
        !c.launch->program.options.payload)
      convertLoaded(copy.map, to, run.bytes);
  }
  return true;
}

/// Brings the bytes to all targets and completes them at their mbarriers.
static bool completeArrival(Context &c, BulkCopy &copy) {
  AsIssuer issuer(c, copy);
  if (!gather(c, copy))
    return false;
  uint32_t time = tick(*copy.block->cluster);
  bool fine = true;
  forEachTarget(copy, [&](Block &block) {
    if (!fine)
      return;
    for (const SharedRange &range : copy.ranges) {
      uint8_t *to = block.shared + range.begin;
      const uint8_t *from = copy.staged.data() + (range.begin - copy.shared);
      if (copy.reduces)
        reduceBytes(to, from, range.bytes, copy.op, copy.type);
      else
        std::memcpy(to, from, range.bytes);
      if (writesAlone(copy))
        markWriting(block, range.begin, range.bytes, -1);
    }
    if (writesAlone(copy))
      --block.inFlight;
    recordArrival(c, copy, block, time);
    fine = completeBytes(c, copy.lane, block, copy.mbarrier, copy.bytes,
                         asyncAgentOf(*copy.warp), time);
  });
  if (copy.kind == BulkCopy::Kind::Share) {
    Block &source = *copy.block;
    markReading(source, copy.source, copy.bytes, -1);
    --source.inFlight;
    recordAsyncRead(source, asyncAgentOf(*copy.warp), time, copy.source,
                    copy.bytes);
    touch(c, source, asyncAgentOf(*copy.warp), time);
  }
  return fine;
}

/// Takes the bytes of a store out of shared memory.
static void readSource(BulkCopy &copy) {
  if (copy.sourceRead)
    return;
  const uint8_t *from = copy.block->shared + copy.shared;
  copy.staged.assign(from, from + getExtent(copy));
  copy.sourceRead = true;
}

/// Brings the bytes of a store to global memory. False after a report.
static bool writeGlobal(Context &c, BulkCopy &copy) {
  if (copy.written)
    return true;
  AsIssuer issuer(c, copy);
  readSource(copy);
  for (const BulkRun &run : copy.runs) {
    uint8_t *to =
        accessGlobal(c, copy.lane, run.global, run.bytes,
                     copy.reduces ? AccessMode::Atomic : AccessMode::Write);
    if (!to)
      return false;
    const uint8_t *from = copy.staged.data() + (run.shared - copy.shared);
    if (copy.reduces)
      reduceBytes(to, from, run.bytes, copy.op, copy.type);
    else
      std::memcpy(to, from, run.bytes);
  }
  copy.written = true;
  copy.staged = std::vector<uint8_t>();
  return true;
}

/// Lets go of the shared memory that a store reads.
static void releaseSource(BulkCopy &copy) {
  if (copy.sourceReleased)
    return;
  readSource(copy);
  for (const SharedRange &range : copy.ranges) {
    markReading(*copy.block, range.begin, range.bytes, -1);
    recordAsyncRead(*copy.block, *copy.warp, range.begin, range.bytes);
  }
  --copy.block->inFlight;
  copy.sourceReleased = true;
}

static void putInFlight(Cluster &cluster, BulkCopy &&copy) {
  cluster.runsInFlight += copy.runs.size();
  cluster.copies.push_back(std::move(copy));
}

static BulkCopy takeOutOfFlight(Cluster &cluster, size_t i) {
  BulkCopy taken = std::move(cluster.copies[i]);
  cluster.runsInFlight -= taken.runs.size();
  cluster.copies.erase(cluster.copies.begin() + std::ptrdiff_t(i));
  return taken;
}

/// Bounds what a program can make the host remember.
static bool hasRoom(Context &c, const Cluster &cluster, const BulkCopy &copy) {
  // The words that eight blocks of a cluster send each other of a tile are
  // 2^16.
  constexpr size_t maxCopies = size_t(1) << 18, maxRuns = size_t(1) << 22;
  if (cluster.copies.size() < maxCopies &&
      cluster.runsInFlight + copy.runs.size() <= maxRuns)
    return true;
  fail(c, ErrorKind::InFlight, copy.lane,
       "has " + std::to_string(cluster.copies.size()) +
           " bulk copies in flight, more than are followed: a wait is missing");
  return false;
}

bool fusionemu::issueBulkCopy(Context &c, BulkCopy &&copy) {
  Cluster &cluster = *c.block->cluster;
  copy.block = c.block;
  copy.warp = c.warp;
  copy.pc = c.here();
  if (!copy.isTensor)
    copy.ranges.assign(1, {copy.shared, copy.bytes});
  if (!hasRoom(c, cluster, copy))
    return false;
  if (readsOwnShared(copy)) {
    if (!forEachSource(copy, [&](const SharedRange &range) {
          return checkAsyncShared(c, copy.lane, *c.block, range.begin,
                                  range.bytes, SharedUse::AsyncRead);
        }))
      return false;
    forEachSource(copy, [&](const SharedRange &range) {
      markReading(*c.block, range.begin, range.bytes, 1);
      return true;
    });
    ++c.block->inFlight;
  }
  bool fine = true;
  forEachTarget(copy, [&](Block &block) {
    for (const SharedRange &range : copy.ranges)
      fine = fine && checkAsyncShared(c, copy.lane, block, range.begin,
                                      range.bytes, targetUse(copy));
    fine = fine &&
           (!copy.signals ||
            checkSignal(c, copy.lane, block, copy.mbarrier, usesProxy(copy)));
    if (!fine)
      return;
    if (!writesAlone(copy)) {
      // What the operation does not keep others from is left to the detector
      // of races from the start.
      recordArrival(c, copy, block, tick(cluster));
      return;
    }
    for (const SharedRange &range : copy.ranges)
      markWriting(block, range.begin, range.bytes, 1);
    ++block.inFlight;
  });
  if (!fine)
    return false;
  ++c.events;
  uint64_t moved = 0;
  for (const BulkRun &run : copy.runs)
    moved += run.isFill ? 0 : run.bytes;
  Counters &n = c.counters;
  if (copy.kind == BulkCopy::Kind::Load)
    (copy.isTensor ? n.tensorLoadBytes : n.bulkLoadBytes) += moved;
  if (copy.kind == BulkCopy::Kind::Store)
    (copy.isTensor ? n.tensorStoreBytes : n.bulkStoreBytes) += moved;
  if (copy.kind == BulkCopy::Kind::Store) {
    copy.group = c.warp->bulkGroups[copy.lane];
    putInFlight(cluster, std::move(copy));
    return c.isLate || writeGlobal(c, cluster.copies.back());
  }
  if (!c.isLate)
    return completeArrival(c, copy);
  putInFlight(cluster, std::move(copy));
  return true;
}

Next fusionemu::bulkCommit(Context &c, const Instruction &) {
  for (uint32_t r = c.exec; r; r &= r - 1)
    ++c.warp->bulkGroups[lowest(r)];
  return Next::Continue;
}

/// Stores that are remembered when only their sources have been waited for;
/// beyond that they take effect.
static constexpr size_t maxReleased = 256;

/// aux is the number of groups that may remain; dst is 1 with .read.
Next fusionemu::bulkWait(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  std::deque<BulkCopy> &copies = c.block->cluster->copies;
  // What follows the wait comes after the reads that it waited for.
  w.clock[w.agent] = tick(*c.block->cluster);
  for (size_t i = 0; i < copies.size();) {
    BulkCopy &copy = copies[i];
    bool isDue =
        copy.kind == BulkCopy::Kind::Store && copy.warp == &w &&
        ((c.exec >> copy.lane) & 1) &&
        int64_t(copy.group) < int64_t(w.bulkGroups[copy.lane]) - int64_t(I.aux);
    if (!isDue) {
      ++i;
      continue;
    }
    releaseSource(copy);
    if (I.dst != 0 && copies.size() <= maxReleased) {
      ++i;
      continue;
    }
    if (!writeGlobal(c, copy))
      return Next::Fail;
    takeOutOfFlight(*c.block->cluster, i);
  }
  return Next::Continue;
}

bool fusionemu::forceAsync(Context &c, Cluster &cluster, bool &progress) {
  for (size_t i = 0; i < cluster.copies.size(); ++i) {
    BulkCopy &copy = cluster.copies[i];
    if (!copy.signals || !isAwaited(cluster, copy.targets, copy.mbarrier))
      continue;
    progress = true;
    BulkCopy taken = takeOutOfFlight(cluster, i);
    return completeArrival(c, taken);
  }
  return forceThreadCopies(c, cluster, progress);
}

bool fusionemu::finishAsync(Context &c, Cluster &cluster) {
  if (!finishThreadCopies(c, cluster))
    return false;
  for (BulkCopy &copy : cluster.copies) {
    bool isOpen = copy.kind != BulkCopy::Kind::Store || !copy.sourceReleased;
    if (isOpen && c.checkAsync) {
      AsIssuer issuer(c, copy);
      fail(c, ErrorKind::InFlight, copy.lane,
           copy.kind == BulkCopy::Kind::Store
               ? "exits before its bulk copy has read shared memory: "
                 "cp.async.bulk.wait_group.read is missing"
               : "and its block exit while a bulk copy into shared memory is "
                 "in flight");
      return false;
    }
    if (copy.kind == BulkCopy::Kind::Store ? !writeGlobal(c, copy)
                                           : !completeArrival(c, copy))
      return false;
  }
  cluster.copies.clear();
  cluster.runsInFlight = 0;
  return true;
}
