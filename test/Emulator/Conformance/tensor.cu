//===- tensor.cu - Copies of boxes of tensors -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines kernels that load a box into shared memory full of a
// pattern and dump all of it, and kernels that store or reduce one. A wait
// gives up after a while, so that a wrong number of bytes does not hang.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

struct alignas(64) Map {
  u8 bytes[128];
};

extern __shared__ __align__(1024) u32 tile[];

static __device__ u32 sharedAddress(const void *pointer) {
  return u32(__cvta_generic_to_shared(pointer));
}

static __device__ void fenceAsync() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Fills shared memory, calls `issue` with the addresses of the box and of an
/// mbarrier, waits for `bytes` and writes everything to `out`, followed by
/// whether the wait succeeded.
template <typename F>
static __device__ void loadAndDump(u32 *out, u32 bytes, u32 offset, u32 words,
                                   F issue) {
  __shared__ __align__(8) u64 barrier;
  u32 bar = sharedAddress(&barrier);
  for (u32 i = threadIdx.x; i < words; i += blockDim.x)
    tile[i] = 0xc0de0000u + i;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar)
                 : "memory");
  fenceAsync();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
        "r"(bytes)
        : "memory");
    issue(sharedAddress(tile) + offset, bar);
  }
  u32 done = 0;
  for (u32 tries = 0; tries < 2000 && !done; ++tries)
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(bar)
                 : "memory");
  __syncthreads();
  for (u32 i = threadIdx.x; i < words; i += blockDim.x)
    out[i] = tile[i];
  if (threadIdx.x == 0)
    out[words] = done;
}

#define COORDINATES s32 c0, s32 c1, s32 c2, s32 c3, s32 c4
#define C1 "r"(c0)
#define C2 C1, "r"(c1)
#define C3 C2, "r"(c2)
#define C4 C3, "r"(c3)
#define C5 C4, "r"(c4)

// The operands of the instruction: %0 shared, %1 map, %2 barrier, then the
// coordinates and the offsets.
#define LOAD(n, c)                                                             \
  KERNEL load_##n##d(const __grid_constant__ Map map, const u8 *data,          \
                     u32 *out, COORDINATES, u32 bytes, u32 offset,             \
                     u32 words) {                                              \
    loadAndDump(out, bytes, offset, words, [&](u32 shared, u32 bar) {          \
      asm volatile("cp.async.bulk.tensor." #n                                  \
                   "d.shared::cluster.global.tile"                             \
                   ".mbarrier::complete_tx::bytes [%0], [%1, {" c "}], [%2];"  \
                   ::"r"(shared), "l"(&map), "r"(bar), C##n : "memory");       \
    });                                                                        \
  }

LOAD(1, "%3")
LOAD(2, "%3, %4")
LOAD(3, "%3, %4, %5")
LOAD(4, "%3, %4, %5, %6")
LOAD(5, "%3, %4, %5, %6, %7")

#define O3 "h"(o0)
#define O4 O3, "h"(o1)
#define O5 O4, "h"(o2)

#define IM2COL(n, c, o)                                                        \
  KERNEL im2col_##n##d(const __grid_constant__ Map map, const u8 *data,        \
                       u32 *out, COORDINATES, u16 o0, u16 o1, u16 o2,          \
                       u32 bytes, u32 offset, u32 words) {                     \
    loadAndDump(out, bytes, offset, words, [&](u32 shared, u32 bar) {          \
      asm volatile("cp.async.bulk.tensor." #n                                  \
                   "d.shared::cluster.global.im2col"                           \
                   ".mbarrier::complete_tx::bytes [%0], [%1, {" c              \
                   "}], [%2], {" o "};"                                        \
                   ::"r"(shared), "l"(&map), "r"(bar), C##n, O##n : "memory"); \
    });                                                                        \
  }

IM2COL(3, "%3, %4, %5", "%6")
IM2COL(4, "%3, %4, %5, %6", "%7, %8")
IM2COL(5, "%3, %4, %5, %6, %7", "%8, %9, %10")

/// Puts `source` into shared memory, calls `issue` with the address of the box
/// and waits until it has been written.
template <typename F>
static __device__ void fillAndStore(const u32 *source, u32 offset, u32 words,
                                    F issue) {
  for (u32 i = threadIdx.x; i < words; i += blockDim.x)
    tile[i] = source[i];
  fenceAsync();
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  issue(sharedAddress(tile) + offset);
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#define STORE(name, n, op, mode, c)                                            \
  KERNEL name##_##n##d(const __grid_constant__ Map map, u8 *data,              \
                       const u32 *source, COORDINATES, u32 offset,             \
                       u32 words) {                                            \
    fillAndStore(source, offset, words, [&](u32 shared) {                      \
      asm volatile(op "." mode ".bulk_group [%1, {" c "}], [%0];" ::"r"(       \
                       shared),                                                \
                   "l"(&map), C##n                                             \
                   : "memory");                                                \
    });                                                                        \
  }

#define COPY(n) "cp.async.bulk.tensor." #n "d.global.shared::cta"

STORE(store, 1, COPY(1), "tile", "%2")
STORE(store, 2, COPY(2), "tile", "%2, %3")
STORE(store, 3, COPY(3), "tile", "%2, %3, %4")
STORE(store, 4, COPY(4), "tile", "%2, %3, %4, %5")
STORE(store, 5, COPY(5), "tile", "%2, %3, %4, %5, %6")
STORE(store_im2col, 3, COPY(3), "im2col_no_offs", "%2, %3, %4")
STORE(store_im2col, 4, COPY(4), "im2col_no_offs", "%2, %3, %4, %5")
STORE(store_im2col, 5, COPY(5), "im2col_no_offs", "%2, %3, %4, %5, %6")

#define REDUCE(op)                                                             \
  STORE(reduce_##op, 2, "cp.reduce.async.bulk.tensor.2d.global.shared::cta."   \
        #op, "tile", "%2, %3")

REDUCE(add)
REDUCE(min)
REDUCE(max)
REDUCE(inc)
REDUCE(dec)
REDUCE(and)
REDUCE(or)
REDUCE(xor)
