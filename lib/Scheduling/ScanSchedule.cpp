//===- ScanSchedule.cpp - Schedules of scans ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of a schedule for kernels that scan. The
// grid has all dimensions but the scanned one, which each block walks, or
// several together.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"
#include "fusion/Analysis/ScanTiles.h"

using namespace mlir;
using namespace mlir::fusion;

/// More rows than this are as good as so many.
static constexpr uint64_t kMany = uint64_t(1) << 40;

static bool isOuter(const LoopFacts &facts, unsigned dim) {
  return !facts.scanned.test(dim) && !facts.reduced.test(dim);
}

/// The dimension that runs along memory.
static unsigned getFastestDim(const LoopFacts &facts) {
  unsigned fastest = facts.scanned.find_first();
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    if (isOuter(facts, dim) &&
        facts.contiguousBytes[dim] > facts.contiguousBytes[fastest])
      fastest = dim;
  return fastest;
}

static ScanSizes getSizes(const LoopFacts &facts) {
  ScanSizes sizes;
  for (const BodyInstance &instance : facts.body.getInstances()) {
    const GraphNode &node = facts.body.getNode(instance);
    if (node.kind == NodeKind::Scan)
      sizes.combination =
          std::max(sizes.combination, countCombination(node.perPoint));
  }
  describeStates(facts.body, sizes);
  sizes.narrowestElement = facts.narrowestElement;
  sizes.scanned = facts.extents[facts.scanned.find_first()];
  unsigned fastest = getFastestDim(facts);
  for (unsigned i = 0; i < facts.getNumDims(); ++i) {
    int64_t &size = i == fastest ? sizes.columns : sizes.rows;
    if (isOuter(facts, i))
      size = static_cast<int64_t>(std::min<uint64_t>(
          llvm::SaturatingMultiply<uint64_t>(size, facts.extents[i]), kMany));
  }
  return sizes;
}

/// Why several blocks cannot walk what the kernel scans together; empty: they
/// can.
static StringRef getSplitObstacle(const LoopFacts &facts,
                                  const ScanSizes &sizes) {
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    if (!facts.getStaticExtent(dim))
      return "its sizes are known at run time only";
  if (sizes.stateWords == 0)
    return "a state has more than 32 bits";
  return "";
}

StringRef mlir::fusion::getUnsplitScanReason(const KernelBody &body,
                                             const TargetInfo &target) {
  LoopFacts facts(body, target);
  if (facts.scanned.none())
    return "";
  ScanSizes sizes = getSizes(facts);
  StringRef obstacle = getSplitObstacle(facts, sizes);
  if (sizes.stateBytes == 0 || obstacle.empty())
    return "";
  sizes.stateWords = 1;
  return llvm::any_of(getScanTiles(sizes, target),
                      [](const ScanTiles &tiles) { return tiles.split > 1; })
             ? obstacle
             : "";
}

static LoopSchedule getSchedule(const LoopFacts &facts,
                                const ScanTiles &chosen) {
  LoopSchedule draft(Strategy::Scan, facts.getNumDims());
  for (unsigned i = 0; i < facts.getNumDims(); ++i)
    if (!isOuter(facts, i))
      draft[i].kind = AxisKind::Loop;
  unsigned scanned = facts.scanned.find_first();
  unsigned fastest = getFastestDim(facts);
  draft[scanned].tile = chosen.scanned;
  draft[scanned].split = chosen.split;
  draft[scanned].steps = chosen.steps;
  draft[scanned].vector = chosen.run;
  if (fastest != scanned)
    draft[fastest].tile = chosen.columns;
  // Rows from the fastest dimension of the primary result outwards.
  int64_t rows = chosen.rows;
  for (std::optional<unsigned> dim : llvm::reverse(facts.primary)) {
    if (!dim || !isOuter(facts, *dim) || *dim == fastest)
      continue;
    draft[*dim].tile = std::min(rows, nextPowerOfTwo(facts.extents[*dim]));
    rows /= draft[*dim].tile;
  }
  draft.warps = chosen.warps;
  return draft;
}

/// Elements of what is reduced in each step of a walk that a thread has, at
/// most, and those of the walk that are written out.
static constexpr int64_t kMostHeldByThread = 32, kMostTurns = 16;

/// Walks element by element, in each of which the lanes that share a column
/// reduce what they have: each schedule has twice as many of them as the one
/// before, and half as many elements a thread.
static LoopSchedules getReducedScanSchedules(const LoopFacts &facts,
                                             const ScanSizes &sizes) {
  unsigned scanned = facts.scanned.find_first();
  int64_t held = 1;
  for (unsigned dim : facts.reduced.set_bits())
    held *= nextPowerOfTwo(facts.extents[dim]);
  bool hasColumns = getFastestDim(facts) != scanned;
  LoopSchedules result;
  auto add = [&](int64_t sharing, int64_t warps, int64_t turns) {
    ScanTiles tiles;
    tiles.warps = warps;
    int64_t columns = warps * kWarpThreads / sharing;
    if (hasColumns)
      tiles.columns = std::min(columns, nextPowerOfTwo(sizes.columns));
    tiles.rows = std::min(columns / tiles.columns, nextPowerOfTwo(sizes.rows));
    // Warps that have nothing of their own would do the same as others.
    if (warps > 1 && tiles.columns * tiles.rows < columns)
      return;
    result.push_back(getSchedule(facts, tiles));
    LoopSchedule &draft = result.back();
    for (unsigned dim : facts.reduced.set_bits()) {
      draft[dim].kind = AxisKind::Full;
      draft[dim].tile = nextPowerOfTwo(facts.extents[dim]);
    }
    draft[scanned].strip = turns;
  };
  int64_t length = std::max<int64_t>(facts.extents[scanned], 1);
  for (int64_t sharing = std::max<int64_t>(held / kMostHeldByThread, 1);
       sharing <= std::min<int64_t>(held, kWarpThreads); sharing *= 2)
    for (int64_t warps : {4, 2, 1})
      for (int64_t turns =
               std::min<int64_t>(kMostTurns, llvm::bit_floor<uint64_t>(length));
           turns > 0; turns /= 2)
        add(sharing, warps, turns);
  return result;
}

LoopSchedules mlir::fusion::getScanSchedules(const LoopFacts &facts) {
  ScanSizes sizes = getSizes(facts);
  if (facts.reduced.any())
    return getReducedScanSchedules(facts, sizes);
  if (!getSplitObstacle(facts, sizes).empty())
    sizes.stateWords = 0;
  LoopSchedules result;
  for (const ScanTiles &tiles : getScanTiles(sizes, facts.target))
    result.push_back(getSchedule(facts, tiles));
  return result;
}
