//===- MmaCost.cpp - The time of a tensor-core kernel ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the model of tensor-core kernels. Its constants are
// fitted to measurements; docs/CostModel.md has them with their errors.
//
//===----------------------------------------------------------------------===//

#include "MmaPrices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::pricing;

//===----------------------------------------------------------------------===//
// Constants, fitted on sm_90a on 2026-11-21 (docs/CostModel.md)
//===----------------------------------------------------------------------===//

/// Share of the chip's product rate that a multiprocessor alone reaches.
static constexpr double kProductRate = 1.058;
/// Growth of the products' time for each 128 columns that a row lacks.
static constexpr double kNarrowCost = 0.058;
/// How much longer products take that one warpgroup makes, between whose
/// instructions no other's fit.
static constexpr double kLoneCost = 1.055;
/// Bytes a clock that the copy engine brings to one multiprocessor, when rows
/// begin where lines of L2 do, and when they do not.
static constexpr double kFeedBytesPerClock = 71, kStraddledBytesPerClock = 25;
/// Of a convolution's copies, from 55 kernels: bytes a clock of images whose
/// windows are cut out, of filters, and of filters that are outside, where
/// zeros take longer than what there is.
static constexpr double kWindowBytesPerClock = 31, kFilterBytesPerClock = 160,
                        kOutsideBytesPerClock = 13;
/// From a stage's release to its next use, and the part of it that is left to
/// blocks of few clusters, which have the chip almost for themselves.
static constexpr double kFeedLatency = 1.4e-6, kIdleLatency = 0.6;
/// The same of two warpgroups with so many sums a thread: with three stages
/// 128x256 tiles lose nothing (0.65 us a stage), 128x160 tiles a tenth (0.41).
static constexpr double kLargeFeedLatency = 1.0e-6;
static constexpr int64_t kLargeSums = 96;
/// Of the epilogue: what it costs at all, and an element with its operations
/// and bytes.
static constexpr double kEpilogueSeconds = 0.34e-6, kClocksPerElement = 5,
                        kClocksPerOp = 1.06, kClocksPerByte = 1.5, kLanes = 128;
/// Of each chunk beyond those of 64 columns (192x192, 128x224).
static constexpr double kChunkSeconds = 0.25e-6;
static constexpr int64_t kWideChunk = 64;
/// Of an element of an operand that is not multiplied as it is in memory.
static constexpr double kClocksPerConversion = 14;
/// How much less it takes two blocks of a multiprocessor than one after the
/// other: the latency of one hides the other's work (64x8192x8192 with weights
/// of 8 bits in halves of the depth: 29 us, 39 by blocks that are alone).
static constexpr double kSharedConversion = 0.5;
/// Of a sum shared by a cluster, and how much longer its operands take, which
/// no other block wants at the same time.
static constexpr double kClusterSeconds = 4.8e-6, kClusterFeedCost = 1.3;
/// Of a tile whose operand comes from another block too: they wait for each
/// other.
static constexpr double kMulticastSeconds = 0.5e-6;
/// Of groups that take turns, fitted to twelve shapes on the same day: how much
/// longer products of 128x128 take for their operands, and others by the square
/// of their share of operands; how much longer for each 128 columns that a row
/// lacks (1x1 convolutions: 63.6 us with 64 columns, 50.4 with 160), and when
/// the stage of a position is no mask of it; what each part of an epilogue
/// costs although products go on, how much longer it takes a group that is
/// alone in it, and how long a stage takes from its release to its next use.
static constexpr double kTurnFeedCost = 0.075, kTurnNarrowCost = 0.3,
                        kOddStagesCost = 1.04, kTurnPartSeconds = 0.12e-6,
                        kAloneInEpilogue = 2.35, kTurnLatency = 0.9e-6;
/// Of a sum that blocks of the grid share: what handing it over and collecting
/// it cost at all, the bytes a clock that a multiprocessor writes or reads, and
/// how much longer chunks of shared tiles take, which blocks are not at at the
/// same time.
static constexpr double kExchangeSeconds = 1.5e-6, kExchangeBytesPerClock = 24,
                        kStreamCost = 1.05;
/// Of rows that blocks of a panel reduce together: what each exchange costs
/// them beyond what the epilogue's operations count for, which is too much for
/// long ones (layer norm of 8192 rows of 4096 and of 1024: 393 and 102 us).
static constexpr double kPanelSeconds = 0.9e-6;
/// Of sums that blocks of a split exchange through global memory: to write the
/// others' parts, to wait, and to read those of the own one; and how much
/// longer their operands take, so that tiles that leave copies no time to spare
/// lose (1024x1024x65536 with 128x128).
static constexpr double kApartSeconds = 3.2e-6, kApartBytesPerClock = 10,
                        kApartFeedCost = 1.5;
/// Of blocks that share a multiprocessor: how much longer their products and
/// their epilogues take than those of one block.
static constexpr double kSharedCost = 1.3, kSharedEpilogue = 1.25;
/// Share of the memory's rate that operands and results reach.
static constexpr double kTrafficShare = 0.9;
/// Share of the shorter of products and traffic that the longer does not hide.
static constexpr double kOverlapLoss = 0.05;
/// Where each group's matrix is read from memory for few rows, what tiles copy
/// comes on top, at so many times the memory's rate: 8192x1408x2048 in 64
/// groups takes 136 to 170 us with tiles of 128x192 to 64x128 (H200,
/// 2026-11-21).
static constexpr double kGroupedCopies = 4.5;

int64_t pricing::getStageBytes(const MmaProblem &problem,
                               const MmaConfig &config) {
  int64_t bits = config.rows * problem.storedBits[0] * problem.operands[0] +
                 getMmaColumns(problem, config).loaded * problem.storedBits[1] *
                     problem.operands[1];
  return bits * config.depth / 8;
}

/// Blocks of clusters of `size` that run at a time. They lie in one of the
/// chip's parts, of which some multiprocessors remain (measured on sm_90a).
int64_t pricing::getClusterSlots(int64_t size, const TargetInfo &target) {
  double share = size <= 2 ? 1 : size <= 8 ? 120.0 / 132 : 112.0 / 132;
  return std::max<int64_t>(1, target.numSMs * share / size) * size;
}

/// Seconds that the copy engine takes for one chunk of the taps of windows and
/// of filters, on average over tiles.
static double getWindowSeconds(const MmaProblem &problem,
                               const MmaConfig &config,
                               const TargetInfo &target) {
  if (problem.taps == 1)
    return 0;
  auto bytes = [&](double size, unsigned side) {
    return size * config.depth * problem.storedBits[side] *
           problem.operands[side] / 8;
  };
  double outside =
      config.columns - double(problem.columns) /
                           llvm::divideCeil(problem.columns, config.columns);
  return (bytes(config.rows, 0) / kWindowBytesPerClock +
          (bytes(config.columns - outside, 1) / kFilterBytesPerClock +
           bytes(outside, 1) / kOutsideBytesPerClock) /
              config.multicast) /
         target.clockHz;
}

int64_t fusion::getMmaResidentBlocks(const MmaProblem &problem,
                                     const MmaConfig &config,
                                     const TargetInfo &target) {
  int64_t shared = getMmaSharedBytes(problem, config) + kSharedReserve;
  if (config.getTileWarps() > 4 || config.groups > 1)
    return 1;
  // The producer's warp has as many as the others: none are moved.
  int64_t registers = llvm::alignTo(getMmaRegisters(problem, config), 8) *
                      (config.warps + 1) * 32;
  return std::max<int64_t>(
      1, std::min({target.sharedPerSM / shared,
                   target.registersPerSM / registers, int64_t(2)}));
}

/// Seconds that groups of consumers take for `tiles` tiles one after the other,
/// each of `chunks` chunks and an `epilogue`: either the tensor cores are
/// always busy until the last epilogue, or a group is always at work.
static double getSecondsOfGroups(const MmaProblem &problem,
                                 const MmaConfig &config, double tiles,
                                 double chunks, double products, double fed,
                                 double epilogue) {
  constexpr double kEven = 128;
  double parts = double(config.columns) / config.getEpilogueColumns();
  double feed = (kEven * problem.operands[0] / config.columns +
                 kEven * problem.operands[1] / config.rows) /
                (2 * problem.sums);
  double narrow = std::max(0.0, kEven / (config.columns * problem.sums) - 1);
  products *= 1 + kTurnFeedCost * feed * feed + kTurnNarrowCost * narrow;
  if (!llvm::isPowerOf2_64(config.stages))
    products *= kOddStagesCost;
  double chunk =
      std::max({products, fed, (kTurnLatency + products) / config.stages});
  double each = chunks * chunk + parts * kTurnPartSeconds;
  double turns = std::ceil(tiles / config.groups);
  return std::max(tiles * each + epilogue,
                  turns * (each + kAloneInEpilogue * epilogue));
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
  double busy = std::min(1.0, double(getTiles(problem, config)) * config.split *
                                  config.multicast / target.numSMs);
  double straddled =
      std::min(kFeedBytesPerClock, kStraddledBytesPerClock / busy);
  double clocks = 0;
  for (unsigned side = 0; side < 2; ++side) {
    int64_t size =
        side == 0 ? config.rows : getMmaColumns(problem, config).loaded;
    double bytes = double(size) * problem.operands[side] * config.depth *
                   problem.storedBits[side] / 8;
    if (side == 1)
      bytes /= config.multicast;
    clocks +=
        bytes / (problem.straddles[side] ? straddled : kFeedBytesPerClock);
  }
  if (config.split == 1)
    return clocks;
  return clocks * (config.apart ? kApartFeedCost : kClusterFeedCost);
}

/// Bytes of the sums of a block.
static double getSumBytes(const MmaProblem &problem, const MmaConfig &config) {
  return 4.0 * config.rows * config.columns * problem.sums;
}

TileTimes pricing::getTileTimes(const MmaProblem &problem,
                                const MmaConfig &config,
                                const TargetInfo &target) {
  TileTimes times;
  // One chunk: the tensor cores' time, or that of feeding them, on one
  // multiprocessor. Narrow instructions read their operands for less work.
  double groups = config.getTileWarps() / 4.0;
  double columns =
      config.rows >= 64 * groups ? config.columns : config.columns / groups;
  double narrow =
      std::max(0.0, 128.0 / std::min(columns * problem.sums, 256.0) - 0.5);
  double flops =
      2.0 * config.rows * config.columns * config.depth * problem.sums;
  times.undisturbed = flops / (kProductRate * target.tensorFlopsPerSecond /
                               target.numSMs * 16.0 / problem.elementBits);
  times.undisturbed *=
      double(getMmaColumns(problem, config).multiplied) / config.columns;
  double products = times.undisturbed * (1 + kNarrowCost * narrow);
  times.resident = getMmaResidentBlocks(problem, config, target);
  if (config.getTileWarps() == 4 && config.groups == 1 && times.resident == 1)
    products *= kLoneCost;
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
      computed * kClocksPerConversion / (kLanes * target.clockHz);
  times.chunk += times.conversion;
  // A stage is filled again one latency after it was read.
  double busy = config.split > 1
                    ? std::min(1.0, double(getTiles(problem, config)) *
                                        config.split / target.numSMs)
                    : 1.0;
  double latency = kFeedLatency * (kIdleLatency + (1 - kIdleLatency) * busy);
  if (config.getTileWarps() > 4 && config.split == 1 && problem.taps == 1 &&
      config.rows * config.columns * problem.sums >=
          kLargeSums * config.getTileWarps() * 32)
    latency = kLargeFeedLatency;
  times.alone = std::max(times.chunk, (latency + products) / config.stages);

  double elements = double(config.rows) * config.columns * problem.sums;
  double perElement =
      kClocksPerElement + kClocksPerOp * problem.epilogueOps +
      kClocksPerByte * (problem.epilogueReadBytes + problem.epilogueWriteBytes);
  times.epilogue = kEpilogueSeconds + elements / config.split * perElement /
                                          (kLanes * target.clockHz);
  double own = double(config.columns) / config.split;
  // Groups that take turns hide that behind the other's products.
  if (config.groups == 1 && config.chunk && config.chunk < kWideChunk &&
      own > kWideChunk)
    times.epilogue += kChunkSeconds * (own / config.chunk - own / kWideChunk);
  if (config.apart)
    times.epilogue +=
        kApartSeconds +
        getSumBytes(problem, config) / (kApartBytesPerClock * target.clockHz);
  else if (config.split > 1)
    times.epilogue += kClusterSeconds;
  if (config.multicast > 1)
    times.epilogue += kMulticastSeconds * config.multicast / 2;
  if (config.getPanel(problem) > 1)
    times.epilogue += kPanelSeconds * problem.rowReductions;
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

/// Seconds that the blocks of a grid take for all tiles when they share those
/// that make up no whole round: as much to do each.
static double getStreamSeconds(const MmaProblem &problem,
                               const MmaConfig &config, double chunkSeconds,
                               double chunks, double epilogue,
                               const TargetInfo &target) {
  double tiles = getTiles(problem, config);
  double blocks = double(config.blocks) / config.multicast;
  double shared = getSharedTiles(problem, config);
  double exchange =
      kExchangeSeconds +
      getSumBytes(problem, config) / (kExchangeBytesPerClock * target.clockHz);
  // A block hands over one part of a tile and collects another.
  return (tiles + (kStreamCost - 1) * shared) / blocks * chunks * chunkSeconds +
         tiles / blocks * epilogue + 2 * exchange;
}

double fusion::getMmaSeconds(const MmaProblem &problem, const MmaConfig &config,
                             const TargetInfo &target) {
  double tiles = getTiles(problem, config);
  double chunks =
      double(llvm::divideCeil(llvm::divideCeil(problem.depth, config.depth),
                              config.split)) *
      problem.taps;
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
                        ((chunk - conversion) * kSharedCost +
                         conversion * kSharedConversion),
                    chunks * alone + kSharedEpilogue * epilogue);
  if (config.groups > 1)
    time = getSecondsOfGroups(problem, config, perSM, chunks, undisturbed, feed,
                              epilogue);
  if (config.stream)
    time = getStreamSeconds(problem, config, alone, chunks, epilogue, target);
  double bytes = problem.batch *
                 (double(problem.rows) * problem.depth * problem.storedBits[0] /
                      8 * problem.operands[0] +
                  double(problem.columns) * problem.depth *
                      problem.storedBits[1] / 8 * problem.operands[1] +
                  double(problem.rows) * problem.columns *
                      (problem.epilogueReadBytes + problem.epilogueWriteBytes));
  double memory = bytes / (kTrafficShare * target.dramBytesPerSecond);
  if (problem.grouped) {
    double rows = double(config.rows) * problem.storedBits[0] / 8 *
                  problem.operands[0],
           columns = double(config.columns) * problem.storedBits[1] / 8 *
                     problem.operands[1];
    memory += tiles * chunks * config.depth * (rows + columns) /
              (kGroupedCopies * target.dramBytesPerSecond);
  }
  return std::max(time, memory) + kOverlapLoss * std::min(time, memory) +
         kProductStartSeconds;
}
