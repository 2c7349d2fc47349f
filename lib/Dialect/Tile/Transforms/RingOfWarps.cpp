//===- RingOfWarps.cpp - Each warp copies what it reads -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of loads of which each warp copies what it
// reads itself: its walk through the ring then waits for no other warp.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"
#include "fusion/Analysis/MmaCost.h"

using namespace mlir;
using namespace mlir::fusion::tile;

bool LoopPipeliner::planReaders(ArrayRef<LoadOp> loads,
                                SmallVectorImpl<LoadOp> &others) {
  // Pieces of 64 bytes a warp reach two thirds of the memory's rate; what is
  // small comes from L2.
  int64_t largest = 0;
  for (LoadOp load : loads)
    largest = std::max(largest, getViewBits(load));
  int64_t copied = 0, loaded = 0;
  for (LoadOp load : loads) {
    auto type = cast<RankedTensorType>(load.getType());
    int64_t bits = type.getNumElements();
    if (type.getElementType().isIntOrFloat())
      bits *= type.getElementTypeBitWidth();
    if (std::optional<CopyPlan> plan = planCopy(
            load, numWarps, /*byReader=*/true,
            /*mayCut=*/getViewBits(load) * fusion::kLittle <= largest)) {
      copies.push_back({load, *plan, nullptr});
      copied += bits;
    } else {
      others.push_back(load);
      loaded += bits;
    }
  }
  std::optional<APInt> trips = loop.getStaticTripCount();
  bool allKnown = llvm::all_of(
      others, [](LoadOp load) { return getOnlyUse(load).has_value(); });
  if (copies.empty() || loaded * fusion::kLittle > copied || !allKnown ||
      (!others.empty() && (!trips || trips->isZero()))) {
    copies.clear();
    others.clear();
    return false;
  }
  loadAsUsed(others);
  return true;
}
