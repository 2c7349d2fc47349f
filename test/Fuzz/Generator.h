//===- Generator.h - Random PTX programs from bytes -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a generator of small PTX programs that parse but need not
// make sense: every byte string is one program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_GENERATOR_H
#define FUSION_TEST_FUZZ_GENERATOR_H

#include "fusion-rt/Emulator/Emulator.h"
#include "fusion-rt/Emulator/TensorMap.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace fusionfuzz {

/// Bytes of the global buffers that a program works on.
constexpr uint32_t inputBytes = 1024, sliceBytes = 512, atomicBytes = 128;
/// Blocks that a program may have; each writes a slice of its own of `out`.
constexpr uint32_t maxBlocks = 4;

/// A program and how to launch it. Kernel "k" takes three pointers: `in` of
/// inputBytes, written; `out` of maxBlocks slices, written; `sum` of
/// atomicBytes, for atomics alone; a 32-bit scalar; and a tensor map.
struct Program {
  std::string text;
  fusionemu::Dim3 grid, block, cluster;
  uint32_t dynamicSharedBytes = 0;
  uint32_t scalar = 0;
  /// Describes `in` from its start; not always by the rules.
  fusionemu::TensorMapInfo map;
  /// A byte of the encoded map that is wrong; none beyond the map.
  uint32_t damagedByte = fusionemu::tensorMapBytes;
};

Program generate(const uint8_t *data, size_t size);

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_GENERATOR_H
