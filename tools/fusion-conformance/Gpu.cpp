//===- Gpu.cpp - Running cases on a GPU -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements running a case by the CUDA driver, which compiles the
// PTX itself.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include "Cuda/CudaTensorMap.h"

#include <cstdint>

using namespace conformance;
using namespace fusionrt::cuda;

std::string Gpu::check(CUresult result, const char *what) {
  if (result == kSuccess)
    return {};
  lost |= isSticky(result);
  return std::string(what) + ": " + describeResult(*driver, result);
}

Gpu::~Gpu() {
  if (module && !lost)
    driver->cuModuleUnload(module);
  driver->cuDevicePrimaryCtxRelease(device);
}

std::unique_ptr<Gpu> Gpu::open(std::string &error) {
  fusionpkg::Result<const Driver *> found = getDriver();
  if (!found) {
    error = found.getError().getCause();
    return nullptr;
  }
  const Driver *driver = *found;
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (CUresult r = driver->cuDeviceGet(&device, 0)) {
    error = describeResult(*driver, r);
    return nullptr;
  }
  if (CUresult r = driver->cuDevicePrimaryCtxRetain(&context, device)) {
    error = describeResult(*driver, r);
    return nullptr;
  }
  std::unique_ptr<Gpu> gpu(new Gpu());
  gpu->driver = driver;
  gpu->device = device;
  char name[128] = "";
  int major = 0, minor = 0;
  driver->cuDeviceGetName(name, sizeof(name), device);
  driver->cuDeviceGetAttribute(&major, kDeviceComputeMajor, device);
  driver->cuDeviceGetAttribute(&minor, kDeviceComputeMinor, device);
  gpu->description = std::string(name) + " (sm_" + std::to_string(major) +
                     std::to_string(minor) + "), driver CUDA " +
                     std::to_string(driver->version / 1000) + "." +
                     std::to_string(driver->version % 1000 / 10);
  error = gpu->check(driver->cuCtxPushCurrent(context), "cuCtxPushCurrent");
  return error.empty() ? std::move(gpu) : nullptr;
}

std::string Gpu::load(const std::string &ptx) {
  if (module)
    driver->cuModuleUnload(module);
  module = nullptr;
  constexpr size_t logBytes = 8192;
  std::string log(logBytes, '\0');
  CUjit_option options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(logBytes)};
  std::string error = check(
      driver->cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values),
      "cuModuleLoadDataEx");
  if (!error.empty())
    error += std::string("\n") + log.c_str();
  return error;
}

std::string Gpu::launch(const std::string &kernel, const Case &c,
                        const std::vector<CUdeviceptr> &pointers) {
  CUfunction function = nullptr;
  std::string error =
      check(driver->cuModuleGetFunction(&function, module, kernel.c_str()),
            "cuModuleGetFunction");
  if (!error.empty())
    return error;
  if (c.sharedBytes)
    error = check(driver->cuFuncSetAttribute(
                      function, kFunctionMaxDynamicShared, int(c.sharedBytes)),
                  "cuFuncSetAttribute");
  if (!error.empty())
    return error;
  std::vector<void *> parameters;
  std::vector<std::vector<uint8_t>> maps(c.arguments.size());
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    const void *value = c.arguments[i].isBuffer
                            ? static_cast<const void *>(&pointers[i])
                            : c.arguments[i].value.data();
    if (c.arguments[i].isMap()) {
      maps[i].resize(fusionemu::tensorMapBytes);
      error =
          check(encodeTensorMap(*driver, locateMap(c, c.arguments[i], pointers),
                                maps[i].data()),
                "cuTensorMapEncode");
      if (!error.empty())
        return error;
      value = maps[i].data();
    }
    parameters.push_back(const_cast<void *>(value));
  }
  error = check(driver->cuLaunchKernel(function, c.grid.x, c.grid.y, c.grid.z,
                                       c.block.x, c.block.y, c.block.z,
                                       c.sharedBytes, nullptr,
                                       parameters.data(), nullptr),
                "cuLaunchKernel");
  if (!error.empty())
    return error;
  return check(driver->cuStreamSynchronize(nullptr), "cuStreamSynchronize");
}

std::string Gpu::run(const std::string &kernel, const Case &c,
                     Buffers &buffers) {
  if (lost)
    return "not run: an earlier kernel broke the context";
  std::vector<CUdeviceptr> pointers(buffers.size(), 0);
  std::string error;
  for (size_t i = 0; i < buffers.size() && error.empty(); ++i) {
    if (buffers[i].empty())
      continue;
    error = check(driver->cuMemAlloc(&pointers[i], buffers[i].size()),
                  "cuMemAlloc");
    if (error.empty())
      error = check(driver->cuMemcpyHtoDAsync(pointers[i], buffers[i].data(),
                                              buffers[i].size(), nullptr),
                    "cuMemcpyHtoD");
  }
  if (error.empty())
    error = launch(kernel, c, pointers);
  for (size_t i = 0; i < buffers.size() && error.empty(); ++i)
    if (!buffers[i].empty())
      error = check(driver->cuMemcpyDtoHAsync(buffers[i].data(), pointers[i],
                                              buffers[i].size(), nullptr),
                    "cuMemcpyDtoH");
  if (error.empty())
    error = check(driver->cuStreamSynchronize(nullptr), "cuStreamSynchronize");
  if (!lost)
    for (CUdeviceptr pointer : pointers)
      if (pointer)
        driver->cuMemFree(pointer);
  return error;
}
