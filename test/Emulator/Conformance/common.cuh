//===- common.cuh - Macros of the conformance kernels ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines kernels that apply one instruction to 1024 elements. The
// instruction is written as PTX so that no compiler chooses another one.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

using u8 = uint8_t;
using s8 = int8_t;
using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = unsigned long long;
using s64 = long long;

/// K1(name, result type, its register, operand type, its register, PTX)
#define K1(name, D, d, A, a, text)                                             \
  KERNEL name(D *out, const A *x) {                                            \
    unsigned i = INDEX;                                                        \
    D result;                                                                  \
    asm(text " %0, %1;" : "=" #d(result) : #a(x[i]));                          \
    out[i] = result;                                                           \
  }
#define K2(name, D, d, A, a, B, b, text)                                       \
  KERNEL name(D *out, const A *x, const B *y) {                                \
    unsigned i = INDEX;                                                        \
    D result;                                                                  \
    asm(text " %0, %1, %2;" : "=" #d(result) : #a(x[i]), #b(y[i]));            \
    out[i] = result;                                                           \
  }
#define K3(name, D, d, A, a, B, b, C, c, text)                                 \
  KERNEL name(D *out, const A *x, const B *y, const C *z) {                    \
    unsigned i = INDEX;                                                        \
    D result;                                                                  \
    asm(text " %0, %1, %2, %3;"                                                \
        : "=" #d(result)                                                       \
        : #a(x[i]), #b(y[i]), #c(z[i]));                                       \
    out[i] = result;                                                           \
  }

/// One of several results of a kernel: the k-th block of 1024 elements.
#define R1(k, D, d, a, text)                                                   \
  {                                                                            \
    D result;                                                                  \
    asm(text " %0, %1;" : "=" #d(result) : #a(x[i]));                          \
    out[i + 1024 * k] = result;                                                \
  }
#define R2(k, D, d, a, b, text)                                                \
  {                                                                            \
    D result;                                                                  \
    asm(text " %0, %1, %2;" : "=" #d(result) : #a(x[i]), #b(y[i]));            \
    out[i + 1024 * k] = result;                                                \
  }
#define R3(k, D, d, a, b, c, text)                                             \
  {                                                                            \
    D result;                                                                  \
    asm(text " %0, %1, %2, %3;"                                                \
        : "=" #d(result)                                                       \
        : #a(x[i]), #b(y[i]), #c(z[i]));                                       \
    out[i + 1024 * k] = result;                                                \
  }
