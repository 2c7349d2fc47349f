//===- compare.cu - Comparisons and selections -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of compare.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

/// Sets bit k of `bits` to a comparison.
#define C(k, a, text)                                                          \
  {                                                                            \
    u32 result;                                                                \
    asm("{.reg .pred p;\n\tsetp." text " p, %1, %2;\n\t"                       \
        "selp.b32 %0, 1, 0, p;}"                                               \
        : "=r"(result)                                                         \
        : #a(x[i]), #a(y[i]));                                                 \
    bits |= result << k;                                                       \
  }
#define SIGNED(T, R)                                                           \
  C(0, R, "eq." #T) C(1, R, "ne." #T) C(2, R, "lt." #T) C(3, R, "le." #T)      \
  C(4, R, "gt." #T) C(5, R, "ge." #T)
#define UNSIGNED(T, R)                                                         \
  SIGNED(T, R)                                                                 \
  C(6, R, "lo." #T) C(7, R, "ls." #T) C(8, R, "hi." #T) C(9, R, "hs." #T)
#define FLOATS(T, R)                                                           \
  SIGNED(T, R)                                                                 \
  C(6, R, "equ." #T) C(7, R, "neu." #T) C(8, R, "ltu." #T)                     \
  C(9, R, "leu." #T) C(10, R, "gtu." #T) C(11, R, "geu." #T)                   \
  C(12, R, "num." #T) C(13, R, "nan." #T)
#define FLUSHED(T, R)                                                          \
  FLOATS(T, R)                                                                 \
  C(14, R, "eq.ftz." #T) C(15, R, "lt.ftz." #T) C(16, R, "geu.ftz." #T)
#define SETP(S, T, R, M)                                                       \
  KERNEL setp_##T(u32 *out, const S *x, const S *y) {                          \
    unsigned i = INDEX;                                                        \
    u32 bits = 0;                                                              \
    M(T, R)                                                                    \
    out[i] = bits;                                                             \
  }
SETP(u16, u16, h, UNSIGNED)
SETP(s16, s16, h, SIGNED)
SETP(u32, u32, r, UNSIGNED)
SETP(s32, s32, r, SIGNED)
SETP(u64, u64, l, UNSIGNED)
SETP(s64, s64, l, SIGNED)
SETP(u16, f16, h, FLUSHED)
SETP(u16, bf16, h, FLOATS)
SETP(float, f32, f, FLUSHED)
SETP(double, f64, d, FLOATS)

/// Two results and a third predicate.
#define COMBINE(op, T, S, R)                                                   \
  KERNEL setp_##op##_##T(u32 *out, const S *x, const S *y) {                   \
    unsigned i = INDEX;                                                        \
    u32 p, q;                                                                  \
    asm("{.reg .pred p, q, r;\n\tsetp.ne.u32 r, %4, 0;\n\t"                    \
        "setp.lt." #op "." #T " p|q, %2, %3, !r;\n\t"                          \
        "selp.b32 %0, 1, 0, p;\n\tselp.b32 %1, 1, 0, q;}"                      \
        : "=r"(p), "=r"(q)                                                     \
        : #R(x[i]), #R(y[i]), "r"(i & 1));                                     \
    out[i] = p | q << 1;                                                       \
  }
COMBINE(and, u32, u32, r)
COMBINE(or, u32, u32, r)
COMBINE(xor, u32, u32, r)
COMBINE(and, f32, float, f)
COMBINE(or, f64, double, d)
COMBINE(xor, s64, s64, l)
/// Both halves of a pair have a predicate of their own.
#define PAIRS(T)                                                               \
  KERNEL setp_##T(u32 *out, const u32 *x, const u32 *y) {                      \
    unsigned i = INDEX;                                                        \
    u32 p, q;                                                                  \
    asm("{.reg .pred p, q;\n\tsetp.le." #T " p|q, %2, %3;\n\t"                 \
        "selp.b32 %0, 1, 0, p;\n\tselp.b32 %1, 1, 0, q;}"                      \
        : "=r"(p), "=r"(q)                                                     \
        : "r"(x[i]), "r"(y[i]));                                               \
    out[i] = p | q << 1;                                                       \
  }
PAIRS(f16x2)
PAIRS(bf16x2)

#define SET(D, W, R, T, S, Q)                                                  \
  K2(set_##D##_##T, W, R, S, Q, S, Q, "set.gt." #D "." #T)
SET(u32, u32, r, u16, u16, h)
SET(s32, s32, r, s16, s16, h)
SET(u32, u32, r, u32, u32, r)
SET(f32, float, f, s32, s32, r)
SET(s32, s32, r, u64, u64, l)
SET(f32, float, f, s64, s64, l)
SET(u32, u32, r, f32, float, f)
SET(f32, float, f, f32, float, f)
SET(s32, s32, r, f64, double, d)
SET(u32, u32, r, f16, u16, h)
SET(f16, u16, h, f16, u16, h)
SET(f16x2, u32, r, f16x2, u32, r)
SET(u32, u32, r, f16x2, u32, r)
SET(bf16, u16, h, bf16, u16, h)
SET(bf16x2, u32, r, bf16x2, u32, r)

#define SELP(T, S, R)                                                          \
  KERNEL selp_##T(S *out, const S *x, const S *y) {                            \
    unsigned i = INDEX;                                                        \
    S result;                                                                  \
    asm("{.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t"                          \
        "selp." #T " %0, %1, %2, p;}"                                          \
        : "=" #R(result)                                                       \
        : #R(x[i]), #R(y[i]), "r"(i % 3));                                     \
    out[i] = result;                                                           \
  }
SELP(b16, u16, h)
SELP(b32, u32, r)
SELP(b64, u64, l)
SELP(f32, float, f)
SELP(f64, double, d)
#define SLCT(T, S, R)                                                          \
  K3(slct_##T##_s32, S, R, S, R, S, R, s32, r, "slct." #T ".s32")              \
  K3(slct_##T##_f32, S, R, S, R, S, R, float, f, "slct.ftz." #T ".f32")
SLCT(u16, u16, h)
SLCT(u32, u32, r)
SLCT(u64, u64, l)
SLCT(f32, float, f)
SLCT(f64, double, d)

#define TESTP(k, T, R, kind)                                                   \
  {                                                                            \
    u32 result;                                                                \
    asm("{.reg .pred p;\n\ttestp." kind "." #T " p, %1;\n\t"                   \
        "selp.b32 %0, 1, 0, p;}"                                               \
        : "=r"(result)                                                         \
        : #R(x[i]));                                                           \
    bits |= result << k;                                                       \
  }
#define TESTS(T, S, R)                                                         \
  KERNEL testp_##T(u32 *out, const S *x) {                                     \
    unsigned i = INDEX;                                                        \
    u32 bits = 0;                                                              \
    TESTP(0, T, R, "finite") TESTP(1, T, R, "infinite")                        \
    TESTP(2, T, R, "number") TESTP(3, T, R, "notanumber")                      \
    TESTP(4, T, R, "normal") TESTP(5, T, R, "subnormal")                       \
    out[i] = bits;                                                             \
  }
TESTS(f32, float, f)
TESTS(f64, double, d)
KERNEL predicates(u32 *out, const u32 *x, const u32 *y) {
  unsigned i = INDEX;
  u32 result;
  asm("{.reg .pred p, q, r, s;\n\tsetp.lt.u32 p, %1, %2;\n\t"
      "setp.lt.s32 q, %1, %2;\n\tand.pred r, p, !q;\n\tor.pred s, p, q;\n\t"
      "xor.pred p, r, s;\n\tnot.pred q, p;\n\tmov.pred r, q;\n\t"
      "selp.b32 %0, 5, 9, r;\n\t@!p add.u32 %0, %0, 16;\n\t"
      "@s add.u32 %0, %0, 32;}"
      : "=r"(result)
      : "r"(x[i]), "r"(y[i]));
  out[i] = result;
}
