//===- InputLimits.h - How large programs may be ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the limits on programs. Where a few characters of a program
// can ask for work without bound, a limit turns that into an error.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_INPUTLIMITS_H
#define FUSION_PREPROCESSING_INPUTLIMITS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {

/// What a package can describe.
inline constexpr int64_t kMaxTensorRank = 16;
/// Loops of one linalg op: those of two tensors of the largest rank.
inline constexpr int64_t kMaxOpLoops = 32;
/// Tensors that one op may take, and a function take or give. A kernel has
/// 4,352 bytes of parameters, eight for each tensor.
inline constexpr int64_t kMaxTensorsOfOp = 512;
inline constexpr int64_t kMaxTensorsOfFunction = 4096;
/// Ops in the body of one op. Upstream's rewrites follow chains of them by
/// calling themselves.
inline constexpr int64_t kMaxBodyOps = 4096;
/// Ops of one function and of a program, with every call replaced by what it
/// calls: planning looks at pairs.
inline constexpr int64_t kMaxFunctionOps = 50000;
inline constexpr int64_t kMaxProgramOps = 100000;

/// Refuses a program beyond a limit, with one error for each function at the
/// place that is first met. Linear in the text of the program.
LogicalResult checkInputLimits(ModuleOp module);

} // namespace mlir::fusion

#endif // FUSION_PREPROCESSING_INPUTLIMITS_H
