//===- LayoutConversion.cpp - What it takes to move between layouts -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the analyses of pairs of linear layouts and of
// reductions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include <cassert>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

llvm::StringRef
mlir::fusion::tile::stringifyConversionKind(ConversionKind kind) {
  switch (kind) {
  case ConversionKind::Noop:
    return "noop";
  case ConversionKind::RegisterPermutation:
    return "register-permutation";
  case ConversionKind::Shuffle:
    return "shuffle";
  case ConversionKind::Shared:
    return "shared";
  case ConversionKind::Unsupported:
    return "unsupported";
  }
  llvm_unreachable("unknown conversion kind");
}

/// Whether the two layouts describe the same tensor over the same threads.
static bool sameThreads(const LinearLayout &a, const LinearLayout &b) {
  return a.numBits(HwDim::Lane) == b.numBits(HwDim::Lane) &&
         a.numBits(HwDim::Warp) == b.numBits(HwDim::Warp) &&
         a.numBits(HwDim::Block) == b.numBits(HwDim::Block);
}

static BitSpan spanOf(const LinearLayout &layout, ArrayRef<HwDim> dims) {
  BitSpan span;
  for (HwDim dim : dims)
    for (uint64_t basis : layout.linearBases(dim))
      span.insert(basis);
  return span;
}

std::optional<RegisterMap>
mlir::fusion::tile::getRegisterMap(const LinearLayout &src,
                                   const LinearLayout &dst) {
  assert(src.shape() == dst.shape() && "layouts of different tensors");
  // Register numbers are constants of the program, so a register may not
  // depend on the thread: the thread's share of the element must be equal.
  for (HwDim dim : {HwDim::Lane, HwDim::Warp, HwDim::Block})
    if (src.linearBases(dim) != dst.linearBases(dim))
      return std::nullopt;
  BitSpan span = spanOf(src, HwDim::Register);
  RegisterMap map;
  for (unsigned reg = 0; reg != dst.numRegs(); ++reg) {
    std::optional<uint64_t> from = span.express(dst.linearElementOf({reg}));
    if (!from)
      return std::nullopt;
    map.push_back(*from);
  }
  return map;
}

bool mlir::fusion::tile::isWithinWarp(const LinearLayout &src,
                                      const LinearLayout &dst) {
  assert(src.shape() == dst.shape() && "layouts of different tensors");
  if (!sameThreads(src, dst))
    return false;
  BitSpan span = spanOf(src, {HwDim::Register, HwDim::Lane});
  auto contains = [&](uint64_t vector) { return span.contains(vector); };
  if (!llvm::all_of(dst.linearBases(HwDim::Register), contains) ||
      !llvm::all_of(dst.linearBases(HwDim::Lane), contains))
    return false;
  for (HwDim dim : {HwDim::Warp, HwDim::Block})
    for (auto [a, b] :
         llvm::zip_equal(src.linearBases(dim), dst.linearBases(dim)))
      if (!contains(a ^ b))
        return false;
  return true;
}

std::optional<ShufflePlan>
mlir::fusion::tile::getShufflePlan(const LinearLayout &src,
                                   const LinearLayout &dst) {
  assert(src.shape() == dst.shape() && "layouts of different tensors");
  if (!sameThreads(src, dst) ||
      src.linearBases(HwDim::Block) != dst.linearBases(HwDim::Block))
    return std::nullopt;
  unsigned laneBits = src.numBits(HwDim::Lane);
  BitSpan lanes = spanOf(src, HwDim::Lane);

  // A lane bit or warp bit of the destination must be found in other lanes
  // only: were other registers needed too, each lane would have to choose one.
  SmallVector<uint64_t, 8> laneColumns, warpColumns;
  for (auto [bit, basis] : llvm::enumerate(dst.linearBases(HwDim::Lane))) {
    std::optional<uint64_t> from = uint64_t(1) << bit;
    if (basis != src.linearBasis(HwDim::Lane, bit))
      from = lanes.express(basis);
    if (!from)
      return std::nullopt;
    laneColumns.push_back(*from);
  }
  for (auto [a, b] : llvm::zip_equal(src.linearBases(HwDim::Warp),
                                     dst.linearBases(HwDim::Warp))) {
    std::optional<uint64_t> from = lanes.express(a ^ b);
    if (!from)
      return std::nullopt;
    warpColumns.push_back(*from);
  }

  ShufflePlan plan;
  plan.laneMap = BitMatrix(laneColumns, laneBits);
  plan.warpMap = BitMatrix(warpColumns, laneBits);
  // Registers first in the span, so that the own lane wins where it can.
  BitSpan span = spanOf(src, {HwDim::Register, HwDim::Lane});
  unsigned regBits = src.numBits(HwDim::Register);
  for (unsigned reg = 0; reg != dst.numRegs(); ++reg) {
    std::optional<uint64_t> from = span.express(dst.linearElementOf({reg}));
    if (!from)
      return std::nullopt;
    plan.srcReg.push_back(*from & (src.numRegs() - 1));
    plan.regLane.push_back(*from >> regBits);
  }
  return plan;
}

/// `vector` with bit i at `places[i]`.
static uint64_t permuteBits(uint64_t vector, ArrayRef<unsigned> places) {
  uint64_t result = 0;
  for (auto [bit, place] : llvm::enumerate(places))
    result |= (vector >> bit & 1) << place;
  return result;
}

std::optional<BitShufflePlan>
mlir::fusion::tile::getBitShufflePlan(const LinearLayout &src,
                                      const LinearLayout &dst) {
  assert(src.shape() == dst.shape() && "layouts of different tensors");
  if (!sameThreads(src, dst) ||
      src.linearBases(HwDim::Block) != dst.linearBases(HwDim::Block))
    return std::nullopt;
  // Registers first in the span, so that the own lane wins where it can.
  BitSpan span = spanOf(src, {HwDim::Register, HwDim::Lane});
  unsigned regBits = src.numBits(HwDim::Register);
  uint64_t regMask = src.numRegs() - 1;
  SmallVector<uint64_t, 8> ofLanes, ofWarps;
  for (auto [bit, basis] : llvm::enumerate(dst.linearBases(HwDim::Lane))) {
    std::optional<uint64_t> from = uint64_t(1) << (regBits + bit);
    if (basis != src.linearBasis(HwDim::Lane, bit))
      from = span.express(basis);
    if (!from)
      return std::nullopt;
    ofLanes.push_back(*from);
  }
  for (auto [a, b] : llvm::zip_equal(src.linearBases(HwDim::Warp),
                                     dst.linearBases(HwDim::Warp))) {
    std::optional<uint64_t> from = span.express(a ^ b);
    if (!from)
      return std::nullopt;
    ofWarps.push_back(*from);
  }
  // What threads choose by are the lowest bits of places.
  uint64_t chosen = 0;
  for (const auto &columns : {ofLanes, ofWarps})
    for (uint64_t column : columns)
      chosen |= column & regMask;
  constexpr int kLog2Word = 5;
  if (llvm::popcount(chosen) > kLog2Word)
    return std::nullopt;
  SmallVector<unsigned, 8> places(regBits);
  unsigned next = 0;
  for (bool isChosen : {true, false})
    for (unsigned bit = 0; bit < regBits; ++bit)
      if ((chosen >> bit & 1) == isChosen)
        places[bit] = next++;

  BitShufflePlan plan;
  for (unsigned reg = 0; reg != src.numRegs(); ++reg)
    plan.srcPlace.push_back(permuteBits(reg, places));
  auto split = [&](ArrayRef<uint64_t> columns, BitMatrix &map,
                   BitMatrix &shift) {
    SmallVector<uint64_t, 8> lanes, shifts;
    for (uint64_t column : columns) {
      lanes.push_back(column >> regBits);
      shifts.push_back(permuteBits(column & regMask, places));
    }
    map = BitMatrix(lanes, src.numBits(HwDim::Lane));
    shift = BitMatrix(shifts, kLog2Word);
  };
  split(ofLanes, plan.laneMap, plan.laneShift);
  split(ofWarps, plan.warpMap, plan.warpShift);
  for (unsigned reg = 0; reg != dst.numRegs(); ++reg) {
    std::optional<uint64_t> from = span.express(dst.linearElementOf({reg}));
    if (!from || (*from & chosen))
      return std::nullopt;
    plan.dstPlace.push_back(permuteBits(*from & regMask, places));
    plan.regLane.push_back(*from >> regBits);
  }
  return plan;
}

ConversionKind mlir::fusion::tile::classifyConversion(const LinearLayout &src,
                                                      const LinearLayout &dst) {
  assert(src.shape() == dst.shape() && "layouts of different tensors");
  if (isNoop(src, dst))
    return ConversionKind::Noop;
  if (isRegisterPermutation(src, dst))
    return ConversionKind::RegisterPermutation;
  if (getShufflePlan(src, dst))
    return ConversionKind::Shuffle;
  // A block reaches only its own shared memory: what it needs must be within
  // its own registers, lanes and warps.
  if (src.numBits(HwDim::Block) != dst.numBits(HwDim::Block))
    return ConversionKind::Unsupported;
  BitSpan own = spanOf(src, {HwDim::Register, HwDim::Lane, HwDim::Warp});
  auto contains = [&](uint64_t vector) { return own.contains(vector); };
  for (HwDim dim : {HwDim::Register, HwDim::Lane, HwDim::Warp})
    if (!llvm::all_of(dst.linearBases(dim), contains))
      return ConversionKind::Unsupported;
  for (auto [a, b] : llvm::zip_equal(src.linearBases(HwDim::Block),
                                     dst.linearBases(HwDim::Block)))
    if (!contains(a ^ b))
      return ConversionKind::Unsupported;
  return ConversionKind::Shared;
}

std::optional<ExchangePlan>
mlir::fusion::tile::getExchangePlan(const LinearLayout &layout, unsigned dim,
                                    int64_t mask) {
  Coords step(layout.rank(), 0);
  step[dim] = mask;
  // Registers first in the span, so that the own lane wins where it can.
  std::optional<uint64_t> from = spanOf(layout, {HwDim::Register, HwDim::Lane})
                                     .express(layout.linearize(step));
  if (!from)
    return std::nullopt;
  return ExchangePlan{unsigned(*from & (layout.numRegs() - 1)),
                      unsigned(*from >> layout.numBits(HwDim::Register))};
}

LinearLayout mlir::fusion::tile::getExchangeLayout(const LinearLayout &layout,
                                                   unsigned dim, int64_t mask) {
  SmallVector<BitTarget> regs, left;
  for (unsigned i = layout.rank(); i-- > 0;)
    for (unsigned bit = 0; bit != layout.dimLog2(i); ++bit) {
      bool flips = i == dim && (mask >> bit & 1);
      (flips ? regs : left).push_back({static_cast<int>(i), bit});
    }
  ArrayRef<BitTarget> rest(left);
  auto take = [&](HwDim hw) {
    size_t most = layout.numBits(hw);
    SmallVector<BitTarget> bits(rest.take_front(most));
    rest = rest.drop_front(bits.size());
    bits.resize(most, BitTarget::replicated());
    return bits;
  };
  SmallVector<BitTarget> lanes = take(HwDim::Lane), warps = take(HwDim::Warp);
  regs.append(rest.begin(), rest.end());
  return LinearLayout::fromBits(layout.shape(), regs, lanes, warps);
}

std::optional<RegisterMap>
mlir::fusion::tile::getBroadcastRegisterMap(const LinearLayout &child,
                                            const LinearLayout &parent,
                                            ArrayRef<unsigned> keptDims) {
  assert(child.rank() == keptDims.size() && "one parent dim per child dim");
  // The child's coordinates along extents that broadcast carry nothing: compare
  // the rest, with those dimensions dropped on both sides.
  SmallVector<unsigned, 4> childDims, parentDims;
  for (auto [dim, parentDim] : llvm::enumerate(keptDims)) {
    if (child.dimLog2(dim) == 0)
      continue;
    assert(child.dimLog2(dim) == parent.dimLog2(parentDim) &&
           "a child extent is 1 or the parent's");
    childDims.push_back(dim);
    parentDims.push_back(parentDim);
  }
  return getRegisterMap(child.selectDims(childDims),
                        parent.selectDims(parentDims));
}

/// The layout with coordinates along `dim` divided by 2^log2Factor, and every
/// register, those that then hold the same element included.
static LinearLayout divideDim(const LinearLayout &layout, unsigned dim,
                              unsigned log2Factor) {
  SmallVector<int64_t, 4> shape = layout.shape();
  assert(dim < shape.size() && shape[dim] >> log2Factor && "nothing is left");
  shape[dim] >>= log2Factor;
  SmallVector<Coords, 8> groups[kNumHwDims];
  for (HwDim hw : kHwDims)
    for (unsigned bit = 0; bit != layout.numBits(hw); ++bit) {
      Coords basis = layout.basis(hw, bit);
      basis[dim] >>= log2Factor;
      groups[unsigned(hw)].push_back(basis);
    }
  return *LinearLayout::fromBases(shape, groups[0], groups[1], groups[2],
                                  groups[3]);
}

LinearLayout mlir::fusion::tile::getRepeatedLayout(const LinearLayout &layout,
                                                   unsigned dim,
                                                   unsigned log2Factor) {
  return divideDim(layout, dim, log2Factor).mergeRegisters();
}

std::optional<RegisterMap>
mlir::fusion::tile::getRepeatRegisterMap(const LinearLayout &source,
                                         const LinearLayout &layout,
                                         unsigned dim, unsigned log2Factor) {
  return getRegisterMap(source, divideDim(layout, dim, log2Factor));
}

std::optional<ReductionBits>
mlir::fusion::tile::getReductionBits(const LinearLayout &layout, unsigned dim) {
  uint64_t along = layout.dimMask(dim);
  ReductionBits result;
  unsigned *masks[kNumHwDims] = {&result.regMask, &result.laneMask,
                                 &result.warpMask, &result.blockMask};
  BitSpan span;
  for (HwDim hw : kHwDims)
    for (auto [bit, basis] : llvm::enumerate(layout.linearBases(hw)))
      // A bit that the earlier ones span replicates what they combine.
      if (!(basis & ~along) && span.insert(basis))
        *masks[unsigned(hw)] |= 1u << bit;
  if (span.rank() != layout.dimLog2(dim))
    return std::nullopt;
  return result;
}

SmallVector<RegisterMap, 4> mlir::fusion::tile::getReductionRegisterGroups(
    const LinearLayout &layout, unsigned dim, const ReductionBits &bits) {
  SmallVector<unsigned, 4> kept;
  for (unsigned i = 0; i != layout.rank(); ++i)
    if (i != dim)
      kept.push_back(i);
  LayoutProjection projection = layout.project(kept);
  SmallVector<RegisterMap, 4> groups(projection.layout.numRegs());
  for (auto [reg, child] : llvm::enumerate(projection.regMap)) {
    if (!groups[child].empty())
      continue;
    // All subsets of the mask, without the registers that only replicate.
    unsigned subset = 0;
    do {
      groups[child].push_back(unsigned(reg) ^ subset);
      subset = (subset - bits.regMask) & bits.regMask;
    } while (subset);
  }
  uint64_t along = layout.dimMask(dim);
  for (RegisterMap &group : groups)
    llvm::sort(group, [&](unsigned a, unsigned b) {
      return (layout.linearElementOf({a}) & along) <
             (layout.linearElementOf({b}) & along);
    });
  return groups;
}

std::optional<ScanPlan>
mlir::fusion::tile::getScanPlan(const LinearLayout &layout, unsigned dim) {
  std::optional<SmallVector<HwBit, 16>> steps = getBitsAlong(layout, dim);
  if (!steps)
    return std::nullopt;
  ArrayRef<HwBit> rest(*steps);
  auto take = [&](HwDim hw) {
    size_t count = 0;
    while (count < rest.size() && rest[count].dim == hw)
      ++count;
    ArrayRef<HwBit> taken = rest.take_front(count);
    rest = rest.drop_front(count);
    return taken;
  };
  ScanPlan plan;
  plan.regBits = take(HwDim::Register).size();
  ArrayRef<HwBit> lanes = take(HwDim::Lane);
  for (auto [i, lane] : llvm::enumerate(lanes))
    if (lane.bit != lanes.front().bit + i)
      return std::nullopt;
  plan.laneShift = lanes.empty() ? 0 : lanes.front().bit;
  plan.laneBits = lanes.size();
  plan.warpBits = take(HwDim::Warp).size();
  take(HwDim::Register);
  return rest.empty() ? std::optional(plan) : std::nullopt;
}

LinearLayout mlir::fusion::tile::getLayoutInLanes(const LinearLayout &outer,
                                                  unsigned dim, int64_t size) {
  SmallVector<int64_t, 4> shape = outer.shape();
  shape.insert(shape.begin() + dim, size);
  SmallVector<Coords, 8> bases[kNumHwDims];
  for (HwDim hw : kHwDims)
    for (unsigned bit = 0; bit != outer.numBits(hw); ++bit) {
      Coords basis = outer.basis(hw, bit);
      basis.insert(basis.begin() + dim, 0);
      bases[unsigned(hw)].push_back(basis);
    }
  int64_t step = 1;
  bool begun = false;
  for (Coords &lane : bases[unsigned(HwDim::Lane)]) {
    bool isFree = llvm::none_of(lane, [](int32_t coord) { return coord; });
    // The lanes of a scan are neighbours.
    if (step == size || (begun && !isFree))
      break;
    if (!isFree)
      continue;
    lane[dim] = step;
    step *= 2;
    begun = true;
  }
  for (; step != size; step *= 2) {
    Coords basis(shape.size(), 0);
    basis[dim] = step;
    bases[unsigned(HwDim::Register)].push_back(basis);
  }
  return *LinearLayout::fromBases(
      shape, bases[unsigned(HwDim::Register)], bases[unsigned(HwDim::Lane)],
      bases[unsigned(HwDim::Warp)], bases[unsigned(HwDim::Block)]);
}
