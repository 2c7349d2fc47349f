//===- MmaShared.cpp - The shared memory of a tensor-core kernel ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the model of shared memory: the buffers and rings of a
// block, placed as allocation places them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/MmaCost.h"
#include "fusion/Support/SharedPlaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Rows of shared memory lie across all banks; larger ones are split.
static constexpr int64_t kRowBytes = kBankRowBytes;

/// A tile of `rows` rows of `rowBytes` each. Its swizzle repeats after eight
/// rows.
static SharedPiece getTile(int64_t rows, int64_t rowBytes) {
  return {rows * rowBytes, 8 * std::min(rowBytes, kRowBytes)};
}

/// `stages` times the tiles of `stage`, each where copies want it.
static SharedPiece getRing(llvm::ArrayRef<SharedPiece> stage, int64_t stages) {
  int64_t bytes = 0, alignment = kRowBytes;
  for (const SharedPiece &tile : stage) {
    int64_t own = std::max(tile.alignment, kRowBytes);
    bytes = llvm::alignTo(bytes, own) + tile.bytes;
    alignment = std::max(alignment, own);
  }
  bytes = llvm::alignTo(bytes, alignment);
  return {stages * (bytes + kStageBarrierBytes), alignment,
          SharedPiece::Kind::Ring};
}

llvm::SmallVector<int64_t, 4> MmaConfig::getColumnParts() const {
  llvm::SmallVector<int64_t, 4> parts;
  for (int64_t left = columns; left > 0; left -= parts.back())
    parts.push_back(llvm::bit_floor(uint64_t(left)));
  return parts;
}

MmaColumns fusion::getMmaColumns(const MmaProblem &problem,
                                 const MmaConfig &config) {
  // Elements of 16 bits of the widest swizzle: no others lie so.
  constexpr int64_t kSwizzleColumns = 64;
  MmaColumns columns{config.columns, config.columns};
  if (!problem.transposed[1] || llvm::isPowerOf2_64(config.columns))
    return columns;
  bool follows = false;
  columns = {};
  for (int64_t part : config.getColumnParts()) {
    bool isWide = part >= kSwizzleColumns;
    bool isWidened = !isWide && follows && 2 * part >= kSwizzleColumns;
    columns.loaded += isWidened ? kSwizzleColumns : part;
    columns.multiplied += isWide || isWidened ? part : kSwizzleColumns;
    follows = isWide;
  }
  return columns;
}

/// What is not copied goes through shared memory for a moment, to the threads
/// that want it: whole tiles, and vectors that are longer than what shuffles
/// bring.
static void addExchanges(llvm::SmallVectorImpl<SharedPiece> &pieces,
                         const MmaProblem &problem, const MmaConfig &config,
                         int64_t chunks, const TargetInfo &target) {
  int64_t sizes[2] = {config.getGroupRows(), config.getEpilogueColumns()};
  unsigned moment = 0;
  auto add = [&](int64_t bytes) {
    SharedPiece piece{bytes};
    piece.first = piece.last = moment++;
    piece.isOfGroup = true;
    pieces.push_back(piece);
  };
  for (unsigned side = 0; side < 2; ++side)
    if (sizes[side] >= target.fitted.layouts.leastExchanged)
      for (int64_t bytes : problem.vectors[side])
        for (int64_t i = 0; i < (side == 0 ? 1 : chunks); ++i)
          add(sizes[side] * bytes);
  if (problem.exchangedBytes)
    for (int64_t i = 0; i < chunks * problem.exchanged; ++i)
      add(sizes[0] * sizes[1] * problem.exchangedBytes);
}

/// What a block keeps in shared memory, in the order of allocation.
static llvm::SmallVector<SharedPiece> getPieces(const MmaProblem &problem,
                                                const MmaConfig &config,
                                                const TargetInfo &target) {
  llvm::SmallVector<SharedPiece> pieces;
  int64_t rows = config.getGroupRows();
  int64_t allGroups = config.groups * config.rowGroups;
  auto addOwn = [&](int64_t count, SharedPiece piece) {
    piece.isOfGroup = true;
    pieces.append(count, piece);
  };
  // Partial sums of a cluster, f32.
  if (config.split > 1 && !config.apart)
    addOwn(problem.sums, {config.rows * config.columns * 4, kRowBytes});
  int64_t columns = config.getEpilogueColumns();
  int64_t chunks = config.columns / config.split / columns;
  // Chunks by their columns: parts of the tile that are narrower are one each.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> widths;
  if (llvm::isPowerOf2_64(config.columns))
    widths.push_back({columns, chunks});
  else
    for (int64_t part : config.getColumnParts()) {
      int64_t width = std::min(part, columns);
      if (widths.empty() || widths.back().first != width)
        widths.push_back({width, 0});
      widths.back().second += part / width;
    }
  for (const MmaTiles &tiles : problem.copiedWrites)
    for (auto [width, count] : widths)
      if (width * tiles.bytes >= kLeastSideRowBytes)
        // While one buffer is written to memory, the next is filled.
        addOwn(std::min(tiles.count * count, config.staging),
               getTile(rows, width * tiles.bytes));
  if (config.groups > 1)
    pieces.push_back(getRing({}, config.groups));
  llvm::SmallVector<SharedPiece> stage;
  for (unsigned side = 0; side < 2; ++side) {
    int64_t rows =
        side == 0 ? config.rows : getMmaColumns(problem, config).loaded;
    int64_t row = config.depth;
    if (problem.transposed[side])
      std::swap(rows, row);
    stage.append(problem.operands[side],
                 getTile(rows, row * problem.storedBits[side] / 8));
  }
  pieces.push_back(getRing(stage, config.stages));
  int64_t rings = 0;
  for (const MmaTiles &tiles : problem.copiedReads)
    for (auto [width, count] : widths)
      if (width * tiles.bytes >= kLeastSideRowBytes && rings++ < kMaxSideRings)
        pieces.push_back(getRing(getTile(rows, width * tiles.bytes),
                                 kSideStages * allGroups));
  addExchanges(pieces, problem, config, chunks, target);
  if (config.split > 1 && !config.apart)
    pieces.push_back(getClusterBarriers());
  return pieces;
}

int64_t fusion::getMmaSharedBytes(const MmaProblem &problem,
                                  const MmaConfig &config,
                                  const TargetInfo &target) {
  llvm::SmallVector<SharedPiece> pieces = getPieces(problem, config, target);
  return placeShared(pieces, config.groups * config.rowGroups).ofBlock;
}
