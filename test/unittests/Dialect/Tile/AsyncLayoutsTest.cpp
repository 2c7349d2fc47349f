//===- AsyncLayoutsTest.cpp - Tests of boxes and descriptors --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests what the tensor copy engine and the tensor cores find in a
// buffer, by computing each byte's address as the hardware does.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "gtest/gtest.h"

using namespace mlir::fusion::tile;

namespace {

constexpr TmaSwizzle kSwizzles[] = {TmaSwizzle::None, TmaSwizzle::B32,
                                    TmaSwizzle::B64, TmaSwizzle::B128};

/// The other way round: what is [rows, columns] there is [columns, rows] here.
SharedLayout transposed(const SharedLayout &layout) {
  llvm::SmallVector<llvm::SmallVector<int64_t, 8>> offsets(2);
  for (unsigned dim : {0, 1})
    for (unsigned bit = 0; int64_t(1) << bit < layout.shape()[1 - dim]; ++bit)
      offsets[dim].push_back(layout.offsetBasis(1 - dim, bit));
  return *SharedLayout::fromOffsets(layout.elementBytes(), layout.alignment(),
                                    offsets);
}

/// Where wgmma looks for an element, by the formulas of docs/Emulator.md.
uint64_t addressOf(const MatrixDescriptor &d, int64_t start, int64_t bytes,
                   int64_t m, int64_t k) {
  int64_t w = getSwizzleSpan(d.swizzle), offset;
  bool plain = d.swizzle == TmaSwizzle::None;
  if (d.kMajor && plain)
    offset = m % 8 * 16 + m / 8 * d.stride + k * bytes / 16 * d.leading +
             k * bytes % 16;
  else if (d.kMajor)
    offset = m % 8 * w + m / 8 * d.stride + k * bytes;
  else if (plain)
    offset = m * bytes % 16 + m * bytes / 16 * d.stride + k % 8 * 16 +
             k / 8 * d.leading;
  else
    offset = m * bytes % w + m * bytes / w * d.leading + k % 8 * w +
             k / 8 * d.stride;
  return swizzleAddress(start + offset, d.swizzle);
}

/// Checks every element of every part of an operand.
void expectReads(const SharedLayout &buffer, const MatrixDescriptor &d,
                 int64_t rows) {
  int64_t bytes = buffer.elementBytes(), depth = 32 / bytes;
  for (int64_t row = 0; row < buffer.shape()[0]; row += rows)
    for (int64_t k = 0; k < buffer.shape()[1]; k += depth) {
      int64_t start = getOperandOffset(buffer, d, row, k);
      ASSERT_EQ(start % 16, 0);
      for (int64_t m = 0; m != rows; ++m)
        for (int64_t j = 0; j != depth; ++j)
          ASSERT_EQ(addressOf(d, start, bytes, m, j),
                    buffer.offsetOf({int32_t(row + m), int32_t(k + j)}));
    }
}

TEST(MatrixDescriptor, KMajorOfEverySwizzleAndElement) {
  for (unsigned bytes : {1u, 2u, 4u})
    for (TmaSwizzle swizzle : kSwizzles) {
      if (swizzle == TmaSwizzle::None)
        continue;
      int64_t span = getSwizzleSpan(swizzle);
      for (int64_t panels : {1, 2}) {
        SharedLayout buffer =
            SharedLayout::tma(128, panels * span / bytes, bytes, swizzle);
        for (int64_t rows : {8, 64, 128}) {
          auto descriptor = getMatrixDescriptor(buffer, rows);
          ASSERT_TRUE(descriptor);
          EXPECT_TRUE(descriptor->kMajor);
          EXPECT_EQ(descriptor->swizzle, swizzle);
          expectReads(buffer, *descriptor, rows);
        }
      }
    }
}

TEST(MatrixDescriptor, OtherMajorOfSixteenBits) {
  for (TmaSwizzle swizzle : kSwizzles) {
    if (swizzle == TmaSwizzle::None)
      continue;
    SharedLayout buffer = transposed(SharedLayout::tma(64, 256, 2, swizzle));
    for (int64_t rows : {64, 256}) {
      auto descriptor = getMatrixDescriptor(buffer, rows);
      ASSERT_TRUE(descriptor);
      EXPECT_FALSE(descriptor->kMajor);
      expectReads(buffer, *descriptor, rows);
    }
  }
  EXPECT_FALSE(getMatrixDescriptor(
      transposed(SharedLayout::tma(64, 128, 1, TmaSwizzle::B128)), 64));
  EXPECT_FALSE(getMatrixDescriptor(
      transposed(SharedLayout::tma(64, 128, 4, TmaSwizzle::B128)), 64));
}

/// Core matrices one after the other, without a swizzle, in both majors.
TEST(MatrixDescriptor, CoreMatrices) {
  // Bits of a row's number, then of the depth, by bytes of bf16.
  SharedLayout kMajor = *SharedLayout::fromOffsets(
      2, 128, {{16, 32, 64, 128, 256, 512}, {2, 4, 8, 1024}});
  SharedLayout mnMajor = *SharedLayout::fromOffsets(
      2, 128, {{2, 4, 8, 256, 512, 1024}, {16, 32, 64, 128}});
  for (const SharedLayout &buffer : {kMajor, mnMajor}) {
    auto descriptor = getMatrixDescriptor(buffer, 64);
    ASSERT_TRUE(descriptor);
    EXPECT_EQ(descriptor->swizzle, TmaSwizzle::None);
    expectReads(buffer, *descriptor, 64);
  }
  EXPECT_TRUE(getMatrixDescriptor(kMajor, 64)->kMajor);
  EXPECT_FALSE(getMatrixDescriptor(mnMajor, 64)->kMajor);
}

TEST(MatrixDescriptor, RefusesWhatNoDescriptorReads) {
  // Rows of 128 bytes without a swizzle.
  EXPECT_FALSE(getMatrixDescriptor(SharedLayout::linear({64, 64}, 2), 64));
  // Too few rows, too little depth.
  SharedLayout buffer = SharedLayout::tma(64, 64, 2, TmaSwizzle::B128);
  EXPECT_FALSE(getMatrixDescriptor(buffer, 128));
  EXPECT_FALSE(getMatrixDescriptor(SharedLayout::linear({64, 8}, 2), 64));
  EXPECT_FALSE(
      getMatrixDescriptor(SharedLayout::tma(64, 16, 8, TmaSwizzle::B128), 64));
}

TEST(MatrixDescriptor, Bits) {
  MatrixDescriptor d{TmaSwizzle::B128, false, 8192, 1024};
  EXPECT_EQ(d.bits(), uint64_t(1) << 62 | uint64_t(64) << 32 | 512 << 16);
  d = {TmaSwizzle::B32, true, 0, 256};
  EXPECT_EQ(d.bits(), uint64_t(3) << 62 | uint64_t(16) << 32 | 1 << 16);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Copies box by box as the engine does, and checks where elements come to lie.
void expectBoxes(const SharedLayout &buffer, llvm::ArrayRef<int64_t> box,
                 llvm::ArrayRef<int64_t> dims, TmaSwizzle swizzle,
                 unsigned count) {
  auto boxes = getCopyBoxes(buffer, box, dims, swizzle);
  ASSERT_TRUE(boxes);
  EXPECT_EQ(boxes->size(), count);
  int64_t elements = 1;
  for (int64_t size : box)
    elements *= size;
  for (const CopyBox &copy : *boxes)
    for (int64_t i = 0; i != elements; ++i) {
      // The i-th element of the box, in the order of the view.
      llvm::SmallVector<int64_t, 4> at(box.size());
      int64_t rest = i;
      for (unsigned dim = box.size(); dim-- > 0; rest /= box[dim])
        at[dim] = rest % box[dim];
      Coords coords = copy.start;
      for (auto [dim, target] : llvm::enumerate(dims))
        coords[dim] += at[target];
      ASSERT_EQ(
          swizzleAddress(copy.offset + i * buffer.elementBytes(), swizzle),
          buffer.offsetOf(coords));
    }
}

TEST(CopyBoxes, PanelsAndRows) {
  SharedLayout buffer = SharedLayout::tma(128, 128, 2, TmaSwizzle::B128);
  expectBoxes(buffer, {128, 64}, {0, 1}, TmaSwizzle::B128, 2);
  expectBoxes(buffer, {64, 64}, {0, 1}, TmaSwizzle::B128, 4);
  // A box that begins in the middle of the swizzle's pattern.
  expectBoxes(buffer, {4, 64}, {0, 1}, TmaSwizzle::B128, 64);
  // Along other dimensions of the view, with one that the tile has not.
  expectBoxes(transposed(buffer), {1, 128, 64}, {2, 1}, TmaSwizzle::B128, 2);
  expectBoxes(SharedLayout::tma(64, 32, 2, TmaSwizzle::B64), {64, 32}, {0, 1},
              TmaSwizzle::B64, 1);
  expectBoxes(SharedLayout::linear({4, 8, 64}, 4), {4, 8, 64}, {0, 1, 2},
              TmaSwizzle::None, 1);
}

TEST(CopyBoxes, RefusesOtherLayouts) {
  SharedLayout buffer = SharedLayout::tma(128, 64, 2, TmaSwizzle::B128);
  EXPECT_FALSE(getCopyBoxes(buffer, {128, 64}, {0, 1}, TmaSwizzle::None));
  EXPECT_FALSE(getCopyBoxes(buffer, {128, 32}, {0, 1}, TmaSwizzle::B64));
  EXPECT_FALSE(getCopyBoxes(SharedLayout::linear({128, 64}, 2), {128, 64},
                            {0, 1}, TmaSwizzle::B128));
  // Rows narrower than the swizzle lie apart; boxes of half a bank row.
  EXPECT_FALSE(getCopyBoxes(buffer, {128, 32}, {0, 1}, TmaSwizzle::B128));
  EXPECT_FALSE(getCopyBoxes(SharedLayout::linear({4, 16}, 4), {1, 16}, {0, 1},
                            TmaSwizzle::None));
}

} // namespace
