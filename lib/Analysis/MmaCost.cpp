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

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Bytes that a block cannot have: barriers and alignment of its buffers.
static constexpr int64_t kSharedReserve = 2048;

/// Stages of the rings that bring in tiles of the epilogue, how many such rings
/// there are at most, and the shortest rows that are worth copying.
static constexpr int64_t kEpilogueStages = 2, kMaxEpilogueRings = 3,
                         kLeastRowBytes = 32;
/// Rows of shared memory lie across all banks; larger ones are split.
static constexpr int64_t kBankRowBytes = 128;
/// The two barriers of a stage, and those of a cluster.
static constexpr int64_t kBarrierBytes = 16;

namespace {
/// A buffer or a ring in shared memory.
struct SharedPiece {
  int64_t bytes;
  int64_t alignment;
};
} // namespace

/// A tile of `rows` rows of `rowBytes` each. Its swizzle repeats after eight
/// rows.
static SharedPiece getTile(int64_t rows, int64_t rowBytes) {
  return {rows * rowBytes, 8 * std::min(rowBytes, kBankRowBytes)};
}

/// `stages` times the tiles of `stage`, each where copies want it.
static SharedPiece getRing(llvm::ArrayRef<SharedPiece> stage, int64_t stages) {
  int64_t bytes = 0, alignment = kBankRowBytes;
  for (const SharedPiece &tile : stage) {
    int64_t own = std::max(tile.alignment, kBankRowBytes);
    bytes = llvm::alignTo(bytes, own) + tile.bytes;
    alignment = std::max(alignment, own);
  }
  bytes = llvm::alignTo(bytes, alignment);
  return {stages * (bytes + kBarrierBytes), alignment};
}

//===----------------------------------------------------------------------===//
// Constants, fitted on sm_90a on 2026-11-21 to 192 kernels of 22 shapes (mean
// error 11 %; docs/CostModel.md)
//===----------------------------------------------------------------------===//

/// Share of the chip's product rate that a multiprocessor alone reaches.
static constexpr double kProductRate = 1.078;
/// Growth of the products' time for each 128 columns that a row lacks.
static constexpr double kNarrowCost = 0.112;
/// Bytes a clock that the copy engine brings to one multiprocessor.
static constexpr double kFeedBytesPerClock = 72;
/// From a stage's release to its next use.
static constexpr double kFeedLatency = 1.37e-6;
/// Of the epilogue: what it costs at all, and an element with its operations
/// and bytes.
static constexpr double kEpilogueSeconds = 0.86e-6, kClocksPerElement = 7.2,
                        kClocksPerOp = 1.06, kClocksPerByte = 1.5, kLanes = 128;
/// Of an element of an operand that is not multiplied as it is in memory.
static constexpr double kClocksPerConversion = 14;
/// Of a sum shared by a cluster.
static constexpr double kClusterSeconds = 4.8e-6;
/// Share of the memory's rate that operands and results reach.
static constexpr double kTrafficShare = 0.9;
/// From launch to the first product and from the last store to the end.
static constexpr double kStartSeconds = 5.2e-6;

static int64_t stageBytes(const MmaProblem &problem, const MmaConfig &config) {
  int64_t bits = config.rows * problem.storedBits[0] * problem.operands[0] +
                 config.columns * problem.storedBits[1] * problem.operands[1];
  return bits * config.depth / 8;
}

static int64_t epilogueColumns(const MmaConfig &config) {
  int64_t columns = config.columns / config.split;
  return config.chunk ? std::min(config.chunk, columns) : columns;
}

/// What a block keeps in shared memory, in the order of allocation.
static llvm::SmallVector<SharedPiece> getPieces(const MmaProblem &problem,
                                                const MmaConfig &config) {
  llvm::SmallVector<SharedPiece> pieces;
  // Partial sums of a cluster, f32.
  if (config.split > 1)
    pieces.append(problem.sums,
                  {config.rows * config.columns * 4, kBankRowBytes});
  int64_t columns = epilogueColumns(config);
  int64_t chunks = config.columns / config.split / columns;
  for (const MmaTiles &tiles : problem.copiedWrites)
    if (columns * tiles.bytes >= kLeastRowBytes)
      // While one buffer is written to memory, the next is filled.
      pieces.append(std::min<int64_t>(tiles.count * chunks, 2),
                    getTile(config.rows, columns * tiles.bytes));
  llvm::SmallVector<SharedPiece> stage;
  for (unsigned side = 0; side < 2; ++side) {
    int64_t own = side == 0 ? config.rows : config.columns;
    int64_t rows = own, row = config.depth;
    if (problem.transposed[side])
      std::swap(rows, row);
    stage.append(problem.operands[side],
                 getTile(rows, row * problem.storedBits[side] / 8));
  }
  pieces.push_back(getRing(stage, config.stages));
  int64_t rings = 0;
  for (const MmaTiles &tiles : problem.copiedReads)
    if (columns * tiles.bytes >= kLeastRowBytes && rings++ < kMaxEpilogueRings)
      pieces.push_back(getRing(getTile(config.rows, columns * tiles.bytes),
                               kEpilogueStages));
  // What is not copied goes through shared memory for a moment, to the threads
  // that want it: one place for all, unless there is little of it.
  if (problem.exchangedBytes) {
    constexpr int64_t kPlentiful = 16 * 1024;
    int64_t bytes = config.rows * columns * problem.exchangedBytes;
    int64_t places = bytes * chunks * problem.exchanged <= kPlentiful
                         ? chunks * problem.exchanged
                         : 1;
    pieces.append(places, {bytes, 16});
  }
  return pieces;
}

int64_t fusion::getMmaSharedBytes(const MmaProblem &problem,
                                  const MmaConfig &config) {
  // All live throughout: one after the other, larger ones first.
  llvm::SmallVector<SharedPiece> pieces = getPieces(problem, config);
  llvm::stable_sort(pieces, [](const SharedPiece &a, const SharedPiece &b) {
    return a.bytes > b.bytes;
  });
  int64_t total = 0;
  for (const SharedPiece &piece : pieces)
    total = llvm::alignTo(total, piece.alignment) + piece.bytes;
  if (config.split > 1)
    total = llvm::alignTo(total, 8) + kBarrierBytes;
  return total;
}

int64_t fusion::getMmaResidentBlocks(const MmaProblem &problem,
                                     const MmaConfig &config,
                                     const TargetInfo &target) {
  int64_t shared = getMmaSharedBytes(problem, config) + kSharedReserve;
  if (config.warps > 4)
    return 1;
  // The producer's warp has as many as the others: none are moved.
  int64_t registers = llvm::alignTo(getMmaRegisters(problem, config), 8) *
                      (config.warps + 1) * 32;
  return std::max<int64_t>(
      1, std::min({target.sharedPerSM / shared,
                   target.registersPerSM / registers, int64_t(2)}));
}

double fusion::getMmaSeconds(const MmaProblem &problem, const MmaConfig &config,
                             const TargetInfo &target) {
  double tiles = double(llvm::divideCeil(problem.rows, config.rows)) *
                 llvm::divideCeil(problem.columns, config.columns) *
                 problem.batch;
  double chunks =
      double(llvm::divideCeil(llvm::divideCeil(problem.depth, config.depth),
                              config.split)) *
      problem.taps;
  double resident = getMmaResidentBlocks(problem, config, target);
  double perSM = std::ceil(tiles / std::floor(target.numSMs / config.split));

  // One chunk: the tensor cores' time, or that of feeding them, on one
  // multiprocessor. Narrow instructions read their operands for less work.
  double groups = config.warps / 4.0;
  double columns =
      config.rows >= 64 * groups ? config.columns : config.columns / groups;
  double narrow =
      std::max(0.0, 128.0 / std::min(columns * problem.sums, 256.0) - 0.5);
  double flops =
      2.0 * config.rows * config.columns * config.depth * problem.sums;
  double products = flops /
                    (kProductRate * target.tensorFlopsPerSecond /
                     target.numSMs * 16.0 / problem.elementBits) *
                    (1 + kNarrowCost * narrow);
  double chunk = std::max(products, stageBytes(problem, config) /
                                        (kFeedBytesPerClock * target.clockHz));
  // An operand that is computed goes through registers, element by element.
  double computed = 0;
  for (auto [bits, size] :
       {std::pair(problem.storedBits[0], config.rows),
        std::pair(problem.storedBits[1], config.columns * problem.sums)})
    if (bits != problem.elementBits)
      computed += double(size) * config.depth;
  chunk += computed * kClocksPerConversion / (kLanes * target.clockHz);
  // A stage is filled again one latency after it was read.
  double alone = std::max(chunk, (kFeedLatency + products) / config.stages);

  double elements = double(config.rows) * config.columns * problem.sums;
  double perElement =
      kClocksPerElement + kClocksPerOp * problem.epilogueOps +
      kClocksPerByte * (problem.epilogueReadBytes + problem.epilogueWriteBytes);
  double epilogue = kEpilogueSeconds + elements / config.split * perElement /
                                           (kLanes * target.clockHz);
  if (config.split > 1)
    epilogue += kClusterSeconds;

  // Blocks that share a multiprocessor take turns at its tensor cores; while
  // one is in its epilogue, the others are not.
  double time = perSM * (chunks * alone + epilogue);
  double together = std::min(resident, perSM);
  if (together >= 2)
    time = std::ceil(perSM / together) *
           std::max(together * chunks * chunk, chunks * alone + epilogue);
  double bytes = problem.batch *
                 (double(problem.rows) * problem.depth * problem.storedBits[0] /
                      8 * problem.operands[0] +
                  double(problem.columns) * problem.depth *
                      problem.storedBits[1] / 8 * problem.operands[1] +
                  double(problem.rows) * problem.columns *
                      (problem.epilogueReadBytes + problem.epilogueWriteBytes));
  return std::max(time, bytes / (kTrafficShare * target.dramBytesPerSecond)) +
         kStartSeconds;
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
    for (int64_t columns : {16, 32, 64, 128, 256})
      for (int64_t warps : {4, 8})
        for (int64_t split : {1, 2, 4, 8}) {
          MmaConfig config;
          config.rows = rows;
          config.columns = columns;
          config.depth = depth;
          config.warps = warps;
          config.split = split;
          config.chunk = columns > 64 && split == 1 ? 64 : 0;
          // Narrower chunks where vectors along the columns would spill: what
          // remains of 64 Ki registers beside a warpgroup of producers, or
          // what one thread can name, with room for the error of the model.
          int64_t registers = warps >= 8 ? 232 : 248;
          while (config.chunk > 16 &&
                 getMmaRegisters(problem, config) > registers)
            config.chunk /= 2;
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
          // All of shared memory for one block, or half of it for each of two.
          int64_t last = 0;
          for (int64_t room :
               {target.maxSharedPerBlock,
                target.sharedPerSM / 2 - target.reservedSharedPerBlock}) {
            config.stages = 0;
            room -= kSharedReserve + getMmaSharedBytes(problem, config);
            config.stages = std::min(most, room / stageBytes(problem, config));
            if (config.stages < 2 || config.stages == last)
              continue;
            last = config.stages;
            int64_t slots =
                target.numSMs * getMmaResidentBlocks(problem, config, target);
            config.blocks = split == 1 && tiles > slots ? slots : 0;
            configs.push_back(config);
          }
        }
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
  constexpr int64_t kDepthBytes = 64, kMaxStages = 4;
  auto fit = [](int64_t size, int64_t least, int64_t most) {
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(size, 1)),
                               least, most);
  };
  MmaConfig config;
  config.depth = fit(problem.depth, 256 / problem.elementBits,
                     kDepthBytes * 8 / problem.elementBits);
  config.rows = fit(problem.rows, 16, 128);
  config.columns = fit(problem.columns, 16, problem.sums > 1 ? 64 : 128);
  config.chunk = 0;
  config.group = config.rows < 64 ? 1 : 8;
  auto tiles = [&] {
    return llvm::divideCeil(problem.rows, config.rows) *
           llvm::divideCeil(problem.columns, config.columns) * problem.batch;
  };
  while (int64_t(tiles()) < target.numSMs &&
         config.rows * config.columns > 1024) {
    if (config.columns >= config.rows)
      config.columns /= 2;
    else
      config.rows /= 2;
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
         config.rows * config.columns > 1024) {
    (config.columns >= config.rows ? config.columns : config.rows) /= 2;
    setWarps();
  }
  int64_t bits = config.rows * problem.storedBits[0] +
                 config.columns * problem.storedBits[1] * problem.sums;
  int64_t stage = bits * config.depth / 8;
  // Two blocks of a multiprocessor, where they fit.
  config.stages = std::clamp<int64_t>(
      target.sharedPerSM / 2 / std::max<int64_t>(stage, 1), 2, kMaxStages);
  return config;
}
