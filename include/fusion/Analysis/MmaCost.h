//===- MmaCost.h - The time of a tensor-core kernel -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the model by which schedules of contractions are compared:
// sizes of a problem and of a schedule in, seconds, registers and shared memory
// out. It needs no IR and no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_MMACOST_H
#define FUSION_ANALYSIS_MMACOST_H

#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Support/Hardware.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace mlir::fusion {

/// Rings that bring in tiles of the epilogue beside those of the operands: how
/// many at most, their stages, and the bytes of the shortest rows that are
/// worth copying.
constexpr int64_t kMaxSideRings = 3, kSideStages = 2, kLeastSideRowBytes = 32;

/// Columns that an epilogue has at a time, unless it has all.
constexpr int64_t kEpilogueChunk = 64;

/// A tile that is so many times smaller than another is little beside it: it is
/// not worth copies of its own.
constexpr int64_t kLittle = 8;

/// Bytes that a block cannot have: barriers and alignment of its buffers.
constexpr int64_t kSharedReserve = 2048;

/// Sums of a thread from which on moving registers to the warps that have them
/// pays: with fewer, ptxas gives a kernel less and refuses to move any.
constexpr int64_t kLeastMovedSums = 64;

/// Whole tiles of one element type that tensor copies bring in for an epilogue,
/// or take out.
struct MmaTiles {
  /// Says which element type: equal for equal ones.
  const void *type = nullptr;
  int64_t bytes = 2;
  int64_t count = 1;
};

/// Sizes of a contraction with what is computed around it.
struct MmaProblem {
  /// Rows and columns of one product, its contracted size, and how many
  /// products there are.
  int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  /// Contracted sizes of the products of the same tile that are made after that
  /// one, and the bits that a thread keeps of an element of the earlier ones,
  /// which it may make wider again in the end.
  llvm::SmallVector<int64_t, 2> laterDepths;
  int64_t keptBits = 0;
  bool keptIsWidened = false;
  /// The products are groups of rows of this mean size: each may end in a tile
  /// that is not full.
  bool grouped = false;
  /// Chunks that the depth is walked in beside those of `depth` itself (the
  /// taps of a filter).
  int64_t taps = 1;
  /// Elements of the operand for each of its rows, or columns, and each element
  /// of `depth`: the taps of what is contracted along other dimensions too. The
  /// windows of images overlap.
  int64_t tapsRead[2] = {1, 1};
  /// The operand, if one is, of which the depth counts windows of images.
  std::optional<unsigned> places;
  /// Bits of an element in the product, and in memory for rows and columns.
  int64_t elementBits = 16;
  int64_t storedBits[2] = {16, 16};
  /// Sums over the same loops (a gate and an up projection: 2), and how many
  /// different operands of the rows and of the columns they have.
  int64_t sums = 1;
  int64_t operands[2] = {1, 1};
  /// Tensors that an operand is put together or computed from where single
  /// warps make the products: a stage has a tile of each.
  int64_t sources[2] = {1, 1};
  /// Bytes of whole tiles that the epilogue reads and writes, an element.
  int64_t epilogueReadBytes = 0, epilogueWriteBytes = 2;
  /// Those of them that tensor copies move.
  llvm::SmallVector<MmaTiles, 2> copiedReads, copiedWrites;
  /// Tensors of which the epilogue moves whole tiles otherwise, and the bytes
  /// of their largest element.
  int64_t exchanged = 0, exchangedBytes = 0;
  /// Tensors along the rows alone, and along the columns alone, that the
  /// epilogue reads: the bytes of an element of each.
  llvm::SmallVector<int64_t, 2> vectors[2];
  /// Threads can copy the operand, where single warps make the products.
  bool copied[2] = {true, true};
  /// The operand's rows or columns, not its depth, are contiguous in memory.
  bool transposed[2] = {false, false};
  /// Rows of the operand in memory begin anywhere in lines of the cache.
  bool straddles[2] = {false, false};
  /// Operations of the epilogue, an element.
  int64_t epilogueOps = 1;
  /// Rows and columns that the epilogue reduces to one value each: tiles hold
  /// whole ones.
  int64_t granules[2] = {1, 1};
  /// Rows and columns that the epilogue exchanges among each other: tiles, and
  /// the parts of tiles, hold whole spans.
  int64_t spans[2] = {1, 1};

  /// The epilogue reduces whole rows: one tile has all columns, or blocks with
  /// the other tiles of a row finish it together (a panel), where these are
  /// neighbours; and how many reductions it makes.
  bool wholeRows = false, panels = false;
  int64_t rowReductions = 0;
  /// All sizes are known at compile time.
  bool isStatic = false;

  /// Chunks of `chunk` elements of all that is contracted for one tile.
  int64_t countChunks(int64_t chunk, int64_t split = 1) const;
  int64_t getWholeDepth() const;
  bool hasGranules() const { return granules[0] > 1 || granules[1] > 1; }
  /// A tile of `tileRows` and `tileColumns`, which `split` blocks share the
  /// columns of, has whole spans in each of its parts.
  bool holdsSpans(int64_t tileRows, int64_t tileColumns, int64_t split) const {
    return (tileRows & -tileRows) % spans[0] == 0 &&
           (tileColumns & -tileColumns) / split % spans[1] == 0;
  }
};

/// What a schedule of a contraction decides.
struct MmaConfig {
  /// Tile of the accumulator and of the depth.
  int64_t rows = 128, columns = 128, depth = 64;
  int64_t warps = 8;
  int64_t stages = 4;
  /// Columns of the epilogue at a time.
  int64_t chunk = 64;
  int64_t split = 1;
  int64_t group = 8;
  /// Blocks of the grid, 0 for one a tile.
  int64_t blocks = 0;
  /// Blocks of a cluster that load the columns' operand together.
  int64_t multicast = 1;
  /// Groups of `warps` warps that take turns at the tiles of a block.
  int64_t groups = 1;
  /// When blocks share the tiles that make up no whole round of them: the
  /// chunks that finishing a tile counts for; else 0.
  int64_t stream = 0;
  /// Groups of `warps` warps that have as many rows each of a block's tile.
  int64_t rowGroups = 1;
  /// Buffers in which chunks of a result wait for their copy: what gives way
  /// first where shared memory is short.
  int64_t staging = 2;
  /// The blocks of a split are no cluster: they exchange their sums through
  /// global memory.
  bool apart = false;

  /// Warps that hold sums of one tile, and the rows of each group of them.
  int64_t getTileWarps() const { return warps * rowGroups; }
  int64_t getGroupRows() const { return rows / rowGroups; }
  /// The powers of two that the columns are the sum of, the widest first.
  llvm::SmallVector<int64_t, 4> getColumnParts() const;
  /// Blocks that have all tiles of the same rows.
  int64_t getPanel(const MmaProblem &problem) const {
    return problem.wholeRows && columns < problem.columns
               ? problem.columns / columns
               : 1;
  }
  /// Columns that the epilogue really has at a time.
  int64_t getEpilogueColumns() const {
    int64_t own = columns / split;
    return chunk ? std::min(chunk, own) : own;
  }
};

/// Columns that a stage has, and those that instructions take the time of:
/// where columns lie side by side in memory, a part that is narrower than a row
/// of the widest swizzle, but not half as narrow, is copied as wide as that if
/// it follows one that is, and one instruction reads both; others are
/// instructions of their own.
struct MmaColumns {
  int64_t loaded = 0, multiplied = 0;
};
MmaColumns getMmaColumns(const MmaProblem &problem, const MmaConfig &config);

/// Bytes of shared memory of a block: those that allocation arrives at, where
/// every operand and every tile of the epilogue can be copied.
int64_t getMmaSharedBytes(const MmaProblem &problem, const MmaConfig &config,
                          const TargetInfo &target);

/// Registers a thread that holds accumulators needs, at most 255: those that
/// ptxas gives it when neither the number of threads limits them nor any move.
int64_t getMmaRegisters(const MmaProblem &problem, const MmaConfig &config);

/// The same for products by single warps, so many of which share the depth.
int64_t getMmaSyncRegisters(const MmaProblem &problem, const MmaConfig &config,
                            int64_t depthWarps = 1);

/// Blocks that one multiprocessor runs at a time, 1 or 2.
int64_t getMmaResidentBlocks(const MmaProblem &problem, const MmaConfig &config,
                             const TargetInfo &target);

/// Tiles (of a cluster, together) of which several blocks of a grid have parts
/// when they share what is no whole round.
int64_t getSharedTiles(const MmaProblem &problem, const MmaConfig &config);

/// Predicted seconds of the kernel on `target`.
double getMmaSeconds(const MmaProblem &problem, const MmaConfig &config,
                     const TargetInfo &target);

/// Schedules for warpgroups fed by tensor copies that `target` can run, the
/// one predicted to be fastest first.
llvm::SmallVector<MmaConfig> getWgmmaConfigs(const MmaProblem &problem,
                                             const TargetInfo &target);

/// The schedule for products by single warps (mma.sync), fed by copies of
/// threads, by rules: tiles large enough to reuse what they read, and blocks
/// enough for the chip.
MmaConfig getMmaSyncConfig(const MmaProblem &problem, const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_MMACOST_H
