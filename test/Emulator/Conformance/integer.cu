//===- integer.cu - Integer instructions ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of integer.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

// Every width, signed and unsigned.
#define ARITHMETIC(T, R)                                                       \
  K2(add_##T, T, R, T, R, T, R, "add." #T)                                     \
  K2(sub_##T, T, R, T, R, T, R, "sub." #T)                                     \
  K2(mul_lo_##T, T, R, T, R, T, R, "mul.lo." #T)                               \
  K2(mul_hi_##T, T, R, T, R, T, R, "mul.hi." #T)                               \
  K3(mad_lo_##T, T, R, T, R, T, R, T, R, "mad.lo." #T)                         \
  K3(mad_hi_##T, T, R, T, R, T, R, T, R, "mad.hi." #T)                         \
  K2(div_##T, T, R, T, R, T, R, "div." #T)                                     \
  K2(rem_##T, T, R, T, R, T, R, "rem." #T)                                     \
  K2(min_##T, T, R, T, R, T, R, "min." #T)                                     \
  K2(max_##T, T, R, T, R, T, R, "max." #T)                                     \
  K3(sad_##T, T, R, T, R, T, R, T, R, "sad." #T)                               \
  K2(shr_##T, T, R, T, R, u32, r, "shr." #T)
ARITHMETIC(u16, h)
ARITHMETIC(s16, h)
ARITHMETIC(u32, r)
ARITHMETIC(s32, r)
ARITHMETIC(u64, l)
ARITHMETIC(s64, l)

#define SIGNED(T, R)                                                           \
  K1(neg_##T, T, R, T, R, "neg." #T)                                           \
  K1(abs_##T, T, R, T, R, "abs." #T)
SIGNED(s16, h)
SIGNED(s32, r)
SIGNED(s64, l)

#define BITWISE(W, T, R)                                                       \
  K2(and_##T, T, R, T, R, T, R, "and.b" #W)                                    \
  K2(or_##T, T, R, T, R, T, R, "or.b" #W)                                      \
  K2(xor_##T, T, R, T, R, T, R, "xor.b" #W)                                    \
  K1(not_##T, T, R, T, R, "not.b" #W)                                          \
  K1(cnot_##T, T, R, T, R, "cnot.b" #W)                                        \
  K2(shl_##T, T, R, T, R, u32, r, "shl.b" #W)
BITWISE(16, u16, h)
BITWISE(32, u32, r)
BITWISE(64, u64, l)

#define COUNTING(W, T, R)                                                      \
  K1(popc_##T, u32, r, T, R, "popc.b" #W)                                      \
  K1(clz_##T, u32, r, T, R, "clz.b" #W)                                        \
  K1(brev_##T, T, R, T, R, "brev.b" #W)                                        \
  KERNEL bfi_##T(T *out, const T *x, const T *y, const u32 *z) {               \
    unsigned i = INDEX;                                                        \
    T result;                                                                  \
    asm("bfi.b" #W " %0, %1, %2, %3, %4;"                                      \
        : "=" #R(result)                                                       \
        : #R(x[i]), #R(y[i]), "r"(z[i] % 80), "r"((z[i] >> 8) % 80));          \
    out[i] = result;                                                           \
  }
COUNTING(32, u32, r)
COUNTING(64, u64, l)

#define FIELDS(T, R)                                                           \
  K1(bfind_##T, u32, r, T, R, "bfind." #T)                                     \
  K1(bfind_shiftamt_##T, u32, r, T, R, "bfind.shiftamt." #T)                   \
  K3(bfe_##T, T, R, T, R, u32, r, u32, r, "bfe." #T)
FIELDS(u32, r)
FIELDS(s32, r)
FIELDS(u64, l)
FIELDS(s64, l)

#define WIDE(T, R, W, w)                                                       \
  K2(mul_wide_##T, W, w, T, R, T, R, "mul.wide." #T)                           \
  K3(mad_wide_##T, W, w, T, R, T, R, W, w, "mad.wide." #T)
WIDE(u16, h, u32, r)
WIDE(s16, h, s32, r)
WIDE(u32, r, u64, l)
WIDE(s32, r, s64, l)

#define SMALL(T)                                                               \
  K2(mul24_lo_##T, T, r, T, r, T, r, "mul24.lo." #T)                           \
  K2(mul24_hi_##T, T, r, T, r, T, r, "mul24.hi." #T)                           \
  K3(mad24_lo_##T, T, r, T, r, T, r, T, r, "mad24.lo." #T)                     \
  K3(mad24_hi_##T, T, r, T, r, T, r, T, r, "mad24.hi." #T)                     \
  K2(bmsk_##T, T, r, T, r, T, r, "bmsk.clamp.b32")                             \
  K2(szext_clamp_##T, T, r, T, r, u32, r, "szext.clamp." #T)                   \
  K2(szext_wrap_##T, T, r, T, r, u32, r, "szext.wrap." #T)                     \
  K3(dp4a_##T##_u32, T, r, T, r, u32, r, T, r, "dp4a." #T ".u32")              \
  K3(dp4a_##T##_s32, s32, r, T, r, s32, r, s32, r, "dp4a." #T ".s32")          \
  K3(dp2a_lo_##T##_u32, T, r, T, r, u32, r, T, r, "dp2a.lo." #T ".u32")        \
  K3(dp2a_hi_##T##_s32, s32, r, T, r, s32, r, s32, r, "dp2a.hi." #T ".s32")
SMALL(u32)
SMALL(s32)
K2(bmsk_wrap, u32, r, u32, r, u32, r, "bmsk.wrap.b32")
K2(add_sat_s32, s32, r, s32, r, s32, r, "add.sat.s32")
K2(sub_sat_s32, s32, r, s32, r, s32, r, "sub.sat.s32")
K3(mad_hi_sat_s32, s32, r, s32, r, s32, r, s32, r, "mad.hi.sat.s32")
K3(mad24_hi_sat_s32, s32, r, s32, r, s32, r, s32, r, "mad24.hi.sat.s32")
K2(min_relu_s32, s32, r, s32, r, s32, r, "min.relu.s32")
K2(max_relu_s32, s32, r, s32, r, s32, r, "max.relu.s32")

// Pairs of 16-bit integers.
K2(add_u16x2, u32, r, u32, r, u32, r, "add.u16x2")
K2(add_s16x2, u32, r, u32, r, u32, r, "add.s16x2")
K2(min_u16x2, u32, r, u32, r, u32, r, "min.u16x2")
K2(min_s16x2, u32, r, u32, r, u32, r, "min.s16x2")
K2(max_u16x2, u32, r, u32, r, u32, r, "max.u16x2")
K2(max_s16x2, u32, r, u32, r, u32, r, "max.s16x2")
K2(min_relu_s16x2, u32, r, u32, r, u32, r, "min.s16x2.relu")
K2(max_relu_s16x2, u32, r, u32, r, u32, r, "max.s16x2.relu")

// Shifts of two words, permutations of bytes, all 3-input functions.
K3(shf_l_clamp, u32, r, u32, r, u32, r, u32, r, "shf.l.clamp.b32")
K3(shf_l_wrap, u32, r, u32, r, u32, r, u32, r, "shf.l.wrap.b32")
K3(shf_r_clamp, u32, r, u32, r, u32, r, u32, r, "shf.r.clamp.b32")
K3(shf_r_wrap, u32, r, u32, r, u32, r, u32, r, "shf.r.wrap.b32")
K3(prmt_index, u32, r, u32, r, u32, r, u32, r, "prmt.b32")
K3(prmt_f4e, u32, r, u32, r, u32, r, u32, r, "prmt.b32.f4e")
K3(prmt_b4e, u32, r, u32, r, u32, r, u32, r, "prmt.b32.b4e")
K3(prmt_rc8, u32, r, u32, r, u32, r, u32, r, "prmt.b32.rc8")
K3(prmt_ecl, u32, r, u32, r, u32, r, u32, r, "prmt.b32.ecl")
K3(prmt_ecr, u32, r, u32, r, u32, r, u32, r, "prmt.b32.ecr")
K3(prmt_rc16, u32, r, u32, r, u32, r, u32, r, "prmt.b32.rc16")
#define LOP3(k, table)                                                         \
  {                                                                            \
    u32 result;                                                                \
    asm("lop3.b32 %0, %1, %2, %3, " #table ";"                                 \
        : "=r"(result)                                                         \
        : "r"(x[i]), "r"(y[i]), "r"(z[i]));                                    \
    out[i + 1024 * k] = result;                                                \
  }
KERNEL lop3(u32 *out, const u32 *x, const u32 *y, const u32 *z) {
  unsigned i = INDEX;
  LOP3(0, 0xe8)
  LOP3(1, 0x96)
  LOP3(2, 0xca)
  LOP3(3, 0x1b)
}
KERNEL fns(u32 *out, const u32 *x, const u32 *y, const s32 *z) {
  unsigned i = INDEX;
  u32 result;
  s32 offset = z[i] % 8;
  asm("fns.b32 %0, %1, %2, %3;"
      : "=r"(result)
      : "r"(x[i]), "r"(y[i] % 32), "r"(offset));
  out[i] = result;
}

// Carry chains.
KERNEL carry_add128(u64 *out, const u64 *x, const u64 *y) {
  unsigned i = INDEX;
  u64 low, high, top;
  asm("add.cc.u64 %0, %3, %4;\n\taddc.cc.u64 %1, %4, %3;\n\t"
      "addc.u64 %2, %3, %3;"
      : "=l"(low), "=l"(high), "=l"(top)
      : "l"(x[i]), "l"(y[i]));
  out[i] = low;
  out[i + 1024] = high;
  out[i + 2048] = top;
}
KERNEL carry_sub96(u32 *out, const u32 *x, const u32 *y) {
  unsigned i = INDEX;
  u32 low, middle, high;
  asm("sub.cc.u32 %0, %3, %4;\n\tsubc.cc.u32 %1, %4, %3;\n\t"
      "subc.u32 %2, %3, %4;"
      : "=r"(low), "=r"(middle), "=r"(high)
      : "r"(x[i]), "r"(y[i]));
  out[i] = low;
  out[i + 1024] = middle;
  out[i + 2048] = high;
}
KERNEL carry_mad64(u32 *out, const u32 *x, const u32 *y, const u32 *z) {
  unsigned i = INDEX;
  u32 low, high, top;
  asm("mad.lo.cc.u32 %0, %3, %4, %5;\n\tmadc.hi.cc.u32 %1, %3, %4, %5;\n\t"
      "addc.u32 %2, 0, 0;"
      : "=r"(low), "=r"(high), "=r"(top)
      : "r"(x[i]), "r"(y[i]), "r"(z[i]));
  out[i] = low;
  out[i + 1024] = high;
  out[i + 2048] = top;
}
KERNEL carry_mad128(u64 *out, const u64 *x, const u64 *y, const u64 *z) {
  unsigned i = INDEX;
  u64 low, high, top;
  asm("mad.lo.cc.u64 %0, %3, %4, %5;\n\tmadc.hi.cc.u64 %1, %3, %4, %5;\n\t"
      "madc.lo.u64 %2, %4, %5, %3;"
      : "=l"(low), "=l"(high), "=l"(top)
      : "l"(x[i]), "l"(y[i]), "l"(z[i]));
  out[i] = low;
  out[i + 1024] = high;
  out[i + 2048] = top;
}

// Division by constants, which the compiler turns into multiplications.
#define DIVIDE(T)                                                              \
  KERNEL divide_constants_##T(T *out, const T *x) {                            \
    unsigned i = INDEX;                                                        \
    out[i] = x[i] / T(3);                                                      \
    out[i + 1024] = x[i] % T(7);                                               \
    out[i + 2048] = x[i] / T(100) + x[i] % T(10);                              \
    out[i + 3072] = x[i] / T(8) - x[i] % T(32);                                \
  }
DIVIDE(u16)
DIVIDE(s16)
DIVIDE(u32)
DIVIDE(s32)
DIVIDE(u64)
DIVIDE(s64)
