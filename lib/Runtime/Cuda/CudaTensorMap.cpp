//===- CudaTensorMap.cpp - Tensor maps by the CUDA driver -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements tensor maps for GPUs.
//
//===----------------------------------------------------------------------===//

#include "CudaTensorMap.h"

#include "CudaScope.h"

#include <cstring>

namespace fusionrt {
namespace cuda {

CUresult encodeTensorMap(const Driver &driver,
                         const fusionemu::TensorMapInfo &info, uint8_t *map) {
  alignas(fusionemu::tensorMapAlign) uint8_t own[fusionemu::tensorMapBytes];
  auto *address = reinterpret_cast<void *>(info.globalAddress);
  int type = static_cast<int>(info.type);
  int interleave = static_cast<int>(info.interleave);
  int swizzle = static_cast<int>(info.swizzle);
  int promotion = static_cast<int>(info.l2Promotion);
  int fill = static_cast<int>(info.fill);
  CUresult result =
      info.kind == fusionemu::TensorMapKind::Tiled
          ? driver.cuTensorMapEncodeTiled(own, type, info.rank, address,
                                          info.dims, info.strides, info.box,
                                          info.elementStrides, interleave,
                                          swizzle, promotion, fill)
          : driver.cuTensorMapEncodeIm2col(
                own, type, info.rank, address, info.dims, info.strides,
                info.lowerCorner, info.upperCorner, info.channelsPerPixel,
                info.pixelsPerColumn, info.elementStrides, interleave, swizzle,
                promotion, fill);
  if (result == kSuccess)
    std::memcpy(map, own, sizeof(own));
  return result;
}

Error CudaDevice::encodeTensorMap(const fusionemu::TensorMapInfo &info,
                                  uint8_t *map) {
  if (Error error = checkAlive())
    return error;
  constexpr int kFirstMajor = 9;
  if (int major = getAttribute(kDeviceComputeMajor); major < kFirstMajor)
    return Error(ErrorCode::Unsupported,
                 "tensor maps need compute capability 9.0, the device has " +
                     std::to_string(major) + "." +
                     std::to_string(getAttribute(kDeviceComputeMinor)),
                 "use a device of compute capability 9.0 or later");
  Scope scope(*this);
  return check(cuda::encodeTensorMap(driver, info, map),
               info.kind == fusionemu::TensorMapKind::Tiled
                   ? "cuTensorMapEncodeTiled"
                   : "cuTensorMapEncodeIm2col");
}

} // namespace cuda
} // namespace fusionrt
