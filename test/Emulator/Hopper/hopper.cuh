//===- hopper.cuh - Instructions of sm_90a for CUDA -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines one function for each PTX instruction of sm_90a that the
// kernels beside it use. A comment behind an instruction ("// wait: full")
// comes from the kernel and says what the instruction does there; it stays in
// the PTX, where the tests find the place by it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_EMULATOR_HOPPER_HOPPER_CUH
#define FUSION_TEST_EMULATOR_HOPPER_HOPPER_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#define DEVICE __device__ __forceinline__

/// The object that cuTensorMapEncodeTiled fills.
struct alignas(64) TensorMap {
  uint8_t bytes[128];
};

/// The address in shared memory behind a generic pointer.
DEVICE uint32_t sharedAddress(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

/// `value` of lane 0, so that the compiler knows that the warp agrees.
DEVICE uint32_t uniform(uint32_t value) { return __shfl_sync(~0u, value, 0); }

/// True in one lane of the warp.
DEVICE bool electOne() {
  uint32_t elected;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "elect.sync _|p, 0xffffffff;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(elected));
  return elected != 0;
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

DEVICE void initBarrier(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(count)
               : "memory");
}

/// Makes initialised barriers visible to the cluster and to bulk copies.
DEVICE void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

#define EXPECT_BYTES(note, barrier, bytes)                                     \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1; "       \
               "// expect: " note ::"r"(barrier),                              \
               "r"(bytes)                                                      \
               : "memory")

#define ARRIVE(note, barrier)                                                  \
  asm volatile(                                                                \
      "mbarrier.arrive.shared::cta.b64 _, [%0]; // arrive: " note ::"r"(       \
          barrier)                                                             \
      : "memory")

/// Arrives at the barrier that lies at the same place in block `rank`.
#define ARRIVE_REMOTE(note, barrier, rank)                                     \
  asm volatile(                                                                \
      "{\n\t.reg .b32 remote;\n\t"                                             \
      "mapa.shared::cluster.u32 remote, %0, %1;\n\t"                           \
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; "      \
      "// arrive: " note "\n\t}" ::"r"(barrier),                               \
      "r"(rank)                                                                \
      : "memory")

/// Waits for the phase of that parity to complete.
#define WAIT(note, barrier, parity)                                            \
  asm volatile("{\n\t.reg .pred done;\n"                                       \
               "again:\n\t"                                                    \
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; "     \
               "// wait: " note "\n\t"                                         \
               "@!done bra again;\n\t}" ::"r"(barrier),                        \
               "r"(parity)                                                     \
               : "memory")

/// The same where blocks of a cluster talk to each other.
#define WAIT_CLUSTER(note, barrier, parity)                                    \
  asm volatile("{\n\t.reg .pred done;\n"                                       \
               "again:\n\t"                                                    \
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "     \
               "done, [%0], %1; // wait: " note "\n\t"                         \
               "@!done bra again;\n\t}" ::"r"(barrier),                        \
               "r"(parity)                                                     \
               : "memory")

//===----------------------------------------------------------------------===//
// Clusters and named barriers
//===----------------------------------------------------------------------===//

DEVICE uint32_t clusterRank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

#define CLUSTER_SYNC(note)                                                     \
  asm volatile("barrier.cluster.arrive.release; // " note "\n\t"               \
               "barrier.cluster.wait.acquire; // " note ::                     \
                   : "memory")

/// Waits for `count` threads at barrier `id`.
#define BARRIER_SYNC(note, id, count)                                          \
  asm volatile("barrier.sync %0, %1; // sync: " note ::"r"(id), "n"(count)     \
               : "memory")
#define BARRIER_ARRIVE(note, id, count)                                        \
  asm volatile("barrier.arrive %0, %1; // arrive: " note ::"r"(id), "n"(count) \
               : "memory")

//===----------------------------------------------------------------------===//
// Tensor copies
//===----------------------------------------------------------------------===//

DEVICE void loadTile(uint32_t destination, const TensorMap *map, int x, int y,
                     uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(destination),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

/// To the same place in all blocks of `mask`; signals the barrier of each.
DEVICE void loadTileMulticast(uint32_t destination, const TensorMap *map, int x,
                              int y, uint32_t barrier, uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], "
      "%5;" ::"r"(destination),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
      : "memory");
}

DEVICE void storeTile(const TensorMap *map, int x, int y, uint32_t source) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
               "[%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(x), "r"(y), "r"(source)
               : "memory");
}

DEVICE void commitStores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all but `left` groups of stores have read shared memory.
template <int left>
DEVICE void waitStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}

/// Makes what this thread has stored in shared memory visible to copies and
/// to wgmma.
DEVICE void fenceAsyncProxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

DEVICE void prefetch(const TensorMap *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

//===----------------------------------------------------------------------===//
// Registers and matrices
//===----------------------------------------------------------------------===//

template <int count>
DEVICE void giveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
DEVICE void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/// Stores four 8 x 8 matrices of 16-bit elements; lane l gives the address of
/// row l % 8 of matrix l / 8.
DEVICE void storeMatrices(uint32_t row, uint32_t a, uint32_t b, uint32_t c,
                          uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, "
               "%4};" ::"r"(row),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

DEVICE uint32_t packBF16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

DEVICE float tanhApprox(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

DEVICE float exp2Approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// What a matrix descriptor says beside the address: rows of `swizzle` bytes,
/// 8 of them swizzled together, `stride` bytes from 8 rows to the next and
/// `leading` bytes to the next panel across.
__host__ __device__ constexpr uint64_t
makeDescriptor(uint32_t swizzle, uint32_t leading, uint32_t stride) {
  uint64_t code = swizzle == 128  ? 1
                  : swizzle == 64 ? 2
                  : swizzle == 32 ? 3
                                  : 0;
  return code << 62 | uint64_t(stride >> 4) << 32 |
         uint64_t(leading >> 4) << 16;
}

/// The part of a descriptor that says where the operand begins. In a cluster a
/// block's own addresses have bits above the 18 that there is room for.
DEVICE uint64_t addressBits(uint32_t address) {
  return (address & 0x3ffff) >> 4;
}

DEVICE void fenceWgmma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
DEVICE void commitWgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Accumulators are tied to the wait so that no use of them moves before it.
#define TIE8(c, d, i)                                                          \
  c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]),    \
      c(d[i + 6]), c(d[i + 7])
#define TIE16(c, d, i) TIE8(c, d, i), TIE8(c, d, i + 8)
#define TIE32(c, d) TIE16(c, d, 0), TIE16(c, d, 16)
#define TIE64(c, d) TIE32(c, d), TIE16(c, d, 32), TIE16(c, d, 48)

template <int left>
DEVICE void waitWgmma(float (&d)[32]) {
  asm volatile("wgmma.wait_group.sync.aligned %32;"
               : TIE32("+f", d)
               : "n"(left)
               : "memory");
}
template <int left>
DEVICE void waitWgmma(float (&d)[64]) {
  asm volatile("wgmma.wait_group.sync.aligned %64;"
               : TIE64("+f", d)
               : "n"(left)
               : "memory");
}
template <int left>
DEVICE void waitWgmma(int (&d)[32]) {
  asm volatile("wgmma.wait_group.sync.aligned %32;"
               : TIE32("+r", d)
               : "n"(left)
               : "memory");
}
template <int left>
DEVICE void waitWgmma(uint32_t (&d)[16]) {
  asm volatile("wgmma.wait_group.sync.aligned %16;"
               : TIE16("+r", d, 0)
               : "n"(left)
               : "memory");
}

#define REGISTERS_16                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define REGISTERS_32                                                           \
  REGISTERS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "     \
               "%27, %28, %29, %30, %31"
#define REGISTERS_64                                                           \
  REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, "     \
               "%43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, "  \
               "%55, %56, %57, %58, %59, %60, %61, %62, %63"

/// One wgmma with both operands in shared memory, whose descriptors and flag
/// are the operands behind the accumulators.
#define WGMMA(shape, registers, ties, descA, descB, accumulate, tail, ...)     \
  asm volatile("{\n\t.reg .pred p;\n\t"                                        \
               "setp.ne.b32 p, " accumulate ", 0;\n\t"                         \
               "wgmma.mma_async.sync.aligned." shape " {" registers            \
               "}, " descA ", " descB ", p" tail ";\n\t}"                      \
               : ties                                                          \
               : "l"(a), "l"(b), "r"(int(add)), ##__VA_ARGS__)

// The types of operands: bytes of an element, elements of one step of K, and
// the instructions for as many columns as there are accumulators.
struct BFloat16 {
  static constexpr int bytes = 2;
  using Accumulator = float;
  static constexpr int perRegister = 1;
  template <int trans>
  static DEVICE void multiply(float (&d)[32], uint64_t a, uint64_t b,
                              bool add) {
    WGMMA("m64n64k16.f32.bf16.bf16", REGISTERS_32, TIE32("+f", d), "%32", "%33",
          "%34", ", 1, 1, 0, %35", "n"(trans));
  }
  template <int trans>
  static DEVICE void multiply(float (&d)[64], uint64_t a, uint64_t b,
                              bool add) {
    WGMMA("m64n128k16.f32.bf16.bf16", REGISTERS_64, TIE64("+f", d), "%64",
          "%65", "%66", ", 1, 1, 0, %67", "n"(trans));
  }
};

/// f16 with accumulators of f16, two in a register.
struct Half {
  static constexpr int bytes = 2;
  using Accumulator = uint32_t;
  static constexpr int perRegister = 2;
  template <int trans>
  static DEVICE void multiply(uint32_t (&d)[16], uint64_t a, uint64_t b,
                              bool add) {
    WGMMA("m64n64k16.f16.f16.f16", REGISTERS_16, TIE16("+r", d, 0), "%16",
          "%17", "%18", ", 1, 1, 0, %19", "n"(trans));
  }
};

struct TensorFloat32 {
  static constexpr int bytes = 4;
  using Accumulator = float;
  static constexpr int perRegister = 1;
  template <int trans>
  static DEVICE void multiply(float (&d)[32], uint64_t a, uint64_t b,
                              bool add) {
    WGMMA("m64n64k8.f32.tf32.tf32", REGISTERS_32, TIE32("+f", d), "%32", "%33",
          "%34", ", 1, 1");
  }
};

struct Float8 {
  static constexpr int bytes = 1;
  using Accumulator = float;
  static constexpr int perRegister = 1;
  template <int trans>
  static DEVICE void multiply(float (&d)[32], uint64_t a, uint64_t b,
                              bool add) {
    WGMMA("m64n64k32.f32.e4m3.e4m3", REGISTERS_32, TIE32("+f", d), "%32", "%33",
          "%34", ", 1, 1");
  }
};

struct Int8 {
  static constexpr int bytes = 1;
  using Accumulator = int;
  static constexpr int perRegister = 1;
  template <int trans>
  static DEVICE void multiply(int (&d)[32], uint64_t a, uint64_t b, bool add) {
    WGMMA("m64n64k32.s32.s8.s8", REGISTERS_32, TIE32("+r", d), "%32", "%33",
          "%34", "");
  }
};

// Adds the product of A in registers and B transposed in shared memory.
DEVICE void multiplyFromRegisters(float (&d)[32], const uint32_t *a,
                                  uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
               "{" REGISTERS_32 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
               : TIE32("+f", d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
DEVICE void multiplyFromRegisters(float (&d)[64], const uint32_t *a,
                                  uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
               "{" REGISTERS_64 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
               : TIE64("+f", d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/// The same wait for accumulators and for operands in registers, which must
/// keep their values until the product has read them.
template <int left>
DEVICE void waitWgmma(float (&d)[32], const uint32_t (&a)[16]) {
  asm volatile("wgmma.wait_group.sync.aligned %48;"
               : TIE32("+f", d)
               : TIE16("r", a, 0), "n"(left)
               : "memory");
}
template <int left>
DEVICE void waitWgmma(float (&d)[64], const uint32_t (&a)[16]) {
  asm volatile("wgmma.wait_group.sync.aligned %80;"
               : TIE64("+f", d)
               : TIE16("r", a, 0), "n"(left)
               : "memory");
}

#endif // FUSION_TEST_EMULATOR_HOPPER_HOPPER_CUH
