//===- CudaTensorMap.h - Tensor maps by the CUDA driver ------ -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the driver encodes a tensor map.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_CUDA_CUDATENSORMAP_H
#define FUSION_LIB_RUNTIME_CUDA_CUDATENSORMAP_H

#include "CudaDriver.h"

#include "fusion-rt/Emulator/TensorMap.h"

namespace fusionrt {
namespace cuda {

/// The driver's map of `info`, which has passed checkTensorMap(). `map` needs
/// no alignment; it is left alone on failure.
CUresult encodeTensorMap(const Driver &driver,
                         const fusionemu::TensorMapInfo &info, uint8_t *map);

} // namespace cuda
} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_CUDA_CUDATENSORMAP_H
