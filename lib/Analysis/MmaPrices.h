//===- MmaPrices.h - Parts of the time of a product -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the search for configurations of a product needs of
// the model of its time.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_ANALYSIS_MMAPRICES_H
#define FUSION_LIB_ANALYSIS_MMAPRICES_H

#include "fusion/Analysis/MmaCost.h"

namespace mlir::fusion::pricing {

/// Seconds of a block at one tile.
struct TileTimes {
  /// Of one chunk: its products at full rate, its copies, the longer of both,
  /// and that with the latency of a ring that nobody else's work hides.
  double undisturbed, feed, chunk, alone;
  /// Of the chunk's, what computing operands takes.
  double conversion;
  double epilogue;
  /// Blocks that a multiprocessor runs at a time.
  double resident;
};

TileTimes getTileTimes(const MmaProblem &problem, const MmaConfig &config,
                       const TargetInfo &target);

/// Bytes of a stage of the ring that the operands come through.
int64_t getStageBytes(const MmaProblem &problem, const MmaConfig &config);

/// Tiles of all products, those of a cluster counted once.
int64_t getTiles(const MmaProblem &problem, const MmaConfig &config);

/// Seconds that a block, of those that share tiles of the last round, takes to
/// add up the parts of a tile that others have.
double getCollectSeconds(const MmaProblem &problem, const MmaConfig &config,
                         const TargetInfo &target);

} // namespace mlir::fusion::pricing

#endif // FUSION_LIB_ANALYSIS_MMAPRICES_H
