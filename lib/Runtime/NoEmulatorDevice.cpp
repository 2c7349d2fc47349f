//===- NoEmulatorDevice.cpp - A build without the emulator ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file takes the place of EmulatorDevice.cpp in a build that leaves the
// emulator out.
//
//===----------------------------------------------------------------------===//

#include "Device.h"

namespace fusionrt {

Result<std::unique_ptr<Device>>
createEmulatorDevice(const FusionRtDeviceOptions &) {
  return Error(ErrorCode::NoDevice, "this build has no emulator",
               "use a CUDA device, or build with the emulator");
}

} // namespace fusionrt
