//===- cluster.cu - Blocks that share their shared memory -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of cluster.ptx, which HopperClusterTest runs. To make it again:
//   nvcc -ptx -arch=sm_90a -std=c++17 cluster.cu -o cluster.ptx
//
// A sum to which all blocks of a cluster send parts (st.async and an mbarrier),
// and a layer norm whose rows are spread over a cluster (loads from the shared
// memory of other blocks between cluster barriers).
//
//===----------------------------------------------------------------------===//

#include "hopper.cuh"

constexpr int blocks = 4;

/// Sends `value` to the same place in block `rank`, whose mbarrier counts it.
DEVICE void sendTo(uint32_t rank, uint32_t to, float value, uint32_t barrier) {
  asm volatile("{\n\t.reg .b32 place, signal;\n\t"
               "mapa.shared::cluster.u32 place, %0, %3;\n\t"
               "mapa.shared::cluster.u32 signal, %2, %3;\n\t"
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 "
               "[place], %1, [signal];\n\t}" ::"r"(to),
               "r"(__float_as_uint(value)), "r"(barrier), "r"(rank)
               : "memory");
}

DEVICE float loadFrom(uint32_t rank, uint32_t address) {
  uint32_t value;
  asm volatile("{\n\t.reg .b32 place;\n\t"
               "mapa.shared::cluster.u32 place, %1, %2;\n\t"
               "ld.shared::cluster.b32 %0, [place];\n\t}"
               : "=r"(value)
               : "r"(address), "r"(rank)
               : "memory");
  return __uint_as_float(value);
}

DEVICE float sumOfWarp(float x) {
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(~0u, x, offset);
  return x;
}

/// The sum over the block, in all threads; `parts` has 32 elements.
DEVICE float sumOfBlock(float x, float *parts) {
  x = sumOfWarp(x);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = x;
  __syncthreads();
  x = 0;
  for (int i = 0; i < blockDim.x / 32; ++i)
    x += parts[i];
  __syncthreads();
  return x;
}

/// out[cluster] = the sum of n floats, block after block of the cluster.
extern "C" __global__ void __cluster_dims__(blocks, 1, 1)
    cluster_sum(const float *in, float *out, int n) {
  __shared__ float parts[32];
  __shared__ uint64_t received;
  __shared__ float inbox[blocks];
  uint32_t rank = clusterRank(), barrier = sharedAddress(&received);
  if (rank == 0 && threadIdx.x == 0) {
    initBarrier(barrier, 1);
    fenceBarrierInit();
    EXPECT_BYTES("parts", barrier, blocks * 4);
  }
  CLUSTER_SYNC("start");
  const float *from = in + size_t(blockIdx.x) * n;
  float x = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x += from[i];
  x = sumOfBlock(x, parts);
  if (threadIdx.x == 0)
    sendTo(0, sharedAddress(inbox + rank), x, barrier);
  if (rank == 0 && threadIdx.x == 0) {
    WAIT_CLUSTER("parts", barrier, 0);
    float sum = 0;
    for (int i = 0; i < blocks; ++i)
      sum += inbox[i];
    out[blockIdx.x / blocks] = sum;
  }
}

/// Rows of blocks * n floats, each spread over a cluster.
extern "C" __global__ void __cluster_dims__(blocks, 1, 1)
    cluster_layer_norm(const float *in, const float *gain, const float *bias,
                       float *out, int n) {
  __shared__ float parts[32];
  __shared__ float moments[2];
  extern __shared__ float row[];
  uint32_t rank = clusterRank();
  const float *from = in + size_t(blockIdx.x) * n;
  float x = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x += row[i] = from[i];
  // Everybody adds what the blocks have left in their own shared memory.
  auto exchange = [&](float x, int which) {
    x = sumOfBlock(x, parts);
    if (threadIdx.x == 0)
      moments[which] = x;
    CLUSTER_SYNC("moments");
    x = 0;
    for (int i = 0; i < blocks; ++i)
      x += loadFrom(i, sharedAddress(moments + which));
    return x / (n * blocks);
  };
  float mean = exchange(x, 0);
  x = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x += (row[i] - mean) * (row[i] - mean);
  float factor = rsqrtf(exchange(x, 1) + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[size_t(blockIdx.x) * n + i] =
        (row[i] - mean) * factor * gain[rank * n + i] + bias[rank * n + i];
  // A block must not leave while another one reads its shared memory.
  CLUSTER_SYNC("end");
}
