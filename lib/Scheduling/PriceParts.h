//===- PriceParts.h - Parts of the price of a schedule ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the price of a schedule without products is made of,
// besides its traffic.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_PRICEPARTS_H
#define FUSION_LIB_SCHEDULING_PRICEPARTS_H

#include "StreamTraffic.h"
#include "fusion/Support/SharedPlaces.h"

namespace mlir::fusion {

/// Adds to `cost` what threads compute and what they do to combine it.
void addArithmetic(const StreamTraffic &traffic, KernelCost &cost);

/// Where a block has its tiles.
struct TilePlaces {
  /// Buffers in shared memory, with their lifetimes.
  SmallVector<SharedPiece> shared;
  /// How threads hold what a pointwise kernel computes; none where there is no
  /// tile.
  std::optional<HeldElements> held;
};
TilePlaces findTilePlaces(const StreamTraffic &traffic);

/// Words that a block reads in a round of a scan that blocks walk together.
double countRoundWords(const BlockWork &work);

/// Registers of a thread.
int64_t countRegisters(const StreamTraffic &traffic);

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_PRICEPARTS_H
