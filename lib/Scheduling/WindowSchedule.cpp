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
#include "fusion/Analysis/CostModel.h"
#include "fusion/Support/Hardware.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>
#include <set>

using namespace mlir;
using namespace mlir::fusion;

/// Elements of a window up to which it is walked one by one.
static constexpr int64_t kMaxWindow = 256;

/// Steps, of windows and places together, that are written out at most.
static constexpr int64_t kMaxWritten = 1400;

/// Strips of a thread, and walks along a dimension, at most.
static constexpr int64_t kMaxSteps = 16, kMaxParts = 8;

/// Places of a thread along one dimension, and strips of it, at most.
static constexpr int64_t kMaxStrip = 8, kMaxRepeats = 8;

/// Channels that lanes have, over those that there are, up to which more lanes
/// take part: bounds the search.
static constexpr double kLittleWaste = 1.125;

/// Schedules that are priced, and how much longer than the best they may take
/// by what is known of windows alone.
static constexpr size_t kMaxFound = 9;
static constexpr double kMostOverBest = 8;

namespace {
/// A dimension of the result along which windows lie.
struct WindowDim {
  unsigned dim;
  int64_t taps = 1, stride = 1, dilation = 1;

  /// Elements that the windows of `places` neighbours cover.
  int64_t reads(int64_t places) const {
    // Every so many elements, windows of neighbours are a run or apart.
    if (int64_t step = stride / dilation; stride % dilation == 0)
      return taps >= step ? (places - 1) * step + taps : places * taps;
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
  /// Elements of the largest operand with windows, bytes of each, and how many
  /// of them lie from one place to the next, by dimension.
  int64_t elements = 0, bytes = 1;
  SmallVector<int64_t> distances;
  /// Instructions that make one of them of what is in memory.
  double work = 0;
  /// Dimensions along which it is padded, what it is padded with before the
  /// first element along each, and how many elements there are inside.
  llvm::SmallBitVector padded;
  SmallVector<int64_t> lows, insides;

  const WindowDim *find(unsigned dim) const {
    const auto *found = llvm::find_if(
        dims, [&](const WindowDim &window) { return window.dim == dim; });
    return found == dims.end() ? nullptr : found;
  }
};

/// Elements of an access of a thread: those that it has need of, where windows
/// leave gaps, and all that it reads.
struct AccessWidths {
  double read = 1;
  int64_t span = 1, write = 1;
};

/// What a thread and a block have of the result.
struct Choice {
  int64_t vector = 1, channels = 1;
  /// Places of a thread along the last two dimensions of windows, and how many
  /// such strips it has, as far apart as its block's threads reach.
  int64_t strips[2] = {1, 1}, repeats = 1;
  /// Strips of a block along the dimensions but the channels, the last first.
  SmallVector<int64_t> tiles;
  /// Strips that a thread walks along the second of these dimensions.
  int64_t steps = 1;

  int64_t getPlaces() const { return strips[0] * strips[1] * repeats; }

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

/// Instructions, about, that make an element of `operand` of what the kernel
/// reads.
static double getWork(Value operand, const LoopFacts &facts) {
  double ofFunction = facts.target.fitted.loops.functionInstructions;
  Operation *producer = operand.getDefiningOp();
  if (!producer || !facts.contains(producer))
    return 0;
  double work = 0;
  if (auto op = dyn_cast<linalg::LinalgOp>(producer)) {
    for (Operation &inner : op.getBlock()->without_terminator())
      work += isa<math::MathDialect>(inner.getDialect()) ||
                      isa<arith::DivFOp>(inner)
                  ? ofFunction
                  : 1;
    for (Value input : op.getDpsInputs())
      work += getWork(input, facts);
  } else if (auto pad = dyn_cast<tensor::PadOp>(producer)) {
    work = getWork(pad.getSource(), facts);
  }
  return work;
}

/// Notes how far apart places along each dimension of the result are in
/// `operand`, which `instance` reads at `map`, when it is the largest with
/// windows.
static void noteDistances(const BodyInstance &instance, AffineMap map,
                          Value operand, const LoopFacts &facts,
                          Windows &windows) {
  auto op = cast<linalg::LinalgOp>(facts.body.getNode(instance).op);
  auto pad = operand.getDefiningOp<tensor::PadOp>();
  if (pad && !facts.contains(pad))
    pad = nullptr;
  // What pads a tensor is not in memory.
  auto type =
      pad ? pad.getSourceType() : cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> strides(type.getRank(), 1);
  int64_t elements = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    strides[dim] = elements;
    // Rows of unknown size are long; what is empty is priced as one element.
    elements *= type.isDynamicDim(dim)
                    ? kLineBytes
                    : std::max<int64_t>(type.getDimSize(dim), 1);
  }
  if (elements <= windows.elements)
    return;
  windows.elements = elements;
  windows.bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  windows.distances.assign(facts.getNumDims(), 0);
  windows.work = getWork(operand, facts);
  windows.padded.clear();
  windows.padded.resize(facts.getNumDims());
  windows.lows.assign(facts.getNumDims(), 0);
  windows.insides.assign(facts.getNumDims(), 0);
  if (facts.body.isFlat())
    return;
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  for (unsigned loop : parallel)
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      int64_t factor = getFactor(expr, loop);
      unsigned dim = facts.getDimOfLoop(instance, loop);
      windows.distances[dim] += factor * strides[i];
      if (factor == 0)
        continue;
      windows.insides[dim] = type.isDynamicDim(i) ? 0 : type.getDimSize(i);
      if (!pad || !pad.getPaddedDims().test(i))
        continue;
      windows.padded.set(dim);
      int64_t low = pad.getStaticLow()[i];
      windows.lows[dim] = ShapedType::isDynamic(low) ? 0 : low;
    }
}

/// Adds the windows of `instance`; false when its reduction is none over
/// windows that slide.
static bool addWindows(const BodyInstance &instance, const LoopFacts &facts,
                       Windows &windows) {
  auto op = cast<linalg::LinalgOp>(facts.body.getNode(instance).op);
  SmallVector<unsigned> reduced, parallel;
  op.getReductionDims(reduced);
  op.getParallelDims(parallel);
  // Windows overlap or touch: a coordinate adds up a loop of the result and one
  // of the window.
  auto isOfWindow = [&](AffineExpr expr) {
    return !isa<AffineDimExpr>(expr) &&
           llvm::any_of(reduced, [&](unsigned loop) {
             return expr.isFunctionOfDim(loop);
           });
  };
  bool slides = false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    ArrayRef<AffineExpr> results = map.getResults();
    if (llvm::none_of(results, isOfWindow)) {
      // The loops of the window and others: a factor of each element.
      windows.weighted |= results.size() > reduced.size() &&
                          llvm::all_of(reduced, [&](unsigned loop) {
                            return map.isFunctionOfDim(loop);
                          });
      continue;
    }
    slides = true;
    noteDistances(instance, map, operand.get(), facts, windows);
    // What lies along one dimension of all is no distance of windows.
    if (facts.body.isFlat())
      continue;
    for (AffineExpr expr : results)
      for (unsigned place : parallel)
        for (unsigned tap : reduced) {
          int64_t stride = getFactor(expr, place);
          int64_t dilation = getFactor(expr, tap);
          unsigned dim = facts.getDimOfLoop(instance, place);
          if (stride <= 0 || dilation <= 0 || windows.find(dim))
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
  for (std::optional<unsigned> dim : llvm::reverse(facts.primary)) {
    const WindowDim *window = dim ? windows.find(*dim) : nullptr;
    // Windows of one element share nothing.
    if (window && (window->taps > 1 || windows.weighted))
      ordered.push_back(*window);
  }
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
                  ArrayRef<unsigned> dims, const LoopFacts &facts,
                  bool canWalk);

  /// What takes the least time by the model of windows, and others that differ
  /// in what threads have.
  SmallVector<Choice> search();
  /// Places of a thread along dimension `number` of the result, of one step.
  int64_t stripOf(const Choice &choice, unsigned number) const;

private:
  void tryThread(int64_t vector, int64_t row, int64_t column, int64_t repeats,
                 int64_t steps);
  /// Prices `choice` with `lanes` along the last dimension.
  void tryLanes(Choice choice, int64_t lanes);
  /// Deals `left` threads of a block to the dimensions from `number` on.
  /// `waste` is what is computed over what is asked for, `reread` what blocks
  /// read over what there is.
  void spread(Choice choice, unsigned number, int64_t left, double waste,
              double reread);
  /// What blocks read over what there is, along dimension `number`.
  double getReread(unsigned number, int64_t places) const;
  /// Clocks of a multiprocessor for one element of the result; of the caches
  /// alone.
  double getClocks(const Choice &choice, double waste, double reread) const;
  double getCacheClocks(const Choice &choice, double waste) const;
  /// Sectors, or lines, of `bytes` each that an access of a warp touches, when
  /// threads have `accessBytes` at places `distances` apart.
  int64_t countTouched(const Choice &choice, ArrayRef<int64_t> distances,
                       int64_t elementBytes, int64_t accessBytes,
                       int64_t bytes) const;
  /// What a thread has side by side in memory is accessed at once.
  AccessWidths getWidths(const Choice &choice) const;
  /// Joins loads along dimension `number`, along which memory runs: each begins
  /// at a multiple of its width, of which rows have some.
  void joinReads(const Choice &choice, unsigned number,
                 AccessWidths &widths) const;
  /// Bytes of the sectors that a block reads, over those that it needs.
  double getSectorWaste(const Choice &choice) const;
  int64_t getTile(const Choice &choice, unsigned number) const {
    return number == 0 ? choice.channels : choice.tiles[number - 1];
  }
  /// Places of a thread along dimension `number`, of all steps.
  int64_t walkOf(const Choice &choice, unsigned number) const;
  /// The numbers of steps, from strips of `row` places, that cover the walked
  /// dimension in equal parts.
  SmallVector<int64_t> getWalks(int64_t row) const;
  /// How many strips a thread may have.
  SmallVector<int64_t> getRepeats(int64_t vector) const;
  /// Lengths of strips along the window dimension `number`.
  SmallVector<int64_t> getStrips(unsigned number) const;

  const Windows &windows;
  /// Of the result, the last dimension (channels) first.
  ArrayRef<int64_t> sizes;
  ArrayRef<unsigned> dims;
  const LoopFacts &facts;
  const WindowConstants &fitted;
  int64_t multiprocessors;
  /// Whether threads may walk along the second dimension of windows.
  bool canWalk;
  /// Elements from one place to the next, of what is read and of the result, by
  /// dimension of the result, and those that one access has at most.
  SmallVector<int64_t> reads, writes;
  int64_t width = 1;
  /// Of the result, and what the kernel moves for each.
  double elements = 1, bytesPerElement = 0;
  /// The best of the places of threads that are tried, and of those before.
  std::optional<Choice> best;
  SmallVector<Choice> found;
  double leastClocks = std::numeric_limits<double>::infinity();
};
} // namespace

WindowScheduler::WindowScheduler(const Windows &windows,
                                 ArrayRef<int64_t> sizes,
                                 ArrayRef<unsigned> dims,
                                 const LoopFacts &facts, bool canWalk)
    : windows(windows), sizes(sizes), dims(dims), facts(facts),
      fitted(facts.target.fitted.windows),
      multiprocessors(static_cast<int64_t>(facts.target.numSMs)),
      canWalk(canWalk) {
  int64_t distance = 1;
  for (auto [number, size] : llvm::enumerate(sizes)) {
    elements *= size;
    writes.push_back(distance);
    distance *= size;
    reads.push_back(windows.distances[dims[number]]);
  }
  bytesPerElement = facts.bytes / elements;
  // Windows along the last dimension begin at any element.
  if (!windows.find(dims.front()))
    width = sizes.front() & -sizes.front();
}

/// Places of a thread along dimension `number` of the result.
int64_t WindowScheduler::stripOf(const Choice &choice, unsigned number) const {
  for (auto [i, window] : llvm::enumerate(windows.dims))
    if (i < 2 && window.dim == dims[number])
      return choice.strips[i];
  return 1;
}

int64_t WindowScheduler::walkOf(const Choice &choice, unsigned number) const {
  bool isWalked = choice.steps > 1 && windows.dims[1].dim == dims[number];
  return stripOf(choice, number) * (isWalked ? choice.steps : 1);
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

SmallVector<int64_t> WindowScheduler::getStrips(unsigned number) const {
  SmallVector<int64_t> strips = {1};
  if (number >= windows.dims.size())
    return strips;
  const WindowDim &window = windows.dims[number];
  auto position = llvm::find(dims, window.dim) - dims.begin();
  // What shares nothing need not be of any length.
  bool shares = window.reads(2) < 2 * window.taps;
  for (int64_t strip = 2; strip <= std::min(kMaxStrip, sizes[position]);
       strip += shares || windows.weighted ? 1 : strip)
    strips.push_back(strip);
  return strips;
}

SmallVector<int64_t> WindowScheduler::getRepeats(int64_t vector) const {
  SmallVector<int64_t> repeats = {1};
  // Factors are kept for places side by side. Accesses are as wide as what a
  // thread has allows.
  if (windows.weighted || vector < std::min(width, 16 / facts.narrowestElement))
    return repeats;
  for (int64_t more = 2; more <= kMaxRepeats; more *= 2)
    repeats.push_back(more);
  return repeats;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

void WindowScheduler::joinReads(const Choice &choice, unsigned number,
                                AccessWidths &widths) const {
  const WindowDim *window = windows.find(dims[number]);
  int64_t inside = windows.insides[dims[number]];
  if (!window || inside == 0 || reads[number] != window->stride)
    return;
  int64_t strip = walkOf(choice, number);
  int64_t step = strip == sizes[number] ? 0 : strip * window->stride;
  int64_t width = std::max<int64_t>(kMaxAccessBytes / windows.bytes, 1);
  while (inside % width != 0 || step % width != 0)
    width /= 2;
  std::set<int64_t> accesses;
  for (int64_t place = 0; place < stripOf(choice, number); ++place)
    for (int64_t tap = 0; tap < window->taps; ++tap)
      accesses.insert(llvm::divideFloorSigned(place * window->stride +
                                                  tap * window->dilation -
                                                  windows.lows[dims[number]],
                                              width));
  widths.read = static_cast<double>(window->reads(stripOf(choice, number))) /
                static_cast<double>(accesses.size());
  widths.span = width;
}

AccessWidths WindowScheduler::getWidths(const Choice &choice) const {
  int64_t own = std::min(width, choice.vector);
  AccessWidths widths = {static_cast<double>(own), own, own};
  // The first dimension that a thread has not whole; nothing else follows it
  // in memory.
  unsigned number = 0;
  int64_t inside = 1;
  while (number < sizes.size() && !windows.find(dims[number]) &&
         sizes[number] == (number == 0 ? own : 1))
    inside *= sizes[number++];
  if (number == sizes.size() || reads[number] % inside != 0)
    return widths;
  if (inside == 1)
    joinReads(choice, number, widths);
  // The ends of a dimension are conditions of each access.
  int64_t strip = stripOf(choice, number);
  const WindowDim *window = windows.find(dims[number]);
  if (windows.weighted || windows.padded.test(dims[number]) ||
      sizes[number] % (getTile(choice, number) * strip) != 0)
    return widths;
  // So are those of others, of which only single elements have a plain load.
  bool isRagged = windows.padded.any();
  for (unsigned other = number + 1; other < sizes.size(); ++other)
    isRagged |=
        sizes[other] % (getTile(choice, other) * walkOf(choice, other)) != 0;
  if (isRagged && own > 1)
    return widths;
  auto limit = [](int64_t run, int64_t elementBytes) {
    return std::min<int64_t>(llvm::bit_floor<uint64_t>(run),
                             std::max<int64_t>(16 / elementBytes, 1));
  };
  int64_t taps = window ? window->taps : 1;
  bool hasGaps = reads[number] != inside * (window ? window->stride : 1) ||
                 (window && window->dilation > 1);
  int64_t run = strip;
  if (window && taps >= window->stride)
    run = (strip - 1) * window->stride + taps;
  else if (window)
    run = taps;
  bool isWhole = strip == sizes[number];
  int64_t readAlignment = isWhole ? 0 : strip * reads[number],
          writeAlignment = isWhole ? 0 : strip * writes[number];
  for (unsigned other = number + 1; other < sizes.size(); ++other)
    if (sizes[other] > 1) {
      readAlignment = std::gcd(readAlignment, reads[other]);
      writeAlignment = std::gcd(writeAlignment, writes[other]);
    }
  auto align = [](int64_t alignment) {
    return alignment == 0 ? 16 : alignment & -alignment;
  };
  if (!hasGaps && inside > 1) {
    widths.span = std::max(own, std::min(align(readAlignment),
                                         limit(run * inside, windows.bytes)));
    widths.read = static_cast<double>(widths.span);
  }
  widths.write =
      std::max(own, std::min(align(writeAlignment),
                             limit(strip * inside, facts.narrowestElement)));
  return widths;
}

int64_t WindowScheduler::countTouched(const Choice &choice,
                                      ArrayRef<int64_t> distances,
                                      int64_t elementBytes, int64_t accessBytes,
                                      int64_t bytes) const {
  // Lanes follow the last dimension first, as layouts do, beyond the elements
  // of an access.
  SmallVector<int64_t, 1 << kLaneBits> offsets = {0};
  for (unsigned number = 0;
       number < sizes.size() && offsets.size() < (1u << kLaneBits); ++number) {
    int64_t distance =
        distances[number] * walkOf(choice, number) * elementBytes;
    for (int64_t place = number == 0 ? std::min(width, choice.vector) : 1;
         place < getTile(choice, number) && offsets.size() < (1u << kLaneBits);
         place *= 2)
      for (unsigned lane = 0, lanes = offsets.size(); lane < lanes; ++lane)
        offsets.push_back(offsets[lane] + place * distance);
  }
  SmallVector<int64_t, 2 << kLaneBits> touched;
  for (int64_t offset : offsets)
    for (int64_t part = offset / bytes;
         part <= (offset + accessBytes - 1) / bytes; ++part)
      touched.push_back(part);
  llvm::sort(touched);
  return std::unique(touched.begin(), touched.end()) - touched.begin();
}

double WindowScheduler::getSectorWaste(const Choice &choice) const {
  // The run of memory along the dimensions that the block has whole, and the
  // next.
  int64_t run = 1;
  for (auto [number, size] : llvm::enumerate(sizes)) {
    int64_t places =
        std::min(size, getTile(choice, number) * walkOf(choice, number));
    const WindowDim *window = windows.find(dims[number]);
    int64_t span = window ? (places - 1) * window->stride +
                                (window->taps - 1) * window->dilation + 1
                          : places;
    int64_t step = window ? reads[number] / window->stride : reads[number];
    if (step > run)
      break;
    run += (span - 1) * step;
    if (places < size)
      break;
  }
  // A run begins and ends at any byte. What rows of whole sectors cost with
  // factors is part of the constants above.
  int64_t bytes = run * windows.bytes;
  return windows.weighted && bytes % kSectorBytes == 0
             ? 1
             : static_cast<double>(bytes + kSectorBytes) / bytes;
}

double WindowScheduler::getCacheClocks(const Choice &choice,
                                       double waste) const {
  AccessWidths widths = getWidths(choice);
  int64_t readBytes = widths.span * windows.bytes;
  double lines = static_cast<double>(
      countTouched(choice, reads, windows.bytes, readBytes, kLineBytes));
  double readClocks =
      std::max({1.0, lines / fitted.linesPerClock,
                static_cast<double>(readBytes << kLaneBits) / kLineBytes});
  int64_t storeBytes = widths.write * facts.narrowestElement;
  int64_t sectors = countTouched(choice, writes, facts.narrowestElement,
                                 storeBytes, kSectorBytes);
  // Of one element of the result: an access brings as many elements to each
  // lane as are side by side.
  double lanes = (1 << kLaneBits) / waste;
  double stored = static_cast<double>(sectors * kSectorBytes) /
                  (lanes * static_cast<double>(widths.write));
  double needed = windows.bytes;
  for (const WindowDim &window : windows.dims)
    needed *= static_cast<double>(std::min(window.stride, window.taps));
  double places = static_cast<double>(choice.getPlaces());
  double accesses = readClocks * static_cast<double>(choice.reads) /
                        (places * lanes * widths.read) +
                    1 / (lanes * widths.write);
  return std::max(accesses, (stored + needed * getSectorWaste(choice)) /
                                fitted.sectorBytesPerClock);
}

double WindowScheduler::getReread(unsigned number, int64_t places) const {
  const WindowDim *window = windows.find(dims[number]);
  return window ? static_cast<double>(window->reads(places)) /
                      (places * std::min(window->stride, window->taps))
                : 1;
}

double WindowScheduler::getClocks(const Choice &choice, double waste,
                                  double reread) const {
  double places = choice.getPlaces();
  double steps = choice.steps;
  // Factors, and of the first strip what later ones keep, once for all steps.
  double loads =
      choice.fresh + (choice.reads - choice.fresh + choice.weights) / steps;
  double vector = choice.vector;
  double instructions =
      windows.taps + fitted.placeInstructions +
      (choice.reads * (1 + windows.work) + choice.weights / steps +
       loads * fitted.loadInstructions / getWidths(choice).read +
       (steps > 1 ? fitted.keepInstructions * choice.reads : 0)) /
          places +
      fitted.threadInstructions / (places * vector * steps);
  // Blocks of a multiprocessor, and those that it holds at once.
  double registers = llvm::alignTo(
      std::min<int64_t>(choice.registers, kMaxThreadRegisters), 8);
  double most =
      std::clamp(std::floor(static_cast<double>(facts.target.registersPerSM) /
                            (choice.threads * registers)),
                 1.0, static_cast<double>(facts.target.maxBlocksPerSM));
  double blocks = choice.blocks / multiprocessors;
  double resident = std::min(most, blocks) * choice.threads / kWarpThreads;
  double rounds = blocks > most ? std::ceil(std::ceil(blocks) / most) * most
                                : std::ceil(blocks);
  double arithmetic = waste * instructions / fitted.lanes *
                      std::max(1.0, fitted.busyWarps / resident) *
                      std::pow(rounds / blocks, fitted.roundsShare);
  int64_t row = choice.channels * facts.narrowestElement;
  double memory = bytesPerElement / fitted.bytesPerClock *
                  (1 + fitted.borderShare * (reread - 1));
  if (row < fitted.rowBytes && choice.channels < sizes[0])
    memory *= fitted.narrowRows;
  // However little a step has to do, it waits for what was loaded ahead.
  double waits = std::ceil(std::ceil(blocks) / most) *
                 (steps + fitted.firstSteps) * fitted.stepClocks *
                 multiprocessors / elements;
  auto getTotal = [&] {
    double clocks = std::max(arithmetic, memory) +
                    (steps > 1 ? fitted.walkExposed : fitted.exposed) *
                        std::min(arithmetic, memory);
    return std::pow(std::pow(clocks, 4) + std::pow(waits, 4), 0.25) *
           (choice.threads <= 32 ? fitted.loneWarp : 1);
  };
  double least = getTotal();
  if (least >= kMostOverBest * leastClocks || (best && least >= best->clocks))
    return least;
  double caches = getCacheClocks(choice, waste);
  if (caches <= memory)
    return least;
  memory = caches;
  return getTotal();
}

void WindowScheduler::spread(Choice choice, unsigned number, int64_t left,
                             double waste, double reread) {
  if (number == sizes.size()) {
    // Threads of less than a warp would have the same elements.
    choice.threads /= choice.repeats;
    if (choice.repeats > 1 && choice.threads < (1 << kLaneBits))
      return;
    if (waste > 1)
      choice.registers *= fitted.raggedRegisters;
    else if (choice.settles)
      choice.registers =
          std::min<double>(choice.registers, fitted.settledRegisters);
    if (choice.threads < (1 << kLaneBits))
      waste *= static_cast<double>(1 << kLaneBits) / choice.threads;
    choice.clocks = getClocks(choice, waste, reread * getSectorWaste(choice));
    if (!best || choice.clocks < best->clocks)
      best = choice;
    return;
  }
  int64_t strip = walkOf(choice, number);
  for (int64_t tile = 1; tile <= left; tile *= 2) {
    if (tile > 1 && tile / 2 * strip >= sizes[number])
      break;
    Choice next = choice;
    next.tiles.push_back(tile);
    next.threads *= tile;
    next.blocks *= llvm::divideCeil(sizes[number], tile * strip);
    spread(next, number + 1, left / tile,
           waste * getWaste(sizes[number], tile * strip),
           reread * getReread(number, tile * strip));
  }
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

void WindowScheduler::tryLanes(Choice choice, int64_t lanes) {
  int64_t strip = walkOf(choice, 0);
  choice.channels = lanes * choice.vector;
  choice.threads = lanes;
  choice.blocks = llvm::divideCeil(sizes[0], choice.channels * strip);
  spread(choice, 1, fitted.threads * choice.repeats / lanes,
         getWaste(sizes[0], choice.channels * strip),
         getReread(0, choice.channels * strip));
}

/// Prices threads of `vector` channels at `repeats` times `row` by `column`
/// places, `steps` times.
void WindowScheduler::tryThread(int64_t vector, int64_t row, int64_t column,
                                int64_t repeats, int64_t steps) {
  Choice choice;
  choice.vector = vector;
  choice.steps = steps;
  choice.strips[0] = column;
  choice.strips[1] = row;
  choice.repeats = repeats;
  int64_t places = choice.getPlaces();
  if (places > 1 && places * windows.taps > kMaxWritten)
    return;
  choice.reads = choice.fresh = repeats;
  for (auto [number, window] : llvm::enumerate(windows.dims)) {
    int64_t own = window.reads(number < 2 ? choice.strips[number] : int64_t(1));
    choice.reads *= own;
    choice.fresh *= number == 1 && steps > 1
                        ? std::min(own, window.stride * choice.strips[1])
                        : own;
  }
  choice.weights = windows.weighted ? windows.taps : 0;
  // As they are read: all at once, or what is kept and what comes next.
  // What is loaded alone has a register alone.
  int64_t own = std::min(width, vector);
  int64_t words =
      vector / own * llvm::divideCeil(own * facts.narrowestElement, 4);
  choice.registers = fitted.otherRegisters +
                     (steps > 1 ? words * (choice.reads + choice.fresh) +
                                      vector * choice.weights
                                : words * (choice.reads + choice.weights));
  // Loads may wait where the products alone take longer than the memory.
  bool mayWait =
      windows.taps / fitted.lanes > bytesPerElement / fitted.bytesPerClock;
  if (windows.weighted && mayWait && steps == 1 && words == 1 &&
      vector * places <= fitted.settledAccumulators) {
    int64_t line = windows.dims.empty() ? 1 : windows.dims[0].reads(column);
    choice.settles =
        fitted.otherRegisters + vector * places + choice.weights + line <=
        fitted.settledRegisters + fitted.settledError;
  }
  best.reset();
  bool isLeast = places == 1 && vector * facts.narrowestElement <= 4;
  if (choice.registers > fitted.maxRegisters && !isLeast)
    return;
  // Channels of a block: as many lanes of a warp as waste little, or, where
  // there is little to compute, as many as there are.
  int64_t lanes = 1, all = 1, covered = vector * walkOf(choice, 0);
  for (int64_t more = 2,
               most = windows.weighted ? kWarpThreads : fitted.threads;
       more <= most && more / 2 * covered < sizes[0]; more *= 2) {
    all = more;
    if (getWaste(sizes[0], more * covered) <= kLittleWaste)
      lanes = more;
  }
  tryLanes(choice, lanes);
  if (all != lanes && !windows.weighted)
    tryLanes(choice, all);
  if (!best)
    return;
  leastClocks = std::min(leastClocks, best->clocks);
  found.push_back(*best);
}

SmallVector<Choice> WindowScheduler::search() {
  int64_t narrowest = facts.narrowestElement;
  int64_t most = std::clamp<int64_t>(16 / narrowest, 1, 8);
  most = std::min<int64_t>(most, llvm::PowerOf2Ceil(sizes[0]));
  int64_t least = std::min<int64_t>(std::max<int64_t>(4 / narrowest, 1), most);
  // Elements that no access has side by side may go to a lane each where no
  // factors are shared, and do where windows lie along them: only stores could
  // be wide.
  if (!windows.weighted)
    least = std::min(least, width);
  if (windows.find(dims.front()))
    most = least = 1;
  for (int64_t vector = most; vector >= least; vector /= 2)
    for (int64_t column : getStrips(0))
      for (int64_t row : getStrips(1))
        for (int64_t repeats : getRepeats(vector))
          for (int64_t steps : getWalks(row))
            tryThread(vector, row, column, repeats, steps);
  llvm::stable_sort(found, [](const Choice &a, const Choice &b) {
    return a.clocks < b.clocks;
  });
  // The two best, and of others the best with so many places along each
  // dimension, in so many strips or in all.
  SmallVector<Choice> different;
  std::set<std::pair<int, int64_t>> seen;
  for (const Choice &choice : found) {
    bool isNew = different.size() < 2;
    const int64_t numbers[] = {choice.strips[0], choice.strips[1],
                               choice.repeats, choice.vector,
                               choice.getPlaces() * choice.vector};
    for (auto [kind, number] : llvm::enumerate(numbers))
      isNew |= seen.insert({static_cast<int>(kind), number}).second;
    if (isNew && different.size() < kMaxFound)
      different.push_back(choice);
  }
  return different;
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
  WindowScheduler scheduler(*windows, sizes, dims, facts, canWalk);
  LoopSchedules schedules;
  for (const Choice &choice : scheduler.search()) {
    LoopSchedule schedule(Strategy::Reduction, facts.getNumDims());
    for (unsigned id : facts.reduced.set_bits())
      schedule[id].kind = AxisKind::Loop;
    for (auto [number, dim] : llvm::enumerate(dims)) {
      LoopAxis &axis = schedule[dim];
      axis.tile = number == 0 ? choice.channels : choice.tiles[number - 1];
      axis.vector = number == 0 ? choice.vector : 1;
      axis.strip = scheduler.stripOf(choice, number);
      if (choice.steps > 1 && windows->dims[1].dim == dim)
        axis.steps = choice.steps;
    }
    schedule.warps = std::max<int64_t>(choice.threads / kWarpThreads, 1);
    schedules.push_back(std::move(schedule));
    // Of convolutions the model of windows is the one that was fitted.
    if (windows->weighted)
      break;
  }
  return schedules;
}
