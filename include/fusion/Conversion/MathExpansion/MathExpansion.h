//===- MathExpansion.h - Math without a device library ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the expansion of math operations into operations that
// NVPTX has instructions for.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_MATHEXPANSION_MATHEXPANSION_H
#define FUSION_CONVERSION_MATHEXPANSION_MATHEXPANSION_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fusion {

/// How to expand. docs/Numerics.md states the error of each function in both
/// modes.
struct MathOptions {
  /// Take the hardware's approximations everywhere. Off, they are taken where
  /// an operation's own fast-math flags hold `afn`.
  bool fast = false;
  /// Expand each operation by what it is alone, whatever its operands come from
  /// and its result goes to.
  bool alone = false;
};

/// Adds the pattern that divides by 1 + exp(x), as in sigmoids, without the
/// exact division's branch. It recognises math.exp, so it must have been
/// applied before the patterns below.
void populateLogisticPatterns(RewritePatternSet &patterns);

/// Adds the patterns that compute logarithms of 1 + x for x known to be in
/// [0, 1], such as exp(-|y|), by a polynomial alone, and sums with them. They
/// recognise what x is computed from, so they must have been applied before the
/// patterns below.
void populateFractionPatterns(RewritePatternSet &patterns,
                              const MathOptions &options);

/// Adds the pattern that computes on single 8-bit floats in f32, converted by
/// instructions that saturate, whatever the chip: for payload mode. It must
/// have been applied before the patterns below.
void populateFloat8InstructionPatterns(RewritePatternSet &patterns);

/// Adds the pattern that extends 8-bit floats which lie side by side in a
/// register two at a time, on chips that have an instruction for it. It must
/// have been applied before the patterns below.
void populateFloat8PairPatterns(RewritePatternSet &patterns);

/// Adds patterns that rewrite the math dialect, and those operations of arith
/// that NVPTX gets wrong or has no instruction for, on scalars and vectors of
/// f64, f32, f16, bf16, f8E4M3FN and f8E5M2 and on integers. The results hold
/// arith, vector, scf (for angles beyond 2^18, remainders and integer powers)
/// and intrinsics of the LLVM dialect, and no math. Operations on tensors stay.
void populateMathExpansionPatterns(RewritePatternSet &patterns,
                                   const MathOptions &options = {});

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_MATHEXPANSION_MATHEXPANSION_H
