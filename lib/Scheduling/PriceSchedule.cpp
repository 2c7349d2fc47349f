//===- PriceSchedule.cpp - The time of kernels without products -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the price of a schedule: what its blocks ask memory for,
// what its threads compute and keep, and what they wait for. The formulas are
// explained in docs/CostModel.md.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"
#include "PriceParts.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Support/Hardware.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;

namespace {
class SchedulePricer {
public:
  SchedulePricer(const LoopFacts &facts, const LoopSchedule &schedule)
      : facts(facts), fitted(facts.target.fitted.loops), body(facts.body),
        schedule(schedule), work(facts, schedule), traffic(work) {}

  KernelEstimate price();

private:
  /// What blocks and their threads wait for each other.
  void addSteps();
  /// What blocks look at to find which elements of a walk count.
  void addLooks();
  /// What copies ahead take and hide.
  void setStages();
  double getBytesInFlight() const;
  /// A walk that reduces in each step loads the elements of the next: how many
  /// steps it has is known before it begins.
  bool loadsAhead() const {
    return work.reducesInSteps &&
           facts.getStaticExtent(facts.scanned.find_first());
  }
  /// Elements of `stream` for each thread of a block that reduces what it
  /// scans, which are on their way while it computes those before.
  double countLoadedAhead(const Stream &stream) const;

  const LoopFacts &facts;
  const LoopConstants &fitted;
  const KernelBody &body;
  const LoopSchedule &schedule;
  BlockWork work;
  StreamTraffic traffic;
  /// Bytes of a chunk that is copied ahead.
  double chunkBytes = 0;
  KernelCost cost;
  KernelShape shape;
};
} // namespace

void SchedulePricer::addSteps() {
  unsigned levels = 0;
  for (const BodyInstance &instance : body.getInstances())
    if (body.getNode(instance).kind != NodeKind::Pointwise)
      levels = std::max(levels, instance.level + 1);
  // Threads that have rows of their own meet where they exchange them.
  bool exchangesRows = work.keepsRows() && traffic.exchangesRows();
  cost.reductionSteps = !work.keepsByThread() ? levels : exchangesRows ? 1 : 0;
  // Between steps of a walk nothing is in flight.
  cost.reductionSteps += work.countMeetings() * (work.trips - 1);
  if (!work.isSplit)
    return;
  double &steps = work.inCluster ? cost.clusterSteps : cost.gridSteps;
  steps = levels;
  // A block writes what it has to each other block of its cluster.
  for (const LoopAxis &axis : schedule.axes)
    steps *= static_cast<double>(std::max<int64_t>(axis.cluster - 1, 1));
  if (schedule.strategy != Strategy::Scan)
    return;
  // Rounds are published ahead: the first and the last one have nothing to hide
  // behind, and in each the threads of a block meet twice.
  double rounds = work.hasRuns ? 1 : work.trips;
  steps =
      std::min(rounds, 2.0) + rounds * countRoundWords(work) *
                                  facts.target.fitted.scans.wordSeconds /
                                  facts.target.fitted.kernels.gridStepSeconds;
  cost.reductionSteps += 2 * rounds;
}

void SchedulePricer::addLooks() {
  if (!work.hasCounting())
    return;
  // Instructions of a thread for each element that its block looks at: a flag
  // and a share of the list; and for each 32 bits of an integer, to load and
  // compare it. Not measured.
  constexpr double kFlagInstructions = 8, kWordInstructions = 5;
  const DataLimits &data = *facts.dataLimits;
  auto extent = static_cast<double>(facts.extents[data.walked]);
  double instructions = kFlagInstructions;
  for (auto [number, symbol] : llvm::enumerate(data.symbols)) {
    // Others are the same along the walk.
    if (!llvm::is_contained(data.data, number))
      continue;
    double words =
        getElementTypeOrSelf(symbol.value.getType()).getIntOrFloatBitWidth() /
        32.0;
    AccessCost looks;
    looks.requestedBytes = work.blocks * extent * words * 4;
    looks.reuseDistanceBytes = extent * words * 4;
    cost.accesses.push_back(looks);
    instructions += kWordInstructions * words;
  }
  cost.fp32Flops += 2 * instructions * extent * work.blocks;
  int64_t chunk = countLookedAt(schedule.warps);
  shape.sharedBytes += chunk * (1 + 4);
  // Threads wait for what they look at, for the flags and for the list; what
  // counts is on its way a few elements at a time.
  cost.reductionSteps += 3 * std::ceil(extent / static_cast<double>(chunk)) +
                         work.trips / static_cast<double>(kCountingAtOnce);
}

double mlir::fusion::countRoundWords(const BlockWork &work) {
  ScanSizes sizes;
  describeStates(work.body, sizes);
  auto words = static_cast<double>(sizes.stateWords);
  for (unsigned dim = 0; dim < work.facts.getNumDims(); ++dim)
    words *= static_cast<double>(work.facts.scanned.test(dim)
                                     ? work.schedule[dim].split
                                     : work.schedule[dim].tile);
  return words;
}

double SchedulePricer::countLoadedAhead(const Stream &stream) const {
  unsigned scanned = facts.scanned.find_first();
  if (!(stream.mask >> scanned & 1))
    return 0;
  // Lanes that ask for the same have it once.
  double elements = work.countWrittenOut();
  for (auto [dim, axis] : llvm::enumerate(schedule.axes))
    if (stream.mask >> dim & 1)
      elements *= static_cast<double>(axis.tile);
  return elements / work.threads;
}

double SchedulePricer::getBytesInFlight() const {
  // Stages take no registers.
  if (work.stages > 1)
    return std::max(4.0, chunkBytes * (work.stages - 1) / work.threads);
  double bytes = 0;
  for (const Stream &stream : traffic.get())
    if (!stream.isWrite)
      bytes += stream.value.elementBytes * stream.touched *
               (work.reducesInSteps ? countLoadedAhead(stream)
                                    : work.perThread * work.turns);
  // Of a walk the next loads are not on their way while it computes.
  if (schedule.strategy == Strategy::Scan)
    bytes *= work.isSplit && !work.hasRuns
                 ? facts.target.fitted.scans.tilesAhead
                 : 1;
  else if (work.walks && work.countMeetings() == 0)
    bytes *= std::min(work.trips, fitted.walkingSteps);
  return std::clamp(bytes, 4.0, fitted.mostInFlight) *
         (work.walks ? fitted.walkingShare : 1);
}

void SchedulePricer::setStages() {
  if (work.stages == 1)
    return;
  double ahead = 0, all = 0;
  for (const Stream &stream : traffic.get()) {
    if (stream.isWrite)
      continue;
    all += stream.uniqueBytes;
    double vector = traffic.getVector(
        stream, traffic.getRun(stream, work.tileOf), /*isCopied=*/true);
    if (!traffic.isCopied(stream) ||
        vector * stream.value.elementBytes < kLeastCopyBytes)
      continue;
    double elements = 1;
    for (auto [dim, tile] : llvm::enumerate(work.tileOf))
      elements *= stream.mask >> dim & 1 ? tile : 1;
    chunkBytes += elements * stream.value.elementBytes;
    ahead += stream.uniqueBytes;
    double loads = work.countPoints(stream.mask) / vector *
                   work.countSweeps(stream.mask, stream.sweeps);
    cost.fp32Flops += 2 * loads * fitted.copyInstructions;
  }
  // The first chunk of a walk is waited for.
  cost.aheadShare =
      ahead / std::max(all, 1.0) * (1 - 1 / work.countTripsInTurn());
  for (AccessCost &access : cost.accesses)
    access.factor *= access.isWrite ? 1 : fitted.copiedCost;
  cost.sweptBytes *= fitted.copiedCost;
  // Copies leave nothing in the first cache.
  cost.keptInL1 = false;
}

KernelEstimate SchedulePricer::price() {
  TilePlaces places = findTilePlaces(traffic);
  if (places.held)
    traffic.setHeld(*places.held);
  traffic.addTo(cost);
  addArithmetic(traffic, cost);
  addSteps();
  shape.registers = countRegisters(traffic);
  shape.threads = static_cast<int64_t>(work.threads);
  shape.sharedBytes = placeShared(places.shared).ofBlock;
  addLooks();
  shape.blocks = std::max<int64_t>(1, toCount(work.blocks));
  for (auto [dim, axis] : llvm::enumerate(schedule.axes)) {
    shape.cluster = std::max(shape.cluster, axis.cluster);
    bool isShared =
        axis.split > 1 || (axis.kind == AxisKind::Full &&
                           schedule.strategy != Strategy::Pointwise);
    if (isShared && axis.cluster == 1)
      shape.together =
          std::max(shape.together, static_cast<int64_t>(work.blocksOf[dim]));
  }
  setStages();
  cost.exposedShare = traffic.hasWindows() ? fitted.windowExposed : 0;
  shape.bytesInFlightPerThread = getBytesInFlight();
  if (schedule.strategy == Strategy::Scan) {
    shape.spillingSteps = work.trips;
    // Rounds, and steps that reduce, load ahead of each other.
    cost.aheadShare =
        work.isSplit || loadsAhead() ? facts.target.fitted.scans.aheadShare : 0;
  }
  KernelEstimate estimate;
  estimate.cost = cost;
  estimate.shape = shape;
  estimate.time = estimateTime(cost, shape, facts.target);
  return estimate;
}

KernelEstimate mlir::fusion::priceSchedule(const LoopFacts &facts,
                                           const LoopSchedule &schedule) {
  return SchedulePricer(facts, schedule).price();
}
