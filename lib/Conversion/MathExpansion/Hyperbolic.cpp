//===- Hyperbolic.cpp - Hyperbolic functions and inverses -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the hyperbolic functions of the math expansion and their
// inverses.
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "Constants.h"
#include "Kernels.h"
#include "KernelsF64.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::constants;

Num mlir::fusion::tanhKernel(Num x, const KernelOptions &options) {
  if (x.isF64()) {
    // Above 22 the result is 1, and e^2x stays finite below.
    Num t = expm1F64(minNaN(fabs(x), x.c(22.0)) * x.c(2.0));
    return copysign(t / (t + x.c(2.0)), x);
  }
  if (options.fast)
    return tanhApprox(x);
  // 1 - 2 / (e^2x + 1), whose cancellation near 0 a polynomial avoids. An
  // infinite power gives 1 by itself.
  Num magnitude = fabs(x);
  Num power = ex2ApproxFtz(magnitude * x.c(2.0 * log2e));
  Num large = fma(rcpApproxFtz(power + x.c(1.0)), x.c(-2.0), x.c(1.0));
  Num z = x * x;
  Num tail = options.roundedToHalf ? poly(z, coefficients::tanhHalf)
                                   : poly(z, coefficients::tanhF32);
  Num small = fma(magnitude * z, tail, magnitude);
  return copysign(select(magnitude < x.c(0.6), small, large), x);
}

Num mlir::fusion::sinhKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    Num magnitude = fabs(x);
    Num t = expm1F64(minNaN(magnitude, x.c(22.0)));
    Num small = (t + t / (t + x.c(1.0))) * x.c(0.5);
    // Half of e^x as a product, since e^x overflows before its half does.
    Num root = expF64(magnitude * x.c(0.5));
    Num large = (root * x.c(0.5)) * root;
    return copysign(select(magnitude < x.c(22.0), small, large), x);
  });
}

Num mlir::fusion::coshKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    Num root = expF64(fabs(x) * x.c(0.5));
    return fma(root * x.c(0.5), root, (x.c(0.5) / root) / root);
  });
}

Num mlir::fusion::asinhKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    // log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); above 2^28
    // it is log(2 a).
    Num magnitude = fabs(x);
    Num huge = magnitude > x.c(0x1p28);
    Num a = minNaN(magnitude, x.c(0x1p28));
    Num square = a * a;
    Num argument = a + square / (x.c(1.0) + sqrt(square + x.c(1.0)));
    Num large = logF64(magnitude) + x.c(ln2F64Hi);
    return copysign(select(huge, large, log1pF64(argument)), x);
  });
}

Num mlir::fusion::acoshKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    // log1p(t + sqrt(2 t + t^2)) with t = x - 1; above 2^28 it is log(2 x).
    Num huge = x > x.c(0x1p28);
    Num t = minNaN(x, x.c(0x1p28)) - x.c(1.0);
    Num argument = t + sqrt(fma(t, t, t + t));
    Num large = logF64(x) + x.c(ln2F64Hi);
    Num result = select(huge, large, log1pF64(argument));
    return select(x < x.c(1.0), x.nan(), result);
  });
}

Num mlir::fusion::atanhKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    Num magnitude = fabs(x);
    Num argument = (magnitude + magnitude) / (x.c(1.0) - magnitude);
    return copysign(log1pF64(argument) * x.c(0.5), x);
  });
}
