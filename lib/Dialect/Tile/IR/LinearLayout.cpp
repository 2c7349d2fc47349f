//===- LinearLayout.cpp - Where each element of a tensor lives ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the queries and transforms of linear layouts.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <numeric>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

llvm::StringRef mlir::fusion::tile::stringifyHwDim(HwDim dim) {
  switch (dim) {
  case HwDim::Register:
    return "reg";
  case HwDim::Lane:
    return "lane";
  case HwDim::Warp:
    return "warp";
  case HwDim::Block:
    return "block";
  }
  llvm_unreachable("unknown hardware dimension");
}

//===----------------------------------------------------------------------===//
// Element and hardware indices
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 4> LinearLayout::shape() const {
  SmallVector<int64_t, 4> result;
  for (uint8_t log2 : log2Shape)
    result.push_back(int64_t(1) << log2);
  return result;
}

unsigned LinearLayout::numElementBits() const {
  return std::accumulate(log2Shape.begin(), log2Shape.end(), 0u);
}

unsigned LinearLayout::dimOffset(unsigned dim) const {
  assert(dim < rank() && "no such dimension");
  return std::accumulate(log2Shape.begin() + dim + 1, log2Shape.end(), 0u);
}

uint64_t LinearLayout::dimMask(unsigned dim) const {
  return llvm::maskTrailingOnes<uint64_t>(log2Shape[dim]) << dimOffset(dim);
}

/// The first bit of `dim` in a packed index.
static unsigned getFirstBit(const LinearLayout &layout, HwDim dim) {
  unsigned first = 0;
  for (HwDim before : kHwDims)
    if (before < dim)
      first += layout.numBits(before);
  return first;
}

ArrayRef<uint64_t> LinearLayout::linearBases(HwDim dim) const {
  return ArrayRef<uint64_t>(bases).slice(getFirstBit(*this, dim), numBits(dim));
}

uint64_t LinearLayout::linearize(ArrayRef<int32_t> coords) const {
  assert(coords.size() == rank() && "one coordinate per dimension");
  uint64_t element = 0;
  for (auto [coord, log2] : llvm::zip_equal(coords, log2Shape)) {
    assert(coord >= 0 && coord < (int64_t(1) << log2) && "outside the shape");
    element = element << log2 | uint64_t(coord);
  }
  return element;
}

Coords LinearLayout::delinearize(uint64_t element) const {
  Coords coords(rank());
  for (unsigned dim = rank(); dim-- > 0;) {
    coords[dim] = element & llvm::maskTrailingOnes<uint64_t>(log2Shape[dim]);
    element >>= log2Shape[dim];
  }
  assert(element == 0 && "outside the shape");
  return coords;
}

uint64_t mlir::fusion::tile::packHwIndex(const LinearLayout &layout,
                                         HwIndex index) {
  assert(index.reg < layout.numRegs() && index.lane < layout.numLanes() &&
         index.warp < layout.numWarps() &&
         index.block < layout.size(HwDim::Block) &&
         "no such place in the hardware");
  return index.reg | uint64_t(index.lane) << getFirstBit(layout, HwDim::Lane) |
         uint64_t(index.warp) << getFirstBit(layout, HwDim::Warp) |
         uint64_t(index.block) << getFirstBit(layout, HwDim::Block);
}

HwIndex mlir::fusion::tile::unpackHwIndex(const LinearLayout &layout,
                                          uint64_t packed) {
  auto field = [&](HwDim dim) {
    return unsigned(packed >> getFirstBit(layout, dim)) &
           (layout.size(dim) - 1);
  };
  return {field(HwDim::Register), field(HwDim::Lane), field(HwDim::Warp),
          field(HwDim::Block)};
}

uint64_t LinearLayout::linearElementOf(HwIndex index) const {
  uint64_t element = 0;
  for (uint64_t rest = packHwIndex(*this, index); rest; rest &= rest - 1)
    element ^= bases[llvm::countr_zero(rest)];
  return element;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool LinearLayout::isInjective() const {
  unsigned moving = llvm::count_if(bases, [](uint64_t b) { return b != 0; });
  return matrix().rank() == moving;
}

unsigned LinearLayout::freeMask(HwDim dim) const {
  BitSpan span;
  uint64_t free = 0;
  for (auto [i, basis] : llvm::enumerate(bases))
    if (!span.insert(basis))
      free |= uint64_t(1) << i;
  return unsigned(free >> getFirstBit(*this, dim)) & (size(dim) - 1);
}

SmallVector<unsigned, 4>
mlir::fusion::tile::getVectorRegisterBits(const LinearLayout &layout,
                                          unsigned dim) {
  SmallVector<unsigned, 4> result;
  unsigned offset = layout.dimOffset(dim);
  for (unsigned i = 0; i != layout.dimLog2(dim); ++i) {
    // Element bit i must be owned by one register bit alone: any other bit that
    // flips it would break the alignment or the order of the vector.
    uint64_t step = uint64_t(1) << (offset + i);
    int owner = -1;
    for (HwDim hw : kHwDims)
      for (auto [bit, basis] : llvm::enumerate(layout.linearBases(hw))) {
        if (!(basis & step))
          continue;
        if (owner != -1 || basis != step || hw != HwDim::Register)
          return result;
        owner = bit;
      }
    if (owner == -1)
      return result;
    result.push_back(owner);
  }
  return result;
}

unsigned mlir::fusion::tile::getRegisterVectorWidth(const LinearLayout &layout,
                                                    unsigned dim) {
  unsigned log2 = 0;
  for (unsigned bit : getVectorRegisterBits(layout, dim)) {
    if (bit != log2)
      break;
    ++log2;
  }
  return 1u << log2;
}

SmallVector<unsigned, 8>
mlir::fusion::tile::getRegisterBitsAlong(const LinearLayout &layout,
                                         unsigned dim) {
  uint64_t mask = layout.dimMask(dim);
  ArrayRef<uint64_t> regs = layout.linearBases(HwDim::Register);
  SmallVector<unsigned, 8> result;
  for (auto [bit, basis] : llvm::enumerate(regs))
    if (basis & mask)
      result.push_back(bit);
  llvm::sort(result, [&](unsigned a, unsigned b) {
    return std::pair(regs[a] & mask, a) < std::pair(regs[b] & mask, b);
  });
  return result;
}

std::optional<SmallVector<HwBit, 16>>
mlir::fusion::tile::getBitsAlong(const LinearLayout &layout, unsigned dim) {
  SmallVector<HwBit, 16> result;
  unsigned offset = layout.dimOffset(dim);
  for (unsigned i = 0; i != layout.dimLog2(dim); ++i) {
    uint64_t step = uint64_t(1) << (offset + i);
    std::optional<HwBit> owner;
    for (HwDim hw : kHwDims)
      for (auto [bit, basis] : llvm::enumerate(layout.linearBases(hw))) {
        if (!(basis & step))
          continue;
        if (basis != step)
          return std::nullopt;
        // A later bit with the same step replicates; the first one owns it.
        if (!owner)
          owner = HwBit{hw, unsigned(bit)};
      }
    if (!owner)
      return std::nullopt;
    result.push_back(*owner);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::selectDims(ArrayRef<unsigned> dims) const {
  SmallVector<uint8_t, 4> newLog2;
  for (unsigned dim : dims)
    newLog2.push_back(log2Shape[dim]);
  return mapBases(newLog2, [&](uint64_t basis) {
    uint64_t result = 0;
    for (unsigned dim : dims)
      result =
          result << log2Shape[dim] | (basis & dimMask(dim)) >> dimOffset(dim);
    return result;
  });
}

LinearLayout LinearLayout::permuteDims(ArrayRef<unsigned> perm) const {
  assert(perm.size() == rank() && "not a permutation of the dimensions");
  return selectDims(perm);
}

LayoutProjection LinearLayout::project(ArrayRef<unsigned> keptDims) const {
  LinearLayout whole = selectDims(keptDims);
  LayoutProjection result;
  result.layout = whole.mergeRegisters();
  BitSpan span(result.layout.linearBases(HwDim::Register));
  for (unsigned reg = 0; reg != numRegs(); ++reg)
    result.regMap.push_back(*span.express(whole.linearElementOf({reg})));
  return result;
}

LinearLayout LinearLayout::mergeRegisters() const {
  BitSpan span;
  LinearLayout result(log2Shape, bits, {});
  for (uint64_t basis : linearBases(HwDim::Register))
    if (span.insert(basis))
      result.bases.push_back(basis);
  result.bits[unsigned(HwDim::Register)] = result.bases.size();
  result.bases.append(bases.begin() + numBits(HwDim::Register), bases.end());
  return result;
}

LinearLayout LinearLayout::sliceDim(unsigned dim) const {
  SmallVector<unsigned, 4> kept;
  for (unsigned i = 0; i != rank(); ++i)
    if (i != dim)
      kept.push_back(i);
  return project(kept).layout;
}

std::optional<LinearLayout>
LinearLayout::getPart(ArrayRef<int64_t> partShape) const {
  SmallVector<Coords> kept[kNumHwDims];
  for (HwDim hw : kHwDims)
    for (unsigned bit = 0; bit != numBits(hw); ++bit) {
      Coords step = basis(hw, bit);
      bool inside = true, outside = true;
      for (auto [coord, size] : llvm::zip_equal(step, partShape)) {
        inside &= coord < size;
        outside &= coord % size == 0;
      }
      if (inside)
        kept[unsigned(hw)].push_back(step);
      else if (!outside || hw != HwDim::Register)
        return std::nullopt;
    }
  return fromBases(partShape, kept[0], kept[1], kept[2], kept[3]);
}

LinearLayout LinearLayout::expandDim(unsigned dim, int64_t size) const {
  assert(dim <= rank() && llvm::isPowerOf2_64(size) && "not a dimension");
  unsigned log2 = llvm::Log2_64(size);
  unsigned below =
      std::accumulate(log2Shape.begin() + dim, log2Shape.end(), 0u);
  SmallVector<uint8_t, 4> newLog2(log2Shape);
  newLog2.insert(newLog2.begin() + dim, log2);
  LinearLayout result = mapBases(newLog2, [&](uint64_t basis) {
    uint64_t low = basis & llvm::maskTrailingOnes<uint64_t>(below);
    return (basis ^ low) << log2 | low;
  });
  SmallVector<uint64_t, 8> steps;
  for (unsigned i = 0; i != log2; ++i)
    steps.push_back(uint64_t(1) << (below + i));
  result.bases.insert(result.bases.begin() + numBits(HwDim::Register),
                      steps.begin(), steps.end());
  result.bits[unsigned(HwDim::Register)] += log2;
  return result;
}

LinearLayout LinearLayout::reshape(ArrayRef<int64_t> newShape) const {
  SmallVector<uint8_t, 4> newLog2;
  for (int64_t size : newShape) {
    assert(llvm::isPowerOf2_64(size) && "extents are powers of two");
    newLog2.push_back(llvm::Log2_64(size));
  }
  assert(std::accumulate(newLog2.begin(), newLog2.end(), 0u) ==
             numElementBits() &&
         "reshape keeps the number of elements");
  return LinearLayout(newLog2, bits, bases);
}

LinearLayout LinearLayout::permuteRegisterBits(ArrayRef<unsigned> perm) const {
  assert(perm.size() == numBits(HwDim::Register) && "not a permutation");
  LinearLayout result = *this;
  for (auto [i, bit] : llvm::enumerate(perm))
    result.bases[i] = bases[bit];
  return result;
}

llvm::hash_code mlir::fusion::tile::hash_value(const LinearLayout &layout) {
  return llvm::hash_combine(llvm::hash_combine_range(layout.log2Shape),
                            llvm::hash_combine_range(layout.bits),
                            llvm::hash_combine_range(layout.bases));
}
