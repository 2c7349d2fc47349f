//===- PriceArithmetic.cpp - What threads of a schedule compute -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what threads compute of a body, element by element, and
// what they do to combine what each has of the same results.
//
//===----------------------------------------------------------------------===//

#include "PriceParts.h"
#include "fusion/Analysis/OpCosts.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Support/Hardware.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace mlir;
using namespace mlir::fusion;

namespace {
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

/// The arithmetic of a body.
class ArithmeticPricer {
public:
  ArithmeticPricer(const StreamTraffic &traffic, KernelCost &cost)
      : traffic(traffic), work(traffic.getWork()), facts(work.facts),
        fitted(facts.target.fitted.loops), body(work.body),
        schedule(work.schedule), cost(cost) {}

  void addArithmetic();
  /// What threads do to combine what each has of the same results.
  void addCombinations();

private:
  /// The same of lanes that share what each step of a scan reduces.
  void addCombinationsOfSteps();
  /// What an element of `op` takes, which states that are dear to combine
  /// accumulate, `folded` elements at a time; nothing for any other.
  std::optional<OpCost> getFoldedCost(linalg::LinalgOp op, OpCost each,
                                      double folded) const;
  /// Of what `op` takes for a point of its loops, what threads do not compute:
  /// neighbouring windows have what follows from their common elements alone,
  /// and a product that is exact in f32 is added in the same instruction.
  OpCost getSavedCost(linalg::LinalgOp op, const BodyInstance &instance) const;
  /// What an element of a tile takes of what joins tensors: a choice for each
  /// that it may be of, and what blocks take to find those.
  OpCost getJoinCost(const BodyInstance &instance) const;
  /// Instructions of a thread for each element of `scan`, which combines by
  /// `each`.
  double countScanInstructions(ScanOp scan, const OpCost &each) const;

  const StreamTraffic &traffic;
  const BlockWork &work;
  const LoopFacts &facts;
  const LoopConstants &fitted;
  const KernelBody &body;
  const LoopSchedule &schedule;
  KernelCost &cost;
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

/// The operations of the body of `op` that compute what `sums` are made of.
static llvm::DenseSet<Operation *> getElementOps(linalg::LinalgOp op,
                                                 const RescaledSums &sums) {
  SmallVector<Value> worklist;
  for (const RescaledSum &pair : sums.pairs)
    worklist.push_back(pair.element);
  if (sums.linear)
    for (Value part : {sums.linear->plain, sums.linear->weight})
      if (part)
        worklist.push_back(part);
  llvm::DenseSet<Operation *> found;
  while (!worklist.empty()) {
    Operation *inner = worklist.pop_back_val().getDefiningOp();
    if (inner && inner->getBlock() == op.getBlock() &&
        found.insert(inner).second)
      llvm::append_range(worklist, inner->getOperands());
  }
  return found;
}

std::optional<OpCost> ArithmeticPricer::getFoldedCost(linalg::LinalgOp op,
                                                      OpCost each,
                                                      double folded) const {
  if (matchMoments(op)) {
    each.instructions +=
        (work.countsByElement() ? kMomentDivisions : kMomentCombination) /
        folded;
    return each;
  }
  std::optional<RescaledSums> sums =
      folded == 1 ? std::nullopt : matchRescaledSums(op);
  if (!sums)
    return std::nullopt;
  // What the body does but for the elements themselves is done in another way.
  llvm::DenseSet<Operation *> ofElements = getElementOps(op, *sums);
  OpCost exponential, combination;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (ofElements.contains(&inner))
      continue;
    OpCost own = getOpCost(&inner);
    combination += own;
    if (isa<math::ExpOp>(inner))
      exponential += own;
  }
  double steps = 1 + 1 / folded;
  auto pairs = static_cast<double>(sums->pairs.size());
  each.instructions +=
      exponential.instructions * steps +
      pairs * (kRescaledInstructions + kRescaledCombination / folded) -
      combination.instructions;
  each.sfu += exponential.sfu * steps - combination.sfu;
  if (const auto &linear = sums->linear) {
    auto distances = static_cast<double>(linear->distances.size());
    unsigned factors = (linear->weight ? 1 : 0) + (linear->base ? 1 : 0);
    each.instructions += distances + factors +
                         (linear->sharesWeights() ? 0 : 1) +
                         (3 * distances + kRescaledCombination) / folded;
  }
  return each;
}

/// `cost` without what is `saved` of it.
static OpCost getRest(OpCost cost, const OpCost &saved) {
  cost.instructions = std::max(0.0, cost.instructions - saved.instructions);
  cost.doubles = std::max(0.0, cost.doubles - saved.doubles);
  cost.sfu = std::max(0.0, cost.sfu - saved.sfu);
  return cost;
}

/// What the operations of a body take that depend on `argument` and constants
/// alone.
static OpCost getOwnCost(BlockArgument argument) {
  OpCost cost;
  DenseSet<Value> own = {argument};
  for (Operation &inner : argument.getOwner()->without_terminator()) {
    bool isOwn =
        inner.getNumOperands() > 0 && inner.getNumRegions() == 0 &&
        llvm::all_of(inner.getOperands(), [&](Value operand) {
          return own.contains(operand) || matchPattern(operand, m_Constant());
        });
    if (!isOwn)
      continue;
    own.insert_range(inner.getResults());
    cost += getOpCost(&inner);
  }
  return cost;
}

/// True when `product` is exact, and is added to what a reduction accumulates
/// by the same instruction.
static bool isAddedExactly(arith::MulFOp product) {
  return product->hasOneUse() && isa<arith::AddFOp>(*product->user_begin()) &&
         isExactFactor(product.getLhs()) && isExactFactor(product.getRhs());
}

OpCost ArithmeticPricer::getSavedCost(linalg::LinalgOp op,
                                      const BodyInstance &instance) const {
  OpCost saved;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    double share = traffic.getOwnShare(composeCoords(
        op.getMatchingIndexingMap(operand).getResults(), instance.loops));
    if (share == 1)
      continue;
    OpCost own = getOwnCost(op.getMatchingBlockArgument(operand));
    saved += {own.instructions * (1 - share), own.doubles * (1 - share),
              own.sfu * (1 - share)};
  }
  if (op.getNumReductionLoops() > 0)
    for (arith::MulFOp product : op.getBlock()->getOps<arith::MulFOp>())
      if (isAddedExactly(product))
        saved.instructions += getOpCost(product).instructions;
  return saved;
}

OpCost ArithmeticPricer::getJoinCost(const BodyInstance &instance) const {
  const GraphNode &node = body.getNode(instance);
  OpCost cost = node.perPoint;
  ArrayRef<BodyPart> parts = instance.joined;
  if (parts.empty() || !parts.front().dim ||
      !schedule[*parts.front().dim].parted)
    return cost;
  double each = cost.instructions / static_cast<double>(parts.size());
  int64_t tile = schedule[*parts.front().dim].tile;
  cost.instructions = 2 * llvm::Log2_64_Ceil(parts.size()) *
                      fitted.branchInstructions / work.perThread;
  for (const BodyPart &part : parts)
    if (part.begin % tile != 0)
      cost.instructions += each * work.getTouchedShare(part);
  return cost;
}

/// What `scan` takes for an element, of states that a result needs.
static OpCost getCostOfUsed(ScanOp scan) {
  OpCost cost;
  for (Value value : findUsed(scan))
    if (Operation *op = value.getDefiningOp();
        op && op->getBlock() == &scan.getCombiner().front())
      cost += getOpCost(op);
  return cost;
}

void ArithmeticPricer::addArithmetic() {
  double repeats = work.countRepeats();
  Expressions expressions;
  bool keeps = schedule.strategy == Strategy::Reduction && !work.walks;
  for (const BodyInstance &instance : body.getInstances()) {
    OpCost each = isa<tensor::ConcatOp>(body.getNode(instance).op)
                      ? getJoinCost(instance)
                      : body.getNode(instance).perPoint;
    auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
    if (op)
      each = getRest(each, getSavedCost(op, instance));
    if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op.getOperation());
        generic && keeps)
      each = getRest(each, expressions.add(generic));
    double points = work.countPoints(instance.mask) *
                    traffic.getOwnShare(instance.loops) *
                    work.countSweeps(instance.mask, instance.sweeps) *
                    work.getTouchedShare(instance.parts);
    if (body.getNode(instance).kind == NodeKind::Scan && work.reducesInSteps) {
      auto scan = cast<ScanOp>(body.getNode(instance).op);
      each = getCostOfUsed(scan);
    } else if (body.getNode(instance).kind == NodeKind::Scan) {
      double &flops = each.doubles > 0 ? cost.fp64Flops : cost.fp32Flops;
      flops +=
          2 *
          countScanInstructions(cast<ScanOp>(body.getNode(instance).op), each) *
          body.getPoints(instance.mask) * work.countCopies(instance.mask);
      continue;
    }
    if (op && work.walks)
      if (std::optional<OpCost> folded =
              getFoldedCost(op, each, work.countFolded(instance)))
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

void ArithmeticPricer::addCombinationsOfSteps() {
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    if (node.kind != NodeKind::Reduction)
      continue;
    double steps = work.countPoints(instance.outerMask);
    cost.fp32Flops += 2 * steps * std::log2(work.sharing) *
                      (countCombination(node.perPoint) +
                       fitted.shuffleInstructions *
                           static_cast<double>(node.op->getNumResults()));
  }
}

void ArithmeticPricer::addCombinations() {
  if (work.reducesInSteps)
    return addCombinationsOfSteps();
  if (schedule.strategy != Strategy::Reduction)
    return;
  auto lanes = static_cast<double>(kWarpThreads);
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    if (node.kind != NodeKind::Reduction)
      continue;
    BlockWork::Sharing sharing = work.getSharing(instance);
    // Lanes with the same results shuffle, warps meet in shared memory.
    double ofWarp =
        std::clamp(lanes * sharing.threads / work.threads, 1.0, lanes);
    double instructions = std::log2(ofWarp) * (countCombination(node.perPoint) +
                                               fitted.shuffleInstructions);
    if (sharing.threads > ofWarp)
      instructions += fitted.warpStepInstructions;
    // Each element that a thread has of a walk's tile has states of its own,
    // unless these are dear.
    auto op = dyn_cast<linalg::LinalgOp>(node.op);
    bool isFolded = op && isDearToCombine(op);
    double finishes = work.countFinishes(instance);
    if (work.walks && finishes == 1 && !isFolded)
      cost.fp32Flops += 2 * std::max(0.0, work.perThread - sharing.results) *
                        countCombination(node.perPoint) * work.threads *
                        work.blocks;
    cost.fp32Flops += 2 * sharing.results * instructions * finishes *
                      work.threads * work.blocks;
  }
}

double ArithmeticPricer::countScanInstructions(ScanOp scan,
                                               const OpCost &each) const {
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
  // What each of `run` neighbours of a thread takes until their total is known.
  auto countTotal = [&](double run) {
    Block &combiner = scan.getCombiner().front();
    return run <= kMostInOrder && matchFolding(combiner, run)
               ? countFolding(combiner, run) / run
               : one;
  };
  // Threads have runs of their own, each element of which they combine once in
  // either sweep.
  if (work.hasRuns) {
    auto run = static_cast<double>(schedule[scanned].vector);
    return padding * work.paddingOf[scanned] * (countTotal(run) + one);
  }
  // Of so many threads that share a tile's elements of one scan.
  auto count = [&](double sharing) {
    if (sharing == 1)
      return extent <= kMostInOrder ? one : countTotal(tile) + one;
    double steps = std::log2(sharing) + fitted.carriedSteps;
    return countTotal(tile / sharing) + one +
           steps * (one + fitted.laneStepInstructions) * sharing / tile;
  };
  double sharing = std::clamp(work.threads / others, 1.0, tile);
  double instructions = count(sharing);
  // Registers past the end have nothing to do.
  double steps = std::ceil(extent / tile) * tile / extent;
  if (sharing > 1 || extent > tile)
    padding *= steps;
  // Along memory threads have what one access brings, unless exchanges
  // give them more.
  if (facts.getFastest() == scanned) {
    double vector =
        kMaxAccessBytes / static_cast<double>(facts.narrowestElement);
    double moved =
        fitted.exchangeInstructions * static_cast<double>(traffic.get().size());
    instructions =
        std::min(count(std::max(sharing, tile / vector)), instructions + moved);
  }
  return padding * instructions;
}

void mlir::fusion::addArithmetic(const StreamTraffic &traffic,
                                 KernelCost &cost) {
  ArithmeticPricer pricer(traffic, cost);
  pricer.addArithmetic();
  pricer.addCombinations();
}
