//===- ScanTiles.cpp - How blocks walk what they scan ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of tiles for scans.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ScanTiles.h"

#include "fusion/Analysis/CostModel.h"
#include "fusion/Analysis/ReductionSplit.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Executable/PackageModel.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;

/// Bytes of an access for which the lanes of a warp take whole sectors.
static constexpr int64_t kLaneBytes = kLineBytes / kWarpThreads;
/// Warps of a block, at most.
static constexpr int64_t kMostWarps = 32;
/// Steps of a walk have no fewer elements of a row, so that a sum is rounded
/// less often than it has terms (docs/Numerics.md).
static constexpr int64_t kLeastTile = 16;

void mlir::fusion::describeStates(const KernelBody &body, ScanSizes &sizes) {
  sizes.stateBytes = sizes.stateWords = 0;
  bool isExchanged = true;
  SmallVector<bool> isBehind;
  for (const BodyInstance &instance : body.getInstances()) {
    auto scan = dyn_cast<ScanOp>(body.getNode(instance).op);
    bool follows = llvm::any_of(instance.producers, [&](unsigned producer) {
      return isBehind[producer];
    });
    isBehind.push_back(follows || scan);
    if (!scan)
      continue;
    sizes.mayRepeat &= !follows;
    std::optional<ScanCombiner> combiner =
        matchScanCombiner(scan.getCombiner().front());
    if (!combiner) {
      sizes.stateBytes = sizes.stateWords = 0;
      return;
    }
    sizes.stateBytes += combiner->getStateBytes();
    sizes.stateWords += static_cast<int64_t>(combiner->types.size());
    // A word has 32 bits for a state.
    isExchanged &= llvm::all_of(combiner->types, [](Type type) {
      return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 32;
    });
  }
  if (!isExchanged)
    sizes.stateWords = 0;
}

/// Whether the order in which `combiner` combines state `number` decides how
/// often what went in first is rounded: not where each result is one of the two
/// states, or a product, which is as inexact in any order. A recurrence is
/// defined by its order, and what was rounded fades with the terms.
static bool dependsOnOrder(Block &combiner, unsigned number) {
  Value combined = combiner.getTerminator()->getOperand(number);
  Value left = combiner.getArgument(number);
  Value right = combiner.getArgument(combiner.getNumArguments() / 2 + number);
  if (LogOfSum::match(combined, left, right))
    return true;
  Operation *sum = combined.getDefiningOp();
  return isa_and_present<arith::AddFOp>(sum) &&
         llvm::is_contained(sum->getOperands(), left) &&
         llvm::is_contained(sum->getOperands(), right);
}

bool mlir::fusion::mayWalkInOrder(ScanOp scan, std::optional<int64_t> extent) {
  Block &combiner = scan.getCombiner().front();
  if ((extent && *extent <= kMostInOrder) || !matchScanCombiner(combiner))
    return true;
  return llvm::none_of(
      llvm::seq<unsigned>(0, combiner.getNumArguments() / 2),
      [&](unsigned number) { return dependsOnOrder(combiner, number); });
}

llvm::SetVector<Value> mlir::fusion::findUsed(ScanOp scan) {
  Block &combiner = scan.getCombiner().front();
  ValueRange combined = combiner.getTerminator()->getOperands();
  llvm::SetVector<Value> used;
  for (auto [result, value] : llvm::zip(scan.getResults(), combined))
    if (!result.use_empty())
      used.insert(value);
  for (unsigned i = 0; i < used.size(); ++i) {
    auto argument = dyn_cast<BlockArgument>(used[i]);
    Operation *op = used[i].getDefiningOp();
    if (op && op->getBlock() == &combiner)
      used.insert_range(op->getOperands());
    else if (argument && argument.getOwner() == &combiner &&
             argument.getArgNumber() < combined.size())
      used.insert(combined[argument.getArgNumber()]);
  }
  return used;
}

double mlir::fusion::countCombination(const OpCost &cost) {
  return cost.instructions + cost.doubles;
}

/// Instructions that combine two states, one after the other.
static double countOne(Block &combiner) {
  return countCombination(getRegionCost(*combiner.getParent()));
}

/// Instructions with which `sum` takes `count` neighbours at once: a
/// comparison, a selection and a multiply-add in the place of each logarithm,
/// and one logarithm of any number in the end.
static double countAtOnce(const LogOfSum &sum, Block &combiner, double count) {
  constexpr double kAccumulation = 3, kEnd = 27;
  double logarithm =
      countCombination(getOpCost(sum.logarithm)) +
      countCombination(
          getOpCost(combiner.getTerminator()->getOperand(0).getDefiningOp()));
  return (count - 1) * (countOne(combiner) - logarithm + kAccumulation) + kEnd;
}

std::optional<LogOfSum> mlir::fusion::matchFolding(Block &combiner,
                                                   double count) {
  std::optional<LogOfSum> sum = LogOfSum::match(combiner);
  if (!sum ||
      countAtOnce(*sum, combiner, count) >= (count - 1) * countOne(combiner))
    return std::nullopt;
  return sum;
}

double mlir::fusion::countFolding(Block &combiner, double count) {
  if (std::optional<LogOfSum> sum = matchFolding(combiner, count))
    return countAtOnce(*sum, combiner, count);
  return (count - 1) * countOne(combiner);
}

/// Whether threads walk what is scanned on their own: there are enough rows and
/// columns to fill the chip, and each element is then combined twice at most.
static bool walksAlone(const ScanSizes &sizes, const TargetInfo &target) {
  const ScanConstants &fitted = target.fitted.scans;
  double threads =
      static_cast<double>(sizes.columns) * static_cast<double>(sizes.rows);
  double wanted =
      32.0 * fitted.warpsWanted * static_cast<double>(target.numSMs);
  return sizes.combination >= fitted.expensive && threads >= wanted / 2;
}

static double countBlocks(const ScanSizes &sizes, const ScanTiles &tiles) {
  return static_cast<double>(llvm::divideCeil(sizes.columns, tiles.columns)) *
         static_cast<double>(llvm::divideCeil(sizes.rows, tiles.rows));
}

/// Whether `split` blocks that walk together have memory to exchange in: that
/// of whole rounds and of the last one, each twice.
static bool fitsExchanges(const ScanSizes &sizes, const ScanTiles &tiles,
                          int64_t split) {
  int64_t words = 4 * sizes.stateWords * tiles.columns * tiles.rows;
  return fitsExchange(countBlocks(sizes, tiles), split, words);
}

/// Gives the walk of `tiles` to several blocks where there are too few to fill
/// the chip.
static void splitWalk(const ScanSizes &sizes, const TargetInfo &target,
                      ScanTiles &tiles) {
  const ScanConstants &fitted = target.fitted.scans;
  if (sizes.stateWords == 0)
    return;
  double groups = countBlocks(sizes, tiles);
  if (groups >= fitted.busyShare * static_cast<double>(target.numSMs))
    return;
  double elements = static_cast<double>(sizes.scanned) *
                    static_cast<double>(tiles.columns * tiles.rows);
  // One block a multiprocessor: what another one would hide, a round that is
  // published ahead hides.
  auto room = static_cast<int64_t>(static_cast<double>(target.numSMs) / groups);
  int64_t split = std::min<int64_t>(
      {fitted.maxSplit, std::max<int64_t>(room, 2),
       getWalkSplit(groups, elements, target),
       static_cast<int64_t>(llvm::divideCeil(sizes.scanned, tiles.scanned))});
  if (split > 1 && fitsExchanges(sizes, tiles, split))
    tiles.split = split;
}

/// Adds `tiles`, and for few blocks longer ones, of more warps, to `result`.
static void addLonger(const ScanSizes &sizes, const TargetInfo &target,
                      ScanTiles tiles, SmallVectorImpl<ScanTiles> &result) {
  const ScanConstants &fitted = target.fitted.scans;
  // A few more blocks can save that.
  int64_t most = std::min(fitted.maxSplit, tiles.split + tiles.split / 8);
  double wanted = static_cast<double>(fitted.warpsWanted) *
                  static_cast<double>(target.numSMs);
  while (true) {
    result.push_back(tiles);
    auto needed =
        static_cast<int64_t>(llvm::divideCeil(sizes.scanned, tiles.scanned));
    if (tiles.split > 1 && needed <= most &&
        fitsExchanges(sizes, tiles, needed))
      result.back().split = needed;
    if (tiles.warps >= kMostWarps || tiles.scanned * most >= sizes.scanned ||
        countBlocks(sizes, tiles) *
                static_cast<double>(tiles.split * tiles.warps) >=
            wanted)
      return;
    tiles.scanned *= 2;
    tiles.warps *= 2;
  }
}

/// Adds `tiles`, of threads that share no column, again, with fewer and fewer
/// of them, to `result`: each has more loads on its way, of columns that lie
/// side by side.
static void addFewerWarps(const TargetInfo &target, ScanTiles tiles,
                          SmallVectorImpl<ScanTiles> &result) {
  int64_t most = target.fitted.scans.longPerThread * kWarpThreads;
  if (tiles.columns * tiles.rows < tiles.warps * kWarpThreads)
    return;
  for (tiles.warps /= 2;
       tiles.warps >= 1 && tiles.elements() <= most * tiles.warps;
       tiles.warps /= 2)
    result.push_back(tiles);
}

/// Adds walks of blocks that have one run of what is scanned, and `columns`, to
/// `result`. Threads divide the run among themselves: nobody waits for others
/// but between the two sweeps.
static void addRuns(const ScanSizes &sizes, const TargetInfo &target,
                    int64_t columns, SmallVectorImpl<ScanTiles> &result) {
  const ScanConstants &fitted = target.fitted.scans;
  ScanTiles tiles;
  tiles.columns = columns;
  tiles.warps = fitted.runWarps;
  int64_t parts = 32 * tiles.warps / columns;
  if (sizes.stateWords == 0 || !sizes.mayRepeat || columns == 1 || parts < 2)
    return;
  tiles.run = std::clamp<int64_t>(fitted.stateBytes / sizes.stateBytes, 2,
                                  fitted.mostElements);
  tiles.scanned = parts * tiles.run;
  double groups = countBlocks(sizes, tiles);
  for (int64_t blocks :
       {static_cast<int64_t>(target.numSMs), 2 * fitted.maxSplit}) {
    tiles.split = std::min<int64_t>(
        static_cast<int64_t>(static_cast<double>(blocks) / groups),
        fusionpkg::PackageLimits::kMaxTogether);
    if (tiles.split < 2 || !fitsExchanges(sizes, tiles, tiles.split))
      continue;
    tiles.steps = llvm::divideCeil(sizes.scanned, tiles.scanned * tiles.split);
    if (tiles.steps > 1)
      result.push_back(tiles);
  }
}

/// Columns of a thread that has all of what is scanned: all that lie side by
/// side where one access brings them, so that what it has is one piece of
/// memory; else as many as a word has.
static int64_t getNeighbours(const ScanSizes &sizes) {
  int64_t row = nextPowerOfTwo(sizes.columns);
  int64_t bytes = row * sizes.narrowestElement <= kMaxAccessBytes
                      ? kMaxAccessBytes
                      : kLaneBytes;
  return std::clamp<int64_t>(bytes / sizes.narrowestElement, 1, row);
}

/// Tiles with so many columns, of blocks that have neighbours on their
/// multiprocessor; with `isAlone`, threads walk what is scanned on their own.
static ScanTiles getTiles(const ScanSizes &sizes, const TargetInfo &target,
                          int64_t columns, bool isAlone) {
  const ScanConstants &fitted = target.fitted.scans;
  auto multiprocessors = static_cast<int64_t>(target.numSMs);
  ScanTiles tiles;
  int64_t perThread = std::clamp<int64_t>(fitted.stateBytes / sizes.stateBytes,
                                          2, fitted.mostElements);
  int64_t longest = nextPowerOfTwo(sizes.scanned);
  if (isAlone)
    longest = std::min(
        longest,
        std::max<int64_t>(fitted.wholeBytes / sizes.stateBytes, kLeastTile));
  if (int64_t whole = longest * sizes.stateBytes; whole <= fitted.wholeBytes) {
    perThread = std::max(perThread, longest);
    if (sizes.columns > 1)
      perThread = std::max(
          perThread,
          std::min(fitted.wholeBytes / whole, getNeighbours(sizes)) * longest);
  }
  int64_t elements = 32 * fitted.warps * perThread;
  tiles.columns = columns;
  tiles.scanned =
      std::min(longest, std::max(kLeastTile, elements / tiles.columns));
  // What is short has several rows in a block, and more columns, but not so
  // many that blocks become few.
  double least = 2.0 * static_cast<double>(multiprocessors);
  for (auto [tile, size] : {std::pair(&tiles.columns, sizes.columns),
                            std::pair(&tiles.rows, sizes.rows)})
    while (tiles.elements() < elements && *tile < nextPowerOfTwo(size) &&
           countBlocks(sizes, tiles) >= least)
      *tile *= 2;
  tiles.warps =
      std::clamp<int64_t>(tiles.elements() / (32 * perThread), 1, fitted.warps);
  return tiles;
}

SmallVector<ScanTiles> mlir::fusion::getScanTiles(const ScanSizes &sizes,
                                                  const TargetInfo &target) {
  const ScanConstants &fitted = target.fitted.scans;
  if (sizes.stateBytes == 0) {
    ScanTiles tiles;
    tiles.columns = std::min(fitted.columns, nextPowerOfTwo(sizes.columns));
    tiles.warps = tiles.columns > 32 ? 2 : 1;
    return {tiles};
  }
  bool isAlone = walksAlone(sizes, target);
  SmallVector<ScanTiles> result;
  int64_t line = std::max<int64_t>(kLineBytes / sizes.narrowestElement, 1);
  int64_t whole = nextPowerOfTwo(sizes.columns);
  auto add = [&](int64_t columns) {
    ScanTiles tiles = getTiles(sizes, target, columns, isAlone);
    if (isAlone) {
      result.push_back(tiles);
      return tiles;
    }
    splitWalk(sizes, target, tiles);
    addLonger(sizes, target, tiles, result);
    if (tiles.split > 1)
      addRuns(sizes, target, columns, result);
    else if (columns > 1)
      addFewerWarps(target, tiles, result);
    return tiles;
  };
  // Where rows begin within sectors, the more columns, the fewer are shared.
  if (sizes.columns * sizes.narrowestElement % kSectorBytes != 0)
    for (int64_t columns : {4 * kWarpThreads, 2 * kWarpThreads})
      if (columns > line && columns < whole)
        add(columns);
  int64_t columns = std::min(whole, line);
  // Blocks that take less of a row of memory need none that walk with them.
  while (true) {
    ScanTiles tiles = add(columns);
    bool fillsChip = countBlocks(sizes, tiles) >=
                     fitted.busyShare * static_cast<double>(target.numSMs);
    if (fillsChip || columns * sizes.narrowestElement <= kSectorBytes ||
        columns == 1)
      return result;
    columns /= 2;
  }
}
