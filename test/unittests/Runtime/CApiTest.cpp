//===- CApiTest.cpp - Tests of the C interface ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Executable/SamplePackage.h"
#include "FakeDevice.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

extern "C" uint64_t fusionRtTestStructSize(void); // CHeaderTest.c

using namespace fusionrt;
using namespace fusionpkg;

namespace {

class CApiTest : public ::testing::Test {
protected:
  void SetUp() override {
    bytes = *writePackage(makeSamplePackage());
    device = std::move(
        *makeDevice(std::make_unique<FakeDevice>(log), /*synchronous=*/false));
    ASSERT_EQ(
        fusionRtPackageLoad(device.get(), bytes.data(), bytes.size(), &package),
        0);
    ASSERT_EQ(fusionRtPackageFindEntry(package, nullptr, &entry), 0);
    inputs[0] = {0x100000, nullptr, dims, FUSION_RT_F32, 2};
    inputs[1] = {0x200000, nullptr, wDims, FUSION_RT_BF16, 2};
    inputs[2] = {0, &scale, nullptr, FUSION_RT_F32, 0};
    inputs[3] = {0x300000, nullptr, dims, FUSION_RT_F32, 2};
  }
  void TearDown() override { fusionRtPackageDestroy(package); }

  FakeLog log;
  std::string bytes;
  std::unique_ptr<FusionRtDevice> device;
  FusionRtPackage *package = nullptr;
  FusionRtEntry *entry = nullptr;
  int64_t dims[2] = {5, 128}, wDims[2] = {128, 128};
  float scale = 1;
  FusionRtTensor inputs[4];
};

} // namespace

TEST_F(CApiTest, DescribesPackageEntryAndTensors) {
  auto info = FUSION_RT_INIT(FusionRtPackageInfo);
  ASSERT_EQ(fusionRtPackageGetInfo(package, &info), 0);
  EXPECT_STREQ(info.target, "sm_90a");
  EXPECT_STREQ(info.ledgerJson, "{\"kernels\":2}");
  EXPECT_EQ(info.numKernels, 3u);

  auto kernel = FUSION_RT_INIT(FusionRtKernelInfo);
  ASSERT_EQ(fusionRtPackageGetKernel(package, 2, &kernel), 0);
  EXPECT_STREQ(kernel.name, "bias_relu_v4");
  EXPECT_EQ(kernel.loadedRegisters, 42);
  EXPECT_EQ(kernel.measuredRegisters, -1);

  auto entryInfo = FUSION_RT_INIT(FusionRtEntryInfo);
  ASSERT_EQ(fusionRtEntryGetInfo(entry, &entryInfo), 0);
  EXPECT_STREQ(entryInfo.name, "main");
  EXPECT_EQ(entryInfo.kernelsBefore, 3u);
  EXPECT_EQ(entryInfo.kernelsAfter, 2u);

  auto tensor = FUSION_RT_INIT(FusionRtTensorInfo);
  ASSERT_EQ(fusionRtEntryGetInput(entry, 0, &tensor), 0);
  EXPECT_STREQ(tensor.name, "x");
  EXPECT_EQ(tensor.dims[0], -1);
  EXPECT_STREQ(tensor.dimNames[0], "m");
  EXPECT_EQ(tensor.dims[1], 128);
  ASSERT_EQ(fusionRtEntryGetInput(entry, 2, &tensor), 0);
  EXPECT_EQ(tensor.byValue, 1);
  ASSERT_EQ(fusionRtEntryGetOutput(entry, 1, &tensor), 0);
  EXPECT_STREQ(tensor.name, "copy");

  auto symbol = FUSION_RT_INIT(FusionRtSymbolInfo);
  ASSERT_EQ(fusionRtEntryGetSymbol(entry, 0, &symbol), 0);
  EXPECT_STREQ(symbol.name, "m");
  EXPECT_EQ(symbol.dim, 0);
}

TEST_F(CApiTest, InfersShapesAndFigures) {
  FusionRtShape shapes[2];
  ASSERT_EQ(fusionRtInferShapes(entry, inputs, 4, shapes, 2), 0)
      << fusionRtGetLastError();
  EXPECT_EQ(shapes[0].rank, 2);
  EXPECT_EQ(shapes[0].dims[0], 5);
  EXPECT_EQ(shapes[1].bytes, 5u * 128 * 4);
  auto figures = FUSION_RT_INIT(FusionRtFigures);
  ASSERT_EQ(fusionRtQueryFigures(entry, inputs, 4, &figures), 0);
  EXPECT_EQ(figures.bytesBefore, 6 * 2560);
  EXPECT_EQ(figures.bytesAfter, 2560);
  EXPECT_EQ(figures.flops, 5 * 2 * 128 * 128);
  EXPECT_EQ(figures.numLaunches, 2u);
  uint64_t workspace = 0;
  ASSERT_EQ(fusionRtQueryWorkspace(entry, inputs, 4, &workspace), 0);
  EXPECT_EQ(workspace, 2560u);
  EXPECT_NE(fusionRtInferShapes(entry, inputs, 4, shapes, 1), 0);
}

TEST_F(CApiTest, ErrorsHaveCodeCauseAndRemedy) {
  FusionRtEntry *other = nullptr;
  EXPECT_EQ(fusionRtPackageFindEntry(package, "nope", &other), 6002);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(fusionRtGetLastErrorCode(), 6002);
  EXPECT_STREQ(fusionRtGetLastErrorCause(), "the package has no entry 'nope'");
  EXPECT_STREQ(fusionRtGetLastErrorRemedy(), "choose one of 'main'");
  EXPECT_STREQ(fusionRtGetLastError(),
               "FUS-6002: the package has no entry 'nope'; choose one of "
               "'main'");
}

TEST_F(CApiTest, NullArgumentsAreErrors) {
  EXPECT_EQ(fusionRtPackageLoad(device.get(), nullptr, 5, &package), 6001);
  EXPECT_EQ(fusionRtPackageLoad(nullptr, "x", 1, &package), 6001);
  EXPECT_EQ(fusionRtLaunch(entry, nullptr), 6001);
  EXPECT_EQ(fusionRtLaunch(nullptr, nullptr), 6001);
  EXPECT_EQ(fusionRtMalloc(device.get(), 5, nullptr, nullptr), 6001);
  EXPECT_EQ(fusionRtCopyToDevice(device.get(), 16, nullptr, 4, nullptr), 6001);
  EXPECT_EQ(fusionRtPackageGetInfo(package, nullptr), 6001);
  auto tensor = FUSION_RT_INIT(FusionRtTensorInfo);
  EXPECT_EQ(fusionRtEntryGetInput(entry, 4, &tensor), 6001);
  EXPECT_STREQ(fusionRtGetLastErrorCause(),
               "input 4 does not exist: there are 4");
  fusionRtPackageDestroy(nullptr);
  fusionRtDeviceDestroy(nullptr);
}

TEST_F(CApiTest, OlderCallersWithSmallerStructsWork) {
  FusionRtPackageInfo info = {};
  info.structSize = offsetof(FusionRtPackageInfo, ledgerJson);
  const char *untouched = "untouched";
  info.ledgerJson = untouched;
  ASSERT_EQ(fusionRtPackageGetInfo(package, &info), 0);
  EXPECT_STREQ(info.target, "sm_90a");
  EXPECT_EQ(info.ledgerJson, untouched);
  EXPECT_EQ(info.structSize, offsetof(FusionRtPackageInfo, ledgerJson));
}

/// A caller that was built when its struct had one field more.
template <typename T>
struct Newer {
  T known = {};
  uint64_t added = 0;
  explicit Newer(T value) : known(value) {
    known.structSize = offsetof(Newer, added) + sizeof(added);
  }
};

TEST_F(CApiTest, NewerCallersWorkUntilTheySetWhatIsNotKnown) {
  auto info = Newer(FUSION_RT_INIT(FusionRtPackageInfo));
  info.added = 7;
  ASSERT_EQ(fusionRtPackageGetInfo(package, &info.known), 0);
  EXPECT_EQ(info.added, 7u);

  FusionRtDevice *made = nullptr;
  auto options = Newer(FUSION_RT_INIT(FusionRtDeviceOptions));
  ASSERT_EQ(fusionRtDeviceCreate("emulator", &options.known, &made), 0);
  fusionRtDeviceDestroy(made);
  made = nullptr;
  options.added = 1;
  EXPECT_EQ(fusionRtDeviceCreate("emulator", &options.known, &made), 6020);
  EXPECT_EQ(made, nullptr);
  EXPECT_NE(std::string(fusionRtGetLastErrorCause()).find(fusionRtGetVersion()),
            std::string::npos);

  auto args = Newer(FUSION_RT_INIT(FusionRtLaunchArgs));
  args.added = 1;
  EXPECT_EQ(fusionRtLaunch(entry, &args.known), 6020);
  auto map = Newer(FUSION_RT_INIT(FusionRtTensorMapDesc));
  map.added = 1;
  char encoded[FUSION_RT_TENSOR_MAP_BYTES];
  EXPECT_EQ(fusionRtEncodeTensorMap(device.get(), &map.known, encoded), 6020);
  auto bench = Newer(FUSION_RT_INIT(FusionRtBenchOptions));
  bench.added = 1;
  auto known = FUSION_RT_INIT(FusionRtLaunchArgs);
  auto result = FUSION_RT_INIT(FusionRtBenchResult);
  EXPECT_EQ(fusionRtBench(entry, &known, &bench.known, &result), 6020);
}

TEST_F(CApiTest, StructsHaveASize) {
  FusionRtDevice *made = nullptr;
  for (size_t size : {size_t(0), sizeof(size_t) - 1, size_t(1) << 40}) {
    FusionRtDeviceOptions options = {};
    options.structSize = size;
    EXPECT_EQ(fusionRtDeviceCreate("emulator", &options, &made), 6001) << size;
    EXPECT_STREQ(fusionRtGetLastErrorRemedy(),
                 "make the struct with FUSION_RT_INIT");
  }
}

TEST_F(CApiTest, ChecksTheVersionOfTheCallersHeader) {
  EXPECT_EQ(FUSION_RT_CHECK_VERSION(), 0);
  EXPECT_EQ(fusionRtCheckVersion(FUSION_RT_ABI_VERSION, 0), 0);
  struct {
    uint32_t abi, api;
  } refused[] = {{FUSION_RT_ABI_VERSION, FUSION_RT_API_VERSION + 1},
                 {FUSION_RT_ABI_VERSION + 1, FUSION_RT_API_VERSION},
                 {FUSION_RT_ABI_VERSION - 1, FUSION_RT_API_VERSION}};
  for (auto [abi, api] : refused) {
    EXPECT_EQ(fusionRtCheckVersion(abi, api), 6020);
    EXPECT_NE(std::string(fusionRtGetLastErrorCause())
                  .find("ABI " + std::to_string(abi) + ", interface " +
                        std::to_string(api)),
              std::string::npos);
  }
}

TEST_F(CApiTest, MemoryGoesThroughTheDevice) {
  FusionRtAddress address = 0;
  ASSERT_EQ(fusionRtMalloc(device.get(), 64, "mine", &address), 0);
  char data[64] = {};
  EXPECT_EQ(fusionRtCopyToDevice(device.get(), address, data, 64, nullptr), 0);
  EXPECT_EQ(fusionRtFill(device.get(), address, 255, 64, nullptr), 0);
  EXPECT_EQ(fusionRtFree(device.get(), address), 0);
  EXPECT_EQ(fusionRtFree(device.get(), 0), 0);
  EXPECT_NE(fusionRtFree(device.get(), address), 0);
  ASSERT_EQ(fusionRtMalloc(device.get(), 0, nullptr, &address), 0);
  EXPECT_NE(address, 0u);
  EXPECT_EQ(fusionRtFree(device.get(), address), 0);
}

TEST_F(CApiTest, TimingChecksItsOptionsAndTheDevice) {
  auto args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = inputs;
  args.numInputs = 4;
  auto result = FUSION_RT_INIT(FusionRtBenchResult);
  auto options = FUSION_RT_INIT(FusionRtBenchOptions);
  options.batch = 2;
  EXPECT_EQ(fusionRtBench(entry, &args, &options, &result), 6001);
  options.keepL2 = 1;
  size_t before = log.live.size();
  EXPECT_EQ(fusionRtBench(entry, &args, &options, &result), 6111);
  EXPECT_EQ(log.live.size(), before);
}

TEST_F(CApiTest, FilesThatAreNoPackagesAreNamed) {
  FusionRtPackage *loaded = nullptr;
  EXPECT_EQ(
      fusionRtPackageLoadFile(device.get(), "/nonexistent/a.fpk", &loaded),
      5001);
  char path[] = "/tmp/fusion-capi-XXXXXX";
  int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, "module {}", 9), 9);
  ::close(fd);
  EXPECT_EQ(fusionRtPackageLoadFile(device.get(), path, &loaded), 5002);
  EXPECT_NE(std::string(fusionRtGetLastError()).find(path), std::string::npos);
  EXPECT_EQ(loaded, nullptr);
  ::unlink(path);
}

TEST_F(CApiTest, DeviceAndPackageMayGoInAnyOrder) {
  FakeLog local;
  FusionRtDevice *own =
      makeDevice(std::make_unique<FakeDevice>(local), false)->release();
  FusionRtPackage *loaded = nullptr;
  ASSERT_EQ(fusionRtPackageLoad(own, bytes.data(), bytes.size(), &loaded), 0);
  EXPECT_EQ(local.live.size(), 2u);
  fusionRtDeviceDestroy(own);
  EXPECT_EQ(local.live.size(), 2u);
  fusionRtPackageDestroy(loaded);
  EXPECT_TRUE(local.live.empty());
}

TEST(CApiDeviceTest, CAndCppAgreeOnTheStructs) {
  EXPECT_EQ(fusionRtTestStructSize(), sizeof(FusionRtLaunchArgs));
}

TEST_F(CApiTest, CountersNeedADeviceThatCounts) {
  EXPECT_EQ(fusionRtDeviceSetLaunchCallback(device.get(), nullptr, nullptr),
            6111);
}

TEST(CApiDeviceTest, UnknownNamesAreRefused) {
  FusionRtDevice *device = nullptr;
  for (const char *name : {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1",
                           "cuda:99999", "Emulator"}) {
    EXPECT_EQ(fusionRtDeviceCreate(name, nullptr, &device), 6001) << name;
    EXPECT_STREQ(fusionRtGetLastErrorRemedy(),
                 "choose 'cuda', 'cuda:N' or 'emulator'");
  }
  EXPECT_EQ(device, nullptr);
}

TEST(CApiDeviceTest, WithoutADriverTheErrorSaysSo) {
  int32_t count = -1;
  FusionRtStatus counted = fusionRtGetCudaDeviceCount(&count);
  FusionRtDevice *device = nullptr;
  FusionRtStatus opened = fusionRtDeviceCreate("cuda:9999", nullptr, &device);
  // Where there is a driver, there are not ten thousand devices.
  ASSERT_NE(opened, 0);
  std::string text = fusionRtGetLastError();
  EXPECT_NE(text.find("emulator"), std::string::npos) << text;
  if (counted == 0) {
    EXPECT_EQ(opened, 6102) << text;
    EXPECT_GE(count, 0);
  } else {
    EXPECT_EQ(opened, counted);
    EXPECT_EQ(count, -1);
    if (counted == 6101) {
      EXPECT_NE(text.find("libcuda.so.1"), std::string::npos) << text;
    }
  }
}
