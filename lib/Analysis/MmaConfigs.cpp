//===- MmaConfigs.cpp - Ways to make a product ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for configurations of a product on tensor
// cores: which are tried, and in which order the model puts them.
//
//===----------------------------------------------------------------------===//

#include "MmaPrices.h"

#include "fusion/Analysis/CostModel.h"
#include "fusion/Analysis/MovedRegisters.h"
#include "fusion/Executable/PackageModel.h"
#include "fusion/Support/PanelFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::pricing;

/// Stages of the ring that feeds the products, at most: more take memory and
/// hide nothing.
static constexpr int64_t kMaxStages = 8;

/// Gives `config` the stages that `room` bytes of shared memory have place for,
/// at most `most`.
static void setStages(const MmaProblem &problem, MmaConfig &config,
                      int64_t most, int64_t room, const TargetInfo &target) {
  config.stages = 0;
  room -= kSharedReserve + getMmaSharedBytes(problem, config, target);
  config.stages = std::min(most, room / getStageBytes(problem, config));
}

/// Blocks of a grid for `tiles` tiles, at most `slots` at a time: those of
/// whole panels; 0 for one a tile, none when there is no room for a panel.
static std::optional<int64_t> getGridBlocks(const MmaProblem &problem,
                                            const MmaConfig &config,
                                            int64_t tiles, int64_t slots) {
  // What each copy of the words may take beside them: its start and its end lie
  // in lines of their own.
  constexpr int64_t kAround = 2 * kLineBytes;
  if (tiles <= slots)
    slots = tiles;
  int64_t panel = config.getPanel(problem);
  int64_t blocks = slots / panel * panel;
  if (panel > fusionpkg::PackageLimits::kMaxTogether || blocks == 0)
    return std::nullopt;
  if (panel > 1) {
    int64_t copies =
        config.groups * (problem.rowReductions > 1 ? problem.rowReductions : 2);
    int64_t words = config.rows * panel * copies;
    if (blocks / panel * (words * kPanelWordBytes + kAround * copies) >
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
      problem.granules[0] > 1 || problem.wholeRows || problem.places == 1 ||
      problem.storedBits[1] != problem.elementBits ||
      getMmaResidentBlocks(problem, config, target) > 1)
    return;
  config.multicast = blocks;
  int64_t slots = getClusterSlots(config.multicast, target);
  config.blocks =
      getTiles(problem, config) * config.multicast > slots ? slots : 0;
  // Four wait for each other longer: where copies are the limit, and no tile
  // waits for another. Not in panels of columns.
  if (blocks > 2 && (!problem.straddles[1] || problem.transposed[1] ||
                     problem.elementBits != 16 || config.blocks ||
                     problem.rows <= 2 * config.rows))
    return;
  config.group = 4;
  configs.push_back(config);
}

/// Blocks that share the depth of a tile, at most.
static constexpr int64_t kMostSplit = 8;

/// True when splits of `tiles` tiles keep two of three of `blocks` blocks busy.
static bool fillsBySplits(int64_t tiles, int64_t blocks) {
  int64_t split = llvm::bit_floor(static_cast<uint64_t>(blocks / tiles));
  return 3 * tiles * std::min(split, kMostSplit) >= 2 * blocks;
}

/// Adds the form of `config` in which blocks share the tiles that make up no
/// whole round of them, when that leaves each of them enough to do.
static void addStream(llvm::SmallVectorImpl<MmaConfig> &configs,
                      const MmaProblem &problem, MmaConfig config,
                      const TargetInfo &target) {
  // What finishing counts for at most.
  constexpr int64_t kMostFinish = 64;
  // Tiles of several parts took longer than predicted. Rows of which copies
  // cut out windows are found from a tile's number, which has to be bounded.
  if (config.split > 1 || problem.places == 0 || config.groups > 1 ||
      !problem.isStatic || !llvm::isPowerOf2_64(config.columns) ||
      problem.taps > 1 || problem.wholeRows ||
      getMmaResidentBlocks(problem, config, target) > 1)
    return;
  config.blocks = getClusterSlots(config.multicast, target);
  int64_t blocks = config.blocks / config.multicast;
  int64_t tiles = getTiles(problem, config);
  // Fewer tiles than blocks are left to splits, whose blocks are in step and
  // finish a part each, unless those leave many idle and parts are long.
  const MmaConstants &fitted = target.fitted.mma;
  if (getSharedTiles(problem, config) == 0 ||
      tiles > fitted.mostStreamRounds * blocks ||
      (tiles < blocks && (fillsBySplits(tiles, blocks) ||
                          tiles * problem.countChunks(config.depth) <
                              fitted.deepChunks * blocks)))
    return;
  TileTimes times = getTileTimes(problem, config, target);
  double finish = times.epilogue;
  if (tiles < blocks)
    finish += getCollectSeconds(problem, config, target);
  config.stream =
      std::clamp<int64_t>(std::llround(finish / times.alone), 1, kMostFinish);
  configs.push_back(config);
}

/// Whether the last windows of images that are contracted, `chunk` at a time,
/// are masked: their operand is held by threads then, as rows of the products,
/// of which blocks can have no parts of the columns.
static bool masksPlaces(const MmaProblem &problem, int64_t chunk) {
  return problem.places && (!problem.isStatic || problem.depth % chunk != 0);
}

/// Adds the form of `config` in which the blocks that share the depth of a tile
/// are no cluster, when all blocks of the grid run at the same time, and
/// clusters of them would not.
static void addApart(llvm::SmallVectorImpl<MmaConfig> &configs,
                     const MmaProblem &problem, MmaConfig config,
                     const TargetInfo &target) {
  int64_t blocks = getTiles(problem, config) * config.split;
  if (config.split == 1 || !problem.isStatic || blocks > target.numSMs ||
      blocks <= getClusterSlots(config.split, target))
    return;
  config.apart = true;
  config.blocks = 0;
  int64_t own = config.columns / config.split;
  config.chunk = own > kEpilogueChunk ? kEpilogueChunk : 0;
  // No room for the sums of others: more stages.
  setStages(problem, config, kMaxStages, target.maxSharedPerBlock, target);
  if (config.stages >= 2)
    configs.push_back(config);
}

/// Adds the forms of `config` in which two groups of its warps take turns at
/// tiles, when there are tiles for both and shared memory for what each has for
/// itself: less in parts of fewer columns.
static void addGroups(llvm::SmallVectorImpl<MmaConfig> &configs,
                      const MmaProblem &problem, MmaConfig config,
                      const TargetInfo &target) {
  int64_t tiles = llvm::divideCeil(problem.rows, config.rows) *
                  llvm::divideCeil(problem.columns, config.columns) *
                  problem.batch;
  if (config.warps != kWarpgroupWarps || config.split > 1 ||
      tiles <= target.numSMs ||
      config.rows * config.columns * problem.sums <
          kLeastMovedSums * kWarpgroupWarps * kWarpThreads)
    return;
  // Tiles of other parts were slower than predicted.
  if (!llvm::isPowerOf2_64(config.columns) && config.columns != 160 &&
      config.columns != 192)
    return;
  // Half the columns of a tile are twice the members, and what a group computes
  // beside the other's products takes longer than the waits it hides.
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
    setStages(problem, config, kMaxStages, target.maxSharedPerBlock, target);
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
    config.staging = hasParts ? 1 : 2;
    setStages(problem, config, most, room, target);
    config.staging = 2;
    if (hasParts && getMmaSharedBytes(problem, config, target) > room)
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
  constexpr int64_t kGroups = 3, kGroupRows = 64;
  constexpr int64_t kMostRegisters =
      getMovedRegisters(kGroups * kWarpgroupWarps, /*holdsOperands=*/false)
          .consumer -
      cost::kRegisterError;
  if (problem.rows <= 2 * kGroupRows || problem.granules[0] > 1 ||
      problem.granules[1] > 1 || problem.wholeRows || problem.taps > 1)
    return;
  if (llvm::divideCeil(problem.depth, depth) < target.fitted.mma.deepChunks)
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
    // better than three and two.
    for (auto [chunk, staging] :
         {std::pair(64, 1), std::pair(64, 2), std::pair(32, 2)}) {
      config.chunk = columns > chunk ? chunk : 0;
      config.staging = staging;
      setStages(problem, config, kMaxStages, target.maxSharedPerBlock, target);
      config.staging = 2;
      if (getMmaSharedBytes(problem, config, target) > target.maxSharedPerBlock)
        config.staging = 1;
      if (config.stages >= 3 &&
          getMmaRegisters(problem, config) <= kMostRegisters)
        configs.push_back(config);
    }
  }
}

/// True where `wideGroup` rows of tiles at a time are nearer to a square, so
/// that blocks read fewer operands from memory. Only where they divide the
/// rows, so that finding a tile needs no division.
static bool walksManyRows(const MmaProblem &problem, const MmaConfig &config,
                          int64_t wideGroup) {
  constexpr int64_t kWideColumns = 256, kRows = 128;
  return config.columns == kWideColumns && config.rows == kRows &&
         config.split == 1 && problem.isStatic && problem.taps == 1 &&
         !problem.grouped &&
         llvm::divideCeil(problem.rows, config.rows) % wideGroup == 0;
}

/// Registers that a thread of `config` can have.
static int64_t getMostRegisters(const MmaConfig &config) {
  int64_t warps = config.getTileWarps() * config.groups;
  return warps <= kWarpgroupWarps
             ? kMaxThreadRegisters
             : getMovedRegisters(warps, /*holdsOperands=*/false).consumer;
}

/// True when the tile of `config` may be one of several parts: each begins with
/// a line of channels where copies of windows take whole ones.
static bool takesParts(const MmaProblem &problem, const MmaConfig &config) {
  bool splitsLines = problem.places == 1 &&
                     config.columns * problem.elementBits / 8 % kLineBytes != 0;
  return config.split == 1 && !problem.wholeRows && problem.granules[1] == 1 &&
         !splitsLines &&
         getMmaColumns(problem, config).multiplied <= config.columns;
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
        for (int64_t split = 1; split <= kMostSplit; split *= 2) {
          MmaConfig config;
          config.rows = rows;
          config.columns = columns;
          config.depth = depth;
          config.warps = warps;
          config.split = split;
          // Tiles of a panel follow each other.
          if (config.getPanel(problem) > 1)
            config.group = 1;
          else if (walksManyRows(problem, config, target.fitted.mma.wideGroup))
            config.group = target.fitted.mma.wideGroup;
          config.chunk =
              columns > kEpilogueChunk && split == 1 ? kEpilogueChunk : 0;
          if (!llvm::isPowerOf2_64(columns)) {
            // Parts of their own; narrower ones are a chunk each. One that no
            // instruction reads with others was never worth it.
            if (!takesParts(problem, config))
              continue;
            // Nor is loading more than is multiplied, unless many rows share
            // it.
            if (rows <= 64 && getMmaColumns(problem, config).loaded > columns)
              continue;
            // Widths that were measured with long contractions only, or where
            // rows begin anywhere in lines.
            int64_t chunks = llvm::divideCeil(problem.depth, depth);
            if (columns != 160 && columns != 192 &&
                (problem.taps > 1 || problem.elementBits != 16 ||
                 (chunks < target.fitted.mma.deepChunks &&
                  !problem.straddles[1])))
              continue;
            config.chunk = kEpilogueChunk;
          }
          // Tiles, and what the epilogue has at a time, hold whole granules.
          if (rows % problem.granules[0] || columns % problem.granules[1] ||
              !problem.holdsSpans(rows, columns, split) ||
              (split > 1 && (problem.hasGranules() || problem.wholeRows ||
                             masksPlaces(problem, depth))) ||
              (problem.wholeRows && columns < problem.columns &&
               (!problem.panels || !problem.isStatic ||
                problem.columns % columns != 0)))
            continue;
          if (config.chunk % problem.granules[1])
            config.chunk = 0;
          int64_t accumulators =
              rows * columns * problem.sums / (warps * kWarpThreads);
          if (rows < 16 * warps || accumulators > kMaxAccumulators ||
              (rows > 128 && warps < 8) || columns / split < 8)
            continue;
          if (columns > 16 &&
              columns >= 2 * int64_t(llvm::PowerOf2Ceil(problem.columns)))
            continue;
          if (rows > 64 &&
              rows >= 2 * int64_t(llvm::PowerOf2Ceil(problem.rows)))
            continue;
          int64_t chunksOfTap = llvm::divideCeil(problem.depth, depth);
          int64_t chunks = chunksOfTap * problem.taps;
          // The blocks of a cluster share the chunks of every tap.
          if (split > 1 && (chunks < 4 * split || chunksOfTap < split))
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
  // What is kept of earlier products must not spill.
  if (problem.keptBits)
    llvm::erase_if(configs, [&](const MmaConfig &config) {
      return getMmaRegisters(problem, config) >
             getMostRegisters(config) - cost::kRegisterError;
    });
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

/// Bytes of the largest element of which the epilogue reads or writes tiles.
static int64_t getWidestElement(const MmaProblem &problem) {
  int64_t widest = problem.exchangedBytes;
  for (const MmaTiles &tiles : problem.copiedReads)
    widest = std::max(widest, tiles.bytes);
  for (const MmaTiles &tiles : problem.copiedWrites)
    widest = std::max(widest, tiles.bytes);
  return widest;
}

/// Halves sides of the tiles of `config` where the multiprocessor that has the
/// most of them has less to do then: tiles beyond the end of a result, and a
/// last round that few have, are as dear as others.
static void evenOut(const MmaProblem &problem, ArrayRef<int64_t> least,
                    const TargetInfo &target, MmaConfig &config) {
  const double operandCost = target.fitted.warpProducts.splitOperandCost;
  constexpr int64_t kShortest = 64;
  auto getWork = [&](int64_t rows, int64_t columns) {
    int64_t tiles = llvm::divideCeil(problem.rows, rows) *
                    llvm::divideCeil(problem.columns, columns) * problem.batch;
    return static_cast<double>(llvm::divideCeil(tiles, target.numSMs)) *
           (static_cast<double>(rows * columns) +
            operandCost * static_cast<double>(rows + columns));
  };
  int64_t sides[2] = {config.rows, config.columns};
  double most = getWork(sides[0], sides[1]);
  for (int64_t rows : {sides[0], sides[0] / 2})
    for (int64_t columns : {sides[1], sides[1] / 2})
      if (rows >= std::max(least[0], kShortest) &&
          columns >= std::max(least[1], kShortest) &&
          getWork(rows, columns) < most) {
        most = getWork(rows, columns);
        config.rows = rows;
        config.columns = columns;
      }
}

MmaConfig fusion::getMmaSyncConfig(const MmaProblem &problem,
                                   const TargetInfo &target) {
  constexpr int64_t kMaxSyncStages = 4;
  // f32 does more to an operand than to read it: fewer warps share one, and
  // steps are longer.
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
  // Operands of 16 bits come from L2 about as fast as they are multiplied.
  if (single && int64_t(tiles()) > target.numSMs)
    evenOut(problem, least, target, config);
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
  // A tile of a result goes through shared memory on its way.
  int64_t widest = getWidestElement(problem);
  while (config.rows * config.columns * widest > target.maxSharedPerBlock &&
         shrink())
    setWarps();
  int64_t bits = config.rows * problem.storedBits[0] * problem.sources[0] +
                 config.columns * problem.storedBits[1] * problem.sources[1] *
                     problem.sums;
  int64_t stage = bits * config.depth / 8;
  // Several blocks of a multiprocessor, where they fit.
  config.stages = std::clamp<int64_t>(target.sharedPerSM / residentBlocks /
                                          std::max<int64_t>(stage, 1),
                                      2, kMaxSyncStages);
  return config;
}
