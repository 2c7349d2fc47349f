//===- MatrixOps.h - Decoded matrix instructions ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what an instruction that multiplies matrices needs beyond
// an Instruction, kept in tables of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_MATRIXOPS_H
#define FUSION_LIB_RUNTIME_EMULATOR_MATRIXOPS_H

#include "Matrix/Matrix.h"

namespace fusionemu {

/// What mma.sync and wgmma have in common: D = A * B + C.
struct MatrixOp {
  MatrixType a = MatrixType::None, b = MatrixType::None;
  MatrixType d = MatrixType::None; ///< Of C too.
  uint16_t m = 16, n = 8, k = 16;  ///< 64 rows count as 16: those of one warp.
  bool saturate = false;           ///< .satfinite, of integers.
  /// The product is negated: one of imm-scale-a and imm-scale-b is -1.
  bool negate = false;
  /// Payload mode: floats are integers that wrap around.
  bool payload = false;
  DotModel model;
  /// Registers of a lane, as ranges of Kernel::extraOperands.
  uint32_t firstD = 0, countD = 0;
  uint32_t firstA = 0, countA = 0; ///< countA is 0 when A has a descriptor.
};

/// mma.sync, in Kernel::mmas.
struct MmaOp : MatrixOp {
  uint32_t firstB = 0, countB = 0;
  uint32_t firstC = 0;
};

/// wgmma.mma_async, in Kernel::wgmmas. D is read and written.
struct WgmmaOp : MatrixOp {
  /// Registers with the descriptors, as indices of Kernel::extraOperands.
  uint32_t descriptorA = 0, descriptorB = 0;
  bool transposeA = false, transposeB = false;
  /// D = A * B when this predicate is false.
  int32_t scaleD = 0;
  bool scaleDNegated = false;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_MATRIXOPS_H
