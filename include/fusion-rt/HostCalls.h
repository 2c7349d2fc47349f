//===- HostCalls.h - Packages called by compiled host code ----- -*- C -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the function by which code that `fusion-to-host` made
// calls a package that it carries as a constant. It is for compilers to call;
// people use Runtime.h.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RT_HOSTCALLS_H
#define FUSION_RT_HOSTCALLS_H

#include "fusion-rt/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where the tensors of a call are.
typedef enum FusionRtMemory {
  /// Device memory: their addresses are those of Runtime.h.
  FUSION_RT_MEMORY_DEVICE = 0,
  /// Host memory, without alignment: inputs are copied to the device, outputs
  /// back, and the call waits for them.
  FUSION_RT_MEMORY_HOST = 1
} FusionRtMemory;

/// Runs `entry` of the package of `size` bytes at `package`, which is loaded by
/// the first call that names it and stays loaded as long as the process runs.
/// Tensors are as for fusionRtLaunch(), in the order of the entry's inputs and
/// outputs. An output that is an input's memory has the input's address.
///
/// The device is the one that the environment variable FUSION_DEVICE names;
/// without it, "cuda" where there is a CUDA device, else "emulator". Work on a
/// CUDA device is on the default stream.
///
/// Threads may call at once. An error is printed to stderr, because compiled
/// code cannot tell more than that there was one, and returned.
FUSION_RT_API FusionRtStatus fusionRtCallPackage(
    const void *package, uint64_t size, const char *entry,
    const FusionRtTensor *inputs, uint32_t numInputs,
    const FusionRtTensor *outputs, uint32_t numOutputs, int32_t memory);

#ifdef __cplusplus
}
#endif

#endif // FUSION_RT_HOSTCALLS_H
