//===- PriceRegisters.cpp - What threads of a schedule keep ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the registers of a thread: what it computes at a time,
// and what it loads, keeps from sweep to sweep, accumulates or scans.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"
#include "PriceParts.h"
#include "fusion/Analysis/OpCosts.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Support/Hardware.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// The registers of a schedule's threads.
class RegisterCounter {
public:
  explicit RegisterCounter(const StreamTraffic &traffic)
      : traffic(traffic), work(traffic.getWork()), facts(work.facts),
        fitted(facts.target.fitted.loops), body(work.body),
        schedule(work.schedule) {}

  int64_t count() const;

private:
  int64_t countOfWindows() const;
  /// Of scans whose results are reduced in each step.
  int64_t countOfSteps() const;
  /// Registers of what a thread loads at a time, and of what it keeps from one
  /// sweep to a later one; without states, of what it keeps at least.
  double countLoaded() const;
  double countKeptRegisters(bool withStates = true) const;
  /// The same of a scan, with its states.
  double countScanned() const;
  /// Of the words that a thread collects of all blocks in a round of a scan.
  double countCollected() const;
  /// Of what a walk accumulates.
  double countAccumulators() const;
  /// Of operands that are the same in all steps of a walk through a granule.
  double countOfAllSteps() const;

  const StreamTraffic &traffic;
  const BlockWork &work;
  const LoopFacts &facts;
  const LoopConstants &fitted;
  const KernelBody &body;
  const LoopSchedule &schedule;
};
} // namespace

double RegisterCounter::countCollected() const {
  // The lanes of one warp share them.
  double words = countRoundWords(work) / static_cast<double>(kWarpThreads);
  return std::max(0.0, words - facts.target.fitted.scans.freeWords);
}

double RegisterCounter::countScanned() const {
  const ScanConstants &scans = facts.target.fitted.scans;
  unsigned scanned = facts.scanned.find_first();
  double loaded = 0;
  for (const Stream &stream : traffic.get())
    if (!stream.isWrite && (stream.mask >> scanned & 1))
      loaded += std::max(stream.value.elementBytes / 4, scans.narrowRegisters);
  ScanSizes sizes;
  describeStates(body, sizes);
  double states = static_cast<double>(sizes.stateBytes) / 4;
  // In rounds, beside the results: the tile that is scanned, the next one, and
  // one on its way, computed as far as the scan wants them. Else an element's
  // states take the place of what is loaded.
  if (work.isSplit && !work.hasRuns)
    return work.perThread *
               (scans.otherRegisters + states * (work.trips > 1 ? 4 : 3)) +
           countCollected();
  // Without a walk what is loaded waits for nothing.
  double held = work.trips > 1
                    ? work.perThread
                    : std::min(work.perThread, fitted.elementsAtATime);
  return held *
         ((work.hasRuns ? scans.otherRegisters : 0) + std::max(loaded, states));
}

/// Registers of an element's states in `scan` that are carried on.
static double countCarried(ScanOp scan) {
  double registers = 0;
  auto count = scan->getNumResults();
  for (Value value : findUsed(scan))
    if (auto state = dyn_cast<BlockArgument>(value);
        state && state.getOwner() == &scan.getCombiner().front() &&
        state.getArgNumber() < count)
      registers += state.getType().isIntOrFloat() &&
                           state.getType().getIntOrFloatBitWidth() <= 32
                       ? 1
                       : 2;
  return registers;
}

int64_t RegisterCounter::countOfSteps() const {
  // Where a thread is, and what it computes; what is loaded ahead, and what is
  // used of it meanwhile.
  constexpr double kOthers = 12, kBesideLoaded = 1.25;
  unsigned scanned = facts.scanned.find_first();
  double loaded = 0, kept = 0;
  for (const Stream &stream : traffic.get()) {
    if (stream.isWrite)
      continue;
    // An access brings whole registers.
    double vector =
        traffic.getVector(stream, traffic.getRun(stream, work.tileOf));
    double own = std::max(1.0, vector * stream.value.elementBytes / 4) *
                 work.countInStep(stream.mask) / vector;
    bool isOfStep = stream.mask >> scanned & 1;
    (isOfStep ? loaded : kept) += own;
  }
  for (const BodyInstance &instance : body.getInstances())
    if (auto scan = dyn_cast<ScanOp>(body.getNode(instance).op))
      kept += countCarried(scan) * work.heldInStep;
  return toCount(kOthers + kept +
                 loaded * work.countWrittenOut() * kBesideLoaded);
}

double RegisterCounter::countLoaded() const {
  double loaded = 0;
  for (const KernelTensor &tensor : facts.inputs) {
    double elements = 1;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
      if (llvm::is_contained(tensor.dims, std::optional(dim)))
        elements *= work.tileOf[dim];
    loaded += std::max(1.0, elements / work.threads) * tensor.elementBytes / 4 *
              work.getTouchedShare(tensor.parts);
  }
  // Of elements that data leave, threads have the columns of their own rows, so
  // many elements at a time.
  if (work.hasCounting())
    for (const Stream &stream : traffic.get())
      if (!stream.isWrite && stream.mask >> facts.getFastest() & 1)
        loaded += static_cast<double>(kCountingAtOnce *
                                      schedule[facts.getFastest()].vector) *
                  stream.value.elementBytes / 4;
  // What steps that are written out load is on its way together.
  return std::max(loaded,
                  std::min(loaded * work.turns, fitted.mostInFlight / 4));
}

/// Registers of each element of what `facts` reduces along `dim` to several
/// results at once: all elements have all of them before they are combined.
static double countStates(const LoopFacts &facts, unsigned dim) {
  double most = 0;
  for (const BodyInstance &instance : facts.body.getInstances()) {
    auto op = dyn_cast<linalg::LinalgOp>(facts.body.getNode(instance).op);
    if (!op || op.getNumDpsInits() == 1 || !facts.reduces(instance, dim))
      continue;
    // Beside an element there are constants; then its distance from a mean, or
    // its term of a linear sum.
    if (std::optional<RescaledSums> sums = matchRescaledSums(op)) {
      most = std::max(most, sums->linear ? 1.0 : 0.0);
      continue;
    }
    if (matchMoments(op)) {
      most = std::max(most, 1.0);
      continue;
    }
    if (std::optional<SmallVector<Type>> types = getPartialTypes(op))
      most = std::max(most, static_cast<double>(types->size()));
  }
  return most;
}

double RegisterCounter::countKeptRegisters(bool withStates) const {
  double most = 0, present = 1;
  unsigned along = facts.getFastest();
  // Registers past the end are no code, but where lanes lie side by side: past
  // the end of a row are lanes then.
  for (auto [dim, tile] : llvm::enumerate(work.tileOf)) {
    const LoopAxis &axis = schedule[dim];
    bool isOfLanes = dim == along && axis.tile <= kWarpThreads * axis.vector;
    present *= isOfLanes ? static_cast<double>(axis.tile) : tile;
  }
  present = std::min(work.perThread, std::ceil(present / work.threads));
  bool isLoose = llvm::any_of(traffic.get(), [&](const Stream &stream) {
    return (stream.mask >> along & 1) && facts.reduced.test(along) &&
           schedule[along].vector > 1 &&
           traffic.getVector(stream, traffic.getRun(stream, work.tileOf)) == 1;
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

double RegisterCounter::countAccumulators() const {
  if (!work.walks || schedule.strategy != Strategy::Reduction)
    return 0;
  // Reductions of one level walk together, those in granules all.
  SmallVector<double> states;
  for (const BodyInstance &instance : body.getInstances()) {
    auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
    if (!op || op.getNumReductionLoops() == 0 ||
        work.countFinishes(instance) > 1)
      continue;
    std::optional<SmallVector<Type>> types = getPartialTypes(op);
    unsigned level = facts.hasGranules() ? 0 : instance.level;
    states.resize(std::max<size_t>(states.size(), level + 1));
    double own = types ? static_cast<double>(types->size()) : 1;
    // One count for all elements of a tile. Of what is folded a thread holds
    // the elements instead.
    if (matchMoments(op))
      own -= 1;
    if (double folded = work.countFolded(instance);
        folded > 1 && isDearToCombine(op)) {
      std::optional<RescaledSums> sums = matchRescaledSums(op);
      double elements = sums ? static_cast<double>(sums->pairs.size()) : 1;
      own = elements + own / folded;
    }
    states[level] += own;
  }
  double most = states.empty() ? 0 : *llvm::max_element(states);
  // How many elements data leave is not known: their sum is made of parts.
  if (work.hasCounting())
    most *= 2;
  return work.perThread * most;
}

double RegisterCounter::countOfAllSteps() const {
  double registers = 0;
  for (const Stream &stream : traffic.get()) {
    double elements = 1;
    bool isOfStep = stream.isWrite;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
      bool has = stream.mask >> dim & 1;
      isOfStep |= has && facts.granules[dim] > 1;
      elements *= has ? static_cast<double>(schedule[dim].tile) : 1;
    }
    if (facts.hasGranules() && !isOfStep)
      registers += std::max(1.0, elements / work.threads);
  }
  return registers;
}

int64_t RegisterCounter::countOfWindows() const {
  // All that a thread loads is on its way at once, up to what ptxas puts off.
  double loaded = 0;
  for (const Stream &stream : traffic.get())
    if (!stream.isWrite && traffic.isOfWindows(stream))
      loaded += traffic.countRequests(stream).registers;
  return cost::kBaseRegisters + 2 * static_cast<int64_t>(traffic.get().size()) +
         toCount(std::min(loaded * fitted.windowRegisters,
                          fitted.mostWindowRegisters));
}

int64_t RegisterCounter::count() const {
  if (traffic.hasWindows())
    return countOfWindows();
  if (work.reducesInSteps)
    return countOfSteps();
  ArrayRef<BodyInstance> instances = body.getInstances();
  // Of one element: what is computed at a time.
  SmallVector<LiveValue> live;
  SmallVector<int64_t> lastUse(instances.size());
  for (auto [i, instance] : llvm::enumerate(instances)) {
    lastUse[i] = i;
    for (unsigned producer : instance.producers)
      lastUse[producer] = i;
  }
  double together = std::min(work.perThread, fitted.elementsAtATime);
  for (auto [i, instance] : llvm::enumerate(instances)) {
    const GraphValue &value =
        body.getGraph().getValue(body.getNode(instance).writes.front().value);
    live.push_back({static_cast<int64_t>(i), lastUse[i],
                    together * std::max(1.0, value.elementBytes / 4) *
                        work.getTouchedShare(instance.parts)});
  }
  double tensors = 0;
  for (const Stream &stream : traffic.get())
    tensors += stream.touched;
  auto count = [&](double held) {
    live.push_back({0, static_cast<int64_t>(instances.size()), held});
    int64_t registers = estimateRegisters(live, toCount(tensors));
    live.pop_back();
    return registers;
  };
  if (schedule.strategy == Strategy::Scan)
    return count(countScanned());
  // What is needed late is loaded then, in parts.
  double kept = countKeptRegisters();
  if (kept == 0)
    return count(countLoaded() + countAccumulators());
  // What is reduced in granules stays while rows are kept.
  double beside =
      facts.hasGranules() ? countAccumulators() + countOfAllSteps() : 0;
  int64_t registers = count(kept + beside);
  // States are computed a few at a time where what is kept fits without.
  int64_t limit =
      getRegisterLimit(static_cast<int64_t>(work.threads), facts.target);
  int64_t least = count(countKeptRegisters(/*withStates=*/false) + beside);
  if (least - cost::kRegisterError <= limit)
    registers = std::min(registers, limit);
  return registers;
}

int64_t mlir::fusion::countRegisters(const StreamTraffic &traffic) {
  return RegisterCounter(traffic).count();
}
