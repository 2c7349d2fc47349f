//===- convert.cu - Conversions among all types ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of convert.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

__device__ u64 bitsOf(u16 x) { return x; }
__device__ u64 bitsOf(u32 x) { return x; }
__device__ u64 bitsOf(u64 x) { return x; }
__device__ u64 bitsOf(float x) { return __float_as_uint(x); }
__device__ u64 bitsOf(double x) { return __double_as_longlong(x); }

/// The k-th result: the bits that cvt leaves in a register of type D.
#define C1(k, D, d, A, a, text)                                                \
  {                                                                            \
    D result;                                                                  \
    asm(text " %0, %1;" : "=" #d(result) : #a(A(x[i])));                       \
    out[i + 1024 * k] = bitsOf(result);                                        \
  }
#define C2(k, D, d, A, a, text)                                                \
  {                                                                            \
    D result;                                                                  \
    asm(text " %0, %1, %2;"                                                    \
        : "=" #d(result)                                                       \
        : #a(A(x[i])), #a(A(x[(i + 512) % 1024])));                            \
    out[i + 1024 * k] = bitsOf(result);                                        \
  }

// M(type, its register's C type, its register, more...)
#define INTEGERS(M, ...)                                                       \
  M(u8, u16, h, __VA_ARGS__)                                                   \
  M(s8, u16, h, __VA_ARGS__)                                                   \
  WORDS(M, __VA_ARGS__)
#define WORDS(M, ...)                                                          \
  M(u16, u16, h, __VA_ARGS__)                                                  \
  M(s16, u16, h, __VA_ARGS__)                                                  \
  M(u32, u32, r, __VA_ARGS__)                                                  \
  M(s32, u32, r, __VA_ARGS__)                                                  \
  M(u64, u64, l, __VA_ARGS__)                                                  \
  M(s64, u64, l, __VA_ARGS__)

#define TO_INTEGER(T, D, d, F, A, a)                                           \
  KERNEL cvt_##T##_##F(u64 *out, const F *x) {                                 \
    unsigned i = INDEX;                                                        \
    C1(0, D, d, A, a, "cvt." #T "." #F)                                        \
  }
INTEGERS(TO_INTEGER, u8, u16, h)
INTEGERS(TO_INTEGER, s8, u16, h)
INTEGERS(TO_INTEGER, u16, u16, h)
INTEGERS(TO_INTEGER, s16, u16, h)
INTEGERS(TO_INTEGER, u32, u32, r)
INTEGERS(TO_INTEGER, s32, u32, r)
INTEGERS(TO_INTEGER, u64, u64, l)
INTEGERS(TO_INTEGER, s64, u64, l)

// Saturation, where the source has values that the result has not.
#define SATURATE(T, D, d, F, A, a)                                             \
  KERNEL cvt_sat_##T##_##F(u64 *out, const F *x) {                             \
    unsigned i = INDEX;                                                        \
    C1(0, D, d, A, a, "cvt.sat." #T "." #F)                                    \
  }
SATURATE(s8, u16, h, u8, u16, h)
SATURATE(u8, u16, h, s8, u16, h)
SATURATE(u16, u16, h, s8, u16, h)
SATURATE(u32, u32, r, s8, u16, h)
SATURATE(u64, u64, l, s8, u16, h)
SATURATE(u8, u16, h, u16, u16, h)
SATURATE(s8, u16, h, u16, u16, h)
SATURATE(s16, u16, h, u16, u16, h)
SATURATE(u8, u16, h, s16, u16, h)
SATURATE(s8, u16, h, s16, u16, h)
SATURATE(u16, u16, h, s16, u16, h)
SATURATE(u32, u32, r, s16, u16, h)
SATURATE(u64, u64, l, s16, u16, h)
SATURATE(u8, u16, h, u32, u32, r)
SATURATE(s8, u16, h, u32, u32, r)
SATURATE(u16, u16, h, u32, u32, r)
SATURATE(s16, u16, h, u32, u32, r)
SATURATE(s32, u32, r, u32, u32, r)
SATURATE(u8, u16, h, s32, u32, r)
SATURATE(s8, u16, h, s32, u32, r)
SATURATE(u16, u16, h, s32, u32, r)
SATURATE(s16, u16, h, s32, u32, r)
SATURATE(u32, u32, r, s32, u32, r)
SATURATE(u64, u64, l, s32, u32, r)
SATURATE(u8, u16, h, u64, u64, l)
SATURATE(s8, u16, h, u64, u64, l)
SATURATE(u16, u16, h, u64, u64, l)
SATURATE(s16, u16, h, u64, u64, l)
SATURATE(u32, u32, r, u64, u64, l)
SATURATE(s32, u32, r, u64, u64, l)
SATURATE(s64, u64, l, u64, u64, l)
SATURATE(u8, u16, h, s64, u64, l)
SATURATE(s8, u16, h, s64, u64, l)
SATURATE(u16, u16, h, s64, u64, l)
SATURATE(s16, u16, h, s64, u64, l)
SATURATE(u32, u32, r, s64, u64, l)
SATURATE(s32, u32, r, s64, u64, l)
SATURATE(u64, u64, l, s64, u64, l)

#define FROM_INTEGER(F, A, a, T, D, d)                                         \
  KERNEL cvt_##T##_##F(u64 *out, const F *x) {                                 \
    unsigned i = INDEX;                                                        \
    C1(0, D, d, A, a, "cvt.rn." #T "." #F)                                     \
    C1(1, D, d, A, a, "cvt.rz." #T "." #F)                                     \
    C1(2, D, d, A, a, "cvt.rm." #T "." #F)                                     \
    C1(3, D, d, A, a, "cvt.rp." #T "." #F)                                     \
  }
INTEGERS(FROM_INTEGER, f16, u16, h)
WORDS(FROM_INTEGER, bf16, u16, h)
INTEGERS(FROM_INTEGER, f32, float, f)
INTEGERS(FROM_INTEGER, f64, double, d)

#define FLOAT_TO_INTEGER(T, D, d, F, S, A, a)                                  \
  KERNEL cvt_##T##_##F(u64 *out, const S *x) {                                 \
    unsigned i = INDEX;                                                        \
    C1(0, D, d, A, a, "cvt.rni." #T "." #F)                                    \
    C1(1, D, d, A, a, "cvt.rzi." #T "." #F)                                    \
    C1(2, D, d, A, a, "cvt.rmi." #T "." #F)                                    \
    C1(3, D, d, A, a, "cvt.rpi." #T "." #F)                                    \
  }
INTEGERS(FLOAT_TO_INTEGER, f16, u16, u16, h)
WORDS(FLOAT_TO_INTEGER, bf16, u16, u16, h)
INTEGERS(FLOAT_TO_INTEGER, f32, float, float, f)
INTEGERS(FLOAT_TO_INTEGER, f64, double, double, d)

KERNEL cvt_f16_f32(u64 *out, const float *x) {
  unsigned i = INDEX;
  C1(0, u16, h, float, f, "cvt.rn.f16.f32")
  C1(1, u16, h, float, f, "cvt.rz.f16.f32")
  C1(2, u16, h, float, f, "cvt.rm.f16.f32")
  C1(3, u16, h, float, f, "cvt.rp.f16.f32")
  C1(4, u16, h, float, f, "cvt.rn.ftz.f16.f32")
  C1(5, u16, h, float, f, "cvt.rn.sat.f16.f32")
  C1(6, u16, h, float, f, "cvt.rn.relu.f16.f32")
  C1(7, u16, h, float, f, "cvt.rz.relu.f16.f32")
}
KERNEL cvt_bf16_f32(u64 *out, const float *x) {
  unsigned i = INDEX;
  C1(0, u16, h, float, f, "cvt.rn.bf16.f32")
  C1(1, u16, h, float, f, "cvt.rz.bf16.f32")
  C1(2, u16, h, float, f, "cvt.rn.relu.bf16.f32")
  C1(3, u16, h, float, f, "cvt.rz.relu.bf16.f32")
}
KERNEL cvt_f32_f32(u64 *out, const float *x) {
  unsigned i = INDEX;
  C1(0, float, f, float, f, "cvt.rni.f32.f32")
  C1(1, float, f, float, f, "cvt.rzi.f32.f32")
  C1(2, float, f, float, f, "cvt.rmi.f32.f32")
  C1(3, float, f, float, f, "cvt.rpi.f32.f32")
  C1(4, float, f, float, f, "cvt.rni.ftz.f32.f32")
  C1(5, float, f, float, f, "cvt.rpi.ftz.f32.f32")
  C1(6, float, f, float, f, "cvt.sat.f32.f32")
  C1(7, float, f, float, f, "cvt.ftz.f32.f32")
}
KERNEL cvt_f64_f64(u64 *out, const double *x) {
  unsigned i = INDEX;
  C1(0, double, d, double, d, "cvt.rni.f64.f64")
  C1(1, double, d, double, d, "cvt.rzi.f64.f64")
  C1(2, double, d, double, d, "cvt.rmi.f64.f64")
  C1(3, double, d, double, d, "cvt.rpi.f64.f64")
}
KERNEL cvt_f16_f16(u64 *out, const u16 *x) {
  unsigned i = INDEX;
  C1(0, u16, h, u16, h, "cvt.rni.f16.f16")
  C1(1, u16, h, u16, h, "cvt.rzi.f16.f16")
  C1(2, u16, h, u16, h, "cvt.rmi.f16.f16")
  C1(3, u16, h, u16, h, "cvt.rpi.f16.f16")
}
KERNEL cvt_bf16_bf16(u64 *out, const u16 *x) {
  unsigned i = INDEX;
  C1(0, u16, h, u16, h, "cvt.rni.bf16.bf16")
  C1(1, u16, h, u16, h, "cvt.rzi.bf16.bf16")
  C1(2, u16, h, u16, h, "cvt.rmi.bf16.bf16")
  C1(3, u16, h, u16, h, "cvt.rpi.bf16.bf16")
}
KERNEL cvt_f32_f64(u64 *out, const double *x) {
  unsigned i = INDEX;
  C1(0, float, f, double, d, "cvt.rn.f32.f64")
  C1(1, float, f, double, d, "cvt.rz.f32.f64")
  C1(2, float, f, double, d, "cvt.rm.f32.f64")
  C1(3, float, f, double, d, "cvt.rp.f32.f64")
  C1(4, float, f, double, d, "cvt.rn.ftz.f32.f64")
  C1(5, float, f, double, d, "cvt.rz.ftz.f32.f64")
  C1(6, float, f, double, d, "cvt.rn.sat.f32.f64")
  C1(7, float, f, double, d, "cvt.rp.ftz.sat.f32.f64")
}
KERNEL cvt_f16_f64(u64 *out, const double *x) {
  unsigned i = INDEX;
  C1(0, u16, h, double, d, "cvt.rn.f16.f64")
  C1(1, u16, h, double, d, "cvt.rz.f16.f64")
  C1(2, u16, h, double, d, "cvt.rm.f16.f64")
  C1(3, u16, h, double, d, "cvt.rp.f16.f64")
}
KERNEL cvt_bf16_f64(u64 *out, const double *x) {
  unsigned i = INDEX;
  C1(0, u16, h, double, d, "cvt.rn.bf16.f64")
  C1(1, u16, h, double, d, "cvt.rz.bf16.f64")
  C1(2, u16, h, double, d, "cvt.rm.bf16.f64")
  C1(3, u16, h, double, d, "cvt.rp.bf16.f64")
}
KERNEL cvt_f64_f32(u64 *out, const float *x) {
  unsigned i = INDEX;
  C1(0, double, d, float, f, "cvt.f64.f32")
  C1(1, double, d, float, f, "cvt.ftz.f64.f32")
  C1(2, double, d, float, f, "cvt.sat.f64.f32")
}
KERNEL cvt_wide_f16(u64 *out, const u16 *x) {
  unsigned i = INDEX;
  C1(0, float, f, u16, h, "cvt.f32.f16")
  C1(1, double, d, u16, h, "cvt.f64.f16")
  C1(2, u16, h, u16, h, "cvt.rn.bf16.f16")
}
KERNEL cvt_wide_bf16(u64 *out, const u16 *x) {
  unsigned i = INDEX;
  C1(0, float, f, u16, h, "cvt.f32.bf16")
  C1(1, double, d, u16, h, "cvt.f64.bf16")
  C1(2, u16, h, u16, h, "cvt.rn.f16.bf16")
}
KERNEL cvt_tf32_f32(u64 *out, const float *x) {
  unsigned i = INDEX;
  C1(0, u32, r, float, f, "cvt.rna.tf32.f32")
  C1(1, u32, r, float, f, "cvt.rn.tf32.f32")
  C1(2, u32, r, float, f, "cvt.rz.tf32.f32")
  C1(3, u32, r, float, f, "cvt.rn.relu.tf32.f32")
}
KERNEL cvt_pairs_f32(u64 *out, const float *x) {
  unsigned i = INDEX;
  C2(0, u32, r, float, f, "cvt.rn.f16x2.f32")
  C2(1, u32, r, float, f, "cvt.rz.f16x2.f32")
  C2(2, u32, r, float, f, "cvt.rn.relu.f16x2.f32")
  C2(3, u32, r, float, f, "cvt.rz.relu.f16x2.f32")
  C2(4, u32, r, float, f, "cvt.rn.bf16x2.f32")
  C2(5, u32, r, float, f, "cvt.rz.bf16x2.f32")
  C2(6, u32, r, float, f, "cvt.rn.relu.bf16x2.f32")
  C2(7, u32, r, float, f, "cvt.rz.relu.bf16x2.f32")
}
KERNEL cvt_bytes_f32(u64 *out, const float *x) {
  unsigned i = INDEX;
  C2(0, u16, h, float, f, "cvt.rn.satfinite.e4m3x2.f32")
  C2(1, u16, h, float, f, "cvt.rn.satfinite.e5m2x2.f32")
  C2(2, u16, h, float, f, "cvt.rn.satfinite.relu.e4m3x2.f32")
  C2(3, u16, h, float, f, "cvt.rn.satfinite.relu.e5m2x2.f32")
}
KERNEL cvt_bytes_f16x2(u64 *out, const u32 *x) {
  unsigned i = INDEX;
  C1(0, u16, h, u32, r, "cvt.rn.satfinite.e4m3x2.f16x2")
  C1(1, u16, h, u32, r, "cvt.rn.satfinite.e5m2x2.f16x2")
  C1(2, u16, h, u32, r, "cvt.rn.satfinite.relu.e4m3x2.f16x2")
  C1(3, u16, h, u32, r, "cvt.rn.satfinite.relu.e5m2x2.f16x2")
}
KERNEL cvt_f16x2_bytes(u64 *out, const u16 *x) {
  unsigned i = INDEX;
  C1(0, u32, r, u16, h, "cvt.rn.f16x2.e4m3x2")
  C1(1, u32, r, u16, h, "cvt.rn.f16x2.e5m2x2")
  C1(2, u32, r, u16, h, "cvt.rn.relu.f16x2.e4m3x2")
  C1(3, u32, r, u16, h, "cvt.rn.relu.f16x2.e5m2x2")
}
KERNEL cvt_pack(u64 *out, const u32 *x) {
  unsigned i = INDEX;
  C2(0, u32, r, u32, r, "cvt.pack.sat.u16.s32")
  C2(1, u32, r, u32, r, "cvt.pack.sat.s16.s32")
}
KERNEL cvt_pack4(u64 *out, const u32 *x, const u32 *y, const u32 *z) {
  unsigned i = INDEX;
  u32 a, b;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(a)
      : "r"(x[i]), "r"(y[i]), "r"(z[i]));
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
      : "=r"(b)
      : "r"(x[i]), "r"(y[i]), "r"(z[i]));
  out[i] = a;
  out[i + 1024] = b;
}
