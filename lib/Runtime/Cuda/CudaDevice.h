//===- CudaDevice.h - A GPU through the CUDA driver ---------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the device that runs kernels on a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_CUDA_CUDADEVICE_H
#define FUSION_LIB_RUNTIME_CUDA_CUDADEVICE_H

#include "../Device.h"
#include "CudaDriver.h"

#include <set>

namespace fusionrt {
namespace cuda {

class CudaDevice final : public Device {
public:
  static Result<std::unique_ptr<Device>> create(int index);
  /// Takes over one reference to `context`, the primary one of `device`.
  CudaDevice(const Driver &driver, CUdevice device, CUcontext context)
      : driver(driver), device(device), context(context) {}
  ~CudaDevice() override;

  Error getInfo(FusionRtDeviceInfo &info) override;
  Error checkTarget(const fusionpkg::PackageModel &model) override;
  Error allocate(uint64_t bytes, const std::string &name,
                 Address &address) override;
  Error free(Address address) override;
  Error copyIn(Address dst, const void *src, uint64_t bytes,
               Stream stream) override;
  Error copyOut(void *dst, Address src, uint64_t bytes, Stream stream) override;
  Error copy(Address dst, Address src, uint64_t bytes, Stream stream) override;
  Error fill(Address dst, unsigned width, uint64_t bits, uint64_t bytes,
             Stream stream) override;
  Error createStream(Stream &stream) override;
  void destroyStream(Stream stream) override;
  Error synchronize(Stream stream) override;
  Error getCapture(Stream stream, uint64_t &id) override;
  Error loadModule(const fusionpkg::Module &module,
                   ModuleHandle &handle) override;
  void unloadModule(ModuleHandle handle) override;
  Error loadKernel(ModuleHandle module, const fusionpkg::Kernel &kernel,
                   const std::vector<uint32_t> &paramBytes,
                   KernelHandle &handle, KernelFacts &facts) override;
  Error getParamBytes(ModuleHandle module, const std::string &name,
                      std::vector<uint32_t> &paramBytes) override;
  Error launch(const LaunchRequest &request) override;
  Error encodeTensorMap(const fusionemu::TensorMapInfo &info,
                        uint8_t *map) override;
  Error time(const std::function<Error(Stream)> &enqueue,
             const FusionRtBenchOptions &options,
             FusionRtBenchResult &result) override;

private:
  /// A loaded kernel: what a KernelHandle points to.
  struct Function {
    CUfunction function = nullptr;
    const std::string *name = nullptr; // in `names`
    /// Where each parameter begins in the block of a launch.
    std::vector<uint32_t> paramOffsets;
    /// Blocks that run at the same time, where they wait for each other; else
    /// 0.
    uint64_t mostTogether = 0;
  };
  /// A loaded module: what a ModuleHandle points to.
  struct LoadedModule {
    CUmodule module = nullptr;
    std::vector<std::unique_ptr<Function>> functions;
  };
  /// Makes the device's context current for as long as it lives.
  class Scope;
  class LastingScope;
  /// Times what it is given.
  class Bench;

  int getAttribute(CUdeviceAttribute attribute) const;
  /// The error that `result` of the driver function `call` means. A sticky one
  /// makes the device lost.
  Error check(CUresult result, const std::string &call);
  Error loadImage(const void *image, CUmodule &module);
  Error allowCluster(const fusionpkg::Kernel &kernel, CUfunction function);
  Error allowWaiting(const fusionpkg::Kernel &kernel, Function &function);
  Error checkParams(CUfunction function, const std::string &name,
                    const std::vector<uint32_t> &paramBytes);

  const Driver &driver;
  CUdevice device;
  CUcontext context;
  /// The kernel that was launched last, for the message when the context
  /// breaks. Names are kept for good, so that the pointer stays valid.
  std::atomic<const std::string *> lastKernel{nullptr};
  std::mutex namesMutex;
  std::set<std::string> names;
};

} // namespace cuda
} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_CUDA_CUDADEVICE_H
