//===- float.cu - Single and double precision --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of float.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

// One kernel for each rounding; the variants of .ftz and .sat are its results.
#define SINGLE2(op, rounding)                                                  \
  KERNEL op##_##rounding##_f32(float *out, const float *x, const float *y) {   \
    unsigned i = INDEX;                                                        \
    R2(0, float, f, f, f, #op "." #rounding ".f32")                            \
    R2(1, float, f, f, f, #op "." #rounding ".ftz.f32")                        \
    R2(2, float, f, f, f, #op "." #rounding ".sat.f32")                        \
    R2(3, float, f, f, f, #op "." #rounding ".ftz.sat.f32")                    \
  }
#define SINGLE3(rounding)                                                      \
  KERNEL fma_##rounding##_f32(float *out, const float *x, const float *y,      \
                              const float *z) {                                \
    unsigned i = INDEX;                                                        \
    R3(0, float, f, f, f, f, "fma." #rounding ".f32")                          \
    R3(1, float, f, f, f, f, "fma." #rounding ".ftz.f32")                      \
    R3(2, float, f, f, f, f, "fma." #rounding ".sat.f32")                      \
    R3(3, float, f, f, f, f, "mad." #rounding ".ftz.sat.f32")                  \
  }
#define SINGLE1(op, rounding)                                                  \
  KERNEL op##_##rounding##_f32(float *out, const float *x) {                   \
    unsigned i = INDEX;                                                        \
    R1(0, float, f, f, #op "." #rounding ".f32")                               \
    R1(1, float, f, f, #op "." #rounding ".ftz.f32")                           \
  }
#define DIVIDE(rounding)                                                       \
  KERNEL div_##rounding##_f32(float *out, const float *x, const float *y) {    \
    unsigned i = INDEX;                                                        \
    R2(0, float, f, f, f, "div." #rounding ".f32")                             \
    R2(1, float, f, f, f, "div." #rounding ".ftz.f32")                         \
  }
#define ROUNDING(rounding)                                                     \
  SINGLE2(add, rounding)                                                       \
  SINGLE2(sub, rounding)                                                       \
  SINGLE2(mul, rounding)                                                       \
  SINGLE3(rounding)                                                            \
  SINGLE1(sqrt, rounding)                                                      \
  SINGLE1(rcp, rounding)                                                       \
  DIVIDE(rounding)                                                             \
  K2(add_##rounding##_f64, double, d, double, d, double, d,                    \
     "add." #rounding ".f64")                                                  \
  K2(sub_##rounding##_f64, double, d, double, d, double, d,                    \
     "sub." #rounding ".f64")                                                  \
  K2(mul_##rounding##_f64, double, d, double, d, double, d,                    \
     "mul." #rounding ".f64")                                                  \
  K2(div_##rounding##_f64, double, d, double, d, double, d,                    \
     "div." #rounding ".f64")                                                  \
  K3(fma_##rounding##_f64, double, d, double, d, double, d, double, d,         \
     "fma." #rounding ".f64")                                                  \
  K1(sqrt_##rounding##_f64, double, d, double, d, "sqrt." #rounding ".f64")    \
  K1(rcp_##rounding##_f64, double, d, double, d, "rcp." #rounding ".f64")
ROUNDING(rn)
ROUNDING(rz)
ROUNDING(rm)
ROUNDING(rp)

#define EXTREME(op)                                                            \
  KERNEL op##_f32(float *out, const float *x, const float *y) {                \
    unsigned i = INDEX;                                                        \
    R2(0, float, f, f, f, #op ".f32")                                          \
    R2(1, float, f, f, f, #op ".ftz.f32")                                      \
    R2(2, float, f, f, f, #op ".NaN.f32")                                      \
    R2(3, float, f, f, f, #op ".ftz.NaN.f32")                                  \
    R2(4, float, f, f, f, #op ".xorsign.abs.f32")                              \
    R2(5, float, f, f, f, #op ".ftz.xorsign.abs.f32")                          \
    R2(6, float, f, f, f, #op ".NaN.xorsign.abs.f32")                          \
    R2(7, float, f, f, f, #op ".ftz.NaN.xorsign.abs.f32")                      \
  }                                                                            \
  K2(op##_f64, double, d, double, d, double, d, #op ".f64")
EXTREME(min)
EXTREME(max)

#define SIGN(op)                                                               \
  KERNEL op##_f32(float *out, const float *x) {                                \
    unsigned i = INDEX;                                                        \
    R1(0, float, f, f, #op ".f32")                                             \
    R1(1, float, f, f, #op ".ftz.f32")                                         \
  }                                                                            \
  K1(op##_f64, double, d, double, d, #op ".f64")
SIGN(neg)
SIGN(abs)
K2(copysign_f32, float, f, float, f, float, f, "copysign.f32")
K2(copysign_f64, double, d, double, d, double, d, "copysign.f64")
