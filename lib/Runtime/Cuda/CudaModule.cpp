//===- CudaModule.cpp - Modules and kernels on a GPU ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements loading PTX, finding kernels, checking their parameters
// and reading back the resources they take.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include "CudaScope.h"

namespace fusionrt {
namespace cuda {

using fusionpkg::PackageModel;

/// The number in "sm_90a" and whether a letter follows it; 0 for what is no
/// such name.
static int parseTarget(const std::string &target, char &suffix) {
  suffix = 0;
  if (target.rfind("sm_", 0) != 0 || target.size() > 8)
    return 0;
  int number = 0;
  for (size_t i = 3; i < target.size(); ++i) {
    char c = target[i];
    if (c >= '0' && c <= '9')
      number = number * 10 + (c - '0');
    else if (i + 1 == target.size() && (c == 'a' || c == 'f'))
      suffix = c;
    else
      return 0;
  }
  return number;
}

Error CudaDevice::checkTarget(const PackageModel &model) {
  char suffix = 0;
  int wanted = parseTarget(model.target, suffix);
  int have = getAttribute(kDeviceComputeMajor) * 10 +
             getAttribute(kDeviceComputeMinor);
  // Plain targets run on any later chip; "a" only on that very chip, "f" on
  // its family (the same major number).
  bool fits = wanted > 0 && wanted <= have;
  if (suffix == 'a')
    fits = wanted == have;
  if (suffix == 'f')
    fits = wanted <= have && wanted / 10 == have / 10;
  if (fits)
    return {};
  return Error(ErrorCode::WrongTarget, "the package is for " + model.target +
                                           ", the device is sm_" +
                                           std::to_string(have));
}

/// Loads PTX or a cubin; the error has the driver's log.
Error CudaDevice::loadImage(const void *image, CUmodule &module) {
  constexpr size_t kLogBytes = 8192;
  std::string errors(kLogBytes, '\0'), infos(kLogBytes, '\0');
  CUjit_option options[] = {kJitInfoLog, kJitInfoLogBytes, kJitErrorLog,
                            kJitErrorLogBytes};
  void *values[] = {infos.data(), reinterpret_cast<void *>(kLogBytes),
                    errors.data(), reinterpret_cast<void *>(kLogBytes)};
  CUresult result =
      driver.cuModuleLoadDataEx(&module, image, 4, options, values);
  if (result == kSuccess)
    return {};
  Error error = check(result, "cuModuleLoadDataEx");
  if (error.getCode() != ErrorCode::DriverCall || isOfCapture(result))
    return error;
  std::string text = error.getCause();
  for (const std::string *log : {&errors, &infos}) {
    std::string content = log->c_str(); // up to the terminator
    while (!content.empty() &&
           (content.back() == '\n' || content.back() == ' '))
      content.pop_back();
    if (!content.empty())
      text += "\n" + content;
  }
  return Error(ErrorCode::ModuleLoad, text);
}

Error CudaDevice::loadModule(const fusionpkg::Module &module,
                             ModuleHandle &handle) {
  if (Error error = checkAlive())
    return error;
  if (module.minDriverVersion > static_cast<uint32_t>(driver.version))
    return Error(ErrorCode::DriverTooOld,
                 "the package needs a driver for CUDA " +
                     std::to_string(module.minDriverVersion / 1000) + "." +
                     std::to_string(module.minDriverVersion % 1000 / 10) +
                     ", this one is for CUDA " +
                     std::to_string(driver.version / 1000) + "." +
                     std::to_string(driver.version % 1000 / 10));
  LastingScope scope(*this);
  auto loaded = std::make_unique<LoadedModule>();
  // Machine code made for another chip is no error: the PTX serves all.
  Error error(ErrorCode::ModuleLoad, "no machine code");
  if (!module.cubin.empty())
    error = loadImage(module.cubin.data(), loaded->module);
  if (error.getCode() == ErrorCode::ModuleLoad)
    error = loadImage(module.ptx.c_str(), loaded->module);
  if (error)
    return error;
  handle = reinterpret_cast<ModuleHandle>(loaded.release());
  return {};
}

void CudaDevice::unloadModule(ModuleHandle handle) {
  LastingScope scope(*this);
  std::unique_ptr<LoadedModule> loaded(
      reinterpret_cast<LoadedModule *>(handle));
  if (loaded && !checkAlive())
    driver.cuModuleUnload(loaded->module);
}

/// Compares the sizes of the kernel's own parameters with what launches will
/// pass, where the driver can tell them (12.4 and later). Where the driver puts
/// them is its own business: a parameter aligned to 64 bytes need not begin at
/// a multiple of 64 bytes from the first.
Error CudaDevice::checkParams(CUfunction function, const std::string &name,
                              const std::vector<uint32_t> &paramBytes) {
  if (!driver.cuFuncGetParamInfo)
    return {};
  size_t offset = 0, size = 0, index = 0;
  for (; driver.cuFuncGetParamInfo(function, index, &offset, &size) == kSuccess;
       ++index) {
    if (index >= paramBytes.size())
      break;
    uint32_t width = paramBytes[index];
    if (size != width)
      return Error(ErrorCode::KernelMissing,
                   "kernel '" + name + "' takes " + std::to_string(size) +
                       " bytes as parameter " + std::to_string(index) +
                       ", the package passes " + std::to_string(width));
  }
  bool hasMore =
      driver.cuFuncGetParamInfo(function, index, &offset, &size) == kSuccess;
  if (index == paramBytes.size() && !hasMore)
    return {};
  return Error(ErrorCode::KernelMissing,
               "kernel '" + name + "' takes " + (hasMore ? "more" : "fewer") +
                   " parameters than the " + std::to_string(paramBytes.size()) +
                   " that the package passes");
}

Error CudaDevice::getParamBytes(ModuleHandle module, const std::string &name,
                                std::vector<uint32_t> &paramBytes) {
  if (Error error = checkAlive())
    return error;
  if (!driver.cuFuncGetParamInfo)
    return Error(ErrorCode::DriverTooOld,
                 "the driver cannot tell the parameters of kernels, which "
                 "those for CUDA 12.4 and later can");
  LastingScope scope(*this);
  auto &loaded = *reinterpret_cast<LoadedModule *>(module);
  CUfunction function = nullptr;
  CUresult result =
      driver.cuModuleGetFunction(&function, loaded.module, name.c_str());
  if (result == kErrorNotFound)
    return Error(ErrorCode::KernelMissing,
                 "the PTX has no kernel '" + name + "'");
  if (Error error = check(result, "cuModuleGetFunction"))
    return error;
  size_t offset = 0, size = 0;
  for (size_t index = 0;
       driver.cuFuncGetParamInfo(function, index, &offset, &size) == kSuccess;
       ++index)
    paramBytes.push_back(static_cast<uint32_t>(size));
  return {};
}

/// Refuses a cluster that the device cannot launch, and asks for one of more
/// than the eight blocks that every device with clusters has.
Error CudaDevice::allowCluster(const fusionpkg::Kernel &kernel,
                               CUfunction function) {
  if (kernel.clusterX <= 1)
    return {};
  if (getAttribute(kDeviceClusterLaunch) == 0)
    return Error(ErrorCode::WrongTarget,
                 "it runs in clusters of " + std::to_string(kernel.clusterX) +
                     " blocks, this device has no clusters");
  constexpr uint32_t kPortable = 8;
  if (kernel.clusterX <= kPortable)
    return {};
  return check(
      driver.cuFuncSetAttribute(function, kFunctionNonPortableCluster, 1),
      "cuFuncSetAttribute");
}

/// Finds how many blocks of a kernel run at the same time, where they wait for
/// each other, and refuses those of which not enough do: the blocks of lower
/// numbers, which begin first, are never kept out by others then.
Error CudaDevice::allowWaiting(const fusionpkg::Kernel &kernel,
                               Function &function) {
  if (kernel.together <= 1)
    return {};
  int blocks = 0;
  if (Error error =
          check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    &blocks, function.function, static_cast<int>(kernel.blockX),
                    kernel.dynamicSharedBytes),
                "cuOccupancyMaxActiveBlocksPerMultiprocessor"))
    return error;
  function.mostTogether =
      uint64_t(blocks) * uint64_t(getAttribute(kDeviceMultiprocessors));
  if (kernel.together <= function.mostTogether)
    return {};
  return Error(ErrorCode::WrongTarget,
               std::to_string(kernel.together) +
                   " of its blocks wait for each other, this device runs " +
                   std::to_string(function.mostTogether) + " at a time");
}

Error CudaDevice::loadKernel(ModuleHandle module,
                             const fusionpkg::Kernel &kernel,
                             const std::vector<uint32_t> &paramBytes,
                             KernelHandle &handle, KernelFacts &facts) {
  if (Error error = checkAlive())
    return error;
  LastingScope scope(*this);
  auto &loaded = *reinterpret_cast<LoadedModule *>(module);
  auto function = std::make_unique<Function>();
  CUresult result = driver.cuModuleGetFunction(
      &function->function, loaded.module, kernel.name.c_str());
  if (result == kErrorNotFound)
    return Error(ErrorCode::KernelMissing,
                 "the package's PTX has no kernel '" + kernel.name + "'");
  if (Error error = check(result, "cuModuleGetFunction"))
    return error;
  if (Error error = checkParams(function->function, kernel.name, paramBytes))
    return error;
  size_t offset = 0;
  for (uint32_t width : paramBytes) {
    size_t align = fusionpkg::getParamAlign(width);
    offset = (offset + align - 1) / align * align;
    function->paramOffsets.push_back(static_cast<uint32_t>(offset));
    offset += width;
  }

  auto read = [&](CUfunctionAttribute attribute, int32_t &value) {
    if (driver.cuFuncGetAttribute(&value, attribute, function->function) !=
        kSuccess)
      value = -1;
  };
  read(kFunctionRegisters, facts.registers);
  read(kFunctionLocalBytes, facts.localBytes);
  read(kFunctionSharedBytes, facts.sharedBytes);
  read(kFunctionMaxThreads, facts.maxThreads);
  if (facts.maxThreads >= 0 &&
      kernel.blockX > static_cast<uint32_t>(facts.maxThreads))
    return Error(ErrorCode::LaunchFailed,
                 "kernel '" + kernel.name + "' wants " +
                     std::to_string(kernel.blockX) +
                     " threads per block, the device allows " +
                     std::to_string(facts.maxThreads) + " at its " +
                     std::to_string(facts.registers) + " registers");

  uint32_t fixed = facts.sharedBytes > 0
                       ? static_cast<uint32_t>(facts.sharedBytes)
                       : kernel.staticSharedBytes;
  auto limit = static_cast<uint32_t>(getAttribute(kDeviceSharedPerBlockOptIn));
  if (fixed + kernel.dynamicSharedBytes > limit)
    return Error(ErrorCode::WrongTarget,
                 "kernel '" + kernel.name + "' needs " +
                     std::to_string(fixed + kernel.dynamicSharedBytes) +
                     " bytes of shared memory, a block of this device has " +
                     std::to_string(limit));
  constexpr uint32_t kWithoutOptIn = 48 * 1024;
  if (fixed + kernel.dynamicSharedBytes > kWithoutOptIn)
    if (Error error = check(driver.cuFuncSetAttribute(
                                function->function, kFunctionMaxDynamicShared,
                                static_cast<int>(kernel.dynamicSharedBytes)),
                            "cuFuncSetAttribute"))
      return error.inContext("kernel '" + kernel.name + "'");
  if (Error error = allowCluster(kernel, function->function))
    return error.inContext("kernel '" + kernel.name + "'");
  if (Error error = allowWaiting(kernel, *function))
    return error.inContext("kernel '" + kernel.name + "'");
  {
    std::lock_guard<std::mutex> lock(namesMutex);
    function->name = &*names.insert(kernel.name).first;
  }
  handle = reinterpret_cast<KernelHandle>(function.get());
  loaded.functions.push_back(std::move(function));
  return {};
}

} // namespace cuda
} // namespace fusionrt
