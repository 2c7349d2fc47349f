//===- CudaDriver.cpp - The CUDA driver by dlopen -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements finding the driver and its functions at run time.
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include <dlfcn.h>
#include <string>

namespace fusionrt {
namespace cuda {

using fusionpkg::Error;
using fusionpkg::ErrorCode;
using fusionpkg::Result;

std::string describeResult(const Driver &driver, CUresult result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(result, &name) != kSuccess || !name)
    return "CUDA error " + std::to_string(result);
  if (driver.cuGetErrorString(result, &text) != kSuccess || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

bool isSticky(CUresult result) {
  switch (result) {
  case 214: // ECC_UNCORRECTABLE
  case 220: // NVLINK_UNCORRECTABLE
  case 226: // CONTAINED
  case 700: // ILLEGAL_ADDRESS
  case 702: // LAUNCH_TIMEOUT
  case 709: // CONTEXT_IS_DESTROYED
  case 710: // ASSERT
  case 714: // HARDWARE_STACK_ERROR
  case 715: // ILLEGAL_INSTRUCTION
  case 716: // MISALIGNED_ADDRESS
  case 717: // INVALID_ADDRESS_SPACE
  case 718: // INVALID_PC
  case 719: // LAUNCH_FAILED
  case 721: // TENSOR_MEMORY_LEAK
    return true;
  default:
    return false;
  }
}

bool isOfCapture(CUresult result) {
  return result >= kErrorCaptureUnsupported &&
         result <= kErrorCaptureWrongThread;
}

static constexpr const char kLibrary[] = "libcuda.so.1";

/// The error of a driver that the loader refuses: there is none if no file of
/// its name is found; a file that cannot be loaded is a broken one.
static Error describeLoadError(const char *reason) {
  std::string text = reason ? reason : "dlopen failed";
  bool absent = text.find(kLibrary) == 0 &&
                text.find("No such file") != std::string::npos;
  if (absent)
    return Error(ErrorCode::NoDriver, "no CUDA driver: " + text);
  return Error(ErrorCode::DriverBroken,
               "the CUDA driver cannot be loaded: " + text);
}

/// The error of a driver that does not start, cuInit's result `result`.
static Error describeStartError(const Driver &driver, CUresult result) {
  std::string cause =
      "the CUDA driver cannot start: " + describeResult(driver, result);
  if (result == 100) // NO_DEVICE
    return Error(ErrorCode::NoDevice, cause);
  return Error(ErrorCode::DriverBroken, cause);
}

static Result<Driver> loadDriver() {
  // Left open for the life of the process: the driver does not support being
  // unloaded.
  void *library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return describeLoadError(::dlerror());
  Driver driver;
  const char *missing = nullptr;
#define FUSION_CUDA_SYMBOL(name, symbol, parameters)                           \
  driver.name =                                                                \
      reinterpret_cast<CUresult(*) parameters>(::dlsym(library, #symbol));     \
  if (!driver.name)                                                            \
    missing = #symbol;
#define FUSION_CUDA_OPTIONAL(name, symbol, parameters)                         \
  driver.name =                                                                \
      reinterpret_cast<CUresult(*) parameters>(::dlsym(library, #symbol));
#include "CudaSymbols.def"
  if (missing)
    return Error(ErrorCode::DriverTooOld,
                 std::string("the CUDA driver has no function ") + missing,
                 "install NVIDIA driver 525 or newer");

  if (CUresult result = driver.cuInit(0))
    return describeStartError(driver, result);
  if (CUresult result = driver.cuDriverGetVersion(&driver.version))
    return Error(ErrorCode::DriverBroken, "the CUDA driver has no version: " +
                                              describeResult(driver, result));
  return driver;
}

Result<const Driver *> getDriver() {
  static const Result<Driver> driver = loadDriver();
  if (!driver)
    return driver.getError();
  return &*driver;
}

} // namespace cuda
} // namespace fusionrt
