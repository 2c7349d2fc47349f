//===- TensorMapTest.cpp - Tensor maps through the C interface ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests encode tensor maps on the emulator, on a fake device, through a
// fake driver, and on a GPU where there is one.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Cuda/CudaTensorMap.h"
#include "FakeDevice.h"

#include <functional>
#include <gtest/gtest.h>

using namespace fusionrt;

using Map = std::array<uint8_t, FUSION_RT_TENSOR_MAP_BYTES>;

static FusionRtTensorMapDesc makeTiled() {
  auto desc = FUSION_RT_INIT(FusionRtTensorMapDesc);
  desc.address = 0x7f0000001000;
  desc.dataType = 9; // bf16
  desc.rank = 2;
  desc.dims[0] = 512;
  desc.dims[1] = 64;
  desc.strides[0] = 1024;
  desc.box[0] = 64;
  desc.box[1] = 32;
  desc.elementStrides[1] = 2;
  desc.swizzle = 3;
  desc.l2Promotion = 2;
  desc.oobFill = 1;
  return desc;
}

static FusionRtTensorMapDesc makeIm2col() {
  FusionRtTensorMapDesc desc = makeTiled();
  desc.kind = FUSION_RT_TENSOR_MAP_IM2COL;
  desc.rank = 4;
  desc.dims[2] = 7;
  desc.dims[3] = 2;
  desc.strides[1] = 1024 * 64;
  desc.strides[2] = 1024 * 64 * 7;
  desc.lowerCorner[0] = -1;
  desc.lowerCorner[1] = -2;
  desc.upperCorner[0] = 1;
  desc.upperCorner[1] = -3;
  desc.channelsPerPixel = 32;
  desc.pixelsPerColumn = 128;
  return desc;
}

static FusionRtDevice *openDevice(const char *name) {
  FusionRtDevice *device = nullptr;
  EXPECT_EQ(fusionRtDeviceCreate(name, nullptr, &device), 0)
      << fusionRtGetLastError();
  return device;
}

TEST(TensorMapTest, EmulatorEncodesWhatItDecodes) {
  FusionRtDevice *device = openDevice("emulator");
  Map map;
  FusionRtTensorMapDesc desc = makeTiled();
  ASSERT_EQ(fusionRtEncodeTensorMap(device, &desc, map.data()), 0)
      << fusionRtGetLastError();
  fusionemu::TensorMapInfo info;
  ASSERT_TRUE(fusionemu::decodeTensorMap(map.data(), info).ok());
  EXPECT_EQ(info.kind, fusionemu::TensorMapKind::Tiled);
  EXPECT_EQ(info.type, fusionemu::TensorMapType::BF16);
  EXPECT_EQ(info.globalAddress, desc.address);
  EXPECT_EQ(info.dims[0], 512u);
  EXPECT_EQ(info.dims[1], 64u);
  EXPECT_EQ(info.strides[0], 1024u);
  EXPECT_EQ(info.box[1], 32u);
  EXPECT_EQ(info.elementStrides[0], 1u); // 0 means 1
  EXPECT_EQ(info.elementStrides[1], 2u);
  EXPECT_EQ(info.swizzle, fusionemu::TensorMapSwizzle::B128);
  EXPECT_EQ(info.l2Promotion, fusionemu::TensorMapL2Promotion::B128);
  EXPECT_EQ(info.fill, fusionemu::TensorMapFill::NaN);

  desc = makeIm2col();
  ASSERT_EQ(fusionRtEncodeTensorMap(device, &desc, map.data()), 0)
      << fusionRtGetLastError();
  ASSERT_TRUE(fusionemu::decodeTensorMap(map.data(), info).ok());
  EXPECT_EQ(info.kind, fusionemu::TensorMapKind::Im2col);
  EXPECT_EQ(info.lowerCorner[1], -2);
  EXPECT_EQ(info.upperCorner[0], 1);
  EXPECT_EQ(info.upperCorner[1], -3);
  EXPECT_EQ(info.channelsPerPixel, 32u);
  EXPECT_EQ(info.pixelsPerColumn, 128u);
  fusionRtDeviceDestroy(device);
}

namespace {
struct Refusal {
  std::function<void(FusionRtTensorMapDesc &)> change;
  const char *text;
};
} // namespace

using Desc = FusionRtTensorMapDesc;

static const Refusal refusals[] = {
    {[](Desc &d) { d.kind = -1; }, "tensor map: kind is 4294967295"},
    {[](Desc &d) { d.dataType = 16; }, "tensor map: tensorDataType is 16"},
    {[](Desc &d) { d.rank = 6; },
     "tensor map: tensorRank is 6, it must be 1 to 5"},
    {[](Desc &d) { d.rank = -2; }, "tensor map: tensorRank is 4294967294"},
    {[](Desc &d) { d.address += 4; }, "tensor map: globalAddress is"},
    {[](Desc &d) { d.dims[1] = 0; }, "tensor map: globalDim[1] is 0"},
    {[](Desc &d) { d.strides[0] = 1000; },
     "tensor map: globalStrides[0] is 1000, it must be a multiple of 16"},
    {[](Desc &d) { d.box[0] = 256; },
     "tensor map: boxDim[0] makes rows of 512 bytes, the swizzle allows 128"},
    {[](Desc &d) { d.elementStrides[1] = 9; },
     "tensor map: elementStrides[1] is 9, it must be 1 to 8"},
    {[](Desc &d) { d.structSize = sizeof(size_t); },
     "tensor map: tensorRank is 0"},
};

/// A refusal never reaches the device, so it is the same on all of them.
TEST(TensorMapTest, RefusalsAreThoseOfEveryDevice) {
  FakeLog log;
  auto fake = makeDevice(std::make_unique<FakeDevice>(log), false);
  ASSERT_TRUE(bool(fake));
  std::unique_ptr<FusionRtDevice> owner = std::move(*fake);
  std::vector<FusionRtDevice *> devices = {owner.get(), openDevice("emulator")};
  int32_t count = 0;
  if (fusionRtGetCudaDeviceCount(&count) == 0 && count > 0)
    devices.push_back(openDevice("cuda"));
  log.lines.clear();
  for (const Refusal &r : refusals) {
    FusionRtTensorMapDesc desc = makeTiled();
    r.change(desc);
    for (FusionRtDevice *device : devices) {
      Map map;
      map.fill(0xcd);
      EXPECT_EQ(fusionRtEncodeTensorMap(device, &desc, map.data()), 6001);
      EXPECT_EQ(std::string(fusionRtGetLastErrorCause()).find(r.text), 0u)
          << fusionRtGetLastError();
      EXPECT_EQ(map[0], 0xcd) << "a refused map was written";
    }
  }
  EXPECT_TRUE(log.lines.empty());

  FusionRtTensorMapDesc desc = makeTiled();
  Map map;
  EXPECT_EQ(fusionRtEncodeTensorMap(owner.get(), &desc, map.data()), 0);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0], "encodeTensorMap 2");
  EXPECT_EQ(map[127], 0x5a);
  // The device's own error arrives, and nothing is written.
  log.failAt = log.calls;
  map.fill(0);
  EXPECT_NE(fusionRtEncodeTensorMap(owner.get(), &desc, map.data()), 0);
  EXPECT_EQ(map[0], 0);
  for (size_t i = 1; i < devices.size(); ++i)
    fusionRtDeviceDestroy(devices[i]);
}

TEST(TensorMapTest, NullArguments) {
  FusionRtDevice *device = openDevice("emulator");
  FusionRtTensorMapDesc desc = makeTiled();
  Map map;
  EXPECT_EQ(fusionRtEncodeTensorMap(nullptr, &desc, map.data()), 6001);
  EXPECT_EQ(fusionRtEncodeTensorMap(device, nullptr, map.data()), 6001);
  EXPECT_EQ(fusionRtEncodeTensorMap(device, &desc, nullptr), 6001);
  EXPECT_NE(std::string(fusionRtGetLastError()).find("'map'"),
            std::string::npos);
  fusionRtDeviceDestroy(device);
}

//===----------------------------------------------------------------------===//
// The CUDA driver
//===----------------------------------------------------------------------===//

namespace {
/// What a fake driver function was called with.
struct DriverCall {
  void *map = nullptr, *address = nullptr;
  int type = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  uint32_t rank = 0, channels = 0, pixels = 0;
  const uint64_t *dims = nullptr, *strides = nullptr;
  const uint32_t *box = nullptr, *steps = nullptr;
  const int *lower = nullptr, *upper = nullptr;
};
DriverCall called;
cuda::CUresult answer = cuda::kSuccess;
} // namespace

static cuda::CUresult fakeTiled(void *map, int type, uint32_t rank,
                                void *address, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill) {
  called = DriverCall();
  called.map = map;
  called.type = type;
  called.rank = rank;
  called.address = address;
  called.dims = dims;
  called.strides = strides;
  called.box = box;
  called.steps = steps;
  called.interleave = interleave;
  called.swizzle = swizzle;
  called.promotion = promotion;
  called.fill = fill;
  std::memset(map, 0x77, FUSION_RT_TENSOR_MAP_BYTES);
  return answer;
}

static cuda::CUresult fakeIm2col(void *map, int type, uint32_t rank,
                                 void *address, const uint64_t *dims,
                                 const uint64_t *strides, const int *lower,
                                 const int *upper, uint32_t channels,
                                 uint32_t pixels, const uint32_t *steps,
                                 int interleave, int swizzle, int promotion,
                                 int fill) {
  cuda::CUresult result =
      fakeTiled(map, type, rank, address, dims, strides, nullptr, steps,
                interleave, swizzle, promotion, fill);
  called.lower = lower;
  called.upper = upper;
  called.channels = channels;
  called.pixels = pixels;
  return result;
}

TEST(TensorMapTest, DriverGetsEveryParameter) {
  cuda::Driver driver;
  driver.cuTensorMapEncodeTiled = fakeTiled;
  driver.cuTensorMapEncodeIm2col = fakeIm2col;
  for (FusionRtTensorMapDesc desc : {makeTiled(), makeIm2col()}) {
    desc.interleave = desc.rank > 2 ? 1 : 0;
    fusionemu::TensorMapInfo info;
    ASSERT_FALSE(readTensorMap(desc, info));
    // The driver wants a map aligned to 64, callers need not give one.
    std::array<uint8_t, FUSION_RT_TENSOR_MAP_BYTES + 1> map = {};
    answer = cuda::kSuccess;
    EXPECT_EQ(cuda::encodeTensorMap(driver, info, map.data() + 1), 0);
    EXPECT_EQ(map[0], 0);
    EXPECT_EQ(map[1], 0x77);
    EXPECT_EQ(map.back(), 0x77);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(called.map) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(called.address), desc.address);
    EXPECT_EQ(called.type, desc.dataType);
    EXPECT_EQ(called.rank, uint32_t(desc.rank));
    EXPECT_EQ(called.dims, info.dims);
    EXPECT_EQ(called.strides, info.strides);
    EXPECT_EQ(called.steps, info.elementStrides);
    EXPECT_EQ(called.interleave, desc.interleave);
    EXPECT_EQ(called.swizzle, desc.swizzle);
    EXPECT_EQ(called.promotion, desc.l2Promotion);
    EXPECT_EQ(called.fill, desc.oobFill);
    bool isIm2col = desc.kind == FUSION_RT_TENSOR_MAP_IM2COL;
    EXPECT_EQ(called.box, isIm2col ? nullptr : info.box);
    EXPECT_EQ(called.lower, isIm2col ? info.lowerCorner : nullptr);
    EXPECT_EQ(called.upper, isIm2col ? info.upperCorner : nullptr);
    EXPECT_EQ(called.channels, isIm2col ? 32u : 0u);
    EXPECT_EQ(called.pixels, isIm2col ? 128u : 0u);
    // A refusal of the driver leaves the map alone.
    answer = cuda::kErrorInvalidValue;
    map.fill(0);
    EXPECT_EQ(cuda::encodeTensorMap(driver, info, map.data()),
              cuda::kErrorInvalidValue);
    EXPECT_EQ(map[0], 0);
  }
}

/// All devices that there are accept what the checks accept; only the
/// emulator's maps are of its own kind.
TEST(TensorMapTest, EveryDeviceEncodes) {
  std::vector<const char *> names = {"emulator"};
  int32_t count = 0;
  if (fusionRtGetCudaDeviceCount(&count) == 0 && count > 0)
    names.push_back("cuda");
  for (const char *name : names) {
    FusionRtDevice *device = openDevice(name);
    auto facts = FUSION_RT_INIT(FusionRtDeviceInfo);
    ASSERT_EQ(fusionRtDeviceGetInfo(device, &facts), 0);
    FusionRtAddress address = 0;
    ASSERT_EQ(fusionRtMalloc(device, 1 << 20, "a", &address), 0);
    for (FusionRtTensorMapDesc desc : {makeTiled(), makeIm2col()}) {
      desc.address = address;
      Map map;
      map.fill(0);
      FusionRtStatus status =
          fusionRtEncodeTensorMap(device, &desc, map.data());
      if (!facts.isEmulator && facts.computeMajor < 9) {
        EXPECT_EQ(status, int(ErrorCode::Unsupported));
        continue;
      }
      EXPECT_EQ(status, 0) << fusionRtGetLastError();
      EXPECT_NE(map, Map());
      fusionemu::TensorMapInfo info;
      EXPECT_EQ(fusionemu::decodeTensorMap(map.data(), info).ok(),
                facts.isEmulator != 0);
    }
    EXPECT_EQ(fusionRtFree(device, address), 0);
    fusionRtDeviceDestroy(device);
  }
}
