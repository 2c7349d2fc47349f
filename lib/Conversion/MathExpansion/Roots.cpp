//===- Roots.cpp - Roots ----------------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the roots of the math expansion.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "KernelsF64.h"

using namespace mlir;
using namespace mlir::fusion;

Num mlir::fusion::sqrtKernel(Num x, const KernelOptions &options) {
  // The exact square root is a subroutine of the hardware's.
  if (options.fast && !x.isF64())
    return sqrtApprox(x);
  return sqrt(x);
}

Num mlir::fusion::rsqrtKernel(Num x, const KernelOptions &) {
  if (x.isF64())
    return x.c(1.0) / sqrt(x);
  return rsqrtApprox(x);
}

Num mlir::fusion::cbrtKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    Num magnitude = fabs(x);
    // Subnormals have no exponent to divide by three, and the steps' sums must
    // not overflow.
    Num tiny = magnitude < x.c(0x1p-1022);
    Num huge = magnitude > x.c(0x1p1000);
    Num scale = select(tiny, x.c(0x1p54), select(huge, x.c(0x1p-54), x.c(1.0)));
    Num rootScale =
        select(tiny, x.c(0x1p-18), select(huge, x.c(0x1p18), x.c(1.0)));
    Num a = magnitude * scale;
    // A third of the bits, plus two thirds of the bias, is the root to a few
    // percent; each step of Halley cubes the relative error.
    Num bits = a.asInt();
    Num third(x.b(),
              arith::DivUIOp::create(x.b(), Value(bits), Value(bits.i(3))));
    Num root = (third + bits.i(682ll << 52)).asFloat();
    for (int step = 0; step < 2; ++step) {
      Num cube = root * root * root;
      root = root * ((cube + (a + a)) / ((cube + cube) + a));
    }
    // One step of Newton with the residual exact to double the digits.
    Num square = root * root;
    Num residual = fma(-square, root, a) - fma(root, root, -square) * root;
    root = root + residual / (square * x.c(3.0));
    root = root * rootScale;
    Num itself = x.eq(x.c(0.0)) | !(magnitude < x.inf());
    return select(itself, x, copysign(root, x));
  });
}
