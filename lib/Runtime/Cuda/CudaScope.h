//===- CudaScope.h - The current context of a thread --------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the guards around calls of the driver.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_CUDA_CUDASCOPE_H
#define FUSION_LIB_RUNTIME_CUDA_CUDASCOPE_H

#include "CudaDevice.h"

namespace fusionrt {
namespace cuda {

/// The usual caller has the primary context current already, which costs one
/// cheap query here; any other gets its own context back at the end.
class CudaDevice::Scope {
public:
  explicit Scope(CudaDevice &device) : driver(device.driver) {
    CUcontext current = nullptr;
    driver.cuCtxGetCurrent(&current);
    if (current != device.context)
      isPushed = driver.cuCtxPushCurrent(device.context) == kSuccess;
  }
  ~Scope() {
    CUcontext popped = nullptr;
    if (isPushed)
      driver.cuCtxPopCurrent(&popped);
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  const Driver &driver;
  bool isPushed = false;
};

/// The same for calls whose effect stays when a graph is gone: memory and
/// modules that are there for all launches. They are in no graph, so captures,
/// also of streams of this thread, need not forbid them.
class CudaDevice::LastingScope : public Scope {
public:
  explicit LastingScope(CudaDevice &device)
      : Scope(device), driver(device.driver) {
    driver.cuThreadExchangeStreamCaptureMode(&mode);
  }
  ~LastingScope() { driver.cuThreadExchangeStreamCaptureMode(&mode); }

private:
  const Driver &driver;
  /// The thread's own mode while the scope lives.
  CUstreamCaptureMode mode = kCaptureRelaxed;
};

} // namespace cuda
} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_CUDA_CUDASCOPE_H
