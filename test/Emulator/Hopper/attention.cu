//===- attention.cu - Flash attention with TMA and wgmma ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of attention.ptx, which HopperAttentionTest runs. To make it:
//   nvcc -ptx -arch=sm_90a -std=c++17 attention.cu -o attention.ptx
//
// O = softmax(Q K^T / sqrt(D)) V in bf16, all four matrices (heads * S) x D. A
// block computes 128 rows of one head: block (q, h). The first warpgroup loads
// Q once and blocks of 64 keys and values into two rings; two others take 64
// rows each. The scores of a block are computed while the values of the one
// before are added; scores become the operand A in registers.
//
//===----------------------------------------------------------------------===//

#include "hopper.cuh"

constexpr int BM = 128, BN = 64, stages = 2;

/// Where matrices lie in shared memory: panels of 64 columns (128 bytes).
template <int D>
struct Layout {
  static constexpr int panels = D / 64;
  static constexpr uint32_t panelQ = BM * 128, panelK = BN * 128;
  static constexpr uint32_t bytesQ = panels * panelQ, bytesK = panels * panelK;
  static constexpr uint32_t keys = bytesQ, values = keys + stages * bytesK;
  static constexpr uint32_t barriers = values + stages * bytesK;
};

/// An mbarrier of each stage: keys and values, loaded and read.
enum BarrierKind { keysFull, keysEmpty, valuesFull, valuesEmpty };
DEVICE uint32_t barrierOf(uint32_t barriers, BarrierKind kind, uint32_t step) {
  return barriers + 8 + (kind * stages + step % stages) * 8;
}
DEVICE uint32_t parityOf(uint32_t step) { return step / stages & 1; }

/// The sum or maximum over the four lanes that share a row.
DEVICE float sumOfRow(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}
DEVICE float maxOfRow(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

template <int D>
DEVICE void produce(const TensorMap *mapQ, const TensorMap *mapK,
                    const TensorMap *mapV, uint32_t shared, int rowQ, int rowK,
                    int steps) {
  using L = Layout<D>;
  uint32_t barriers = shared + L::barriers;
  EXPECT_BYTES("Q", barriers, L::bytesQ);
  for (int p = 0; p < L::panels; ++p)
    loadTile(shared + p * L::panelQ, mapQ, 64 * p, rowQ, barriers);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    uint32_t to = shared + L::keys + step % stages * L::bytesK;
    uint32_t full = barrierOf(barriers, keysFull, step);
    WAIT("keys empty", barrierOf(barriers, keysEmpty, step),
         parityOf(step) ^ 1);
    EXPECT_BYTES("keys", full, L::bytesK);
    for (int p = 0; p < L::panels; ++p)
      loadTile(to + p * L::panelK, mapK, 64 * p, rowK + BN * step, full);
    full = barrierOf(barriers, valuesFull, step);
    to += L::values - L::keys;
    WAIT("values empty", barrierOf(barriers, valuesEmpty, step),
         parityOf(step) ^ 1);
    EXPECT_BYTES("values", full, L::bytesK);
    for (int p = 0; p < L::panels; ++p)
      loadTile(to + p * L::panelK, mapV, 64 * p, rowK + BN * step, full);
  }
}

template <int D, bool causal>
struct Consumer {
  using L = Layout<D>;
  uint32_t shared, barriers, index, thread;
  uint64_t descQ;
  float maximum[2], sum[2] = {0, 0}, scale[2];
  float s[BN / 2];
  float o[D / 2] = {};
  uint32_t p[BN / 4];

  DEVICE Consumer(uint32_t shared, uint32_t index)
      : shared(shared), barriers(shared + L::barriers), index(index),
        thread(threadIdx.x % 128),
        descQ(makeDescriptor(128, 16, 1024) | (shared + index * 8192) >> 4) {
    maximum[0] = maximum[1] = -1e30f;
  }

  /// S = Q K^T, not waited for.
  DEVICE void startScores(int step) {
    WAIT("keys", barrierOf(barriers, keysFull, step), parityOf(step));
    // The consumers take turns: one multiplies while the other exponentiates.
    BARRIER_SYNC("turn", 3 + index, 256);
    uint64_t descK = makeDescriptor(128, 16, 1024) |
                     (shared + L::keys + step % stages * L::bytesK) >> 4;
    fenceWgmma();
#pragma unroll
    for (int i = 0; i < D / 16; ++i)
      BFloat16::multiply<0>(s, descQ + (i / 4 * L::panelQ + i % 4 * 32) / 16,
                            descK + (i / 4 * L::panelK + i % 4 * 32) / 16,
                            i != 0);
    commitWgmma();
  }
  DEVICE void passTurn() { BARRIER_ARRIVE("turn", 4 - index, 256); }

  /// O += P V, not waited for.
  DEVICE void startOutput(int step) {
    WAIT("values", barrierOf(barriers, valuesFull, step), parityOf(step));
    uint64_t descV = makeDescriptor(128, L::panelK, 1024) |
                     (shared + L::values + step % stages * L::bytesK) >> 4;
    fenceWgmma();
#pragma unroll
    for (int i = 0; i < BN / 16; ++i)
      multiplyFromRegisters(o, p + 4 * i, descV + i * 2048 / 16);
    commitWgmma();
  }

  DEVICE void release(BarrierKind kind, int step) {
    if (thread == 0)
      ARRIVE("empty", barrierOf(barriers, kind, step));
  }

  /// Masks what lies right of the diagonal: column > row.
  DEVICE void mask(int row, int column) {
    row += thread / 32 * 16 + thread % 32 / 4;
    column += thread % 4 * 2;
    if (causal)
#pragma unroll
      for (int i = 0; i < BN / 2; ++i)
        if (column + i / 4 * 8 + i % 2 > row + i / 2 % 2 * 8)
          s[i] = -1e30f;
  }

  /// Replaces the scores by exponentials relative to the maximum so far.
  DEVICE void exponentiate() {
    constexpr float factor = D == 64 ? 0.18033688f : 0.12751743f;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float m = maximum[h];
#pragma unroll
      for (int i = 0; i < BN / 2; ++i)
        if (i / 2 % 2 == h)
          m = fmaxf(m, s[i]);
      m = maxOfRow(m);
      scale[h] = exp2Approx((maximum[h] - m) * factor);
      maximum[h] = m;
      sum[h] *= scale[h];
#pragma unroll
      for (int i = 0; i < BN / 2; ++i)
        if (i / 2 % 2 == h) {
          s[i] = exp2Approx(fmaf(s[i], factor, -m * factor));
          sum[h] += s[i];
        }
    }
  }
  /// The exponentials as operand A. No product may still read the old one.
  DEVICE void pack() {
#pragma unroll
    for (int i = 0; i < BN / 4; ++i)
      p[i] = packBF16(s[2 * i], s[2 * i + 1]);
  }

  DEVICE void run(int row, int steps) {
    if (index == 1)
      passTurn();
    WAIT("Q", barriers, 0);
    startScores(0);
    waitWgmma<0>(s);
    passTurn();
    release(keysEmpty, 0);
    mask(row, 0);
    exponentiate();
    pack();
#pragma unroll 1
    for (int step = 1; step < steps; ++step) {
      startScores(step);
      startOutput(step - 1);
      passTurn();
      waitWgmma<1>(s);
      release(keysEmpty, step);
      mask(row, step * BN);
      exponentiate();
      waitWgmma<0>(o, p);
      release(valuesEmpty, step - 1);
      pack();
#pragma unroll
      for (int i = 0; i < D / 2; ++i)
        o[i] *= scale[i / 2 % 2];
    }
    startOutput(steps - 1);
    waitWgmma<0>(o, p);
    // The other consumer has passed a turn that nobody takes.
    if (index == 0)
      BARRIER_SYNC("turn", 3, 256);
  }

  /// Through shared memory where Q was; each consumer replaces its own rows.
  DEVICE void store(const TensorMap *map, int row) {
    uint32_t lane = thread % 32;
    float inverse[2] = {1 / sumOfRow(sum[0]), 1 / sumOfRow(sum[1])};
    uint32_t buffer = shared + index * 8192;
    uint32_t to = buffer + (thread / 32 * 16 + lane % 16) * 128;
#pragma unroll
    for (int j = 0; j < D / 8; j += 2) {
      uint32_t packed[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        packed[i] = packBF16(o[4 * j + 2 * i] * inverse[i % 2],
                             o[4 * j + 2 * i + 1] * inverse[i % 2]);
      storeMatrices(to + j / 8 * L::panelQ +
                        ((j % 8 + lane / 16) ^ lane % 8) * 16,
                    packed[0], packed[1], packed[2], packed[3]);
    }
    fenceAsyncProxy();
    BARRIER_SYNC("stored", 1 + index, 128);
    if (thread == 0) {
      for (int p = 0; p < L::panels; ++p)
        storeTile(map, 64 * p, row, buffer + p * L::panelQ);
      commitStores();
      waitStoresRead<0>();
    }
  }
};

template <int D, bool causal>
DEVICE void attention(const TensorMap *mapQ, const TensorMap *mapK,
                      const TensorMap *mapV, const TensorMap *mapO, int S) {
  using L = Layout<D>;
  extern __shared__ __align__(1024) uint8_t memory[];
  uint32_t shared = sharedAddress(memory), barriers = shared + L::barriers;
  uint32_t group = uniform(threadIdx.x / 128);
  int rowK = blockIdx.y * S, row = blockIdx.x * BM;
  int steps = (causal ? row + BM : S) / BN;
  if (threadIdx.x == 0) {
    initBarrier(barriers, 1);
    for (int step = 0; step < stages; ++step) {
      initBarrier(barrierOf(barriers, keysFull, step), 1);
      initBarrier(barrierOf(barriers, valuesFull, step), 1);
      initBarrier(barrierOf(barriers, keysEmpty, step), 2);
      initBarrier(barrierOf(barriers, valuesEmpty, step), 2);
    }
    fenceBarrierInit();
  }
  __syncthreads();
  if (group == 0) {
    giveRegisters<24>();
    if (uniform(threadIdx.x / 32) == 0 && electOne())
      produce<D>(mapQ, mapK, mapV, shared, rowK + row, rowK, steps);
  } else {
    takeRegisters<240>();
    Consumer<D, causal> consumer(shared, group - 1);
    row += consumer.index * 64;
    consumer.run(row, steps);
    consumer.store(mapO, rowK + row);
  }
}

#define ATTENTION(name, D, causal)                                             \
  extern "C" __global__ void __launch_bounds__(384, 1)                         \
      name(const __grid_constant__ TensorMap q,                                \
           const __grid_constant__ TensorMap k,                                \
           const __grid_constant__ TensorMap v,                                \
           const __grid_constant__ TensorMap o, int S) {                       \
    attention<D, causal>(&q, &k, &v, &o, S);                                   \
  }

ATTENTION(attention_d64, 64, false)
ATTENTION(attention_d64_causal, 64, true)
ATTENTION(attention_d128, 128, false)
ATTENTION(attention_d128_causal, 128, true)
