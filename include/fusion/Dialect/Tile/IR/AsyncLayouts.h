//===- AsyncLayouts.h - Buffers of copies and matrix units ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the tensor copy engine and the tensor cores ask of a
// buffer's layout: where the boxes of a copy begin, and which matrix descriptor
// reads an operand.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_ASYNCLAYOUTS_H
#define FUSION_DIALECT_TILE_IR_ASYNCLAYOUTS_H

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "fusion/Dialect/Tile/IR/SharedLayout.h"

namespace mlir::fusion::tile {

/// Bytes of a span of the swizzle; 16, a chunk, without one.
constexpr int64_t getSwizzleSpan(TmaSwizzle swizzle) {
  return int64_t(16) << static_cast<int>(swizzle);
}

/// The bytes at a multiple of which a swizzle begins anew, and no less than
/// what a tensor copy wants of an address.
constexpr int64_t getSwizzleAlignment(TmaSwizzle swizzle) {
  return int64_t(kBankRowBytes) << static_cast<int>(swizzle);
}

/// The address at which a swizzle puts the byte of an address, and, since the
/// map is its own inverse, back. Linear over GF(2).
uint64_t swizzleAddress(uint64_t address, TmaSwizzle swizzle);

//===----------------------------------------------------------------------===//
// Boxes of tensor copies
//===----------------------------------------------------------------------===//

/// With so many dimensions (1 to 3) that windows of im2col copies extend along,
/// the corners of their bounding box lie from the negative limit to one less
/// than it, and offsets are below twice the limit.
constexpr int64_t getIm2ColCornerLimit(size_t numSpatial) {
  constexpr int64_t kLimits[] = {1 << 15, 1 << 7, 1 << 4};
  return kLimits[numSpatial - 1];
}

/// One box of a copy between a view and a buffer.
struct CopyBox {
  /// Where it begins in the tile.
  Coords start;
  /// Where its first byte lies in the buffer.
  int64_t offset;
};

/// The boxes that cover a tile in `buffer`, in row-major order of the tile. Box
/// extents `box` and `dims` are those of fusion_tile.async_load: dimension i of
/// the tile runs along dimension dims[i] of the view. None if the layout is not
/// what copies with this swizzle write. Precondition: as its verifier checks.
std::optional<llvm::SmallVector<CopyBox, 4>>
getCopyBoxes(const SharedLayout &buffer, llvm::ArrayRef<int64_t> box,
             llvm::ArrayRef<int64_t> dims, TmaSwizzle swizzle);

/// Boxes dealt to the blocks of a cluster, equally many to each, in order: the
/// block of rank r copies those of rank 0 moved by r times `step`.
struct DealtBoxes {
  llvm::SmallVector<CopyBox, 4> first;
  CopyBox step;
};

/// Deals `boxes` to `blocks` blocks; none when they do not lie regularly.
std::optional<DealtBoxes> dealBoxes(llvm::ArrayRef<CopyBox> boxes,
                                    int64_t blocks);

//===----------------------------------------------------------------------===//
// Operands of wgmma
//===----------------------------------------------------------------------===//

/// How matrix descriptors reach an operand in shared memory.
struct MatrixDescriptor {
  TmaSwizzle swizzle = TmaSwizzle::None;
  /// The contracted dimension is the contiguous one.
  bool kMajor = true;
  /// Bytes, in the sense of the instruction for this swizzle and major.
  int64_t leading = 0, stride = 0;

  /// The descriptor without its address: add the address over 16.
  uint64_t bits() const;
};

/// The descriptor with which wgmma reads `rows` rows and 32 bytes of depth of
/// an operand [rows or columns, depth] at any multiple of these. None if no
/// descriptor reads this layout.
std::optional<MatrixDescriptor> getMatrixDescriptor(const SharedLayout &buffer,
                                                    int64_t rows);

/// Where the part of the operand begins that starts at (row, k): add it to the
/// buffer's address, which is a multiple of getSwizzleAlignment().
int64_t getOperandOffset(const SharedLayout &buffer,
                         const MatrixDescriptor &descriptor, int64_t row,
                         int64_t k);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_ASYNCLAYOUTS_H
