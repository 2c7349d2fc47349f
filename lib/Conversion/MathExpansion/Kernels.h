//===- Kernels.h - Elementary functions in few operations -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the kernels of the math expansion. Each takes numbers of
// f32 or f64 and says what it costs and how far it is from the true value in
// docs/Numerics.md, where the figures are measured.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_KERNELS_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_KERNELS_H

#include "Num.h"

namespace mlir::fusion {

/// What a kernel may assume.
struct KernelOptions {
  /// Accept the hardware's approximations.
  bool fast = false;
  /// The result is rounded to 11 bits or fewer, which hides an error of 2^-17.
  bool roundedToHalf = false;
  /// Every finite operand is at most this large in magnitude: 65,504 when the
  /// number came from f16.
  double largestOperand = 1e300;
};

// Exponentials and logarithms.
Num expKernel(Num x, const KernelOptions &options);
Num exp2Kernel(Num x, const KernelOptions &options);
Num expm1Kernel(Num x, const KernelOptions &options);
Num logKernel(Num x, const KernelOptions &options);
Num log2Kernel(Num x, const KernelOptions &options);
Num log10Kernel(Num x, const KernelOptions &options);
Num log1pKernel(Num x, const KernelOptions &options);
/// log(1 + x) of an f32 in [0, 1] or NaN.
Num log1pOfFractionKernel(Num x, const KernelOptions &options);
/// `other` + log(1 + x), or - where `negated`, of such an x, the logarithm not
/// rounded.
Num addLog1pOfFraction(Num x, bool negated, Num other,
                       const KernelOptions &options);
Num powKernel(Num x, Num y, const KernelOptions &options);

// Hyperbolic functions and their inverses.
Num sinhKernel(Num x, const KernelOptions &options);
Num coshKernel(Num x, const KernelOptions &options);
Num tanhKernel(Num x, const KernelOptions &options);
Num asinhKernel(Num x, const KernelOptions &options);
Num acoshKernel(Num x, const KernelOptions &options);
Num atanhKernel(Num x, const KernelOptions &options);

// Circular functions and their inverses.
Num sinKernel(Num x, const KernelOptions &options);
Num cosKernel(Num x, const KernelOptions &options);
Num tanKernel(Num x, const KernelOptions &options);
Num asinKernel(Num x, const KernelOptions &options);
Num acosKernel(Num x, const KernelOptions &options);
Num atanKernel(Num x, const KernelOptions &options);
Num atan2Kernel(Num y, Num x, const KernelOptions &options);

// The error function.
Num erfKernel(Num x, const KernelOptions &options);
Num erfcKernel(Num x, const KernelOptions &options);

// Roots.
Num sqrtKernel(Num x, const KernelOptions &options);
Num rsqrtKernel(Num x, const KernelOptions &options);
Num cbrtKernel(Num x, const KernelOptions &options);

/// The remainder of x / y with the sign of x, exact (scalars).
Num remainderKernel(Num x, Num y);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_KERNELS_H
