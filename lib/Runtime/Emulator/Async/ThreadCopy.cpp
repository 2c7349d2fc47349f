//===- ThreadCopy.cpp - cp.async ------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the copies of single threads, cp.async, with their
// groups and their arrivals at mbarriers.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Machine/Shadow.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

/// Moves the bytes. False after a report.
static bool move(Context &c, Block &block, ThreadCopy &copy) {
  if (copy.moved)
    return true;
  uint32_t savedPc = c.pc;
  c.pc = copy.pc + 1;
  if (copy.sourceBytes != 0) {
    uint8_t *from = accessGlobal(c, copy.lane, copy.global, copy.sourceBytes,
                                 AccessMode::Read);
    if (!from)
      return false;
    std::memcpy(block.shared + copy.shared, from, copy.sourceBytes);
  }
  std::memset(block.shared + copy.shared + copy.sourceBytes, 0,
              copy.bytes - copy.sourceBytes);
  c.counters.cpAsyncBytes += copy.sourceBytes;
  copy.moved = true;
  c.pc = savedPc;
  return true;
}

/// Copies and arrivals of one warp that may be under way.
static constexpr size_t maxCopies = size_t(1) << 16;

static bool hasRoom(Context &c, unsigned lane) {
  if (c.warp->copies.size() < maxCopies)
    return true;
  fail(c, ErrorKind::InFlight, lane,
       "and its warp have " + std::to_string(maxCopies) +
           " copies in flight, more than are followed: a wait is missing");
  return false;
}

/// a and b are the addresses of destination and source, c the number of bytes
/// of the source or -1, d a predicate that drops the source or -1; aux is the
/// number of bytes.
Next fusionemu::threadCopy(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  uint32_t bytes = I.aux;
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t offset = 0;
    Block *block =
        findShared(c, I, I.a, lane, bytes, bytes, "copies to", offset);
    if (!block)
      return Next::Fail;
    if (block != c.block)
      return fail(c, ErrorKind::BadDescriptor, lane,
                  "copies to the shared memory of another block");
    uint32_t from = bytes;
    if (I.c >= 0)
      from = c.slot<uint32_t>(I.c)[lane];
    if (from > bytes)
      return fail(c, ErrorKind::BadDescriptor, lane,
                  "copies " + std::to_string(from) + " bytes of " +
                      std::to_string(bytes));
    if (I.d >= 0 && ((c.preds[I.d] >> lane) & 1))
      from = 0;
    uint64_t source = c.slot<uint64_t>(I.b)[lane];
    if (from != 0 && source % bytes != 0)
      return failGlobal(c, lane, source, bytes, "reads");
    if (!checkAsyncShared(c, lane, *block, uint32_t(offset), bytes,
                          SharedUse::GenericWrite))
      return Next::Fail;
    markWriting(*block, uint32_t(offset), bytes, 1);
    ++block->inFlight;
    if (!hasRoom(c, lane))
      return Next::Fail;
    ThreadCopy copy;
    copy.lane = uint8_t(lane);
    copy.bytes = uint8_t(bytes);
    copy.sourceBytes = uint8_t(from);
    copy.group = w.copyGroups[lane];
    copy.pc = c.here();
    copy.shared = uint32_t(offset);
    copy.global = source;
    w.copies.push_back(copy);
    if (!c.isLate && !move(c, *block, w.copies.back()))
      return Next::Fail;
  }
  ++c.events;
  return Next::Continue;
}

/// Who knows of copies that have come to their end.
enum class CopyEnd {
  Wait,   ///< The thread that issued them.
  Arrival ///< Whoever waits for the mbarrier.
};

/// Ends one copy.
static bool complete(Context &c, Block &block, const Warp &w, ThreadCopy &copy,
                     uint32_t time, CopyEnd end) {
  if (!move(c, block, copy))
    return false;
  markWriting(block, copy.shared, copy.bytes, -1);
  --block.inFlight;
  recordAsyncWrite(block, asyncAgentOf(w), time, copy.shared, copy.bytes, 0);
  // What a thread has waited for is as if it had stored it now.
  if (end == CopyEnd::Wait) {
    unsigned shift = c.kernel->sharedGranuleShift;
    std::fill(block.laneWriter + (copy.shared >> shift),
              block.laneWriter + ((copy.shared + copy.bytes - 1) >> shift) + 1,
              w.lanes.stamp | copy.lane);
  }
  return true;
}

/// Ends the copies of `lanes` for which `isDue` holds, at `time`, and fires the
/// arrivals that waited for them. False on error.
template <typename F>
static bool completeWhere(Context &c, Block &block, Warp &w, uint32_t lanes,
                          uint32_t time, CopyEnd end, F isDue) {
  uint32_t blocked = 0;
  size_t kept = 0;
  bool fine = true;
  for (size_t i = 0; i < w.copies.size(); ++i) {
    ThreadCopy copy = w.copies[i];
    uint32_t bit = uint32_t(1) << copy.lane;
    bool done = false;
    if (fine && (lanes & bit)) {
      if (!copy.isArrival && isDue(copy, i)) {
        fine = complete(c, block, w, copy, time, end);
        done = fine;
      } else if (copy.isArrival && !(blocked & bit)) {
        uint32_t savedPc = c.pc;
        c.pc = copy.pc + 1;
        fine =
            arriveFor(c, copy.lane, block, copy.shared, asyncAgentOf(w), time);
        if (fine)
          c.pc = savedPc;
        done = fine;
      }
    }
    if (done)
      continue;
    if (!copy.isArrival)
      blocked |= bit;
    w.copies[kept++] = copy;
  }
  w.copies.resize(kept);
  return fine;
}

Next fusionemu::threadCopyCommit(Context &c, const Instruction &) {
  for (uint32_t r = c.exec; r; r &= r - 1)
    ++c.warp->copyGroups[lowest(r)];
  return Next::Continue;
}

/// aux is the number of groups that may remain; all ones for wait_all, which
/// also waits for copies outside of groups.
Next fusionemu::threadCopyWait(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  bool all = I.aux == ~uint32_t(0);
  uint32_t now = w.copies.empty() ? 0 : tick(*c.block->cluster);
  bool fine = completeWhere(
      c, *c.block, w, c.exec, now, CopyEnd::Wait,
      [&](const ThreadCopy &copy, size_t) {
        return all ||
               int64_t(copy.group) < int64_t(w.copyGroups[copy.lane]) - I.aux;
      });
  uint32_t &seen = w.clock[asyncAgentOf(w)];
  seen = std::max(seen, now);
  if (all)
    for (uint32_t r = c.exec; r; r &= r - 1)
      ++w.copyGroups[lowest(r)];
  return fine ? Next::Continue : Next::Fail;
}

/// cp.async.mbarrier.arrive: aux is 1 with .noinc.
Next fusionemu::threadCopyArrive(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    uint64_t offset = 0;
    Block *block = findShared(c, I, I.a, lane, 8, 8, "arrives at", offset);
    if (!block)
      return Next::Fail;
    if (block != c.block)
      return fail(c, ErrorKind::BarrierMisuse, lane,
                  "arrives at an mbarrier of another block");
    if (!(I.aux & 1) && !addPending(c, lane, *block, uint32_t(offset)))
      return Next::Fail;
    if (!hasRoom(c, lane))
      return Next::Fail;
    ThreadCopy copy;
    copy.lane = uint8_t(lane);
    copy.isArrival = true;
    copy.pc = c.here();
    copy.shared = uint32_t(offset);
    w.copies.push_back(copy);
  }
  ++c.events;
  if (c.isLate)
    return Next::Continue;
  uint32_t now = tick(*c.block->cluster);
  return completeWhere(c, *c.block, w, c.exec, now, CopyEnd::Arrival,
                       [](const ThreadCopy &, size_t) { return true; })
             ? Next::Continue
             : Next::Fail;
}

bool fusionemu::forceThreadCopies(Context &c, Cluster &cluster,
                                  bool &progress) {
  for (unsigned r = 0; r < cluster.size; ++r) {
    Block &block = cluster.blocks[r];
    for (unsigned i = 0; i < block.numWarps; ++i) {
      Warp &w = block.warps[i];
      for (size_t k = 0; k < w.copies.size(); ++k) {
        if (!w.copies[k].isArrival ||
            !isAwaited(cluster, uint32_t(1) << r, w.copies[k].shared))
          continue;
        progress = true;
        c.block = &block;
        c.warp = &w;
        return completeWhere(
            c, block, w, uint32_t(1) << w.copies[k].lane, tick(cluster),
            CopyEnd::Arrival,
            [&](const ThreadCopy &, size_t index) { return index < k; });
      }
    }
  }
  return true;
}

bool fusionemu::finishThreadCopies(Context &c, Cluster &cluster) {
  for (unsigned r = 0; r < cluster.size; ++r) {
    Block &block = cluster.blocks[r];
    for (unsigned i = 0; i < block.numWarps; ++i) {
      c.block = &block;
      c.warp = &block.warps[i];
      if (!c.warp->copies.empty() &&
          !completeWhere(c, block, *c.warp, ~uint32_t(0), tick(cluster),
                         CopyEnd::Wait,
                         [](const ThreadCopy &, size_t) { return true; }))
        return false;
    }
  }
  return true;
}
