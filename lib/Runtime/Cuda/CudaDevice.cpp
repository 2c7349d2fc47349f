//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements memory, streams and launches on a GPU.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include "CudaScope.h"

#include <algorithm>

namespace fusionrt {
namespace cuda {

static CUstream toStream(Stream stream) {
  return static_cast<CUstream>(stream);
}

Result<std::unique_ptr<Device>> CudaDevice::create(int index) {
  Result<const Driver *> loaded = getDriver();
  if (!loaded)
    return loaded.getError();
  const Driver &driver = **loaded;
  int count = 0;
  if (CUresult result = driver.cuDeviceGetCount(&count))
    return Error(ErrorCode::NoDevice, "the CUDA devices cannot be counted: " +
                                          describeResult(driver, result));
  if (index >= count)
    return Error(ErrorCode::NoDevice,
                 "there is no device cuda:" + std::to_string(index) +
                     "; devices: " + std::to_string(count));
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUresult result = driver.cuDeviceGet(&device, index);
  if (result == kSuccess)
    result = driver.cuDevicePrimaryCtxRetain(&context, device);
  if (result != kSuccess)
    return Error(result == kErrorOutOfMemory ? ErrorCode::OutOfMemory
                                             : ErrorCode::NoDevice,
                 "device cuda:" + std::to_string(index) +
                     " cannot be opened: " + describeResult(driver, result));
  return std::unique_ptr<Device>(new CudaDevice(driver, device, context));
}

CudaDevice::~CudaDevice() { driver.cuDevicePrimaryCtxRelease(device); }

Error CudaDevice::check(CUresult result, const std::string &call) {
  if (result == kSuccess)
    return {};
  std::string text = call + " failed: " + describeResult(driver, result);
  if (isSticky(result)) {
    const std::string *kernel = lastKernel.load(std::memory_order_relaxed);
    return markLost(text + (kernel ? "; the last kernel launched before was '" +
                                         *kernel +
                                         "' (FUSION_SYNC=1 finds the kernel "
                                         "that failed)"
                                   : ""));
  }
  if (result == kErrorOutOfMemory)
    return Error(ErrorCode::OutOfMemory, text);
  if (isOfCapture(result))
    return Error(ErrorCode::DriverCall, text,
                 "a stream is being captured into a graph: do this before, or "
                 "after the capture has ended");
  return Error(ErrorCode::DriverCall, text);
}

int CudaDevice::getAttribute(CUdeviceAttribute attribute) const {
  int value = 0;
  if (driver.cuDeviceGetAttribute(&value, attribute, device) != kSuccess)
    return 0;
  return value;
}

Error CudaDevice::getInfo(FusionRtDeviceInfo &info) {
  if (Error error = checkAlive())
    return error;
  Scope scope(*this);
  if (Error error =
          check(driver.cuDeviceGetName(info.name, sizeof(info.name), device),
                "cuDeviceGetName"))
    return error;
  info.computeMajor = getAttribute(kDeviceComputeMajor);
  info.computeMinor = getAttribute(kDeviceComputeMinor);
  info.multiprocessors = getAttribute(kDeviceMultiprocessors);
  info.driverVersion = driver.version;
  info.l2Bytes = static_cast<uint64_t>(getAttribute(kDeviceL2Bytes));
  info.memoryClockKHz = getAttribute(kDeviceMemoryClockRate);
  info.memoryBusBits = getAttribute(kDeviceMemoryBusWidth);
  info.clockKHz = getAttribute(kDeviceClockRate);
  info.sharedBytesPerBlock =
      static_cast<uint32_t>(getAttribute(kDeviceSharedPerBlockOptIn));
  size_t freeBytes = 0, totalBytes = 0;
  if (Error error =
          check(driver.cuMemGetInfo(&freeBytes, &totalBytes), "cuMemGetInfo"))
    return error;
  info.memoryBytes = totalBytes;
  info.memoryFreeBytes = freeBytes;
  return {};
}

Error CudaDevice::allocate(uint64_t bytes, const std::string &name,
                           Address &address) {
  if (Error error = checkAlive())
    return error;
  LastingScope scope(*this);
  CUdeviceptr pointer = 0;
  Error error = check(driver.cuMemAlloc(&pointer, bytes), "cuMemAlloc");
  if (error.getCode() == ErrorCode::OutOfMemory) {
    size_t freeBytes = 0, totalBytes = 0;
    (void)driver.cuMemGetInfo(&freeBytes, &totalBytes);
    return Error(ErrorCode::OutOfMemory,
                 "no device memory for " + std::to_string(bytes) + " bytes" +
                     (name.empty() ? "" : " (" + name + ")") + "; " +
                     std::to_string(freeBytes) + " of " +
                     std::to_string(totalBytes) + " bytes are free");
  }
  if (!error)
    address = pointer;
  return error;
}

Error CudaDevice::free(Address address) {
  if (Error error = checkAlive())
    return error;
  LastingScope scope(*this);
  return check(driver.cuMemFree(address), "cuMemFree");
}

Error CudaDevice::copyIn(Address dst, const void *src, uint64_t bytes,
                         Stream stream) {
  if (Error error = checkAlive())
    return error;
  LastingScope scope(*this);
  if (Error error =
          check(driver.cuMemcpyHtoDAsync(dst, src, bytes, toStream(stream)),
                "cuMemcpyHtoDAsync"))
    return error;
  return check(driver.cuStreamSynchronize(toStream(stream)),
               "cuStreamSynchronize");
}

Error CudaDevice::copyOut(void *dst, Address src, uint64_t bytes,
                          Stream stream) {
  if (Error error = checkAlive())
    return error;
  Scope scope(*this);
  if (Error error =
          check(driver.cuMemcpyDtoHAsync(dst, src, bytes, toStream(stream)),
                "cuMemcpyDtoHAsync"))
    return error;
  return check(driver.cuStreamSynchronize(toStream(stream)),
               "cuStreamSynchronize");
}

Error CudaDevice::copy(Address dst, Address src, uint64_t bytes,
                       Stream stream) {
  if (Error error = checkAlive())
    return error;
  Scope scope(*this);
  return check(driver.cuMemcpyDtoDAsync(dst, src, bytes, toStream(stream)),
               "cuMemcpyDtoDAsync");
}

Error CudaDevice::fill(Address dst, unsigned width, uint64_t bits,
                       uint64_t bytes, Stream stream) {
  if (Error error = checkAlive())
    return error;
  Scope scope(*this);
  CUstream s = toStream(stream);
  auto low = static_cast<unsigned>(bits);
  auto high = static_cast<unsigned>(bits >> 32);
  if (width == 1)
    return check(
        driver.cuMemsetD8Async(dst, static_cast<unsigned char>(bits), bytes, s),
        "cuMemsetD8Async");
  if (width == 2)
    return check(driver.cuMemsetD16Async(dst, static_cast<unsigned short>(bits),
                                         bytes / 2, s),
                 "cuMemsetD16Async");
  if (width == 4)
    return check(driver.cuMemsetD32Async(dst, low, bytes / 4, s),
                 "cuMemsetD32Async");
  // The driver has no 64-bit pattern: fill the even words, then the odd ones.
  if (Error error =
          check(driver.cuMemsetD2D32Async(dst, 8, low, 1, bytes / 8, s),
                "cuMemsetD2D32Async"))
    return error;
  return check(driver.cuMemsetD2D32Async(dst + 4, 8, high, 1, bytes / 8, s),
               "cuMemsetD2D32Async");
}

Error CudaDevice::createStream(Stream &stream) {
  if (Error error = checkAlive())
    return error;
  LastingScope scope(*this);
  CUstream created = nullptr;
  if (Error error = check(driver.cuStreamCreate(&created, kStreamNonBlocking),
                          "cuStreamCreate"))
    return error;
  stream = created;
  return {};
}

void CudaDevice::destroyStream(Stream stream) {
  LastingScope scope(*this);
  driver.cuStreamDestroy(toStream(stream));
}

Error CudaDevice::synchronize(Stream stream) {
  if (Error error = checkAlive())
    return error;
  Scope scope(*this);
  return check(driver.cuStreamSynchronize(toStream(stream)),
               "cuStreamSynchronize");
}

Error CudaDevice::getCapture(Stream stream, uint64_t &id) {
  Scope scope(*this);
  CUstreamCaptureStatus status = kCaptureNone;
  id = 0;
  if (Error error =
          check(driver.cuStreamGetCaptureInfo(toStream(stream), &status, &id,
                                              nullptr, nullptr, nullptr),
                "cuStreamGetCaptureInfo"))
    return error;
  if (status == kCaptureNone)
    id = 0;
  return {};
}

Error CudaDevice::launch(const LaunchRequest &request) {
  const auto &function = *reinterpret_cast<const Function *>(request.kernel);
  Scope scope(*this);
  // Kept from launch to launch, so that a launch does not allocate.
  thread_local std::vector<void *> params;
  params.clear();
  auto *block = static_cast<char *>(const_cast<void *>(request.args));
  for (uint32_t offset : function.paramOffsets)
    params.push_back(block + offset);
  // Blocks that wait for each other are neighbours. Where all can run at the
  // same time the driver sees to it; on a smaller chip those of lower numbers
  // begin first, and end without the others.
  CUlaunchAttribute attribute;
  bool isCluster = request.clusterX > 1;
  bool isTogether =
      request.together > 1 &&
      uint64_t(request.grid.x) * request.grid.y * request.grid.z <=
          function.mostTogether;
  if (isCluster) {
    attribute.id = kLaunchAttributeClusterDim;
    attribute.value.clusterDim = {request.clusterX, 1, 1};
  } else {
    attribute.id = kLaunchAttributeCooperative;
    attribute.value.cooperative = 1;
  }
  CUlaunchConfig config;
  config.gridDimX = request.grid.x;
  config.gridDimY = request.grid.y;
  config.gridDimZ = request.grid.z;
  config.blockDimX = request.blockX;
  config.sharedMemBytes = request.dynamicSharedBytes;
  config.hStream = toStream(request.stream);
  config.attrs = &attribute;
  config.numAttrs = isCluster || isTogether ? 1 : 0;
  CUresult result = driver.cuLaunchKernelEx(&config, function.function,
                                            params.data(), nullptr);
  if (result == kSuccess) {
    lastKernel.store(function.name, std::memory_order_relaxed);
    return {};
  }
  Error error = check(result, "cuLaunchKernelEx");
  if (error.getCode() == ErrorCode::DriverCall && !isOfCapture(result))
    return Error(ErrorCode::LaunchFailed, error.getCause());
  return error;
}

} // namespace cuda

Result<std::unique_ptr<Device>>
createCudaDevice(int index, const FusionRtDeviceOptions &) {
  return cuda::CudaDevice::create(index);
}

Result<int> countCudaDevices() {
  Result<const cuda::Driver *> driver = cuda::getDriver();
  if (!driver)
    return driver.getError();
  int count = 0;
  if (cuda::CUresult result = (*driver)->cuDeviceGetCount(&count))
    return Error(ErrorCode::NoDevice,
                 "the CUDA devices cannot be counted: " +
                     cuda::describeResult(**driver, result));
  return count;
}

} // namespace fusionrt
