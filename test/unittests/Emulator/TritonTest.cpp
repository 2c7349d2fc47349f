//===- TritonTest.cpp - PTX of Triton -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs kernels that Triton has made of test/Emulator/Triton, against
// the host's results.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <cmath>
#include <fstream>
#include <sstream>

using namespace fusionemu;

namespace {
class TritonKernels : public testing::Test {
protected:
  void load(const std::string &name) {
    std::string file = name + ".ptx";
    std::ifstream stream(FUSION_TEST_PTX_DIR "/Triton/" + file);
    ASSERT_TRUE(bool(stream)) << file;
    std::ostringstream text;
    text << stream.rdbuf();
    Status s = f.module.parse(text.str(), file);
    ASSERT_TRUE(s.ok()) << s.message();
    f.kernel = f.module.getKernels()[0].name;
    f.arguments.clear();
  }
  void run(Dim3 grid, uint32_t shared) {
    // Two pointers to scratch memory, which these kernels do not use.
    f.pass(uint64_t(0));
    f.pass(uint64_t(0));
    Status s = f.run(grid, {128, 1, 1}, shared);
    ASSERT_TRUE(s.ok()) << s.message();
  }
  std::vector<float> floats(size_t n) {
    std::vector<float> values(n);
    for (float &v : values)
      v = std::uniform_real_distribution<float>(-2, 2)(random);
    return values;
  }
  Fixture f;
  std::mt19937 random{7};
};
} // namespace

TEST_F(TritonKernels, VectorAdd) {
  load("vector_add");
  std::vector<float> x = floats(1000), y = floats(1000);
  f.passBuffer("x", x);
  f.passBuffer("y", y);
  uint64_t out = f.passEmpty("out", 4000);
  f.pass(1000);
  run({2, 1, 1}, 0);
  std::vector<float> got = f.get<float>(out, 1000);
  for (size_t i = 0; i < 1000; ++i)
    EXPECT_EQ(got[i], x[i] + y[i]);
}

TEST_F(TritonKernels, Softmax) {
  load("softmax");
  std::vector<float> x = floats(3 * 200);
  f.passBuffer("x", x);
  uint64_t out = f.passEmpty("out", x.size() * 4);
  f.pass(200);
  run({3, 1, 1}, 16);
  std::vector<float> got = f.get<float>(out, x.size());
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int i = 0; i < 200; ++i)
      sum += std::exp(double(x[row * 200 + i]));
    for (int i = 0; i < 200; ++i)
      EXPECT_NEAR(got[row * 200 + i], std::exp(x[row * 200 + i]) / sum, 1e-7);
  }
}

TEST_F(TritonKernels, LayerNorm) {
  load("layer_norm");
  std::vector<float> x = floats(2 * 200), scale = floats(200),
                     bias = floats(200);
  f.passBuffer("x", x);
  f.passBuffer("scale", scale);
  f.passBuffer("bias", bias);
  uint64_t out = f.passEmpty("out", x.size() * 4);
  f.pass(200);
  run({2, 1, 1}, 1024);
  std::vector<float> got = f.get<float>(out, x.size());
  for (int row = 0; row < 2; ++row) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 200; ++i)
      mean += x[row * 200 + i] / 200.0;
    for (int i = 0; i < 200; ++i)
      variance += std::pow(x[row * 200 + i] - mean, 2) / 200;
    for (int i = 0; i < 200; ++i)
      EXPECT_NEAR(got[row * 200 + i],
                  (x[row * 200 + i] - mean) / std::sqrt(variance + 1e-5) *
                          scale[i] +
                      bias[i],
                  1e-5);
  }
}

TEST_F(TritonKernels, RowSum) {
  load("row_sum");
  std::vector<float> x = floats(2 * 1000);
  f.passBuffer("x", x);
  uint64_t out = f.passEmpty("out", 8);
  f.pass(1000);
  run({2, 1, 1}, 16);
  std::vector<float> got = f.get<float>(out, 2);
  for (int row = 0; row < 2; ++row) {
    double sum = 0;
    for (int i = 0; i < 1000; ++i)
      sum += x[row * 1000 + i];
    EXPECT_NEAR(got[row], sum, 1e-3);
  }
}

TEST_F(TritonKernels, Transpose) {
  load("transpose");
  std::vector<uint16_t> x(50 * 70);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint16_t(i);
  f.passBuffer("x", x);
  uint64_t out = f.passEmpty("out", x.size() * 2);
  f.pass(50);
  f.pass(70);
  run({2, 3, 1}, 2048);
  std::vector<uint16_t> got = f.get<uint16_t>(out, x.size());
  for (int r = 0; r < 50; ++r)
    for (int c = 0; c < 70; ++c)
      ASSERT_EQ(got[c * 50 + r], x[r * 70 + c]);
}

TEST_F(TritonKernels, CumulativeSum) {
  load("cumulative_sum");
  std::vector<int> x(400);
  for (int &v : x)
    v = int(random() % 100) - 50;
  f.passBuffer("x", x);
  uint64_t out = f.passEmpty("out", 1600);
  f.pass(400);
  run({1, 1, 1}, 16);
  std::vector<int> got = f.get<int>(out, 400);
  for (int i = 0, sum = 0; i < 400; ++i)
    EXPECT_EQ(got[i], sum += x[i]);
}

TEST_F(TritonKernels, Histogram) {
  load("histogram");
  std::vector<int> x(600), expected(16);
  for (int &v : x)
    ++expected[(v = int(random())) & 15];
  f.passBuffer("x", x);
  uint64_t out = f.passBuffer("out", std::vector<int>(16));
  f.pass(600);
  run({3, 1, 1}, 2048);
  EXPECT_EQ(f.get<int>(out, 16), expected);
}

TEST_F(TritonKernels, Dropout) {
  load("dropout");
  std::vector<float> x(4000, 3.0f);
  f.passBuffer("x", x);
  uint64_t out = f.passEmpty("out", 16000);
  f.pass(4000);
  f.pass(0.25f);
  f.pass(42);
  run({16, 1, 1}, 0);
  int dropped = 0;
  for (float v : f.get<float>(out, 4000)) {
    EXPECT_TRUE(v == 0 || v == 4);
    dropped += v == 0;
  }
  EXPECT_NEAR(dropped / 4000.0, 0.25, 0.03);
}

TEST_F(TritonKernels, MatmulOnTensorCores) {
  struct Version {
    const char *name;
    uint32_t shared;
  };
  // mma.sync with cp.async, and wgmma.
  for (Version version :
       {Version{"matmul", 16384}, Version{"matmul-sm90", 24576}}) {
    load(version.name);
    int m = 128, n = 64, k = 96;
    auto fill = [&](size_t count, std::vector<float> &values) {
      std::vector<uint16_t> halves(count);
      values.resize(count);
      for (size_t i = 0; i < count; ++i) {
        // Small integers: every sum is exact.
        int v = int(random() % 7) - 3;
        static const uint16_t encoded[] = {0xc200, 0xc000, 0xbc00, 0,
                                           0x3c00, 0x4000, 0x4200};
        halves[i] = encoded[v + 3];
        values[i] = float(v);
      }
      return halves;
    };
    std::vector<float> a, b;
    f.passBuffer("a", fill(size_t(m) * k, a));
    f.passBuffer("b", fill(size_t(k) * n, b));
    uint64_t out = f.passEmpty("out", size_t(m) * n * 2);
    f.pass(m);
    f.pass(n);
    f.pass(k);
    run({2, 1, 1}, version.shared);
    std::vector<uint16_t> got = f.get<uint16_t>(out, size_t(m) * n);
    for (int r = 0; r < m; ++r)
      for (int c = 0; c < n; ++c) {
        float sum = 0;
        for (int i = 0; i < k; ++i)
          sum += a[r * k + i] * b[i * n + c];
        // An integer below 2048 as a half.
        int exponent = 0;
        float fraction = std::frexp(std::fabs(sum), &exponent);
        unsigned half = sum == 0 ? 0
                                 : unsigned(exponent + 14) << 10 |
                                       (unsigned(fraction * 2048) & 0x3ff);
        ASSERT_EQ(got[r * n + c], half | (sum < 0 ? 0x8000 : 0))
            << version.name << " " << r << " " << c;
      }
  }
}
