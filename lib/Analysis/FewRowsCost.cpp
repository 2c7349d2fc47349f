//===- FewRowsCost.cpp - Products that few rows make bound by memory ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements schedules of products with few rows and their price. The
// larger operand decides: each of its elements is read once, and a thread reads
// 16 bytes of it at a time.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/FewRowsCost.h"
#include "MmaPrices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

/// Rows and columns of a tile, at least.
static constexpr int64_t kLeastRows = 8, kLeastColumns = 16;
/// Rows of the larger operand that are unpacked from neighbours in memory:
/// eight lanes with eight each.
static constexpr int64_t kLeastUnpacked = 64;
static constexpr int64_t kLoadBits = 8 * kMaxAccessBytes;
/// Bound the search: stages that are tried, and accumulators for which a thread
/// has registers beside what it unpacks.
static constexpr int64_t kMaxStages = 6, kMaxAccumulators = 64;

namespace {
/// A problem seen from its larger operand.
struct Sides {
  explicit Sides(const MmaProblem &problem)
      : large(problem.columns >= problem.rows ? 1 : 0),
        few(large ? problem.rows : problem.columns),
        many(large ? problem.columns : problem.rows),
        fewBits(problem.storedBits[1 - large]),
        manyBits(problem.storedBits[large]),
        fewSources(problem.sources[1 - large]),
        manySources(problem.sources[large]) {}

  unsigned large;
  int64_t few, many;
  int64_t fewBits, manyBits;
  int64_t fewSources, manySources;
};
} // namespace

/// Tiles along the few rows and along the many.
static std::pair<int64_t, int64_t> getTile(const Sides &sides,
                                           const MmaConfig &config) {
  return sides.large ? std::pair(config.rows, config.columns)
                     : std::pair(config.columns, config.rows);
}

static int64_t getStageBytes(const Sides &sides, const MmaConfig &config) {
  auto [few, many] = getTile(sides, config);
  return (few * sides.fewBits * sides.fewSources +
          many * sides.manyBits * sides.manySources) *
         config.depth / 8;
}

/// Of partial sums that warps with parts of the depth add up.
static int64_t getExchangeBytes(int64_t few, int64_t many, int64_t warps) {
  return warps * few * many * 4;
}

int64_t fusion::getFewRowsSharedBytes(const MmaProblem &problem,
                                      const MmaConfig &config) {
  Sides sides(problem);
  auto [few, many] = getTile(sides, config);
  // The exchange takes the place of stages that have been read.
  return std::max(config.stages * getStageBytes(sides, config),
                  getExchangeBytes(few, many, config.warps));
}

double fusion::getFewRowsSeconds(const MmaProblem &problem,
                                 const MmaConfig &config,
                                 const TargetInfo &target) {
  const FewRowsConstants &fitted = target.fitted.fewRows;
  Sides sides(problem);
  auto [few, many] = getTile(sides, config);
  double tiles = double(llvm::divideCeil(sides.few, few)) *
                 llvm::divideCeil(sides.many, many) * problem.batch;
  double depth = problem.depth * problem.taps;
  double elements = depth * many;

  double unique =
      problem.batch *
      (depth * (sides.few * sides.fewBits + sides.many * sides.manyBits) / 8 +
       double(sides.few) * sides.many *
           (problem.epilogueReadBytes + problem.epilogueWriteBytes));
  double requested =
      tiles * depth * (few * sides.fewBits + many * sides.manyBits) / 8;
  double memory = std::max(
      unique / (fitted.trafficShare * target.fitted.rates.dramBytesPerSecond),
      requested / fitted.cacheBytesPerSecond);
  if (problem.transposed[sides.large] &&
      many * sides.manyBits / 8 < fitted.longRowBytes)
    memory /= fitted.shortRowShare;

  // The fullest multiprocessor.
  double perSM = std::ceil(tiles / target.numSMs);
  double clocks = fitted.clocksPerRead * sides.manyBits / 8;
  if (sides.manyBits < problem.elementBits)
    clocks += fitted.clocksPerUnpack;
  double instructions = elements * clocks / kLanesPerSM;
  double products =
      elements * few / fitted.productsPerClock * problem.elementBits / 16.0;
  double work = perSM * (instructions + products) / target.clockHz;
  // Few blocks do not keep enough bytes in flight.
  double busy = std::min(1.0, tiles / target.numSMs);
  return std::max(memory / busy, work) + fitted.startSeconds;
}

/// Adds the tiles of `few` rows that `target` can have.
static void addFewRowsConfigs(const MmaProblem &problem, const Sides &sides,
                              int64_t few, const TargetInfo &target,
                              llvm::SmallVector<MmaConfig> &configs) {
  const FewRowsConstants &fitted = target.fitted.fewRows;
  bool transposed = problem.transposed[sides.large];
  if (few < kLeastRows)
    return;
  for (int64_t many : {16, 32, 64, 128})
    for (int64_t warps : {8, 4}) {
      if (many > kLeastColumns && many >= 2 * sides.many)
        continue;
      if (few * many / kWarpThreads > kMaxAccumulators)
        continue;
      MmaConfig config;
      config.rows = sides.large ? few : many;
      config.columns = sides.large ? many : few;
      config.warps = warps;
      config.split = 1;
      if (!problem.holdsSpans(config.rows, config.columns, config.split) ||
          config.rows % problem.granules[0] ||
          config.columns % problem.granules[1])
        continue;
      config.chunk = config.blocks = 0;
      config.group = 1;
      if (transposed && sides.manyBits < 16 && many < kLeastUnpacked)
        continue;
      // Lanes of one row read 64 bytes of it at a time.
      config.depth = warps * 4 * kLoadBits / sides.manyBits;
      if (config.depth > problem.depth)
        continue;
      int64_t exchange = getExchangeBytes(few, many, warps);
      int64_t room = target.maxSharedPerBlock - kSharedReserve;
      int64_t stage = getStageBytes(sides, config);
      int64_t ahead = llvm::divideCeil(fitted.bytesAhead, stage);
      int64_t steps = problem.depth / config.depth;
      config.stages = std::min(
          {kMaxStages, ahead + 1, room / stage, std::max<int64_t>(steps, 2)});
      if (config.stages >= 2 && exchange <= room)
        configs.push_back(config);
    }
}

llvm::SmallVector<MmaConfig>
fusion::getFewRowsConfigs(const MmaProblem &problem, const TargetInfo &target) {
  const FewRowsConstants &fitted = target.fitted.fewRows;
  Sides sides(problem);
  bool isUnpacked = sides.manyBits < problem.elementBits;
  if (sides.few > (isUnpacked ? fitted.maxUnpackedRows : fitted.maxRows) ||
      problem.sums != 1 || problem.elementBits > 16)
    return {};
  llvm::SmallVector<MmaConfig> configs;
  int64_t all = std::max<int64_t>(llvm::PowerOf2Ceil(sides.few), kLeastRows);
  // Of so many rows that their sums are too many for a thread, half.
  for (int64_t few : {all, all / 2})
    addFewRowsConfigs(problem, sides, few, target, configs);
  llvm::stable_sort(configs, [&](const MmaConfig &a, const MmaConfig &b) {
    return getFewRowsSeconds(problem, a, target) <
           getFewRowsSeconds(problem, b, target);
  });
  return configs;
}
