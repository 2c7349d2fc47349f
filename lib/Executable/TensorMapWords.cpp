//===- TensorMapWords.cpp - Tensor maps as numbers ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the form of tensor maps in host code.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/TensorMapWords.h"

using namespace fusionpkg;

/// Words before the lists.
static constexpr size_t kHeadWords = 11;

std::vector<TensorMapWord>
fusionpkg::writeTensorMapWords(const TensorMap &map) {
  std::vector<TensorMapWord> words;
  auto add = [&](auto number) {
    words.push_back({false, static_cast<int64_t>(number)});
  };
  add(map.kind);
  add(map.dtype);
  add(map.swizzle);
  add(map.tf32);
  add(map.sizes.size());
  add(map.strides.size());
  add(map.elementStrides.size());
  add(map.box.size());
  add(map.lowerCorner.size());
  add(map.channelsPerPixel);
  add(map.pixelsPerColumn);
  for (ExprId size : map.sizes)
    words.push_back({true, size});
  for (ExprId stride : map.strides)
    words.push_back({true, stride});
  for (uint32_t stride : map.elementStrides)
    add(stride);
  for (uint32_t extent : map.box)
    add(extent);
  for (int32_t corner : map.lowerCorner)
    add(corner);
  for (int32_t corner : map.upperCorner)
    add(corner);
  return words;
}

std::optional<TensorMap> fusionpkg::readTensorMapWords(const int64_t *words,
                                                       size_t count,
                                                       ExprPool &exprs) {
  if (count < kHeadWords)
    return std::nullopt;
  const int64_t *head = words, *next = words + kHeadWords;
  for (size_t i = 4; i < 9; ++i)
    if (head[i] < 0 ||
        head[i] > static_cast<int64_t>(PackageLimits::kMaxTensorMapRank))
      return std::nullopt;
  auto lengths = [&](size_t i) { return static_cast<size_t>(head[i]); };
  if (count != kHeadWords + lengths(4) + lengths(5) + lengths(6) + lengths(7) +
                   2 * lengths(8))
    return std::nullopt;
  TensorMap map;
  map.kind = static_cast<TensorMapKind>(head[0]);
  map.dtype = static_cast<DType>(head[1]);
  map.swizzle = static_cast<TensorMapSwizzle>(head[2]);
  map.tf32 = head[3] != 0;
  map.channelsPerPixel = static_cast<uint32_t>(head[9]);
  map.pixelsPerColumn = static_cast<uint32_t>(head[10]);
  auto read = [&](auto &list, size_t length) {
    for (size_t i = 0; i < length; ++i)
      list.push_back(
          static_cast<typename std::decay_t<decltype(list)>::value_type>(
              *next++));
  };
  for (size_t i = 0; i < lengths(4); ++i)
    map.sizes.push_back(exprs.constant(*next++));
  for (size_t i = 0; i < lengths(5); ++i)
    map.strides.push_back(exprs.constant(*next++));
  read(map.elementStrides, lengths(6));
  read(map.box, lengths(7));
  read(map.lowerCorner, lengths(8));
  read(map.upperCorner, lengths(8));
  return map;
}
