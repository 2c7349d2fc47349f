//===- approximate.cu - Approximate instructions -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of approximate.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

#define SINGLE(op)                                                             \
  KERNEL op##_f32(float *out, const float *x) {                                \
    unsigned i = INDEX;                                                        \
    R1(0, float, f, f, #op ".approx.f32")                                      \
    R1(1, float, f, f, #op ".approx.ftz.f32")                                  \
  }
SINGLE(rcp)
SINGLE(sqrt)
SINGLE(rsqrt)
SINGLE(ex2)
SINGLE(lg2)
SINGLE(sin)
SINGLE(cos)
K1(tanh_f32, float, f, float, f, "tanh.approx.f32")
KERNEL div_f32(float *out, const float *x, const float *y) {
  unsigned i = INDEX;
  R2(0, float, f, f, f, "div.approx.f32")
  R2(1, float, f, f, f, "div.approx.ftz.f32")
  R2(2, float, f, f, f, "div.full.f32")
  R2(3, float, f, f, f, "div.full.ftz.f32")
}
K1(rcp_f64, double, d, double, d, "rcp.approx.ftz.f64")
KERNEL rsqrt_f64(double *out, const double *x) {
  unsigned i = INDEX;
  R1(0, double, d, d, "rsqrt.approx.f64")
  R1(1, double, d, d, "rsqrt.approx.ftz.f64")
}
KERNEL half_f16(u16 *out, const u16 *x) {
  unsigned i = INDEX;
  R1(0, u16, h, h, "ex2.approx.f16")
  R1(1, u16, h, h, "tanh.approx.f16")
}
KERNEL half_f16x2(u32 *out, const u32 *x) {
  unsigned i = INDEX;
  R1(0, u32, r, r, "ex2.approx.f16x2")
  R1(1, u32, r, r, "tanh.approx.f16x2")
}
KERNEL half_bf16(u16 *out, const u16 *x) {
  unsigned i = INDEX;
  R1(0, u16, h, h, "ex2.approx.ftz.bf16")
  R1(1, u16, h, h, "tanh.approx.bf16")
}
KERNEL half_bf16x2(u32 *out, const u32 *x) {
  unsigned i = INDEX;
  R1(0, u32, r, r, "ex2.approx.ftz.bf16x2")
  R1(1, u32, r, r, "tanh.approx.bf16x2")
}
