//===- TensorReference.h - A walk over the elements of a box ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what tests of tensor copies compare with: where each byte
// of a box comes from, found element by element, and tensors at random.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EMULATOR_TENSORREFERENCE_H
#define FUSION_TEST_UNITTESTS_EMULATOR_TENSORREFERENCE_H

#include "fusion-rt/Emulator/TensorMap.h"

#include "gtest/gtest.h"

#include <array>
#include <map>
#include <random>

namespace fusionemu {

/// Stands for an element outside of the tensor.
constexpr uint64_t outside = ~uint64_t(0);
/// For every byte of shared memory that is written, where it comes from.
using ByteMap = std::map<uint64_t, uint64_t>;
using Coordinates = std::array<int32_t, 5>;

/// Where the tables of the PTX ISA put a byte of shared memory: a line of 128
/// bytes holds 8 cells of 16 bytes.
inline uint64_t swizzled(TensorMapSwizzle mode, uint64_t address) {
  uint64_t line = address / 128, cell = address / 16 % 8, byte = address % 16;
  switch (mode) {
  case TensorMapSwizzle::None:
  case TensorMapSwizzle::B128Atom32Flip8:
    break;
  case TensorMapSwizzle::B32:
    cell = cell ^ (line % 2);
    break;
  case TensorMapSwizzle::B64:
    cell = cell / 4 * 4 + (cell % 4 ^ line % 4);
    break;
  case TensorMapSwizzle::B128:
    cell = cell ^ line % 8;
    break;
  case TensorMapSwizzle::B128Atom32:
    cell = (cell / 2 ^ line % 4) * 2 + cell % 2;
    break;
  case TensorMapSwizzle::B128Atom64:
    cell = (cell / 4 ^ line % 2) * 4 + cell % 4;
    break;
  }
  return line * 128 + cell * 16 + byte;
}

/// Adds one element at `index` of the box. Rows lie as far apart as the swizzle
/// is wide, at least; a store fills up the last 16 bytes of a row.
inline void addElement(const TensorMapInfo &info, const int64_t *at,
                       uint64_t index, bool isStore, uint32_t sharedBase,
                       ByteMap &bytes) {
  static const uint64_t spans[] = {16, 32, 64, 128, 128, 128, 128};
  uint64_t size = getElementBits(info.type) / 8;
  uint64_t width =
      info.kind == TensorMapKind::Tiled ? info.box[0] : info.channelsPerPixel;
  uint64_t pitch = std::max(width * size, spans[uint32_t(info.swizzle)]);
  uint64_t offset = index / width * pitch + index % width * size;
  int64_t perCell = int64_t(16 / size), last = int64_t(info.dims[0]);
  if (isStore)
    last = (last + perCell - 1) / perCell * perCell;
  uint64_t address = info.globalAddress + uint64_t(at[0]) * size;
  bool inside = true;
  for (uint32_t i = 0; i < info.rank; ++i) {
    inside &= at[i] >= 0 && at[i] < (i == 0 ? last : int64_t(info.dims[i]));
    if (i > 0)
      address += uint64_t(at[i]) * info.strides[i - 1];
  }
  for (uint64_t b = 0; b < size; ++b) {
    uint64_t shared = swizzled(info.swizzle, sharedBase + offset + b);
    EXPECT_TRUE(bytes.emplace(shared, inside ? address + b : outside).second);
  }
}

inline ByteMap walkTile(const TensorMapInfo &info, const Coordinates &start,
                        uint32_t sharedBase, bool isStore = false) {
  ByteMap bytes;
  uint64_t index = 0;
  int64_t at[5], from[5] = {}, to[5] = {1, 1, 1, 1, 1}, step[5];
  for (uint32_t i = 0; i < 5; ++i) {
    from[i] = i < info.rank ? start[i] : 0;
    to[i] = from[i] + (i < info.rank ? info.box[i] : 1);
    step[i] = i > 0 && i < info.rank ? info.elementStrides[i] : 1;
  }
  for (at[4] = from[4]; at[4] < to[4]; at[4] += step[4])
    for (at[3] = from[3]; at[3] < to[3]; at[3] += step[3])
      for (at[2] = from[2]; at[2] < to[2]; at[2] += step[2])
        for (at[1] = from[1]; at[1] < to[1]; at[1] += step[1])
          for (at[0] = from[0]; at[0] < to[0]; at[0] += step[0])
            addElement(info, at, index++, isStore, sharedBase, bytes);
  return bytes;
}

/// Lists every base of the filter in all images from that of `start` on, finds
/// the one to begin with, and copies its pixel and those after it.
inline ByteMap walkIm2col(const TensorMapInfo &info, const Coordinates &start,
                          const std::array<uint16_t, 3> &offsets,
                          uint32_t sharedBase, bool isStore = false) {
  uint32_t spatial = info.rank - 2;
  int64_t low[3] = {}, high[3] = {}, step[3] = {1, 1, 1};
  for (uint32_t i = 0; i < spatial; ++i) {
    low[i] = info.lowerCorner[i];
    high[i] = int64_t(info.dims[i + 1]) - 1 + info.upperCorner[i];
    step[i] = info.elementStrides[i + 1];
  }
  ByteMap bytes;
  uint64_t index = 0;
  uint32_t pixels = 0;
  bool found = false;
  for (int64_t n = start[info.rank - 1]; pixels < info.pixelsPerColumn; ++n)
    for (int64_t d = low[2]; d <= high[2]; d += step[2])
      for (int64_t h = low[1]; h <= high[1]; h += step[1])
        for (int64_t w = low[0]; w <= high[0]; w += step[0]) {
          const int64_t base[3] = {w, h, d};
          bool isStart = true;
          for (uint32_t i = 0; i < spatial; ++i)
            isStart &= base[i] == start[i + 1];
          found |= isStart;
          if (!found || pixels == info.pixelsPerColumn)
            continue;
          ++pixels;
          int64_t at[5];
          for (uint32_t i = 0; i < spatial; ++i)
            at[i + 1] = base[i] + offsets[i];
          at[info.rank - 1] = n;
          for (uint32_t c = 0; c < info.channelsPerPixel; ++c) {
            at[0] = int64_t(start[0]) + c;
            addElement(info, at, index++, isStore, sharedBase, bytes);
          }
        }
  return bytes;
}

/// A number from `least` to `most`, both included.
inline int64_t pick(std::mt19937_64 &random, int64_t least, int64_t most) {
  return least + int64_t(random() % uint64_t(most - least + 1));
}

/// The last coordinate up to `at` at which a box may start in dimension 0.
inline int32_t alignStart(const TensorMapInfo &info, int32_t at) {
  int32_t perCell = int32_t(16 * 8 / getElementBits(info.type));
  return at - (at % perCell + perCell) % perCell;
}

/// Type, tensor, swizzle and fill, and `inner` elements in a row of the box.
inline TensorMapInfo pickTensor(std::mt19937_64 &random, uint32_t rank,
                                uint32_t &inner) {
  TensorMapInfo info;
  info.type = TensorMapType(random() % 13);
  info.rank = rank;
  info.globalAddress = 0x10000000 + random() % 64 * 16;
  static const TensorMapSwizzle swizzles[] = {
      TensorMapSwizzle::None,       TensorMapSwizzle::B32,
      TensorMapSwizzle::B64,        TensorMapSwizzle::B128,
      TensorMapSwizzle::B128Atom32, TensorMapSwizzle::B128Atom64};
  static const uint32_t spans[] = {192, 32, 64, 128, 128, 128};
  uint32_t swizzle = random() % 6;
  info.swizzle = swizzles[swizzle];
  uint32_t size = getElementBits(info.type) / 8;
  inner = uint32_t(pick(random, 1, spans[swizzle] / 16)) * 16 / size;
  uint64_t stride = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    info.dims[i] = uint64_t(pick(random, 1, i == 0 ? 2 * inner : 6));
    stride = i == 0 ? info.dims[i] * size : stride * info.dims[i];
    // Sometimes without padding, so that rows merge.
    stride = (stride + 15) / 16 * 16 + random() % 2 * 48;
    if (i + 1 < rank)
      info.strides[i] = stride;
    info.elementStrides[i] =
        uint32_t(random() % 3 == 0 ? pick(random, 1, 8) : 1);
  }
  return info;
}

} // namespace fusionemu

#endif // FUSION_TEST_UNITTESTS_EMULATOR_TENSORREFERENCE_H
