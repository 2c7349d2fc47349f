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
#include "fusion/Analysis/CostModel.h"
#include "fusion/Analysis/OpCosts.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/ScanTiles.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A tensor that the kernel reads or writes at one place.
struct Stream {
  const GraphValue &value;
  ArrayRef<int64_t> shape;
  ArrayRef<AffineExpr> coords;
  DimMask mask;
  /// The sweeps over what is walked in which it is needed, a bit each.
  uint64_t sweeps;
  bool isWrite;
  /// Bytes that it is the first to touch.
  double uniqueBytes;
};

/// What the operations of a body compute of each element. What one computes
/// from the same values as one before it, threads that keep the elements have.
class Expressions {
public:
  /// Adds those of `op`; returns what the ones that were there cost.
  OpCost add(linalg::GenericOp op);

private:
  /// By an operation's name, attributes and type, or a value, its map and what
  /// else tells it from others, and by operands.
  using Expression = std::tuple<const void *, const void *, const void *,
                                std::vector<unsigned>>;

  /// The number of an expression, and whether it is new.
  std::pair<unsigned, bool> number(Expression expression) {
    auto [it, isNew] = numbers.try_emplace(
        std::move(expression), static_cast<unsigned>(numbers.size()));
    return {it->second, isNew};
  }

  std::map<Expression, unsigned> numbers;
};
} // namespace

OpCost Expressions::add(linalg::GenericOp op) {
  OpCost known;
  DenseMap<Value, unsigned> own;
  Block *block = op.getBody();
  for (OpOperand &operand : op->getOpOperands()) {
    // What is accumulated is each operation's own.
    const void *of = op.isDpsInput(&operand) ? nullptr : op.getOperation();
    const void *map = op.getMatchingIndexingMap(&operand).getAsOpaquePointer();
    own[block->getArgument(operand.getOperandNumber())] =
        number({operand.get().getAsOpaquePointer(), map, of, {}}).first;
  }
  for (Operation &inner : block->without_terminator()) {
    if (inner.getNumResults() != 1 || inner.getNumRegions() != 0 ||
        !isMemoryEffectFree(&inner) || isa<linalg::IndexOp>(inner))
      continue;
    std::vector<unsigned> operands;
    for (Value operand : inner.getOperands()) {
      auto [it, isNew] = own.try_emplace(operand, 0);
      if (isNew)
        it->second =
            number({operand.getAsOpaquePointer(), nullptr, nullptr, {}}).first;
      operands.push_back(it->second);
    }
    Value result = inner.getResult(0);
    auto [place, isNew] =
        number({inner.getName().getAsOpaquePointer(),
                inner.getAttrDictionary().getAsOpaquePointer(),
                result.getType().getAsOpaquePointer(), std::move(operands)});
    own[result] = place;
    if (!isNew)
      known += getOpCost(&inner);
  }
  return known;
}

namespace {
class SchedulePricer {
public:
  SchedulePricer(const LoopFacts &facts, const LoopSchedule &schedule)
      : facts(facts), fitted(facts.target.fitted.loops), body(facts.body),
        schedule(schedule) {
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
      measure(dim);
    threads = static_cast<double>(schedule.warps * kWarpThreads);
    perThread = 1;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
      perThread *= static_cast<double>(schedule[dim].tile) *
                   static_cast<double>(schedule[dim].strip);
    perThread = std::max(1.0, perThread / threads);
    findTurns();
    // Of registers, those past the end are no code.
    if (keepsByThread())
      for (unsigned dim : facts.reduced.set_bits())
        paddingOf[dim] = 1;
    findStreams();
  }

  KernelEstimate price();

private:
  void measure(unsigned dim);
  void findTurns();
  void findStreams();

  /// Of `sweeps`, those in which values of `mask` are computed or read anew.
  double countSweeps(DimMask mask, uint64_t sweeps) const;
  /// Blocks along dimensions that `mask` lacks: each has its own copy.
  double countCopies(DimMask mask) const;
  /// Points that threads compute: with those beyond the ends of dimensions.
  double countPoints(DimMask mask) const;
  /// Elements of dimension `number` of a tensor that a tile, or a block in all,
  /// touches; the share of what lies between them that is used.
  double getSpan(const Stream &stream, unsigned number,
                 ArrayRef<double> have) const;
  double getDensity(const Stream &stream, unsigned number) const;
  bool isGather(const Stream &stream) const;
  /// Of the blocks, those that have elements of the tensor: the others are in
  /// what pads it, or in what is joined to it.
  double getShareInside(const Stream &stream) const;
  /// Elements that lie side by side in what a tile, or a block in all, touches
  /// of the tensor.
  double getRun(const Stream &stream, ArrayRef<double> have) const;
  /// Chunks of a row are read one after the other, from where a vector begins.
  bool walksAlong(unsigned dim) const {
    return schedule.strategy == Strategy::Reduction &&
           schedule[dim].kind == AxisKind::Loop && schedule[dim].tile > 1 &&
           facts.reduced.test(dim);
  }
  /// Bytes that divide where such a run of a block begins and ends, a sector's
  /// at most.
  double getAlignment(const Stream &stream) const;
  /// Elements of one load or store of a thread.
  double getVector(const Stream &stream, double run) const;
  /// Of the points of the stream, those that a thread loads: where windows are
  /// written out, what several of them have in common is in its registers.
  double getLoadedShare(const Stream &stream) const;
  /// Lines of L2 that stores take in turn for each that they fill.
  double getLineFactor(const Stream &stream) const;

  void addStream(const Stream &stream);
  void addArithmetic();
  /// Elements of a walk's tile come to have different counts, by which moments
  /// divide.
  bool countsByElement() const;
  /// Elements of a walk's tile that a thread reduces before it combines them
  /// with the states of `instance`.
  double countFolded(const BodyInstance &instance) const;
  /// What an element of `op` then takes, which states that are dear to combine
  /// accumulate; nothing for any other.
  std::optional<OpCost> getFoldedCost(linalg::LinalgOp op, OpCost each,
                                      double folded) const;
  /// Threads that hold elements of the same result of `instance`, and results
  /// of which a thread has elements.
  struct Sharing {
    double threads = 1, results = 1;
  };
  Sharing getSharing(const BodyInstance &instance) const;
  /// Of them, lanes along memory of what is reduced.
  double countLanesAlong() const;
  /// Threads have all that they reduce; nothing is exchanged.
  bool keepsByThread() const;
  /// They have whole rows along memory then.
  bool keepsRows() const {
    return keepsByThread() && facts.reduced.test(getAlongMemory());
  }
  /// Turns of caches, for each element, by what is asked for in vain of rows
  /// that threads access as they hold them, `vector` elements at a time; bytes
  /// of a block of those that are exchanged instead.
  double countInVain(const Stream &stream, double vector) const;
  double countExchangedBytes() const;
  /// Threads that have elements of one result: each computes what follows from
  /// it.
  double countRepeats() const;
  /// What threads do to combine what each has of the same results.
  void addCombinations();
  /// Instructions of a thread for each element of a scan that combines by
  /// `each`.
  double countScanInstructions(const OpCost &each) const;
  /// The dimension along which memory is accessed.
  unsigned getAlongMemory() const;
  void addSteps();
  void setRegisters();
  /// Registers of what a thread loads at a time, and of what it keeps from one
  /// sweep to a later one; without states, of what it keeps at least.
  double countLoaded() const;
  /// The same of a scan, with its states.
  double countScanned() const;
  double countKeptRegisters(bool withStates = true) const;
  /// Of what a walk accumulates, element by element.
  double countAccumulators() const;
  /// What is read of chunk after chunk is copied ahead into shared memory.
  bool isCopied(const Stream &stream) const;
  /// Chunks of a walk that are loaded in one loop.
  double countTripsInTurn() const;
  void setStages();
  double getBytesInFlight() const;

  const LoopFacts &facts;
  const LoopConstants &fitted;
  const KernelBody &body;
  const LoopSchedule &schedule;
  /// For each dimension: blocks along it, elements of a tile and of a block in
  /// all, and how many elements threads have over those that there are.
  SmallVector<double> blocksOf, tileOf, coverOf, paddingOf;
  double blocks = 1, trips = 1, threads, perThread;
  /// Steps of a walk that are written out, so that their loads are on their way
  /// together.
  double turns = 1;
  bool walks = false, isSplit = false, inCluster = false;
  /// Chunks in flight or in use at once, and their bytes.
  double stages = 1, chunkBytes = 0;
  std::vector<Stream> streams;
  KernelCost cost;
  KernelShape shape;
};
} // namespace

void SchedulePricer::measure(unsigned dim) {
  const LoopAxis &axis = schedule[dim];
  auto extent = static_cast<double>(std::max<int64_t>(facts.extents[dim], 1));
  double own = 1, cover = extent;
  auto tile = static_cast<double>(axis.tile);
  if (axis.kind == AxisKind::Loop) {
    own = static_cast<double>(axis.split);
    cover = std::ceil(extent / own);
    double steps = std::ceil(cover / tile);
    trips *= steps;
    stages = std::max(stages, static_cast<double>(axis.stages));
    paddingOf.push_back(steps * tile * own / extent);
    walks |= facts.reduced.test(dim) || facts.scanned.test(dim);
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

void SchedulePricer::findTurns() {
  bool hasStrips = false;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
    const LoopAxis &axis = schedule[dim];
    hasStrips |= axis.strip > 1;
    if (!facts.reduced.test(dim) || facts.extents[dim] == 1)
      continue;
    if (axis.kind != AxisKind::Loop || axis.tile > 1 || axis.split > 1 ||
        !facts.getStaticExtent(dim))
      return;
  }
  if (schedule.strategy == Strategy::Reduction &&
      (hasStrips || trips <= static_cast<double>(kMaxWrittenOut))) {
    turns = trips;
    walks = false;
  }
}

void SchedulePricer::findStreams() {
  const ComputeGraph &graph = body.getGraph();
  SmallVector<double> touches = getFirstTouches(body);
  for (auto [access, touched] : llvm::zip(body.getInputs(), touches)) {
    const GraphValue &value = graph.getValue(access.value);
    uint64_t sweeps = body.getInstances()[access.instance].sweeps;
    auto known = llvm::find_if(streams, [&](const Stream &stream) {
      return &stream.value == &value &&
             stream.coords == ArrayRef<AffineExpr>(access.coords);
    });
    if (known != streams.end()) {
      known->sweeps |= sweeps;
      continue;
    }
    streams.push_back({value, access.shape, access.coords, access.mask, sweeps,
                       /*isWrite=*/false, touched});
  }
  for (const BodyOutput &output : body.getOutputs()) {
    const GraphValue &value = graph.getValue(output.value);
    streams.push_back({value, output.shape, output.coords, output.mask,
                       /*sweeps=*/1, /*isWrite=*/true,
                       body.getStoredElements(output) * value.elementBytes});
  }
}

double SchedulePricer::countSweeps(DimMask mask, uint64_t sweeps) const {
  if (!walks || schedule.strategy == Strategy::Scan)
    return 1;
  bool isWalked = false;
  for (unsigned dim : facts.reduced.set_bits())
    isWalked |= schedule[dim].kind == AxisKind::Loop && (mask >> dim & 1);
  return isWalked ? std::max(1, llvm::popcount(sweeps)) : 1;
}

double SchedulePricer::countCopies(DimMask mask) const {
  double copies = 1;
  for (auto [dim, own] : llvm::enumerate(blocksOf))
    if (!(mask >> dim & 1))
      copies *= own;
  return copies;
}

double SchedulePricer::countPoints(DimMask mask) const {
  double points = body.getPoints(mask) * countCopies(mask);
  for (auto [dim, padding] : llvm::enumerate(paddingOf))
    if (mask >> dim & 1)
      points *= padding;
  return points;
}

bool SchedulePricer::isGather(const Stream &stream) const {
  return stream.mask && llvm::any_of(stream.coords, isKnownAtRunTime);
}

double SchedulePricer::getSpan(const Stream &stream, unsigned number,
                               ArrayRef<double> have) const {
  auto size = static_cast<double>(stream.shape[number]);
  double span = 1;
  for (auto [dim, count] : llvm::enumerate(have))
    span += std::abs(getSlope(stream.coords[number], dim)) * (count - 1);
  return std::clamp(span, 1.0, std::max(size, 1.0));
}

double SchedulePricer::getDensity(const Stream &stream, unsigned number) const {
  double least = 0;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
    double slope = std::abs(getSlope(stream.coords[number], dim));
    if (slope > 0 && facts.extents[dim] > 1)
      least = least > 0 ? std::min(least, slope) : slope;
  }
  return least > 1 ? 1 / least : 1;
}

double SchedulePricer::getShareInside(const Stream &stream) const {
  double share = 1;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    for (auto [coord, size] : llvm::zip(stream.coords, stream.shape)) {
      if (getSlope(coord, dim) != 1)
        continue;
      // What is padded or joined begins anywhere in a tile; the last tile of
      // all ends with the tensor.
      bool isWhole = size == facts.extents[dim];
      double inside = static_cast<double>(size) / coverOf[dim];
      if (!isWhole)
        inside += 1 - 1 / coverOf[dim];
      share *= std::min(1.0, inside / blocksOf[dim]);
    }
  return share;
}

double SchedulePricer::getRun(const Stream &stream,
                              ArrayRef<double> have) const {
  double run = 1;
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    double span = getSpan(stream, number, have);
    run *= span;
    if (span < static_cast<double>(stream.shape[number]))
      break;
  }
  return run;
}

double SchedulePricer::getAlignment(const Stream &stream) const {
  auto bytes = static_cast<uint64_t>(std::max(1.0, stream.value.elementBytes));
  uint64_t row = bytes;
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    double span = getSpan(stream, number, coverOf);
    bool isWhole = span >= static_cast<double>(stream.shape[number]);
    uint64_t part = row * static_cast<uint64_t>(span);
    row *= static_cast<uint64_t>(std::max<int64_t>(stream.shape[number], 1));
    if (isWhole)
      continue;
    // Of one row in all, parts begin after whole ones.
    bool isOnly = llvm::all_of(stream.shape.take_front(number),
                               [](int64_t size) { return size == 1; });
    return static_cast<double>(
        std::gcd(std::gcd(part, isOnly ? part : row),
                 static_cast<uint64_t>(cost::kSectorBytes)));
  }
  return cost::kSectorBytes;
}

double SchedulePricer::getVector(const Stream &stream, double run) const {
  // Rows that begin anywhere are read element by element, but for walks, which
  // begin a little before the row.
  int64_t row = 1;
  double vector = std::max(1.0, kMaxAccessBytes / stream.value.elementBytes);
  vector = std::min({vector, perThread, run});
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    if (stream.shape[number] == 1)
      continue;
    auto coord = dyn_cast<AffineDimExpr>(stream.coords[number]);
    // Windows slide over whole rows of what lies within.
    if (!coord && row > 1)
      break;
    if (!coord)
      return 1;
    if (row == 1 && walksAlong(coord.getPosition())) {
      row = 0;
      break;
    }
    // Of one row in all, no other begins anywhere.
    if (llvm::all_of(stream.shape.take_front(number),
                     [](int64_t size) { return size == 1; })) {
      row = 0;
      break;
    }
    row *= stream.shape[number];
    if (getSpan(stream, number, tileOf) <
        static_cast<double>(stream.shape[number]))
      break;
  }
  auto width = static_cast<int64_t>(llvm::bit_floor<uint64_t>(
      std::max<int64_t>(1, static_cast<int64_t>(vector))));
  while (width > 1 && row % width != 0)
    width /= 2;
  return static_cast<double>(width);
}

double SchedulePricer::getLoadedShare(const Stream &stream) const {
  if (stream.isWrite || turns == 1)
    return 1;
  double share = 1;
  for (AffineExpr coord : stream.coords) {
    double points = 1, span = 1;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
      double slope = std::abs(getSlope(coord, dim));
      double have = facts.reduced.test(dim)
                        ? static_cast<double>(facts.extents[dim])
                        : static_cast<double>(schedule[dim].strip);
      if (slope == 0)
        continue;
      points *= std::max(have, 1.0);
      span += slope * (std::max(have, 1.0) - 1);
    }
    share *= std::min(1.0, span / points);
  }
  return share;
}

double SchedulePricer::getLineFactor(const Stream &stream) const {
  if (!stream.isWrite || isGather(stream) || schedule.axes.empty() ||
      schedule.strategy == Strategy::Scan)
    return 1;
  // A thread has as many elements side by side as the narrowest operand has in
  // one access. Where this one's are more bytes, lanes store the first part of
  // each, then the next one; single elements go to neighbouring lanes.
  double elementBytes = stream.value.elementBytes;
  double piece = getVector(stream, getRun(stream, tileOf)) * elementBytes;
  double together =
      static_cast<double>(schedule[getAlongMemory()].vector) * elementBytes;
  if (piece >= together || piece <= elementBytes)
    return 1;
  return std::min(together, static_cast<double>(kLineBytes)) / piece;
}

void SchedulePricer::addStream(const Stream &stream) {
  double elementBytes = stream.value.elementBytes;
  double sweeps = countSweeps(stream.mask, stream.sweeps);
  double points = body.getPoints(stream.mask) * countCopies(stream.mask);
  AccessCost access;
  access.uniqueBytes = stream.uniqueBytes;
  access.isWrite = stream.isWrite;
  access.lineFactor = getLineFactor(stream);
  double run = 1, inBlock = elementBytes;
  if (isGather(stream)) {
    access.requestedBytes = points * std::max(elementBytes, cost::kSectorBytes);
    inBlock = access.requestedBytes / blocks;
  } else {
    run = getRun(stream, tileOf);
    double density = 1;
    for (unsigned number = 0; number < stream.shape.size(); ++number) {
      inBlock *= getSpan(stream, number, coverOf);
      density = getDensity(stream, number);
    }
    // Sectors that a block's run shares with what lies beside it come twice
    // from L2.
    double bytes = getRun(stream, coverOf) * elementBytes;
    double waste = cost::kSectorBytes - getAlignment(stream);
    access.requestedBytes =
        inBlock * blocks * getShareInside(stream) * (1 + waste / bytes);
    access.factor = 1 / std::max(density, elementBytes / cost::kSectorBytes);
    if (access.factor > 1)
      access.requestedBytes /= access.factor;
  }
  access.requestedBytes = std::max(access.requestedBytes, access.uniqueBytes);
  access.reuseDistanceBytes = stream.uniqueBytes;
  cost.accesses.push_back(access);
  // What a later sweep reads again, all resident blocks have read meanwhile.
  double resident =
      std::min(blocks, 2 * static_cast<double>(facts.target.numSMs));
  if (sweeps > 1) {
    cost.sweptBytes += access.requestedBytes * (sweeps - 1);
    cost.sweepDistanceBytes += inBlock * resident;
    cost.sweptOfBlock += inBlock;
  }

  double vector = getVector(stream, run);
  double inVain = countInVain(stream, vector);
  if (inVain > fitted.rowExchangeInstructions)
    cost.sharedBytes += 2 * countPoints(stream.mask) * elementBytes;
  double instructions = fitted.accessInstructions / vector +
                        std::min(inVain, fitted.rowExchangeInstructions) +
                        (elementBytes < 4 ? fitted.convertInstructions : 0);
  cost.fp32Flops += 2 * countPoints(stream.mask) * getLoadedShare(stream) *
                    sweeps * instructions;
}

bool SchedulePricer::countsByElement() const {
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

double SchedulePricer::countFolded(const BodyInstance &instance) const {
  if (!walks || schedule.strategy != Strategy::Reduction)
    return 1;
  return std::max(1.0, perThread / getSharing(instance).results);
}

std::optional<OpCost> SchedulePricer::getFoldedCost(linalg::LinalgOp op,
                                                    OpCost each,
                                                    double folded) const {
  if (matchMoments(op)) {
    each.instructions +=
        (countsByElement() ? kMomentDivisions : kMomentCombination) / folded;
    return each;
  }
  if (folded == 1 || !matchRescaledSum(op))
    return std::nullopt;
  OpCost exponential, combination;
  Block *block = op.getBlock();
  for (Operation &inner : block->without_terminator()) {
    if (!dependsOn(inner.getResult(0), block->getArguments().take_back(2)))
      continue;
    OpCost own = getOpCost(&inner);
    combination += own;
    if (isa<math::ExpOp>(inner))
      exponential += own;
  }
  double steps = 1 + 1 / folded;
  each.instructions += exponential.instructions * steps +
                       kRescaledInstructions + kRescaledCombination / folded -
                       combination.instructions;
  each.sfu += exponential.sfu * steps - combination.sfu;
  return each;
}

double SchedulePricer::countInVain(const Stream &stream, double vector) const {
  unsigned along = getAlongMemory();
  if (!keepsRows() || isGather(stream) || !(stream.mask >> along & 1))
    return 0;
  // Rows lie side by side: what a warp asks for beyond what it gets takes turns
  // of the L1 cache; stores go to the L2 cache.
  double bytes = vector * stream.value.elementBytes;
  double asked = std::min(tileOf[along] * stream.value.elementBytes,
                          std::max(bytes, cost::kSectorBytes));
  return std::max(0.0, asked - bytes) *
         (stream.isWrite ? fitted.vainStore : fitted.vainLoad) / vector;
}

double SchedulePricer::countExchangedBytes() const {
  double bytes = 0;
  for (const Stream &stream : streams) {
    double vector = getVector(stream, getRun(stream, tileOf));
    if (stream.isWrite ||
        countInVain(stream, vector) <= fitted.rowExchangeInstructions)
      continue;
    double elements = 1;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
      if (stream.mask >> dim & 1)
        elements *= static_cast<double>(schedule[dim].tile);
    bytes += elements * stream.value.elementBytes;
  }
  return bytes;
}

void SchedulePricer::addArithmetic() {
  double repeats = countRepeats();
  Expressions expressions;
  bool keeps = schedule.strategy == Strategy::Reduction && !walks;
  for (const BodyInstance &instance : body.getInstances()) {
    OpCost each = body.getNode(instance).perPoint;
    if (auto op = dyn_cast<linalg::GenericOp>(body.getNode(instance).op);
        op && keeps) {
      OpCost known = expressions.add(op);
      each.instructions = std::max(0.0, each.instructions - known.instructions);
      each.doubles = std::max(0.0, each.doubles - known.doubles);
      each.sfu = std::max(0.0, each.sfu - known.sfu);
    }
    double points = countPoints(instance.mask) *
                    countSweeps(instance.mask, instance.sweeps);
    if (body.getNode(instance).kind == NodeKind::Scan) {
      double &flops = each.doubles > 0 ? cost.fp64Flops : cost.fp32Flops;
      flops += 2 * countScanInstructions(each) * body.getPoints(instance.mask) *
               countCopies(instance.mask);
      continue;
    }
    auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
    if (op && walks)
      if (std::optional<OpCost> folded =
              getFoldedCost(op, each, countFolded(instance)))
        each = *folded;
    // The chip's peak counts a multiply-add, which takes the turn of any other
    // instruction, as two.
    bool isOfResults =
        instance.level > 0 && (instance.mask & body.getReducedMask()) == 0;
    double again = isOfResults ? each.instructions * (repeats - 1)
                               : std::min(each.shared * (repeats - 1),
                                          each.unshared - each.shared);
    cost.fp32Flops += 2 * (each.instructions + again) * points;
    cost.fp64Flops += 2 * each.doubles * points;
    cost.sfuOps += each.sfu * points;
  }
}

SchedulePricer::Sharing
SchedulePricer::getSharing(const BodyInstance &instance) const {
  // Threads have those past the ends, too.
  double results = 1;
  for (auto [dim, axis] : llvm::enumerate(schedule.axes))
    if (instance.outerMask >> dim & 1)
      results *= static_cast<double>(axis.tile * axis.strip);
  // Along memory a thread has as many results as one access brings elements.
  unsigned along = getAlongMemory();
  double together = 1;
  if (instance.outerMask >> along & 1)
    together =
        std::min(kMaxAccessBytes / static_cast<double>(facts.narrowestElement),
                 llvm::bit_floor<uint64_t>(tileOf[along]) * 1.0);
  // Narrower where each thread then has all that it reduces.
  if (results >= threads)
    return {1, results / threads};
  double sharing = threads * together / results;
  if (!(instance.outerMask >> along & 1))
    sharing = std::max(sharing, countLanesAlong());
  sharing = std::clamp(sharing, 1.0, threads);
  return {sharing, std::max(together, results * sharing / threads)};
}

double SchedulePricer::countLanesAlong() const {
  unsigned along = getAlongMemory();
  if (schedule[along].tile == 1)
    return 1;
  // One row begins where a vector does, others anywhere.
  int64_t vector =
      kMaxAccessBytes / static_cast<int64_t>(facts.narrowestElement);
  bool isOnly =
      perThread * threads <= static_cast<double>(schedule[along].tile);
  while (!isOnly && !walksAlong(along) && vector > 1 &&
         facts.extents[along] % vector != 0)
    vector /= 2;
  return std::min(static_cast<double>(kWarpThreads),
                  static_cast<double>(schedule[along].tile) /
                      static_cast<double>(vector));
}

double SchedulePricer::countRepeats() const {
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

bool SchedulePricer::keepsByThread() const {
  return schedule.strategy == Strategy::Reduction && !isSplit &&
         llvm::all_of(body.getInstances(), [&](const BodyInstance &instance) {
           return body.getNode(instance).kind != NodeKind::Reduction ||
                  getSharing(instance).threads == 1;
         });
}

void SchedulePricer::addCombinations() {
  if (schedule.strategy != Strategy::Reduction)
    return;
  auto lanes = static_cast<double>(kWarpThreads);
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    if (node.kind != NodeKind::Reduction)
      continue;
    Sharing sharing = getSharing(instance);
    // Lanes with the same results shuffle, warps meet in shared memory.
    double ofWarp = std::clamp(lanes * sharing.threads / threads, 1.0, lanes);
    double instructions = std::log2(ofWarp) * (countCombination(node.perPoint) +
                                               fitted.shuffleInstructions);
    if (sharing.threads > ofWarp)
      instructions += fitted.warpStepInstructions;
    // Each element that a thread has of a walk's tile has states of its own,
    // unless these are dear.
    auto op = dyn_cast<linalg::LinalgOp>(node.op);
    bool isFolded = op && (matchMoments(op) || matchRescaledSum(op));
    if (walks && !isFolded)
      cost.fp32Flops += 2 * std::max(0.0, perThread - sharing.results) *
                        countCombination(node.perPoint) * threads * blocks;
    cost.fp32Flops += 2 * sharing.results * instructions * threads * blocks;
  }
}

double SchedulePricer::countScanInstructions(const OpCost &each) const {
  unsigned scanned = facts.scanned.find_first();
  double one = countCombination(each);
  auto extent =
      static_cast<double>(std::max<int64_t>(facts.extents[scanned], 1));
  auto tile = static_cast<double>(schedule[scanned].tile);
  // Of a walk element by element, too.
  double padding = 1, others = 1;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
    auto size = static_cast<double>(schedule[dim].tile);
    if (dim == scanned)
      continue;
    others *= size;
    padding *= std::max(1.0, size / static_cast<double>(std::max<int64_t>(
                                        facts.extents[dim], 1)));
  }
  if (tile == 1)
    return padding * one;
  // Of so many threads that share a tile's elements of one scan.
  auto count = [&](double sharing) {
    if (sharing == 1)
      return extent <= kMostInOrder ? one : 2 * one;
    double steps = std::log2(sharing) + fitted.carriedSteps;
    return 2 * one +
           steps * (one + fitted.laneStepInstructions) * sharing / tile;
  };
  double sharing = std::clamp(threads / others, 1.0, tile);
  double instructions = count(sharing);
  // Registers past the end have nothing to do.
  double steps = std::ceil(extent / tile) * tile / extent;
  if (sharing > 1 || extent > tile)
    padding *= steps;
  // Along memory threads have what one access brings, unless exchanges give
  // them more.
  if (getAlongMemory() == scanned) {
    double vector =
        kMaxAccessBytes / static_cast<double>(facts.narrowestElement);
    double moved =
        fitted.exchangeInstructions * static_cast<double>(streams.size());
    instructions =
        std::min(count(std::max(sharing, tile / vector)), instructions + moved);
  }
  return padding * instructions;
}

unsigned SchedulePricer::getAlongMemory() const {
  unsigned along = 0;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    if (facts.contiguousBytes[dim] > facts.contiguousBytes[along])
      along = dim;
  return along;
}

void SchedulePricer::addSteps() {
  unsigned levels = 0;
  for (const BodyInstance &instance : body.getInstances())
    if (body.getNode(instance).kind != NodeKind::Pointwise)
      levels = std::max(levels, instance.level + 1);
  // Threads that have rows of their own meet where they exchange them.
  cost.reductionSteps = !keepsByThread()                           ? levels
                        : keepsRows() && countExchangedBytes() > 0 ? 1
                                                                   : 0;
  if (!isSplit)
    return;
  double &steps = inCluster ? cost.clusterSteps : cost.gridSteps;
  steps = levels;
  // A block writes what it has to each other block of its cluster.
  for (const LoopAxis &axis : schedule.axes)
    steps *= static_cast<double>(std::max<int64_t>(axis.cluster - 1, 1));
  if (schedule.strategy != Strategy::Scan)
    return;
  // Rounds are published ahead: the first and the last one have nothing to hide
  // behind, and in each the threads of a block meet twice.
  steps = std::min(trips, 2.0);
  cost.reductionSteps += 2 * trips;
}

void SchedulePricer::setRegisters() {
  ArrayRef<BodyInstance> instances = body.getInstances();
  // Of one element: what is computed at a time.
  SmallVector<LiveValue> live;
  SmallVector<int64_t> lastUse(instances.size());
  for (auto [i, instance] : llvm::enumerate(instances)) {
    lastUse[i] = i;
    for (unsigned producer : instance.producers)
      lastUse[producer] = i;
  }
  double together = std::min(perThread, fitted.elementsAtATime);
  for (auto [i, instance] : llvm::enumerate(instances)) {
    const GraphValue &value =
        body.getGraph().getValue(body.getNode(instance).writes.front().value);
    live.push_back({static_cast<int64_t>(i), lastUse[i],
                    together * std::max(1.0, value.elementBytes / 4)});
  }
  auto count = [&](double held) {
    live.push_back({0, static_cast<int64_t>(instances.size()), held});
    int64_t registers = estimateRegisters(live, streams.size());
    live.pop_back();
    return registers;
  };
  if (schedule.strategy == Strategy::Scan) {
    shape.registers = count(countScanned());
    return;
  }
  // What is needed late is loaded then, in parts.
  double kept = countKeptRegisters();
  if (kept == 0) {
    shape.registers = count(countLoaded() + countAccumulators());
    return;
  }
  shape.registers = count(kept);
  // States are computed a few at a time where what is kept fits without.
  int64_t limit = getRegisterLimit(static_cast<int64_t>(threads), facts.target);
  int64_t least = count(countKeptRegisters(/*withStates=*/false));
  if (least - cost::kRegisterError <= limit)
    shape.registers = std::min(shape.registers, limit);
}

double SchedulePricer::countScanned() const {
  const ScanConstants &scans = facts.target.fitted.scans;
  // The tile that is scanned, the next one, and one on its way.
  double tiles = 1 + (trips > 1 ? 1 : 0) + (isSplit ? 1 : 0);
  unsigned scanned = facts.scanned.find_first();
  bool isAlong = getAlongMemory() == scanned;
  double each = scans.otherRegisters;
  for (const Stream &stream : streams) {
    if (stream.isWrite || !(stream.mask >> scanned & 1))
      continue;
    double bytes = stream.value.elementBytes;
    bool isPacked = isAlong
                        ? bytes * getVector(stream, getRun(stream, tileOf)) >= 4
                        : bytes >= 4;
    each += tiles * (isPacked ? bytes / 4 : scans.narrowRegisters);
  }
  ScanSizes sizes;
  describeStates(body, sizes);
  each += static_cast<double>(sizes.stateBytes) / 4;
  return perThread * each;
}

double SchedulePricer::countLoaded() const {
  double loaded = 0;
  for (const KernelTensor &tensor : facts.inputs) {
    double elements = 1;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
      if (llvm::is_contained(tensor.dims, std::optional(dim)))
        elements *= tileOf[dim];
    loaded += std::max(1.0, elements / threads) * tensor.elementBytes / 4;
  }
  return loaded;
}

/// Registers of each element of what `facts` reduces along `dim` to several
/// results at once: all elements have all of them before they are combined.
static double countStates(const LoopFacts &facts, unsigned dim) {
  double most = 0;
  for (const BodyInstance &instance : facts.body.getInstances()) {
    auto op = dyn_cast<linalg::LinalgOp>(facts.body.getNode(instance).op);
    if (!op || op.getNumDpsInits() == 1 || !facts.reduces(instance, dim))
      continue;
    // Beside an element there are constants; then its distance from a mean.
    if (matchRescaledSum(op))
      continue;
    if (matchMoments(op)) {
      most = std::max(most, 1.0);
      continue;
    }
    if (std::optional<SmallVector<Type>> types = getPartialTypes(op))
      most = std::max(most, static_cast<double>(types->size()));
  }
  return most;
}

double SchedulePricer::countKeptRegisters(bool withStates) const {
  double most = 0, present = 1;
  // Registers past the end are no code.
  for (double tile : tileOf)
    present *= tile;
  present = std::min(perThread, std::ceil(present / threads));
  unsigned along = getAlongMemory();
  bool isLoose = llvm::any_of(streams, [&](const Stream &stream) {
    return (stream.mask >> along & 1) && schedule[along].vector > 1 &&
           getVector(stream, getRun(stream, tileOf)) == 1;
  });
  for (unsigned dim : facts.reduced.set_bits()) {
    if (schedule[dim].kind != AxisKind::Full || schedule[dim].tile == 1)
      continue;
    KeptValues kept = countKept(facts, dim);
    // Half of the late operands' elements are on their way at a time.
    double elements =
        static_cast<double>(kept.elements) + static_cast<double>(kept.late) / 2;
    if (elements > 0)
      elements = std::max(elements, fitted.keptRegisters);
    if (withStates)
      elements += countStates(facts, dim);
    most = std::max(most, elements * present);
  }
  // Rows that begin anywhere may be accessed element by element.
  if (most > 0 && isLoose && withStates)
    most += present;
  return most;
}

double SchedulePricer::countAccumulators() const {
  if (!walks || schedule.strategy != Strategy::Reduction)
    return 0;
  // Reductions of one level walk together.
  SmallVector<double> states;
  for (const BodyInstance &instance : body.getInstances()) {
    auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
    if (!op || op.getNumReductionLoops() == 0)
      continue;
    std::optional<SmallVector<Type>> types = getPartialTypes(op);
    states.resize(std::max<size_t>(states.size(), instance.level + 1));
    double own = types ? static_cast<double>(types->size()) : 1;
    // One count for all elements of a tile. Of what is folded a thread holds
    // the elements instead.
    if (matchMoments(op))
      own -= 1;
    if (double folded = countFolded(instance);
        folded > 1 && (matchMoments(op) || matchRescaledSum(op)))
      own = 1 + own / folded;
    states[instance.level] += own;
  }
  return perThread * *llvm::max_element(states);
}

double SchedulePricer::getBytesInFlight() const {
  // Stages take no registers.
  if (stages > 1)
    return std::max(4.0, chunkBytes * (stages - 1) / threads);
  double bytes = 0;
  for (const Stream &stream : streams)
    if (!stream.isWrite)
      bytes += stream.value.elementBytes * perThread * turns;
  // Of a walk the next loads are not on their way while it computes.
  if (schedule.strategy == Strategy::Scan)
    bytes *= isSplit ? facts.target.fitted.scans.tilesAhead : 1;
  else if (walks)
    bytes *= std::min(trips, fitted.walkingSteps);
  return std::clamp(bytes, 4.0, fitted.mostInFlight) *
         (walks ? fitted.walkingShare : 1);
}

bool SchedulePricer::isCopied(const Stream &stream) const {
  if (stream.isWrite || isGather(stream))
    return false;
  for (unsigned dim : facts.reduced.set_bits())
    if (schedule[dim].stages > 1 && (stream.mask >> dim & 1))
      return true;
  return false;
}

double SchedulePricer::countTripsInTurn() const {
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

void SchedulePricer::setStages() {
  if (stages == 1)
    return;
  double ahead = 0, all = 0;
  for (const Stream &stream : streams) {
    if (stream.isWrite)
      continue;
    all += stream.uniqueBytes;
    double vector = getVector(stream, getRun(stream, tileOf));
    if (!isCopied(stream) ||
        vector * stream.value.elementBytes < kLeastCopyBytes)
      continue;
    double elements = 1;
    for (auto [dim, tile] : llvm::enumerate(tileOf))
      elements *= stream.mask >> dim & 1 ? tile : 1;
    chunkBytes += elements * stream.value.elementBytes;
    ahead += stream.uniqueBytes;
    double loads = countPoints(stream.mask) / vector *
                   countSweeps(stream.mask, stream.sweeps);
    cost.fp32Flops += 2 * loads * fitted.copyInstructions;
  }
  shape.sharedBytes = static_cast<int64_t>(chunkBytes * stages);
  // The first chunk of a walk is waited for.
  cost.aheadShare = ahead / std::max(all, 1.0) * (1 - 1 / countTripsInTurn());
  for (AccessCost &access : cost.accesses)
    access.factor *= access.isWrite ? 1 : fitted.copiedCost;
  cost.sweptBytes *= fitted.copiedCost;
  // Copies leave nothing in the first cache.
  cost.keptInL1 = false;
}

KernelEstimate SchedulePricer::price() {
  for (const Stream &stream : streams)
    addStream(stream);
  addArithmetic();
  addCombinations();
  addSteps();
  setRegisters();
  shape.threads = static_cast<int64_t>(threads);
  if (keepsRows())
    shape.sharedBytes = toCount(countExchangedBytes());
  shape.blocks = std::max<int64_t>(1, toCount(blocks));
  setStages();
  shape.bytesInFlightPerThread = getBytesInFlight();
  if (schedule.strategy == Strategy::Scan) {
    shape.spillingSteps = trips;
    // Rounds load ahead of each other.
    cost.aheadShare = isSplit ? facts.target.fitted.scans.aheadShare : 0;
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
