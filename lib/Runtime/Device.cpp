//===- Device.cpp - What the runtime asks of a device ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what devices have in common.
//
//===----------------------------------------------------------------------===//

#include "Device.h"

namespace fusionrt {

Device::~Device() = default;

Error Device::upload(Address dst, const void *src, uint64_t bytes) {
  // The default stream waits for others, which captures forbid.
  Stream stream = nullptr;
  if (Error error = createStream(stream))
    return error;
  Error error = copyIn(dst, src, bytes, stream);
  destroyStream(stream);
  return error;
}

Error Device::checkAlive() const {
  if (!isLost.load(std::memory_order_acquire))
    return {};
  std::lock_guard<std::mutex> lock(lostMutex);
  return Error(ErrorCode::DeviceLost, lostCause);
}

Error Device::markLost(const std::string &cause) {
  {
    std::lock_guard<std::mutex> lock(lostMutex);
    if (lostCause.empty())
      lostCause = cause;
  }
  isLost.store(true, std::memory_order_release);
  return checkAlive();
}

Error Device::encodeTensorMap(const fusionemu::TensorMapInfo &, uint8_t *) {
  return Error(ErrorCode::Unsupported, "this device has no tensor maps");
}

Error Device::time(const std::function<Error(Stream)> &,
                   const FusionRtBenchOptions &, FusionRtBenchResult &) {
  return Error(ErrorCode::Unsupported, "this device has no clock to time with");
}

Error Device::setLaunchCallback(FusionRtLaunchCallback, void *) {
  return Error(ErrorCode::Unsupported,
               "this device does not count what kernels do",
               "use the device 'emulator'");
}

} // namespace fusionrt
