//===- BlockWork.cpp - What blocks and threads do of a schedule -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how a schedule divides a kernel's dimensions, and what
// of it threads share.
//
//===----------------------------------------------------------------------===//

#include "BlockWork.h"

#include "fusion/Dialect/Tile/Transforms/BitDealer.h"
#include "fusion/Support/Hardware.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

BlockWork::BlockWork(const LoopFacts &facts, const LoopSchedule &schedule)
    : facts(facts), body(facts.body), schedule(schedule) {
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    measure(dim);
  threads = static_cast<double>(schedule.warps * kWarpThreads);
  perThread = 1;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    perThread *= static_cast<double>(schedule[dim].tile) *
                 static_cast<double>(schedule[dim].strip);
  perThread = std::max(1.0, perThread / threads);
  findTurns();
  findSteps();
  dropPadding();
}

void BlockWork::findSteps() {
  reducesInSteps = schedule.strategy == Strategy::Scan && facts.reduced.any();
  if (!reducesInSteps)
    return;
  double held = 1, columns = 1;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    (facts.reduced.test(dim) ? held : columns) *=
        static_cast<double>(schedule[dim].tile);
  heldInStep = std::max(1.0, held * columns / threads);
  sharing = std::min(held, std::max(1.0, threads / columns));
}

double BlockWork::countInStep(DimMask mask) const {
  double elements = 1;
  for (unsigned dim : facts.reduced.set_bits())
    if (mask >> dim & 1)
      elements *= static_cast<double>(schedule[dim].tile);
  return std::min(elements, heldInStep);
}

double BlockWork::countWrittenOut() const {
  return static_cast<double>(schedule[facts.scanned.find_first()].strip);
}

double BlockWork::countPointsOfSteps(DimMask mask) const {
  unsigned scanned = facts.scanned.find_first();
  double steps =
      mask >> scanned & 1 ? static_cast<double>(facts.extents[scanned]) : 1;
  return threads * blocks * steps * countInStep(mask);
}

void BlockWork::dropPadding() {
  if (schedule.strategy != Strategy::Reduction || hasCounting())
    return;
  if (keepsByThread()) {
    for (unsigned dim : facts.reduced.set_bits())
      paddingOf[dim] = 1;
    return;
  }
  SmallVector<unsigned> dims;
  SmallVector<int64_t> shape;
  unsigned along = facts.getFastest(), fastest = 0;
  for (unsigned dim = facts.getNumDims(); dim-- > 0;) {
    int64_t tile = schedule[dim].tile;
    if (!llvm::isPowerOf2_64(tile))
      return;
    if (dim == along)
      fastest = dims.size();
    dims.push_back(dim);
    shape.push_back(tile);
  }
  llvm::SmallBitVector reduced(dims.size());
  SmallVector<unsigned> order{fastest};
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    reduced[axis] = facts.reduced.test(dim);
    if (axis != fastest)
      order.push_back(axis);
  }
  int64_t vector = std::min(getVectorAlong(), shape[fastest]);
  while (vector > 1 && perThread < static_cast<double>(vector))
    vector /= 2;
  tile::LinearLayout layout =
      tile::getBlockedLayout(shape, order, vector, schedule.warps, reduced);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (schedule[dim].kind != AxisKind::Full || blocksOf[dim] > 1 ||
        !facts.getStaticExtent(dim))
      continue;
    // What all threads have before they come to their next register.
    int64_t together = shape[axis];
    for (unsigned bit = layout.numBits(tile::HwDim::Register);
         bit-- > 0 && together > 1;)
      if (layout.basis(tile::HwDim::Register, bit)[axis] == together / 2)
        together /= 2;
    paddingOf[dim] =
        static_cast<double>(llvm::alignTo(facts.extents[dim], together)) /
        static_cast<double>(facts.extents[dim]);
  }
}

void BlockWork::measure(unsigned dim) {
  const LoopAxis &axis = schedule[dim];
  auto extent = static_cast<double>(std::max<int64_t>(facts.extents[dim], 1));
  double own = 1, cover = extent;
  auto tile = static_cast<double>(axis.tile);
  if (axis.kind == AxisKind::Loop) {
    auto granule = static_cast<double>(facts.granules[dim]);
    own = granule > 1 ? std::ceil(extent / granule)
                      : static_cast<double>(axis.split);
    cover = granule > 1 ? granule : std::ceil(extent / own);
    // What is left of elements that are written out is one at a time.
    double steps = std::ceil(cover / (tile * static_cast<double>(axis.strip)));
    if (axis.limited) {
      cover *= getCountingShare();
      // What is left of a step has elements that count for nothing.
      steps = cover + (1 - std::exp(-cover)) *
                          static_cast<double>(kCountingAtOnce - 1) / 2;
    }
    trips *= steps;
    if (copiesAhead(dim))
      stages = std::max(stages, static_cast<double>(axis.stages));
    if (axis.steps > 1) {
      steps = static_cast<double>(axis.steps);
      hasRuns = true;
    }
    paddingOf.push_back(axis.strip > 1 ? 1 : steps * tile * own / extent);
    walks |= facts.reduced.test(dim) || facts.scanned.test(dim) || granule > 1;
    isSplit |= axis.split > 1;
  } else {
    double covered = tile * static_cast<double>(axis.strip * axis.steps);
    own = std::ceil(extent / covered);
    paddingOf.push_back(own * covered / extent);
    cover = std::min(extent, covered);
    isSplit |= axis.kind == AxisKind::Full && own > 1;
  }
  inCluster |= axis.cluster > 1;
  blocks *= own;
  blocksOf.push_back(own);
  tileOf.push_back(std::min(extent, tile * static_cast<double>(axis.strip)));
  coverOf.push_back(cover);
}

double BlockWork::getCountingShare() const {
  // By symbol, what the limits' own part spans in a tile and in all of them.
  struct Range {
    double ofTile = 1, ofAll = 1;
    bool hasLeast = false, hasMost = false;
  };
  SmallVector<Range> ranges(facts.dataLimits->symbols.size());
  for (auto [limit, symbol] :
       llvm::zip_equal(facts.dataLimits->limits, facts.dataLimits->data)) {
    Range own;
    for (auto [dim, factor] : llvm::enumerate(limit.factors)) {
      auto extent = static_cast<double>(facts.extents[dim]);
      auto tile = static_cast<double>(schedule[dim].tile);
      auto weight = static_cast<double>(std::abs(factor));
      own.ofTile += weight * (std::min(tile, extent) - 1);
      own.ofAll += weight * (extent - 1);
    }
    Range &range = ranges[symbol];
    range.ofTile = std::max(range.ofTile, own.ofTile);
    range.ofAll = std::max(range.ofAll, own.ofAll);
    (limit.symbols[symbol] > 0 ? range.hasLeast : range.hasMost) = true;
  }
  double share = 1;
  for (const Range &range : ranges) {
    double within = range.ofTile / range.ofAll;
    // Of one side alone, half of what the other tiles have.
    if (range.hasLeast && range.hasMost)
      share *= within;
    else if (range.hasLeast || range.hasMost)
      share *= (1 + within) / 2;
  }
  return share;
}

bool BlockWork::copiesAhead(unsigned dim) const {
  const LoopAxis &axis = schedule[dim];
  // A single chunk is no walk.
  return axis.stages > 1 && llvm::divideCeil(facts.extents[dim], axis.split) >
                                static_cast<uint64_t>(axis.tile);
}

void BlockWork::findTurns() {
  if (facts.hasGranules())
    return;
  bool hasStrips = false;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
    const LoopAxis &axis = schedule[dim];
    hasStrips |= axis.strip > 1;
    if (!facts.reduced.test(dim) || facts.extents[dim] == 1)
      continue;
    if (axis.kind != AxisKind::Loop || axis.tile > 1 || axis.split > 1 ||
        axis.limited || !facts.getStaticExtent(dim))
      return;
  }
  if (schedule.strategy == Strategy::Reduction &&
      (hasStrips || trips <= static_cast<double>(kMaxWrittenOut))) {
    turns = trips;
    walks = false;
  }
}

double BlockWork::countSweeps(DimMask mask, uint64_t sweeps) const {
  // What is scanned is wanted for its totals first.
  if (hasRuns)
    return (sweeps & 1) && (mask >> facts.scanned.find_first() & 1) ? 2 : 1;
  if (!walks || schedule.strategy == Strategy::Scan)
    return 1;
  bool isWalked = false;
  for (unsigned dim : facts.reduced.set_bits())
    isWalked |= schedule[dim].kind == AxisKind::Loop && (mask >> dim & 1);
  return isWalked ? std::max(1, llvm::popcount(sweeps)) : 1;
}

double BlockWork::countCopies(DimMask mask) const {
  double copies = 1;
  for (auto [dim, own] : llvm::enumerate(blocksOf))
    if (!(mask >> dim & 1))
      copies *= own;
  return copies;
}

double BlockWork::countPoints(DimMask mask) const {
  if (reducesInSteps)
    return countPointsOfSteps(mask);
  double points = body.getPoints(mask) * countCopies(mask);
  for (auto [dim, padding] : llvm::enumerate(paddingOf))
    if (mask >> dim & 1)
      points *= padding;
  return points;
}

double BlockWork::getTouchedShare(ArrayRef<BodyPart> parts) const {
  double share = 1;
  for (const BodyPart &part : parts) {
    if (!part.dim || !schedule[*part.dim].parted)
      continue;
    int64_t tile = schedule[*part.dim].tile;
    auto tiles = static_cast<double>(llvm::divideCeilSigned(part.end, tile) -
                                     llvm::divideFloorSigned(part.begin, tile));
    share *= std::min(1.0, tiles / blocksOf[*part.dim]);
  }
  return share;
}

DimMask BlockWork::getResultMask(const BodyInstance &instance) const {
  std::optional<unsigned> divided = facts.getGranuleDim(instance);
  return instance.outerMask & ~(divided ? DimMask(1) << *divided : 0);
}

unsigned BlockWork::countMeetings() const {
  unsigned levels = 0;
  for (const BodyInstance &instance : body.getInstances())
    if (body.getNode(instance).kind == NodeKind::Reduction &&
        !facts.getGranuleDim(instance) &&
        getSharing(instance).threads > kWarpThreads)
      levels = std::max(levels, instance.level + 1);
  return facts.hasGranules() ? levels : 0;
}

BlockWork::Sharing BlockWork::getSharing(const BodyInstance &instance) const {
  // Threads have those past the ends, too.
  double results = 1;
  DimMask own = getResultMask(instance);
  for (auto [dim, axis] : llvm::enumerate(schedule.axes))
    if (own >> dim & 1)
      results *= static_cast<double>(axis.tile * axis.strip);
  // Along memory a thread has as many results as one access brings elements.
  unsigned along = facts.getFastest();
  double together = 1;
  if (own >> along & 1)
    together =
        std::min(kMaxAccessBytes / static_cast<double>(facts.narrowestElement),
                 llvm::bit_floor<uint64_t>(tileOf[along]) * 1.0);
  // Narrower where each thread then has all that it reduces.
  if (results >= threads)
    return {1, results / threads};
  double sharing = threads * together / results;
  if (!(own >> along & 1))
    sharing = std::max(sharing, countLanesAlong());
  sharing = std::clamp(sharing, 1.0, threads);
  return {sharing, std::max(together, results * sharing / threads)};
}

int64_t BlockWork::getVectorAlong() const {
  unsigned along = facts.getFastest();
  // One row begins where a vector does, others anywhere.
  int64_t vector =
      kMaxAccessBytes / static_cast<int64_t>(facts.narrowestElement);
  bool isOnly =
      perThread * threads <= static_cast<double>(schedule[along].tile);
  while (!isOnly && !walksAlong(along) && vector > 1 &&
         facts.extents[along] % vector != 0)
    vector /= 2;
  return vector;
}

double BlockWork::countLanesAlong() const {
  int64_t tile = schedule[facts.getFastest()].tile;
  if (tile == 1)
    return 1;
  return std::min(static_cast<double>(kWarpThreads),
                  static_cast<double>(tile) /
                      static_cast<double>(getVectorAlong()));
}

bool BlockWork::keepsByThread() const {
  return schedule.strategy == Strategy::Reduction && !isSplit &&
         llvm::all_of(body.getInstances(), [&](const BodyInstance &instance) {
           return body.getNode(instance).kind != NodeKind::Reduction ||
                  getSharing(instance).threads == 1;
         });
}

double BlockWork::countRepeats() const {
  // Beside a walk, a wait for other blocks, and rows that warps share, it is
  // little.
  if (schedule.strategy != Strategy::Reduction || walks || isSplit)
    return 1;
  double repeats = 1;
  for (const BodyInstance &instance : body.getInstances())
    if (body.getNode(instance).kind == NodeKind::Reduction)
      repeats = std::max(repeats, getSharing(instance).threads);
  return repeats <= static_cast<double>(kWarpThreads) ? repeats : 1;
}

bool BlockWork::countsByElement() const {
  unsigned walked = 0;
  bool isRagged = false;
  for (unsigned dim : facts.reduced.set_bits()) {
    if (schedule[dim].kind != AxisKind::Loop || facts.extents[dim] == 1)
      continue;
    ++walked;
    isRagged |= facts.extents[dim] % schedule[dim].tile != 0;
  }
  // What ends a single walk comes after all of its whole chunks.
  return walked > 1 && isRagged;
}

double BlockWork::countFolded(const BodyInstance &instance) const {
  if (!walks || schedule.strategy != Strategy::Reduction)
    return 1;
  return std::max(1.0, perThread / getSharing(instance).results);
}

double BlockWork::countTripsInTurn() const {
  // The walk with the widest chunk is innermost. One that ends within a chunk
  // has a loop of its own for what is left, and begins anew each time.
  unsigned innermost = facts.getNumDims();
  for (unsigned dim : facts.reduced.set_bits())
    if (schedule[dim].kind == AxisKind::Loop &&
        (innermost == facts.getNumDims() ||
         schedule[dim].tile >= schedule[innermost].tile))
      innermost = dim;
  if (innermost == facts.getNumDims())
    return trips;
  double own = coverOf[innermost] / tileOf[innermost];
  return own == std::floor(own) ? trips : std::max(1.0, std::floor(own));
}
