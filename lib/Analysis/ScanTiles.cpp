//===- ScanTiles.cpp - How blocks walk what they scan ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of tiles for scans.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ScanTiles.h"

#include "fusion/Analysis/Reductions.h"
#include "fusion/Support/Counts.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;

/// Bytes of states that a thread holds of a tile: with its elements and results
/// there are registers enough for them. No more elements than the second.
static constexpr int64_t kStateBytes = 64, kMostElements = 16;
/// Warps of a block that has neighbours on its multiprocessor, and those that a
/// multiprocessor is given, to hide the time of loads.
static constexpr int64_t kWarps = 4, kWarpsWanted = 24, kMostWarps = 32;
/// Steps of a walk have no fewer elements of a row, so that a sum is rounded
/// less often than it has terms (docs/Numerics.md).
static constexpr int64_t kLeastTile = 16;
/// Columns that threads hold one by one.
static constexpr int64_t kColumns = 64;
static constexpr int64_t kCacheLine = 128;

int64_t mlir::fusion::getStateBytes(ArrayRef<Block *> combiners) {
  int64_t bytes = 0;
  for (Block *block : combiners) {
    std::optional<ScanCombiner> combiner = matchScanCombiner(*block);
    if (!combiner)
      return 0;
    bytes += combiner->getStateBytes();
  }
  return bytes;
}

static double countBlocks(const ScanSizes &sizes, const ScanTiles &tiles) {
  return static_cast<double>(llvm::divideCeil(sizes.columns, tiles.columns)) *
         static_cast<double>(llvm::divideCeil(sizes.rows, tiles.rows));
}

ScanTiles mlir::fusion::chooseScanTiles(const ScanSizes &sizes,
                                        int64_t multiprocessors) {
  ScanTiles tiles;
  if (sizes.stateBytes == 0) {
    tiles.columns = std::min(kColumns, nextPowerOfTwo(sizes.columns));
    tiles.warps = tiles.columns > 32 ? 2 : 1;
    return tiles;
  }
  int64_t perThread =
      std::clamp<int64_t>(kStateBytes / sizes.stateBytes, 2, kMostElements);
  int64_t elements = 32 * kWarps * perThread;
  int64_t longest = nextPowerOfTwo(sizes.scanned);
  tiles.columns =
      std::min(nextPowerOfTwo(sizes.columns),
               std::max<int64_t>(kCacheLine / sizes.narrowestElement, 1));
  tiles.scanned =
      std::min(longest, std::max(kLeastTile, elements / tiles.columns));
  // What is short has several rows in a block, and more columns, but not so
  // many that blocks become few.
  double least = 2.0 * static_cast<double>(multiprocessors);
  for (auto [tile, size] : {std::pair(&tiles.columns, sizes.columns),
                            std::pair(&tiles.rows, sizes.rows)})
    while (tiles.elements() < elements && *tile < nextPowerOfTwo(size) &&
           countBlocks(sizes, tiles) >= least)
      *tile *= 2;
  tiles.warps =
      std::clamp<int64_t>(tiles.elements() / (32 * perThread), 1, kWarps);
  // Few blocks have longer tiles, of more warps.
  while (tiles.warps < kMostWarps && tiles.scanned < longest &&
         countBlocks(sizes, tiles) * static_cast<double>(tiles.warps) <
             static_cast<double>(multiprocessors * kWarpsWanted)) {
    tiles.scanned *= 2;
    tiles.warps *= 2;
  }
  return tiles;
}
