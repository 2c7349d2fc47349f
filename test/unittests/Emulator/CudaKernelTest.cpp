//===- CudaKernelTest.cpp - PTX of nvcc -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs kernels that nvcc has made of test/Emulator/kernels.cu,
// against the host's results.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace fusionemu;

namespace {
/// kernels.ptx, and one kernel of it.
class CudaKernels : public testing::Test {
protected:
  void SetUp() override {
    std::ifstream stream(FUSION_TEST_PTX_DIR "/kernels.ptx");
    std::ostringstream text;
    text << stream.rdbuf();
    Status s = f.module.parse(text.str(), "kernels.ptx");
    ASSERT_TRUE(s.ok()) << s.message();
  }
  void run(const std::string &kernel, Dim3 grid, Dim3 block) {
    f.kernel = kernel;
    Status s = f.run(grid, block);
    ASSERT_TRUE(s.ok()) << s.message();
  }
  std::vector<float> floats(size_t n, float low = -2, float high = 2) {
    std::vector<float> values(n);
    for (float &v : values)
      v = std::uniform_real_distribution<float>(low, high)(random);
    return values;
  }
  Fixture f;
  std::mt19937 random{5};
};
} // namespace

TEST_F(CudaKernels, Softmax) {
  for (int n : {1, 37, 256, 1000}) {
    f.arguments.clear();
    std::vector<float> in = floats(size_t(n) * 3);
    f.passBuffer("in", in);
    uint64_t out = f.passEmpty("out", in.size() * 4);
    f.pass(n);
    run("softmax", {3, 1, 1}, {128, 1, 1});
    std::vector<float> got = f.get<float>(out, in.size());
    for (int row = 0; row < 3; ++row) {
      const float *x = &in[size_t(row) * n];
      double m = *std::max_element(x, x + n), sum = 0;
      for (int i = 0; i < n; ++i)
        sum += std::exp(x[i] - m);
      for (int i = 0; i < n; ++i)
        EXPECT_NEAR(got[size_t(row) * n + i], std::exp(x[i] - m) / sum, 1e-6);
    }
  }
}

TEST_F(CudaKernels, Matmul) {
  int m = 33, n = 50, k = 37;
  std::vector<float> a = floats(m * k), b = floats(k * n);
  f.passBuffer("a", a);
  f.passBuffer("b", b);
  uint64_t c = f.passEmpty("c", m * n * 4);
  f.pass(m);
  f.pass(n);
  f.pass(k);
  run("matmul", {4, 3, 1}, {16, 16, 1});
  std::vector<float> got = f.get<float>(c, m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      // The same order of the same fused operations: bit for bit.
      float sum = 0;
      for (int l = 0; l < 48; ++l)
        sum =
            std::fmaf(l < k ? a[i * k + l] : 0, l < k ? b[l * n + j] : 0, sum);
      EXPECT_EQ(got[i * n + j], std::fmax(sum, 0.0f));
    }
  // Rows of 17 words: of the two rows that a warp stores, the last word of one
  // and the first of the other share a bank. 12 blocks, 3 tiles, 8 warps.
  EXPECT_EQ(f.counters.bankConflicts, 12u * 3 * 8);
}

TEST_F(CudaKernels, Transpose) {
  int rows = 70, cols = 45;
  std::vector<uint16_t> in(rows * cols);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint16_t(i);
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", in.size() * 2);
  f.pass(rows);
  f.pass(cols);
  run("transpose", {2, 3, 1}, {32, 8, 1});
  std::vector<uint16_t> got = f.get<uint16_t>(out, in.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      EXPECT_EQ(got[j * rows + i], in[i * cols + j]);
}

TEST_F(CudaKernels, Scan) {
  std::vector<int> in(1000);
  for (int &v : in)
    v = int(random() % 100) - 50;
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", 4000);
  f.pass(int(in.size()));
  run("scan", {}, {1024, 1, 1});
  std::vector<int> got = f.get<int>(out, 1000);
  for (int i = 0, sum = 0; i < 1000; ++i)
    EXPECT_EQ(got[i], sum += in[i]);
}

TEST_F(CudaKernels, Histogram) {
  std::vector<uint8_t> in(5000);
  std::vector<uint32_t> expected(256, 0);
  for (uint8_t &v : in) {
    v = uint8_t(random() % 50 * 5);
    ++expected[v];
  }
  f.passBuffer("in", in);
  uint64_t out = f.passBuffer("out", std::vector<uint32_t>(256, 0));
  f.pass(int(in.size()));
  run("histogram", {7, 1, 1}, {128, 1, 1});
  EXPECT_EQ(f.get<uint32_t>(out, 256), expected);
}

static uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (unsigned i = 0; i < 4; ++i)
    r |= uint32_t(bytes >> (8 * ((selector >> (4 * i)) & 7)) & 0xff) << (8 * i);
  return r;
}

TEST_F(CudaKernels, Bits) {
  std::vector<uint32_t> in(64);
  for (uint32_t &v : in)
    v = uint32_t(random());
  in[3] = 0;
  in[4] = 1;
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", 256);
  run("bits", {}, {64, 1, 1});
  std::vector<uint32_t> got = f.get<uint32_t>(out, 64);
  for (unsigned warp = 0; warp < 2; ++warp) {
    uint32_t ballot = 0, sum = 0;
    bool anyZero = false;
    for (unsigned i = 0; i < 32; ++i) {
      uint32_t a = in[warp * 32 + i];
      ballot |= (a & 1) << i;
      sum += a & 0xffff;
      anyZero |= a == 0;
    }
    for (unsigned i = warp * 32; i < warp * 32 + 32; ++i) {
      uint32_t a = in[i], b = in[i ^ 1];
      uint32_t brev = 0;
      for (unsigned k = 0; k < 32; ++k)
        brev |= ((a >> k) & 1) << (31 - k);
      uint32_t r = uint32_t(__builtin_popcount(a)) +
                   3 * (b ? uint32_t(__builtin_clz(b)) : 32) +
                   5 * uint32_t(__builtin_ffs(int(a))) + (brev ^ b);
      unsigned n = a & 31;
      uint32_t funnel = n ? b << n | a >> (32 - n) : b;
      r += permuteBytes(a, b, 0x5140) ^ funnel;
      int32_t dot = 7;
      for (unsigned k = 0; k < 4; ++k)
        dot += int8_t(a >> (8 * k)) * int8_t(b >> (8 * k));
      r ^= uint32_t(dot) + uint32_t(uint64_t(a) * b >> 32) +
           (a > b ? a - b : b - a) + 9;
      int64_t p = int64_t(int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8);
      r += uint32_t(p) ^ (a / (b | 1)) ^ uint32_t(int32_t(a) % 13);
      r ^= uint32_t((uint64_t(a) * b + 0x123456789abcdefull) / 1000003);
      r += ballot ^ (anyZero ? 1 : 2);
      r ^= sum + (a << (b & 31)) + uint32_t(int32_t(b) >> 3);
      EXPECT_EQ(got[i], r) << i;
    }
  }
}

TEST_F(CudaKernels, Doubles) {
  std::vector<double> in(96);
  for (double &v : in)
    v = std::uniform_real_distribution<double>(0.01, 3)(random);
  in[0] = 1e9; // The slow path of sin, a called function.
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", 96 * 8);
  run("doubles", {}, {96, 1, 1});
  std::vector<double> got = f.get<double>(out, 96);
  for (size_t i = 0; i < in.size(); ++i) {
    double x = in[i];
    int k = int(std::min(x * 100, 2147483647.0)) & 7;
    double y = std::fma(x, k, 1 / (x + k + 1));
    double r = std::sin(x * 50) + std::exp(-y) * std::sqrt(std::fabs(y)) +
               std::log(y + 1) + std::floor(x * 7);
    EXPECT_NEAR(got[i], r, 1e-12 * std::fabs(r) + 1e-13) << x;
  }
}

TEST_F(CudaKernels, Floats) {
  std::vector<float> in = floats(128);
  in[0] = 0;
  in[1] = 5000; // The slow path of sin.
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", 512);
  run("floats", {}, {128, 1, 1});
  std::vector<float> got = f.get<float>(out, 128);
  for (size_t i = 2; i < in.size(); ++i) {
    double x = in[i];
    double y = std::exp(x) + std::log(std::fabs(x) + 1) +
               std::sin(double(in[i] * 30)) * std::cos(x);
    y += std::tanh(x) + std::erf(x) + std::pow(std::fabs(x), double(1.7f)) +
         std::sqrt(std::fabs(x)) + std::nearbyint(x);
    y += std::fmod(x, double(0.3f)) + std::atan2(x, double(0.4f)) +
         std::cbrt(x) + 1 / std::sqrt(std::fabs(x) + 2);
    EXPECT_NEAR(got[i], y, 2e-5) << x;
  }
}

TEST_F(CudaKernels, Structure) {
  struct {
    int values[7] = {0, 1, 2, 3, 4, 5, 6};
    double scale = 1.25;
  } p;
  f.pass(p);
  uint64_t out = f.passEmpty("out", 64 * 8);
  run("structure", {}, {64, 1, 1});
  std::vector<double> got = f.get<double>(out, 64);
  for (int i = 0; i < 64; ++i) {
    double expected[] = {2.25, 2.5, -1.75, -1.25, 1.25 / 3, 1.5625, double(i)};
    EXPECT_EQ(got[i], expected[i % 7]);
  }
}

TEST_F(CudaKernels, Calls) {
  std::vector<float> in = floats(64);
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", 256);
  run("calls", {}, {64, 1, 1});
  auto helper = [](float x, int depth) {
    float sum = 0;
    for (int i = 0; i < depth; ++i)
      sum = std::fmaf(sum, x, float(i));
    return sum;
  };
  std::vector<float> got = f.get<float>(out, 64);
  for (int i = 0; i < 64; ++i) {
    float v = helper(in[i], i % 5);
    if (i & 1)
      v += helper(v * 0.5f, 3);
    EXPECT_EQ(got[i], v);
  }
}

TEST_F(CudaKernels, LastBlock) {
  std::vector<float> in(20 * 32, 0.5f);
  f.passBuffer("in", in);
  f.passEmpty("partial", 80);
  uint64_t out = f.passEmpty("out", 4);
  run("lastBlock", {20, 1, 1}, {32, 1, 1});
  EXPECT_EQ(f.get<float>(out, 1)[0], 320.0f);
}

TEST_F(CudaKernels, Halves) {
  // Values at which every operation is exact, so that any order agrees.
  std::vector<uint16_t> a(64), b(64), d(64);
  for (unsigned i = 0; i < 64; ++i) {
    a[i] = i % 2 ? 0x3c00 : 0xc000;     // 1, -2
    b[i] = i % 4 < 2 ? 0x4000 : 0x3800; // 2, 0.5
    d[i] = i % 2 ? 0x3f80 : 0xbf00;     // 1, -0.5
  }
  f.passBuffer("a", a);
  f.passBuffer("b", b);
  uint64_t c = f.passEmpty("c", 128);
  f.passBuffer("d", d);
  uint64_t e = f.passEmpty("e", 128);
  run("halves", {}, {32, 1, 1});
  std::vector<uint16_t> got = f.get<uint16_t>(c, 64);
  std::vector<uint16_t> gotE = f.get<uint16_t>(e, 64);
  for (unsigned i = 0; i < 64; i += 2) {
    // The pair (-2, 1) with b in {2, 0.5}: x = a * b + a.
    float y = i % 4 ? 0.5f : 2.0f;
    float x[2] = {std::fmax(-2 * y - 2, y - 4), std::fmax(y + 1, y - 1)};
    bool greater = x[0] > -2;
    for (unsigned k = 0; k < 2; ++k) {
      float expected = greater ? std::exp2(x[k] / y) : -x[k];
      uint16_t code = got[i + k];
      int exponent = (code >> 10) & 31;
      float value = std::ldexp(1024 + (code & 1023), exponent - 25);
      value = code & 0x8000 ? -value : value;
      EXPECT_NEAR(value, expected, std::fabs(expected) / 512) << i + k;
    }
    // y = d * d + d is -0.25 and 2.
    float f2[2] = {std::fmin(-0.75f, -0.75f), std::fmin(1.0f, 3.0f)};
    for (unsigned k = 0; k < 2; ++k)
      EXPECT_EQ(asFloat(uint32_t(gotE[i + k]) << 16), f2[k]);
  }
}
