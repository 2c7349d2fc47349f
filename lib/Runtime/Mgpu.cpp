//===- Mgpu.cpp - The functions that MLIR's gpu dialect calls -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the functions that upstream's gpu-to-llvm calls
// (mgpu...), on the devices of the runtime: with it, host code of gpu ops runs
// on the emulator too. Their signatures are upstream's
// (mlir/lib/ExecutionEngine/CudaRuntimeWrappers.cpp, LLVM 22).
//
// They cannot return errors, and what comes after an error would be wrong: it
// is printed, and the process ends.
//
//===----------------------------------------------------------------------===//

#include "DefaultDevice.h"
#include "Objects.h"
#include "PreparedTensorMap.h"

#include "fusion/Executable/TensorMapWords.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace fusionrt;

#define FUSION_MGPU extern "C" __attribute__((visibility("default")))

[[noreturn]] static void stop(const char *function, const std::string &text) {
  std::fprintf(stderr, "%s: %s\n", function, text.c_str());
  std::abort();
}

static void check(const char *function, const Error &error) {
  if (error)
    stop(function, error.str());
}

static FusionRtDevice &getDevice(const char *function) {
  FusionRtDevice *device = getDefaultDevice();
  if (!device)
    stop(function, fusionRtGetLastError());
  return *device;
}

static Address toAddress(const void *pointer) {
  return static_cast<Address>(reinterpret_cast<uintptr_t>(pointer));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// Tells addresses of the device, which on the emulator may be any, from those
/// of the host.
class Allocations {
public:
  void insert(Address address, uint64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    sizes[address] = bytes;
  }
  void erase(Address address) {
    std::lock_guard<std::mutex> lock(mutex);
    sizes.erase(address);
  }
  bool contains(Address address) {
    std::lock_guard<std::mutex> lock(mutex);
    auto after = sizes.upper_bound(address);
    if (after == sizes.begin())
      return false;
    auto [begin, bytes] = *std::prev(after);
    return address - begin < std::max<uint64_t>(bytes, 1);
  }

private:
  std::mutex mutex;
  std::map<Address, uint64_t> sizes;
};
} // namespace

static Allocations &getAllocations() {
  static auto &allocations = *new Allocations();
  return allocations;
}

FUSION_MGPU void *mgpuMemAlloc(uint64_t bytes, Stream, bool isHostShared) {
  if (isHostShared)
    stop(__func__, "memory that the host and the device share is not "
                   "supported; allocate on the device");
  // A fill of 4 bytes at a time may end behind the last.
  constexpr uint64_t kUnit = 4;
  uint64_t whole = (bytes + kUnit - 1) / kUnit * kUnit;
  Address address = 0;
  check(__func__, getDevice(__func__).allocate(std::max(whole, kUnit),
                                               "gpu.alloc", address));
  getAllocations().insert(address, whole);
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

FUSION_MGPU void mgpuMemFree(void *pointer, Stream stream) {
  Device &device = *getDevice(__func__).device;
  // What is on the stream may still use it.
  check(__func__, device.synchronize(stream));
  getAllocations().erase(toAddress(pointer));
  check(__func__, device.free(toAddress(pointer)));
}

FUSION_MGPU void mgpuMemcpy(void *dst, void *src, size_t bytes, Stream stream) {
  if (bytes == 0)
    return;
  Device &device = *getDevice(__func__).device;
  bool toDevice = getAllocations().contains(toAddress(dst));
  bool fromDevice = getAllocations().contains(toAddress(src));
  if (toDevice && fromDevice)
    check(__func__, device.copy(toAddress(dst), toAddress(src), bytes, stream));
  else if (toDevice)
    check(__func__, device.copyIn(toAddress(dst), src, bytes, stream));
  else if (fromDevice)
    check(__func__, device.copyOut(dst, toAddress(src), bytes, stream));
  else
    std::memcpy(dst, src, bytes);
}

static void fill(const char *function, void *dst, unsigned width,
                 uint64_t value, size_t count, Stream stream) {
  if (count != 0)
    check(function, getDevice(function).device->fill(
                        toAddress(dst), width, value, count * width, stream));
}

FUSION_MGPU void mgpuMemset32(void *dst, unsigned value, size_t count,
                              Stream stream) {
  fill(__func__, dst, 4, value, count, stream);
}

FUSION_MGPU void mgpuMemset16(void *dst, unsigned short value, size_t count,
                              Stream stream) {
  fill(__func__, dst, 2, value, count, stream);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

FUSION_MGPU Stream mgpuStreamCreate() {
  Stream stream = nullptr;
  check(__func__, getDevice(__func__).device->createStream(stream));
  return stream;
}

FUSION_MGPU void mgpuStreamDestroy(Stream stream) {
  getDevice(__func__).device->destroyStream(stream);
}

FUSION_MGPU void mgpuStreamSynchronize(Stream stream) {
  check(__func__, getDevice(__func__).device->synchronize(stream));
}

namespace {
/// What is on a stream so far. To wait for it is to wait for the stream.
struct Event {
  Stream stream = nullptr;
};
} // namespace

FUSION_MGPU Event *mgpuEventCreate() { return new Event(); }
FUSION_MGPU void mgpuEventDestroy(Event *event) { delete event; }
FUSION_MGPU void mgpuEventRecord(Event *event, Stream stream) {
  event->stream = stream;
}
FUSION_MGPU void mgpuEventSynchronize(Event *event) {
  mgpuStreamSynchronize(event->stream);
}
FUSION_MGPU void mgpuStreamWaitEvent(Stream, Event *event) {
  mgpuStreamSynchronize(event->stream);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// A kernel, and what the device made of it for each launch that differs in
/// what it asks for.
struct Kernel {
  ModuleHandle module = 0;
  std::string name;
  std::vector<uint32_t> paramBytes;
  std::mutex mutex;
  std::map<std::array<uint32_t, 3>, KernelHandle> loaded;

  Error load(uint32_t sharedBytes, uint32_t blockX, uint32_t clusterX,
             Device &device, KernelHandle &handle);
};

/// A module and the kernels that were asked of it, by name.
struct Module {
  ModuleHandle handle = 0;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
};
} // namespace

Error Kernel::load(uint32_t sharedBytes, uint32_t blockX, uint32_t clusterX,
                   Device &device, KernelHandle &handle) {
  std::lock_guard<std::mutex> lock(mutex);
  KernelHandle &known = loaded[{sharedBytes, blockX, clusterX}];
  if (known == 0) {
    fusionpkg::Kernel description;
    description.name = name;
    description.blockX = blockX;
    description.dynamicSharedBytes = sharedBytes;
    description.clusterX = clusterX;
    KernelFacts facts;
    if (Error error =
            device.loadKernel(module, description, paramBytes, known, facts))
      return error;
  }
  handle = known;
  return {};
}

static Module *load(const char *function, const fusionpkg::Module &code) {
  auto module = std::make_unique<Module>();
  check(function, getDevice(function).device->loadModule(code, module->handle));
  return module.release();
}

FUSION_MGPU Module *mgpuModuleLoadJIT(const char *ptx, int, size_t size) {
  fusionpkg::Module code;
  code.ptx.assign(ptx, size ? strnlen(ptx, size) : std::strlen(ptx));
  return load(__func__, code);
}

FUSION_MGPU Module *mgpuModuleLoad(const char *data, size_t size) {
  constexpr char kElf[] = "\x7f"
                          "ELF";
  if (size < 4 || std::memcmp(data, kElf, 4) != 0)
    return mgpuModuleLoadJIT(data, 2, size);
  fusionpkg::Module code;
  code.cubin.assign(data, data + size);
  return load(__func__, code);
}

FUSION_MGPU void mgpuModuleUnload(Module *module) {
  getDevice(__func__).device->unloadModule(module->handle);
  delete module;
}

FUSION_MGPU Kernel *mgpuModuleGetFunction(Module *module, const char *name) {
  std::lock_guard<std::mutex> lock(module->mutex);
  std::unique_ptr<Kernel> &kernel = module->kernels[name];
  if (kernel)
    return kernel.get();
  kernel = std::make_unique<Kernel>();
  kernel->module = module->handle;
  kernel->name = name;
  check(__func__, getDevice(__func__).device->getParamBytes(
                      module->handle, name, kernel->paramBytes));
  return kernel.get();
}

static void launch(const char *function, Kernel *kernel, intptr_t clusterX,
                   Dim3 grid, intptr_t blockX, int32_t shared, Stream stream,
                   void **params, size_t count) {
  if (count != kernel->paramBytes.size())
    stop(function, "a kernel takes " +
                       std::to_string(kernel->paramBytes.size()) +
                       " parameters, " + std::to_string(count) + " are passed");
  std::vector<uint8_t> block;
  for (size_t i = 0; i < count; ++i) {
    unsigned bytes = kernel->paramBytes[i];
    unsigned align = fusionpkg::getParamAlign(bytes);
    block.resize((block.size() + align - 1) / align * align);
    auto *value = static_cast<const uint8_t *>(params[i]);
    block.insert(block.end(), value, value + bytes);
  }
  Device &device = *getDevice(function).device;
  LaunchRequest request;
  request.grid = grid;
  request.blockX = static_cast<uint32_t>(blockX);
  request.clusterX = static_cast<uint32_t>(clusterX);
  request.dynamicSharedBytes = static_cast<uint32_t>(shared);
  request.args = block.data();
  request.argBytes = block.size();
  request.stream = stream;
  check(function, kernel->load(request.dynamicSharedBytes, request.blockX,
                               request.clusterX, device, request.kernel));
  check(function, device.launch(request));
}

static Dim3 makeDim3(intptr_t x, intptr_t y, intptr_t z) {
  return {static_cast<uint32_t>(x), static_cast<uint32_t>(y),
          static_cast<uint32_t>(z)};
}

FUSION_MGPU void mgpuLaunchKernel(Kernel *kernel, intptr_t gridX,
                                  intptr_t gridY, intptr_t gridZ,
                                  intptr_t blockX, intptr_t, intptr_t,
                                  int32_t shared, Stream stream, void **params,
                                  void **, size_t count) {
  launch(__func__, kernel, 1, makeDim3(gridX, gridY, gridZ), blockX, shared,
         stream, params, count);
}

FUSION_MGPU void mgpuLaunchClusterKernel(Kernel *kernel, intptr_t clusterX,
                                         intptr_t, intptr_t, intptr_t gridX,
                                         intptr_t gridY, intptr_t gridZ,
                                         intptr_t blockX, intptr_t, intptr_t,
                                         int32_t shared, Stream stream,
                                         void **params, void **, size_t count) {
  launch(__func__, kernel, clusterX, makeDim3(gridX, gridY, gridZ), blockX,
         shared, stream, params, count);
}

//===----------------------------------------------------------------------===//
// Of this project
//===----------------------------------------------------------------------===//

/// Writes the 128 bytes of the tensor map at `address`, in a buffer that has
/// `bytes` bytes from there on, that `words` describe
/// (fusion/Executable/TensorMapWords.h).
FUSION_MGPU void mgpuFusionEncodeTensorMap(uint8_t *map, const void *address,
                                           int64_t bytes, const int64_t *words,
                                           size_t count) {
  fusionpkg::ExprPool exprs;
  std::optional<fusionpkg::TensorMap> description =
      fusionpkg::readTensorMapWords(words, count, exprs);
  if (!description)
    stop(__func__, "the description of a tensor map is not of this release");
  fusionpkg::ExprValues values(exprs.getNodes(), nullptr, 0);
  PreparedTensorMap prepared;
  check(__func__, prepareTensorMap(*description, values, bytes,
                                   /*isOutput=*/false, prepared));
  prepared.info.globalAddress = toAddress(address);
  check(__func__,
        getDevice(__func__).device->encodeTensorMap(prepared.info, map));
}
