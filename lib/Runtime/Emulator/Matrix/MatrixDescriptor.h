//===- MatrixDescriptor.h - Matrices in shared memory -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the matrix descriptors of wgmma: where each element of an
// operand lies in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_MATRIXDESCRIPTOR_H
#define FUSION_LIB_RUNTIME_EMULATOR_MATRIXDESCRIPTOR_H

#include <cstdint>

namespace fusionemu {

/// A decoded 64-bit descriptor. Sizes are bytes.
struct MatrixDescriptor {
  uint32_t start = 0;
  uint32_t leading = 0, stride = 0;
  uint32_t baseOffset = 0; ///< 0 to 7.
  uint32_t swizzle = 0;    ///< 0 for none, 32, 64 or 128.
};

MatrixDescriptor decodeMatrixDescriptor(uint64_t bits);

/// Why a descriptor cannot be used, or null.
const char *validateMatrixDescriptor(uint64_t bits);

/// The shape of an operand: `mn` rows of A or columns of B, `k` elements deep.
/// `transposed` when M or N is contiguous in memory (the imm-trans operands),
/// which only 2-byte elements can be.
struct MatrixExtent {
  uint32_t mn = 0, k = 0;
  uint32_t elementBytes = 2;
  bool transposed = false;
};

// The functions below are also compiled for several instruction sets of the
// host, so they must not be shared by the linker: static, not inline.

/// The address of the byte that lies `offset` bytes behind the start in a
/// swizzled layout. The pattern is one of the address: bits 7 and up, counted
/// from the base offset, are added into bits 4 and up, whatever the start is.
static inline uint32_t swizzleAddress(const MatrixDescriptor &d,
                                      uint32_t offset) {
  uint32_t address = d.start + offset;
  uint32_t phase = ((address >> 7) - d.baseOffset) & (d.swizzle / 16 - 1);
  return address ^ phase << 4;
}

/// Where element (mn, k) lies, as an offset into shared memory. Without a
/// swizzle 8 x 16 bytes are contiguous; with one the rows are as wide as the
/// swizzle. Elements of 16 aligned bytes stay together.
static inline uint32_t getMatrixOffset(const MatrixDescriptor &d,
                                       const MatrixExtent &extent, uint32_t mn,
                                       uint32_t k) {
  uint32_t width = d.swizzle;
  if (!extent.transposed) {
    uint32_t deep = k * extent.elementBytes;
    if (width == 0)
      return d.start + mn % 8 * 16 + mn / 8 * d.stride + deep / 16 * d.leading +
             deep % 16;
    return swizzleAddress(d, mn % 8 * width + mn / 8 * d.stride + deep);
  }
  uint32_t across = mn * extent.elementBytes;
  if (width == 0)
    return d.start + across % 16 + across / 16 * d.stride + k % 8 * 16 +
           k / 8 * d.leading;
  return swizzleAddress(d, across % width + across / width * d.leading +
                               k % 8 * width + k / 8 * d.stride);
}

/// Calls f(offset, bytes) for byte ranges that together are what the operand
/// covers, each at least 16 bytes; neighbours in the order of the walk are
/// joined. Ranges can overlap when the descriptor's strides make them.
template <typename F>
static inline void forEachMatrixRange(const MatrixDescriptor &d,
                                      const MatrixExtent &extent, F f) {
  uint32_t first = 0, bytes = 0;
  auto add = [&](uint32_t offset) {
    if (bytes != 0 && offset == first + bytes) {
      bytes += 16;
      return;
    }
    if (bytes != 0 && offset + 16 == first) {
      first = offset;
      bytes += 16;
      return;
    }
    if (bytes != 0)
      f(first, bytes);
    first = offset;
    bytes = 16;
  };
  uint32_t perChunk = 16 / extent.elementBytes;
  if (!extent.transposed) {
    for (uint32_t mn = 0; mn < extent.mn; ++mn)
      for (uint32_t k = 0; k < extent.k; k += perChunk)
        add(getMatrixOffset(d, extent, mn, k));
  } else {
    for (uint32_t k = 0; k < extent.k; ++k)
      for (uint32_t mn = 0; mn < extent.mn; mn += perChunk)
        add(getMatrixOffset(d, extent, mn, k));
  }
  if (bytes != 0)
    f(first, bytes);
}

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_MATRIXDESCRIPTOR_H
