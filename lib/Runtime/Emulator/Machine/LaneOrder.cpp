//===- LaneOrder.cpp - What lanes of a warp know of each other ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what barriers, arrivals and waits do to the times of a
// warp's lanes.
//
//===----------------------------------------------------------------------===//

#include "Machine/Context.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

template <typename F>
static void forEachLane(uint32_t lanes, F f) {
  for (uint32_t r = lanes; r; r &= r - 1)
    f(unsigned(__builtin_ctz(r)));
}

/// Lets the warp's time go on. At its end races go unseen.
static void advance(LaneOrder &order) {
  if (laneTimeOf(order.stamp) == maxLaneTime) {
    order.span = 0;
    return;
  }
  order.stamp += oneLaneTime;
  order.span += oneLaneTime;
}

/// All lanes know everything that came before `time`, and no less than now.
static void forgetBefore(LaneOrder &order, uint32_t time) {
  uint32_t ahead = (laneTimeOf(order.stamp) - time) << laneTimeShift;
  uint32_t span = ahead + oneLaneTime;
  if (span > order.span)
    return;
  order.base = order.stamp - ahead;
  order.span = span;
}

void fusionemu::startLanes(Warp &w) {
  LaneOrder &order = w.lanes;
  // Shadows of the block before need no clearing: time goes on.
  if (laneTimeOf(order.stamp) == 0) {
    order.stamp = w.agent << laneAgentShift;
    std::memset(order.known, 0, sizeof(order.known));
  }
  order.span = 0;
  meetLanes(w, w.live);
}

void fusionemu::meetLanes(Warp &w, uint32_t lanes) {
  LaneOrder &order = w.lanes;
  uint32_t now = laneTimeOf(order.stamp);
  if ((w.live & ~lanes) == 0) {
    advance(order);
    forgetBefore(order, now + 1);
    order.numArrivals = 0;
    order.dropped = {};
    return;
  }
  uint32_t row[warpSize] = {};
  forEachLane(lanes, [&](unsigned lane) {
    for (unsigned k = 0; k < warpSize; ++k)
      row[k] = std::max(row[k], order.known[lane][k]);
  });
  forEachLane(lanes, [&](unsigned lane) { row[lane] = now; });
  forEachLane(lanes, [&](unsigned lane) {
    std::memcpy(order.known[lane], row, sizeof(row));
  });
  noteArrival(w, lanes);
}

void fusionemu::noteArrival(Warp &w, uint32_t lanes) {
  LaneOrder &order = w.lanes;
  if (order.numArrivals == LaneOrder::maxArrivals) {
    order.dropped = order.arrivals[0];
    std::copy(order.arrivals + 1, order.arrivals + LaneOrder::maxArrivals,
              order.arrivals);
    --order.numArrivals;
  }
  order.arrivals[order.numArrivals++] = {w.clock[w.agent],
                                         laneTimeOf(order.stamp), lanes};
  advance(order);
}

void fusionemu::learnArrivals(Warp &w, uint32_t lanes, uint32_t clock) {
  LaneOrder &order = w.lanes;
  uint32_t row[warpSize] = {};
  bool any = false;
  // Nobody is blamed for what is forgotten: it may have been of all lanes.
  if (order.dropped.time != 0 && order.dropped.clock <= clock) {
    std::fill_n(row, warpSize, order.dropped.time);
    any = true;
  }
  for (unsigned i = 0; i < order.numArrivals; ++i) {
    const LaneOrder::Arrival &arrival = order.arrivals[i];
    if (arrival.clock > clock)
      continue;
    any = true;
    forEachLane(arrival.lanes, [&](unsigned lane) {
      // What it knows now is at least what it knew then.
      for (unsigned k = 0; k < warpSize; ++k)
        row[k] = std::max(row[k], order.known[lane][k]);
      row[lane] = std::max(row[lane], arrival.time);
    });
  }
  if (!any)
    return;
  if ((w.live & ~lanes) == 0) {
    uint32_t all = ~uint32_t(0);
    forEachLane(w.exists, [&](unsigned k) { all = std::min(all, row[k]); });
    forgetBefore(order, all + 1);
  }
  forEachLane(lanes, [&](unsigned lane) {
    for (unsigned k = 0; k < warpSize; ++k)
      order.known[lane][k] = std::max(order.known[lane][k], row[k]);
  });
}
