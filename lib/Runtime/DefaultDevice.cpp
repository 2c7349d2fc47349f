//===- DefaultDevice.cpp - The device of compiled host code ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of the device that host code made by a
// compiler uses.
//
//===----------------------------------------------------------------------===//

#include "DefaultDevice.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace fusionrt {

FusionRtDevice *getDefaultDevice() {
  static std::mutex mutex;
  static FusionRtDevice *device = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (device)
    return device;
  const char *name = std::getenv("FUSION_DEVICE");
  if (!name || !*name) {
    int32_t count = 0;
    bool hasCuda = fusionRtGetCudaDeviceCount(&count) == 0 && count > 0;
    name = hasCuda ? "cuda" : "emulator";
  }
  if (fusionRtDeviceCreate(name, nullptr, &device) != 0)
    device = nullptr;
  return device;
}

void printLastError(const char *what) {
  std::fprintf(stderr, "%s: %s\n", what, fusionRtGetLastError());
}

} // namespace fusionrt
