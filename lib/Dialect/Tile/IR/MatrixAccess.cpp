//===- MatrixAccess.cpp - Reading fragments by ldmatrix -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the match of layouts with ldmatrix. Lane `l` gets the
// 4 bytes at 4 * (l % 4) of row `l / 4` or, transposed, elements `l / 4` of the
// rows 2 * (l % 4) and the next.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/MatrixAccess.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr unsigned kRowBytes = 16;
static constexpr unsigned kWordBytes = kBankWordBytes;

/// The byte offsets that the bits of a hardware index contribute.
static SmallVector<uint64_t> offsetsOf(const LinearLayout &layout,
                                       const SharedLayout &shared, HwDim dim) {
  SmallVector<uint64_t> offsets;
  BitMatrix matrix = shared.matrix();
  for (uint64_t basis : layout.linearBases(dim))
    offsets.push_back(matrix.apply(basis));
  return offsets;
}

static bool isRow(uint64_t offset) { return offset % kRowBytes == 0; }

std::optional<MatrixAccess>
mlir::fusion::tile::getMatrixAccess(const LinearLayout &layout,
                                    const SharedLayout &shared) {
  assert(layout.shape() == shared.shape() && "layouts of different tiles");
  unsigned bytes = shared.elementBytes();
  if (layout.numBits(HwDim::Block) != 0 ||
      layout.numBits(HwDim::Lane) != fusion::kLaneBits || bytes > kWordBytes)
    return std::nullopt;
  SmallVector<uint64_t> regs = offsetsOf(layout, shared, HwDim::Register);
  SmallVector<uint64_t> lanes = offsetsOf(layout, shared, HwDim::Lane);
  SmallVector<uint64_t> warps = offsetsOf(layout, shared, HwDim::Warp);
  if (!llvm::all_of(warps, isRow))
    return std::nullopt;

  // Register bits that share 32 bits, and the lanes' part of the row's number.
  MatrixAccess access;
  SmallVector<unsigned> word, rest;
  SmallVector<uint64_t, 8> columns;
  unsigned repeated = 0;
  for (unsigned bit = 0; bit < regs.size(); ++bit)
    if (regs[bit] == 0)
      repeated |= 1u << bit;
  if (layout.freeMask(HwDim::Register) != repeated)
    return std::nullopt;
  if (lanes[0] == 4 && lanes[1] == 8) {
    for (uint64_t step = bytes; step < kWordBytes; step *= 2) {
      auto found = llvm::find(regs, step);
      if (found == regs.end())
        return std::nullopt;
      word.push_back(found - regs.begin());
    }
    columns.assign(lanes.begin() + 2, lanes.end());
  } else if (bytes == 2 && lanes[2] == 2 && lanes[3] == 4 && lanes[4] == 8) {
    access.transposed = true;
    auto found =
        llvm::find_if(regs, [](uint64_t offset) { return offset != 0; });
    if (found == regs.end())
      return std::nullopt;
    word.push_back(found - regs.begin());
    columns = {*found, lanes[0], lanes[1]};
  } else {
    return std::nullopt;
  }
  if (!llvm::all_of(columns, isRow))
    return std::nullopt;
  for (unsigned bit = 0; bit < regs.size(); ++bit) {
    if (repeated >> bit & 1 || llvm::is_contained(word, bit))
      continue;
    if (!isRow(regs[bit]))
      return std::nullopt;
    rest.push_back(bit);
  }

  // Up to four matrices an instruction; lanes beyond name any row.
  unsigned matrixBits = std::min<unsigned>(rest.size(), 2);
  access.matrices = 1u << matrixBits;
  for (unsigned i = 0; i < 2; ++i)
    columns.push_back(i < matrixBits ? regs[rest[i]] : 0);
  unsigned rows = shared.matrix().numRows();
  access.laneOffset = BitMatrix(columns, rows);
  access.warpOffset = BitMatrix(warps, rows);
  for (uint64_t column : llvm::concat<uint64_t>(columns, warps))
    access.threadMask |= column;

  auto spread = [](unsigned number, ArrayRef<unsigned> bits) {
    unsigned result = 0;
    for (unsigned i = 0; i < bits.size(); ++i)
      if (number >> i & 1)
        result |= 1u << bits[i];
    return result;
  };
  ArrayRef<unsigned> matrixRegs = ArrayRef(rest).take_front(matrixBits);
  ArrayRef<unsigned> groupRegs = ArrayRef(rest).drop_front(matrixBits);
  for (unsigned number = 0; number < 1u << groupRegs.size(); ++number) {
    MatrixAccess::Group group;
    unsigned base = spread(number, groupRegs);
    group.offset = 0;
    for (unsigned bit : groupRegs)
      if (base >> bit & 1)
        group.offset ^= regs[bit];
    for (unsigned matrix = 0; matrix < access.matrices; ++matrix) {
      RegisterMap members;
      for (unsigned i = 0; i < 1u << word.size(); ++i)
        members.push_back(base | spread(matrix, matrixRegs) | spread(i, word));
      group.regs.push_back(members);
    }
    access.groups.push_back(group);
  }
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg)
    access.holder.push_back(reg & ~repeated);
  return access;
}

std::optional<SharedLayout>
mlir::fusion::tile::getChunkedBuffer(ArrayRef<int64_t> shape,
                                     unsigned elementBytes, unsigned fastest) {
  assert(shape.size() == 2 && fastest < 2 && "a matrix");
  int64_t bytes = shape[fastest] * elementBytes;
  if (bytes < kRowBytes)
    return std::nullopt;
  TmaSwizzle swizzle = bytes >= 128  ? TmaSwizzle::B128
                       : bytes == 64 ? TmaSwizzle::B64
                       : bytes == 32 ? TmaSwizzle::B32
                                     : TmaSwizzle::None;
  SharedLayout rowMajor = SharedLayout::tma(shape[1 - fastest], shape[fastest],
                                            elementBytes, swizzle);
  SmallVector<SmallVector<int64_t, 8>> offsets(2);
  for (unsigned dim = 0; dim < 2; ++dim)
    for (unsigned bit = 0; bit < llvm::Log2_64(shape[dim]); ++bit)
      offsets[dim].push_back(rowMajor.offsetBasis(dim == fastest ? 1 : 0, bit));
  // The swizzle is of offsets, so the base need not have its period.
  return SharedLayout::fromOffsets(elementBytes, kBankRowBytes, offsets);
}
