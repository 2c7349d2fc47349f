//===- algorithms.cu - Whole kernels -----------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of algorithms.ptx; generate.sh makes it again.
//
//===----------------------------------------------------------------------===//

#include "common.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// Addition without a contraction that would depend on the compiler.
__device__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ double add(double a, double b) { return __dadd_rn(a, b); }
__device__ u32 add(u32 a, u32 b) { return a + b; }
__device__ s64 add(s64 a, s64 b) { return a + b; }
__device__ float madd(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ double madd(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
__device__ u32 madd(u32 a, u32 b, u32 c) { return a * b + c; }
__device__ s64 madd(s64 a, s64 b, s64 c) { return a * b + c; }

#define TYPES(M) M(f32, float) M(f64, double) M(u32, u32) M(s64, s64)

// Sums: of a warp, of a block, of everything.
#define REDUCTIONS(T, S)                                                       \
  KERNEL warp_sum_##T(S *out, const S *x) {                                    \
    S v = x[INDEX];                                                            \
    for (int o = 16; o; o /= 2)                                                \
      v = add(v, __shfl_xor_sync(~0u, v, o));                                  \
    if (threadIdx.x % 32 == 0)                                                 \
      out[INDEX / 32] = v;                                                     \
  }                                                                            \
  KERNEL block_sum_##T(S *out, const S *x) {                                   \
    __shared__ S part[128];                                                    \
    part[threadIdx.x] = x[INDEX];                                              \
    __syncthreads();                                                           \
    for (unsigned o = 64; o; o /= 2) {                                         \
      if (threadIdx.x < o)                                                     \
        part[threadIdx.x] = add(part[threadIdx.x], part[threadIdx.x + o]);     \
      __syncthreads();                                                         \
    }                                                                          \
    if (threadIdx.x == 0)                                                      \
      out[blockIdx.x] = part[0];                                               \
  }                                                                            \
  KERNEL block_scan_##T(S *out, const S *x) {                                  \
    __shared__ S part[128];                                                    \
    S v = x[INDEX];                                                            \
    part[threadIdx.x] = v;                                                     \
    __syncthreads();                                                           \
    for (unsigned o = 1; o < 128; o *= 2) {                                    \
      S left = threadIdx.x >= o ? part[threadIdx.x - o] : S(0);                \
      __syncthreads();                                                         \
      v = add(left, v);                                                        \
      part[threadIdx.x] = v;                                                   \
      __syncthreads();                                                         \
    }                                                                          \
    out[INDEX] = v;                                                            \
  }
TYPES(REDUCTIONS)

// Products of 32 x 32 matrices, a block each.
#define MATRICES(T, S)                                                         \
  KERNEL matmul_naive_##T(S *out, const S *x, const S *y) {                    \
    S sum = 0;                                                                 \
    for (unsigned k = 0; k < 32; ++k)                                          \
      sum = madd(x[threadIdx.y * 32 + k], y[k * 32 + threadIdx.x], sum);       \
    out[threadIdx.y * 32 + threadIdx.x] = sum;                                 \
  }                                                                            \
  KERNEL matmul_tiled_##T(S *out, const S *x, const S *y) {                    \
    __shared__ S a[16][17], b[16][17];                                         \
    unsigned row = blockIdx.y * 16 + threadIdx.y;                              \
    unsigned column = blockIdx.x * 16 + threadIdx.x;                           \
    S sum = 0;                                                                 \
    for (unsigned k = 0; k < 32; k += 16) {                                    \
      a[threadIdx.y][threadIdx.x] = x[row * 32 + k + threadIdx.x];             \
      b[threadIdx.y][threadIdx.x] = y[(k + threadIdx.y) * 32 + column];        \
      __syncthreads();                                                         \
      _Pragma("unroll") for (unsigned l = 0; l < 16; ++l) sum =                \
          madd(a[threadIdx.y][l], b[l][threadIdx.x], sum);                     \
      __syncthreads();                                                         \
    }                                                                          \
    out[row * 32 + column] = sum;                                              \
  }                                                                            \
  KERNEL transpose_##T(S *out, const S *x) {                                   \
    __shared__ S tile[32][33];                                                 \
    for (unsigned k = 0; k < 32; k += 8)                                       \
      tile[threadIdx.y + k][threadIdx.x] =                                     \
          x[(threadIdx.y + k) * 32 + threadIdx.x];                             \
    __syncthreads();                                                           \
    for (unsigned k = 0; k < 32; k += 8)                                       \
      out[(threadIdx.y + k) * 32 + threadIdx.x] =                              \
          tile[threadIdx.x][threadIdx.y + k];                                  \
  }                                                                            \
  KERNEL stencil3_##T(S *out, const S *x) {                                    \
    unsigned i = INDEX;                                                        \
    S left = x[i ? i - 1 : i], right = x[i < 1023 ? i + 1 : i];                \
    out[i] = madd(S(2), x[i], add(left, right));                               \
  }                                                                            \
  KERNEL horner_##T(S *out, const S *x) {                                      \
    S v = x[INDEX], r = 1;                                                     \
    for (int k = 2; k < 12; ++k)                                               \
      r = madd(r, v, S(k));                                                    \
    out[INDEX] = r;                                                            \
  }
TYPES(MATRICES)

// Sorting in shared memory, 128 elements a block.
#define SORTING(T, S)                                                          \
  KERNEL bitonic_sort_##T(S *out, const S *x) {                                \
    __shared__ S tile[128];                                                    \
    unsigned t = threadIdx.x;                                                  \
    tile[t] = x[INDEX];                                                        \
    for (unsigned k = 2; k <= 128; k *= 2)                                     \
      for (unsigned j = k / 2; j; j /= 2) {                                    \
        __syncthreads();                                                       \
        unsigned other = t ^ j;                                                \
        if (other > t) {                                                       \
          S a = tile[t], b = tile[other];                                      \
          if ((t & k) == 0 ? a > b : a < b) {                                  \
            tile[t] = b;                                                       \
            tile[other] = a;                                                   \
          }                                                                    \
        }                                                                      \
      }                                                                        \
    __syncthreads();                                                           \
    out[INDEX] = tile[t];                                                      \
  }                                                                            \
  KERNEL odd_even_sort_##T(S *out, const S *x) {                               \
    __shared__ S tile[128];                                                    \
    unsigned t = threadIdx.x;                                                  \
    tile[t] = x[INDEX];                                                        \
    __syncthreads();                                                           \
    for (unsigned k = 0; k < 128; ++k) {                                       \
      if (t % 2 == k % 2 && t < 127 && tile[t] > tile[t + 1]) {                \
        S a = tile[t];                                                         \
        tile[t] = tile[t + 1];                                                 \
        tile[t + 1] = a;                                                       \
      }                                                                        \
      __syncthreads();                                                         \
    }                                                                          \
    out[INDEX] = tile[t];                                                      \
  }                                                                            \
  KERNEL rank_##T(u32 *out, const S *x) {                                      \
    u32 rank = 0;                                                              \
    for (unsigned k = 0; k < 1024; ++k)                                        \
      rank += x[k] < x[INDEX] || (x[k] == x[INDEX] && k < INDEX);              \
    out[INDEX] = rank;                                                         \
  }
TYPES(SORTING)

KERNEL histogram(u32 *out, const u32 *x) {
  __shared__ u32 bins[64];
  if (threadIdx.x < 64)
    bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[x[INDEX] % 64], 1);
  __syncthreads();
  if (threadIdx.x < 64)
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
/// Keeps the odd ones, in order, a warp at a time.
KERNEL compact(u32 *out, u32 *counts, const u32 *x) {
  u32 v = x[INDEX], lane = threadIdx.x % 32, warp = INDEX / 32;
  u32 keep = __ballot_sync(~0u, v & 1);
  if (v & 1)
    out[warp * 32 + __popc(keep & ((1u << lane) - 1))] = v;
  if (lane == 0)
    counts[warp] = __popc(keep);
}
KERNEL lower_bound(u32 *out, const u32 *sorted, const u32 *x) {
  u32 low = 0, high = 1024;
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (sorted[middle] < x[INDEX])
      low = middle + 1;
    else
      high = middle;
  }
  out[INDEX] = low;
}

// Random numbers and hashes.
KERNEL philox(uint4 *out, const u32 *x) {
  uint4 c = make_uint4(INDEX, x[INDEX], 0, 0);
  u32 k0 = 0x12345678, k1 = 0x9abcdef0;
  for (int round = 0; round < 10; ++round) {
    u32 h0 = __umulhi(0xD2511F53, c.x), l0 = 0xD2511F53 * c.x;
    u32 h1 = __umulhi(0xCD9E8D57, c.z), l1 = 0xCD9E8D57 * c.z;
    c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  out[INDEX] = c;
}
KERNEL xorshift(u64 *out, const u64 *x) {
  u64 s = x[INDEX] | 1;
  for (int k = 0; k < 20; ++k) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
  }
  out[INDEX] = s;
}
KERNEL pcg(u32 *out, const u64 *x) {
  u64 s = x[INDEX];
  for (int k = 0; k < 8; ++k)
    s = s * 6364136223846793005ull + 1442695040888963407ull;
  u32 v = u32(((s >> 18) ^ s) >> 27), r = u32(s >> 59);
  out[INDEX] = v >> r | v << ((32 - r) & 31);
}
KERNEL murmur(u32 *out, const u32 *x) {
  u32 h = 42;
  for (int k = 0; k < 4; ++k) {
    u32 v = x[(INDEX + k) % 1024] * 0xcc9e2d51;
    v = __funnelshift_l(v, v, 15) * 0x1b873593;
    h = __funnelshift_l(h ^ v, h ^ v, 13) * 5 + 0xe6546b64;
  }
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  out[INDEX] = h;
}
KERNEL crc32(u32 *out, const u32 *x) {
  u32 crc = ~0u;
  for (int byte = 0; byte < 4; ++byte) {
    crc ^= x[INDEX] >> (8 * byte) & 0xff;
    for (int k = 0; k < 8; ++k)
      crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  out[INDEX] = ~crc;
}
KERNEL siphash(u64 *out, const u64 *x) {
  u64 v0 = 0x736f6d6570736575, v1 = 0x646f72616e646f6d;
  u64 v2 = 0x6c7967656e657261, v3 = 0x7465646279746573 ^ x[INDEX];
  for (int k = 0; k < 6; ++k) {
    v0 += v1;
    v1 = (v1 << 13 | v1 >> 51) ^ v0;
    v0 = v0 << 32 | v0 >> 32;
    v2 += v3;
    v3 = (v3 << 16 | v3 >> 48) ^ v2;
    v0 += v3;
    v3 = (v3 << 21 | v3 >> 43) ^ v0;
    v2 += v1;
    v1 = (v1 << 17 | v1 >> 47) ^ v2;
    v2 = v2 << 32 | v2 >> 32;
  }
  out[INDEX] = v0 ^ v1 ^ v2 ^ v3;
}

// Bytes.
KERNEL upper_case(u8 *out, const u8 *x) {
  u8 c = x[INDEX];
  out[INDEX] = c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}
KERNEL to_decimal(u8 *out, const u32 *x) {
  u8 digits[10];
  u32 v = x[INDEX];
  int n = 0;
  do {
    digits[n++] = '0' + v % 10;
    v /= 10;
  } while (v);
  for (int k = 0; k < 10; ++k)
    out[INDEX * 10 + k] = k < n ? digits[n - 1 - k] : ' ';
}
KERNEL byte_sums(u32 *out, const u32 *x, const u32 *y) {
  u32 a = x[INDEX], b = y[INDEX];
  out[INDEX] = __vadd4(a, b) ^ __vabsdiffu4(a, b) ^ __vmaxu4(a, b) ^
               __vavgu2(a, b) ^ __vcmpgts2(a, b) ^ __vsubss2(a, b);
}
KERNEL gcd(u64 *out, const u64 *x, const u64 *y) {
  u64 a = x[INDEX], b = y[INDEX] % 1000 + 1;
  while (b) {
    u64 t = a % b;
    a = b;
    b = t;
  }
  out[INDEX] = a;
}
KERNEL multiply128(u64 *out, const u64 *x, const u64 *y) {
  unsigned __int128 p = (unsigned __int128)x[INDEX] * y[INDEX];
  p += (unsigned __int128)y[INDEX] << 64;
  p -= x[INDEX];
  out[2 * INDEX] = u64(p);
  out[2 * INDEX + 1] = u64(p >> 64);
}
KERNEL power_modulo(u32 *out, const u32 *x, const u32 *y) {
  u64 base = x[INDEX] % 1000003, result = 1;
  for (u32 e = y[INDEX] % 1024; e; e /= 2) {
    if (e & 1)
      result = result * base % 1000003;
    base = base * base % 1000003;
  }
  out[INDEX] = u32(result);
}

// Floats.
KERNEL nbody_f64(double *out, const double *x, const double *y) {
  double ax = 0, ay = 0;
  for (int k = 0; k < 64; ++k) {
    double dx = x[k] - x[INDEX], dy = y[k] - y[INDEX];
    double d = __fma_rn(dx, dx, __fma_rn(dy, dy, 0.01));
    double inverse = 1.0 / (d * sqrt(d));
    ax = __fma_rn(dx, inverse, ax);
    ay = __fma_rn(dy, inverse, ay);
  }
  out[2 * INDEX] = ax;
  out[2 * INDEX + 1] = ay;
}
KERNEL complex_mul_f32(float2 *out, const float2 *x, const float2 *y) {
  float2 a = x[INDEX], b = y[INDEX];
  out[INDEX] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
KERNEL complex_div_f64(double2 *out, const double2 *x, const double2 *y) {
  double2 a = x[INDEX], b = y[INDEX];
  double n = b.x * b.x + b.y * b.y;
  out[INDEX] = make_double2((a.x * b.x + a.y * b.y) / n,
                            (a.y * b.x - a.x * b.y) / n);
}
KERNEL mandelbrot(u32 *out, const float *x, const float *y) {
  float a = x[INDEX], b = y[INDEX], p = 0, q = 0;
  u32 n = 0;
  for (; n < 100 && p * p + q * q < 4; ++n) {
    float t = p * p - q * q + a;
    q = 2 * p * q + b;
    p = t;
  }
  out[INDEX] = n;
}
KERNEL kahan_sum(float *out, const float *x) {
  float sum = 0, lost = 0;
  for (int k = 0; k < 64; ++k) {
    float y = __fsub_rn(x[(INDEX * 7 + k) % 1024], lost);
    float t = __fadd_rn(sum, y);
    lost = __fsub_rn(__fsub_rn(t, sum), y);
    sum = t;
  }
  out[INDEX] = sum;
}
KERNEL newton_sqrt(double *out, const double *x) {
  double v = x[INDEX], r = v;
  for (int k = 0; k < 20; ++k)
    r = 0.5 * (r + v / r);
  out[INDEX] = r;
}
KERNEL layer_norm(float *out, const float *x) {
  const float *row = x + blockIdx.x * 128;
  float v = row[threadIdx.x];
  __shared__ float part[8];
  float sum = v, square = v * v;
  for (int o = 16; o; o /= 2) {
    sum += __shfl_xor_sync(~0u, sum, o);
    square += __shfl_xor_sync(~0u, square, o);
  }
  if (threadIdx.x % 32 == 0) {
    part[threadIdx.x / 32] = sum;
    part[4 + threadIdx.x / 32] = square;
  }
  __syncthreads();
  float mean = (part[0] + part[1] + part[2] + part[3]) / 128;
  float variance =
      (part[4] + part[5] + part[6] + part[7]) / 128 - mean * mean;
  out[INDEX] = (v - mean) / sqrtf(variance + 1e-5f);
}
KERNEL softmax(float *out, const float *x) {
  float v = x[INDEX], top = v;
  for (int o = 16; o; o /= 2)
    top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
  float e = __expf(v - top), sum = e;
  for (int o = 16; o; o /= 2)
    sum += __shfl_xor_sync(~0u, sum, o);
  out[INDEX] = e / sum;
}
KERNEL gelu(float *out, const float *x) {
  float v = x[INDEX];
  out[INDEX] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}
KERNEL half_dot(float *out, const __half2 *x, const __half2 *y) {
  __half2 sum = __float2half2_rn(0.0f);
  for (int k = 0; k < 8; ++k)
    sum = __hfma2(x[(INDEX + k) % 1024], y[(INDEX * 3 + k) % 1024], sum);
  out[INDEX] = __low2float(sum) + __high2float(sum);
}
KERNEL bfloat_axpy(__nv_bfloat162 *out, const __nv_bfloat162 *x,
                   const __nv_bfloat162 *y) {
  out[INDEX] = __hfma2(x[INDEX], __float2bfloat162_rn(1.5f),
                       __hadd2(y[INDEX], x[INDEX]));
}
