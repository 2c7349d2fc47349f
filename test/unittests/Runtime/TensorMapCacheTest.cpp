//===- TensorMapCacheTest.cpp - Tensor maps of launches, on a fake --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests look at what launches ask a device for when a package has tensor
// maps and clusters: what is encoded, how often, and what is refused before.
//
//===----------------------------------------------------------------------===//

#include "LoadedPackage.h"

#include <thread>

using namespace fusionrt;
using namespace fusionpkg;

namespace {
/// One kernel that takes x[m, n] of f32 by address and by a map, y[m, n] by a
/// map, and an f16 by value between the two.
class TensorMapLaunch : public LoadedPackage {
protected:
  TensorMapLaunch() {
    model.target = "sm_90a";
    model.modules.push_back({"ptx", {}, 0});
    Kernel kernel;
    kernel.name = "copy";
    kernel.blockX = 128;
    kernel.clusterX = 2;
    model.kernels.push_back(kernel);
    Entry entry;
    entry.name = "main";
    entry.symbols = {{"m", 0, 0}, {"n", 0, 1}};
    ExprPool &e = entry.exprs;
    ExprId m = e.symbol(0), n = e.symbol(1);
    entry.inputs = {{"x", DType::F32, {m, n}, false},
                    {"s", DType::F16, {}, true}};
    entry.outputs = {{"y", DType::F32, {m, n}, false}};
    entry.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                     {BufferKind::Output, 0, kNoExpr, "y"}};
    TensorMap map;
    map.dtype = DType::F32;
    map.swizzle = TensorMapSwizzle::B128;
    map.sizes = {m, n};
    map.box = {16, 32};
    entry.tensorMaps = {map, map};
    entry.tensorMaps[1].buffer = 1;
    Step step;
    step.variants = {{kNoExpr, 0, e.constant(4)}};
    step.args = {Arg::buffer(0), Arg::tensorMap(0), Arg::scalar(1),
                 Arg::tensorMap(1)};
    entry.steps = {step};
    model.entries = {entry};
  }

  Entry &main() { return model.entries[0]; }

  void load(int64_t m, int64_t n) {
    ASSERT_NO_FATAL_FAILURE(loadModel(model));
    dims[0] = m;
    dims[1] = n;
  }

  Error launch(Address x, Address y) {
    FusionRtTensor inputs[2] = {{x, nullptr, dims, FUSION_RT_F32, 2},
                                {0, &scalar, nullptr, FUSION_RT_F16, 0}};
    FusionRtTensor output = {y, nullptr, dims, FUSION_RT_F32, 2};
    auto args = FUSION_RT_INIT(FusionRtLaunchArgs);
    args.inputs = inputs;
    args.outputs = &output;
    args.numInputs = 2;
    args.numOutputs = 1;
    return launchEntry(*package->entries[0], args);
  }

  void expectError(ErrorCode code, const std::string &text) {
    log.lines.clear();
    Error error = launch(0x100000, 0x900000);
    EXPECT_EQ(error.getCode(), code) << error.str();
    EXPECT_NE(error.getCause().find(text), std::string::npos) << error.str();
    EXPECT_TRUE(log.lines.empty());
  }

  PackageModel model;
  int64_t dims[2] = {0, 0};
  uint16_t scalar = 7;
};
} // namespace

TEST_F(TensorMapLaunch, MapsLieWhereKernelsExpectThem) {
  load(50, 64);
  ASSERT_FALSE(launch(0x100000, 0x900000));
  // 8 bytes, 56 of padding, 128, 2 and 62 of padding, 128.
  std::vector<std::string> expected = {
      "encodeTensorMap 2", "encodeTensorMap 2",
      "launch copy 4x1x1 128 cluster 2 0: 1048576 1048576 7 9437184"};
  EXPECT_EQ(log.lines, expected);
  ASSERT_EQ(log.maps.size(), 2u);
  const fusionemu::TensorMapInfo &info = log.maps[0];
  EXPECT_EQ(info.kind, fusionemu::TensorMapKind::Tiled);
  EXPECT_EQ(info.type, fusionemu::TensorMapType::F32);
  EXPECT_EQ(info.swizzle, fusionemu::TensorMapSwizzle::B128);
  EXPECT_EQ(info.dims[0], 64u);
  EXPECT_EQ(info.dims[1], 50u);
  EXPECT_EQ(info.strides[0], 256u);
  EXPECT_EQ(info.box[0], 32u);
  EXPECT_EQ(info.box[1], 16u);
  EXPECT_EQ(info.elementStrides[0], 1u);
}

TEST_F(TensorMapLaunch, KnownAddressesAreNotEncodedAgain) {
  load(50, 64);
  ASSERT_FALSE(launch(0x100000, 0x900000));
  log.lines.clear();
  ASSERT_FALSE(launch(0x100000, 0x900000));
  std::vector<std::string> expected = {
      "launch copy 4x1x1 128 cluster 2 0: 1048576 1048576 7 9437184"};
  EXPECT_EQ(log.lines, expected);
  // One new address; the old ones are remembered beside it.
  log.lines.clear();
  ASSERT_FALSE(launch(0x200000, 0x900000));
  EXPECT_EQ(log.lines.size(), 2u);
  EXPECT_EQ(log.lines[1],
            "launch copy 4x1x1 128 cluster 2 0: 2097152 2097152 7 9437184");
  log.lines.clear();
  ASSERT_FALSE(launch(0x100000, 0x900000));
  EXPECT_EQ(log.lines, expected);
  // More addresses than are remembered.
  for (Address x = 1; x < 20; ++x)
    ASSERT_FALSE(launch(0x1000000 * x, 0x900000));
  log.lines.clear();
  ASSERT_FALSE(launch(0x100000, 0x900000));
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_EQ(log.lines[1], expected[0]);
  // Other sizes have other maps, also at the same addresses.
  dims[0] = 51;
  log.lines.clear();
  log.maps.clear();
  ASSERT_FALSE(launch(0x100000, 0x900000));
  ASSERT_EQ(log.maps.size(), 2u);
  EXPECT_EQ(log.maps[0].dims[1], 51u);
}

TEST_F(TensorMapLaunch, ADeviceThatCannotEncodeLaunchesNothing) {
  load(50, 64);
  log.failAt = log.calls + 1; // the second map
  log.failWith = ErrorCode::Unsupported;
  Error error = launch(0x100000, 0x900000);
  EXPECT_EQ(error.getCode(), ErrorCode::Unsupported);
  EXPECT_NE(error.getCause().find("kernel 'copy'"), std::string::npos)
      << error.str();
  EXPECT_EQ(log.lines.size(), 2u); // and nothing was remembered
  log.lines.clear();
  ASSERT_FALSE(launch(0x100000, 0x900000));
  EXPECT_EQ(log.lines.size(), 2u);
}

TEST_F(TensorMapLaunch, ATensorWithoutElementsHasAMapOfOne) {
  load(0, 64);
  ASSERT_FALSE(launch(0, 0));
  ASSERT_EQ(log.maps.size(), 2u);
  for (fusionemu::TensorMapInfo &info : log.maps) {
    EXPECT_EQ(info.globalAddress, device->dummy);
    EXPECT_EQ(info.dims[0], 1u);
    EXPECT_EQ(info.dims[1], 1u);
    EXPECT_TRUE(fusionemu::checkTensorMap(info).ok())
        << fusionemu::checkTensorMap(info).message();
  }
  // Whatever the map is of.
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::BF16,
                     DType::F8E4M3, DType::F8E5M2, DType::I64, DType::I32,
                     DType::I16, DType::I8, DType::I1})
    for (unsigned rank = 3; rank <= 5; ++rank)
      for (TensorMapKind kind : {TensorMapKind::Tiled, TensorMapKind::Im2col}) {
        TensorMap &map = main().tensorMaps[0];
        map = TensorMap();
        map.kind = kind;
        map.dtype = type;
        map.sizes.assign(rank, main().exprs.constant(0));
        uint32_t row = 16 / (getStorageBits(type) / 8);
        if (kind == TensorMapKind::Tiled) {
          map.box.assign(rank, 1);
          map.box.back() = row;
        } else {
          map.lowerCorner.assign(rank - 2, -1);
          map.upperCorner.assign(rank - 2, -1);
          map.channelsPerPixel = row;
          map.pixelsPerColumn = 32;
        }
        load(0, 64);
        ASSERT_FALSE(launch(0, 0));
        ASSERT_EQ(log.maps.size(), 2u);
        EXPECT_TRUE(fusionemu::checkTensorMap(log.maps[0]).ok())
            << fusionemu::checkTensorMap(log.maps[0]).message();
      }
}

TEST_F(TensorMapLaunch, ElementTypesAreTheDrivers) {
  using Type = fusionemu::TensorMapType;
  const std::pair<DType, Type> types[] = {
      {DType::F64, Type::F64},   {DType::F32, Type::F32},
      {DType::F16, Type::F16},   {DType::BF16, Type::BF16},
      {DType::F8E4M3, Type::U8}, {DType::F8E5M2, Type::U8},
      {DType::I64, Type::S64},   {DType::I32, Type::S32},
      {DType::I16, Type::U16},   {DType::I8, Type::U8},
      {DType::I1, Type::U8}};
  for (auto [dtype, type] : types) {
    TensorMap &map = main().tensorMaps[0];
    map.dtype = dtype;
    map.swizzle = TensorMapSwizzle::None;
    load(1, 64);
    Error error = launch(0x100000, 0x900000);
    if (getStorageBits(dtype) > 32) { // of a buffer of f32
      EXPECT_EQ(error.getCode(), ErrorCode::OutOfBounds);
      continue;
    }
    ASSERT_FALSE(error) << error.str();
    EXPECT_EQ(log.maps[0].type, type) << getDTypeName(dtype);
  }
  main().tensorMaps[0].dtype = DType::F32;
  main().tensorMaps[0].tf32 = true;
  load(1, 64);
  ASSERT_FALSE(launch(0x100000, 0x900000));
  EXPECT_EQ(log.maps[0].type, Type::TF32);
}

TEST_F(TensorMapLaunch, OffsetsAndStridesAreTheMaps) {
  ExprPool &e = main().exprs;
  TensorMap &map = main().tensorMaps[0];
  // Every other row, from the second on.
  map.offset = e.mul(e.symbol(1), e.constant(4));
  map.sizes[0] = e.floorDiv(e.symbol(0), e.constant(2));
  map.strides = {e.mul(e.symbol(1), e.constant(8))};
  map.elementStrides = {3, 1};
  load(50, 64);
  ASSERT_FALSE(launch(0x100000, 0x900000));
  EXPECT_EQ(log.maps[0].globalAddress, 0x100000u + 256);
  EXPECT_EQ(log.maps[0].dims[1], 25u);
  EXPECT_EQ(log.maps[0].strides[0], 512u);
  EXPECT_EQ(log.maps[0].elementStrides[0], 1u);
  EXPECT_EQ(log.maps[0].elementStrides[1], 3u);
}

TEST_F(TensorMapLaunch, WhatCannotBeAddressedIsRefusedBeforeTheLaunch) {
  load(50, 63);
  expectError(ErrorCode::TensorMapSizes,
              "entry 'main' (m = 50, n = 63), step 0, tensor map 0 of 'x': a "
              "tensor of 50x63 f32: tensor map: globalStrides[0] is 252, it "
              "must be a multiple of 16");
  ExprPool &e = main().exprs;
  TensorMap original = main().tensorMaps[0];
  auto with = [&](auto change, ErrorCode code, const std::string &text) {
    main().tensorMaps[0] = original;
    change(main().tensorMaps[0]);
    load(50, 64);
    expectError(code, text);
  };
  with([&](TensorMap &m) { m.sizes[0] = e.add(m.sizes[0], e.constant(1)); },
       ErrorCode::OutOfBounds, "51x64 f32 at byte 0 leaves its buffer");
  with([&](TensorMap &m) { m.offset = e.constant(16); }, ErrorCode::OutOfBounds,
       "at byte 16 leaves its buffer of 12800 bytes");
  with([&](TensorMap &m) { m.offset = e.constant(INT64_MAX); },
       ErrorCode::OutOfBounds, "leaves its buffer");
  with(
      [&](TensorMap &m) {
        m.offset = e.constant(8);
        m.sizes[0] = e.constant(49);
      },
      ErrorCode::TensorMapSizes, "globalAddress");
  with([&](TensorMap &m) { m.offset = e.constant(-16); },
       ErrorCode::TensorMapSizes, "the offset of a tensor map is -16");
  with([&](TensorMap &m) { m.sizes[1] = e.sub(e.constant(0), e.symbol(1)); },
       ErrorCode::TensorMapSizes, "a size of a tensor map is -64");
  with(
      [&](TensorMap &m) {
        m.sizes[1] = e.mul(e.symbol(1), e.constant(INT64_MAX));
      },
      ErrorCode::SizeOverflow, "a size of a tensor map");
  with(
      [&](TensorMap &m) {
        m.sizes = {e.constant(1), e.constant(int64_t(1) << 40),
                   e.constant(int64_t(1) << 40)};
        m.box = {1, 16, 32};
      },
      ErrorCode::SizeOverflow, "a stride of a tensor map");
  with([&](TensorMap &m) { m.strides = {e.constant(INT64_MAX)}; },
       ErrorCode::OutOfBounds, "leaves its buffer");
}

TEST_F(TensorMapLaunch, AStoreCannotReachBesideAnOutput) {
  // Of rank 1, so that no stride tells.
  ExprId count =
      main().exprs.mul(main().exprs.symbol(0), main().exprs.symbol(1));
  for (TensorMap &map : main().tensorMaps) {
    map.sizes = {count};
    map.box = {32};
  }
  load(3, 4);
  EXPECT_FALSE(launch(0x100000, 0x900000));
  load(3, 7);
  expectError(ErrorCode::TensorMapSizes,
              "tensor map 1 of 'y': a tensor of 21 f32 is an output whose rows "
              "are no multiple of 16 bytes");
}

TEST_F(TensorMapLaunch, AGridIsAWholeNumberOfClusters) {
  ExprPool &e = main().exprs;
  main().steps[0].variants[0].gridX = e.symbol(0);
  load(3, 64);
  expectError(ErrorCode::ClusterSize,
              "has 3 blocks along x, its clusters have 2");
  dims[0] = 4;
  EXPECT_FALSE(launch(0x100000, 0x900000));
  dims[0] = 0; // no blocks, no clusters
  EXPECT_FALSE(launch(0x100000, 0x900000));
}

TEST_F(TensorMapLaunch, AGridIsAWholeNumberOfBlocksThatWait) {
  ExprPool &e = main().exprs;
  main().steps[0].variants[0].gridX = e.symbol(0);
  model.kernels[0].clusterX = 1;
  model.kernels[0].together = 2;
  load(3, 64);
  expectError(ErrorCode::ClusterSize, "has 3 blocks along x, those that wait "
                                      "for each other are 2");
  dims[0] = 4;
  EXPECT_FALSE(launch(0x100000, 0x900000));
  EXPECT_NE(log.lines.back().find("4x1x1 128 together 2 0:"),
            std::string::npos);
}

/// Threads that replace each other's maps never see half of one.
TEST(TensorMapCacheTest, ThreadsSeeWholeMaps) {
  TensorMapCache cache;
  std::atomic<unsigned> found{0}, torn{0};
  auto work = [&](unsigned seed) {
    uint8_t map[fusionemu::tensorMapBytes];
    for (unsigned i = 0; i < 20000; ++i) {
      Address address = 16 * (1 + (seed + i) % 6);
      if (cache.find(address, map)) {
        ++found;
        for (uint8_t byte : map)
          torn += byte != uint8_t(address);
        continue;
      }
      std::memset(map, int(address), sizeof(map));
      cache.insert(address, map);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(found, 0u);
}
