//===- CudaDriver.h - The CUDA driver by dlopen -------------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the few types and constants of the CUDA driver's interface
// that the runtime uses, and the table of its functions. The interface is
// stable, so no header of the toolkit is needed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_CUDA_CUDADRIVER_H
#define FUSION_LIB_RUNTIME_CUDA_CUDADRIVER_H

#include "fusion/Executable/Error.h"

#include <cstddef>
#include <cstdint>

namespace fusionrt {
namespace cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUjit_option = int;
using CUdeviceAttribute = int;
using CUfunctionAttribute = int;
using CUstreamCaptureMode = int;
using CUstreamCaptureStatus = int;

enum : CUresult {
  kSuccess = 0,
  kErrorInvalidValue = 1,
  kErrorOutOfMemory = 2,
  kErrorNotFound = 500,
  kErrorCaptureUnsupported = 900,
  kErrorCaptureWrongThread = 908,
};

enum : CUdeviceAttribute {
  kDeviceClockRate = 13,
  kDeviceMultiprocessors = 16,
  kDeviceMemoryClockRate = 36,
  kDeviceMemoryBusWidth = 37,
  kDeviceL2Bytes = 38,
  kDeviceComputeMajor = 75,
  kDeviceComputeMinor = 76,
  kDeviceSharedPerBlockOptIn = 97,
  kDeviceClusterLaunch = 120,
};

enum : CUfunctionAttribute {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicShared = 8,
  kFunctionNonPortableCluster = 14,
};

enum : CUjit_option {
  kJitInfoLog = 3,
  kJitInfoLogBytes = 4,
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6,
};

enum : unsigned { kStreamNonBlocking = 1 };
enum : CUstreamCaptureMode { kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
enum : CUstreamCaptureStatus { kCaptureNone = 0 };

/// CUlaunchAttribute, of which only the size of a cluster, and whether all
/// blocks have to run at the same time, are used.
struct CUlaunchAttribute {
  int id = 0;
  char padding[8 - sizeof(int)] = {};
  union {
    char bytes[64] = {};
    struct {
      unsigned x, y, z;
    } clusterDim;
    int cooperative;
  } value;
};
enum : int { kLaunchAttributeCooperative = 2, kLaunchAttributeClusterDim = 4 };

struct CUlaunchConfig {
  unsigned gridDimX = 1, gridDimY = 1, gridDimZ = 1;
  unsigned blockDimX = 1, blockDimY = 1, blockDimZ = 1;
  unsigned sharedMemBytes = 0;
  CUstream hStream = nullptr;
  CUlaunchAttribute *attrs = nullptr;
  unsigned numAttrs = 0;
};

static_assert(sizeof(CUlaunchAttribute) == 72 && sizeof(CUlaunchConfig) == 56,
              "the structs are the driver's");

/// The functions of the driver; an optional one that is missing is null.
struct Driver {
#define FUSION_CUDA_SYMBOL(name, symbol, parameters)                           \
  CUresult(*name) parameters = nullptr;
#include "CudaSymbols.def"

  int version = 0; // as cuDriverGetVersion
};

/// Loads and initialises the driver on the first call; later calls give the
/// same answer.
fusionpkg::Result<const Driver *> getDriver();

/// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
std::string describeResult(const Driver &driver, CUresult result);

/// Whether the context is unusable after this result.
bool isSticky(CUresult result);

/// Whether the call is not allowed while a stream is being captured.
bool isOfCapture(CUresult result);

} // namespace cuda
} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_CUDA_CUDADRIVER_H
