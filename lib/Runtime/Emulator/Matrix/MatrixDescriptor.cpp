//===- MatrixDescriptor.cpp - Matrices in shared memory -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of matrix descriptors.
//
//===----------------------------------------------------------------------===//

#include "Matrix/MatrixDescriptor.h"

using namespace fusionemu;

MatrixDescriptor fusionemu::decodeMatrixDescriptor(uint64_t bits) {
  static const uint32_t swizzles[] = {0, 128, 64, 32};
  MatrixDescriptor d;
  d.start = uint32_t(bits & 0x3fff) << 4;
  d.leading = uint32_t((bits >> 16) & 0x3fff) << 4;
  d.stride = uint32_t((bits >> 32) & 0x3fff) << 4;
  d.baseOffset = uint32_t((bits >> 49) & 7);
  d.swizzle = swizzles[bits >> 62];
  return d;
}

const char *fusionemu::validateMatrixDescriptor(uint64_t bits) {
  constexpr uint64_t reserved = uint64_t(3) << 14 | uint64_t(3) << 30 |
                                uint64_t(7) << 46 | uint64_t(0x3ff) << 52;
  if (bits & reserved)
    return "has reserved bits set (an address that was not shortened to 18 "
           "bits and shifted?)";
  return nullptr;
}
