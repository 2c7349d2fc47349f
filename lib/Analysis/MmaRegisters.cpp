//===- MmaRegisters.cpp - The registers of a tensor-core kernel -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the model of registers: what ptxas gives a thread that
// holds accumulators when nothing limits it. Its constants are fitted to the
// kernels of the benchmarks; python/benchmarks/kernel_resources.py compares.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/MmaCost.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;

/// Beside the sums: positions, addresses, barriers, and what is worked on.
static constexpr int64_t kGroupLoop = 26;
/// Share of the elements of vectors along the columns that a thread holds while
/// the products are made: when there is one tile for it; when it walks several
/// and their epilogue has wide chunks, those of the next come beside what is
/// left of one; and otherwise.
static constexpr double kHeldOnce = 0.25, kHeldInTurn = 1.25, kHeldAhead = 0.5;
/// For each tensor of which the epilogue reads tiles.
static constexpr int64_t kTileAddress = 4;
/// For rows in groups: the search for a tile's group, addresses of stores.
static constexpr int64_t kGroupedRows = 16;
/// A part of what is kept of earlier products, in wide elements again.
static constexpr int64_t kTakenApart = 32;
/// Of an operand that is computed between shared memory and the product.
static constexpr int64_t kComputedOperand = 20;

/// Elements of the sums that a thread holds, in registers of 32 bits.
static int64_t getSums(const MmaProblem &problem, const MmaConfig &config) {
  constexpr int64_t kRegisterBits = 32;
  return config.rows * config.columns *
         (problem.sums * kRegisterBits + problem.keptBits) /
         (config.getTileWarps() * kWarpThreads * kRegisterBits);
}

int64_t fusion::getMmaRegisters(const MmaProblem &problem,
                                const MmaConfig &config) {
  int64_t sums = getSums(problem, config);
  int64_t own = config.columns / config.split;
  // Four lanes share a row of a fragment. Vectors beyond the first are gone
  // when the others come.
  bool inTurn = config.groups == 1 && config.rowGroups == 1 &&
                config.chunk >= kEpilogueChunk;
  double share = !config.blocks ? kHeldOnce : inTurn ? kHeldInTurn : kHeldAhead;
  double held = problem.vectors[1].empty() ? 0 : share * own / 4;
  int64_t registers =
      sums + kGroupLoop + static_cast<int64_t>(held) +
      kTileAddress * static_cast<int64_t>(problem.copiedReads.size());
  if (problem.grouped)
    registers += kGroupedRows;
  if (problem.keptIsWidened)
    registers += kTakenApart;
  for (unsigned side = 0; side < 2; ++side)
    if (problem.storedBits[side] != problem.elementBits) {
      registers += kComputedOperand;
      break;
    }
  return std::min(kMaxThreadRegisters, registers);
}

int64_t fusion::getMmaSyncRegisters(const MmaProblem &problem,
                                    const MmaConfig &config,
                                    int64_t depthWarps) {
  constexpr int64_t kLoop = 40, kWindow = 40, kDepthOfRegister = 20;
  int64_t sums = getSums(problem, config) * depthWarps;
  // A warp of several that share the depth has all of the tile, and reads a
  // long step of its own.
  if (depthWarps > 1)
    return std::min(kMaxThreadRegisters,
                    kLoop + sums + config.depth / kDepthOfRegister);
  // Fragments of the operands grow with the sums they are for.
  int64_t registers = kLoop + sums + sums / 4;
  // Rows of windows have a place in the image each, and a check.
  if (problem.taps > 1)
    registers += kWindow;
  // What no copy brings is held an iteration ahead, and while it is written.
  int64_t sizes[2] = {config.rows, config.columns};
  for (unsigned side = 0; side < 2; ++side)
    if (!problem.copied[side])
      registers += 2 * problem.operands[side] * sizes[side] * config.depth /
                   (config.warps * kWarpThreads);
  // So is a tile of the epilogue.
  if (problem.exchanged > 1)
    registers += sums;
  return std::min(kMaxThreadRegisters, registers);
}
