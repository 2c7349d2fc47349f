//===- warp.cu - Instructions that cross lanes -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of warp.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

// Whole warps.
#define SHUFFLE(name, call)                                                    \
  KERNEL shfl_##name(u32 *out, const u32 *x, const u32 *y) {                   \
    unsigned i = INDEX;                                                        \
    u32 result, ok;                                                            \
    asm volatile("{.reg .pred p;\n\tshfl.sync." call                           \
                 ".b32 %0|p, %2, %3, %4, 0xffffffff;\n\t"                      \
                 "selp.b32 %1, 1, 0, p;}"                                      \
                 : "=r"(result), "=r"(ok)                                      \
                 : "r"(x[i]), "r"(y[i] & 31), "r"(y[i] >> 8 & 0x1f1f));        \
    out[i] = result;                                                           \
    out[i + 1024] = ok;                                                        \
  }
SHUFFLE(up, "up")
SHUFFLE(down, "down")
SHUFFLE(bfly, "bfly")
SHUFFLE(idx, "idx")
#define WIDTH(w)                                                               \
  KERNEL shfl_width##w(u32 *out, const u32 *x) {                               \
    u32 v = x[INDEX];                                                          \
    v += __shfl_up_sync(~0u, v, 1, w);                                         \
    v ^= __shfl_down_sync(~0u, v, 2, w);                                       \
    v += __shfl_xor_sync(~0u, v, 3, w);                                        \
    out[INDEX] = v + __shfl_sync(~0u, v, 5, w);                                \
  }
WIDTH(4)
WIDTH(8)
WIDTH(16)
WIDTH(32)
KERNEL votes(u32 *out, const u32 *x) {
  u32 v = x[INDEX];
  u32 r = __all_sync(~0u, v & 1) | __any_sync(~0u, v & 2) << 1;
  u32 uniform;
  asm volatile("{.reg .pred p, q;\n\tsetp.lt.u32 p, %1, 3;\n\t"
               "vote.sync.uni.pred q, p, 0xffffffff;\n\t"
               "selp.b32 %0, 1, 0, q;}"
               : "=r"(uniform)
               : "r"(v % 4));
  out[INDEX] = r | uniform << 2;
  out[INDEX + 1024] = __ballot_sync(~0u, v & 4);
}
/// Each half of a warp by itself, in a divergent branch.
KERNEL votes_divergent(u32 *out, const u32 *x) {
  u32 v = x[INDEX], r;
  if (threadIdx.x & 1)
    r = __ballot_sync(0xaaaaaaaa, v & 1);
  else
    r = __reduce_add_sync(0x55555555, v & 0xff);
  __syncwarp();
  out[INDEX] = r + __shfl_xor_sync(~0u, r, 1);
}
KERNEL matches(u32 *out, const u32 *x) {
  u32 v = x[INDEX];
  int all;
  out[INDEX] = __match_any_sync(~0u, v % 5);
  out[INDEX + 1024] = __match_all_sync(~0u, v % 2, &all) | all;
  out[INDEX + 2048] = __match_any_sync(~0u, (unsigned long long)v << 33);
}
#define REDUX(op, T)                                                           \
  KERNEL redux_##op##_##T(T *out, const T *x) {                                \
    out[INDEX] = __reduce_##op##_sync(~0u, x[INDEX]);                          \
  }
REDUX(add, u32)
REDUX(add, s32)
REDUX(min, u32)
REDUX(min, s32)
REDUX(max, u32)
REDUX(max, s32)
REDUX(and, u32)
REDUX(or, u32)
REDUX(xor, u32)
KERNEL masks(u32 *out, const u32 *x) {
  u32 lane, lt, le, gt, ge, eq, active, leader = 0;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm volatile("activemask.b32 %0;" : "=r"(active));
  asm volatile("{.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\t"
               "selp.b32 %0, 1, 0, p;}"
               : "=r"(leader));
  out[INDEX] = lane + lt + le * 3 + gt * 5 + ge * 7 + eq * 11 + active + x[INDEX];
  out[INDEX + 1024] = __popc(__ballot_sync(~0u, leader)) + blockIdx.y +
                      gridDim.x * 3 + blockDim.z;
}
KERNEL barriers(u32 *out, const u32 *x) {
  int v = x[INDEX] % 3;
  u32 r = __syncthreads_count(v == 1);
  r = r * 2 + (__syncthreads_and(v < 2) != 0);
  r = r * 2 + (__syncthreads_or(v == 2 && threadIdx.x == 5) != 0);
  out[INDEX] = r;
}
/// Two halves of the block with a barrier each, and one that is only arrived at.
KERNEL named_barriers(u32 *out, const u32 *x) {
  __shared__ u32 tile[128];
  u32 half = threadIdx.x / 64;
  tile[threadIdx.x] = x[INDEX];
  asm volatile("barrier.sync %0, 64;" ::"r"(half + 1) : "memory");
  u32 v = tile[threadIdx.x ^ 63];
  if (half == 0)
    asm volatile("bar.arrive 3, 128;" ::: "memory");
  else
    asm volatile("bar.sync 3, 128;" ::: "memory");
  if (half == 1)
    v += tile[threadIdx.x - 64];
  out[INDEX] = v;
}
/// Lanes that leave a loop one by one.
KERNEL divergent_loop(u32 *out, const u32 *x) {
  u32 v = x[INDEX], steps = 0;
  while (v != 1 && steps < 200) {
    v = v & 1 ? v * 3 + 1 : v / 2;
    if (v % 7 == 3 && steps > 50)
      break;
    ++steps;
  }
  out[INDEX] = steps;
}
KERNEL switch_table(u32 *out, const u32 *x) {
  u32 v = x[INDEX], r = 0;
  switch (v % 9) {
  case 0:
    r = v / 3;
    break;
  case 1:
    r = __popc(v);
  case 2:
    r += v << 3;
    break;
  case 3:
    r = __brev(v);
    break;
  case 4:
    r = v * v;
    break;
  case 5:
    r = __clz(v) * 7;
    break;
  case 6:
    for (u32 k = 0; k < v % 5; ++k)
      r = r * 33 + k;
    break;
  default:
    r = ~v;
  }
  out[INDEX] = r;
}
__device__ __noinline__ u32 helper(u32 a, u32 b) {
  if (a % 3 == 0)
    return b * 5;
  return a ^ (b >> 2);
}
__device__ __noinline__ float2 rotate(float2 v, float angle) {
  float s = angle * 0.5f, c = 1.0f - s * s;
  return make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
KERNEL calls(u32 *out, const u32 *x) {
  u32 v = x[INDEX];
  for (int k = 0; k < 3; ++k)
    v = helper(v, v + k) + (v & 1 ? helper(k, v) : 7);
  out[INDEX] = v;
}
KERNEL calls_structure(float *out, const float *x) {
  float2 v = make_float2(x[INDEX], 1.0f);
  for (int k = 0; k < 4; ++k)
    v = rotate(v, v.x * 0.25f);
  out[INDEX] = v.x + v.y;
}
