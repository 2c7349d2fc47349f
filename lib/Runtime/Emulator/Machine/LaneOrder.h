//===- LaneOrder.h - What lanes of a warp know of each other ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the times by which the race detector orders the lanes of
// one warp. A warp's time goes on whenever some of its lanes synchronise. An
// access to shared memory leaves a stamp: the warp, its time and the lane. What
// all lanes know of is older than `base`; that is the whole test where every
// barrier takes the whole warp. Only barriers of some lanes fill the table of
// who knows whom.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_LANEORDER_H
#define FUSION_LIB_RUNTIME_EMULATOR_LANEORDER_H

#include "Program.h"

namespace fusionemu {

struct Warp;

/// A stamp has the agent of the warp in its upper five bits, then the time,
/// laneStrong and the lane.
constexpr unsigned laneAgentShift = 27, laneTimeShift = 6;
constexpr uint32_t maxLaneTime =
    (uint32_t(1) << (laneAgentShift - laneTimeShift)) - 1;
constexpr uint32_t oneLaneTime = uint32_t(1) << laneTimeShift;
/// Marks an atomic or volatile store.
constexpr uint32_t laneStrong = uint32_t(1) << 5;

inline uint32_t laneTimeOf(uint32_t stamp) {
  return stamp >> laneTimeShift & maxLaneTime;
}
inline unsigned laneOf(uint32_t stamp) { return stamp & (warpSize - 1); }

struct LaneOrder {
  /// The stamp of lane 0 now.
  uint32_t stamp = 0;
  /// What the warp did that not all of its lanes know of, stamps that differ
  /// from `base` by less than `span`.
  uint32_t base = 0, span = 0;
  /// How far a lane knows what another one did, where not all know it.
  uint32_t known[warpSize][warpSize] = {};

  /// Arrivals since all lanes have met, for the waits of other lanes at
  /// mbarriers and the cluster's barrier: when, by the warp's clock and by the
  /// lanes' time, and whose. Of those that were dropped only the last.
  struct Arrival {
    uint32_t clock = 0, time = 0, lanes = 0;
  };
  static constexpr unsigned maxArrivals = 16;
  Arrival arrivals[maxArrivals], dropped;
  unsigned numArrivals = 0;

  bool isRecent(uint32_t entry) const { return entry - base < span; }
  /// Whether `lane` does not know of a recent access of `other` at the time of
  /// `entry`.
  bool isUnknown(uint32_t entry, unsigned other, unsigned lane) const {
    return other != lane && laneTimeOf(entry) > known[lane][other];
  }
};

/// Makes a warp's lanes ready for a new block: they know of everything before.
void startLanes(Warp &warp);
/// The lanes have met at a barrier.
void meetLanes(Warp &warp, uint32_t lanes);
/// The lanes make what they did visible to whoever hears of it, at the warp's
/// clock of now; to be called before that goes on.
void noteArrival(Warp &warp, uint32_t lanes);
/// The lanes have waited for what the warp did up to `clock`.
void learnArrivals(Warp &warp, uint32_t lanes, uint32_t clock);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_LANEORDER_H
