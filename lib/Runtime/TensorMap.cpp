//===- TensorMap.cpp - Tensor maps for any device -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of a caller's description of a tensor map.
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <algorithm>

namespace fusionrt {

Error readTensorMap(const FusionRtTensorMapDesc &desc,
                    fusionemu::TensorMapInfo &info) {
  using namespace fusionemu;
  // A negative number becomes one that no enumeration has.
  info.kind = TensorMapKind(uint32_t(desc.kind));
  info.type = TensorMapType(uint32_t(desc.dataType));
  info.interleave = TensorMapInterleave(uint32_t(desc.interleave));
  info.swizzle = TensorMapSwizzle(uint32_t(desc.swizzle));
  info.l2Promotion = TensorMapL2Promotion(uint32_t(desc.l2Promotion));
  info.fill = TensorMapFill(uint32_t(desc.oobFill));
  info.rank = static_cast<uint32_t>(desc.rank);
  info.globalAddress = desc.address;
  std::copy_n(desc.dims, 5, info.dims);
  std::copy_n(desc.strides, 4, info.strides);
  std::copy_n(desc.box, 5, info.box);
  for (unsigned i = 0; i < 5; ++i)
    info.elementStrides[i] =
        desc.elementStrides[i] ? desc.elementStrides[i] : 1;
  std::copy_n(desc.lowerCorner, 3, info.lowerCorner);
  std::copy_n(desc.upperCorner, 3, info.upperCorner);
  info.channelsPerPixel = desc.channelsPerPixel;
  info.pixelsPerColumn = desc.pixelsPerColumn;

  Status status = checkTensorMap(info);
  if (status.ok())
    return {};
  // The caller's mistake, not the emulator's: the text without its code.
  std::string text = status.message();
  size_t begin = text.find("tensor map: ");
  return Error(ErrorCode::BadArgument,
               begin == std::string::npos ? text : text.substr(begin),
               "give a map that follows the rules of the CUDA driver");
}

} // namespace fusionrt
