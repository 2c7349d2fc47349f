//===- Power.cpp - Powers ---------------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the powers of the math expansion.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "KernelsF64.h"

using namespace mlir;
using namespace mlir::fusion;

/// |x|^y for an x that is neither 0, infinite nor NaN.
static Num powMagnitude(Num x, Num y, const KernelOptions &options) {
  if (x.isF64())
    return powPositiveF64(fabs(x), y);
  if (options.fast)
    return ex2Approx(y * lg2Approx(fabs(x)));
  Type f64 = x.b().getF64Type();
  return expF64(y.extendTo(f64) * logF64(fabs(x).extendTo(f64)))
      .truncateTo(x.element());
}

Num mlir::fusion::powKernel(Num x, Num y, const KernelOptions &options) {
  Num zero = x.c(0.0), one = x.c(1.0), inf = x.inf();
  Num magnitude = fabs(x);
  // The kernel's logarithm of 0 and infinity, times y, is what it should be but
  // for y = 0, which the last line answers.
  Num result = powMagnitude(x, y, options);
  Num extreme = magnitude.eq(zero) | magnitude.eq(inf);
  Num grows = magnitude.eq(inf) ^ (y < zero);
  result = select(extreme, select(grows, inf, zero), result);
  // |x| = 1 stays 1 even to an infinite power.
  result = select(magnitude.eq(one), one, result);

  // A negative x needs an integral y, and an odd one gives its sign.
  Num whole = trunc(y).eq(y);
  Num half = y * x.c(0.5);
  Num odd = whole & !trunc(half).eq(half);
  Num negative = x.asInt().icmp(arith::CmpIPredicate::slt, x.asInt().i(0));
  result = select(negative & odd, -result, result);
  Num undefined = (x < zero) & (magnitude < inf) & !whole;
  result = select(undefined, x.nan(), result);
  result = select(x.isNaN() | y.isNaN(), x + y, result);
  return select(x.eq(one) | y.eq(zero), one, result);
}
