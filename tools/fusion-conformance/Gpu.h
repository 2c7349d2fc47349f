//===- Gpu.h - Running cases on a GPU ---------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the GPU side of the comparison, by the CUDA driver.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_CONFORMANCE_GPU_H
#define FUSION_TOOLS_FUSION_CONFORMANCE_GPU_H

#include "Compare.h"
#include "Cuda/CudaDriver.h"

#include <memory>

namespace conformance {

/// The first CUDA device, with one module loaded at a time. Every function
/// that returns a string returns what went wrong, or nothing.
class Gpu {
public:
  ~Gpu();
  static std::unique_ptr<Gpu> open(std::string &error);

  /// "NVIDIA H200 (sm_90), driver CUDA 13.0".
  const std::string &describe() const { return description; }
  /// An error after which nothing runs any more in this process.
  bool isLost() const { return lost; }

  std::string load(const std::string &ptx);
  /// Launches `kernel` on copies of `buffers`, which become the results.
  std::string run(const std::string &kernel, const Case &c, Buffers &buffers);

private:
  Gpu() = default;
  std::string check(fusionrt::cuda::CUresult result, const char *what);
  std::string launch(const std::string &kernel, const Case &c,
                     const std::vector<fusionrt::cuda::CUdeviceptr> &pointers);

  const fusionrt::cuda::Driver *driver = nullptr;
  fusionrt::cuda::CUdevice device = 0;
  fusionrt::cuda::CUmodule module = nullptr;
  std::string description;
  bool lost = false;
};

} // namespace conformance

#endif // FUSION_TOOLS_FUSION_CONFORMANCE_GPU_H
