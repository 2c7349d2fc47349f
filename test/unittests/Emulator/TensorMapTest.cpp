//===- TensorMapTest.cpp - Checks and encoding of tensor maps -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that tensor maps are refused for every rule of the CUDA
// driver, survive encoding, and that bytes from elsewhere are not trusted.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/TensorMap.h"

#include "gtest/gtest.h"

#include <cstring>
#include <functional>
#include <random>

using namespace fusionemu;

static TensorMapInfo makeTiled() {
  TensorMapInfo info;
  info.type = TensorMapType::F16;
  info.rank = 3;
  info.globalAddress = 0x7f0000000100;
  info.dims[0] = 100;
  info.dims[1] = 70;
  info.dims[2] = 5;
  info.strides[0] = 224;
  info.strides[1] = 224 * 70;
  info.box[0] = 64;
  info.box[1] = 32;
  info.box[2] = 1;
  info.swizzle = TensorMapSwizzle::B128;
  return info;
}

static TensorMapInfo makeIm2col() {
  TensorMapInfo info = makeTiled();
  info.kind = TensorMapKind::Im2col;
  info.rank = 4;
  info.dims[3] = 3;
  info.strides[2] = 224 * 70 * 5;
  info.lowerCorner[0] = -1;
  info.lowerCorner[1] = -2;
  info.upperCorner[0] = -1;
  info.upperCorner[1] = 1;
  info.channelsPerPixel = 64;
  info.pixelsPerColumn = 700;
  for (uint32_t &b : info.box)
    b = 0;
  return info;
}

static void expectEqual(const TensorMapInfo &a, const TensorMapInfo &b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.globalAddress, b.globalAddress);
  EXPECT_EQ(a.interleave, b.interleave);
  EXPECT_EQ(a.swizzle, b.swizzle);
  EXPECT_EQ(a.l2Promotion, b.l2Promotion);
  EXPECT_EQ(a.fill, b.fill);
  for (uint32_t i = 0; i < a.rank; ++i) {
    EXPECT_EQ(a.dims[i], b.dims[i]);
    EXPECT_EQ(a.elementStrides[i], b.elementStrides[i]);
    EXPECT_EQ(a.box[i], b.box[i]);
    if (i + 1 < a.rank) {
      EXPECT_EQ(a.strides[i], b.strides[i]);
    }
  }
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(a.lowerCorner[i], b.lowerCorner[i]);
    EXPECT_EQ(a.upperCorner[i], b.upperCorner[i]);
  }
  EXPECT_EQ(a.channelsPerPixel, b.channelsPerPixel);
  EXPECT_EQ(a.pixelsPerColumn, b.pixelsPerColumn);
}

static void expectRoundTrip(const TensorMapInfo &info) {
  uint8_t map[tensorMapBytes];
  Status status = encodeTensorMap(info, map);
  ASSERT_TRUE(status.ok()) << status.message();
  TensorMapInfo back;
  status = decodeTensorMap(map, back);
  ASSERT_TRUE(status.ok()) << status.message();
  expectEqual(info, back);
}

TEST(TensorMapTest, RoundTrip) {
  expectRoundTrip(makeTiled());
  expectRoundTrip(makeIm2col());

  TensorMapInfo info;
  info.type = TensorMapType::TF32Ftz;
  info.rank = 5;
  info.globalAddress = ~uint64_t(0) - 31;
  for (uint32_t i = 0; i < 5; ++i) {
    info.dims[i] = (uint64_t(1) << 32) - i;
    info.box[i] = i == 0 ? 8 : 256 - i;
    info.elementStrides[i] = 8 - i;
    if (i < 4)
      info.strides[i] = (uint64_t(1) << 40) - 32 * (i + 1);
  }
  info.interleave = TensorMapInterleave::B32;
  info.swizzle = TensorMapSwizzle::B32;
  info.l2Promotion = TensorMapL2Promotion::B256;
  info.fill = TensorMapFill::NaN;
  expectRoundTrip(info);

  info = makeIm2col();
  info.rank = 3;
  info.lowerCorner[0] = -32768;
  info.upperCorner[0] = 32767;
  info.lowerCorner[1] = info.upperCorner[1] = 0;
  info.pixelsPerColumn = 1024;
  info.channelsPerPixel = 256;
  info.swizzle = TensorMapSwizzle::None;
  expectRoundTrip(info);
}

TEST(TensorMapTest, TypeNames) {
  for (uint32_t i = 0; i < 16; ++i) {
    TensorMapType type = TensorMapType(i), back = TensorMapType::U8;
    ASSERT_NE(getTypeName(type), nullptr);
    EXPECT_TRUE(parseTypeName(getTypeName(type), back));
    EXPECT_EQ(back, type);
  }
  EXPECT_EQ(getTypeName(TensorMapType(16)), nullptr);
  EXPECT_EQ(getElementBits(TensorMapType(16)), 0u);
  TensorMapType type;
  EXPECT_FALSE(parseTypeName("f8", type));
  EXPECT_EQ(getElementBits(TensorMapType::F64), 64u);
  EXPECT_EQ(getElementBits(TensorMapType::BF16), 16u);
}

TEST(TensorMapTest, ReadsText) {
  TensorMapInfo info;
  Status status = parseTensorMap(
      "bf16:4096,512,3:64,128,1:strides=8192,5000000:element-strides=1,2,8:"
      "swizzle=128.atom32:interleave=16:fill=nan:l2=256:offset=4096",
      info);
  ASSERT_TRUE(status.ok()) << status.message();
  TensorMapInfo expected;
  expected.type = TensorMapType::BF16;
  expected.rank = 3;
  expected.globalAddress = 4096;
  expected.dims[0] = 4096;
  expected.dims[1] = 512;
  expected.dims[2] = 3;
  expected.strides[0] = 8192;
  expected.strides[1] = 5000000;
  expected.box[0] = 64;
  expected.box[1] = 128;
  expected.box[2] = 1;
  expected.elementStrides[1] = 2;
  expected.elementStrides[2] = 8;
  expected.swizzle = TensorMapSwizzle::B128Atom32;
  expected.interleave = TensorMapInterleave::B16;
  expected.fill = TensorMapFill::NaN;
  expected.l2Promotion = TensorMapL2Promotion::B256;
  expectEqual(info, expected);

  // Rows follow each other unless strides say otherwise.
  status = parseTensorMap("f32:16,9,8,4:im2col:channels=16:pixels=64:"
                          "lower=-1,-2:upper=-1,0",
                          info);
  ASSERT_TRUE(status.ok()) << status.message();
  expected = TensorMapInfo();
  expected.kind = TensorMapKind::Im2col;
  expected.type = TensorMapType::F32;
  expected.rank = 4;
  const uint64_t dims[] = {16, 9, 8, 4};
  const uint64_t strides[] = {64, 64 * 9, 64 * 9 * 8};
  for (uint32_t i = 0; i < 4; ++i)
    expected.dims[i] = dims[i];
  for (uint32_t i = 0; i < 3; ++i)
    expected.strides[i] = strides[i];
  expected.lowerCorner[0] = expected.upperCorner[0] = -1;
  expected.lowerCorner[1] = -2;
  expected.channelsPerPixel = 16;
  expected.pixelsPerColumn = 64;
  expectEqual(info, expected);

  for (const char *text :
       {"", "f32", "f32:", "f32:1:", "f32:1,2,3,4,5,6:im2col", "f32:-1:1",
        "f32:1:1,1", "f32:1, 1:1,1", "f32:1,1:1,1:strides=16,16",
        "f32:1,1:1,1:strides", "f32:1,1:1,1:swizzle=48", "f32:1,1:1,1:pixels=1",
        "f32:1,1:1,1:fill", "f32:1,1:1,1:bla=1", "f32:1:1:strides=16",
        "f32:99999999999999999999:1", "f32:1,1,1:im2col:lower=1.5",
        "f32:1:4294967296", "f32:0x10:1"}) {
    info.rank = 77;
    status = parseTensorMap(text, info);
    EXPECT_EQ(status.getKind(), ErrorKind::BadTensorMap) << text;
    EXPECT_NE(status.message().find("cannot read '"), std::string::npos);
    EXPECT_EQ(info.rank, 77u);
  }
}

namespace {
struct Refusal {
  std::function<void(TensorMapInfo &)> change;
  const char *text;
};
} // namespace

static void expectRefusals(const TensorMapInfo &good,
                           const std::vector<Refusal> &refusals) {
  ASSERT_TRUE(checkTensorMap(good).ok()) << checkTensorMap(good).message();
  for (const Refusal &r : refusals) {
    TensorMapInfo info = good;
    r.change(info);
    uint8_t map[tensorMapBytes] = {};
    Status status = encodeTensorMap(info, map);
    EXPECT_EQ(status.getKind(), ErrorKind::BadTensorMap) << r.text;
    EXPECT_EQ(status.message(), std::string("FUS-7024: tensor map: ") + r.text);
    EXPECT_EQ(map[0], 0) << "a refused map was written";
  }
}

using Info = TensorMapInfo;

TEST(TensorMapTest, RefusesTensor) {
  expectRefusals(
      makeTiled(),
      {{[](Info &i) { i.rank = 0; }, "tensorRank is 0, it must be 1 to 5"},
       {[](Info &i) { i.rank = 6; }, "tensorRank is 6, it must be 1 to 5"},
       {[](Info &i) { i.globalAddress += 8; },
        "globalAddress is 139637976727816, it must be a multiple of 16"},
       {[](Info &i) { i.dims[1] = 0; },
        "globalDim[1] is 0, it must be 1 to 4294967296"},
       {[](Info &i) { i.dims[2] = 4294967297; },
        "globalDim[2] is 4294967297, it must be 1 to 4294967296"},
       {[](Info &i) { i.strides[0] = 200; },
        "globalStrides[0] is 200, it must be a multiple of 16"},
       {[](Info &i) { i.strides[1] = uint64_t(1) << 40; },
        "globalStrides[1] is 1099511627776, it must be less than "
        "1099511627776"},
       {[](Info &i) { i.elementStrides[0] = 0; },
        "elementStrides[0] is 0, it must be 1 to 8"},
       {[](Info &i) { i.elementStrides[2] = 9; },
        "elementStrides[2] is 9, it must be 1 to 8"}});
  // The largest that is allowed.
  Info info = makeTiled();
  info.dims[2] = uint64_t(1) << 32;
  info.strides[1] = (uint64_t(1) << 40) - 16;
  EXPECT_TRUE(checkTensorMap(info).ok());
}

TEST(TensorMapTest, RefusesModes) {
  expectRefusals(
      makeTiled(),
      {{[](Info &i) { i.kind = TensorMapKind(2); },
        "kind is 2, it must be 0 to 1"},
       {[](Info &i) { i.type = TensorMapType(16); },
        "tensorDataType is 16, it must be 0 to 15"},
       {[](Info &i) { i.interleave = TensorMapInterleave(3); },
        "interleave is 3, it must be 0 to 2"},
       {[](Info &i) { i.swizzle = TensorMapSwizzle(7); },
        "swizzle is 7, it must be 0 to 6"},
       {[](Info &i) { i.l2Promotion = TensorMapL2Promotion(4); },
        "l2Promotion is 4, it must be 0 to 3"},
       {[](Info &i) { i.fill = TensorMapFill(2); },
        "oobFill is 2, it must be 0 to 1"},
       {[](Info &i) {
          i.type = TensorMapType::U16;
          i.fill = TensorMapFill::NaN;
        },
        "oobFill is 1 (NaN), which elements of type u16 do not have"},
       {[](Info &i) {
          i.rank = 2;
          i.interleave = TensorMapInterleave::B16;
        },
        "tensorRank is 2, it must be 3 to 5"},
       {[](Info &i) { i.interleave = TensorMapInterleave::B32; },
        "swizzle is 3, it must be 1 (32 bytes) with an interleave of 32 "
        "bytes"},
       {[](Info &i) {
          i.interleave = TensorMapInterleave::B32;
          i.swizzle = TensorMapSwizzle::B32;
          i.globalAddress = 16;
        },
        "globalAddress is 16, it must be a multiple of 32"},
       {[](Info &i) {
          i.interleave = TensorMapInterleave::B32;
          i.swizzle = TensorMapSwizzle::B32;
          i.strides[1] = 48;
        },
        "globalStrides[1] is 48, it must be a multiple of 32"}});
}

TEST(TensorMapTest, RefusesBox) {
  expectRefusals(
      makeTiled(),
      {{[](Info &i) { i.box[1] = 0; }, "boxDim[1] is 0, it must be 1 to 256"},
       {[](Info &i) { i.box[2] = 257; },
        "boxDim[2] is 257, it must be 1 to 256"},
       {[](Info &i) { i.box[0] = 12; },
        "boxDim[0] makes rows of 24 bytes, they must be a multiple of 16"},
       {[](Info &i) { i.box[0] = 72; },
        "boxDim[0] makes rows of 144 bytes, the swizzle allows 128"},
       {[](Info &i) { i.swizzle = TensorMapSwizzle::B64; },
        "boxDim[0] makes rows of 128 bytes, the swizzle allows 64"},
       {[](Info &i) { i.swizzle = TensorMapSwizzle::B32; },
        "boxDim[0] makes rows of 128 bytes, the swizzle allows 32"},
       {[](Info &i) {
          i.swizzle = TensorMapSwizzle::B128Atom64;
          i.box[0] = 128;
        },
        "boxDim[0] makes rows of 256 bytes, the swizzle allows 128"}});
  Info info = makeTiled();
  info.swizzle = TensorMapSwizzle::None;
  info.box[0] = 256;
  EXPECT_TRUE(checkTensorMap(info).ok());
}

TEST(TensorMapTest, RefusesPackedTypes) {
  Info packed = makeTiled();
  packed.type = TensorMapType::U4Align16;
  packed.dims[0] = 256;
  packed.box[0] = 128;
  expectRefusals(
      packed,
      {{[](Info &i) { i.globalAddress = 16; },
        "globalAddress is 16, it must be a multiple of 32"},
       {[](Info &i) { i.strides[0] = 240; },
        "globalStrides[0] is 240, it must be a multiple of 32"},
       {[](Info &i) { i.dims[0] = 192; },
        "globalDim[0] is 192, it must be a multiple of 128 for elements of "
        "this type"},
       {[](Info &i) { i.box[0] = 64; },
        "boxDim[0] is 64, it must be 128 for elements of this type"},
       {[](Info &i) { i.swizzle = TensorMapSwizzle::B64; },
        "swizzle is 2, which elements of type u4.align16 do not allow"},
       {[](Info &i) { i.swizzle = TensorMapSwizzle::B128Atom64; },
        "swizzle is 6, which elements of type u4.align16 do not allow"},
       {[](Info &i) {
          i.type = TensorMapType::U6Align16;
          i.interleave = TensorMapInterleave::B16;
        },
        "interleave is 1, it must be 0 for elements of type u6.align16"},
       {[](Info &i) {
          i.type = TensorMapType::U4Align8;
          i.dims[0] = 255;
        },
        "globalDim[0] is 255, it must be a multiple of 2 for elements of this "
        "type"},
       {[](Info &i) {
          i.type = TensorMapType::U4Align8;
          i.box[0] = 16;
        },
        "boxDim[0] makes rows of 8 bytes, they must be a multiple of 16"}});
}

TEST(TensorMapTest, RefusesIm2col) {
  expectRefusals(
      makeIm2col(),
      {{[](Info &i) { i.rank = 2; }, "tensorRank is 2, it must be 3 to 5"},
       {[](Info &i) { i.lowerCorner[1] = -129; },
        "pixelBoxLowerCorner[1] is -129, it must be -128 to 127 in a map of "
        "rank 4"},
       {[](Info &i) { i.upperCorner[0] = 128; },
        "pixelBoxUpperCorner[0] is 128, it must be -128 to 127 in a map of "
        "rank 4"},
       {[](Info &i) {
          i.rank = 5;
          i.dims[4] = 1;
          i.lowerCorner[2] = -17;
        },
        "pixelBoxLowerCorner[2] is -17, it must be -16 to 15 in a map of rank "
        "5"},
       {[](Info &i) {
          i.rank = 3;
          i.upperCorner[0] = 32768;
        },
        "pixelBoxUpperCorner[0] is 32768, it must be -32768 to 32767 in a map "
        "of rank 3"},
       {[](Info &i) { i.upperCorner[1] = -7; },
        "the bounding box from pixelBoxLowerCorner[1] = -2 to "
        "pixelBoxUpperCorner = -7 is empty in 5 elements"},
       {[](Info &i) { i.channelsPerPixel = 0; },
        "channelsPerPixel is 0, it must be 1 to 256"},
       {[](Info &i) { i.channelsPerPixel = 257; },
        "channelsPerPixel is 257, it must be 1 to 256"},
       {[](Info &i) { i.channelsPerPixel = 4; },
        "channelsPerPixel makes rows of 8 bytes, they must be a multiple of "
        "16"},
       {[](Info &i) { i.channelsPerPixel = 128; },
        "channelsPerPixel makes rows of 256 bytes, the swizzle allows 128"},
       {[](Info &i) { i.pixelsPerColumn = 0; },
        "pixelsPerColumn is 0, it must be 1 to 1024"},
       {[](Info &i) { i.pixelsPerColumn = 1025; },
        "pixelsPerColumn is 1025, it must be 1 to 1024"}});
}

TEST(TensorMapTest, DecodeRefusesOtherBytes) {
  uint8_t map[tensorMapBytes] = {};
  TensorMapInfo info;
  Status status = decodeTensorMap(map, info);
  EXPECT_EQ(status.getKind(), ErrorKind::BadTensorMap);
  EXPECT_EQ(status.message(), "FUS-7024: tensor map: the 128 bytes are not a "
                              "tensor map made by encodeTensorMap");
  std::mt19937_64 random(7);
  for (int n = 0; n < 1000; ++n) {
    for (uint8_t &byte : map)
      byte = uint8_t(random());
    EXPECT_FALSE(decodeTensorMap(map, info).ok());
  }
}

TEST(TensorMapTest, DecodeNoticesEveryChangedByte) {
  for (const TensorMapInfo &info : {makeTiled(), makeIm2col()}) {
    uint8_t map[tensorMapBytes];
    ASSERT_TRUE(encodeTensorMap(info, map).ok());
    for (uint32_t at = 0; at < tensorMapBytes; ++at)
      for (uint32_t change = 1; change < 256; ++change) {
        map[at] ^= uint8_t(change);
        TensorMapInfo back;
        back.rank = 99;
        EXPECT_FALSE(decodeTensorMap(map, back).ok()) << at;
        EXPECT_EQ(back.rank, 99u) << "a refused map was read";
        map[at] ^= uint8_t(change);
      }
  }
}

/// The check word as documented: FNV-1a of the first 120 bytes.
static void forgeCheckWord(uint8_t (&map)[tensorMapBytes]) {
  uint64_t hash = 14695981039346656037u;
  for (uint32_t i = 0; i < 120; ++i)
    hash = (hash ^ map[i]) * 1099511628211u;
  std::memcpy(map + 120, &hash, 8);
}

TEST(TensorMapTest, DecodeChecksForgedMaps) {
  uint32_t accepted = 0, refused = 0;
  for (const TensorMapInfo &info : {makeTiled(), makeIm2col()}) {
    uint8_t map[tensorMapBytes];
    ASSERT_TRUE(encodeTensorMap(info, map).ok());
    for (uint32_t at = 8; at < 120; ++at)
      for (uint32_t value = 0; value < 256; ++value) {
        uint8_t forged[tensorMapBytes];
        std::memcpy(forged, map, tensorMapBytes);
        forged[at] = uint8_t(value);
        forgeCheckWord(forged);
        TensorMapInfo back;
        if (!decodeTensorMap(forged, back).ok()) {
          ++refused;
          continue;
        }
        // What is accepted has passed all checks and is the only encoding.
        ++accepted;
        ASSERT_TRUE(checkTensorMap(back).ok());
        uint8_t again[tensorMapBytes];
        ASSERT_TRUE(encodeTensorMap(back, again).ok());
        ASSERT_EQ(std::memcmp(again, forged, tensorMapBytes), 0);
      }
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 10000u);
}
