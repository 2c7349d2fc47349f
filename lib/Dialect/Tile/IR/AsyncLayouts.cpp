//===- AsyncLayouts.cpp - Buffers of copies and matrix units --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of buffer layouts: both questions are
// answered by comparing, bit by bit, where an element lies before the swizzle
// with where the hardware looks for it.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Depth of one wgmma, for all element types.
static constexpr int64_t kDepthBytes = 32;
/// Rows of a core matrix.
static constexpr unsigned kCoreRowBits = 3;
/// Bytes of a row of a core matrix.
static constexpr int64_t kChunkBytes = 16;

uint64_t mlir::fusion::tile::swizzleAddress(uint64_t address,
                                            TmaSwizzle swizzle) {
  unsigned chunkBits = static_cast<unsigned>(swizzle);
  return address ^
         (address >> 3 & (llvm::maskTrailingOnes<uint64_t>(chunkBits) << 4));
}

//===----------------------------------------------------------------------===//
// Boxes of tensor copies
//===----------------------------------------------------------------------===//

std::optional<SmallVector<CopyBox, 4>>
mlir::fusion::tile::getCopyBoxes(const SharedLayout &buffer,
                                 ArrayRef<int64_t> box, ArrayRef<int64_t> dims,
                                 TmaSwizzle swizzle) {
  // With a swizzle, rows lie one span apart even when they are narrower.
  int64_t rowBytes = box.back() * buffer.elementBytes();
  if (swizzle != TmaSwizzle::None && rowBytes != getSwizzleSpan(swizzle))
    return std::nullopt;
  // Within a box, elements follow each other in the order of the view.
  SmallVector<int64_t, 4> steps(box.size());
  int64_t boxBytes = buffer.elementBytes();
  for (unsigned dim = box.size(); dim-- > 0;) {
    steps[dim] = boxBytes;
    boxBytes *= box[dim];
  }
  SmallVector<int64_t, 4> shape = buffer.shape();
  for (unsigned dim = 0; dim != buffer.rank(); ++dim)
    for (unsigned bit = 0; int64_t(1) << bit < box[dims[dim]]; ++bit)
      if (swizzleAddress(steps[dims[dim]] << bit, swizzle) !=
          buffer.offsetBasis(dim, bit))
        return std::nullopt;

  SmallVector<CopyBox, 4> boxes;
  Coords start(buffer.rank(), 0);
  while (true) {
    int64_t offset = swizzleAddress(buffer.offsetOf(start), swizzle);
    // The box must begin where adding and XOR of offsets are the same, at an
    // address that the engine takes.
    if (offset % boxBytes != 0 || offset % kBankRowBytes != 0)
      return std::nullopt;
    boxes.push_back({start, offset});
    int dim = buffer.rank() - 1;
    for (; dim >= 0; --dim) {
      start[dim] += box[dims[dim]];
      if (start[dim] < shape[dim])
        break;
      start[dim] = 0;
    }
    if (dim < 0)
      return boxes;
  }
}

std::optional<DealtBoxes> mlir::fusion::tile::dealBoxes(ArrayRef<CopyBox> boxes,
                                                        int64_t blocks) {
  if (boxes.empty() || boxes.size() % blocks != 0)
    return std::nullopt;
  size_t each = boxes.size() / blocks;
  auto distance = [&](size_t from, size_t to) {
    CopyBox step = boxes[to];
    step.offset -= boxes[from].offset;
    for (auto [coordinate, other] : llvm::zip(step.start, boxes[from].start))
      coordinate -= other;
    return step;
  };
  DealtBoxes dealt{{boxes.begin(), boxes.begin() + each},
                   distance(0, blocks > 1 ? each : 0)};
  for (size_t i = each; i < boxes.size(); ++i) {
    CopyBox step = distance(i - each, i);
    if (step.offset != dealt.step.offset || step.start != dealt.step.start)
      return std::nullopt;
  }
  return dealt;
}

//===----------------------------------------------------------------------===//
// Operands of wgmma
//===----------------------------------------------------------------------===//

uint64_t MatrixDescriptor::bits() const {
  static constexpr uint64_t kCodes[] = {0, 3, 2, 1}; // none, 32, 64, 128 bytes
  // The leading offset of swizzled K-major operands is not looked at.
  return uint64_t(leading ? leading / kChunkBytes : 1) << 16 |
         uint64_t(stride / kChunkBytes) << 32 |
         kCodes[static_cast<int>(swizzle)] << 62;
}

namespace {
/// Compares the bits of one coordinate with the offsets that a descriptor
/// gives them; strides are found on the way.
class BitReader {
public:
  BitReader(const SharedLayout &buffer, unsigned dim, unsigned count,
            TmaSwizzle swizzle)
      : buffer(buffer), dim(dim), count(count), swizzle(swizzle) {}

  /// The next bits, up to `bits`, step by `first` and its doubles.
  bool follows(int64_t first, unsigned bits) {
    for (unsigned end = std::min(next + bits, count); next < end;
         ++next, first *= 2)
      if (offset(next) != first)
        return false;
    return true;
  }
  /// The bits left step by a stride of any size and its doubles. It is zero
  /// when there are none.
  bool strides(int64_t &stride) {
    stride = next < count ? offset(next) : 0;
    return stride % kChunkBytes == 0 && follows(stride, count);
  }

private:
  int64_t offset(unsigned bit) const {
    return swizzleAddress(buffer.offsetBasis(dim, bit), swizzle);
  }

  const SharedLayout &buffer;
  unsigned dim, count, next = 0;
  TmaSwizzle swizzle;
};
} // namespace

/// The largest number that a descriptor's offset field holds, in bytes.
static constexpr int64_t kMaxDescriptorOffset = ((1 << 14) - 1) * kChunkBytes;

std::optional<MatrixDescriptor>
mlir::fusion::tile::getMatrixDescriptor(const SharedLayout &buffer,
                                        int64_t rows) {
  int64_t bytes = buffer.elementBytes();
  if (buffer.rank() != 2 || bytes > 4 || buffer.shape()[0] < rows ||
      buffer.shape()[1] * bytes < kDepthBytes)
    return std::nullopt;
  // Where parts of an operand begin is added to what lies within them: one bit
  // of a coordinate must be one bit of the address before the swizzle.
  auto isPlain = [&](TmaSwizzle swizzle) {
    for (unsigned dim : {0, 1})
      for (unsigned bit = 0; int64_t(1) << bit < buffer.shape()[dim]; ++bit)
        if (!llvm::isPowerOf2_64(
                swizzleAddress(buffer.offsetBasis(dim, bit), swizzle)))
          return false;
    return true;
  };
  unsigned rowBits = llvm::Log2_64(rows);
  unsigned depthBits = llvm::Log2_64(kDepthBytes / bytes);
  for (TmaSwizzle swizzle :
       {TmaSwizzle::B128, TmaSwizzle::B64, TmaSwizzle::B32, TmaSwizzle::None}) {
    if (!isPlain(swizzle))
      continue;
    int64_t span = getSwizzleSpan(swizzle);
    bool plain = swizzle == TmaSwizzle::None;
    // With bytes of the row (or chunk) first, what follows in the contiguous
    // dimension, then core rows, then groups of them.
    unsigned spanBits = llvm::Log2_64(span / bytes);
    for (bool kMajor : {true, false}) {
      // Only 16-bit elements have a form for the other major.
      if (!kMajor && bytes != 2)
        continue;
      BitReader row(buffer, 0, rowBits, swizzle);
      BitReader depth(buffer, 1, depthBits, swizzle);
      BitReader &along = kMajor ? depth : row, &across = kMajor ? row : depth;
      MatrixDescriptor descriptor{swizzle, kMajor};
      int64_t alongStride = 0, acrossStride = 0;
      if (!along.follows(bytes, spanBits) || !along.strides(alongStride) ||
          !across.follows(span, kCoreRowBits) || !across.strides(acrossStride))
        continue;
      // Which field holds which stride differs for MN-major without swizzle.
      bool exchanged = plain && !kMajor;
      descriptor.leading = exchanged ? acrossStride : alongStride;
      descriptor.stride = exchanged ? alongStride : acrossStride;
      if (descriptor.leading <= kMaxDescriptorOffset &&
          descriptor.stride <= kMaxDescriptorOffset)
        return descriptor;
    }
  }
  return std::nullopt;
}

int64_t mlir::fusion::tile::getOperandOffset(const SharedLayout &buffer,
                                             const MatrixDescriptor &descriptor,
                                             int64_t row, int64_t k) {
  return swizzleAddress(buffer.offsetOf({int32_t(row), int32_t(k)}),
                        descriptor.swizzle);
}
