//===- ReductionSchedule.cpp - Schedules of rows and columns --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the schedules of kernels that reduce, but neither
// windows nor products. What is reduced to one result lives in the tile of one
// block if it fits there; in those of several co-resident blocks if it is read
// more than once; or is walked, by as many blocks as fill the chip.
//
//===----------------------------------------------------------------------===//

#include "ScheduleDraft.h"

#include "fusion/Analysis/CostModel.h"
#include "fusion/Analysis/ReductionSplit.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

/// Elements of a column reduction's tile: with the width of a cache line, rows
/// enough for 32 warps to have several loads in flight (sm_90a, 2026-11-21).
static constexpr int64_t kColumnTile = 16384;
/// Elements of a chunk of contiguous elements that one block walks, and that
/// each of several does: fewer blocks have to have more loads in flight.
static constexpr int64_t kRowChunk = 4096, kSplitChunk = 16384;

/// Bytes of a cache line, which column reductions read whole.
static constexpr int64_t kLineBytes = 128;

/// Elements of the columns that a block keeps, of which a thread then has 32 in
/// registers, twice, at most.
static constexpr int64_t kKeptColumnElements = 16384;

/// Threads of a block that shares a reduction with others, and registers that
/// each has for what it keeps: of 128, others are for what is computed on a few
/// elements at a time (sm_90a, 2026-11-23).
static constexpr int64_t kShareThreads = 512, kKeptRegisters = 72;

/// Elements of the tile of a block that has several rows, or columns.
static constexpr int64_t kRowElements = 1024, kColumnElements = 2048;
/// Elements that one thread reduces by itself, and threads of a block then.
static constexpr int64_t kFewElements = 32, kFewThreads = 256;

namespace {
/// The dimensions that a kernel reduces.
struct ReducedDims {
  /// Those of more than one element, the one that is contiguous first.
  SmallVector<unsigned> dims;
  /// Sizes are not all known.
  bool dynamic = false;
  /// Elements that are reduced to one, and the same with each dimension
  /// rounded up to a power of two.
  int64_t elements = 1, padded = 1;
};
} // namespace

static int64_t multiply(int64_t a, int64_t b) {
  return std::min<int64_t>(llvm::SaturatingMultiply<uint64_t>(a, b), int64_t(1)
                                                                         << 40);
}

static ReducedDims findReducedDims(const IterationSpace &space,
                                   const KernelFacts &facts) {
  ReducedDims result;
  for (unsigned i = 0; i < space.getNumDims(); ++i) {
    if (!space.getDims()[i].reduction || facts.extents[i] == 1)
      continue;
    result.dims.push_back(i);
    result.dynamic |= !space.getDims()[i].getStaticExtent();
    result.elements = multiply(result.elements, facts.extents[i]);
    result.padded = multiply(result.padded, nextPowerOfTwo(facts.extents[i]));
  }
  // Dimensions are numbered from the outermost.
  std::reverse(result.dims.begin(), result.dims.end());
  llvm::stable_sort(result.dims, [&](unsigned a, unsigned b) {
    return facts.contiguousBytes[a] > facts.contiguousBytes[b];
  });
  return result;
}

static bool reduces(linalg::LinalgOp op, const IterationSpace &space,
                    unsigned dim) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  return llvm::any_of(loops, [&](unsigned loop) {
    return space.getDimOfLoop(op, loop) == dim;
  });
}

/// True when elements along `dim` are needed once more after they are reduced:
/// by a second reduction, or in a result.
static bool isSweptAgain(KernelOp kernel, const IterationSpace &space,
                         unsigned dim) {
  if (space.getDims()[dim].root)
    return true;
  // What depends on a reduction along the dimension.
  llvm::SmallPtrSet<Operation *, 16> later;
  for (Operation &op : kernel.getBlock()) {
    bool isLater = llvm::any_of(op.getOperands(), [&](Value operand) {
      return later.contains(operand.getDefiningOp());
    });
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    bool isReduction = linalgOp && reduces(linalgOp, space, dim);
    if (isReduction && isLater)
      return true;
    if (isReduction || isLater)
      later.insert(&op);
  }
  return false;
}

namespace {
/// What threads have to keep, at most, from one sweep along a dimension to a
/// later one.
struct KeptValues {
  /// Of each element, and of all.
  int64_t elements = 0, results = 0;
  /// Operands of each element that are not needed before a later sweep.
  int64_t late = 0;
};
} // namespace

/// Counts what sweeps along `dim` keep. The sweep of a value is the number of
/// reductions along the dimension that it comes after.
static KeptValues countKept(KernelOp kernel, const IterationSpace &space,
                            unsigned dim) {
  KeptValues result;
  DenseMap<Value, unsigned> sweeps;
  DenseMap<Value, SmallVector<unsigned>> uses;
  unsigned last = 0;
  for (Operation &op : kernel.getBlock()) {
    unsigned sweep = 0;
    for (Value operand : op.getOperands())
      sweep = std::max(sweep, sweeps.lookup(operand));
    for (Value operand : op.getOperands())
      uses[operand].push_back(sweep);
    last = std::max(last, sweep);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    bool isReduction = linalgOp && reduces(linalgOp, space, dim);
    result.results += isReduction ? op.getNumResults() : 0;
    for (Value value : op.getResults())
      sweeps[value] = sweep + isReduction;
  }
  SmallVector<int64_t> kept(last, 0);
  for (auto &[value, inSweeps] : uses) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isLong = false;
    for (int64_t i = 0; type && i < type.getRank(); ++i)
      isLong |= space.findDimOfTensor(value, i) == dim;
    if (!isLong || value.getDefiningOp<tensor::EmptyOp>() ||
        value.getDefiningOp<linalg::FillOp>())
      continue;
    // Arguments are loaded where they are needed first.
    unsigned first = value.getDefiningOp() ? sweeps.lookup(value)
                                           : *llvm::min_element(inSweeps);
    result.late += !value.getDefiningOp() && first > 0;
    for (unsigned sweep = first; sweep < *llvm::max_element(inSweeps); ++sweep)
      ++kept[sweep];
  }
  for (int64_t values : kept)
    result.elements = std::max(result.elements, values);
  return result;
}

/// Elements that a block of `kShareThreads` keeps of what is reduced along
/// `dim`, with `columns` results a thread: as many as registers suffice for.
/// Half of the late operands' elements are on their way at a time.
static int64_t getMostShare(KernelOp kernel, const IterationSpace &space,
                            unsigned dim, int64_t columns) {
  KeptValues kept = countKept(kernel, space, dim);
  int64_t perThread = 2 * (kKeptRegisters - kept.results * columns) /
                      (2 * std::max<int64_t>(kept.elements, 1) + kept.late);
  return std::min<int64_t>(
      kMaxShareElements, kShareThreads * llvm::bit_floor<uint64_t>(
                                             std::max<int64_t>(perThread, 1)));
}

/// Tiles of `width` elements in all along kept dimensions that lie side by side
/// in the largest operand; returns how many they have.
static int64_t addColumns(KernelOp kernel, const IterationSpace &space,
                          const KernelFacts &facts, int64_t width,
                          Draft &draft) {
  Value largest;
  double most = 0;
  for (Value argument : kernel.getBlock().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    double elements = type && type.getRank() > 0 ? 1 : 0;
    for (int64_t i = 0; elements > 0 && i < type.getRank(); ++i)
      elements *=
          static_cast<double>(facts.extents[space.getDimOfTensor(argument, i)]);
    if (elements > most) {
      most = elements;
      largest = argument;
    }
  }
  int64_t columns = 1;
  if (!largest)
    return columns;
  for (int64_t i = cast<RankedTensorType>(largest.getType()).getRank();
       i-- > 0 && columns < width;) {
    unsigned dim = space.getDimOfTensor(largest, i);
    const IterationDim &own = space.getDims()[dim];
    if (own.reduction || (!own.root && own.getStaticExtent() != 1))
      break;
    if (facts.extents[dim] == 1)
      continue;
    draft.tiles[dim] =
        std::min(width / columns, nextPowerOfTwo(facts.extents[dim]));
    columns *= draft.tiles[dim];
  }
  return columns;
}

//===----------------------------------------------------------------------===//
// Several blocks
//===----------------------------------------------------------------------===//

/// True when blocks that have different parts of `dim` can combine what the
/// kernel reduces of it outside of loops. Sets `words` to what a block gives
/// the others.
static bool areCombinable(KernelOp kernel, const IterationSpace &space,
                          unsigned dim, const Draft &draft, int64_t &words) {
  words = 0;
  // How many groups there are decides how much memory they exchange through.
  for (auto [id, kind] : llvm::enumerate(draft.kinds))
    if (kind == AxisKind::Grid &&
        space.getDims()[id].getStaticExtent().value_or(0) == 0)
      return false;
  for (Operation &op : kernel.getBlock()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !reduces(linalgOp, space, dim))
      continue;
    if (!isCombinable(linalgOp))
      return false;
    int64_t elements = 1;
    for (Value result : op.getResults()) {
      elements = 1;
      auto type = cast<RankedTensorType>(result.getType());
      for (int64_t d = 0; d < type.getRank(); ++d) {
        std::optional<unsigned> own = space.findDimOfTensor(result, d);
        if (!own || *own == dim)
          return false;
        if (draft.kinds[*own] == AxisKind::Loop && type.getDimSize(d) != 1)
          return false;
        elements *= draft.tiles[*own];
      }
    }
    // The results of one operation lie along the same dimensions.
    words += elements * static_cast<int64_t>(getPartialTypes(linalgOp)->size());
  }
  return words > 0;
}

/// Blocks that together have all that is reduced to the results of `draft` in
/// their tiles: each element of what is needed again is then read once. Threads
/// with `columns` results each have no more than registers suffice for unless
/// `spills`. None where they cannot.
static std::optional<Draft>
spreadTiles(KernelOp kernel, const IterationSpace &space,
            const KernelFacts &facts, const ReducedDims &reduced,
            int64_t columns, bool spills, const ScheduleLimits &limits,
            Draft draft) {
  for (unsigned dim : reduced.dims) {
    draft.kinds[dim] = AxisKind::Full;
    draft.tiles[dim] = nextPowerOfTwo(facts.extents[dim]);
  }
  double groups = gridBlocks(draft, facts);
  std::optional<Draft> best;
  double fewest = 0, mostBlocks = 0;
  for (unsigned dim : reduced.dims) {
    int64_t others = 1;
    for (unsigned i = 0; i < draft.tiles.size(); ++i)
      others = multiply(others, i == dim ? 1 : draft.tiles[i]);
    if (!isSweptAgain(kernel, space, dim))
      continue;
    int64_t most = getMostShare(kernel, space, dim, columns);
    if (spills)
      most = kMaxShareElements;
    for (int64_t share = most; share >= std::min(most, kMaxShareElements / 4);
         share /= 2) {
      if (others * 2 > share)
        continue;
      Draft spread = draft;
      spread.tiles[dim] = share / others;
      int64_t blocks = llvm::divideCeil(facts.extents[dim], spread.tiles[dim]);
      int64_t words;
      if (blocks < 2 || blocks > kMaxSplit ||
          !areCombinable(kernel, space, dim, spread, words) ||
          !fitsExchange(groups, blocks, words))
        continue;
      // The fewest places without an element; of those about as good, the
      // largest tiles with which blocks fill the chip.
      double places = static_cast<double>(multiply(blocks, share));
      bool isBusy =
          groups * mostBlocks >= static_cast<double>(limits.multiprocessors);
      if (best && places >= fewest * (isBusy ? 0.9 : 1.1))
        continue;
      best = spread;
      fewest = places;
      mostBlocks = static_cast<double>(blocks);
    }
  }
  return best;
}

/// The same for one row of results, or for as many columns as fill a cache
/// line, a sector at least where their rows are too many.
static std::optional<Draft>
spreadRowsOrColumns(KernelOp kernel, const IterationSpace &space,
                    const KernelFacts &facts, const ReducedDims &reduced,
                    bool hasColumns, const ScheduleLimits &limits,
                    const Draft &draft) {
  if (reduced.dynamic)
    return std::nullopt;
  // Rows that registers do not suffice for where no smaller parts will do;
  // columns are walked then.
  for (bool spills : {false, true})
    for (int64_t bytes = kLineBytes;
         bytes >= static_cast<int64_t>(cost::kSectorBytes); bytes /= 2) {
      if (hasColumns && spills)
        return std::nullopt;
      Draft wide = draft;
      int64_t inThread = 1;
      if (hasColumns)
        inThread = std::min(*llvm::max_element(draft.vectors),
                            addColumns(kernel, space, facts,
                                       bytes / facts.widestElement, wide));
      if (auto spread = spreadTiles(kernel, space, facts, reduced, inThread,
                                    spills, limits, wide))
        return spread;
      if (!hasColumns)
        break;
    }
  return std::nullopt;
}

/// Lets several blocks walk the dimension of the most chunks, if they can.
static void splitWalk(KernelOp kernel, const IterationSpace &space,
                      const KernelFacts &facts, const ReducedDims &reduced,
                      double groups, const TargetInfo *target, Draft &draft) {
  if (!target)
    return;
  auto chunksOf = [&](unsigned dim) {
    return llvm::divideCeil(facts.extents[dim], draft.tiles[dim]);
  };
  std::optional<unsigned> most;
  for (unsigned dim : reduced.dims)
    if (space.getDims()[dim].getStaticExtent() &&
        (!most || chunksOf(dim) > chunksOf(*most)))
      most = dim;
  int64_t words;
  if (!most || chunksOf(*most) < 2 ||
      !areCombinable(kernel, space, *most, draft, words))
    return;
  double elements = 1;
  for (unsigned i = 0; i < draft.kinds.size(); ++i)
    elements *= static_cast<double>(
        draft.kinds[i] == AxisKind::Loop ? facts.extents[i] : draft.tiles[i]);
  int64_t blocks = getWalkSplit(groups, elements, *target);
  // No block without a chunk.
  int64_t chunks = chunksOf(*most);
  blocks = llvm::divideCeil(chunks,
                            llvm::divideCeil(chunks, std::min(blocks, chunks)));
  if (fitsExchange(groups, blocks, words))
    draft.splits[*most] = blocks;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Rows (or columns) of one block: enough work for a few warps, but no fewer
/// blocks than the chip has multiprocessors.
static void addResultTiles(KernelOp kernel, const IterationSpace &space,
                           const KernelFacts &facts,
                           const ScheduleLimits &limits, int64_t budget,
                           Draft &draft) {
  auto primary = kernel.getStoredValues()[space.getPrimaryResult()];
  int64_t rank = cast<RankedTensorType>(primary.getType()).getRank();
  for (int64_t i = rank - 1; i >= 0 && draft.tileElements() < budget; --i) {
    unsigned dim = space.getDimOfTensor(primary, i);
    if (draft.tiles[dim] > 1 || space.getDims()[dim].reduction)
      continue;
    int64_t room = std::max<int64_t>(budget / draft.tileElements(), 1);
    draft.tiles[dim] = std::min(room, nextPowerOfTwo(facts.extents[dim]));
    while (draft.tiles[dim] > 1 &&
           gridBlocks(draft, facts) < 2.0 * limits.multiprocessors)
      draft.tiles[dim] /= 2;
  }
}

/// True when a thread can reduce what is reduced to one element by itself,
/// written out, and nothing of it is needed again.
static bool isFew(KernelOp kernel, const IterationSpace &space,
                  const ReducedDims &reduced) {
  return !reduced.dynamic && reduced.elements <= kFewElements &&
         llvm::none_of(reduced.dims, [&](unsigned dim) {
           return isSweptAgain(kernel, space, dim);
         });
}

/// Threads have elements of the results, as in pointwise kernels.
static ScheduleAttr scheduleFew(KernelOp kernel, const IterationSpace &space,
                                const KernelFacts &facts,
                                const ScheduleLimits &limits,
                                const ReducedDims &reduced, int64_t vector,
                                Draft draft) {
  for (unsigned dim : reduced.dims)
    draft.kinds[dim] = AxisKind::Loop;
  int64_t elements = kFewThreads * vector;
  addColumns(kernel, space, facts, elements, draft);
  addResultTiles(kernel, space, facts, limits, elements, draft);
  return draft.finish(kernel.getContext(), Strategy::Reduction,
                      warpsFor(draft.tileElements(), vector, kFewThreads / 32));
}

/// Chunks of `budget` elements of what is reduced, the contiguous dimension
/// first.
static void addChunks(const KernelFacts &facts, const ReducedDims &reduced,
                      int64_t budget, Draft &draft) {
  for (unsigned dim : reduced.dims) {
    draft.kinds[dim] = AxisKind::Loop;
    draft.tiles[dim] = std::min(budget, nextPowerOfTwo(facts.extents[dim]));
    budget /= draft.tiles[dim];
  }
}

/// `draft` with threads for it. Elements a thread that were fastest on sm_90a,
/// 2026-11-21: with long rows many, so that several blocks share a
/// multiprocessor and one's barriers do not leave it idle; with short rows few.
/// With more than `most` elements there are no more threads, which would have
/// too few registers for what they keep.
static ScheduleAttr finish(KernelOp kernel, const Draft &draft, int64_t most) {
  int64_t elements = draft.tileElements();
  int64_t perThread = elements <= 1024 ? 8 : elements <= 4096 ? 16 : 32;
  if (elements > most)
    perThread = elements / kShareThreads;
  return draft.finish(kernel.getContext(), Strategy::Reduction,
                      warpsFor(elements, perThread));
}

ScheduleAttr mlir::fusion::scheduleReduction(KernelOp kernel,
                                             const IterationSpace &space,
                                             const KernelFacts &kernelFacts,
                                             const ScheduleLimits &limits) {
  KernelFacts facts = kernelFacts;
  // Blocks have tiles of results. Other dimensions are those of operands that
  // windows slide over, or that are reshaped.
  for (auto [id, dim] : llvm::enumerate(space.getDims()))
    if (!dim.root && !dim.reduction) {
      facts.extents[id] = 1;
      facts.contiguousBytes[id] = 0;
    }
  Draft draft(space.getNumDims());
  int64_t vector = std::max<int64_t>(16 / facts.narrowestElement, 1);
  vector = std::min<int64_t>(vector, 8);
  unsigned fastest = 0;
  for (unsigned i = 0; i < space.getNumDims(); ++i)
    if (facts.contiguousBytes[i] > facts.contiguousBytes[fastest])
      fastest = i;
  ReducedDims reduced = findReducedDims(space, facts);
  bool rowsAreContiguous = space.getDims()[fastest].reduction;
  int64_t limit = rowsAreContiguous ? limits.residentElements : 1024;
  bool full = !reduced.dynamic && reduced.padded <= limit;
  draft.vectors[fastest] = vector;

  // A column reduction reads a cache line's width of columns at a time; a
  // sector's where it keeps many rows of them all, more where there are few.
  bool columns = !rowsAreContiguous && facts.extents[fastest] > 1;
  int64_t columnWidth = kLineBytes / facts.narrowestElement;
  while (full && columns &&
         columnWidth * reduced.padded > kKeptColumnElements &&
         static_cast<double>(columnWidth * facts.narrowestElement) >
             cost::kSectorBytes)
    columnWidth /= 2;
  while (full && columnWidth * reduced.padded < kColumnElements)
    columnWidth *= 2;
  if (columns && isFew(kernel, space, reduced))
    return scheduleFew(kernel, space, facts, limits, reduced, vector, draft);
  // A thread that keeps more than 64 elements has few neighbours.
  if (!full || (rowsAreContiguous && reduced.padded > kMaxShareElements))
    if (auto spread = spreadRowsOrColumns(kernel, space, facts, reduced,
                                          columns, limits, draft))
      return finish(kernel, *spread, /*most=*/0);
  if (columns)
    columnWidth = addColumns(kernel, space, facts, columnWidth, draft);
  for (unsigned dim : reduced.dims)
    if (full) {
      draft.kinds[dim] = AxisKind::Full;
      draft.tiles[dim] = nextPowerOfTwo(facts.extents[dim]);
    }
  if (!full)
    addChunks(facts, reduced,
              rowsAreContiguous ? kRowChunk : kColumnTile / columnWidth, draft);
  addResultTiles(kernel, space, facts, limits,
                 rowsAreContiguous ? kRowElements : kColumnElements, draft);
  if (!full) {
    double groups = gridBlocks(draft, facts);
    Draft split = draft;
    if (rowsAreContiguous)
      addChunks(facts, reduced, kSplitChunk, split);
    splitWalk(kernel, space, facts, reduced, groups, limits.target, split);
    if (split.splits != draft.splits)
      draft = split;
  }
  return finish(kernel, draft, kMaxShareElements);
}
