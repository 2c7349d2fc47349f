//===- EmulatorDevice.cpp - The emulator as a device ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the device that runs PTX on the built-in emulator. Every
// call is finished when it returns, so streams have no meaning here.
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "fusion-rt/Emulator/Profile.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace fusionrt {

namespace {

class EmulatorDevice final : public Device {
public:
  explicit EmulatorDevice(const FusionRtDeviceOptions &options);

  Error getInfo(FusionRtDeviceInfo &info) override;
  Error checkTarget(const fusionpkg::PackageModel &) override { return {}; }
  Error allocate(uint64_t bytes, const std::string &name,
                 Address &address) override;
  Error free(Address address) override;
  Error copyIn(Address dst, const void *src, uint64_t bytes, Stream) override;
  Error copyOut(void *dst, Address src, uint64_t bytes, Stream) override;
  Error copy(Address dst, Address src, uint64_t bytes, Stream) override;
  Error fill(Address dst, unsigned width, uint64_t bits, uint64_t bytes,
             Stream) override;
  Error createStream(Stream &stream) override;
  void destroyStream(Stream) override {}
  Error synchronize(Stream) override { return {}; }
  Error getCapture(Stream, uint64_t &id) override;
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
  Error setLaunchCallback(FusionRtLaunchCallback newCallback,
                          void *newUserData) override;
  bool checksAllocations() const override { return true; }

private:
  struct Kernel {
    const fusionemu::Module *module;
    std::string name;
  };
  struct LoadedModule {
    fusionemu::Module module;
    std::vector<std::unique_ptr<Kernel>> kernels;
  };

  /// The emulated memory belongs to one host thread at a time.
  std::mutex mutex;
  fusionemu::Memory memory;
  fusionemu::Options options;
  uint64_t memoryLimit = 0;
  bool countInstructions = false;
  fusionemu::ParseOptions parseOptions;
  FusionRtLaunchCallback callback = nullptr;
  void *userData = nullptr;
};

} // namespace

/// The emulator's error under the same number.
static Error toError(const fusionemu::Status &status) {
  if (status.ok())
    return {};
  constexpr int kFirstCode = 7000;
  auto code =
      static_cast<ErrorCode>(kFirstCode + static_cast<int>(status.getKind()));
  // The number is in front of the text already.
  std::string prefix = "FUS-" + std::to_string(static_cast<int>(code)) + ": ";
  std::string text = status.message();
  if (text.rfind(prefix, 0) == 0)
    text.erase(0, prefix.size());
  // The one that callers on any device have to expect.
  if (status.getKind() == fusionemu::ErrorKind::OutOfMemory)
    code = ErrorCode::OutOfMemory;
  return Error(code, text);
}

EmulatorDevice::EmulatorDevice(const FusionRtDeviceOptions &callers) {
  options.checks.uninitialized = !callers.skipUninitializedCheck;
  options.checks.sharedRaces = !callers.skipRaceChecks;
  options.checks.globalRaces = !callers.skipRaceChecks;
  options.asynchrony = callers.earlyAsynchrony ? fusionemu::Asynchrony::Early
                                               : fusionemu::Asynchrony::Late;
  options.threads = callers.emulatorThreads;
  if (callers.maxSteps)
    options.maxSteps = callers.maxSteps;
  if (callers.maxLaunchSteps != 0)
    options.maxLaunchSteps = callers.maxLaunchSteps;
  // Where the CUDA driver puts it too.
  options.print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  };
  countInstructions = callers.profile;
  parseOptions.payload = callers.payload;
  // The host gives memory when it is touched, and ends the process when it has
  // no more: a limit turns that into an error. The checks keep about as much
  // again beside the data.
  memoryLimit = callers.memoryLimit;
  if (memoryLimit == 0)
    memoryLimit = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) / 2 *
                  static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  memory.setLimit(memoryLimit);
}

Error EmulatorDevice::getInfo(FusionRtDeviceInfo &info) {
  std::lock_guard<std::mutex> lock(mutex);
  std::strcpy(info.name, "PTX emulator");
  info.isEmulator = 1;
  info.memoryBytes = memoryLimit;
  uint64_t used = memory.getBytesInUse();
  info.memoryFreeBytes = memoryLimit > used ? memoryLimit - used : 0;
  info.sharedBytesPerBlock = options.maxSharedBytes;
  return {};
}

Error EmulatorDevice::allocate(uint64_t bytes, const std::string &name,
                               Address &address) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Error error = toError(memory.allocate(bytes, name, address)))
    return error;
  // A read that slips past the check for uninitialised bytes gives NaN, not a
  // plausible zero.
  constexpr uint8_t kPoison = 0xff;
  fusionemu::Status status = memory.fill(address, kPoison, bytes);
  if (status.ok())
    status = memory.markUninitialized(address);
  if (status.ok())
    return {};
  (void)memory.free(address).ok();
  return toError(status);
}

Error EmulatorDevice::free(Address address) {
  std::lock_guard<std::mutex> lock(mutex);
  return toError(memory.free(address));
}

Error EmulatorDevice::copyIn(Address dst, const void *src, uint64_t bytes,
                             Stream) {
  std::lock_guard<std::mutex> lock(mutex);
  return toError(memory.write(dst, src, bytes));
}

Error EmulatorDevice::copyOut(void *dst, Address src, uint64_t bytes, Stream) {
  std::lock_guard<std::mutex> lock(mutex);
  return toError(memory.read(src, dst, bytes));
}

Error EmulatorDevice::copy(Address dst, Address src, uint64_t bytes, Stream) {
  std::lock_guard<std::mutex> lock(mutex);
  return toError(memory.copy(dst, src, bytes));
}

Error EmulatorDevice::fill(Address dst, unsigned width, uint64_t bits,
                           uint64_t bytes, Stream) {
  std::lock_guard<std::mutex> lock(mutex);
  if (width == 1)
    return toError(memory.fill(dst, static_cast<uint8_t>(bits), bytes));
  constexpr uint64_t kChunk = 1 << 16;
  std::vector<uint8_t> pattern(std::min(bytes, kChunk));
  for (size_t i = 0; i < pattern.size(); ++i)
    pattern[i] = static_cast<uint8_t>(bits >> (i % width * 8));
  for (uint64_t done = 0; done < bytes; done += pattern.size())
    if (Error error = toError(
            memory.write(dst + done, pattern.data(),
                         std::min<uint64_t>(pattern.size(), bytes - done))))
      return error;
  return {};
}

Error EmulatorDevice::createStream(Stream &stream) {
  stream = nullptr;
  return {};
}

Error EmulatorDevice::getCapture(Stream, uint64_t &id) {
  id = 0;
  return {};
}

Error EmulatorDevice::loadModule(const fusionpkg::Module &module,
                                 ModuleHandle &handle) {
  auto loaded = std::make_unique<LoadedModule>();
  if (Error error =
          toError(loaded->module.parse(module.ptx, "<ptx>", parseOptions)))
    return error;
  handle = reinterpret_cast<ModuleHandle>(loaded.release());
  return {};
}

void EmulatorDevice::unloadModule(ModuleHandle handle) {
  delete reinterpret_cast<LoadedModule *>(handle);
}

Error EmulatorDevice::loadKernel(ModuleHandle module,
                                 const fusionpkg::Kernel &kernel,
                                 const std::vector<uint32_t> &paramBytes,
                                 KernelHandle &handle, KernelFacts &facts) {
  auto &loaded = *reinterpret_cast<LoadedModule *>(module);
  const fusionemu::KernelInfo *info = loaded.module.findKernel(kernel.name);
  if (!info)
    return Error(ErrorCode::KernelMissing,
                 "the package's PTX has no kernel '" + kernel.name + "'");
  if (info->parameters.size() != paramBytes.size())
    return Error(ErrorCode::KernelMissing,
                 "kernel '" + kernel.name + "' takes " +
                     std::to_string(info->parameters.size()) +
                     " parameters, the package passes " +
                     std::to_string(paramBytes.size()));
  uint32_t offset = 0;
  for (size_t i = 0; i < paramBytes.size(); ++i) {
    const fusionemu::ParameterInfo &parameter = info->parameters[i];
    uint32_t align = fusionpkg::getParamAlign(paramBytes[i]);
    offset = (offset + align - 1) / align * align;
    if (parameter.size != paramBytes[i] || parameter.offset != offset)
      return Error(ErrorCode::KernelMissing,
                   "kernel '" + kernel.name + "' takes " +
                       std::to_string(parameter.size) + " bytes as parameter " +
                       std::to_string(i) + ", the package passes " +
                       std::to_string(paramBytes[i]));
    offset += paramBytes[i];
  }
  facts.localBytes = static_cast<int32_t>(info->localBytes);
  facts.sharedBytes = static_cast<int32_t>(info->staticSharedBytes);
  auto own = std::make_unique<Kernel>();
  own->module = &loaded.module;
  own->name = kernel.name;
  handle = reinterpret_cast<KernelHandle>(own.get());
  loaded.kernels.push_back(std::move(own));
  return {};
}

static_assert(FUSION_RT_NUM_PIPES == fusionemu::numPipes &&
                  FUSION_RT_PIPE_OTHER == int(fusionemu::Pipe::Other),
              "the pipes of the runtime are those of the emulator");

static std::vector<FusionRtInstructionReport>
makeReports(const fusionemu::Profile &profile) {
  std::vector<FusionRtInstructionReport> reports;
  for (const fusionemu::InstructionProfile &p : profile.instructions) {
    FusionRtInstructionReport own = {};
    own.structSize = sizeof(own);
    own.ptxLine = p.line;
    own.pipe = static_cast<int32_t>(p.pipe);
    own.source = p.source.c_str();
    own.text = p.text.c_str();
    own.executions = p.counts.executions;
    own.lanes = p.counts.lanes;
    own.globalRequests = p.counts.globalRequests;
    own.globalSectors = p.counts.globalSectors;
    own.globalBytes = p.counts.globalBytes;
    own.sharedRequests = p.counts.sharedRequests;
    own.bankConflicts = p.counts.bankConflicts;
    own.copyBytes = p.counts.copyBytes;
    reports.push_back(own);
  }
  return reports;
}

Error EmulatorDevice::getParamBytes(ModuleHandle module,
                                    const std::string &name,
                                    std::vector<uint32_t> &paramBytes) {
  auto &loaded = *reinterpret_cast<LoadedModule *>(module);
  const fusionemu::KernelInfo *info = loaded.module.findKernel(name);
  if (!info)
    return Error(ErrorCode::KernelMissing,
                 "the PTX has no kernel '" + name + "'");
  for (const fusionemu::ParameterInfo &parameter : info->parameters)
    paramBytes.push_back(static_cast<uint32_t>(parameter.size));
  return {};
}

Error EmulatorDevice::launch(const LaunchRequest &request) {
  const auto &kernel = *reinterpret_cast<const Kernel *>(request.kernel);
  fusionemu::Counters counters;
  fusionemu::Profile profile;
  FusionRtLaunchCallback report = nullptr;
  void *reportData = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    fusionemu::Dim3 grid{request.grid.x, request.grid.y, request.grid.z};
    fusionemu::Dim3 block{request.blockX, 1, 1};
    options.profile = callback && countInstructions ? &profile : nullptr;
    options.cluster = {0, 0, 0}; // what the kernel requires
    if (request.clusterX > 1)
      options.cluster = {request.clusterX, 1, 1};
    // Those that wait for each other take turns.
    options.residentBlocks = request.together;
    if (Error error = toError(
            fusionemu::launch(memory, *kernel.module, kernel.name, grid, block,
                              request.dynamicSharedBytes, request.args,
                              request.argBytes, options, &counters)))
      return error;
    report = callback;
    reportData = userData;
  }
  if (!report)
    return {};
  FusionRtLaunchReport own = {};
  own.structSize = sizeof(own);
  own.kernel = kernel.name.c_str();
  own.grid[0] = request.grid.x;
  own.grid[1] = request.grid.y;
  own.grid[2] = request.grid.z;
  own.blockX = request.blockX;
  own.instructions = counters.instructions;
  own.globalLoadRequests = counters.globalLoadRequests;
  own.globalStoreRequests = counters.globalStoreRequests;
  own.globalAtomicRequests = counters.globalAtomicRequests;
  own.globalLoadSectors = counters.globalLoadSectors;
  own.globalStoreSectors = counters.globalStoreSectors;
  own.globalLoadBytes = counters.globalLoadBytes;
  own.globalStoreBytes = counters.globalStoreBytes;
  own.distinctLoadBytes = counters.distinctLoadBytes;
  own.distinctStoreBytes = counters.distinctStoreBytes;
  own.sharedLoadRequests = counters.sharedLoadRequests;
  own.sharedStoreRequests = counters.sharedStoreRequests;
  own.sharedAtomicRequests = counters.sharedAtomicRequests;
  own.bankConflicts = counters.bankConflicts;
  own.barriers = counters.barriers;
  own.divergentBranches = counters.divergentBranches;
  own.laneInstructions = counters.laneInstructions;
  own.globalAtomicSectors = counters.globalAtomicSectors;
  own.globalAtomicBytes = counters.globalAtomicBytes;
  own.cpAsyncBytes = counters.cpAsyncBytes;
  own.bulkLoadBytes = counters.bulkLoadBytes;
  own.bulkStoreBytes = counters.bulkStoreBytes;
  own.tensorLoadBytes = counters.tensorLoadBytes;
  own.tensorStoreBytes = counters.tensorStoreBytes;
  std::copy(std::begin(counters.pipes), std::end(counters.pipes), own.pipes);
  std::vector<FusionRtInstructionReport> reports = makeReports(profile);
  std::vector<const FusionRtInstructionReport *> pointers;
  for (const FusionRtInstructionReport &one : reports)
    pointers.push_back(&one);
  own.numInstructionReports = pointers.size();
  own.instructionReports = pointers.data();
  report(&own, reportData);
  return {};
}

Error EmulatorDevice::encodeTensorMap(const fusionemu::TensorMapInfo &info,
                                      uint8_t *map) {
  uint8_t own[fusionemu::tensorMapBytes];
  if (Error error = toError(fusionemu::encodeTensorMap(info, own)))
    return error;
  std::memcpy(map, own, sizeof(own));
  return {};
}

Error EmulatorDevice::setLaunchCallback(FusionRtLaunchCallback newCallback,
                                        void *newUserData) {
  std::lock_guard<std::mutex> lock(mutex);
  callback = newCallback;
  userData = newUserData;
  return {};
}

Result<std::unique_ptr<Device>>
createEmulatorDevice(const FusionRtDeviceOptions &options) {
  return std::unique_ptr<Device>(new EmulatorDevice(options));
}

} // namespace fusionrt
