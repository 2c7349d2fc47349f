//===- LaneShadow.h - Races between the lanes of a warp ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the steps of the race detector between lanes of one warp on
// the shadow of shared memory. Like those of Shadow.h they are compiled into
// every user.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_LANESHADOW_H
#define FUSION_LIB_RUNTIME_EMULATOR_LANESHADOW_H

#include "Machine/Shadow.h"

namespace fusionemu {
namespace {

/// Whether a lane does not know of one of the readers that `entry` names, who
/// is then `other`.
inline bool hasUnknownReader(const LaneOrder &order, uint64_t entry,
                             unsigned lane, unsigned &other) {
  for (uint32_t r = uint32_t(entry); r; r &= r - 1)
    if (order.isUnknown(uint32_t(entry >> 32), lowest(r), lane)) {
      other = lowest(r);
      return true;
    }
  return false;
}

/// Checks granules [first, last] of shared memory for races between a lane and
/// others of its warp, as raceSharedRun() does for warps, and records the
/// access unless told not to. Returns false when an access of the lane `other`
/// is not ordered before this one.
template <bool records = true>
inline bool raceLaneRun(const Warp &w, const Block &b, uint64_t first,
                        uint64_t last, unsigned lane, AccessMode mode,
                        unsigned &other, bool &otherWrites) {
  const LaneOrder &order = w.lanes;
  uint32_t *writers = b.laneWriter;
  uint64_t *readers = b.laneReader;
  uint32_t stamp = order.stamp, base = order.base, span = order.span;
  bool strong = mode != AccessMode::Read && mode != AccessMode::Write;
  for (uint64_t g = first; g <= last; ++g) {
    uint32_t entry = writers[g];
    if (entry - base < span && laneOf(entry) != lane &&
        !(strong && (entry & laneStrong)) &&
        order.isUnknown(entry, laneOf(entry), lane)) {
      other = laneOf(entry);
      otherWrites = true;
      return false;
    }
    uint64_t read = readers[g];
    bool isRead = uint32_t(read >> 32) - base < span;
    if (writes(mode)) {
      otherWrites = false;
      if (isRead && hasUnknownReader(order, read, lane, other))
        return false;
      if (!records)
        continue;
      // An atomic of ours does not excuse a plain store of ours before it.
      bool isPlain = !strong || entry == (stamp | lane);
      writers[g] = stamp | lane | (isPlain ? 0 : laneStrong);
      readers[g] = 0;
    } else if (records && !strong) {
      // Of reads that some lane does not know the earliest time is kept.
      readers[g] = (isRead ? read : uint64_t(stamp) << 32) | uint32_t(1)
                                                                 << lane;
    }
  }
  return true;
}

/// The same for plain accesses of consecutive lanes from `lane` on, 1 << shift
/// granules each. False, with nothing recorded, where lanes have to be looked
/// at one by one.
inline bool raceUnitLanes(const Warp &w, const Block &b, uint64_t first,
                          uint64_t last, unsigned lane, unsigned shift,
                          bool isWrite) {
  uint32_t stamp = w.lanes.stamp, base = w.lanes.base, span = w.lanes.span;
  uint32_t *writers = b.laneWriter + first;
  uint64_t *readers = b.laneReader + first;
  uint32_t count = uint32_t(last - first + 1), found = 0;
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t own = lane + (k >> shift);
    found |= uint32_t(writers[k] - base < span) & (laneOf(writers[k]) != own);
  }
  if (found)
    return false;
  if (!isWrite) {
    for (uint32_t k = 0; k < count; ++k) {
      uint64_t mine = uint64_t(1) << (lane + (k >> shift));
      bool isRecent = uint32_t(readers[k] >> 32) - base < span;
      readers[k] = (isRecent ? readers[k] : uint64_t(stamp) << 32) | mine;
    }
    return true;
  }
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t mine = uint32_t(1) << (lane + (k >> shift));
    found |= uint32_t(uint32_t(readers[k] >> 32) - base < span) &
             ((uint32_t(readers[k]) & ~mine) != 0);
  }
  if (found)
    return false;
  for (uint32_t k = 0; k < count; ++k) {
    writers[k] = stamp | (lane + (k >> shift));
    readers[k] = 0;
  }
  return true;
}

/// The same for a plain read of the same granules by all of `lanes`.
inline bool raceCommonRead(const Warp &w, const Block &b, uint64_t first,
                           uint64_t last, uint32_t lanes) {
  const LaneOrder &order = w.lanes;
  for (uint64_t g = first; g <= last; ++g)
    if (order.isRecent(b.laneWriter[g]))
      return false;
  for (uint64_t g = first; g <= last; ++g) {
    uint64_t &read = b.laneReader[g];
    bool isRead = order.isRecent(uint32_t(read >> 32));
    read = (isRead ? read : uint64_t(order.stamp) << 32) | lanes;
  }
  return true;
}

} // namespace
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_LANESHADOW_H
