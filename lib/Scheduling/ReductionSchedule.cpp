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

#include "LoopFamilies.h"

#include "fusion/Analysis/ReductionSplit.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::fusion;

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

static ReducedDims findReducedDims(const LoopFacts &facts) {
  ReducedDims result;
  for (unsigned i = 0; i < facts.getNumDims(); ++i) {
    if (!facts.reduced.test(i) || facts.extents[i] == 1)
      continue;
    result.dims.push_back(i);
    result.dynamic |= !facts.getStaticExtent(i);
    result.elements = multiply(result.elements, facts.extents[i]);
    result.padded = multiply(result.padded, nextPowerOfTwo(facts.extents[i]));
  }
  // They are ordered from the outermost.
  std::reverse(result.dims.begin(), result.dims.end());
  llvm::stable_sort(result.dims, [&](unsigned a, unsigned b) {
    return facts.contiguousBytes[a] > facts.contiguousBytes[b];
  });
  return result;
}

/// True when elements along `dim` are needed once more after they are reduced:
/// by a second reduction, or in a result.
static bool isSweptAgain(const LoopFacts &facts, unsigned dim) {
  if (facts.root.test(dim))
    return true;
  // What depends on a reduction along the dimension.
  ArrayRef<BodyInstance> instances = facts.body.getInstances();
  llvm::SmallBitVector later(instances.size());
  for (auto [id, instance] : llvm::enumerate(instances)) {
    bool isLater = llvm::any_of(instance.producers, [&](unsigned producer) {
      return later.test(producer);
    });
    bool isReduction = facts.reduces(instance, dim);
    if (isReduction && isLater)
      return true;
    later[id] = isReduction || isLater;
  }
  return false;
}

/// Lets tiles have all of the reduced dimensions.
static void takeWhole(const LoopFacts &facts, const ReducedDims &reduced,
                      LoopSchedule &draft) {
  for (unsigned dim : reduced.dims) {
    draft[dim].kind = AxisKind::Full;
    draft[dim].tile = nextPowerOfTwo(facts.extents[dim]);
  }
}

static double getBytes(const KernelTensor &tensor) {
  return tensor.elements() * tensor.elementBytes;
}

/// The tensor of the most bytes; null for none.
static const KernelTensor *findLargest(ArrayRef<KernelTensor> tensors) {
  const KernelTensor *largest = nullptr;
  for (const KernelTensor &tensor : tensors)
    if (!largest || getBytes(tensor) > getBytes(*largest))
      largest = &tensor;
  return largest;
}

/// The input of the most elements among those that lie in memory along the
/// dimension that most bytes do, or among all where none does; null for none.
static const KernelTensor *findUsualInput(const LoopFacts &facts) {
  unsigned fastest = facts.getFastest();
  auto rank = [&](const KernelTensor &input) {
    std::optional<unsigned> number = input.findBeyond({});
    return std::pair(number && input.dims[*number] == fastest,
                     input.elements());
  };
  const KernelTensor *usual = nullptr;
  for (const KernelTensor &input : facts.inputs)
    if (!input.shape.empty() && (!usual || rank(input) > rank(*usual)))
      usual = &input;
  return usual;
}

/// Tiles of `width` elements in all along kept dimensions that lie side by side
/// in most of what is read, with `afterWhole` also beside reduced ones that a
/// tile has whole; returns how many elements lie side by side.
static int64_t addColumns(const LoopFacts &facts, int64_t width,
                          LoopSchedule &draft, bool afterWhole = false) {
  const KernelTensor *largest = findUsualInput(facts);
  int64_t columns = 1;
  if (!largest)
    return columns;
  for (unsigned i = largest->shape.size(); i-- > 0 && columns < width;) {
    if (largest->shape[i] == 1)
      continue;
    std::optional<unsigned> dim = largest->dims[i];
    if (afterWhole && dim && draft[*dim].kind == AxisKind::Full &&
        draft[*dim].tile >= facts.extents[*dim]) {
      columns *= std::max<int64_t>(facts.extents[*dim], 1);
      continue;
    }
    if (!dim || !facts.root.test(*dim) || facts.reduced.test(*dim))
      break;
    LoopAxis &axis = draft[*dim];
    axis.tile = std::min<int64_t>(llvm::bit_floor<uint64_t>(width / columns),
                                  nextPowerOfTwo(facts.extents[*dim]));
    columns *= axis.tile;
  }
  return columns;
}

/// `draft` with threads for it. With long rows they have many elements, so that
/// several blocks share a multiprocessor and one's barriers do not leave it
/// idle; with short rows few. With more than `most` elements there are no more
/// threads, which would have too few registers for what they keep.
static LoopSchedule addWarps(const LoopFacts &facts, LoopSchedule draft,
                             int64_t most) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  int64_t elements = draft.tileElements();
  int64_t perThread = elements <= fitted.shortTile    ? fitted.shortPerThread
                      : elements <= fitted.mediumTile ? fitted.mediumPerThread
                                                      : fitted.longPerThread;
  if (elements > most)
    perThread = elements / fitted.shareThreads;
  draft.warps = warpsFor(elements, perThread);
  return draft;
}

//===----------------------------------------------------------------------===//
// Several blocks
//===----------------------------------------------------------------------===//

/// True when blocks that have different parts of `dim` can combine what the
/// kernel reduces of it outside of loops. Sets `words` to what a block gives
/// the others.
static bool areCombinable(const LoopFacts &facts, unsigned dim,
                          const LoopSchedule &draft, int64_t &words) {
  words = 0;
  // How many groups there are decides how much memory they exchange through.
  for (unsigned id = 0; id < facts.getNumDims(); ++id)
    if (draft[id].kind == AxisKind::Grid && facts.root.test(id) &&
        facts.getStaticExtent(id).value_or(0) == 0)
      return false;
  for (const BodyInstance &instance : facts.body.getInstances()) {
    if (!facts.reduces(instance, dim))
      continue;
    const GraphNode &node = facts.body.getNode(instance);
    auto op = cast<linalg::LinalgOp>(node.op);
    if (!isCombinable(op))
      return false;
    int64_t elements = 1;
    for (unsigned loop = 0; loop < node.extents.size(); ++loop) {
      if (node.reduced[loop])
        continue;
      const LoopAxis &own = draft[facts.getDimOfLoop(instance, loop)];
      if (own.kind == AxisKind::Loop && node.extents[loop] != 1)
        return false;
      elements *= own.tile;
    }
    words += elements * static_cast<int64_t>(getPartialTypes(op)->size());
  }
  return words > 0;
}

/// Makes the `blocks` of each of so many groups that share `axis` a cluster, if
/// that may have as many; false when they have no room to exchange `words`.
static bool letExchange(const LoopFacts &facts, double groups, int64_t blocks,
                        int64_t words, LoopAxis &axis) {
  if (blocks <= facts.target.maxBlocksPerCluster)
    axis.cluster = blocks;
  return axis.cluster > 1 || fitsExchange(groups, blocks, words);
}

/// Adds to `found` blocks that together have all that is reduced to the results
/// of `draft` in their tiles: each element of what is needed again is then read
/// once.
static void spreadTiles(const LoopFacts &facts, const ReducedDims &reduced,
                        LoopSchedule draft, LoopSchedules &found) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  takeWhole(facts, reduced, draft);
  double groups = gridBlocks(draft, facts);
  for (unsigned dim : reduced.dims) {
    int64_t others = 1;
    for (unsigned i = 0; i < facts.getNumDims(); ++i)
      others = multiply(others, i == dim ? 1 : draft[i].tile);
    if (!isSweptAgain(facts, dim))
      continue;
    for (int64_t share = fitted.maxShareElements;
         share >= fitted.minSpreadElements; share /= 2) {
      if (others * 2 > share)
        continue;
      LoopSchedule spread = draft;
      spread[dim].tile = share / others;
      int64_t blocks = llvm::divideCeil(facts.extents[dim], spread[dim].tile);
      int64_t words;
      if (blocks < 2 || blocks > fitted.maxSplit ||
          !areCombinable(facts, dim, spread, words))
        continue;
      if (letExchange(facts, groups, blocks, words, spread[dim]))
        found.push_back(addWarps(facts, spread, /*most=*/0));
    }
  }
}

/// The same for one row of results, or for columns that fill a cache line, or a
/// sector at least.
static void spreadRowsOrColumns(const LoopFacts &facts,
                                const ReducedDims &reduced, bool hasColumns,
                                const LoopSchedule &draft,
                                LoopSchedules &found) {
  if (reduced.dynamic)
    return;
  for (int64_t bytes = kLineBytes; bytes >= kSectorBytes; bytes /= 2) {
    LoopSchedule wide = draft;
    if (hasColumns)
      addColumns(facts, bytes / facts.widestElement, wide);
    spreadTiles(facts, reduced, wide, found);
    if (!hasColumns)
      return;
  }
}

/// Elements of a group of `draft`: of what its blocks walk together.
static double countElements(const LoopFacts &facts, const LoopSchedule &draft) {
  double elements = 1;
  for (auto [dim, axis] : llvm::enumerate(draft.axes))
    elements *= static_cast<double>(
        axis.kind == AxisKind::Loop ? facts.extents[dim] : axis.tile);
  return elements;
}

/// Blocks that share the walk of `draft`.
static int64_t getSplit(const LoopSchedule &draft) {
  int64_t split = 1;
  for (const LoopAxis &axis : draft.axes)
    split = std::max(split, axis.split);
  return split;
}

/// Lets several blocks walk the dimension of the most chunks, if they can:
/// `times` as many as fill the chip.
static void splitWalk(const LoopFacts &facts, const ReducedDims &reduced,
                      double groups, int64_t times, LoopSchedule &draft) {
  auto chunksOf = [&](unsigned dim) {
    return llvm::divideCeil(facts.extents[dim], draft[dim].tile);
  };
  std::optional<unsigned> most;
  for (unsigned dim : reduced.dims)
    if (facts.getStaticExtent(dim) &&
        (!most || chunksOf(dim) > chunksOf(*most)))
      most = dim;
  int64_t words;
  if (!most || chunksOf(*most) < 2 ||
      !areCombinable(facts, *most, draft, words))
    return;
  int64_t blocks = getWalkSplit(groups / static_cast<double>(times),
                                countElements(facts, draft), facts.target);
  // No block without a chunk.
  int64_t chunks = chunksOf(*most);
  blocks = llvm::divideCeil(chunks,
                            llvm::divideCeil(chunks, std::min(blocks, chunks)));
  if (letExchange(facts, groups, blocks, words, draft[*most]))
    draft[*most].split = blocks;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Rows (or columns) of one block: enough work for a few warps, but no fewer
/// blocks than the chip has multiprocessors.
static void addResultTiles(const LoopFacts &facts, int64_t budget,
                           LoopSchedule &draft) {
  for (unsigned i = facts.primary.size();
       i-- > 0 && draft.tileElements() < budget;) {
    if (!facts.primary[i])
      continue;
    unsigned dim = *facts.primary[i];
    LoopAxis &axis = draft[dim];
    if (axis.tile > 1 || facts.reduced.test(dim))
      continue;
    int64_t room = std::max<int64_t>(budget / draft.tileElements(), 1);
    axis.tile = std::min(room, nextPowerOfTwo(facts.extents[dim]));
    while (axis.tile > 1 && gridBlocks(draft, facts) <
                                2.0 * static_cast<double>(facts.target.numSMs))
      axis.tile /= 2;
  }
}

/// True when a thread can reduce what is reduced to one element by itself,
/// written out, and nothing of it is needed again.
static bool isFew(const LoopFacts &facts, const ReducedDims &reduced) {
  return !reduced.dynamic &&
         reduced.elements <= facts.target.fitted.reductions.fewElements &&
         llvm::none_of(reduced.dims,
                       [&](unsigned dim) { return isSweptAgain(facts, dim); });
}

/// Kept elements that lie side by side in `tensor`.
static int64_t getKeptRow(const LoopFacts &facts, const KernelTensor &tensor) {
  int64_t row = 1;
  for (unsigned i = tensor.shape.size(); i-- > 0;) {
    if (tensor.dims[i] && facts.reduced.test(*tensor.dims[i]) &&
        tensor.shape[i] != 1)
      break;
    row *= tensor.shape[i];
  }
  return row;
}

/// Threads have elements of the results, as in pointwise kernels.
static LoopSchedule scheduleFew(const LoopFacts &facts,
                                const ReducedDims &reduced, int64_t vector,
                                LoopSchedule draft) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  for (unsigned dim : reduced.dims)
    draft[dim].kind = AxisKind::Loop;
  // What most of the bytes are is accessed in whole vectors; where several
  // tensors have about as many, the widest elements.
  SmallVector<KernelTensor> tensors(facts.inputs);
  llvm::append_range(tensors, facts.outputs);
  const KernelTensor *largest = findLargest(tensors);
  for (const KernelTensor &tensor : tensors)
    if (2 * getBytes(tensor) >= getBytes(*largest))
      vector = std::clamp<int64_t>(
          static_cast<int64_t>(kMaxAccessBytes / tensor.elementBytes), 1,
          vector);
  // Rows that begin anywhere are loaded element by element.
  if (largest && getKeptRow(facts, *largest) % vector != 0)
    while (vector > 1 && vector * reduced.elements *
                                 static_cast<int64_t>(facts.inputs.size()) >
                             fitted.mostSingle)
      vector /= 2;
  int64_t elements = fitted.fewThreads * vector;
  addColumns(facts, elements, draft);
  addResultTiles(facts, elements, draft);
  draft.warps =
      warpsFor(draft.tileElements(), vector, fitted.fewThreads / kWarpThreads);
  return draft;
}

/// A thread has all of what is reduced to its results in registers, so that
/// threads combine nothing; none where that is more than registers hold.
static std::optional<LoopSchedule> keepByThread(const LoopFacts &facts,
                                                const ReducedDims &reduced,
                                                int64_t vector,
                                                LoopSchedule draft) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  if (reduced.dynamic || reduced.elements > fitted.keptByThread)
    return std::nullopt;
  while (vector * reduced.elements > fitted.keptByThread)
    vector /= 2;
  takeWhole(facts, reduced, draft);
  int64_t columns = addColumns(facts, fitted.keepingThreads * vector, draft);
  if (columns < fitted.keepingThreads)
    return std::nullopt;
  draft.warps = warpsFor(columns, vector, fitted.keepingThreads / kWarpThreads);
  return draft;
}

/// The same of rows along memory: several of them where they are short.
static std::optional<LoopSchedule> keepRowsByThread(const LoopFacts &facts,
                                                    const ReducedDims &reduced,
                                                    LoopSchedule draft) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  if (reduced.dynamic || reduced.elements > fitted.keptByThread)
    return std::nullopt;
  takeWhole(facts, reduced, draft);
  int64_t row = fitted.keepingThreads * reduced.padded;
  addResultTiles(
      facts, std::max(row, fitted.keepingThreads * fitted.rowsByThread), draft);
  if (draft.tileElements() < row)
    return std::nullopt;
  draft.warps = fitted.keepingThreads / kWarpThreads;
  return draft;
}

/// The longest of chunks of up to `tile` elements with which a walk of `extent`
/// ends not much further beyond the end than with the best of them.
static int64_t shortenChunk(const LoopFacts &facts, int64_t extent,
                            int64_t tile) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  int64_t shortest = std::min(tile, fitted.shortTile / 4);
  auto covered = [&](int64_t size) {
    return static_cast<double>(llvm::alignTo(extent, size));
  };
  // The shorter, the closer to the end.
  while (tile > shortest &&
         covered(tile) > fitted.mostPadding * covered(shortest))
    tile /= 2;
  return tile;
}

/// Chunks of `budget` elements of what is reduced, one at least, the contiguous
/// dimension first.
static void addChunks(const LoopFacts &facts, const ReducedDims &reduced,
                      int64_t budget, LoopSchedule &draft) {
  // A line may have more columns than the budget was for.
  budget = std::max<int64_t>(budget, 1);
  for (auto [number, dim] : llvm::enumerate(reduced.dims)) {
    draft[dim].kind = AxisKind::Loop;
    draft[dim].tile = std::min(budget, nextPowerOfTwo(facts.extents[dim]));
    // Beside another dimension that fills the chunk, steps that end near the
    // end of this one: what lies beyond is read and computed for nothing.
    if (number + 1 < reduced.dims.size() && facts.getStaticExtent(dim))
      draft[dim].tile =
          shortenChunk(facts, facts.extents[dim], draft[dim].tile);
    budget /= draft[dim].tile;
  }
}

/// Adds to `found` blocks in which a thread walks all of what is reduced to its
/// columns by itself, so that threads combine nothing: with many columns,
/// `width` of them a thread or fewer.
static void walkByThread(const LoopFacts &facts, const ReducedDims &reduced,
                         int64_t width, const LoopSchedule &draft,
                         LoopSchedules &found) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  if (reduced.elements <= fitted.keptByThread)
    return;
  for (; width > 0; width /= 2) {
    LoopSchedule walk = draft;
    int64_t columns = addColumns(facts, fitted.keepingThreads * width, walk);
    if (columns < fitted.keepingThreads * width ||
        gridBlocks(walk, facts) <
            static_cast<double>(fitted.walkBlocksPerSM * facts.target.numSMs))
      continue;
    addChunks(facts, reduced, fitted.longPerThread / width, walk);
    walk.warps = fitted.keepingThreads / kWarpThreads;
    found.push_back(std::move(walk));
  }
}

/// Adds `draft`, blocks that walk what is reduced in chunks, to `found`; once
/// more with chunks that threads copy ahead, where shared memory has room.
static void addWalk(const LoopFacts &facts, const ReducedDims &reduced,
                    const LoopSchedule &draft, LoopSchedules &found) {
  found.push_back(draft);
  // The innermost walk has the largest chunks.
  unsigned walked = reduced.dims.front();
  for (unsigned dim : reduced.dims)
    if (draft[dim].tile > draft[walked].tile)
      walked = dim;
  double bytes = 0;
  for (const KernelTensor &input : facts.inputs) {
    double elements = 1;
    bool isWalked = false;
    for (std::optional<unsigned> dim : input.dims) {
      isWalked |= dim == walked;
      elements *= dim ? static_cast<double>(draft[*dim].tile) : 1;
    }
    bytes += isWalked ? elements * input.elementBytes : 0;
  }
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  auto room = static_cast<double>(facts.target.maxSharedPerBlock);
  auto stages = std::min(fitted.walkStages,
                         static_cast<int64_t>(room / std::max(bytes, 1.0)));
  if (draft[walked].tile == 1 || bytes == 0 || stages < 2)
    return;
  LoopSchedule staged = draft;
  staged[walked].stages = stages;
  found.push_back(staged);
}

/// True when L2 holds what all blocks of `draft` that are at work at a time
/// walk until they walk it again.
static bool staysInL2(const LoopFacts &facts, const LoopSchedule &draft) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  double blocks =
      static_cast<double>(fitted.walkBlocksPerSM * facts.target.numSMs *
                          fitted.shareThreads) /
      static_cast<double>(draft.warps * kWarpThreads);
  double elements =
      countElements(facts, draft) / static_cast<double>(getSplit(draft));
  return blocks * elements * findLargest(facts.inputs)->elementBytes <=
         facts.target.fitted.kernels.keptInL2 *
             static_cast<double>(facts.target.l2Bytes);
}

/// Adds to `found` blocks that share the walk of `draft`: as many as fill the
/// chip; and where they walk twice, so many that few groups are at work at a
/// time and what they have read is still in L2.
static void addSplitWalks(const LoopFacts &facts, const ReducedDims &reduced,
                          double groups, const LoopSchedule &draft,
                          LoopSchedules &found) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  auto splitBy = [&](int64_t times) {
    LoopSchedule split = draft;
    splitWalk(facts, reduced, groups, times, split);
    return addWarps(facts, std::move(split), fitted.maxShareElements);
  };
  LoopSchedule filling = splitBy(1);
  if (getSplit(filling) > 1)
    addWalk(facts, reduced, filling, found);
  if (facts.inputs.empty() || llvm::none_of(reduced.dims, [&](unsigned dim) {
        return isSweptAgain(facts, dim);
      }))
    return;
  for (int64_t times = 2; times <= fitted.maxSplit; times *= 2) {
    LoopSchedule split = splitBy(times);
    if (!staysInL2(facts, split))
      continue;
    if (getSplit(split) > getSplit(filling))
      addWalk(facts, reduced, split, found);
    return;
  }
}

/// Adds to `found` blocks that walk what is reduced in chunks, one or as many
/// as fill the chip.
static void walkChunks(const LoopFacts &facts, const ReducedDims &reduced,
                       bool rowsAreContiguous, LoopSchedule draft,
                       LoopSchedules &found) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  int64_t columns =
      rowsAreContiguous
          ? 1
          : addColumns(facts, kLineBytes / facts.narrowestElement, draft);
  // Of columns, fewer elements a thread where what is accumulated of each takes
  // many registers.
  SmallVector<int64_t> chunks{fitted.splitChunk, fitted.rowChunk};
  if (!rowsAreContiguous)
    chunks = {fitted.columnTile / columns, fitted.smallColumnTile / columns};
  for (auto [number, chunk] : llvm::enumerate(chunks)) {
    LoopSchedule alone = draft;
    addChunks(facts, reduced, rowsAreContiguous ? fitted.rowChunk : chunk,
              alone);
    addResultTiles(
        facts, rowsAreContiguous ? fitted.rowElements : fitted.columnElements,
        alone);
    if (!rowsAreContiguous || number == 0)
      addWalk(facts, reduced, addWarps(facts, alone, fitted.maxShareElements),
              found);
    LoopSchedule split = alone;
    if (rowsAreContiguous)
      addChunks(facts, reduced, chunk, split);
    addSplitWalks(facts, reduced, gridBlocks(alone, facts), split, found);
  }
}

/// A block has all of what is reduced to its results in its tile.
static LoopSchedule keepWhole(const LoopFacts &facts,
                              const ReducedDims &reduced,
                              bool rowsAreContiguous, LoopSchedule draft) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  // A column reduction reads a cache line's width of columns at a time; a
  // sector's where it keeps many rows of them all, more where there are few.
  if (!rowsAreContiguous) {
    int64_t width = kLineBytes / facts.narrowestElement;
    while (width * reduced.padded > fitted.keptColumnElements &&
           static_cast<double>(width * facts.narrowestElement) >
               cost::kSectorBytes)
      width /= 2;
    while (width * reduced.padded < fitted.columnElements)
      width *= 2;
    addColumns(facts, width, draft);
  }
  takeWhole(facts, reduced, draft);
  // Of rows that lie apart in memory, shorter than a cache line: several.
  if (rowsAreContiguous && reduced.dims.size() > 1)
    addColumns(facts, kLineBytes / facts.narrowestElement, draft,
               /*afterWhole=*/true);
  addResultTiles(facts,
                 rowsAreContiguous ? fitted.rowElements : fitted.columnElements,
                 draft);
  return addWarps(facts, draft, fitted.maxShareElements);
}

/// Adds `draft` to `found`, and again with fewer and fewer threads, which have
/// more elements each and less to tell each other.
static void addFewerWarps(const LoopFacts &facts, bool rowsAreContiguous,
                          LoopSchedule draft, LoopSchedules &found) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  found.push_back(draft);
  // Threads that share columns tell each other of each column that they have.
  auto mayHaveFewer = [&] {
    int64_t each = draft.tileElements() / (draft.warps * kWarpThreads / 2);
    return each <= fitted.longPerThread ||
           (!rowsAreContiguous && each <= fitted.keptByThread &&
            draft.warps * kWarpThreads > fitted.keepingThreads);
  };
  while (draft.warps > 1 && mayHaveFewer()) {
    draft.warps /= 2;
    // A multiprocessor has fewer blocks than warps.
    if (draft.warps == 1) {
      int64_t elements = draft.tileElements();
      addResultTiles(facts, 2 * elements, draft);
      draft.warps = draft.tileElements() / elements;
    }
    found.push_back(draft);
  }
}

/// Adds to `found` blocks that walk those elements alone that data leave in
/// their tile of results: of as many columns as there are, so that what counts
/// is looked up once, and of rows, which data tell apart.
static void addCountingWalks(const LoopFacts &facts, const LoopSchedule &draft,
                             LoopSchedules &found) {
  if (!facts.dataLimits)
    return;
  std::optional<unsigned> row;
  for (const LinearExpr &limit : facts.dataLimits->limits)
    for (auto [dim, factor] : llvm::enumerate(limit.factors))
      if (factor != 0 && facts.root.test(dim) &&
          (!row || facts.extents[dim] > facts.extents[*row]))
        row = dim;
  if (!row)
    return;
  // What threads have of a tile, and how many: enough that few blocks look at
  // the same data, and no more than registers hold twice.
  for (int64_t each : {32, 16, 8})
    for (int64_t warps : {16, 8, 4}) {
      LoopSchedule walk = draft;
      walk[facts.dataLimits->walked].kind = AxisKind::Loop;
      walk[facts.dataLimits->walked].limited = true;
      int64_t room = each * warps * kWarpThreads;
      for (unsigned i = facts.primary.size(); i-- > 0;)
        if (std::optional<unsigned> dim = facts.primary[i];
            dim && *dim != *row && walk[*dim].tile == 1) {
          walk[*dim].tile = std::min(room, nextPowerOfTwo(facts.extents[*dim]));
          room /= walk[*dim].tile;
        }
      walk[*row].tile = std::min(std::max<int64_t>(room, 1),
                                 nextPowerOfTwo(facts.extents[*row]));
      walk.warps = warps;
      if (walk.tileElements() >= warps * kWarpThreads)
        found.push_back(std::move(walk));
    }
}

LoopSchedules mlir::fusion::getReductionSchedules(const LoopFacts &facts) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  LoopSchedule draft(Strategy::Reduction, facts.getNumDims());
  int64_t vector = std::max<int64_t>(16 / facts.narrowestElement, 1);
  vector = std::min<int64_t>(vector, 8);
  unsigned fastest = facts.getFastest();
  ReducedDims reduced = findReducedDims(facts);
  bool rowsAreContiguous = facts.reduced.test(fastest);
  draft[fastest].vector = vector;
  bool columns = !rowsAreContiguous && facts.extents[fastest] > 1;
  if (columns && isFew(facts, reduced))
    return {scheduleFew(facts, reduced, vector, draft)};

  LoopSchedules found;
  if (std::optional<LoopSchedule> own =
          columns ? keepByThread(facts, reduced, vector, draft)
                  : keepRowsByThread(facts, reduced, draft))
    found.push_back(*own);
  int64_t limit = rowsAreContiguous ? fitted.maxKeptRow : fitted.maxKeptColumn;
  if (!reduced.dynamic && reduced.padded <= limit)
    addFewerWarps(facts, !columns, keepWhole(facts, reduced, !columns, draft),
                  found);
  if (columns)
    walkByThread(facts, reduced, vector, draft, found);
  // What is less than a chunk is no walk.
  int64_t columnWidth = kLineBytes / facts.narrowestElement;
  if (!found.empty() &&
      reduced.padded <=
          (columns ? fitted.columnTile / columnWidth : fitted.rowChunk))
    return found;
  spreadRowsOrColumns(facts, reduced, columns, draft, found);
  walkChunks(facts, reduced, !columns, draft, found);
  addCountingWalks(facts, draft, found);
  return found;
}
