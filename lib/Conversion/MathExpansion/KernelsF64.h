//===- KernelsF64.h - Elementary functions in doubles -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the kernels in f64, on which the rarer f32 functions are
// built as well: evaluated in f64 and rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_KERNELSF64_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_KERNELSF64_H

#include "Num.h"

namespace mlir::fusion {

Num expF64(Num x);
Num exp2F64(Num x);
Num expm1F64(Num x);
Num logF64(Num x);
Num log2F64(Num x);
Num log10F64(Num x);
Num log1pF64(Num x);
/// x^y for x > 0 and any y.
Num powPositiveF64(Num x, Num y);

/// `kernel` of `x`: as it is for f64, through f64 for f32.
inline Num throughF64(Num x, llvm::function_ref<Num(Num)> kernel) {
  if (x.isF64())
    return kernel(x);
  return kernel(x.extendTo(x.b().getF64Type())).truncateTo(x.element());
}

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_KERNELSF64_H
