//===- TensorMapRules.cpp - What a tensor map must keep -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rules of tensor maps that hold whatever the sizes
// are: those of the CUDA driver's encoding functions.
//
//===----------------------------------------------------------------------===//

#include "TensorMapRules.h"

#include <algorithm>

namespace fusionpkg {

template <typename T>
static bool allWithin(const std::vector<T> &values, T least, T most) {
  return std::all_of(values.begin(), values.end(),
                     [&](T value) { return value >= least && value <= most; });
}

/// Copies move rows in pieces of 16 bytes, and a swizzle permutes the pieces
/// within its span.
static const char *checkRow(const TensorMap &map, uint32_t elements) {
  uint32_t bytes = elements * (getStorageBits(map.dtype) / 8);
  if (bytes % 16 != 0)
    return "the rows of its box are no multiple of 16 bytes";
  if (map.swizzle == TensorMapSwizzle::None)
    return nullptr;
  uint32_t span = 16u << static_cast<unsigned>(map.swizzle);
  return bytes > span ? "the rows of its box are longer than its swizzle"
                      : nullptr;
}

static const char *checkTiled(const TensorMap &map) {
  if (map.box.size() != map.sizes.size() ||
      !allWithin<uint32_t>(map.box, 1, 256))
    return "its box is not 1 to 256 elements along each dimension";
  if (!map.lowerCorner.empty() || !map.upperCorner.empty() ||
      map.channelsPerPixel != 0 || map.pixelsPerColumn != 0)
    return "it is tiled but has what only im2col has";
  return checkRow(map, map.box.back());
}

static const char *checkIm2col(const TensorMap &map) {
  if (map.sizes.size() < 3)
    return "it is im2col but has fewer than 3 dimensions";
  if (!map.box.empty())
    return "it is im2col but has a box";
  size_t spatial = map.sizes.size() - 2;
  // The encoding has so many bits for a corner, by the number of them.
  static constexpr int32_t limits[] = {32768, 128, 16};
  int32_t limit = limits[spatial - 1];
  for (const std::vector<int32_t> *corner :
       {&map.lowerCorner, &map.upperCorner})
    if (corner->size() != spatial ||
        !allWithin<int32_t>(*corner, -limit, limit - 1))
      return "a corner of its bounding box is out of range";
  if (map.channelsPerPixel < 1 || map.channelsPerPixel > 256)
    return "its channels are not 1 to 256 a pixel";
  if (map.pixelsPerColumn < 1 || map.pixelsPerColumn > 1024)
    return "its pixels are not 1 to 1024 a column";
  return checkRow(map, map.channelsPerPixel);
}

const char *findBrokenTensorMapRule(const TensorMap &map) {
  if (map.kind != TensorMapKind::Tiled && map.kind != TensorMapKind::Im2col)
    return "its kind is unknown";
  if (static_cast<uint8_t>(map.dtype) > kLastDType || map.dtype == DType::I4)
    return "tensor copies do not know its element type";
  if (map.tf32 && map.dtype != DType::F32)
    return "it rounds to tf32 but its elements are not f32";
  if (map.swizzle > TensorMapSwizzle::B128)
    return "its swizzle is unknown";
  size_t rank = map.sizes.size();
  if (rank < 1 || rank > PackageLimits::kMaxTensorMapRank)
    return "it does not have 1 to 5 dimensions";
  if (!map.strides.empty() && map.strides.size() != rank - 1)
    return "it does not have one stride for all dimensions but the last";
  if (!map.elementStrides.empty() &&
      (map.elementStrides.size() != rank ||
       !allWithin<uint32_t>(map.elementStrides, 1, 8)))
    return "its element strides are not 1 to 8 along each dimension";
  // The driver would ignore it.
  if (!map.elementStrides.empty() && map.elementStrides.back() != 1)
    return "its element stride along the last dimension is not 1";
  return map.kind == TensorMapKind::Tiled ? checkTiled(map) : checkIm2col(map);
}

} // namespace fusionpkg
