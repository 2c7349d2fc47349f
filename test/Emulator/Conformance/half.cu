//===- half.cu - 16-bit floats, single and packed ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of half.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

// W is the C type of one lane's value, R its register.
#define F16(T, W, R)                                                           \
  KERNEL arith_##T(W *out, const W *x, const W *y) {                           \
    unsigned i = INDEX;                                                        \
    R2(0, W, R, R, R, "add.rn." #T)                                            \
    R2(1, W, R, R, R, "add.ftz." #T)                                           \
    R2(2, W, R, R, R, "add.sat." #T)                                           \
    R2(3, W, R, R, R, "sub.rn.ftz.sat." #T)                                    \
    R2(4, W, R, R, R, "sub." #T)                                               \
    R2(5, W, R, R, R, "mul." #T)                                               \
    R2(6, W, R, R, R, "mul.rn.ftz." #T)                                        \
    R2(7, W, R, R, R, "mul.sat." #T)                                           \
  }                                                                            \
  KERNEL fma_##T(W *out, const W *x, const W *y, const W *z) {                 \
    unsigned i = INDEX;                                                        \
    R3(0, W, R, R, R, R, "fma.rn." #T)                                         \
    R3(1, W, R, R, R, R, "fma.rn.ftz." #T)                                     \
    R3(2, W, R, R, R, R, "fma.rn.sat." #T)                                     \
    R3(3, W, R, R, R, R, "fma.rn.ftz.sat." #T)                                 \
    R3(4, W, R, R, R, R, "fma.rn.relu." #T)                                    \
    R3(5, W, R, R, R, R, "fma.rn.ftz.relu." #T)                                \
  }                                                                            \
  KERNEL minmax_##T(W *out, const W *x, const W *y) {                          \
    unsigned i = INDEX;                                                        \
    R2(0, W, R, R, R, "min." #T)                                               \
    R2(1, W, R, R, R, "max." #T)                                               \
    R2(2, W, R, R, R, "min.ftz." #T)                                           \
    R2(3, W, R, R, R, "max.ftz.NaN." #T)                                       \
    R2(4, W, R, R, R, "min.NaN." #T)                                           \
    R2(5, W, R, R, R, "max.xorsign.abs." #T)                                   \
    R2(6, W, R, R, R, "min.NaN.xorsign.abs." #T)                               \
    R2(7, W, R, R, R, "max.ftz.xorsign.abs." #T)                               \
  }                                                                            \
  KERNEL sign_##T(W *out, const W *x) {                                        \
    unsigned i = INDEX;                                                        \
    R1(0, W, R, R, "neg." #T)                                                  \
    R1(1, W, R, R, "neg.ftz." #T)                                              \
    R1(2, W, R, R, "abs." #T)                                                  \
    R1(3, W, R, R, "abs.ftz." #T)                                              \
  }
F16(f16, u16, h)
F16(f16x2, u32, r)

#define BF16(T, W, R)                                                          \
  KERNEL arith_##T(W *out, const W *x, const W *y) {                           \
    unsigned i = INDEX;                                                        \
    R2(0, W, R, R, R, "add.rn." #T)                                            \
    R2(1, W, R, R, R, "sub.rn." #T)                                            \
    R2(2, W, R, R, R, "mul.rn." #T)                                            \
  }                                                                            \
  KERNEL fma_##T(W *out, const W *x, const W *y, const W *z) {                 \
    unsigned i = INDEX;                                                        \
    R3(0, W, R, R, R, R, "fma.rn." #T)                                         \
    R3(1, W, R, R, R, R, "fma.rn.relu." #T)                                    \
  }                                                                            \
  KERNEL minmax_##T(W *out, const W *x, const W *y) {                          \
    unsigned i = INDEX;                                                        \
    R2(0, W, R, R, R, "min." #T)                                               \
    R2(1, W, R, R, R, "max." #T)                                               \
    R2(2, W, R, R, R, "min.NaN." #T)                                           \
    R2(3, W, R, R, R, "max.NaN." #T)                                           \
    R2(4, W, R, R, R, "min.xorsign.abs." #T)                                   \
    R2(5, W, R, R, R, "max.NaN.xorsign.abs." #T)                               \
  }                                                                            \
  KERNEL sign_##T(W *out, const W *x) {                                        \
    unsigned i = INDEX;                                                        \
    R1(0, W, R, R, "neg." #T)                                                  \
    R1(1, W, R, R, "abs." #T)                                                  \
  }
BF16(bf16, u16, h)
BF16(bf16x2, u32, r)
