//===- memory.cu - Loads, stores and atomics ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of memory.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

// Vectors of every shape, through caches of every kind.
#define VECTOR(T, W, R)                                                        \
  KERNEL vector2_##T(W *out, const W *x) {                                     \
    unsigned i = INDEX;                                                        \
    W a, b;                                                                    \
    asm volatile("ld.global.nc.v2." #T " {%0, %1}, [%2];"                      \
                 : "=" #R(a), "=" #R(b)                                        \
                 : "l"(x + 2 * i));                                            \
    asm volatile("st.global.cs.v2." #T " [%0], {%2, %1};" ::"l"(out + 2 * i),  \
                 #R(a), #R(b)                                                  \
                 : "memory");                                                  \
  }
VECTOR(b8, u16, h)
VECTOR(b16, u16, h)
VECTOR(b32, u32, r)
VECTOR(b64, u64, l)
VECTOR(f32, float, f)
VECTOR(f64, double, d)
#define VECTOR4(T, W, R)                                                       \
  KERNEL vector4_##T(W *out, const W *x) {                                     \
    unsigned i = INDEX;                                                        \
    W a, b, c, e;                                                              \
    asm volatile("ld.global.cg.L2::128B.v4." #T " {%0, %1, %2, %3}, [%4];"     \
                 : "=" #R(a), "=" #R(b), "=" #R(c), "=" #R(e)                  \
                 : "l"(x + 4 * i));                                            \
    asm volatile("st.global.wb.v4." #T " [%0], {%4, %3, %2, %1};" ::"l"(       \
                     out + 4 * i),                                             \
                 #R(a), #R(b), #R(c), #R(e)                                    \
                 : "memory");                                                  \
  }
VECTOR4(u16, u16, h)
VECTOR4(u32, u32, r)
VECTOR4(f32, float, f)

// What a load extends and a store cuts off.
KERNEL extend(s32 *out, const u8 *x, const u16 *y) {
  unsigned i = INDEX;
  s32 a, b, c, d;
  asm volatile("ld.global.s8 %0, [%1];" : "=r"(a) : "l"(x + i));
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(b) : "l"(x + i));
  asm volatile("ld.global.s16 %0, [%1];" : "=r"(c) : "l"(y + i));
  asm volatile("ld.global.ca.u16 %0, [%1];" : "=r"(d) : "l"(y + i));
  out[4 * i] = a;
  out[4 * i + 1] = b;
  out[4 * i + 2] = c;
  out[4 * i + 3] = d;
}
KERNEL truncate(u8 *out, const u32 *x) {
  unsigned i = INDEX;
  asm volatile("st.global.u8 [%0], %1;" ::"l"(out + i), "r"(x[i]) : "memory");
}
KERNEL hints(u32 *out, const u32 *x) {
  unsigned i = INDEX;
  u32 a, b, c, d, e;
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i));
  asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(a) : "l"(x + i));
  asm volatile("ld.global.nc.L1::evict_last.L2::cache_hint.u32 %0, [%1], %2;"
               : "=r"(b)
               : "l"(x + i), "l"(policy));
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(c) : "l"(x + i));
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(d) : "l"(x + i));
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(e) : "l"(x + i));
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(out + i),
               "r"(a + b + c + d + e)
               : "memory");
}

// Other spaces.
__constant__ u32 table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ const u32 *const pointers[2] = {table, table + 3};
KERNEL constants(u32 *out, const u32 *x) {
  unsigned i = INDEX;
  out[i] = table[x[i] % 64] * 100 + pointers[x[i] & 1][x[i] % 8];
}
KERNEL local_array(u32 *out, const u32 *x) {
  unsigned i = INDEX;
  u32 stack[32];
  for (unsigned k = 0; k < 32; ++k)
    stack[k] = x[i] * (k + 1);
  for (unsigned k = 0; k < 64; ++k) {
    unsigned a = stack[k % 32] % 32, b = (stack[(k + 7) % 32] >> 5) % 32;
    u32 swap = stack[a];
    stack[a] = stack[b] ^ k;
    stack[b] = swap;
  }
  u32 sum = 0;
  for (unsigned k = 0; k < 32; ++k)
    sum = sum * 31 + stack[k];
  out[i] = sum;
}
KERNEL shared_reverse(u32 *out, const u32 *x) {
  __shared__ u32 tile[128];
  extern __shared__ u32 dynamic[];
  tile[threadIdx.x] = x[INDEX];
  dynamic[threadIdx.x ^ 1] = x[INDEX] * 3;
  __syncthreads();
  out[INDEX] = tile[127 - threadIdx.x] + dynamic[threadIdx.x];
}
KERNEL generic_pointers(u32 *out, const u32 *x) {
  __shared__ u32 tile[128];
  u32 own[4];
  own[threadIdx.x & 3] = x[INDEX] + 1;
  tile[threadIdx.x] = x[INDEX] + 2;
  const u32 *from = threadIdx.x % 3 == 0   ? x + INDEX
                    : threadIdx.x % 3 == 1 ? tile + threadIdx.x
                                           : own + (threadIdx.x & 3);
  out[INDEX] = *from + (__isShared(from) ? 1000 : 0) +
               (__isLocal(from) ? 2000 : 0) + (__isGlobal(from) ? 4000 : 0);
}
struct Options {
  u8 a;
  u16 b;
  u32 c[5];
  double d;
};
KERNEL structure(double *out, const u32 *x, const Options options) {
  unsigned i = INDEX;
  out[i] = options.a + options.b * 2.0 + options.c[x[i] % 5] + options.d;
}

// Atomics whose result does not depend on the order. Each has a pair of
// blocks and warps at each address.
#define ATOMIC(op, T, S, R)                                                    \
  KERNEL atom_##op##_##T(S *out, const S *x) {                                 \
    S *to = out + INDEX % 64;                                                  \
    asm volatile("red.global." #op "." #T " [%0], %1;" ::"l"(to),              \
                 #R(x[INDEX])                                                  \
                 : "memory");                                                  \
  }
ATOMIC(add, u32, u32, r)
ATOMIC(add, s32, s32, r)
ATOMIC(add, u64, u64, l)
ATOMIC(min, u32, u32, r)
ATOMIC(min, s32, s32, r)
ATOMIC(min, u64, u64, l)
ATOMIC(min, s64, s64, l)
ATOMIC(max, u32, u32, r)
ATOMIC(max, s32, s32, r)
ATOMIC(max, u64, u64, l)
ATOMIC(max, s64, s64, l)
ATOMIC(and, b32, u32, r)
ATOMIC(and, b64, u64, l)
ATOMIC(or, b32, u32, r)
ATOMIC(or, b64, u64, l)
ATOMIC(xor, b32, u32, r)
ATOMIC(xor, b64, u64, l)
ATOMIC(inc, u32, u32, r)
/// One lane an address: the sum is one rounding.
#define ALONE(name, S, R, text)                                                \
  KERNEL name(S *out, S *memory, const S *x) {                                 \
    unsigned i = INDEX;                                                        \
    S old;                                                                     \
    asm volatile(text " %0, [%1], %2;"                                         \
                 : "=" #R(old)                                                 \
                 : "l"(memory + i), #R(x[i])                                   \
                 : "memory");                                                  \
    out[i] = old;                                                              \
  }
ALONE(alone_add_f32, float, f, "atom.global.add.f32")
ALONE(alone_add_f64, double, d, "atom.global.add.f64")
ALONE(alone_add_f16, u16, h, "atom.global.add.noftz.f16")
ALONE(alone_add_f16x2, u32, r, "atom.global.add.noftz.f16x2")
ALONE(alone_add_bf16, u16, h, "atom.global.add.noftz.bf16")
ALONE(alone_add_bf16x2, u32, r, "atom.global.add.noftz.bf16x2")
ALONE(alone_exch_b32, u32, r, "atom.global.exch.b32")
ALONE(alone_exch_b64, u64, l, "atom.global.exch.b64")
ALONE(alone_inc_u32, u32, r, "atom.global.inc.u32")
ALONE(alone_dec_u32, u32, r, "atom.relaxed.gpu.global.dec.u32")
ALONE(alone_min_s64, s64, l, "atom.acq_rel.gpu.global.min.s64")
KERNEL shared_add_f32(float *out, const float *x, const float *y) {
  __shared__ float tile[128];
  tile[threadIdx.x] = x[INDEX];
  __syncthreads();
  atomicAdd(&tile[threadIdx.x], y[INDEX]);
  __syncthreads();
  out[INDEX] = tile[threadIdx.x];
}
KERNEL cas_u16(u16 *out, u16 *memory, const u16 *x) {
  unsigned i = INDEX;
  u16 old;
  asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;"
               : "=h"(old)
               : "l"(memory + i), "h"(u16(x[i] % 4)), "h"(x[i])
               : "memory");
  out[i] = old;
}
KERNEL cas_u32(u32 *out, u32 *memory, const u32 *x) {
  unsigned i = INDEX;
  out[i] = atomicCAS(memory + i, x[i] % 4, x[i]);
}
KERNEL cas_u64(u64 *out, u64 *memory, const u64 *x) {
  unsigned i = INDEX;
  out[i] = atomicCAS(memory + i, x[i] % 4, x[i]);
}
/// A maximum of floats by compare and swap.
KERNEL cas_loop(u32 *out, const float *x) {
  u32 *to = out + INDEX % 16, old = *to;
  while (__uint_as_float(old) < x[INDEX]) {
    u32 seen = atomicCAS(to, old, __float_as_uint(x[INDEX]));
    if (seen == old)
      break;
    old = seen;
  }
}

// Vectors added at once, for sm_90.
#define ADD2(name, S, R, text)                                                 \
  KERNEL name(S *memory, const S *x) {                                         \
    unsigned i = 2 * INDEX;                                                    \
    asm volatile(text " [%0], {%1, %2};" ::"l"(memory + i), #R(x[i]),          \
                 #R(x[i + 1])                                                  \
                 : "memory");                                                  \
  }
ADD2(red_v2_f32, float, f, "red.global.v2.f32.add")
ADD2(red_v2_f16x2, u32, r, "red.global.v2.f16x2.add.noftz")
ADD2(red_v2_bf16x2, u32, r, "red.global.v2.bf16x2.min.noftz")
ADD2(red_v2_f16, u16, h, "red.global.v2.f16.max.noftz")
KERNEL red_v4_f32(float *memory, const float *x) {
  unsigned i = 4 * INDEX;
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                   memory + i),
               "f"(x[i]), "f"(x[i + 1]), "f"(x[i + 2]), "f"(x[i + 3])
               : "memory");
}
KERNEL atom_v4_f32(float *out, float *memory, const float *x) {
  unsigned i = 4 * INDEX;
  float a, b, c, d;
  asm volatile("atom.global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, "
               "%8};"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(memory + i), "f"(x[i]), "f"(x[i + 1]), "f"(x[i + 2]),
                 "f"(x[i + 3])
               : "memory");
  out[i] = a;
  out[i + 1] = b;
  out[i + 2] = c;
  out[i + 3] = d;
}

// Values of 128 bits.
KERNEL exchange128(uint4 *out, uint4 *memory, const uint4 *x) {
  unsigned i = INDEX;
  uint4 v = x[i], old;
  asm volatile("{.reg .b128 v, o;\n\t.reg .b64 a, b;\n\t"
               "mov.b64 a, {%5, %6};\n\tmov.b64 b, {%7, %8};\n\t"
               "mov.b128 v, {a, b};\n\t"
               "atom.global.exch.b128 o, [%4], v;\n\t"
               "mov.b128 {a, b}, o;\n\tmov.b64 {%0, %1}, a;\n\t"
               "mov.b64 {%2, %3}, b;}"
               : "=r"(old.x), "=r"(old.y), "=r"(old.z), "=r"(old.w)
               : "l"(memory + i), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
  out[i] = old;
}
KERNEL uniform_load(u32 *out, const u32 *x) {
  u32 a, b;
  asm volatile("ldu.global.v2.u32 {%0, %1}, [%2];"
               : "=r"(a), "=r"(b)
               : "l"(x + 2 * (INDEX / 2)));
  out[INDEX] = a - b;
}
