//===- gemm_sm80.cu - A matrix product with cp.async and mma --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of gemm_sm80.ptx, which HopperGemmTest runs. To make it again:
//   nvcc -ptx -arch=sm_80 -std=c++17 gemm_sm80.cu -o gemm_sm80.ptx
//
// C = A B in f32 from bf16, A is M x K, B is K x N. Blocks of four warps
// compute 64 x 64 of C, each warp 32 x 32, in steps of 32 of K through a ring
// of three stages. Rows of A (64 bytes) are swizzled: of 8 rows, those that a
// load takes together lie in different banks. Rows of B are padded by 16 bytes.
//
//===----------------------------------------------------------------------===//

#include <cuda_bf16.h>

#include <cstdint>

#define DEVICE __device__ __forceinline__

constexpr int BM = 64, BN = 64, BK = 32, stages = 3;
constexpr uint32_t pitchA = BK * 2, pitchB = BN * 2 + 16;
constexpr uint32_t bytesA = BM * pitchA, bytesB = BK * pitchB;

/// The offset of 16 bytes of a row of A.
DEVICE uint32_t offsetA(uint32_t row, uint32_t chunk) {
  return row * pitchA + (chunk ^ row / 2 % 4) * 16;
}

DEVICE void copy16(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
}

DEVICE void loadMatrices(uint32_t (&r)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
               "[%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}
DEVICE void loadMatricesTransposed(uint32_t (&r)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, "
               "%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}

DEVICE void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                     uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// M, N and K are multiples of 64, 64 and 32.
extern "C" __global__ void __launch_bounds__(128)
    gemm_sm80(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int N,
              int K) {
  __shared__ __align__(128) uint8_t memory[stages * (bytesA + bytesB)];
  uint32_t shared = uint32_t(__cvta_generic_to_shared(memory));
  uint32_t thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int m = blockIdx.y * BM, n = blockIdx.x * BN, steps = K / BK;

  auto load = [&](int step) {
    uint32_t a = shared + step % stages * (bytesA + bytesB), b = a + bytesA;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      uint32_t chunk = thread + i * 128;
      copy16(a + offsetA(chunk / 4, chunk % 4),
             A + size_t(m + chunk / 4) * K + step * BK + chunk % 4 * 8);
      copy16(b + chunk / 8 * pitchB + chunk % 8 * 16,
             B + size_t(step * BK + chunk / 8) * N + n + chunk % 8 * 8);
    }
  };

  float d[2][4][4] = {};
#pragma unroll
  for (int step = 0; step < stages - 1; ++step) {
    if (step < steps)
      load(step);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();
    // All warps are done with the stage that this load overwrites.
    if (step + stages - 1 < steps)
      load(step + stages - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    uint32_t a = shared + step % stages * (bytesA + bytesB), b = a + bytesA;
#pragma unroll
    for (int k = 0; k < BK / 16; ++k) {
      uint32_t fragmentA[2][4], fragmentB[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        loadMatrices(
            fragmentA[i],
            a + offsetA(warp / 2 * 32 + i * 16 + lane % 16, k * 2 + lane / 16));
        loadMatricesTransposed(
            fragmentB[i], b + (k * 16 + lane % 16) * pitchB +
                              (warp % 2 * 32 + i * 16 + lane / 16 * 8) * 2);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          multiply(d[i][j], fragmentA[i], fragmentB[j / 2][j % 2 * 2],
                   fragmentB[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        int row = m + warp / 2 * 32 + i * 16 + h * 8 + lane / 4;
        int column = n + warp % 2 * 32 + j * 8 + lane % 4 * 2;
        *reinterpret_cast<float2 *>(C + size_t(row) * N + column) =
            make_float2(d[i][j][h * 2], d[i][j][h * 2 + 1]);
      }
}
