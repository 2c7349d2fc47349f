//===- CaptureTest.cpp - Tests of loading inside of captures --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests what the runtime asks of the driver while a stream is being
// captured, on a driver that forbids what CUDA's does.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Cuda/CudaDevice.h"
#include "../../../lib/Runtime/Objects.h"
#include "../Executable/SamplePackage.h"

#include <gtest/gtest.h>

using namespace fusionrt;
using namespace fusionrt::cuda;
using namespace fusionpkg;

namespace {
/// What has happened to the fake driver, which one stream is captured of.
struct Capture {
  bool isOn = false, isSpoiled = false;
  CUstreamCaptureMode mode = 0; // of the thread: global
  unsigned numAllocations = 0, numModules = 0, numStreams = 0;
  /// Bytes that were copied from the host.
  size_t copied = 0;
};
Capture capture;
} // namespace

static CUcontext getContext() { return reinterpret_cast<CUcontext>(1); }

/// A call that a capture forbids unless the thread says that it is unrelated.
static CUresult callUnsafe() {
  if (!capture.isOn || capture.mode == kCaptureRelaxed)
    return kSuccess;
  capture.isSpoiled = true;
  return kErrorCaptureUnsupported;
}

/// Work on `stream`: the default one would wait for the captured one.
static CUresult callOn(CUstream stream) {
  constexpr CUresult kErrorCaptureImplicit = 906;
  return capture.isOn && !stream ? kErrorCaptureImplicit : kSuccess;
}

static void setContextCalls(Driver &driver) {
  driver.cuGetErrorName = [](CUresult, const char **name) -> CUresult {
    *name = "CUDA_ERROR";
    return kSuccess;
  };
  driver.cuGetErrorString = [](CUresult, const char **text) -> CUresult {
    *text = "not permitted";
    return kSuccess;
  };
  driver.cuCtxGetCurrent = [](CUcontext *context) -> CUresult {
    *context = getContext();
    return kSuccess;
  };
  driver.cuDevicePrimaryCtxRelease = [](CUdevice) -> CUresult {
    return kSuccess;
  };
  driver.cuDeviceGetAttribute = [](int *value, CUdeviceAttribute which,
                                   CUdevice) -> CUresult {
    *value = which == kDeviceComputeMajor          ? 9
             : which == kDeviceSharedPerBlockOptIn ? 227 * 1024
                                                   : 0;
    return kSuccess;
  };
  driver.cuThreadExchangeStreamCaptureMode =
      [](CUstreamCaptureMode *mode) -> CUresult {
    std::swap(*mode, capture.mode);
    return kSuccess;
  };
}

static void setMemoryCalls(Driver &driver) {
  driver.cuMemAlloc = [](CUdeviceptr *pointer, size_t) -> CUresult {
    *pointer = 4096 * ++capture.numAllocations;
    return callUnsafe();
  };
  driver.cuMemFree = [](CUdeviceptr) -> CUresult { return callUnsafe(); };
  driver.cuStreamCreate = [](CUstream *stream, unsigned) -> CUresult {
    *stream = reinterpret_cast<CUstream>(uintptr_t(++capture.numStreams));
    return callUnsafe();
  };
  driver.cuStreamDestroy = [](CUstream) -> CUresult { return callUnsafe(); };
  driver.cuStreamSynchronize = callOn;
  driver.cuMemcpyHtoDAsync = [](CUdeviceptr, const void *, size_t bytes,
                                CUstream stream) -> CUresult {
    capture.copied += bytes;
    CUresult result = callUnsafe();
    return result == kSuccess ? callOn(stream) : result;
  };
}

static void setModuleCalls(Driver &driver) {
  driver.cuModuleLoadDataEx = [](CUmodule *module, const void *, unsigned,
                                 CUjit_option *, void **) -> CUresult {
    *module = reinterpret_cast<CUmodule>(uintptr_t(++capture.numModules));
    return callUnsafe();
  };
  driver.cuModuleUnload = [](CUmodule) -> CUresult { return callUnsafe(); };
  driver.cuModuleGetFunction = [](CUfunction *, CUmodule,
                                  const char *) -> CUresult {
    return callUnsafe();
  };
  driver.cuFuncGetAttribute = [](int *, CUfunctionAttribute,
                                 CUfunction) -> CUresult {
    return kErrorNotFound;
  };
  driver.cuFuncSetAttribute = [](CUfunction, CUfunctionAttribute,
                                 int) -> CUresult { return callUnsafe(); };
}

static const Driver &getFakeDriver() {
  static Driver driver;
  driver.version = 13000;
  setContextCalls(driver);
  setMemoryCalls(driver);
  setModuleCalls(driver);
  return driver;
}

static std::unique_ptr<Device> makeCudaDevice() {
  return std::make_unique<CudaDevice>(getFakeDriver(), /*device=*/0,
                                      getContext());
}

TEST(CaptureTest, PackagesAreLoadedAndUnloaded) {
  capture = Capture();
  capture.isOn = true;
  PackageModel model = makeSamplePackage();
  std::string data = *writePackage(model);
  {
    auto device = makeDevice(makeCudaDevice(), /*synchronous=*/false);
    ASSERT_TRUE(device) << device.getError().str();
    auto package = loadPackage(**device, data.data(), data.size());
    ASSERT_TRUE(package) << package.getError().str();
    ASSERT_FALSE((*device)->workspaces.reserve(4096));
    ASSERT_FALSE((*device)->signals.reserve(kSignalBytes));
  }
  EXPECT_FALSE(capture.isSpoiled);
  EXPECT_EQ(capture.numModules, model.modules.size());
  // For empty tensors, constants, a workspace and signals.
  EXPECT_EQ(capture.numAllocations, 4u);
  EXPECT_EQ(capture.copied, 256 + model.constantData.size() + kSignalBytes);
  EXPECT_EQ(capture.mode, 0) << "the thread's mode is not restored";
}

TEST(CaptureTest, WhatIsForbiddenHasARemedy) {
  capture = Capture();
  std::unique_ptr<Device> device = makeCudaDevice();
  EXPECT_FALSE(device->synchronize(nullptr));
  capture.isOn = true;
  Error error = device->synchronize(nullptr);
  EXPECT_EQ(error.getCode(), ErrorCode::DriverCall);
  EXPECT_EQ(error.getCause(),
            "cuStreamSynchronize failed: CUDA_ERROR (not permitted)");
  EXPECT_NE(error.getRemedy().find("being captured"), std::string::npos)
      << error.str();
}
