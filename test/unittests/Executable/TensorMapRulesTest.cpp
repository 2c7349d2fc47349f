//===- TensorMapRulesTest.cpp - Tensor maps and clusters of packages ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests write, read and break packages with tensor maps and clusters.
//
//===----------------------------------------------------------------------===//

#include "SamplePackage.h"
#include "fusion/Executable/BufferPlan.h"
#include "fusion/Executable/TensorMapWords.h"

#include <functional>
#include <gtest/gtest.h>

using namespace fusionpkg;

TEST(TensorMapRulesTest, RoundTripKeepsEverything) {
  std::string bytes = *writePackage(makeTensorMapPackage());
  Result<PackageModel> read = readPackage(bytes);
  ASSERT_TRUE(read) << read.getError().str();
  EXPECT_EQ(*writePackage(*read), bytes);
  EXPECT_EQ(read->kernels[0].clusterX, 2u);
  EXPECT_EQ(read->kernels[1].clusterX, 1u);

  PackageModel model = makeTensorMapPackage();
  const std::vector<TensorMap> &maps = read->entries[0].tensorMaps;
  ASSERT_EQ(maps.size(), 2u);
  for (size_t i = 0; i < maps.size(); ++i) {
    const TensorMap &wrote = model.entries[0].tensorMaps[i];
    EXPECT_EQ(maps[i].kind, wrote.kind);
    EXPECT_EQ(maps[i].dtype, wrote.dtype);
    EXPECT_EQ(maps[i].swizzle, wrote.swizzle);
    EXPECT_EQ(maps[i].tf32, wrote.tf32);
    EXPECT_EQ(maps[i].buffer, wrote.buffer);
    EXPECT_EQ(maps[i].offset, wrote.offset);
    EXPECT_EQ(maps[i].sizes, wrote.sizes);
    EXPECT_EQ(maps[i].strides, wrote.strides);
    EXPECT_EQ(maps[i].elementStrides, wrote.elementStrides);
    EXPECT_EQ(maps[i].box, wrote.box);
    EXPECT_EQ(maps[i].lowerCorner, wrote.lowerCorner);
    EXPECT_EQ(maps[i].upperCorner, wrote.upperCorner);
    EXPECT_EQ(maps[i].channelsPerPixel, wrote.channelsPerPixel);
    EXPECT_EQ(maps[i].pixelsPerColumn, wrote.pixelsPerColumn);
  }
  EXPECT_EQ(read->entries[0].steps[1].args[5].kind, ArgKind::TensorMap);
  EXPECT_EQ(read->entries[0].steps[1].args[5].index, 1u);
}

/// Readers of version 1 know neither clusters nor tensor maps, and would launch
/// a kernel without its cluster.
TEST(TensorMapRulesTest, OnlyPackagesThatNeedItHaveTheNewVersion) {
  auto version = [](const PackageModel &model) {
    return (*writePackage(model))[8];
  };
  EXPECT_EQ(version(makeSamplePackage()), 1);
  EXPECT_EQ(version(makeTensorMapPackage()), 2);
  PackageModel clusters = makeSamplePackage();
  clusters.kernels[2].clusterX = 4;
  EXPECT_EQ(version(clusters), 2);
  PackageModel waiting = makeTensorMapPackage();
  waiting.kernels[2].together = 4;
  EXPECT_EQ(version(waiting), 3);
  EXPECT_EQ(readPackage(*writePackage(waiting))->kernels[2].together, 4u);
  std::string later = *writePackage(makeTensorMapPackage());
  later[8] = 5;
  EXPECT_EQ(readPackage(later).getError().getCode(), ErrorCode::PackageVersion);
}

TEST(TensorMapRulesTest, EverySingleAlteredByteIsRefused) {
  std::string bytes = *writePackage(makeTensorMapPackage());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string altered = bytes;
    altered[i] = static_cast<char>(altered[i] ^ 0x01);
    EXPECT_FALSE(readPackage(altered)) << "byte " << i;
  }
}

static void expectInvalid(const std::function<void(PackageModel &)> &breakRule,
                          const std::string &sentence) {
  PackageModel model = makeTensorMapPackage();
  breakRule(model);
  Error error = verifyPackage(model);
  EXPECT_EQ(error.getCode(), ErrorCode::PackageInvalid) << sentence;
  EXPECT_NE(error.getCause().find(sentence), std::string::npos)
      << "expected: " << sentence << ", got: " << error.getCause();
  EXPECT_FALSE(writePackage(model));
}

TEST(TensorMapRulesTest, BrokenRulesAreNamed) {
  auto tiled = [](const std::function<void(TensorMap &)> &breakRule,
                  const std::string &sentence) {
    expectInvalid(
        [&](PackageModel &m) { breakRule(m.entries[0].tensorMaps[0]); },
        sentence);
  };
  using M = TensorMap;
  tiled([](M &m) { m.buffer = 7; }, "its buffer is out of range");
  tiled([](M &m) { m.sizes[1] = 9999; }, "an expression id is out of range");
  tiled([](M &m) { m.sizes[0] = kNoExpr; }, "an expression is missing");
  tiled([](M &m) { m.strides[0] = 9999; }, "an expression id is out of range");
  tiled([](M &m) { m.offset = 9999; }, "an expression id is out of range");
  tiled([](M &m) { m.kind = TensorMapKind(2); }, "its kind is unknown");
  tiled([](M &m) { m.dtype = DType(12); }, "do not know its element type");
  tiled([](M &m) { m.dtype = DType::I4; }, "do not know its element type");
  tiled([](M &m) { m.dtype = DType::I32; }, "its elements are not f32");
  tiled([](M &m) { m.swizzle = TensorMapSwizzle(4); }, "swizzle is unknown");
  tiled([](M &m) { m.sizes.clear(); }, "1 to 5 dimensions");
  tiled([](M &m) { m.sizes.assign(6, 0); }, "1 to 5 dimensions");
  tiled([](M &m) { m.strides.assign(2, 0); }, "one stride for all");
  tiled([](M &m) { m.elementStrides[0] = 9; }, "element strides are not 1 to");
  tiled([](M &m) { m.elementStrides[1] = 0; }, "element strides are not 1 to");
  tiled([](M &m) { m.elementStrides.pop_back(); }, "element strides are not");
  tiled([](M &m) { m.elementStrides[1] = 2; }, "the last dimension is not 1");
  tiled([](M &m) { m.box[0] = 0; }, "its box is not 1 to 256");
  tiled([](M &m) { m.box[0] = 257; }, "its box is not 1 to 256");
  tiled([](M &m) { m.box.pop_back(); }, "its box is not 1 to 256");
  tiled([](M &m) { m.box[1] = 6; }, "no multiple of 16 bytes");
  tiled([](M &m) { m.box[1] = 36; }, "longer than its swizzle");
  tiled([](M &m) { m.swizzle = TensorMapSwizzle::B64; }, "than its swizzle");
  tiled([](M &m) { m.lowerCorner = {0}; }, "what only im2col has");
  tiled([](M &m) { m.pixelsPerColumn = 1; }, "what only im2col has");

  auto im2col = [](const std::function<void(TensorMap &)> &breakRule,
                   const std::string &sentence) {
    expectInvalid(
        [&](PackageModel &m) { breakRule(m.entries[0].tensorMaps[1]); },
        sentence);
  };
  im2col([](M &m) { m.sizes.resize(2); }, "fewer than 3 dimensions");
  im2col([](M &m) { m.box = {1, 1, 1, 4}; }, "im2col but has a box");
  im2col([](M &m) { m.lowerCorner[0] = -129; }, "corner of its bounding box");
  im2col([](M &m) { m.upperCorner[1] = 128; }, "corner of its bounding box");
  im2col([](M &m) { m.upperCorner.pop_back(); }, "corner of its bounding box");
  im2col([](M &m) { m.channelsPerPixel = 0; }, "channels are not 1 to 256");
  im2col([](M &m) { m.channelsPerPixel = 3; }, "no multiple of 16 bytes");
  im2col([](M &m) { m.pixelsPerColumn = 1025; }, "pixels are not 1 to 1024");
}

TEST(TensorMapRulesTest, ErrorsSayWhichMap) {
  expectInvalid([](PackageModel &m) { m.entries[0].tensorMaps[1].box = {4}; },
                "entry 'main', tensor map 1: it is im2col but has a box");
}

TEST(TensorMapRulesTest, BrokenUsesAreNamed) {
  using M = PackageModel;
  expectInvalid([](M &m) { m.entries[0].steps[1].args[4].index = 2; },
                "tensor map is out of range");
  expectInvalid([](M &m) { m.entries[0].tensorMaps.assign(65537, {}); },
                "too many tensor maps");
  expectInvalid([](M &m) { m.kernels[0].clusterX = 0; }, "1 to 16 blocks");
  expectInvalid([](M &m) { m.kernels[0].clusterX = 17; }, "1 to 16 blocks");
  const char *waiting = "the blocks that wait for each other are not 1 to 256";
  expectInvalid([](M &m) { m.kernels[1].together = 0; }, waiting);
  expectInvalid([](M &m) { m.kernels[1].together = 257; }, waiting);
  // The first kernel has clusters.
  expectInvalid([](M &m) { m.kernels[0].together = 2; }, waiting);
  expectInvalid(
      [](M &m) { m.entries[0].steps[1].args.assign(256, Arg::tensorMap(0)); },
      "32764 bytes");
}

TEST(TensorMapRulesTest, ATensorMapKeepsItsBufferAlive) {
  PackageModel model = makeTensorMapPackage();
  Entry &entry = model.entries[0];
  Step last = entry.steps[1];
  entry.steps.push_back(last);
  entry.steps.back().args = {Arg::tensorMap(1)};
  EXPECT_EQ(computeLifetimes(entry)[6].last, 4u);
}

TEST(TensorMapRulesTest, ParametersAreAligned) {
  Entry entry;
  EXPECT_EQ(getParamBytes(entry, Arg::tensorMap(0)), 128u);
  EXPECT_EQ(getParamAlign(128), 64u);
  EXPECT_EQ(getParamBytes(entry, Arg::i32(0)), 4u);
  EXPECT_EQ(getParamAlign(4), 4u);
}

TEST(TensorMapRulesTest, WordsTellAMap) {
  PackageModel model = makeTensorMapPackage();
  const Entry &entry = model.entries[0];
  ASSERT_FALSE(entry.tensorMaps.empty());
  int64_t symbols[8] = {64, 64, 64, 64, 64, 64, 64, 64};
  ExprValues values(entry.exprs.getNodes(), symbols, entry.symbols.size());
  for (const TensorMap &map : entry.tensorMaps) {
    std::vector<int64_t> words;
    for (const TensorMapWord &word : writeTensorMapWords(map))
      words.push_back(word.isExpr ? *values.get(static_cast<ExprId>(word.value))
                                  : word.value);
    ExprPool exprs;
    std::optional<TensorMap> read =
        readTensorMapWords(words.data(), words.size(), exprs);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, map.kind);
    EXPECT_EQ(read->dtype, map.dtype);
    EXPECT_EQ(read->swizzle, map.swizzle);
    EXPECT_EQ(read->tf32, map.tf32);
    EXPECT_EQ(read->elementStrides, map.elementStrides);
    EXPECT_EQ(read->box, map.box);
    EXPECT_EQ(read->lowerCorner, map.lowerCorner);
    EXPECT_EQ(read->upperCorner, map.upperCorner);
    EXPECT_EQ(read->channelsPerPixel, map.channelsPerPixel);
    EXPECT_EQ(read->pixelsPerColumn, map.pixelsPerColumn);
    ASSERT_EQ(read->sizes.size(), map.sizes.size());
    for (size_t i = 0; i < map.sizes.size(); ++i)
      EXPECT_EQ(exprs.getConstant(read->sizes[i]), values.get(map.sizes[i]));
    ASSERT_EQ(read->strides.size(), map.strides.size());
    for (size_t i = 0; i < map.strides.size(); ++i)
      EXPECT_EQ(exprs.getConstant(read->strides[i]),
                values.get(map.strides[i]));
    // One word less, more, or a length that no map has, is no map.
    EXPECT_FALSE(readTensorMapWords(words.data(), words.size() - 1, exprs));
    words.push_back(0);
    EXPECT_FALSE(readTensorMapWords(words.data(), words.size(), exprs));
    words[4] = 6;
    EXPECT_FALSE(readTensorMapWords(words.data(), words.size(), exprs));
  }
}
