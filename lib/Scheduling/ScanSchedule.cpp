//===- ScanSchedule.cpp - Schedules of scans ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of a schedule for kernels that scan. The
// grid has all dimensions but the scanned one, which each block walks.
//
//===----------------------------------------------------------------------===//

#include "ScanSchedule.h"
#include "fusion/Analysis/Reductions.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Bytes of states that a thread holds of a tile: with its elements and results
/// there are registers enough for them.
static constexpr int64_t kStateBytes = 64;
/// Warps of a block that has neighbours on its multiprocessor, and those that a
/// multiprocessor is given, to hide the time of loads.
static constexpr int64_t kWarps = 4, kWarpsWanted = 24, kMostWarps = 32;

/// Steps of a walk have no fewer elements of a row, so that a sum is rounded
/// less often than it has terms (docs/Numerics.md).
static constexpr int64_t kLeastTile = 16;

static int64_t nextPowerOfTwo(int64_t value) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(value, 1)));
}

/// Bytes of all states of an element; none if some combination is not known to
/// be associative.
static std::optional<int64_t> getStateBytes(KernelOp kernel) {
  int64_t bytes = 0;
  for (auto scan : kernel.getBlock().getOps<ScanOp>()) {
    std::optional<ScanCombiner> combiner =
        matchScanCombiner(scan.getCombiner().front());
    if (!combiner)
      return std::nullopt;
    for (Type type : combiner->types)
      bytes += llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  }
  return bytes;
}

namespace {
/// A schedule under construction.
class ScanDraft {
public:
  ScanDraft(const IterationSpace &space, const ScanFacts &facts)
      : space(space), facts(facts), tiles(space.getNumDims(), 1) {
    for (unsigned i = 0; i < space.getNumDims(); ++i)
      if (space.getDims()[i].scan)
        scanned = i;
  }

  /// One element a step: threads hold columns.
  void walkElements();
  /// Tiles of so many elements a thread.
  void walkTiles(KernelOp kernel, int64_t perThread, int64_t multiprocessors);
  ScheduleAttr finish(MLIRContext *context) const;

private:
  bool isOuter(unsigned dim) const {
    return !space.getDims()[dim].scan && !space.getDims()[dim].reduction;
  }
  int64_t getSize(unsigned dim) const {
    return nextPowerOfTwo(facts.extents[dim]);
  }
  int64_t countElements() const {
    int64_t elements = 1;
    for (int64_t tile : tiles)
      elements *= tile;
    return elements;
  }
  double countBlocks() const {
    double blocks = 1;
    for (unsigned i = 0; i < tiles.size(); ++i)
      if (isOuter(i))
        blocks *= llvm::divideCeil(facts.extents[i], tiles[i]);
    return blocks;
  }
  void addRows(KernelOp kernel, int64_t elements, int64_t leastBlocks);

  const IterationSpace &space;
  const ScanFacts &facts;
  unsigned scanned = 0;
  SmallVector<int64_t> tiles;
  int64_t warps = 1;
};
} // namespace

void ScanDraft::walkElements() {
  std::optional<unsigned> widest;
  for (unsigned i = 0; i < tiles.size(); ++i)
    if (isOuter(i) && facts.contiguousBytes[i] > 0)
      widest = i;
  if (!widest)
    return;
  tiles[*widest] = std::min<int64_t>(64, getSize(*widest));
  warps = tiles[*widest] > 32 ? 2 : 1;
}

/// Rows for tiles of so many elements, but not so many that blocks become few.
void ScanDraft::addRows(KernelOp kernel, int64_t elements,
                        int64_t leastBlocks) {
  Value primary = kernel.getStoredValues()[space.getPrimaryResult()];
  int64_t rank = cast<RankedTensorType>(primary.getType()).getRank();
  for (int64_t i = rank - 1; i >= 0; --i) {
    unsigned dim = space.getDimOfTensor(primary, i);
    while (isOuter(dim) && countElements() < elements &&
           tiles[dim] < getSize(dim) &&
           countBlocks() >= 2.0 * static_cast<double>(leastBlocks))
      tiles[dim] *= 2;
  }
}

void ScanDraft::walkTiles(KernelOp kernel, int64_t perThread,
                          int64_t multiprocessors) {
  int64_t elements = 32 * kWarps * perThread;
  unsigned fastest = scanned;
  for (unsigned i = 0; i < tiles.size(); ++i)
    if (isOuter(i) && facts.contiguousBytes[i] > facts.contiguousBytes[fastest])
      fastest = i;
  // Columns: the width of a cache line of them.
  if (fastest != scanned)
    tiles[fastest] =
        std::min<int64_t>(getSize(fastest), 128 / facts.narrowestElement);
  tiles[scanned] =
      std::min(getSize(scanned), elements / std::min(tiles[fastest], elements));
  tiles[scanned] =
      std::max(tiles[scanned], std::min(getSize(scanned), kLeastTile));
  addRows(kernel, elements, multiprocessors);
  warps = std::clamp<int64_t>(countElements() / (32 * perThread), 1, kWarps);
  // Few blocks have longer tiles, of more warps.
  while (warps < kMostWarps && tiles[scanned] < getSize(scanned) &&
         countBlocks() * static_cast<double>(warps) <
             static_cast<double>(multiprocessors * kWarpsWanted)) {
    tiles[scanned] *= 2;
    warps *= 2;
  }
}

ScheduleAttr ScanDraft::finish(MLIRContext *context) const {
  SmallVector<AxisAttr> axes;
  for (auto [i, tile] : llvm::enumerate(tiles))
    axes.push_back(AxisAttr::get(context,
                                 isOuter(i) ? AxisKind::Grid : AxisKind::Loop,
                                 tile, /*warps=*/1, /*vector=*/1, 1, 1, 1));
  return ScheduleAttr::get(context, Strategy::Scan, axes, warps);
}

ScheduleAttr mlir::fusion::scheduleScan(KernelOp kernel,
                                        const IterationSpace &space,
                                        const ScanFacts &facts,
                                        const ScheduleLimits &limits) {
  ScanDraft draft(space, facts);
  if (std::optional<int64_t> stateBytes = getStateBytes(kernel))
    draft.walkTiles(kernel,
                    std::clamp<int64_t>(kStateBytes / *stateBytes, 2, 16),
                    limits.multiprocessors);
  else
    draft.walkElements();
  return draft.finish(kernel.getContext());
}
