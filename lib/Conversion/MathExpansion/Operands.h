//===- Operands.h - From operations to numbers and back ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passage between an operation's values, of any element
// type and rank, and the numbers that kernels compute with.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_OPERANDS_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_OPERANDS_H

#include "Kernels.h"

#include "fusion/Conversion/MathExpansion/MathExpansion.h"
#include "fusion/Support/Float8.h"

namespace mlir::fusion {

/// True for scalars and fixed-size vectors of a float that kernels compute with
/// or convert to f32.
bool isExpandableFloat(Type type);

/// `value` as a number of its own element type; a vector becomes
/// one-dimensional.
Num flatNum(ImplicitLocOpBuilder &b, Value value);

/// `value` as a number in f64, or in f32 for everything narrower.
Num computeNum(ImplicitLocOpBuilder &b, Value value);

/// `result` in `type`, the type of the operation's result.
Value restore(Num result, Type type);

/// The options of a kernel for operands of `type` on an operation with
/// `flags`.
KernelOptions kernelOptions(const MathOptions &options, Type type,
                            arith::FastMathFlags flags);

/// Conversions between f32 or f64 and 8-bit floats, by integer arithmetic.
Num extendFloat8(Num x, Type source, Type target);
Num truncateToFloat8(Num x, Type target);

/// Patterns by kind.
void populateFunctionPatterns(RewritePatternSet &patterns,
                              const MathOptions &options);
void populateRoundingPatterns(RewritePatternSet &patterns);
void populateIntegerPatterns(RewritePatternSet &patterns,
                             const MathOptions &options);
void populateArithPatterns(RewritePatternSet &patterns,
                           const MathOptions &options);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_OPERANDS_H
