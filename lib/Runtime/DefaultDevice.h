//===- DefaultDevice.h - The device of compiled host code -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the one device that host code made by a compiler uses.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_DEFAULTDEVICE_H
#define FUSION_LIB_RUNTIME_DEFAULTDEVICE_H

#include "fusion-rt/Runtime.h"

namespace fusionrt {

/// The device that FUSION_DEVICE names; without it, "cuda" where there is a
/// CUDA device, else "emulator". It is opened by the first call and lives as
/// long as the process. Null, with the error of the thread, where it cannot be
/// opened.
FusionRtDevice *getDefaultDevice();

/// Prints the last error of this thread.
void printLastError(const char *what);

} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_DEFAULTDEVICE_H
