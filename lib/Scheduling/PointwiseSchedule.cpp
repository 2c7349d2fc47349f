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

namespace {
/// Where memory runs along one dimension in some tensors and along another in
/// others, or goes on along others behind rows that they all have.
struct TileSides {
  /// The dimensions of such rows, which are short; the fastest first.
  SmallVector<unsigned> inner;
  /// Those in which the tensors part, most bytes first: two, or more.
  SmallVector<unsigned> dims;
};
} // namespace

/// The dimensions along which tensors go on behind `inner`, most bytes first.
static SmallVector<std::pair<double, unsigned>>
findBeyond(const LoopFacts &facts, ArrayRef<unsigned> inner) {
  SmallVector<double> bytes = facts.getBytesBeyond(inner);
  SmallVector<std::pair<double, unsigned>> beyond;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    if (bytes[dim] > 0 && facts.root.test(dim) && facts.extents[dim] > 1 &&
        !llvm::is_contained(inner, dim))
      beyond.push_back({bytes[dim], dim});
  llvm::sort(beyond, [](auto a, auto b) {
    return std::pair(-a.first, a.second) < std::pair(-b.first, b.second);
  });
  return beyond;
}

/// Bytes of the tensors that go on along one dimension, at most, over those of
/// the others that are worth a side of the tile: what a warp asks for in vain
/// of the others is no more, a sector for each element.
static constexpr double kMostOverOthers = 16;

static std::optional<TileSides> findSides(const LoopFacts &facts) {
  SmallVector<unsigned> inner;
  int64_t row = 1;
  while (row < facts.target.fitted.pointwise.squareSide) {
    auto beyond = findBeyond(facts, inner);
    if (beyond.empty())
      return std::nullopt;
    auto [bytes, dim] = beyond.front();
    TileSides sides{inner, {}};
    for (auto [own, side] : beyond)
      if (own * kMostOverOthers > bytes)
        sides.dims.push_back(side);
    if (sides.dims.size() > 1)
      return sides;
    inner.push_back(dim);
    row *= nextPowerOfTwo(facts.extents[dim]);
  }
  return std::nullopt;
}

/// Lets the tile go on along `side` of `sides`, and along what lies outside of
/// it in memory where it is short, in the largest tensor that has it there, up
/// to `most` elements and to any other side.
static void growSide(LoopSchedule &draft, const LoopFacts &facts,
                     const TileSides &sides, unsigned side, int64_t most) {
  const KernelTensor *largest = nullptr;
  unsigned begin = 0;
  for (const auto *tensors : {&facts.inputs, &facts.outputs})
    for (const KernelTensor &tensor : *tensors) {
      std::optional<unsigned> number = tensor.findBeyond(sides.inner);
      if (number && tensor.dims[*number] == side &&
          (!largest || tensor.elements() > largest->elements())) {
        largest = &tensor;
        begin = *number;
      }
    }
  if (!largest)
    return;
  int64_t length = 1;
  for (unsigned dim : sides.inner)
    length *= draft[dim].tile;
  for (unsigned number = begin + 1; number-- > 0;) {
    if (largest->shape[number] == 1)
      continue;
    std::optional<unsigned> dim = largest->dims[number];
    if (!dim || (*dim != side && llvm::is_contained(sides.dims, *dim)) ||
        !facts.root.test(*dim) || length >= most)
      return;
    LoopAxis &axis = draft[*dim];
    axis.tile = std::max(
        axis.tile,
        std::min<int64_t>(most / length, nextPowerOfTwo(facts.extents[*dim])));
    length *= axis.tile;
    if (axis.tile < facts.extents[*dim])
      return;
  }
}

/// A tile that all tensors read and write in whole cache lines. One of more
/// than two sides is no larger than a square: its sides are as long as they can
/// be.
static void setSides(LoopSchedule &draft, const LoopFacts &facts,
                     const TileSides &sides, int64_t vector) {
  const PointwiseConstants &fitted = facts.target.fitted.pointwise;
  const LoopSchedule before = draft;
  for (int64_t most = fitted.squareSide; most > 1; most /= 2) {
    draft = before;
    for (unsigned dim : sides.inner)
      draft[dim].tile = nextPowerOfTwo(facts.extents[dim]);
    for (unsigned side : sides.dims)
      growSide(draft, facts, sides, side, most);
    if (sides.dims.size() == 2 ||
        draft.tileElements() <= fitted.squareSide * fitted.squareSide)
      break;
  }
  if (!sides.inner.empty())
    draft[sides.inner.front()].vector = vector;
  else
    for (unsigned side : sides.dims)
      draft[side].vector = vector;
}

/// One 16-byte access a thread for each operand; with `several` more of them in
/// fewer threads. A small problem has fewer threads a block where it `spreads`
/// over the chip. Tiles have `most` elements along dimensions, where that is
/// not empty.
static LoopSchedule getSchedule(const LoopFacts &facts,
                                const std::optional<TileSides> &sides,
                                bool several, bool spreads,
                                ArrayRef<int64_t> most = {}) {
  const PointwiseConstants &fitted = facts.target.fitted.pointwise;
  LoopSchedule draft(Strategy::Pointwise, facts.getNumDims());
  int64_t vector = std::max<int64_t>(16 / facts.narrowestElement, 1);
  vector = std::min<int64_t>(vector, 8);
  int64_t threads = several ? fitted.sharingThreads : fitted.threads;
  int64_t accesses = several ? fitted.sharingAccesses : 1;
  int64_t budget = threads * vector * accesses;
  if (sides)
    setSides(draft, facts, *sides, vector);
  auto getMost = [&](unsigned dim) {
    int64_t whole = nextPowerOfTwo(facts.extents[dim]);
    return most.empty() ? whole : std::min(whole, most[dim]);
  };
  auto rank = static_cast<int64_t>(facts.primary.size());
  // A few steps along a dimension that an operand lacks: the block reads that
  // operand once for all of them.
  for (int64_t i = rank - 2; i >= 0 && draft.tileElements() < 2; --i) {
    std::optional<unsigned> dim = facts.primary[i];
    if (dim && facts.repeats.test(*dim) && several)
      draft[*dim].tile = std::min(fitted.sharingSteps, getMost(*dim));
  }
  // Elements lie side by side along the last dimension that has several.
  int64_t last = rank - 1;
  while (last > 0 &&
         (!facts.primary[last] || facts.extents[*facts.primary[last]] == 1))
    --last;
  // Fill the tile from the fastest dimension of the primary result outwards.
  for (int64_t i = rank - 1; i >= 0 && draft.tileElements() < budget; --i) {
    if (!facts.primary[i])
      continue;
    LoopAxis &axis = draft[*facts.primary[i]];
    // The steps are more where the dimensions inside are short.
    int64_t room = budget / draft.tileElements() * axis.tile;
    axis.tile = std::min(room, getMost(*facts.primary[i]));
    if (axis.vector == 1 && i == last)
      axis.vector = vector;
  }
  // A small problem is spread over the chip before threads get several
  // elements each.
  while (spreads &&
         gridBlocks(draft, facts) < static_cast<double>(facts.target.numSMs) &&
         draft.tileElements() > fitted.leastTile) {
    unsigned widest = 0;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
      if (draft[dim].tile > draft[widest].tile)
        widest = dim;
    draft[widest].tile /= 2;
  }
  int64_t perThread = sides ? vector : accesses * vector;
  draft.warps = warpsFor(draft.tileElements(), perThread,
                         sides ? fitted.squareWarps : threads / kWarpThreads);
  return draft;
}

/// Whether threads of `draft` access many elements one by one, because a
/// tensor's rows begin anywhere.
static bool hasManySingles(const LoopFacts &facts, const LoopSchedule &draft) {
  int64_t vector = 1;
  for (const LoopAxis &axis : draft.axes)
    vector = std::max(vector, axis.vector);
  auto beginsAnywhere = [&](const KernelTensor &tensor) {
    for (int64_t size : llvm::reverse(tensor.shape))
      if (size != 1)
        return size % vector != 0;
    return false;
  };
  return draft.tileElements() > facts.target.fitted.pointwise.squareSingles *
                                    draft.warps * kWarpThreads &&
         (llvm::any_of(facts.inputs, beginsAnywhere) ||
          llvm::any_of(facts.outputs, beginsAnywhere));
}

/// Lets blocks of `draft` find the parts of what is joined that their tiles lie
/// in; false where each has all of them.
static bool setParted(LoopSchedule &draft, const LoopFacts &facts) {
  bool isParted = false;
  for (auto [axis, extent, join] :
       llvm::zip(draft.axes, facts.extents, facts.joins)) {
    axis.parted = join.step > 0 && axis.tile < extent;
    isParted |= axis.parted;
  }
  return isParted;
}

/// Adds the first of `schedules` with blocks that find the parts of what is
/// joined, and such whose tiles lie in one part each, or are about as long as
/// parts are.
static void addParted(LoopSchedules &schedules, const LoopFacts &facts,
                      const std::optional<TileSides> &sides) {
  SmallVector<int64_t> whole, about;
  for (auto [extent, join] : llvm::zip(facts.extents, facts.joins)) {
    bool isJoined = join.step > 0;
    int64_t all = nextPowerOfTwo(extent);
    whole.push_back(isJoined ? join.step & -join.step : all);
    about.push_back(isJoined ? nextPowerOfTwo(extent / join.parts) : all);
  }
  LoopSchedules parted{schedules.front()};
  for (bool several : {false, true})
    parted.push_back(
        getSchedule(facts, sides, several, /*spreads=*/true, whole));
  if (about != whole)
    parted.push_back(getSchedule(facts, sides, /*several=*/false,
                                 /*spreads=*/true, about));
  for (LoopSchedule &draft : parted)
    if (setParted(draft, facts))
      schedules.push_back(std::move(draft));
}

LoopSchedules mlir::fusion::getPointwiseSchedules(const LoopFacts &facts) {
  std::optional<TileSides> sides = findSides(facts);
  // Rows that all tensors have are read and written as they lie; whether tiles
  // have what lies beside them as well is a matter of price.
  bool hasRows = sides && !sides->inner.empty();
  // So is whether they have more than two sides.
  std::optional<TileSides> all = sides;
  if (sides)
    sides->dims.truncate(2);
  std::optional<TileSides> usual = hasRows ? std::nullopt : sides;
  LoopSchedules result{
      getSchedule(facts, usual, /*several=*/false, /*spreads=*/true)};
  if (hasRows)
    result.push_back(
        getSchedule(facts, sides, /*several=*/false, /*spreads=*/true));
  if (all && all->dims.size() > 2)
    result.push_back(
        getSchedule(facts, all, /*several=*/false, /*spreads=*/true));
  // Where an operand repeats along a dimension, registers can keep it; but not
  // with long bodies, whose registers then do not suffice.
  if (facts.repeats.any() &&
      facts.operations <= facts.target.fitted.pointwise.longBody)
    result.push_back(
        getSchedule(facts, usual, /*several=*/true, /*spreads=*/true));
  // Half the threads work out less of where elements are.
  LoopSchedule fewer = result.front();
  fewer.warps /= 2;
  if (usual && fewer.warps > 0 && !hasManySingles(facts, fewer))
    result.push_back(std::move(fewer));
  // In one launch with others it need not.
  LoopSchedule whole =
      getSchedule(facts, usual, /*several=*/false, /*spreads=*/false);
  if (whole.warps != result.front().warps)
    result.push_back(std::move(whole));
  if (llvm::any_of(facts.joins, [](auto join) { return join.step > 0; }))
    addParted(result, facts, usual);
  return result;
}
