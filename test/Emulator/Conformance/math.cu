//===- math.cu - The mathematical functions of CUDA -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of math.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

#define UNARY(op)                                                              \
  KERNEL op##_f32(float *out, const float *x) {                                \
    out[INDEX] = op##f(x[INDEX]);                                              \
  }                                                                            \
  KERNEL op##_f64(double *out, const double *x) { out[INDEX] = op(x[INDEX]); }
#define BINARY(op)                                                             \
  KERNEL op##_f32(float *out, const float *x, const float *y) {                \
    out[INDEX] = op##f(x[INDEX], y[INDEX]);                                    \
  }                                                                            \
  KERNEL op##_f64(double *out, const double *x, const double *y) {             \
    out[INDEX] = op(x[INDEX], y[INDEX]);                                       \
  }
UNARY(exp)
UNARY(exp2)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(erf)
UNARY(cbrt)
UNARY(rsqrt)
UNARY(rint)
UNARY(round)
UNARY(trunc)
UNARY(floor)
UNARY(ceil)
UNARY(logb)
BINARY(pow)
BINARY(atan2)
BINARY(hypot)
BINARY(fmod)
BINARY(remainder)
BINARY(fdim)
BINARY(fmax)
BINARY(nextafter)
KERNEL ldexp_f32(float *out, const float *x) {
  out[INDEX] = ldexpf(x[INDEX], int(INDEX % 300) - 150);
}
KERNEL frexp_f64(double *out, const double *x) {
  int e;
  double m = frexp(x[INDEX], &e);
  out[INDEX] = m + e;
}
