//===- ClusterBarrier.cpp - The barrier of a cluster ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements barrier.cluster.arrive and barrier.cluster.wait.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Machine/Shadow.h"

using namespace fusionemu;

/// With .aligned all threads of the warp have to come; false when the current
/// ones now wait for the others. If those never come, that is the report.
static bool gatherAligned(Context &c, const Instruction &I) {
  return !(I.aux & allLanes) || gatherLanes(c, c.warp->live);
}

/// How many registers a warp has makes no difference here.
Next fusionemu::setMaxRegisters(Context &c, const Instruction &I) {
  return gatherAligned(c, I) ? Next::Continue : Next::Switch;
}

/// The block that keeps the barrier's clocks for this one.
static Block &keeper(Block &block) {
  return block.cluster->sharesClocks ? block.cluster->blocks[0] : block;
}

/// aux: orderRelaxed, allLanes.
Next fusionemu::clusterArrive(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  Cluster &cluster = *c.block->cluster;
  uint32_t again = c.exec & (w.clusterArrived | w.clusterPending);
  if (again)
    return fail(c, ErrorKind::BarrierDivergence, lowest(again),
                "arrives at the barrier of the cluster again without having "
                "waited");
  if (!gatherAligned(c, I))
    return Next::Switch;
  w.clusterArrived |= c.exec;
  w.clusterPending |= c.exec;
  bool relaxed = I.aux & orderRelaxed;
  Block &block = keeper(*c.block);
  joinTimes(block.clusterClock, relaxed ? w.fencedClock : w.clock);
  joinTimes(block.clusterProxy, relaxed ? w.fencedProxy : w.proxyClock);
  noteArrival(w, c.exec);
  w.clock[w.agent] = tick(cluster);
  ++c.counters.barriers;
  ++c.events;
  return Next::Continue;
}

Next fusionemu::clusterWait(Context &c, const Instruction &I) {
  Warp &w = *c.warp;
  Cluster &cluster = *c.block->cluster;
  uint32_t missing = c.exec & ~w.clusterPending;
  if (missing)
    return fail(c, ErrorKind::BarrierDivergence, lowest(missing),
                "waits at the barrier of the cluster without having arrived");
  if (w.clusterArrived & c.exec) {
    Fragment &f = w.fragments[w.current];
    f.state = Fragment::State::ClusterBarrier;
    f.exec = c.exec;
    f.pc = c.here();
    return Next::Switch;
  }
  if (!gatherAligned(c, I))
    return Next::Switch;
  w.clusterPending &= ~c.exec;
  const Block &block = keeper(*c.block);
  learnArrivals(w, c.exec, block.clusterDoneClock[w.agent]);
  joinTimes(w.clock, block.clusterDoneClock);
  joinTimes(w.proxyClock, block.clusterDoneProxy);
  updateOldest(cluster, w);
  return Next::Continue;
}

bool fusionemu::releaseClusterBarrier(Context &c, Cluster &cluster) {
  bool anyone = false;
  for (unsigned r = 0; r < cluster.size; ++r)
    for (unsigned i = 0; i < cluster.blocks[r].numWarps; ++i) {
      const Warp &w = cluster.blocks[r].warps[i];
      if (w.live & ~w.clusterArrived)
        return false;
      anyone |= w.clusterArrived != 0;
    }
  if (!anyone)
    return false;
  for (unsigned r = 0; r < cluster.size; ++r) {
    Block &block = cluster.blocks[r];
    joinTimes(block.clusterDoneClock, block.clusterClock);
    joinTimes(block.clusterDoneProxy, block.clusterProxy);
    for (unsigned i = 0; i < cluster.blocks[r].numWarps; ++i) {
      Warp &w = cluster.blocks[r].warps[i];
      w.clusterArrived = 0;
      for (unsigned k = 0; k < w.numFragments; ++k)
        if (w.fragments[k].state == Fragment::State::ClusterBarrier)
          w.fragments[k].state = Fragment::State::Ready;
    }
  }
  ++c.events;
  return true;
}
