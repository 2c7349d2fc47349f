//===- Device.h - What the runtime asks of a device ---------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the interface between the launch logic, which knows the
// package, and a device, which knows memory and kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_DEVICE_H
#define FUSION_LIB_RUNTIME_DEVICE_H

#include "fusion-rt/Emulator/TensorMap.h"
#include "fusion-rt/Runtime.h"
#include "fusion/Executable/Error.h"
#include "fusion/Executable/PackageModel.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fusionrt {

using fusionpkg::Error;
using fusionpkg::ErrorCode;
using fusionpkg::Result;

using Address = FusionRtAddress;
using Stream = FusionRtStream;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// Names a module or kernel of one device; 0 is none.
using ModuleHandle = uint64_t;
using KernelHandle = uint64_t;

/// What the device made of a kernel; -1 is unknown.
struct KernelFacts {
  int32_t registers = -1, localBytes = -1, sharedBytes = -1, maxThreads = -1;
};

/// One kernel to start. `args` is the parameter block: every parameter at the
/// next multiple of its width, tensor maps of 64.
struct LaunchRequest {
  KernelHandle kernel = 0;
  Dim3 grid;
  uint32_t blockX = 1;
  uint32_t clusterX = 1;
  /// Neighbouring blocks that wait for each other; 1: none do.
  uint32_t together = 1;
  uint32_t dynamicSharedBytes = 0;
  const void *args = nullptr;
  size_t argBytes = 0;
  Stream stream = nullptr;
};

class Device {
public:
  Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  virtual ~Device();

  /// Fills in what the device knows; the caller has cleared the struct.
  virtual Error getInfo(FusionRtDeviceInfo &info) = 0;
  /// Refuses a package whose kernels the chip cannot run.
  virtual Error checkTarget(const fusionpkg::PackageModel &model) = 0;

  /// Memory aligned to 256 bytes; `bytes` is not 0.
  virtual Error allocate(uint64_t bytes, const std::string &name,
                         Address &address) = 0;
  virtual Error free(Address address) = 0;

  /// Copies with the host: done when the call returns.
  virtual Error copyIn(Address dst, const void *src, uint64_t bytes,
                       Stream stream) = 0;
  /// The same to memory that nothing has used yet, in no order with what is on
  /// any stream: also while one is being captured.
  Error upload(Address dst, const void *src, uint64_t bytes);
  virtual Error copyOut(void *dst, Address src, uint64_t bytes,
                        Stream stream) = 0;
  /// Copies and fills within the device, in the order of the stream. `bytes`
  /// is a multiple of `width`, which is 1, 2, 4 or 8.
  virtual Error copy(Address dst, Address src, uint64_t bytes,
                     Stream stream) = 0;
  virtual Error fill(Address dst, unsigned width, uint64_t bits, uint64_t bytes,
                     Stream stream) = 0;

  virtual Error createStream(Stream &stream) = 0;
  virtual void destroyStream(Stream stream) = 0;
  virtual Error synchronize(Stream stream) = 0;
  /// A number for the capture that the stream is in, 0 for none.
  virtual Error getCapture(Stream stream, uint64_t &id) = 0;

  virtual Error loadModule(const fusionpkg::Module &module,
                           ModuleHandle &handle) = 0;
  virtual void unloadModule(ModuleHandle handle) = 0;
  /// Finds a kernel and checks that it takes parameters of these widths.
  virtual Error loadKernel(ModuleHandle module, const fusionpkg::Kernel &kernel,
                           const std::vector<uint32_t> &paramBytes,
                           KernelHandle &handle, KernelFacts &facts) = 0;
  /// The widths of the parameters that kernel `name` takes.
  virtual Error getParamBytes(ModuleHandle module, const std::string &name,
                              std::vector<uint32_t> &paramBytes) = 0;
  virtual Error launch(const LaunchRequest &request) = 0;

  /// Writes the 128 bytes that kernels of this device take as a tensor map.
  /// `info` has passed checkTensorMap().
  virtual Error encodeTensorMap(const fusionemu::TensorMapInfo &info,
                                uint8_t *map);

  /// Times `enqueue`, which starts the work once on the stream given.
  virtual Error time(const std::function<Error(Stream)> &enqueue,
                     const FusionRtBenchOptions &options,
                     FusionRtBenchResult &result);

  /// Reports what each kernel did, on devices that count.
  virtual Error setLaunchCallback(FusionRtLaunchCallback callback,
                                  void *userData);

  /// Whether accesses are checked against allocations, so that temporaries
  /// deserve allocations of their own instead of places in one workspace.
  virtual bool checksAllocations() const { return false; }

  /// The error that every call gives once the device is lost; none before.
  Error checkAlive() const;

protected:
  /// Makes the device refuse all further work. Only the first cause is kept.
  Error markLost(const std::string &cause);

private:
  std::atomic<bool> isLost{false};
  mutable std::mutex lostMutex;
  std::string lostCause;
};

/// Turns a caller's description into the parameters of a tensor map and checks
/// them, so that every device refuses the same in the same words.
Error readTensorMap(const FusionRtTensorMapDesc &desc,
                    fusionemu::TensorMapInfo &info);

/// Opens device `index` of the CUDA driver.
Result<std::unique_ptr<Device>>
createCudaDevice(int index, const FusionRtDeviceOptions &options);
Result<int> countCudaDevices();

/// Opens an emulated device.
Result<std::unique_ptr<Device>>
createEmulatorDevice(const FusionRtDeviceOptions &options);

} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_DEVICE_H
