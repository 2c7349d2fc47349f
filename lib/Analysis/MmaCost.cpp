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

#include "fusion/Analysis/MmaCost.h"

#include "fusion/Executable/PackageModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

/// Bytes that a block cannot have: barriers and alignment of its buffers.
static constexpr int64_t kSharedReserve = 2048;

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
/// Chunks of the contracted dimension from which on tiles of three groups, and
/// of 224 columns, were measured.
static constexpr int64_t kDeepChunks = 24;
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
/// From launch to the first product and from the last store to the end.
static constexpr double kStartSeconds = 5.06e-6;

static int64_t stageBytes(const MmaProblem &problem, const MmaConfig &config) {
  int64_t bits = config.rows * problem.storedBits[0] * problem.operands[0] +
                 getMmaColumns(problem, config).loaded * problem.storedBits[1] *
                     problem.operands[1];
  return bits * config.depth / 8;
}

/// Blocks of clusters of `size` that run at a time. They lie in one of the
/// chip's parts, of which some multiprocessors remain (measured on sm_90a).
static int64_t getClusterSlots(int64_t size, const TargetInfo &target) {
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
static int64_t getTiles(const MmaProblem &problem, const MmaConfig &config) {
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

namespace {
/// Seconds of a block at one tile.
struct TileTimes {
  /// Of one chunk: its products at full rate, its copies, the longer of both,
  /// and that with the latency of a ring that nobody else's work hides.
  double undisturbed, feed, chunk, alone;
  /// Of the chunk's, what computing operands takes.
  double conversion;
  double epilogue;
  /// Blocks that a multiprocessor runs at a time.
  double resident;
};
} // namespace

/// Bytes of the sums of a block.
static double getSumBytes(const MmaProblem &problem, const MmaConfig &config) {
  return 4.0 * config.rows * config.columns * problem.sums;
}

static TileTimes getTileTimes(const MmaProblem &problem,
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
         kStartSeconds;
}

/// Blocks of a grid for `tiles` tiles, at most `slots` at a time: those of
/// whole panels; 0 for one a tile, none when there is no room for a panel.
static std::optional<int64_t> getGridBlocks(const MmaProblem &problem,
                                            const MmaConfig &config,
                                            int64_t tiles, int64_t slots) {
  // Members that one warp reads the words of, and what each word takes.
  constexpr int64_t kMostMembers = 64, kWordBytes = 8, kHeadBytes = 256;
  if (tiles <= slots)
    slots = tiles;
  int64_t panel = config.getPanel(problem);
  int64_t blocks = slots / panel * panel;
  if (panel > kMostMembers || blocks == 0)
    return std::nullopt;
  if (panel > 1) {
    int64_t copies =
        config.groups * (problem.rowReductions > 1 ? problem.rowReductions : 2);
    int64_t words = config.rows * panel * copies;
    if (blocks / panel * (words * kWordBytes + kHeadBytes * copies) >
        fusionpkg::kSignalBytes)
      return std::nullopt;
  }
  return tiles > blocks ? blocks : 0;
}

/// Adds the form of `config` in which `blocks` blocks, two or four, load the
/// columns' operand together, when so many have all of it.
static void addMulticast(llvm::SmallVectorImpl<MmaConfig> &configs,
                         const MmaProblem &problem, MmaConfig config,
                         int64_t blocks, const TargetInfo &target) {
  // Nor may blocks share rows that one of them reduces; whole rows have no
  // columns to walk.
  if (config.split > 1 || problem.rows <= config.rows ||
      problem.granules[0] > 1 || problem.wholeRows ||
      problem.storedBits[1] != problem.elementBits ||
      getMmaResidentBlocks(problem, config, target) > 1)
    return;
  config.multicast = blocks;
  int64_t slots = getClusterSlots(config.multicast, target);
  config.blocks =
      getTiles(problem, config) * config.multicast > slots ? slots : 0;
  // Four wait for each other longer: where copies are the limit, and no tile
  // waits for another (1025x1032x1000: 13.6 us with two, 12.9 with four). Not
  // in panels of columns (1000x1000x1000: 12.9 us with two, 15.7 with four).
  if (blocks > 2 && (!problem.straddles[1] || problem.transposed[1] ||
                     problem.elementBits != 16 || config.blocks ||
                     problem.rows <= 2 * config.rows))
    return;
  config.group = 4;
  configs.push_back(config);
}

/// Adds the form of `config` in which blocks share the tiles that make up no
/// whole round of them, when that leaves each of them enough to do.
static void addStream(llvm::SmallVectorImpl<MmaConfig> &configs,
                      const MmaProblem &problem, MmaConfig config,
                      const TargetInfo &target) {
  // Rounds that hardly gain, and what finishing counts for at most.
  constexpr int64_t kMostRounds = 24, kMostFinish = 64;
  // Tiles of several parts took 3 to 6 % longer than predicted.
  if (config.split > 1 || config.groups > 1 || !problem.isStatic ||
      !llvm::isPowerOf2_64(config.columns) || problem.taps > 1 ||
      problem.wholeRows || getMmaResidentBlocks(problem, config, target) > 1)
    return;
  config.blocks = getClusterSlots(config.multicast, target);
  int64_t blocks = config.blocks / config.multicast;
  int64_t tiles = getTiles(problem, config);
  // Fewer tiles than blocks are left to splits, whose blocks are in step and
  // finish a part each.
  if (getSharedTiles(problem, config) == 0 || tiles < blocks ||
      tiles > kMostRounds * blocks)
    return;
  TileTimes times = getTileTimes(problem, config, target);
  config.stream = std::clamp<int64_t>(
      std::llround(times.epilogue / times.alone), 1, kMostFinish);
  configs.push_back(config);
}

/// Adds the form of `config` in which the blocks that share the depth of a tile
/// are no cluster, when all blocks of the grid run at the same time, and
/// clusters of them would not.
static void addApart(llvm::SmallVectorImpl<MmaConfig> &configs,
                     const MmaProblem &problem, MmaConfig config,
                     const TargetInfo &target) {
  constexpr int64_t kMaxStages = 8;
  int64_t blocks = getTiles(problem, config) * config.split;
  if (config.split == 1 || !problem.isStatic || blocks > target.numSMs ||
      blocks <= getClusterSlots(config.split, target))
    return;
  config.apart = true;
  config.blocks = 0;
  int64_t own = config.columns / config.split;
  config.chunk = own > 64 ? 64 : 0;
  // No room for the sums of others: more stages.
  config.stages = 0;
  int64_t room = target.maxSharedPerBlock - kSharedReserve -
                 getMmaSharedBytes(problem, config);
  config.stages =
      std::min<int64_t>(kMaxStages, room / stageBytes(problem, config));
  if (config.stages >= 2)
    configs.push_back(config);
}

/// Adds the forms of `config` in which two groups of its warps take turns at
/// tiles, when there are tiles for both and shared memory for what each has for
/// itself: less in parts of fewer columns.
static void addGroups(llvm::SmallVectorImpl<MmaConfig> &configs,
                      const MmaProblem &problem, MmaConfig config,
                      const TargetInfo &target) {
  constexpr int64_t kWarpgroup = 4, kLeastAccumulators = 64, kMaxStages = 8;
  int64_t tiles = llvm::divideCeil(problem.rows, config.rows) *
                  llvm::divideCeil(problem.columns, config.columns) *
                  problem.batch;
  if (config.warps != kWarpgroup || config.split > 1 ||
      tiles <= target.numSMs ||
      config.rows * config.columns * problem.sums <
          kLeastAccumulators * kWarpgroup * 32)
    return;
  // Tiles of other parts were slower than predicted (512x14336x4096 with 224
  // columns: 108 us, and 92 otherwise).
  if (!llvm::isPowerOf2_64(config.columns) && config.columns != 160 &&
      config.columns != 192)
    return;
  // Half the columns of a tile are twice the members, and what a group computes
  // beside the other's products takes longer than the waits it hides (layer
  // norm of 8192x4096x4096: 453 us, and 393 with one group of twice the tile).
  if (config.getPanel(problem) > 1)
    return;
  // Computing an operand takes the warps of both groups.
  for (int64_t bits : problem.storedBits)
    if (bits != problem.elementBits)
      return;
  config.groups = 2;
  std::optional<int64_t> blocks =
      getGridBlocks(problem, config, tiles, target.numSMs);
  if (!blocks || *blocks == 0)
    return;
  config.blocks = *blocks;
  for (int64_t part : {64, 32}) {
    if (part >= config.columns && part != 64)
      continue;
    config.chunk = part < config.columns ? part : 0;
    if (config.chunk % problem.granules[1])
      continue;
    config.stages = 0;
    int64_t room = target.maxSharedPerBlock - kSharedReserve -
                   getMmaSharedBytes(problem, config);
    config.stages =
        std::min<int64_t>(kMaxStages, room / stageBytes(problem, config));
    if (config.stages >= 3)
      configs.push_back(config);
    if (config.stages > 4 && !llvm::isPowerOf2_64(config.stages)) {
      config.stages = 4;
      configs.push_back(config);
    }
  }
}

/// Columns of the epilogue at a time. Fewer leave room for another stage where
/// tiles of several parts have buffers for chunks of several widths.
static llvm::SmallVector<int64_t, 2> getChunks(const MmaConfig &config) {
  constexpr int64_t kNarrowChunk = 32;
  llvm::SmallVector<int64_t, 2> chunks{config.chunk};
  if (config.chunk > kNarrowChunk && !llvm::isPowerOf2_64(config.columns) &&
      config.columns % kNarrowChunk == 0)
    chunks.push_back(kNarrowChunk);
  return chunks;
}

/// Adds `config` with the stages that fit, at most `most`, and its forms in
/// which blocks share tiles or load together.
static void addStages(llvm::SmallVectorImpl<MmaConfig> &configs,
                      const MmaProblem &problem, MmaConfig config, int64_t most,
                      int64_t tiles, const TargetInfo &target) {
  // All of shared memory for one block, or half of it for each of two.
  int64_t last = 0;
  for (int64_t room :
       {target.maxSharedPerBlock,
        target.sharedPerSM / 2 - target.reservedSharedPerBlock}) {
    // Tiles of several parts have a buffer of each width: of those that wait
    // for their copy, a second gives way to a stage.
    bool hasParts = !llvm::isPowerOf2_64(config.columns) &&
                    room == target.maxSharedPerBlock;
    config.stages = 0;
    config.staging = hasParts ? 1 : 2;
    int64_t bytes = room - kSharedReserve - getMmaSharedBytes(problem, config);
    config.stages = std::min(most, bytes / stageBytes(problem, config));
    config.staging = 2;
    if (hasParts && getMmaSharedBytes(problem, config) > room)
      config.staging = 1;
    if (config.stages < 2 || config.stages == last ||
        // Half of it has to be worth while.
        (last && config.stages < std::min<int64_t>(3, most)))
      continue;
    last = config.stages;
    int64_t slots =
        target.numSMs * getMmaResidentBlocks(problem, config, target);
    config.blocks = 0;
    if (config.split == 1) {
      std::optional<int64_t> blocks =
          getGridBlocks(problem, config, tiles, slots);
      if (!blocks)
        continue;
      config.blocks = *blocks;
    }
    configs.push_back(config);
    addStream(configs, problem, config, target);
    size_t before = configs.size();
    addMulticast(configs, problem, config, 2, target);
    if (configs.size() > before)
      addStream(configs, problem, configs[before], target);
    addMulticast(configs, problem, config, 4, target);
  }
}

/// Adds tiles of three groups of 64 rows, each with a multiple of the columns'
/// granule: more rows than columns, so that fewer operands are read.
static void addRowGroups(llvm::SmallVectorImpl<MmaConfig> &configs,
                         const MmaProblem &problem, int64_t depth,
                         const TargetInfo &target) {
  constexpr int64_t kGroups = 3, kGroupRows = 64, kMaxStages = 8;
  // What setmaxnreg gives twelve warps beside four of producers, and what the
  // model may be short of.
  constexpr int64_t kMostRegisters = 160 - 12;
  if (problem.rows <= 2 * kGroupRows || problem.granules[0] > 1 ||
      problem.granules[1] > 1 || problem.wholeRows || problem.taps > 1)
    return;
  // Shorter contractions, of 1x1 convolutions, were not measured.
  if (llvm::divideCeil(problem.depth, depth) < kDeepChunks)
    return;
  // Each group would compute an operand of the columns for itself.
  for (int64_t bits : problem.storedBits)
    if (bits != problem.elementBits)
      return;
  for (int64_t columns : {128, 160, 176, 192}) {
    if (columns >= 2 * int64_t(llvm::PowerOf2Ceil(problem.columns)) ||
        !problem.holdsSpans(kGroups * kGroupRows, columns, /*split=*/1))
      continue;
    MmaConfig config;
    config.rows = kGroups * kGroupRows;
    config.columns = columns;
    config.depth = depth;
    config.warps = 4;
    config.rowGroups = kGroups;
    if (getMmaColumns(problem, config).multiplied > columns)
      continue;
    config.blocks =
        getTiles(problem, config) > target.numSMs ? target.numSMs : 0;
    // Four stages and a buffer of the results for each group are a little
    // better than three and two (3072x3072x3072: 78.8 us and 79.4).
    for (auto [chunk, staging] :
         {std::pair(64, 1), std::pair(64, 2), std::pair(32, 2)}) {
      config.chunk = columns > chunk ? chunk : 0;
      config.staging = staging;
      config.stages = 0;
      int64_t room = target.maxSharedPerBlock - kSharedReserve -
                     getMmaSharedBytes(problem, config);
      config.stages =
          std::min<int64_t>(kMaxStages, room / stageBytes(problem, config));
      config.staging = 2;
      if (getMmaSharedBytes(problem, config) > target.maxSharedPerBlock)
        config.staging = 1;
      if (config.stages >= 3 &&
          getMmaRegisters(problem, config) <= kMostRegisters)
        configs.push_back(config);
    }
  }
}

/// Rows of tiles that blocks walk together where tiles are wide.
static constexpr int64_t kWideGroup = 16;

/// True where so many rows at a time are nearer to a square: blocks read fewer
/// operands from memory (4096x4096x4096 by 128x256: 145 MB, by eight rows 186),
/// which takes 0.1 to 0.9 % less time in 13 of 14 products measured. Only where
/// they divide the rows, so that finding a tile needs no division.
static bool walksManyRows(const MmaProblem &problem, const MmaConfig &config) {
  constexpr int64_t kWideColumns = 256, kRows = 128;
  return config.columns == kWideColumns && config.rows == kRows &&
         config.split == 1 && problem.isStatic && problem.taps == 1 &&
         !problem.grouped &&
         llvm::divideCeil(problem.rows, config.rows) % kWideGroup == 0;
}

llvm::SmallVector<MmaConfig> fusion::getWgmmaConfigs(const MmaProblem &problem,
                                                     const TargetInfo &target) {
  llvm::SmallVector<MmaConfig> configs;
  constexpr int64_t kMaxAccumulators = 128;
  int64_t depth =
      std::min<int64_t>(1024 / problem.elementBits,
                        std::max<int64_t>(llvm::PowerOf2Ceil(problem.depth),
                                          256 / problem.elementBits));
  for (int64_t rows : {64, 128, 256})
    for (int64_t columns : {16, 32, 64, 128, 144, 160, 176, 192, 224, 256})
      for (int64_t warps : {4, 8})
        for (int64_t split : {1, 2, 4, 8}) {
          MmaConfig config;
          config.rows = rows;
          config.columns = columns;
          config.depth = depth;
          config.warps = warps;
          config.split = split;
          // Tiles of a panel follow each other.
          if (config.getPanel(problem) > 1)
            config.group = 1;
          else if (walksManyRows(problem, config))
            config.group = kWideGroup;
          config.chunk = columns > 64 && split == 1 ? 64 : 0;
          if (!llvm::isPowerOf2_64(columns)) {
            // Parts of their own; narrower ones are a chunk each. One that no
            // instruction reads with others was never worth it.
            if (split > 1 || problem.wholeRows || problem.granules[1] > 1 ||
                getMmaColumns(problem, config).multiplied > columns)
              continue;
            // Widths that were measured with long contractions only, or where
            // rows begin anywhere in lines.
            int64_t chunks = llvm::divideCeil(problem.depth, depth);
            if (columns != 160 && columns != 192 &&
                (problem.taps > 1 || problem.elementBits != 16 ||
                 (chunks < kDeepChunks && !problem.straddles[1])))
              continue;
            config.chunk = 64;
          }
          // Tiles, and what the epilogue has at a time, hold whole granules.
          if (rows % problem.granules[0] || columns % problem.granules[1] ||
              !problem.holdsSpans(rows, columns, split) ||
              (split > 1 && (problem.hasGranules() || problem.wholeRows)) ||
              (problem.wholeRows && columns < problem.columns &&
               (!problem.panels || !problem.isStatic ||
                problem.columns % columns != 0)))
            continue;
          if (config.chunk % problem.granules[1])
            config.chunk = 0;
          int64_t accumulators = rows * columns * problem.sums / (warps * 32);
          if (rows < 16 * warps || accumulators > kMaxAccumulators ||
              (rows > 128 && warps < 8) || columns / split < 8)
            continue;
          if (columns > 16 &&
              columns >= 2 * int64_t(llvm::PowerOf2Ceil(problem.columns)))
            continue;
          if (rows > 64 &&
              rows >= 2 * int64_t(llvm::PowerOf2Ceil(problem.rows)))
            continue;
          int64_t chunks =
              llvm::divideCeil(problem.depth, depth) * problem.taps;
          // The blocks of a cluster share the chunks of every tap.
          if (split > 1 && (chunks < 4 * split ||
                            llvm::divideCeil(problem.depth, depth) < split))
            continue;
          int64_t most = std::min<int64_t>(
              8, std::max<int64_t>(llvm::divideCeil(chunks, split), 2));
          int64_t tiles = llvm::divideCeil(problem.rows, rows) *
                          llvm::divideCeil(problem.columns, columns) *
                          problem.batch;
          for (int64_t chunk : getChunks(config)) {
            config.chunk = chunk;
            addStages(configs, problem, config, most, tiles, target);
          }
          addGroups(configs, problem, config, target);
          addApart(configs, problem, config, target);
        }
  addRowGroups(configs, problem, depth, target);
  // Each is priced once; equal ones keep their order.
  llvm::SmallVector<std::pair<double, size_t>> order;
  for (auto [number, config] : llvm::enumerate(configs))
    order.push_back({getMmaSeconds(problem, config, target), number});
  llvm::sort(order);
  llvm::SmallVector<MmaConfig> sorted;
  for (auto [seconds, number] : order)
    sorted.push_back(configs[number]);
  return sorted;
}

MmaConfig fusion::getMmaSyncConfig(const MmaProblem &problem,
                                   const TargetInfo &target) {
  constexpr int64_t kMaxStages = 4;
  // f32 does more to an operand than to read it: fewer warps share one, and
  // steps are longer (2048 to f32's precision: 128x64x32 by 4 warps 311 us,
  // 128x128x16 by 8 warps 337 us).
  bool single = problem.elementBits == 32;
  int64_t depthBytes = single ? 128 : 64, residentBlocks = single ? 3 : 2;
  auto fit = [](int64_t size, int64_t least, int64_t most) {
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(size, 1)),
                               least, most);
  };
  MmaConfig config;
  config.depth = fit(problem.depth, 256 / problem.elementBits,
                     depthBytes * 8 / problem.elementBits);
  int64_t least[2];
  for (unsigned side = 0; side < 2; ++side)
    least[side] = std::max<int64_t>(
        16, std::max(problem.granules[side], problem.spans[side]));
  if (problem.wholeRows)
    least[1] = std::max<int64_t>(
        least[1], llvm::PowerOf2Ceil(std::max<int64_t>(problem.columns, 1)));
  config.rows = fit(problem.rows, least[0], 128);
  config.columns =
      fit(problem.columns, least[1],
          std::max<int64_t>(least[1], problem.sums > 1 || single ? 64 : 128));
  // Accumulators of a thread.
  while (config.rows * config.columns > 128 * 128 && config.rows > least[0])
    config.rows /= 2;
  config.chunk = 0;
  config.group = config.rows < 64 ? 1 : 8;
  auto tiles = [&] {
    return llvm::divideCeil(problem.rows, config.rows) *
           llvm::divideCeil(problem.columns, config.columns) * problem.batch;
  };
  // Halves the larger side, or the other one where it must stay.
  auto shrink = [&] {
    bool narrower = config.columns >= config.rows;
    if ((narrower ? config.columns : config.rows) <= least[narrower])
      narrower = !narrower;
    int64_t &side = narrower ? config.columns : config.rows;
    if (side <= least[narrower])
      return false;
    side /= 2;
    return true;
  };
  while (int64_t(tiles()) < target.numSMs &&
         config.rows * config.columns > 1024 && shrink()) {
  }
  auto setWarps = [&] {
    config.warps = config.rows * config.columns >= 128 * 128 ? 8
                   : config.rows * config.columns >= 1024    ? 4
                                                             : 2;
  };
  setWarps();
  // What no copy brings takes registers: smaller tiles rather than spills.
  constexpr int64_t kMostRegisters = 232;
  while (getMmaSyncRegisters(problem, config) > kMostRegisters &&
         config.rows * config.columns > 1024 && shrink())
    setWarps();
  int64_t bits = config.rows * problem.storedBits[0] +
                 config.columns * problem.storedBits[1] * problem.sums;
  int64_t stage = bits * config.depth / 8;
  // Several blocks of a multiprocessor, where they fit.
  config.stages = std::clamp<int64_t>(target.sharedPerSM / residentBlocks /
                                          std::max<int64_t>(stage, 1),
                                      2, kMaxStages);
  return config;
}
