//===- FakeDevice.h - A device that writes down its calls ---- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a device for tests of the launch logic: memory is a number
// range, every call becomes a line, and any call can be made to fail.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_RUNTIME_FAKEDEVICE_H
#define FUSION_TEST_UNITTESTS_RUNTIME_FAKEDEVICE_H

#include "../../../lib/Runtime/Objects.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace fusionrt {

/// What happened on a FakeDevice; outlives it.
struct FakeLog {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::map<Address, uint64_t> live;
  std::vector<fusionemu::TensorMapInfo> maps; // all that were encoded
  unsigned calls = 0;
  /// The call that fails, counted from 0; later ones work again.
  unsigned failAt = UINT32_MAX;
  ErrorCode failWith = ErrorCode::OutOfMemory;
  uint64_t capture = 0;
  bool isChecked = false;
  bool loseOnFailure = false;
};

class FakeDevice final : public Device {
public:
  explicit FakeDevice(FakeLog &log) : log(log) {}

  Error getInfo(FusionRtDeviceInfo &info) override {
    std::strcpy(info.name, "fake");
    info.multiprocessors = 7;
    return {};
  }
  Error checkTarget(const fusionpkg::PackageModel &) override { return {}; }
  Error allocate(uint64_t bytes, const std::string &name,
                 Address &address) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    if (Error error = step("allocate"))
      return error;
    address = nextAddress;
    nextAddress += (bytes + 511) / 256 * 256;
    log.live[address] = bytes;
    log.lines.push_back("allocate " + std::to_string(bytes) + " " + name);
    return {};
  }
  Error free(Address address) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    if (log.live.erase(address) == 0)
      return Error(ErrorCode::DriverCall, "free of what is not allocated");
    return {};
  }
  Error copyIn(Address dst, const void *src, uint64_t bytes, Stream) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    (void)src;
    log.lines.push_back("copyIn " + std::to_string(bytes));
    return checkRange(dst, bytes, step("copyIn"));
  }
  Error copyOut(void *, Address, uint64_t, Stream) override {
    return step("copyOut");
  }
  Error copy(Address dst, Address src, uint64_t bytes, Stream) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    log.lines.push_back("copy " + std::to_string(dst) + " <- " +
                        std::to_string(src) + " " + std::to_string(bytes));
    return step("copy");
  }
  Error fill(Address dst, unsigned width, uint64_t bits, uint64_t bytes,
             Stream) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    log.lines.push_back("fill " + std::to_string(width) + " " +
                        std::to_string(bits) + " " + std::to_string(bytes));
    return checkRange(dst, bytes, step("fill"));
  }
  Error createStream(Stream &) override { return step("createStream"); }
  void destroyStream(Stream) override {}
  Error synchronize(Stream) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    log.lines.push_back("synchronize");
    return step("synchronize");
  }
  Error getCapture(Stream, uint64_t &id) override {
    id = log.capture;
    return {};
  }
  Error loadModule(const fusionpkg::Module &, ModuleHandle &handle) override {
    if (Error error = step("loadModule"))
      return error;
    handle = ++numModules;
    return {};
  }
  void unloadModule(ModuleHandle) override { --numModules; }
  Error getParamBytes(ModuleHandle, const std::string &,
                      std::vector<uint32_t> &) override {
    return step("getParamBytes");
  }
  Error loadKernel(ModuleHandle, const fusionpkg::Kernel &kernel,
                   const std::vector<uint32_t> &paramBytes,
                   KernelHandle &handle, KernelFacts &facts) override {
    if (Error error = step("loadKernel"))
      return error;
    names.push_back(kernel.name);
    widths.push_back(paramBytes);
    handle = names.size();
    facts.registers = 42;
    return {};
  }
  /// "launch NAME grid block [cluster] [together] shared: parameter, ..." with
  /// each parameter as an integer of its width, or of its first 8 bytes.
  Error launch(const LaunchRequest &request) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    std::string line =
        "launch " + names[request.kernel - 1] + " " +
        std::to_string(request.grid.x) + "x" + std::to_string(request.grid.y) +
        "x" + std::to_string(request.grid.z) + " " +
        std::to_string(request.blockX) + " " +
        (request.clusterX > 1
             ? "cluster " + std::to_string(request.clusterX) + " "
             : "") +
        (request.together > 1
             ? "together " + std::to_string(request.together) + " "
             : "") +
        std::to_string(request.dynamicSharedBytes) + ":";
    size_t offset = 0;
    for (uint32_t width : widths[request.kernel - 1]) {
      size_t align = fusionpkg::getParamAlign(width);
      offset = (offset + align - 1) / align * align;
      uint64_t value = 0;
      std::memcpy(&value, static_cast<const char *>(request.args) + offset,
                  std::min<size_t>(width, sizeof(value)));
      line += " " + std::to_string(value);
      offset += width;
    }
    if (offset != request.argBytes)
      line += " (block of " + std::to_string(request.argBytes) + " bytes)";
    log.lines.push_back(line);
    return step("launch");
  }
  Error encodeTensorMap(const fusionemu::TensorMapInfo &info,
                        uint8_t *map) override {
    std::lock_guard<std::mutex> lock(log.mutex);
    log.lines.push_back("encodeTensorMap " + std::to_string(info.rank));
    log.maps.push_back(info);
    std::memset(map, 0x5a, fusionemu::tensorMapBytes);
    std::memcpy(map, &info.globalAddress, sizeof(info.globalAddress));
    return step("encodeTensorMap");
  }
  bool checksAllocations() const override { return log.isChecked; }

private:
  Error step(const std::string &what) {
    if (Error error = checkAlive())
      return error;
    if (log.calls++ != log.failAt)
      return {};
    if (log.loseOnFailure)
      return markLost(what + " broke the device");
    return Error(log.failWith, what + " was made to fail");
  }
  Error checkRange(Address dst, uint64_t bytes, Error error) {
    if (error)
      return error;
    auto it = log.live.upper_bound(dst);
    if (it == log.live.begin() ||
        dst + bytes > std::prev(it)->first + std::prev(it)->second)
      return Error(ErrorCode::OutOfBounds, "outside of every allocation");
    return {};
  }

  FakeLog &log;
  Address nextAddress = 0x1000;
  uint64_t numModules = 0;
  std::vector<std::string> names;
  std::vector<std::vector<uint32_t>> widths;
};

} // namespace fusionrt

#endif // FUSION_TEST_UNITTESTS_RUNTIME_FAKEDEVICE_H
