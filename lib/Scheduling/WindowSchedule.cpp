//===- WindowSchedule.cpp - Schedules of windows --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the schedules of pooling and of convolutions of single
// channels: how many neighbouring places and channels a thread has, so that
// what their windows share is read and converted once, and which of them a
// block covers.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::fusion;

/// Elements of a window up to which it is walked one by one.
static constexpr int64_t kMaxWindow = 256;

/// Steps, of windows and places together, that are written out at most.
static constexpr int64_t kMaxWritten = 1400;

/// Strips of a thread, and walks along a dimension, at most.
static constexpr int64_t kMaxSteps = 16, kMaxParts = 8;

/// Threads of a block and places of a thread along one dimension at most.
static constexpr int64_t kThreads = 128, kMaxStrip = 8;

//===----------------------------------------------------------------------===//
// Constants, fitted on sm_90a on 2026-11-21 to 200 schedules of nine depthwise
// convolutions (mean error 6 %; the choice within 6 % of the best of each)
//===----------------------------------------------------------------------===//

/// Warps that keep a multiprocessor busy.
static constexpr double kBusyWarps = 11;
/// Registers of a thread beside what windows need, what is taken to leave none
/// to spill, and how many more conditions take where tiles end beyond the
/// result.
static constexpr int64_t kOtherRegisters = 30, kMaxRegisters = 245;
static constexpr double kRaggedRegisters = 1.1;
/// Registers of a thread with which 12 warps run at a time: ptxas puts off
/// loads of a register each until they are no more, where the accumulators are
/// few and what is left, by a model that is off by a few, allows it.
static constexpr int64_t kSettledRegisters = 168, kSettledError = 8,
                         kSettledAccumulators = 64;
/// Instructions of a thread, of each place and channel, of each load, and of
/// each element that a walk carries, beside those of the windows.
static constexpr double kThreadInstructions = 88, kPlaceInstructions = 4,
                        kLoadInstructions = 1.2, kKeepInstructions = 0.5;
/// What the borders that blocks share cost, over the bytes read twice.
static constexpr double kBorderShare = 0.08;
/// Bytes of a block's channels below which rows that it does not have whole
/// cost memory more, and how much.
static constexpr int64_t kRowBytes = 64;
static constexpr double kNarrowRows = 1.45;
/// What of the smaller of arithmetic and memory the larger does not hide, of
/// threads with one strip and of those that load ahead of the next.
static constexpr double kExposed = 0.25, kWalkExposed = 0.23;
/// What of the time that multiprocessors wait for the last blocks counts.
static constexpr double kRoundsShare = 0.25;
/// Clocks of a step at least, and steps that the start of a thread is worth.
static constexpr double kStepClocks = 800, kFirstSteps = 1.9;
/// What blocks of a single warp cost.
static constexpr double kLoneWarp = 1.04;
/// Lanes that are kept busy, and bytes from memory, of a multiprocessor in a
/// clock.
static constexpr double kLanes = 113, kBytesPerClock = 17;

namespace {
/// A dimension of the result along which windows lie.
struct WindowDim {
  unsigned dim;
  int64_t taps = 1, stride = 1, dilation = 1;

  /// Elements that the windows of `places` neighbours cover.
  int64_t reads(int64_t places) const {
    std::set<int64_t> read;
    for (int64_t place = 0; place < places; ++place)
      for (int64_t tap = 0; tap < taps; ++tap)
        read.insert(place * stride + tap * dilation);
    return read.size();
  }
};

/// How the windows of a kernel lie.
struct Windows {
  /// The last dimension of the result first.
  SmallVector<WindowDim> dims;
  int64_t taps = 1;
  /// Elements of windows have factors, which a thread keeps.
  bool weighted = false;
};

/// What a thread and a block have of the result.
struct Choice {
  int64_t vector = 1, channels = 1;
  /// Places of a thread along the last two dimensions of windows.
  int64_t strips[2] = {1, 1};
  /// Strips of a block along the dimensions but the channels, the last first.
  SmallVector<int64_t> tiles;
  /// Strips that a thread walks along the second of these dimensions.
  int64_t steps = 1;
  /// Elements of windows that a strip reads, those that the strip before it did
  /// not, and factors that a thread reads; its registers.
  int64_t reads = 1, fresh = 1, weights = 0;
  double registers = 0;
  /// Its loads are put off until registers are few.
  bool settles = false;
  /// Of the grid, and threads of a block.
  double blocks = 1;
  int64_t threads = 1;
  double clocks = 0;
};
} // namespace

/// The factor of `dim` in a sum of dimensions with constant factors; 0 when it
/// has none.
static int64_t getFactor(AffineExpr expr, unsigned dim) {
  if (auto own = dyn_cast<AffineDimExpr>(expr))
    return own.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (expr.getKind() == AffineExprKind::Add)
    return getFactor(binary.getLHS(), dim) + getFactor(binary.getRHS(), dim);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !constant)
    return 0;
  return getFactor(binary.getLHS(), dim) * constant.getValue();
}

/// Adds the windows of `instance`; false when its reduction is none over
/// windows that slide over dimensions other than the last.
static bool addWindows(const BodyInstance &instance, const LoopFacts &facts,
                       Windows &windows) {
  auto op = cast<linalg::LinalgOp>(facts.body.getNode(instance).op);
  SmallVector<unsigned> reduced, parallel;
  op.getReductionDims(reduced);
  op.getParallelDims(parallel);
  // Windows overlap or touch: a coordinate adds up a loop of the result and one
  // of the window; the last, of the channels, does not.
  auto isOfWindow = [&](AffineExpr expr) {
    return !isa<AffineDimExpr>(expr) &&
           llvm::any_of(reduced, [&](unsigned loop) {
             return expr.isFunctionOfDim(loop);
           });
  };
  bool slides = false;
  for (AffineMap map : op.getIndexingMapsArray()) {
    ArrayRef<AffineExpr> results = map.getResults();
    if (llvm::none_of(results, isOfWindow)) {
      // The loops of the window and others: a factor of each element.
      windows.weighted |= results.size() > reduced.size() &&
                          llvm::all_of(reduced, [&](unsigned loop) {
                            return map.isFunctionOfDim(loop);
                          });
      continue;
    }
    if (isOfWindow(results.back()))
      continue;
    slides = true;
    for (AffineExpr expr : results)
      for (unsigned place : parallel)
        for (unsigned tap : reduced) {
          int64_t stride = getFactor(expr, place);
          int64_t dilation = getFactor(expr, tap);
          unsigned dim = facts.getDimOfLoop(instance, place);
          if (stride <= 0 || dilation <= 0 ||
              llvm::any_of(windows.dims,
                           [&](const WindowDim &d) { return d.dim == dim; }))
            continue;
          std::optional<int64_t> taps =
              facts.getStaticExtent(facts.getDimOfLoop(instance, tap));
          windows.dims.push_back({dim, taps.value_or(1), stride, dilation});
        }
  }
  return slides;
}

/// The windows of a kernel, when every reduction of it is over few elements of
/// one, along no dimension that an operand is contiguous along.
static std::optional<Windows> findWindows(const LoopFacts &facts) {
  Windows windows;
  for (unsigned id : facts.reduced.set_bits()) {
    if (!facts.getStaticExtent(id) || facts.contiguousBytes[id] > 0)
      return std::nullopt;
    windows.taps *= facts.extents[id];
  }
  if (windows.taps > kMaxWindow)
    return std::nullopt;
  for (const BodyInstance &instance : facts.body.getInstances())
    if (llvm::is_contained(facts.body.getNode(instance).reduced, true) &&
        !addWindows(instance, facts, windows))
      return std::nullopt;
  SmallVector<WindowDim> ordered;
  for (std::optional<unsigned> dim : llvm::reverse(facts.primary))
    for (const WindowDim &window : windows.dims)
      if (window.dim == dim)
        ordered.push_back(window);
  windows.dims = ordered;
  return windows;
}

/// What `size` becomes, over itself, when it is covered by parts of `tile`.
static double getWaste(int64_t size, int64_t tile) {
  return static_cast<double>(llvm::alignTo(size, tile)) / size;
}

namespace {
/// Searches what threads and blocks have for the least time.
class WindowScheduler {
public:
  WindowScheduler(const Windows &windows, ArrayRef<int64_t> sizes,
                  ArrayRef<unsigned> dims, const LoopFacts &facts, bool canWalk)
      : windows(windows), sizes(sizes), dims(dims), facts(facts),
        multiprocessors(static_cast<int64_t>(facts.target.numSMs)),
        canWalk(canWalk) {
    for (int64_t size : sizes)
      elements *= size;
    bytesPerElement = facts.bytes / elements;
  }

  Choice search();

private:
  void tryThread(int64_t vector, int64_t row, int64_t column, int64_t steps);
  /// Deals `left` threads of a block to the dimensions from `number` on.
  /// `waste` is what is computed over what is asked for, `reread` what blocks
  /// read over what there is.
  void spread(Choice choice, unsigned number, int64_t left, double waste,
              double reread);
  /// Clocks of a multiprocessor for one element of the result.
  double getClocks(const Choice &choice, double waste, double reread) const;
  int64_t stripOf(const Choice &choice, unsigned number) const;
  /// The numbers of steps, from strips of `row` places, that cover the walked
  /// dimension in equal parts.
  SmallVector<int64_t> getWalks(int64_t row) const;

  const Windows &windows;
  /// Of the result, the last dimension (channels) first.
  ArrayRef<int64_t> sizes;
  ArrayRef<unsigned> dims;
  const LoopFacts &facts;
  int64_t multiprocessors;
  /// Whether threads may walk along the second dimension of windows.
  bool canWalk;
  /// Of the result, and what the kernel moves for each.
  double elements = 1, bytesPerElement = 0;
  std::optional<Choice> best;
};
} // namespace

/// Places of a thread along dimension `number` of the result.
int64_t WindowScheduler::stripOf(const Choice &choice, unsigned number) const {
  for (auto [i, window] : llvm::enumerate(windows.dims))
    if (i < 2 && window.dim == dims[number])
      return choice.strips[i] * (i == 1 ? choice.steps : 1);
  return 1;
}

SmallVector<int64_t> WindowScheduler::getWalks(int64_t row) const {
  SmallVector<int64_t> walks = {1};
  if (!canWalk)
    return walks;
  auto position = llvm::find(dims, windows.dims[1].dim) - dims.begin();
  int64_t strips = llvm::divideCeil(sizes[position], row);
  for (int64_t parts = 1; parts <= kMaxParts; parts *= 2) {
    int64_t steps = llvm::divideCeil(strips, parts);
    if (steps > 1 && steps <= kMaxSteps && !llvm::is_contained(walks, steps))
      walks.push_back(steps);
  }
  return walks;
}

double WindowScheduler::getClocks(const Choice &choice, double waste,
                                  double reread) const {
  double places = choice.strips[0] * choice.strips[1];
  double steps = choice.steps;
  // Factors, and of the first strip what later ones keep, once for all steps.
  double loads =
      choice.fresh + (choice.reads - choice.fresh + choice.weights) / steps;
  double instructions = windows.taps + kPlaceInstructions +
                        (choice.reads + choice.weights / steps +
                         loads * kLoadInstructions / choice.vector +
                         (steps > 1 ? kKeepInstructions * choice.reads : 0)) /
                            places +
                        kThreadInstructions / (places * choice.vector * steps);
  // Blocks of a multiprocessor, and those that it holds at once.
  double registers = llvm::alignTo(std::min<int64_t>(choice.registers, 255), 8);
  double most =
      std::clamp(std::floor(65536 / (choice.threads * registers)), 1.0, 32.0);
  double blocks = choice.blocks / multiprocessors;
  double resident = std::min(most, blocks) * choice.threads / 32;
  double rounds = blocks > most ? std::ceil(std::ceil(blocks) / most) * most
                                : std::ceil(blocks);
  double arithmetic = waste * instructions / kLanes *
                      std::max(1.0, kBusyWarps / resident) *
                      std::pow(rounds / blocks, kRoundsShare);
  int64_t row = choice.channels * facts.narrowestElement;
  double memory =
      bytesPerElement / kBytesPerClock * (1 + kBorderShare * (reread - 1));
  if (row < kRowBytes && choice.channels < sizes[0])
    memory *= kNarrowRows;
  double clocks =
      std::max(arithmetic, memory) +
      (steps > 1 ? kWalkExposed : kExposed) * std::min(arithmetic, memory);
  // However little a step has to do, it waits for what was loaded ahead.
  double waits = std::ceil(std::ceil(blocks) / most) * (steps + kFirstSteps) *
                 kStepClocks * multiprocessors / elements;
  return std::pow(std::pow(clocks, 4) + std::pow(waits, 4), 0.25) *
         (choice.threads <= 32 ? kLoneWarp : 1);
}

void WindowScheduler::spread(Choice choice, unsigned number, int64_t left,
                             double waste, double reread) {
  if (number == sizes.size()) {
    if (waste > 1)
      choice.registers *= kRaggedRegisters;
    else if (choice.settles)
      choice.registers = std::min<double>(choice.registers, kSettledRegisters);
    choice.clocks = getClocks(choice, waste, reread);
    if (!best || choice.clocks < best->clocks)
      best = choice;
    return;
  }
  int64_t strip = stripOf(choice, number);
  for (int64_t tile = 1; tile <= left; tile *= 2) {
    if (tile > 1 && tile / 2 * strip >= sizes[number])
      break;
    double again = 1;
    for (const WindowDim &window : windows.dims)
      if (window.dim == dims[number])
        again = static_cast<double>(window.reads(tile * strip)) /
                (tile * strip * std::min(window.stride, window.taps));
    Choice next = choice;
    next.tiles.push_back(tile);
    next.threads *= tile;
    next.blocks *= llvm::divideCeil(sizes[number], tile * strip);
    spread(next, number + 1, left / tile,
           waste * getWaste(sizes[number], tile * strip), reread * again);
  }
}

/// Prices threads of `vector` channels at `row` by `column` places, `steps`
/// times.
void WindowScheduler::tryThread(int64_t vector, int64_t row, int64_t column,
                                int64_t steps) {
  Choice choice;
  choice.vector = vector;
  choice.steps = steps;
  choice.strips[0] = column;
  choice.strips[1] = row;
  int64_t places = row * column;
  if (places > 1 && places * windows.taps > kMaxWritten)
    return;
  for (auto [number, window] : llvm::enumerate(windows.dims)) {
    int64_t own = window.reads(number < 2 ? choice.strips[number] : int64_t(1));
    choice.reads *= own;
    choice.fresh *= number == 1 && steps > 1
                        ? std::min(own, window.stride * choice.strips[1])
                        : own;
  }
  choice.weights = windows.weighted ? windows.taps : 0;
  // As they are read: all at once, or what is kept and what comes next.
  int64_t words = llvm::divideCeil(vector * facts.narrowestElement, 4);
  choice.registers =
      kOtherRegisters + (steps > 1 ? words * (choice.reads + choice.fresh) +
                                         vector * choice.weights
                                   : words * (choice.reads + choice.weights));
  // Loads may wait where the products alone take longer than the memory: 3x3
  // windows two apart took 31.1 us by the schedule that this makes the best of,
  // 29.5 by the other.
  bool mayWait = windows.taps / kLanes > bytesPerElement / kBytesPerClock;
  if (windows.weighted && mayWait && steps == 1 && words == 1 &&
      vector * places <= kSettledAccumulators) {
    int64_t line = windows.dims.empty() ? 1 : windows.dims[0].reads(column);
    choice.settles =
        kOtherRegisters + vector * places + choice.weights + line <=
        kSettledRegisters + kSettledError;
  }
  bool isLeast = places == 1 && vector * facts.narrowestElement <= 4;
  if (choice.registers > kMaxRegisters && !isLeast)
    return;
  // Channels of a block: as many lanes of a warp as waste little.
  int64_t lanes = 1;
  for (int64_t more = 2; more <= 32 && more / 2 * vector < sizes[0]; more *= 2)
    if (getWaste(sizes[0], more * vector) <= 1.125)
      lanes = more;
  choice.channels = lanes * vector;
  choice.threads = lanes;
  choice.blocks = llvm::divideCeil(sizes[0], choice.channels);
  spread(choice, 1, kThreads / lanes, getWaste(sizes[0], choice.channels), 1);
}

Choice WindowScheduler::search() {
  int64_t narrowest = facts.narrowestElement;
  int64_t most = std::clamp<int64_t>(16 / narrowest, 1, 8);
  most = std::min<int64_t>(most, llvm::PowerOf2Ceil(sizes[0]));
  int64_t least = std::min<int64_t>(std::max<int64_t>(4 / narrowest, 1), most);
  auto mostPlaces = [&](unsigned number) -> int64_t {
    if (number >= windows.dims.size())
      return 1;
    auto position = llvm::find(dims, windows.dims[number].dim) - dims.begin();
    return std::min<int64_t>(kMaxStrip, sizes[position]);
  };
  for (int64_t vector = most; vector >= least; vector /= 2)
    for (int64_t column = 1; column <= mostPlaces(0); ++column)
      for (int64_t row = 1; row <= mostPlaces(1); ++row)
        for (int64_t steps : getWalks(row))
          tryThread(vector, row, column, steps);
  return *best;
}

LoopSchedules mlir::fusion::getWindowSchedules(const LoopFacts &facts) {
  std::optional<Windows> windows = findWindows(facts);
  if (!windows)
    return {};
  SmallVector<int64_t> sizes;
  SmallVector<unsigned> dims;
  for (std::optional<unsigned> dim : llvm::reverse(facts.primary)) {
    if (!dim)
      continue;
    dims.push_back(*dim);
    sizes.push_back(std::max<int64_t>(facts.extents[*dim], 1));
  }
  if (dims.empty())
    return {};
  // Along a dimension of known size, whose end later steps must not pass, when
  // windows have more than half of what their neighbours have. Pooling, which
  // has neither factors to keep nor conversions to hide, loses by it.
  bool canWalk = windows->weighted && windows->dims.size() > 1 &&
                 windows->dims[1].taps > 2 * windows->dims[1].stride &&
                 facts.getStaticExtent(windows->dims[1].dim).has_value();
  Choice choice =
      WindowScheduler(*windows, sizes, dims, facts, canWalk).search();

  LoopSchedule draft(Strategy::Reduction, facts.getNumDims());
  for (unsigned id = 0; id < facts.getNumDims(); ++id) {
    LoopAxis &axis = draft[id];
    if (facts.reduced.test(id))
      axis.kind = AxisKind::Loop;
    auto known = llvm::find(dims, id);
    if (known == dims.begin()) {
      axis.tile = choice.channels;
      axis.vector = choice.vector;
    } else if (known != dims.end()) {
      axis.tile = choice.tiles[known - dims.begin() - 1];
      for (auto [number, window] : llvm::enumerate(windows->dims)) {
        if (number > 1 || window.dim != id)
          continue;
        axis.strip = choice.strips[number];
        axis.steps = number == 1 ? choice.steps : 1;
      }
    }
  }
  draft.warps = std::max<int64_t>(choice.threads / 32, 1);
  return {draft};
}
