//===- MmaCost.cpp - The time of a tensor-core kernel ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the model of tensor-core kernels. Its constants are
// fitted to measurements (FittedConstants.def); docs/CostModel.md has the
// errors.
//
//===----------------------------------------------------------------------===//

#include "MmaPrices.h"

#include "fusion/Analysis/CostModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::pricing;

/// Columns of a tile, and rows, that costs of narrow ones are relative to.
static constexpr double kFullColumns = 128;

int64_t MmaProblem::countChunks(int64_t chunk, int64_t split) const {
  int64_t chunks =
      llvm::divideCeil(llvm::divideCeil(depth, chunk), split) * taps;
  for (int64_t later : laterDepths)
    chunks += llvm::divideCeil(later, chunk);
  return chunks;
}

int64_t MmaProblem::getWholeDepth() const {
  int64_t whole = depth;
  for (int64_t later : laterDepths)
    whole += later;
  return whole;
}

int64_t pricing::getStageBytes(const MmaProblem &problem,
                               const MmaConfig &config) {
  int64_t bits = config.rows * problem.storedBits[0] * problem.operands[0] +
                 getMmaColumns(problem, config).loaded * problem.storedBits[1] *
                     problem.operands[1];
  return bits * config.depth / 8;
}

/// Seconds that the copy engine takes for one chunk of the windows of images
/// and of what they are multiplied with, on average over tiles.
static double getWindowSeconds(const MmaProblem &problem,
                               const MmaConfig &config,
                               const TargetInfo &target) {
  const MmaConstants &fitted = target.fitted.mma;
  auto bytes = [&](double size, unsigned side) {
    return size * config.depth * problem.storedBits[side] *
           problem.operands[side] / 8;
  };
  if (problem.places) {
    double sizes[2] = {double(config.rows), double(config.columns)};
    unsigned images = *problem.places, others = 1 - images;
    return (bytes(sizes[images], images) / fitted.windowBytesPerClock +
            bytes(sizes[others], others) / fitted.filterBytesPerClock) /
           target.clockHz;
  }
  if (problem.taps == 1)
    return 0;
  double outside =
      config.columns - double(problem.columns) /
                           llvm::divideCeil(problem.columns, config.columns);
  return (bytes(config.rows, 0) / fitted.windowBytesPerClock +
          (bytes(config.columns - outside, 1) / fitted.filterBytesPerClock +
           bytes(outside, 1) / fitted.outsideBytesPerClock) /
              config.multicast) /
         target.clockHz;
}

int64_t fusion::getMmaResidentBlocks(const MmaProblem &problem,
                                     const MmaConfig &config,
                                     const TargetInfo &target) {
  int64_t shared = getMmaSharedBytes(problem, config, target) + kSharedReserve;
  if (config.getTileWarps() > 4 || config.groups > 1)
    return 1;
  // The producer's warp has as many as the others: none are moved.
  int64_t registers = llvm::alignTo(getMmaRegisters(problem, config), 8) *
                      (config.warps + 1) * kWarpThreads;
  return std::max<int64_t>(
      1, std::min({target.sharedPerSM / shared,
                   target.registersPerSM / registers, int64_t(2)}));
}

/// Seconds that groups of consumers take for `tiles` tiles one after the other,
/// each of `chunks` chunks and an `epilogue`: either the tensor cores are
/// always busy until the last epilogue, or a group is always at work.
static double getSecondsOfGroups(const MmaProblem &problem,
                                 const MmaConfig &config,
                                 const MmaConstants &fitted, double tiles,
                                 double chunks, double products, double fed,
                                 double epilogue) {
  double parts = double(config.columns) / config.getEpilogueColumns();
  double feed = (kFullColumns * problem.operands[0] / config.columns +
                 kFullColumns * problem.operands[1] / config.rows) /
                (2 * problem.sums);
  double narrow =
      std::max(0.0, kFullColumns / (config.columns * problem.sums) - 1);
  products *=
      1 + fitted.turnFeedCost * feed * feed + fitted.turnNarrowCost * narrow;
  if (!llvm::isPowerOf2_64(config.stages))
    products *= fitted.oddStagesCost;
  double chunk = std::max(
      {products, fed, (fitted.turnLatency + products) / config.stages});
  double each = chunks * chunk + parts * fitted.turnPartSeconds;
  double turns = std::ceil(tiles / config.groups);
  return std::max(tiles * each + epilogue,
                  turns * (each + fitted.aloneInEpilogue * epilogue));
}

/// Tiles, or those of a cluster's blocks together.
int64_t pricing::getTiles(const MmaProblem &problem, const MmaConfig &config) {
  // Half a tile of each group is empty in the mean, and each has one.
  if (problem.grouped)
    return std::max<int64_t>(problem.batch,
                             llvm::divideCeil((2 * problem.rows + config.rows) *
                                                  problem.batch,
                                              2 * config.rows)) *
           llvm::divideCeil(problem.columns, config.columns);
  return llvm::divideCeil(problem.rows, config.rows * config.multicast) *
         llvm::divideCeil(problem.columns, config.columns) * problem.batch;
}

/// Clocks in which the copies of a stage come to one multiprocessor. What the
/// blocks of a cluster load together passes L2 once. Rows that begin anywhere
/// in its lines are the limit of the chip: fewer blocks have more each.
static double feedClocks(const MmaProblem &problem, const MmaConfig &config,
                         const TargetInfo &target) {
  const MmaConstants &fitted = target.fitted.mma;
  double busy = std::min(1.0, double(getTiles(problem, config)) * config.split *
                                  config.multicast / target.numSMs);
  double straddled =
      std::min(fitted.feedBytesPerClock, fitted.straddledBytesPerClock / busy);
  double clocks = 0;
  for (unsigned side = 0; side < 2; ++side) {
    int64_t size =
        side == 0 ? config.rows : getMmaColumns(problem, config).loaded;
    double bytes = double(size) * problem.operands[side] * config.depth *
                   problem.storedBits[side] / 8;
    if (side == 1)
      bytes /= config.multicast;
    clocks += bytes /
              (problem.straddles[side] ? straddled : fitted.feedBytesPerClock);
  }
  if (config.split == 1)
    return clocks;
  return clocks *
         (config.apart ? fitted.apartFeedCost : fitted.clusterFeedCost);
}

/// Bytes of the sums of a block.
static double getSumBytes(const MmaProblem &problem, const MmaConfig &config) {
  return 4.0 * config.rows * config.columns * problem.sums;
}

TileTimes pricing::getTileTimes(const MmaProblem &problem,
                                const MmaConfig &config,
                                const TargetInfo &target) {
  const MmaConstants &fitted = target.fitted.mma;
  TileTimes times;
  // One chunk: the tensor cores' time, or that of feeding them, on one
  // multiprocessor. Narrow instructions read their operands for less work.
  double groups = config.getTileWarps() / 4.0;
  double columns =
      config.rows >= 64 * groups ? config.columns : config.columns / groups;
  double narrow = std::max(
      0.0,
      kFullColumns / std::min(columns * problem.sums, 2 * kFullColumns) - 0.5);
  double flops =
      2.0 * config.rows * config.columns * config.depth * problem.sums;
  times.undisturbed =
      flops / (fitted.productRate * target.fitted.rates.tensorFlopsPerSecond /
               target.numSMs * 16.0 / problem.elementBits);
  times.undisturbed *=
      double(getMmaColumns(problem, config).multiplied) / config.columns;
  double products = times.undisturbed * (1 + fitted.narrowCost * narrow);
  times.resident = getMmaResidentBlocks(problem, config, target);
  if (config.getTileWarps() == 4 && config.groups == 1 && times.resident == 1)
    products *= fitted.loneCost;
  times.feed = std::max(feedClocks(problem, config, target) / target.clockHz,
                        getWindowSeconds(problem, config, target));
  times.chunk = std::max(products, times.feed);
  // An operand that is computed goes through registers, element by element.
  double computed = 0;
  for (auto [bits, size] :
       {std::pair(problem.storedBits[0], config.rows),
        std::pair(problem.storedBits[1], config.columns * problem.sums)})
    if (bits != problem.elementBits)
      computed += double(size) * config.depth;
  times.conversion =
      computed * fitted.clocksPerConversion / (kLanesPerSM * target.clockHz);
  times.chunk += times.conversion;
  // A stage is filled again one latency after it was read.
  double busy = config.split > 1
                    ? std::min(1.0, double(getTiles(problem, config)) *
                                        config.split / target.numSMs)
                    : 1.0;
  double latency = fitted.feedLatency *
                   (fitted.idleLatency + (1 - fitted.idleLatency) * busy);
  if (config.getTileWarps() > 4 && config.split == 1 && problem.taps == 1 &&
      config.rows * config.columns * problem.sums >=
          fitted.largeSums * config.getTileWarps() * kWarpThreads)
    latency = fitted.largeFeedLatency;
  times.alone = std::max(times.chunk, (latency + products) / config.stages);

  double elements = double(config.rows) * config.columns * problem.sums;
  double perElement =
      fitted.clocksPerElement + fitted.clocksPerOp * problem.epilogueOps +
      fitted.clocksPerByte *
          (problem.epilogueReadBytes + problem.epilogueWriteBytes);
  times.epilogue = fitted.epilogueSeconds + elements / config.split *
                                                perElement /
                                                (kLanesPerSM * target.clockHz);
  double own = double(config.columns) / config.split;
  // Groups that take turns hide that behind the other's products.
  if (config.groups == 1 && config.chunk && config.chunk < fitted.wideChunk &&
      own > fitted.wideChunk)
    times.epilogue +=
        fitted.chunkSeconds * (own / config.chunk - own / fitted.wideChunk);
  if (config.apart)
    times.epilogue +=
        fitted.apartSeconds + getSumBytes(problem, config) /
                                  (fitted.apartBytesPerClock * target.clockHz);
  else if (config.split > 1)
    times.epilogue += fitted.clusterSeconds;
  if (config.multicast > 1)
    times.epilogue += fitted.multicastSeconds * config.multicast / 2;
  if (config.getPanel(problem) > 1)
    times.epilogue += fitted.panelSeconds * problem.rowReductions;
  return times;
}

int64_t fusion::getSharedTiles(const MmaProblem &problem,
                               const MmaConfig &config) {
  int64_t tiles = getTiles(problem, config);
  int64_t blocks = config.blocks / config.multicast;
  if (blocks == 0 || tiles <= blocks)
    return tiles < blocks ? tiles : 0;
  return tiles % blocks ? tiles % blocks + blocks : 0;
}

double pricing::getCollectSeconds(const MmaProblem &problem,
                                  const MmaConfig &config,
                                  const TargetInfo &target) {
  const MmaConstants &fitted = target.fitted.mma;
  double blocks = double(config.blocks) / config.multicast;
  double parts =
      std::max(1.0, std::ceil(blocks / getTiles(problem, config)) - 1);
  return fitted.exchangeSeconds +
         parts * getSumBytes(problem, config) /
             (fitted.exchangeBytesPerClock * target.clockHz);
}

/// Seconds that the blocks of a grid take for all tiles when they share those
/// that make up no whole round: as much to do each.
static double getStreamSeconds(const MmaProblem &problem,
                               const MmaConfig &config, double chunkSeconds,
                               double chunks, double epilogue,
                               const TargetInfo &target) {
  const MmaConstants &fitted = target.fitted.mma;
  double tiles = getTiles(problem, config);
  double blocks = double(config.blocks) / config.multicast;
  double shared = getSharedTiles(problem, config);
  double exchange = fitted.exchangeSeconds +
                    getSumBytes(problem, config) /
                        (fitted.exchangeBytesPerClock * target.clockHz);
  // A block hands over one part of a tile and collects others.
  return (tiles + (fitted.streamCost - 1) * shared) / blocks * chunks *
             chunkSeconds +
         tiles / blocks * epilogue + exchange +
         pricing::getCollectSeconds(problem, config, target);
}

double fusion::getMmaSeconds(const MmaProblem &problem, const MmaConfig &config,
                             const TargetInfo &target) {
  const MmaConstants &fitted = target.fitted.mma;
  double tiles = getTiles(problem, config);
  auto chunks = double(problem.countChunks(config.depth, config.split));
  // Blocks that are no cluster need no place beside each other.
  int64_t cluster = (config.apart ? 1 : config.split) * config.multicast;
  double rounds = tiles * config.split * config.multicast /
                  double(getClusterSlots(cluster, target));
  // How many tiles groups have is known at run time: the last round is half
  // full in the mean.
  double perSM =
      problem.grouped ? std::max(1.0, rounds + 0.5) : std::ceil(rounds);
  // Whole panels leave multiprocessors idle.
  if (config.getPanel(problem) > 1 && config.blocks > 0)
    perSM = std::ceil(tiles / double(config.blocks)) *
            getMmaResidentBlocks(problem, config, target);

  auto [undisturbed, feed, chunk, alone, conversion, epilogue, resident] =
      getTileTimes(problem, config, target);

  // Blocks that share a multiprocessor take turns at its tensor cores; while
  // one is in its epilogue, the others are not.
  double time = perSM * (chunks * alone + epilogue);
  double together = std::min(resident, perSM);
  if (together >= 2)
    time = std::ceil(perSM / together) *
           std::max(together * chunks *
                        ((chunk - conversion) * fitted.sharedCost +
                         conversion * fitted.sharedConversion),
                    chunks * alone + fitted.sharedEpilogue * epilogue);
  if (config.groups > 1)
    time = getSecondsOfGroups(problem, config, fitted, perSM, chunks,
                              undisturbed, feed, epilogue);
  if (config.stream)
    time = getStreamSeconds(problem, config, alone, chunks, epilogue, target);
  double bytes =
      problem.batch *
      (double(problem.rows) * problem.getWholeDepth() * problem.tapsRead[0] *
           problem.storedBits[0] / 8 * problem.operands[0] +
       double(problem.columns) * problem.getWholeDepth() * problem.tapsRead[1] *
           problem.storedBits[1] / 8 * problem.operands[1] +
       double(problem.rows) * problem.columns *
           (problem.epilogueReadBytes + problem.epilogueWriteBytes));
  double memory =
      bytes / (fitted.trafficShare * target.fitted.rates.dramBytesPerSecond);
  if (problem.grouped) {
    double rows = double(config.rows) * problem.storedBits[0] / 8 *
                  problem.operands[0],
           columns = double(config.columns) * problem.storedBits[1] / 8 *
                     problem.operands[1];
    memory += tiles * chunks * config.depth * (rows + columns) /
              (fitted.groupedCopies * target.fitted.rates.dramBytesPerSecond);
  }
  return std::max(time, memory) + fitted.overlapLoss * std::min(time, memory) +
         fitted.startSeconds;
}
