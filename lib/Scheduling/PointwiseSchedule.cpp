//===- PointwiseSchedule.cpp - Schedules of pointwise kernels -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the schedules of kernels whose blocks compute tiles of
// results, each element on its own.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"

using namespace mlir;
using namespace mlir::fusion;

/// Where dimension `fast` is shorter than a side of a square tile, the side
/// goes on along what lies outside of it in memory, in the largest tensor that
/// is contiguous along it. `other` is that of the other side.
static void growSide(LoopSchedule &draft, const LoopFacts &facts, unsigned fast,
                     unsigned other) {
  const KernelTensor *largest = nullptr;
  auto visit = [&](const KernelTensor &tensor) {
    auto isLong = [](int64_t size) { return size > 1; };
    auto last = llvm::find_if(llvm::reverse(tensor.shape), isLong);
    if (last == tensor.shape.rend())
      return;
    unsigned number = tensor.shape.rend() - last - 1;
    if (tensor.dims[number] == fast &&
        (!largest || tensor.elements() > largest->elements()))
      largest = &tensor;
  };
  llvm::for_each(facts.inputs, visit);
  llvm::for_each(facts.outputs, visit);
  if (!largest)
    return;
  int64_t side = 1;
  for (unsigned number = largest->shape.size(); number-- > 0;) {
    if (largest->shape[number] == 1)
      continue;
    std::optional<unsigned> dim = largest->dims[number];
    if (!dim || *dim == other || !facts.root.test(*dim) ||
        side >= facts.target.fitted.pointwise.squareSide)
      return;
    LoopAxis &axis = draft[*dim];
    axis.tile = std::max(
        axis.tile,
        std::min<int64_t>(facts.target.fitted.pointwise.squareSide / side,
                          nextPowerOfTwo(facts.extents[*dim])));
    side *= axis.tile;
    if (axis.tile < facts.extents[*dim])
      return;
  }
}

/// One 16-byte access a thread for each operand: more of them in flight did not
/// help at full occupancy, more blocks did (sm_90a, 2026-11-21). With `several`
/// four in half the threads. A small problem has fewer threads a block where it
/// `spreads` over the chip.
static LoopSchedule getSchedule(const LoopFacts &facts, bool several,
                                bool spreads) {
  LoopSchedule draft(Strategy::Pointwise, facts.getNumDims());
  int64_t vector = std::max<int64_t>(16 / facts.narrowestElement, 1);
  vector = std::min<int64_t>(vector, 8);
  int64_t threads = several ? 128 : 256;
  int64_t budget = threads * vector * (several ? 4 : 1);
  bool square = false;

  // Dimensions along which some operand is contiguous, most bytes first.
  SmallVector<unsigned> fast;
  for (unsigned i = 0; i < facts.getNumDims(); ++i)
    if (facts.contiguousBytes[i] > 0 && facts.root.test(i) &&
        facts.extents[i] > 1)
      fast.push_back(i);
  llvm::stable_sort(fast, [&](unsigned a, unsigned b) {
    return facts.contiguousBytes[a] > facts.contiguousBytes[b];
  });
  if (fast.size() > 1 &&
      facts.contiguousBytes[fast[1]] * 16 > facts.contiguousBytes[fast[0]]) {
    // Two directions: a square tile that both read in whole cache lines.
    square = true;
    for (unsigned i = 0; i < 2; ++i) {
      draft[fast[i]].tile =
          std::min<int64_t>(facts.target.fitted.pointwise.squareSide,
                            nextPowerOfTwo(facts.extents[fast[i]]));
      draft[fast[i]].vector = vector;
    }
    for (unsigned i = 0; i < 2; ++i)
      growSide(draft, facts, fast[i], fast[1 - i]);
  }
  auto rank = static_cast<int64_t>(facts.primary.size());
  // A few steps along a dimension that an operand lacks: the block reads that
  // operand once for all of them.
  for (int64_t i = rank - 2; i >= 0 && draft.tileElements() < 2; --i) {
    std::optional<unsigned> dim = facts.primary[i];
    if (dim && facts.repeats.test(*dim) && several)
      draft[*dim].tile =
          std::min<int64_t>(8, nextPowerOfTwo(facts.extents[*dim]));
  }
  // Fill the tile from the fastest dimension of the primary result outwards.
  for (int64_t i = rank - 1; i >= 0 && draft.tileElements() < budget; --i) {
    if (!facts.primary[i])
      continue;
    LoopAxis &axis = draft[*facts.primary[i]];
    // The steps are more where the dimensions inside are short.
    int64_t room = budget / draft.tileElements() * axis.tile;
    axis.tile =
        std::min(room, nextPowerOfTwo(facts.extents[*facts.primary[i]]));
    if (axis.vector == 1 && i == rank - 1)
      axis.vector = vector;
  }
  // A small problem is spread over the chip before threads get several
  // elements each.
  int64_t least = 128;
  while (spreads &&
         gridBlocks(draft, facts) < static_cast<double>(facts.target.numSMs) &&
         draft.tileElements() > least) {
    unsigned widest = 0;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
      if (draft[dim].tile > draft[widest].tile)
        widest = dim;
    draft[widest].tile /= 2;
  }
  int64_t perThread = several && !square ? 4 * vector : vector;
  draft.warps = warpsFor(draft.tileElements(), perThread,
                         square ? 16 : threads / kWarpThreads);
  return draft;
}

LoopSchedules mlir::fusion::getPointwiseSchedules(const LoopFacts &facts) {
  LoopSchedules result{getSchedule(facts, /*several=*/false, /*spreads=*/true)};
  // Where an operand repeats along a dimension, registers can keep it; but not
  // with long bodies, whose registers then do not suffice.
  if (facts.repeats.any() &&
      facts.operations <= facts.target.fitted.pointwise.longBody)
    result.push_back(getSchedule(facts, /*several=*/true, /*spreads=*/true));
  // In one launch with others it need not.
  LoopSchedule whole = getSchedule(facts, /*several=*/false, /*spreads=*/false);
  if (whole.warps != result.front().warps)
    result.push_back(std::move(whole));
  return result;
}
