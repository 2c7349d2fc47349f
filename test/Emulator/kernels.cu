//===- kernels.cu - What nvcc makes of common kernels ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of kernels.ptx, which CudaKernelTest runs. To make it again:
//   nvcc -ptx -arch=sm_90 kernels.cu -o kernels.ptx
//
//===----------------------------------------------------------------------===//

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" {

__global__ void softmax(const float *in, float *out, int n) {
  __shared__ float part[32];
  const float *row = in + size_t(blockIdx.x) * n;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    m = fmaxf(m, row[i]);
  for (int o = 16; o; o >>= 1)
    m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = m;
  __syncthreads();
  for (unsigned i = 0; i < blockDim.x / 32; ++i)
    m = fmaxf(m, part[i]);
  __syncthreads();
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += __expf(row[i] - m);
  for (int o = 16; o; o >>= 1)
    s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  for (unsigned i = 0; i < blockDim.x / 32; ++i)
    s += part[i];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[size_t(blockIdx.x) * n + i] = __expf(row[i] - m) / s;
}

__global__ void matmul(const float *a, const float *b, float *c, int m, int n,
                       int k) {
  __shared__ float ta[16][17], tb[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int base = 0; base < k; base += 16) {
    int ka = base + threadIdx.x, kb = base + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
    tb[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n)
    c[row * n + col] = fmaxf(sum, 0.0f);
}

__global__ void transpose(const __half *in, __half *out, int rows, int cols) {
  __shared__ __half tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < cols && y + i < rows)
      tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < rows && y + i < cols)
      out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void scan(const int *in, int *out, int n) {
  __shared__ int totals[32];
  int i = threadIdx.x, lane = i & 31, warp = i >> 5;
  int v = i < n ? in[i] : 0;
  for (int o = 1; o < 32; o <<= 1) {
    int w = __shfl_up_sync(~0u, v, o);
    if (lane >= o)
      v += w;
  }
  if (lane == 31)
    totals[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int t = lane < blockDim.x / 32 ? totals[lane] : 0;
    for (int o = 1; o < 32; o <<= 1) {
      int w = __shfl_up_sync(~0u, t, o);
      if (lane >= o)
        t += w;
    }
    totals[lane] = t;
  }
  __syncthreads();
  if (warp)
    v += totals[warp - 1];
  if (i < n)
    out[i] = v;
}

__global__ void histogram(const unsigned char *in, unsigned *out, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (bins[i])
      atomicAdd(&out[i], bins[i]);
}

__global__ void bits(const unsigned *in, unsigned *out) {
  unsigned i = threadIdx.x, a = in[i], b = in[i ^ 1];
  unsigned r = __popc(a) + 3 * __clz(b) + 5 * __ffs(a) + (__brev(a) ^ b);
  r += __byte_perm(a, b, 0x5140) ^ __funnelshift_l(a, b, a & 63);
  r ^= __dp4a(int(a), int(b), 7) + __umulhi(a, b) + __usad(a, b, 9);
  r += unsigned(__mul24(int(a), int(b))) ^ (a / (b | 1)) ^ (int(a) % 13);
  r ^= unsigned(((unsigned long long)a * b + 0x123456789abcdefull) / 1000003);
  r += __ballot_sync(~0u, a & 1) ^ (__any_sync(~0u, a == 0) ? 1 : 2);
  r ^= __reduce_add_sync(~0u, a & 0xffff) + (a << (b & 31)) + (int(b) >> 3);
  out[i] = r;
}

__global__ void halves(const __half2 *a, const __half2 *b, __half2 *c,
                       const __nv_bfloat162 *d, __nv_bfloat162 *e) {
  int i = threadIdx.x;
  __half2 x = __hfma2(a[i], b[i], a[i]);
  x = __hmax2(x, __hsub2(b[i], __hmul2(a[i], a[i])));
  c[i] = __hgt2(x, a[i]).x > __half(0) ? h2exp2(__h2div(x, b[i])) : __hneg2(x);
  __nv_bfloat162 y = __hfma2(d[i], d[i], d[i]);
  float2 f = __bfloat1622float2(y);
  e[i] = __hmin2(__floats2bfloat162_rn(f.x * 3, f.y - 1), __hadd2(y, d[i]));
}

__global__ void doubles(const double *in, double *out) {
  int i = threadIdx.x;
  double x = in[i];
  double local[8];
  for (int k = 0; k < 8; ++k)
    local[k] = x * k + 1 / (x + k + 1);
  double y = local[int(x * 100) & 7];
  out[i] = sin(x * 50) + exp(-y) * sqrt(fabs(y)) + log(y + 1) + floor(x * 7);
}

__global__ void floats(const float *in, float *out) {
  int i = threadIdx.x;
  float x = in[i];
  float y = expf(x) + logf(fabsf(x) + 1) + sinf(x * 30) * cosf(x);
  y += tanhf(x) + erff(x) + powf(fabsf(x), 1.7f) + sqrtf(fabsf(x)) + rintf(x);
  y += fmodf(x, 0.3f) + atan2f(x, 0.4f) + cbrtf(x) + rsqrtf(fabsf(x) + 2);
  out[i] = y;
}

struct Parameters {
  int values[7];
  double scale;
};

__global__ void structure(Parameters p, double *out) {
  int i = threadIdx.x;
  double r = p.scale;
  switch (p.values[i % 7]) {
  case 0: r += 1; break;
  case 1: r *= 2; break;
  case 2: r -= p.values[(i + 1) % 7]; break;
  case 3: r = -r; break;
  case 4: r /= 3; break;
  case 5: r = r * r; break;
  default: r = i; break;
  }
  out[i] = r;
}

__device__ __noinline__ float helper(float x, int depth) {
  float sum = 0;
  for (int i = 0; i < depth; ++i)
    sum = sum * x + i;
  return sum;
}

__global__ void calls(const float *in, float *out) {
  int i = threadIdx.x;
  float v = helper(in[i], i % 5);
  if (i & 1)
    v += helper(v * 0.5f, 3);
  out[i] = v;
}

// The last block to finish adds up what all blocks have stored.
__device__ unsigned finished = 0;
__global__ void lastBlock(const float *in, float *partial, float *out) {
  __shared__ bool last;
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int o = 16; o; o >>= 1)
    v += __shfl_xor_sync(~0u, v, o);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += partial[i];
    *out = sum;
  }
}
}
