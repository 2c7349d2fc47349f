//===- ScanTiles.h - How blocks walk what they scan -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the choice of tiles for scans, by which planning prices
// kernels and scheduling makes them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_SCANTILES_H
#define FUSION_ANALYSIS_SCANTILES_H

#include "fusion/Analysis/KernelBody.h"
#include "fusion/Analysis/LogOfSums.h"
#include "fusion/Analysis/OpCosts.h"
#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fusion {

/// Elements of a scan that are combined one after the other, at most, by a
/// thread that has what comes before them (docs/Numerics.md).
constexpr int64_t kMostInOrder = 64;

/// What is scanned.
struct ScanSizes {
  int64_t scanned = 1;
  /// Of the dimension that runs along memory, if that is not the scanned one.
  int64_t columns = 1;
  /// Of all others together.
  int64_t rows = 1;
  /// Bytes of the states of an element; 0 where the combination is not known
  /// to be associative.
  int64_t stateBytes = 0;
  /// States of an element, each of which is a word that blocks exchange; 0
  /// where they can exchange none.
  int64_t stateWords = 0;
  /// What is scanned follows from no other scan, so that its totals may be
  /// known before any of it is scanned.
  bool mayRepeat = true;
  /// Instructions, about, that combine two elements' states.
  double combination = 1;
  /// Bytes of the narrowest element that is read or written.
  int64_t narrowestElement = 4;
};

/// What a block has of each at a time, powers of two.
struct ScanTiles {
  int64_t scanned = 1, columns = 1, rows = 1;
  int64_t warps = 1;
  /// Blocks that walk the scanned dimension together: in each round, one tile
  /// falls to each, or so many `steps`, through which threads walk side by
  /// side, each along `run` elements at a time.
  int64_t split = 1, steps = 1, run = 1;

  int64_t elements() const { return scanned * columns * rows; }
};

/// Sets what `sizes` says about the states of the scans of `body`.
void describeStates(const KernelBody &body, ScanSizes &sizes);

/// Whether the results of `scan`, along `extent` elements if that is known, may
/// each be combined from the one before (docs/Numerics.md).
bool mayWalkInOrder(ScanOp scan, std::optional<int64_t> extent);

/// The values of the combination of `scan` that results which somebody reads
/// need, from step to step: its states among the arguments.
llvm::SetVector<Value> findUsed(ScanOp scan);

/// Instructions, about, of a combination that costs so much.
double countCombination(const OpCost &cost);

/// Instructions with which a thread combines `count` neighbours to one state,
/// in one of the two ways.
double countFolding(Block &combiner, double count);

/// The way that takes all neighbours at once, where `combiner` has one and it
/// takes fewer instructions of `count` than one after the other.
std::optional<LogOfSum> matchFolding(Block &combiner, double count);

/// Tiles that are worth a price, which all threads of a block scan together,
/// where that is possible; else one element a step, with columns in threads.
SmallVector<ScanTiles> getScanTiles(const ScanSizes &sizes,
                                    const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_SCANTILES_H
