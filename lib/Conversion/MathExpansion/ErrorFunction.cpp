//===- ErrorFunction.cpp - erf and erfc -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the error functions of the math expansion.
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "Kernels.h"
#include "KernelsF64.h"

using namespace mlir;
using namespace mlir::fusion;

/// erf(x) for |x| <= 1.02.
static Num erfNearZeroF64(Num x) {
  return fma(x, poly(x * x, coefficients::erfSmallF64), x);
}

/// erfc(t) for t >= 0.45: exp(-t^2) with the rounding error of the square,
/// times a polynomial that knows the rest.
static Num erfcPositiveF64(Num magnitude) {
  Num t = minNaN(magnitude, magnitude.c(28.0));
  Num square = t * t;
  Num lost = fma(t, t, -square);
  Num power = expF64(-square);
  power = fma(power, -lost, power);
  Num q = (t - t.c(4.0)) / (t + t.c(4.0));
  Num scaled = poly(q, coefficients::erfcF64);
  return power * (scaled / fma(t, t.c(2.0), t.c(1.0)));
}

static Num erfF64(Num x) {
  Num magnitude = fabs(x);
  Num large = copysign(x.c(1.0) - erfcPositiveF64(magnitude), x);
  return select(magnitude < x.c(1.0), erfNearZeroF64(x), large);
}

Num mlir::fusion::erfKernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return erfF64(x);
  // 1 - 2^(t Q(t)) away from 0; above 4 it is 1.
  Num magnitude = fabs(x);
  Num t = minNaN(magnitude, x.c(4.0));
  bool isHalf = options.roundedToHalf;
  Num exponent = isHalf ? poly(t, coefficients::erfLargeHalf)
                        : poly(t, coefficients::erfLargeF32);
  Num large = x.c(1.0) - ex2ApproxFtz(t * exponent);
  Num tail = isHalf ? poly(x * x, coefficients::erfSmallHalf)
                    : poly(x * x, coefficients::erfSmallF32);
  Num small = fma(x, tail, x);
  return select(magnitude < x.c(0.925), small, copysign(large, x));
}

Num mlir::fusion::erfcKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    Num tail = erfcPositiveF64(fabs(x));
    Num sided = select(x < x.c(0.0), x.c(2.0) - tail, tail);
    return select(fabs(x) < x.c(0.47), x.c(1.0) - erfNearZeroF64(x), sided);
  });
}
