//===- SharedLayout.cpp - Where each element of a buffer lives ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the layouts of tiles in shared memory and the count of
// their bank conflicts.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/SharedLayout.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

SharedLayout::SharedLayout(ArrayRef<int64_t> shape, unsigned elementBytes,
                           const BitMatrix &slots)
    : log2Bytes(llvm::Log2_32(elementBytes)), slots(slots) {
  assert(llvm::isPowerOf2_32(elementBytes) && elementBytes <= kMaxAccessBytes &&
         "an element has 1, 2, 4, 8 or 16 bytes");
  for (int64_t size : shape) {
    assert(size > 0 && llvm::isPowerOf2_64(size) &&
           "extents are powers of two");
    log2Shape.push_back(llvm::Log2_64(size));
  }
  assert(slots.numColumns() ==
             std::accumulate(log2Shape.begin(), log2Shape.end(), 0u) &&
         slots.numRows() == slots.numColumns() && slots.isInjective() &&
         "slots must be a bijection on the elements");
}

SmallVector<int64_t, 4> SharedLayout::shape() const {
  SmallVector<int64_t, 4> result;
  for (uint8_t log2 : log2Shape)
    result.push_back(int64_t(1) << log2);
  return result;
}

SharedLayout SharedLayout::linear(ArrayRef<int64_t> shape,
                                  unsigned elementBytes,
                                  ArrayRef<unsigned> order) {
  unsigned rank = shape.size();
  SmallVector<unsigned, 4> fastestFirst(order);
  if (order.empty())
    for (unsigned dim = rank; dim-- > 0;)
      fastestFirst.push_back(dim);
  SmallVector<unsigned, 4> begin(rank);
  unsigned bits = 0;
  for (unsigned dim : fastestFirst) {
    begin[dim] = bits;
    bits += llvm::Log2_64(shape[dim]);
  }
  // Columns are in row-major order: the last dimension's bits first.
  SmallVector<uint64_t, 16> columns;
  for (unsigned dim = rank; dim-- > 0;)
    for (unsigned bit = 0; bit != llvm::Log2_64(shape[dim]); ++bit)
      columns.push_back(uint64_t(1) << (begin[dim] + bit));
  return SharedLayout(shape, elementBytes, BitMatrix(columns, bits));
}

SharedLayout SharedLayout::tma(int64_t rows, int64_t columns,
                               unsigned elementBytes, TmaSwizzle swizzle) {
  if (swizzle == TmaSwizzle::None)
    return linear({rows, columns}, elementBytes);
  // The swizzle acts on addresses: the number of the 16-byte chunk within its
  // span (bits 4 and up) is XORed with the low bits of the number of the
  // 128-byte line (bits 7 and up).
  unsigned chunkBits = swizzle == TmaSwizzle::B32   ? 1
                       : swizzle == TmaSwizzle::B64 ? 2
                                                    : 3;
  unsigned log2Bytes = llvm::Log2_32(elementBytes);
  unsigned rowBits = llvm::Log2_64(rows), columnBits = llvm::Log2_64(columns);
  unsigned spanBits = 4 + chunkBits - log2Bytes;
  assert(columnBits >= spanBits && "a row is at least one span");
  SmallVector<uint64_t, 16> slots;
  auto swizzled = [&](unsigned slotBit) {
    uint64_t offset = uint64_t(1) << (slotBit + log2Bytes);
    offset ^=
        (offset >> 3) & (llvm::maskTrailingOnes<uint64_t>(chunkBits) << 4);
    slots.push_back(offset >> log2Bytes);
  };
  for (unsigned bit = 0; bit != columnBits; ++bit)
    swizzled(bit < spanBits ? bit : bit + rowBits);
  for (unsigned bit = 0; bit != rowBits; ++bit)
    swizzled(spanBits + bit);
  SharedLayout result({rows, columns}, elementBytes,
                      BitMatrix(slots, rowBits + columnBits));
  result.baseAlignment = kBankRowBytes << chunkBits;
  return result;
}

SharedLayout SharedLayout::tmaTile(ArrayRef<int64_t> shape, unsigned fastDim,
                                   unsigned elementBytes, TmaSwizzle swizzle) {
  assert(fastDim < shape.size() && "no such dimension");
  int64_t rows = 1;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (dim != fastDim)
      rows *= size;
  SharedLayout plain = tma(rows, shape[fastDim], elementBytes, swizzle);
  // The slots of `plain`, the bits of the fast coordinate first, regrouped for
  // row-major numbers of the tile: the last dimension's bits first.
  unsigned fastBits = llvm::Log2_64(shape[fastDim]), nextRow = fastBits;
  SmallVector<uint64_t, 16> slots;
  SmallVector<unsigned, 4> begin(shape.size());
  for (unsigned dim = shape.size(); dim-- > 0;) {
    begin[dim] = dim == fastDim ? 0 : nextRow;
    if (dim != fastDim)
      nextRow += llvm::Log2_64(shape[dim]);
  }
  for (unsigned dim = shape.size(); dim-- > 0;)
    for (unsigned bit = 0; bit != llvm::Log2_64(shape[dim]); ++bit)
      slots.push_back(plain.slots.column(begin[dim] + bit));
  SharedLayout result(shape, elementBytes,
                      BitMatrix(slots, plain.slots.numRows()));
  result.baseAlignment = plain.baseAlignment;
  return result;
}

uint64_t SharedLayout::offsetOf(ArrayRef<int32_t> coords) const {
  assert(coords.size() == rank() && "one coordinate per dimension");
  uint64_t element = 0;
  for (auto [coord, log2] : llvm::zip_equal(coords, log2Shape)) {
    assert(coord >= 0 && coord < (int64_t(1) << log2) && "outside the shape");
    element = element << log2 | uint64_t(coord);
  }
  return offsetOf(element);
}

BitMatrix SharedLayout::matrix() const {
  SmallVector<uint64_t, 16> columns;
  for (uint64_t slot : slots.getColumns())
    columns.push_back(slot << log2Bytes);
  return BitMatrix(columns, slots.numRows() + log2Bytes);
}

uint64_t SharedLayout::offsetBasis(unsigned dim, unsigned bit) const {
  assert(bit < log2Shape[dim] && "no such coordinate bit");
  unsigned below =
      std::accumulate(log2Shape.begin() + dim + 1, log2Shape.end(), 0u);
  return slots.column(below + bit) << log2Bytes;
}

bool SharedLayout::isTransposed(const SharedLayout &other) const {
  if (rank() != 2 || other.rank() != 2 || log2Bytes != other.log2Bytes ||
      baseAlignment != other.baseAlignment)
    return false;
  for (unsigned dim : {0, 1}) {
    if (log2Shape[dim] != other.log2Shape[1 - dim])
      return false;
    for (unsigned bit = 0; bit < log2Shape[dim]; ++bit)
      if (offsetBasis(dim, bit) != other.offsetBasis(1 - dim, bit))
        return false;
  }
  return true;
}

llvm::hash_code mlir::fusion::tile::hash_value(const SharedLayout &layout) {
  return llvm::hash_combine(
      llvm::hash_combine_range(layout.log2Shape), layout.log2Bytes,
      layout.baseAlignment,
      llvm::hash_combine_range(layout.slots.getColumns()));
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The byte offsets that the index bits of one hardware dimension contribute.
static BitMatrix offsetsOf(const LinearLayout &layout,
                           const SharedLayout &shared, HwDim dim) {
  BitMatrix matrix = shared.matrix();
  SmallVector<uint64_t, 8> columns;
  for (uint64_t basis : layout.linearBases(dim))
    columns.push_back(matrix.apply(basis));
  return BitMatrix(columns, matrix.numRows());
}

std::optional<SharedAccess>
mlir::fusion::tile::getSharedAccess(const LinearLayout &layout,
                                    const SharedLayout &shared,
                                    unsigned vecElements) {
  assert(layout.shape() == shared.shape() && "layouts of different tiles");
  assert(llvm::isPowerOf2_32(vecElements) &&
         vecElements * shared.elementBytes() <= kMaxAccessBytes &&
         "no such access");
  if (layout.numBits(HwDim::Block) != 0)
    return std::nullopt;
  SharedAccess access;
  access.vecElements = vecElements;
  access.laneOffset = offsetsOf(layout, shared, HwDim::Lane);
  access.warpOffset = offsetsOf(layout, shared, HwDim::Warp);
  for (uint64_t column : access.laneOffset.getColumns())
    access.threadMask |= column;
  for (uint64_t column : access.warpOffset.getColumns())
    access.threadMask |= column;
  // The position within the vector may not depend on the thread: it names the
  // register.
  uint64_t vectorMask = uint64_t(vecElements - 1) << shared.log2ElementBytes();
  if (access.threadMask & vectorMask)
    return std::nullopt;

  BitMatrix regOffset = offsetsOf(layout, shared, HwDim::Register);
  BitSpan span(regOffset.getColumns());
  SmallVector<uint64_t, 4> steps;
  for (unsigned i = 1; i != vecElements; i *= 2) {
    std::optional<uint64_t> step =
        span.express(uint64_t(i) << shared.log2ElementBytes());
    if (!step)
      return std::nullopt;
    steps.push_back(*step);
  }
  unsigned freeRegs = layout.freeMask(HwDim::Register);
  for (unsigned reg = 0; reg != layout.numRegs(); ++reg) {
    uint64_t offset = regOffset.apply(reg);
    access.holder.push_back(*span.express(offset));
    if ((reg & freeRegs) || (offset & vectorMask))
      continue;
    SharedAccess::Group group{{}, offset};
    for (unsigned i = 0; i != vecElements; ++i) {
      unsigned member = reg;
      for (auto [bit, step] : llvm::enumerate(steps))
        if (i >> bit & 1)
          member ^= step;
      group.regs.push_back(member);
    }
    access.groups.push_back(group);
  }
  return access;
}

unsigned mlir::fusion::tile::getWidestSharedVector(const LinearLayout &layout,
                                                   const SharedLayout &shared) {
  for (unsigned vec = kMaxAccessBytes / shared.elementBytes(); vec > 1;
       vec /= 2)
    if (getSharedAccess(layout, shared, vec))
      return vec;
  return 1;
}

SharedAccessCost
mlir::fusion::tile::getSharedAccessCost(const LinearLayout &layout,
                                        const SharedLayout &shared,
                                        unsigned vecElements) {
  unsigned bytes =
      std::max(vecElements * shared.elementBytes(), kBankWordBytes);
  unsigned laneBits = layout.numBits(HwDim::Lane);
  unsigned phaseBits = std::min(laneBits, llvm::Log2_32(kBankRowBytes / bytes));
  // Offsets are linear in the lane, so in every phase the same number of lanes
  // meet in each place they reach: counts are powers of two, given by ranks.
  BitMatrix laneOffset = offsetsOf(layout, shared, HwDim::Lane);
  BitSpan places, banks;
  for (unsigned bit = 0; bit != phaseBits; ++bit) {
    uint64_t offset = laneOffset.column(bit);
    places.insert(offset / bytes);
    banks.insert(offset % kBankRowBytes / bytes);
  }
  SharedAccessCost cost;
  unsigned distinctRegs =
      1u << BitSpan(layout.linearBases(HwDim::Register)).rank();
  cost.accesses = distinctRegs / vecElements;
  cost.minWavefronts = 1u << (laneBits - phaseBits);
  cost.wavefronts = cost.minWavefronts << (places.rank() - banks.rank());
  return cost;
}
