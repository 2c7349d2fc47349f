//===- TensorTileTest.cpp - What a tensor copy moves ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file compares the runs of a box with a walk over its elements.
//
//===----------------------------------------------------------------------===//

#include "TensorReference.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace fusionemu;

/// Runs must be sorted, apart, and impossible to merge further.
static void expectRuns(const TensorMapInfo &info,
                       const std::vector<CopyRun> &runs,
                       const ByteMap &expected) {
  ByteMap bytes;
  uint64_t total = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const CopyRun &run = runs[i];
    ASSERT_GT(run.bytes, 0u);
    total += run.bytes;
    for (uint32_t b = 0; b < run.bytes; ++b)
      bytes[run.sharedOffset + b] = run.fill ? outside : run.globalAddress + b;
    if (i == 0)
      continue;
    const CopyRun &before = runs[i - 1];
    uint64_t end = uint64_t(before.sharedOffset) + before.bytes;
    ASSERT_LE(end, run.sharedOffset);
    if (end == run.sharedOffset && before.fill == run.fill) {
      ASSERT_FALSE(run.fill);
      ASSERT_NE(before.globalAddress + before.bytes, run.globalAddress);
    }
  }
  ASSERT_EQ(total, getBoxBytes(info));
  ASSERT_EQ(bytes.size(), expected.size());
  ASSERT_TRUE(bytes == expected);
}

TEST(TensorTileTest, TilesMatchElements) {
  std::mt19937_64 random(11);
  for (int n = 0; n < 1000; ++n) {
    uint32_t inner;
    uint32_t rank = uint32_t(pick(random, 1, 5));
    TensorMapInfo info = pickTensor(random, rank, inner);
    info.box[0] = inner;
    Coordinates start = {};
    for (uint32_t i = 0; i < rank; ++i) {
      if (i > 0)
        info.box[i] = uint32_t(pick(random, 1, rank > 3 ? 5 : 12));
      start[i] = int32_t(
          pick(random, -int64_t(info.box[i]) - 1, int64_t(info.dims[i]) + 1));
      if (random() % 2)
        start[i] = 0;
    }
    ASSERT_TRUE(checkTensorMap(info).ok()) << checkTensorMap(info).message();
    start[0] = alignStart(info, start[0]);
    bool isStore = random() % 2;
    uint32_t base = uint32_t(random() % 16) * 128;
    std::vector<CopyRun> runs;
    Status status = expandTile(info, start.data(), rank, isStore, base, runs);
    ASSERT_TRUE(status.ok()) << status.message();
    expectRuns(info, runs, walkTile(info, start, base, isStore));
    if (testing::Test::HasFatalFailure())
      return;
  }
}

TEST(TensorTileTest, Im2colMatchesWalk) {
  std::mt19937_64 random(12);
  for (int n = 0; n < 1000; ++n) {
    uint32_t inner;
    uint32_t rank = uint32_t(pick(random, 3, 5));
    TensorMapInfo info = pickTensor(random, rank, inner);
    info.kind = TensorMapKind::Im2col;
    info.channelsPerPixel = inner;
    info.pixelsPerColumn = uint32_t(pick(random, 1, 70));
    info.elementStrides[rank - 1] = 1;
    Coordinates start = {};
    std::array<uint16_t, 3> offsets = {};
    start[0] = int32_t(pick(random, -4, int64_t(info.dims[0])));
    start[rank - 1] = int32_t(pick(random, -1, int64_t(info.dims[rank - 1])));
    for (uint32_t i = 0; i + 2 < rank; ++i) {
      info.lowerCorner[i] = int32_t(pick(random, -3, 2));
      // At least one place for the filter.
      int64_t least = info.lowerCorner[i] + 1 - int64_t(info.dims[i + 1]);
      info.upperCorner[i] = int32_t(pick(random, least, least + 6));
      int64_t places =
          int64_t(info.dims[i + 1]) + info.upperCorner[i] - info.lowerCorner[i];
      uint32_t step = info.elementStrides[i + 1];
      start[i + 1] = int32_t(info.lowerCorner[i] +
                             pick(random, 0, (places - 1) / step) * step);
      offsets[i] = uint16_t(pick(random, 0, 4));
    }
    ASSERT_TRUE(checkTensorMap(info).ok()) << checkTensorMap(info).message();
    start[0] = alignStart(info, start[0]);
    bool isStore = random() % 2;
    uint32_t base = uint32_t(random() % 16) * 128;
    std::vector<CopyRun> runs;
    Status status = expandIm2col(info, start.data(), rank, offsets.data(),
                                 isStore, base, runs);
    ASSERT_TRUE(status.ok()) << status.message();
    expectRuns(info, runs, walkIm2col(info, start, offsets, base, isStore));
    if (testing::Test::HasFatalFailure())
      return;
  }
}

/// 8 rows of 128 bytes, in a tensor as wide as the box.
static TensorMapInfo makeRows(TensorMapSwizzle swizzle) {
  TensorMapInfo info;
  info.type = TensorMapType::BF16;
  info.rank = 2;
  info.globalAddress = 1 << 20;
  info.dims[0] = 64;
  info.dims[1] = 1000;
  info.strides[0] = 128;
  info.box[0] = 64;
  info.box[1] = 8;
  info.swizzle = swizzle;
  return info;
}

static std::vector<CopyRun> expand(const TensorMapInfo &info, int32_t x,
                                   int32_t y, uint32_t base = 0) {
  const int32_t at[] = {x, y};
  std::vector<CopyRun> runs;
  Status status = expandTile(info, at, 2, false, base, runs);
  EXPECT_TRUE(status.ok()) << status.message();
  return runs;
}

TEST(TensorTileTest, SwizzleOf128BytesIsTheTableOfPtx) {
  // Which cell of the row of the tensor each cell of shared memory holds.
  static const uint8_t table[8][8] = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
      {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
      {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
      {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  for (uint32_t base : {0u, 1024u, 4096u, 128u, 640u}) {
    uint32_t cells = 0;
    for (const CopyRun &run :
         expand(makeRows(TensorMapSwizzle::B128), 0, 0, base))
      for (uint32_t b = 0; b < run.bytes; b += 16, ++cells) {
        uint32_t shared = run.sharedOffset + b;
        uint64_t from = run.globalAddress + b - (1 << 20);
        EXPECT_EQ(from / 128, (shared - base) / 128);
        EXPECT_EQ(from / 16 % 8, table[shared / 128 % 8][shared / 16 % 8]);
      }
    EXPECT_EQ(cells, 64u);
  }
}

TEST(TensorTileTest, SplitsOnlyWhereNeeded) {
  // Contiguous rows without a swizzle are one run.
  EXPECT_EQ(expand(makeRows(TensorMapSwizzle::None), 0, 0).size(), 1u);
  // Rows 0 to 7 flip at 128, 16, 32, 16, 64, 16, 32 and 16 bytes.
  EXPECT_EQ(expand(makeRows(TensorMapSwizzle::B128), 0, 0).size(),
            1u + 8 + 4 + 8 + 2 + 8 + 4 + 8);
  EXPECT_EQ(expand(makeRows(TensorMapSwizzle::B128Atom64), 0, 0).size(),
            4u * (1 + 2));
  // A box above the tensor is one fill, also with a swizzle.
  std::vector<CopyRun> runs = expand(makeRows(TensorMapSwizzle::B128), 0, -8);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_TRUE(runs[0].fill);
  EXPECT_EQ(runs[0].bytes, 1024u);
  EXPECT_EQ(runs[0].sharedOffset, 0u);
}

TEST(TensorTileTest, CountsFillsAndSteps) {
  TensorMapInfo info = makeRows(TensorMapSwizzle::None);
  EXPECT_EQ(getBoxBytes(info), 1024u);
  info.elementStrides[1] = 3;
  EXPECT_EQ(getBoxBytes(info), 3 * 128u);
  info.elementStrides[0] = 2; // No effect without interleave.
  EXPECT_EQ(getBoxBytes(info), 3 * 128u);
  info.kind = TensorMapKind::Im2col;
  info.channelsPerPixel = 16;
  info.pixelsPerColumn = 10;
  EXPECT_EQ(getBoxBytes(info), 320u);
}

TEST(TensorTileTest, NarrowRowsLeaveGaps) {
  TensorMapInfo info = makeRows(TensorMapSwizzle::B128);
  info.box[0] = 16;
  EXPECT_EQ(getBoxBytes(info), 256u);
  EXPECT_EQ(getBoxExtent(info), 1024u);
  info.swizzle = TensorMapSwizzle::B64;
  EXPECT_EQ(getBoxExtent(info), 512u);
  info.swizzle = TensorMapSwizzle::None;
  EXPECT_EQ(getBoxExtent(info), 256u);
}

static void expectRefused(const Status &status, const std::string &text,
                          ErrorKind kind = ErrorKind::BadTensorMap) {
  EXPECT_EQ(status.getKind(), kind);
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(TensorTileTest, RefusesTiles) {
  std::vector<CopyRun> runs;
  const int32_t at[5] = {};
  auto tryTile = [&](const TensorMapInfo &info, uint32_t rank = 2,
                     uint32_t base = 0) {
    EXPECT_TRUE(checkTensorMap(info).ok()) << checkTensorMap(info).message();
    Status status = expandTile(info, at, rank, false, base, runs);
    EXPECT_TRUE(runs.empty());
    return status;
  };
  TensorMapInfo good = makeRows(TensorMapSwizzle::B128);
  expectRefused(tryTile(good, 3), "the instruction is for rank 3, the map has "
                                  "rank 2");
  expectRefused(tryTile(good, 2, 64),
                "the shared address 64 of a tensor copy "
                "is not a multiple of 128",
                ErrorKind::Misaligned);
  expectRefused(tryTile(good, 2, 0xffffff80u), "at most 233472 bytes");
  const int32_t odd[] = {3, 0};
  expectRefused(expandTile(good, odd, 2, false, 0, runs),
                "the coordinate 3 of dimension 0 is 6 bytes, which is no "
                "multiple of 16");
  TensorMapInfo info = good;
  info.swizzle = TensorMapSwizzle::None;
  info.box[0] = info.box[1] = 256;
  EXPECT_TRUE(expandTile(info, at, 2, false, 0, runs).ok());
  runs.clear();
  info.type = TensorMapType::F32;
  expectRefused(tryTile(info), "the box has 262144 bytes");
  info = good;
  info.swizzle = TensorMapSwizzle::B128Atom32Flip8;
  expectRefused(tryTile(info), "128b.atom32.flip8) is not implemented");
  info = good;
  info.type = TensorMapType::U4Align8;
  expectRefused(tryTile(info), "type u4.align8 are not implemented");
  info = good;
  info.rank = 3;
  info.dims[2] = info.box[2] = 1;
  info.interleave = TensorMapInterleave::B16;
  expectRefused(tryTile(info, 3), "interleaved layouts are not implemented");
  info = good;
  info.globalAddress = ~uint64_t(0) - 15;
  expectRefused(tryTile(info), "more than 64 bits");
  info = good;
  info.kind = TensorMapKind::Im2col;
  EXPECT_FALSE(expandTile(info, at, 2, false, 0, runs).ok());
}

/// 2 images of 4 x 6 pixels of 32 channels, for a filter of 3 x 3.
static TensorMapInfo makeImages() {
  TensorMapInfo info;
  info.kind = TensorMapKind::Im2col;
  info.type = TensorMapType::F32;
  info.rank = 4;
  info.globalAddress = 1 << 20;
  info.dims[0] = 32;
  info.dims[1] = 6;
  info.dims[2] = 4;
  info.dims[3] = 2;
  info.strides[0] = 128;
  info.strides[1] = 128 * 6;
  info.strides[2] = 128 * 24;
  info.lowerCorner[0] = info.lowerCorner[1] = -1;
  info.upperCorner[0] = info.upperCorner[1] = -1;
  info.channelsPerPixel = 32;
  info.pixelsPerColumn = 8;
  return info;
}

TEST(TensorTileTest, RefusesIm2col) {
  std::vector<CopyRun> runs;
  auto tryIm2col = [&](const TensorMapInfo &info, Coordinates at,
                       std::array<uint16_t, 3> offsets) {
    EXPECT_TRUE(checkTensorMap(info).ok()) << checkTensorMap(info).message();
    return expandIm2col(info, at.data(), 4, offsets.data(), false, 0, runs);
  };
  TensorMapInfo good = makeImages();
  EXPECT_TRUE(tryIm2col(good, {0, -1, 2, 0}, {2, 2}).ok());
  expectRefused(tryIm2col(good, {0, -2, 0, 0}, {}),
                "the coordinate -2 of dimension W is outside of the bounding "
                "box, -1 to 4");
  expectRefused(tryIm2col(good, {0, 0, 3, 0}, {}),
                "the coordinate 3 of dimension H is outside of the bounding "
                "box, -1 to 2");
  expectRefused(tryIm2col(good, {0, 0, 0, 0}, {0, 256}),
                "the im2col offset 256 of dimension H is larger than 255");
  TensorMapInfo info = good;
  info.elementStrides[1] = 2;
  expectRefused(tryIm2col(info, {0, 0, 0, 0}, {}),
                "the coordinate 0 of dimension W is no multiple of the stride "
                "2 away from the lower corner -1");
  info = good;
  info.elementStrides[3] = 2;
  expectRefused(tryIm2col(info, {0, 0, 0, 0}, {}), "elementStrides[3]");
  info = good;
  info.pixelsPerColumn = 1024;
  EXPECT_TRUE(tryIm2col(info, {0, 0, 0, 0}, {}).ok());
  info.type = TensorMapType::F64;
  info.dims[0] = 16;
  expectRefused(tryIm2col(info, {0, 0, 0, 0}, {}), "the box has 262144 bytes");
  info = makeRows(TensorMapSwizzle::None);
  const int32_t at[5] = {};
  const uint16_t offsets[3] = {};
  expectRefused(expandIm2col(info, at, 2, offsets, false, 0, runs),
                "the map was made for tiled copies");
}

TEST(TensorTileTest, StoresStartInside) {
  TensorMapInfo info = makeRows(TensorMapSwizzle::None);
  const int32_t good[] = {0, 2000}, bad[] = {3, -1};
  EXPECT_TRUE(checkTensorStore(info, good, 2).ok());
  expectRefused(checkTensorStore(info, bad, 2),
                "a store cannot start at coordinate -1 of dimension 1");
  info = makeImages();
  const int32_t zero[5] = {};
  expectRefused(checkTensorStore(info, zero, 4),
                "in dimension W it has the corners -1 and -1");
  info.lowerCorner[0] = info.lowerCorner[1] = 0;
  EXPECT_TRUE(checkTensorStore(info, zero, 4).ok());
}

TEST(TensorTileTest, FillsAndConverts) {
  TensorMapInfo info = makeRows(TensorMapSwizzle::None);
  uint8_t bytes[8];
  std::memset(bytes, 0xcd, 8);
  fillElements(info, bytes, 6);
  const uint8_t zeros[8] = {0, 0, 0, 0, 0, 0, 0xcd, 0xcd};
  EXPECT_EQ(std::memcmp(bytes, zeros, 8), 0);
  info.fill = TensorMapFill::NaN;
  fillElements(info, bytes, 4);
  const uint8_t nans[4] = {0xf7, 0x7f, 0xf7, 0x7f};
  EXPECT_EQ(std::memcmp(bytes, nans, 4), 0);
  EXPECT_FALSE(convertsOnLoad(info));

  info.type = TensorMapType::TF32;
  EXPECT_TRUE(convertsOnLoad(info));
  // Ties to even in both directions, a carry, infinities and NaNs.
  uint32_t values[] = {0x3f801000, 0x3f803000, 0x3f801001, 0x7f7fffff,
                       0xff800000, 0x7f800001, 0x80000fff, 0x3fffffff};
  const uint32_t rounded[] = {0x3f800000, 0x3f804000, 0x3f802000, 0x7f800000,
                              0xff800000, 0x7fffe000, 0x80000000, 0x40000000};
  convertLoaded(info, reinterpret_cast<uint8_t *>(values), sizeof(values));
  EXPECT_EQ(std::memcmp(values, rounded, sizeof(values)), 0);
}
