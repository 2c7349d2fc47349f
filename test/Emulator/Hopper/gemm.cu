//===- gemm.cu - Matrix products with TMA and wgmma -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of gemm.ptx, which HopperGemmTest runs. To make it again:
//   nvcc -ptx -arch=sm_90a -std=c++17 gemm.cu -o gemm.ptx
//
// C = gelu(A B + bias) in bf16. A is M x K, B is N x K or K x N. Blocks are
// persistent. The first warpgroup loads tiles of 128 x BK and BK x BN into a
// ring of stages; two others multiply 64 rows each and store the result.
//
// A stage has two mbarriers: `full` completes when its bytes have arrived,
// `empty` when both consumers have read it. In a cluster of two blocks each
// loads half of B for both, so that a consumer reports to both producers.
//
//===----------------------------------------------------------------------===//

#include "hopper.cuh"

constexpr int BM = 128;

/// The tile and where its parts lie in shared memory.
template <typename T, int BN, int swizzle, int stages>
struct Layout {
  static constexpr int BK = swizzle / T::bytes;
  static constexpr uint32_t bytesA = BM * swizzle, bytesB = BN * swizzle;
  static constexpr uint32_t stage = bytesA + bytesB;
  /// Two buffers for each consumer, of 64 x 64 bf16.
  static constexpr uint32_t output = stages * stage;
  static constexpr uint32_t barriers = output + 4 * 8192;
  static_assert(stage % 1024 == 0, "swizzles repeat after 1024 bytes");
};

/// Position in the ring: stage and parity of its phase.
template <int stages>
struct Position {
  uint32_t stage = 0, parity = 0;
  DEVICE void advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

DEVICE float gelu(float x) {
  float inner = x * fmaf(x * x, 0.035677408136f, 0.797884560803f);
  return fmaf(0.5f * x, tanhApprox(inner), 0.5f * x);
}

/// Accumulators 4 j + 2 h and the next one, for columns 8 j of row half h.
DEVICE float2 getPair(const float *d, int j, int h) {
  return make_float2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
}
DEVICE float2 getPair(const int *d, int j, int h) {
  return make_float2(float(d[4 * j + 2 * h]), float(d[4 * j + 2 * h + 1]));
}
DEVICE float2 getPair(const uint32_t *d, int j, int h) {
  return __half22float2(reinterpret_cast<const __half2 &>(d[2 * j + h]));
}

template <typename T, int BN, int swizzle, int stages, bool rowsOfB,
          int cluster>
DEVICE void gemm(const TensorMap *mapA, const TensorMap *mapB,
                 const TensorMap *mapC, const float *bias, int M, int N,
                 int K) {
  using L = Layout<T, BN, swizzle, stages>;
  extern __shared__ __align__(1024) uint8_t memory[];
  uint32_t shared = sharedAddress(memory);
  uint32_t full = shared + L::barriers, empty = full + 8 * stages;
  uint32_t group = uniform(threadIdx.x / 128);
  uint32_t rank = cluster > 1 ? clusterRank() : 0;
  int tilesM = (M + BM * cluster - 1) / (BM * cluster);
  int tiles = tilesM * ((N + BN - 1) / BN);
  int steps = (K + L::BK - 1) / L::BK;
  int firstTile = blockIdx.x / cluster, tileStep = gridDim.x / cluster;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      initBarrier(full + 8 * s, 1);
      initBarrier(empty + 8 * s, 2 * cluster);
    }
    fenceBarrierInit();
    prefetch(mapA);
    prefetch(mapB);
    prefetch(mapC);
  }
  if (cluster > 1)
    CLUSTER_SYNC("start");
  else
    __syncthreads();

  Position<stages> position;
  if (group == 0) {
    giveRegisters<40>();
    if (uniform(threadIdx.x / 32) == 0 && electOne()) {
#pragma unroll 1
      for (int tile = firstTile; tile < tiles; tile += tileStep) {
        int m = (tile % tilesM * cluster + rank) * BM, n = tile / tilesM * BN;
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
          uint32_t barrier = full + 8 * position.stage;
          if (cluster > 1)
            WAIT_CLUSTER("empty", empty + 8 * position.stage,
                         position.parity ^ 1);
          else
            WAIT("empty", empty + 8 * position.stage, position.parity ^ 1);
          EXPECT_BYTES("full", barrier, L::stage);
          uint32_t a = shared + position.stage * L::stage, b = a + L::bytesA;
          int k = step * L::BK;
          loadTile(a, mapA, k, m, barrier);
          // B comes in panels: all its columns, or as many as a row of the
          // swizzle holds.
          constexpr int panels = rowsOfB ? BN / (swizzle / T::bytes) : cluster;
          constexpr int width = BN / panels;
          for (int p = rank; p < panels; p += cluster) {
            int x = rowsOfB ? n + p * width : k;
            int y = rowsOfB ? k : n + p * width;
            uint32_t to = b + p * (L::bytesB / panels);
            if (cluster > 1)
              loadTileMulticast(to, mapB, x, y, barrier, 3);
            else
              loadTile(to, mapB, x, y, barrier);
          }
          position.advance();
        }
      }
    }
  } else {
    takeRegisters<232>();
    uint32_t consumer = group - 1, thread = threadIdx.x % 128;
    uint32_t lane = thread % 32, warp = thread / 32;
    constexpr uint64_t layoutA = makeDescriptor(swizzle, 16, 8 * swizzle);
    constexpr uint64_t layoutB =
        makeDescriptor(swizzle, rowsOfB ? L::BK * swizzle : 16, 8 * swizzle);
    constexpr uint32_t nextA = 32 >> 4;
    constexpr uint32_t nextB = (rowsOfB ? 16 * swizzle : 32) >> 4;
    // Both consumers give a stage back with one thread for each block.
    auto release = [&](uint32_t stage) {
      if (cluster > 1) {
        if (thread < cluster)
          ARRIVE_REMOTE("empty", empty + 8 * stage, thread);
      } else if (thread == 0) {
        ARRIVE("empty", empty + 8 * stage);
      }
    };
    uint32_t stores = 0;
#pragma unroll 1
    for (int tile = firstTile; tile < tiles; tile += tileStep) {
      int m = (tile % tilesM * cluster + rank) * BM, n = tile / tilesM * BN;
      typename T::Accumulator d[BN / 2 / T::perRegister] = {};
      uint32_t previous = 0;
#pragma unroll 1
      for (int step = 0; step < steps; ++step) {
        uint32_t a = shared + position.stage * L::stage;
        uint64_t descA = layoutA | addressBits(a + consumer * 64 * swizzle);
        uint64_t descB = layoutB | addressBits(a + L::bytesA);
        if (cluster > 1)
          WAIT_CLUSTER("full", full + 8 * position.stage, position.parity);
        else
          WAIT("full", full + 8 * position.stage, position.parity);
        fenceWgmma();
#pragma unroll
        for (int i = 0; i < swizzle / 32; ++i)
          T::template multiply<rowsOfB>(d, descA + i * nextA, descB + i * nextB,
                                        step + i != 0);
        commitWgmma();
        // One group stays in flight; the one before has read its stage.
        waitWgmma<1>(d);
        if (step > 0)
          release(previous);
        previous = position.stage;
        position.advance();
      }
      waitWgmma<0>(d);
      release(previous);

      int row = m + consumer * 64;
#pragma unroll
      for (int panel = 0; panel < BN / 64; ++panel) {
        uint32_t buffer =
            shared + L::output + (2 * consumer + stores++ % 2) * 8192;
        if (thread == 0)
          waitStoresRead<1>();
        BARRIER_SYNC("buffer", 1 + consumer, 128);
        uint32_t to = buffer + (warp * 16 + lane % 16) * 128;
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
          uint32_t packed[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            int column = n + panel * 64 + (j + i / 2) * 8 + lane % 4 * 2;
            float2 x = getPair(d, panel * 8 + j + i / 2, i % 2);
            if (column < N) {
              x.x += bias[column];
              x.y += bias[column + 1];
            }
            packed[i] = packBF16(gelu(x.x), gelu(x.y));
          }
          storeMatrices(to + ((j + lane / 16) ^ lane % 8) * 16, packed[0],
                        packed[1], packed[2], packed[3]);
        }
        fenceAsyncProxy();
        BARRIER_SYNC("stored", 1 + consumer, 128);
        if (thread == 0 && row < M && n + panel * 64 < N) {
          storeTile(mapC, n + panel * 64, row, buffer);
          commitStores();
        }
      }
    }
    if (thread == 0)
      waitStoresRead<0>();
  }
  // A block must not leave while another one signals its barriers.
  if (cluster > 1)
    CLUSTER_SYNC("end");
}

#define GEMM(name, T, BN, swizzle, stages, rowsOfB, cluster)                   \
  extern "C" __global__ void __launch_bounds__(384, 1)                         \
      name(const __grid_constant__ TensorMap a,                                \
           const __grid_constant__ TensorMap b,                                \
           const __grid_constant__ TensorMap c, const float *bias, int M,      \
           int N, int K) {                                                     \
    gemm<T, BN, swizzle, stages, rowsOfB, cluster>(&a, &b, &c, bias, M, N, K); \
  }

GEMM(gemm_bf16_n64, BFloat16, 64, 128, 4, false, 1)
GEMM(gemm_bf16_n128, BFloat16, 128, 128, 3, false, 1)
GEMM(gemm_bf16_n128_rows, BFloat16, 128, 128, 3, true, 1)
GEMM(gemm_bf16_swizzle64, BFloat16, 64, 64, 4, false, 1)
GEMM(gemm_bf16_swizzle64_rows, BFloat16, 64, 64, 3, true, 1)
GEMM(gemm_bf16_swizzle32, BFloat16, 64, 32, 4, false, 1)
GEMM(gemm_bf16_swizzle32_rows, BFloat16, 64, 32, 4, true, 1)
GEMM(gemm_f16, Half, 64, 128, 4, false, 1)
GEMM(gemm_tf32, TensorFloat32, 64, 128, 4, false, 1)
GEMM(gemm_e4m3, Float8, 64, 128, 4, false, 1)
GEMM(gemm_s8, Int8, 64, 128, 4, false, 1)

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    gemm_cluster(const __grid_constant__ TensorMap a,
                 const __grid_constant__ TensorMap b,
                 const __grid_constant__ TensorMap c, const float *bias, int M,
                 int N, int K) {
  gemm<BFloat16, 128, 128, 3, false, 2>(&a, &b, &c, bias, M, N, K);
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    gemm_cluster_rows(const __grid_constant__ TensorMap a,
                      const __grid_constant__ TensorMap b,
                      const __grid_constant__ TensorMap c, const float *bias,
                      int M, int N, int K) {
  gemm<BFloat16, 128, 128, 3, true, 2>(&a, &b, &c, bias, M, N, K);
}
