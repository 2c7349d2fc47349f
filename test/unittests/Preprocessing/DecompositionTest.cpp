//===- DecompositionTest.cpp - Decompositions against formulas ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the decompositions of fusion ops on the CPU reference, in
// float64, and compares them with the ops' formulas written as plain loops.
//
//===----------------------------------------------------------------------===//

#include "../Reference/ReferenceTestUtils.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

enum class Floats {
  AsWritten,
  Wide // f32 is made f64, so that roundings hide nothing
};

/// Decomposes the module's function @f and evaluates it; empty after an error.
static llvm::SmallVector<HostTensor> run(std::string text,
                                         std::vector<HostTensor> inputs,
                                         Floats floats = Floats::Wide) {
  if (floats == Floats::Wide) {
    for (size_t at = 0; (at = text.find("f32", at)) != std::string::npos;)
      text.replace(at, 3, "f64");
    for (HostTensor &input : inputs) {
      if (input.getDType() != DType::F32)
        continue;
      HostTensor wide = createTensor(DType::F64, input.getDims());
      for (int64_t i = 0; i < input.getNumElements(); ++i)
        wide.setDouble(i, input.getDouble(i));
      input = wide;
    }
  }
  Program program(text);
  if (failed(decomposeFusionOps(program.getModule(), /*all=*/true))) {
    ADD_FAILURE() << program.getErrors();
    return {};
  }
  auto reference = program.compile("f");
  if (!reference) {
    ADD_FAILURE() << program.getErrors();
    return {};
  }
  auto outputs = evaluate(*reference, inputs);
  if (outputs.empty())
    ADD_FAILURE() << program.getErrors();
  return outputs;
}

/// Checks every element against `expected`, called with its row-major index.
template <typename Fn>
static void expectNear(const llvm::SmallVector<HostTensor> &outputs,
                       Fn expected, double tolerance = 1e-12) {
  ASSERT_FALSE(outputs.empty());
  for (int64_t i = 0; i < outputs[0].getNumElements(); ++i) {
    double want = expected(i), got = outputs[0].getDouble(i);
    if (std::isnan(want))
      EXPECT_TRUE(std::isnan(got)) << "at " << i;
    else
      EXPECT_NEAR(got, want, tolerance * std::max(1.0, std::fabs(want)))
          << "at " << i;
  }
}

static HostTensor integers(DType dtype, std::vector<int64_t> dims,
                           const std::vector<int64_t> &values) {
  HostTensor tensor = createTensor(dtype, std::move(dims));
  for (size_t i = 0; i < values.size(); ++i)
    tensor.setInteger(i, values[i]);
  return tensor;
}

namespace {

TEST(DecompositionTest, Activations) {
  struct Case {
    const char *op;
    double (*function)(double);
  };
  const Case cases[] = {
      {"fusion.relu %x", [](double x) { return std::max(x, 0.0); }},
      {"fusion.silu %x", [](double x) { return x / (1 + std::exp(-x)); }},
      {"fusion.gelu %x",
       [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"fusion.gelu tanh %x",
       [](double x) {
         return x / 2 *
                (1 +
                 std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
       }},
      {"fusion.mish %x",
       [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"fusion.log_sigmoid %x",
       [](double x) { return -std::log1p(std::exp(-x)); }},
      {"fusion.softplus %x {beta = 2.0 : f64, threshold = 1.0 : f64}",
       [](double x) {
         return 2 * x > 1 ? x : std::log1p(std::exp(2 * x)) / 2;
       }},
      {"fusion.elu %x {alpha = 0.5 : f64}",
       [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); }},
      {"fusion.selu %x",
       [](double x) {
         return 1.0507009873554805 *
                (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
       }},
      {"fusion.hard_swish %x",
       [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }}};
  HostTensor x = randomTensor(DType::F64, {33}, 1);
  for (const Case &c : cases) {
    SCOPED_TRACE(c.op);
    expectNear(
        run("func.func @f(%x: tensor<33xf64>) -> tensor<33xf64> {\n"
            "  %0 = " +
                std::string(c.op) +
                " : tensor<33xf64>\n  return %0 : tensor<33xf64>\n}",
            {x}),
        [&](int64_t i) { return c.function(x.getDouble(i)); }, 1e-9);
  }
}

TEST(DecompositionTest, GroupNorm) {
  HostTensor x = randomTensor(DType::F64, {2, 6, 5}, 1);
  HostTensor g = randomTensor(DType::F64, {6}, 2);
  HostTensor b = randomTensor(DType::F64, {6}, 3);
  auto outputs = run(R"(
func.func @f(%x: tensor<?x6x?xf64>, %g: tensor<6xf64>, %b: tensor<6xf64>)
    -> tensor<?x6x?xf64> {
  %0 = fusion.group_norm %x scale(%g) bias(%b) groups(2) eps(1.0e-3)
      : (tensor<?x6x?xf64>, tensor<6xf64>, tensor<6xf64>) -> tensor<?x6x?xf64>
  return %0 : tensor<?x6x?xf64>
})",
                     {x, g, b});
  expectNear(outputs, [&](int64_t i) {
    int64_t start = i / 15 * 15, c = i / 5 % 6;
    double mean = 0, var = 0;
    for (int64_t k = 0; k < 15; ++k)
      mean += x.getDouble(start + k) / 15;
    for (int64_t k = 0; k < 15; ++k)
      var += std::pow(x.getDouble(start + k) - mean, 2) / 15;
    return (x.getDouble(i) - mean) / std::sqrt(var + 1e-3) * g.getDouble(c) +
           b.getDouble(c);
  });
}

TEST(DecompositionTest, CrossEntropyWithSmoothingAndIgnored) {
  HostTensor x = randomTensor(DType::F64, {4, 7}, 1);
  HostTensor t = integers(DType::I64, {4}, {3, -100, 0, 6});
  auto outputs = run(R"(
func.func @f(%x: tensor<?x7xf64>, %t: tensor<?xi64>) -> tensor<f64> {
  %0 = fusion.cross_entropy mean %x, %t axis(1)
      {ignore_index = -100 : i64, label_smoothing = 0.1 : f64}
      : (tensor<?x7xf64>, tensor<?xi64>) -> tensor<f64>
  return %0 : tensor<f64>
})",
                     {x, t});
  expectNear(outputs, [&](int64_t) {
    double total = 0;
    for (int64_t n : {0, 2, 3}) {
      double sum = 0, mean = 0;
      for (int64_t c = 0; c < 7; ++c) {
        sum += std::exp(x.getDouble(n * 7 + c));
        mean += x.getDouble(n * 7 + c) / 7;
      }
      double lse = std::log(sum);
      total += 0.9 * (lse - x.getDouble(n * 7 + t.getInteger(n))) +
               0.1 * (lse - mean);
    }
    return total / 3;
  });
}

TEST(DecompositionTest, CrossEntropyOfATargetOutsideIsNaN) {
  HostTensor x = randomTensor(DType::F64, {2, 7}, 1);
  HostTensor t = integers(DType::I64, {2}, {7, -1});
  expectNear(run(R"(
func.func @f(%x: tensor<2x7xf64>, %t: tensor<2xi64>) -> tensor<2xf64> {
  %0 = fusion.cross_entropy none %x, %t axis(1)
      : (tensor<2x7xf64>, tensor<2xi64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
})",
                 {x, t}),
             [](int64_t) { return NAN; });
}

TEST(DecompositionTest, Rope) {
  for (bool interleaved : {false, true}) {
    HostTensor x = randomTensor(DType::F64, {2, 3, 8}, 1);
    HostTensor c = randomTensor(DType::F64, {3, 4}, 2);
    HostTensor s = randomTensor(DType::F64, {3, 4}, 3);
    auto outputs = run(
        std::string("func.func @f(%x: tensor<2x?x?xf64>, %c: tensor<?x?xf64>, "
                    "%s: tensor<?x?xf64>) -> tensor<2x?x?xf64> {\n"
                    "  %0 = fusion.rope ") +
            (interleaved ? "interleaved " : "") +
            "%x, %c, %s seq_axis(1) : tensor<2x?x?xf64>, tensor<?x?xf64>, "
            "tensor<?x?xf64>\n  return %0 : tensor<2x?x?xf64>\n}",
        {x, c, s});
    expectNear(outputs, [&](int64_t i) {
      int64_t row = i / 8 * 8, d = i % 8, position = i / 8 % 3;
      int64_t pair = interleaved ? d / 2 : d % 4;
      int64_t first = interleaved ? 2 * pair : pair;
      int64_t second = interleaved ? first + 1 : first + 4;
      double cos = c.getDouble(position * 4 + pair);
      double sin = s.getDouble(position * 4 + pair);
      double a = x.getDouble(row + first), b = x.getDouble(row + second);
      return d == first ? a * cos - b * sin : b * cos + a * sin;
    });
  }
}

/// One word of Philox4x32-7, in the form of its authors: rounds that bump the
/// key afterwards.
static uint32_t philox(uint64_t key, uint64_t low, uint64_t high, int word) {
  uint32_t k[2] = {uint32_t(key), uint32_t(key >> 32)};
  uint32_t c[4] = {uint32_t(low), uint32_t(low >> 32), uint32_t(high),
                   uint32_t(high >> 32)};
  for (int round = 0; round < 7; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * c[0];
    uint64_t p1 = uint64_t(0xCD9E8D57) * c[2];
    uint32_t next[4] = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1),
                        uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    std::copy(next, next + 4, c);
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c[word];
}

TEST(DecompositionTest, DropoutDrawsPhilox) {
  // The generator's published answers for zeros and for ones throughout.
  EXPECT_EQ(philox(0, 0, 0, 0), 0x5f6fb709u);
  EXPECT_EQ(philox(0, 0, 0, 3), 0x4f730a48u);
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull, 0), 0x5207ddc2u);
  HostTensor seed = integers(DType::I64, {}, {-1234567890123});
  // Sizes as they come, and rows of whole draws.
  for (auto [rows, columns, type] :
       {std::tuple{7, 13, "?x?"}, {7, 13, "7x13"}, {6, 16, "6x16"}}) {
    HostTensor x = randomTensor(DType::F32, {rows, columns}, 1);
    std::string tensor = "tensor<" + std::string(type) + "xf32>";
    auto outputs =
        run("func.func @f(%x: " + tensor + ", %seed: i64) -> " + tensor +
                " {\n  %0 = fusion.dropout %x, %seed probability(0.25) "
                "op_id(-5) : " +
                tensor + "\n  return %0 : " + tensor + "\n}",
            {x, seed}, Floats::AsWritten);
    int64_t kept = 0;
    expectNear(outputs, [&, x = std::move(x)](int64_t i) {
      auto word = [&](int64_t n) {
        return philox(uint64_t(-1234567890123), i / 8, uint64_t(-5), n % 4);
      };
      int64_t n = i % 8 / 2;
      uint32_t bits = i % 2 ? word(n) << 16 | word(n + 1) >> 16 : word(n);
      bool keep = (bits >> 8) >= (1u << 22);
      kept += keep;
      return keep ? float(x.getDouble(i)) * float(1.0 / 0.75) : 0.0f;
    });
    EXPECT_GT(kept, 55);
    EXPECT_LT(kept, 85);
  }
}

TEST(DecompositionTest, GroupedAttentionCausalWithBiasAndMask) {
  constexpr int64_t H = 4, G = 2, S = 3, T = 5, D = 6, E = 2;
  HostTensor q = randomTensor(DType::F64, {H, S, D}, 1);
  HostTensor k = randomTensor(DType::F64, {G, T, D}, 2);
  HostTensor v = randomTensor(DType::F64, {G, T, E}, 3);
  HostTensor bias = randomTensor(DType::F64, {H, 1, T}, 4);
  HostTensor mask = integers(DType::I1, {S, T},
                             {1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1});
  auto outputs = run(R"(
func.func @f(%q: tensor<4x?x?xf64>, %k: tensor<2x?x?xf64>,
             %v: tensor<2x?x2xf64>, %m: tensor<?x?xi1>, %b: tensor<4x1x?xf64>)
    -> tensor<4x?x2xf64> {
  %0 = fusion.attention %q, %k, %v mask(%m) bias(%b) causal(bottom_right)
      : (tensor<4x?x?xf64>, tensor<2x?x?xf64>, tensor<2x?x2xf64>,
         tensor<?x?xi1>, tensor<4x1x?xf64>) -> tensor<4x?x2xf64> {
  ^bb0(%s: f64, %h: index, %i: index, %j: index):
    %hi = arith.index_cast %h : index to i64
    %hf = arith.sitofp %hi : i64 to f64
    %t = arith.addf %s, %hf : f64
    %r = math.tanh %t : f64
    fusion.yield %r : f64
  }
  return %0 : tensor<4x?x2xf64>
})",
                     {q, k, v, mask, bias});
  expectNear(
      outputs,
      [&](int64_t n) {
        int64_t h = n / (S * E), i = n / E % S, e = n % E, g = h / (H / G);
        double sum = 0, weighted = 0;
        for (int64_t j = 0; j < T; ++j) {
          if (!mask.getInteger(i * T + j) || j > i + T - S)
            continue;
          double s = 0;
          for (int64_t d = 0; d < D; ++d)
            s += q.getDouble((h * S + i) * D + d) *
                 k.getDouble((g * T + j) * D + d);
          s = std::tanh(s / std::sqrt(double(D)) + bias.getDouble(h * T + j) +
                        double(h));
          sum += std::exp(s);
          weighted += std::exp(s) * v.getDouble((g * T + j) * E + e);
        }
        return weighted / sum;
      },
      1e-9);
}

TEST(DecompositionTest, GroupedStridedDilatedConvolution) {
  // N 2, C 4, I 9; F 6, 2 groups, window 3, stride 2, dilation 2, pad (2, 1).
  HostTensor x = randomTensor(DType::F64, {2, 4, 9}, 1);
  HostTensor w = randomTensor(DType::F64, {6, 2, 3}, 2);
  HostTensor b = randomTensor(DType::F64, {6}, 3);
  auto outputs = run(R"(
func.func @f(%x: tensor<?x4x?xf64>, %w: tensor<6x2x?xf64>, %b: tensor<6xf64>)
    -> tensor<?x6x?xf64> {
  %0 = fusion.conv nchw %x, %w bias(%b)
      {strides = array<i64: 2>, dilations = array<i64: 2>,
       padding = array<i64: 2, 1>, groups = 2 : i64}
      : (tensor<?x4x?xf64>, tensor<6x2x?xf64>, tensor<6xf64>)
      -> tensor<?x6x?xf64>
  return %0 : tensor<?x6x?xf64>
})",
                     {x, w, b});
  ASSERT_FALSE(outputs.empty());
  EXPECT_EQ(getTypeString(outputs[0]), "f64[2,6,4]");
  expectNear(outputs, [&](int64_t n) {
    int64_t sample = n / 24, f = n / 4 % 6, o = n % 4, g = f / 3;
    double sum = b.getDouble(f);
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t k = 0; k < 3; ++k) {
        int64_t i = o * 2 + k * 2 - 2;
        if (i >= 0 && i < 9)
          sum += x.getDouble((sample * 4 + g * 2 + c) * 9 + i) *
                 w.getDouble((f * 2 + c) * 3 + k);
      }
    return sum;
  });
}

TEST(DecompositionTest, TransposedConvolution) {
  // Channels last, C 4, F 6, 2 groups, stride 3, dilation 2, output padding 1;
  // padding 1 pads the spread input, padding 5 crops it.
  for (int64_t pad : {1, 5}) {
    HostTensor x = randomTensor(DType::F64, {1, 4, 4}, 1);
    HostTensor w = randomTensor(DType::F64, {4, 3, 3}, 2);
    int64_t size = 3 * 3 + 2 * 2 + 1 - 2 * pad + 1;
    std::string type = "tensor<1x" + std::to_string(size) + "x6xf64>";
    auto outputs = run(
        "func.func @f(%x: tensor<1x4x4xf64>, %w: tensor<4x3x3xf64>) -> " +
            type +
            " {\n  %0 = fusion.conv nhwc transposed %x, %w {strides = "
            "array<i64: 3>, dilations = array<i64: 2>, padding = array<i64: " +
            std::to_string(pad) + ", " + std::to_string(pad) +
            ">, output_padding = array<i64: 1>, groups = 2 : i64} : "
            "(tensor<1x4x4xf64>, tensor<4x3x3xf64>) -> " +
            type + "\n  return %0 : " + type + "\n}",
        {x, w});
    expectNear(outputs, [&](int64_t n) {
      int64_t o = n / 6, f = n % 6, g = f / 3;
      double sum = 0;
      for (int64_t c = g * 2; c < g * 2 + 2; ++c)
        for (int64_t i = 0; i < 4; ++i)
          for (int64_t k = 0; k < 3; ++k)
            if (i * 3 + k * 2 - pad == o)
              sum +=
                  x.getDouble(i * 4 + c) * w.getDouble((c * 3 + k) * 3 + f % 3);
      return sum;
    });
  }
}

TEST(DecompositionTest, PoolingAtTheBorder) {
  HostTensor x = randomTensor(DType::F64, {1, 2, 7}, 1);
  for (bool isMax : {true, false}) {
    auto outputs = run(
        std::string("func.func @f(%x: tensor<1x2x?xf64>) -> tensor<1x2x?xf64> "
                    "{\n  %0 = fusion.pool ") +
            (isMax ? "max" : "avg") +
            " nchw %x window [3] {strides = array<i64: 2>, dilations = "
            "array<i64: 2>, padding = array<i64: 3, 2>} : (tensor<1x2x?xf64>) "
            "-> tensor<1x2x?xf64>\n  return %0 : tensor<1x2x?xf64>\n}",
        {x});
    ASSERT_FALSE(outputs.empty());
    EXPECT_EQ(getTypeString(outputs[0]), "f64[1,2,4]");
    expectNear(outputs, [&](int64_t n) {
      double sum = 0, best = -INFINITY;
      int64_t count = 0;
      for (int64_t k = 0; k < 3; ++k) {
        int64_t i = n % 4 * 2 + k * 2 - 3;
        if (i < 0 || i >= 7)
          continue;
        double value = x.getDouble(n / 4 * 7 + i);
        sum += value;
        best = std::max(best, value);
        ++count;
      }
      return isMax ? best : sum / double(count);
    });
  }
}

TEST(DecompositionTest, Int4RoundTripsThroughBytes) {
  HostTensor x = createTensor(DType::F32, {2, 8});
  for (int64_t i = 0; i < 16; ++i)
    x.setDouble(i, (double(i) - 8.5) * 0.5);
  HostTensor s = createTensor(DType::F32, {2, 2});
  for (int64_t i = 0; i < 4; ++i)
    s.setDouble(i, 0.25 * double(i + 1));
  auto outputs = run(R"(
func.func @f(%x: tensor<2x8xf32>, %s: tensor<2x2xf32>)
    -> (tensor<2x8xf32>, tensor<2x4xi8>) {
  %0 = fusion.quantize int4 %x scale(%s) {axis = 1 : i64, group_size = 4 : i64}
      : (tensor<2x8xf32>, tensor<2x2xf32>) -> tensor<2x4xi8>
  %1 = fusion.dequantize int4 %0 scale(%s) {axis = 1 : i64, group_size = 4 : i64}
      : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x8xf32>
  return %1, %0 : tensor<2x8xf32>, tensor<2x4xi8>
})",
                     {x, s}, Floats::AsWritten);
  auto quantized = [&](int64_t i) {
    double scale = s.getDouble(i / 8 * 2 + i % 8 / 4);
    double q = std::nearbyint(x.getDouble(i) / scale);
    return std::min(std::max(q, -8.0), 7.0);
  };
  expectNear(outputs, [&](int64_t i) {
    return quantized(i) * s.getDouble(i / 8 * 2 + i % 8 / 4);
  });
  ASSERT_EQ(outputs.size(), 2u);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(outputs[1].getInteger(i) & 255,
              (int64_t(quantized(2 * i)) & 15) |
                  (int64_t(quantized(2 * i + 1)) & 15) << 4);
}

TEST(DecompositionTest, QuantizeRoundsToEvenAndClamps) {
  HostTensor x = createTensor(DType::F32, {7});
  const double values[] = {0.5, 1.5, 2.5, -1.0, 300.0, -300.0, NAN};
  for (int64_t i = 0; i < 7; ++i)
    x.setDouble(i, values[i]);
  HostTensor s = createTensor(DType::F32, {});
  s.setDouble(0, 1.0);
  HostTensor z = integers(DType::I8, {}, {10});
  auto outputs = run(R"(
func.func @f(%x: tensor<7xf32>, %s: tensor<f32>, %z: tensor<i8>)
    -> tensor<7xi8> {
  %0 = fusion.quantize uint8 %x scale(%s) zero_point(%z)
      : (tensor<7xf32>, tensor<f32>, tensor<i8>) -> tensor<7xi8>
  return %0 : tensor<7xi8>
})",
                     {x, s, z}, Floats::AsWritten);
  ASSERT_FALSE(outputs.empty());
  const int64_t expected[] = {10, 12, 12, 9, 255, 0, 0};
  for (int64_t i = 0; i < 7; ++i)
    EXPECT_EQ(outputs[0].getInteger(i) & 255, expected[i]) << "at " << i;
}

TEST(DecompositionTest, GatherWrapsNegativeAndMarksOutside) {
  HostTensor x = randomTensor(DType::F64, {4, 3}, 1);
  HostTensor indices = integers(DType::I64, {5}, {0, 3, -1, 4, -5});
  auto outputs = run(R"(
func.func @f(%x: tensor<?x3xf64>, %i: tensor<5xi64>) -> tensor<5x3xf64> {
  %0 = fusion.gather %x, %i axis(0)
      : (tensor<?x3xf64>, tensor<5xi64>) -> tensor<5x3xf64>
  return %0 : tensor<5x3xf64>
})",
                     {x, indices});
  const int64_t rows[] = {0, 3, 3, -1, -1};
  expectNear(outputs, [&](int64_t i) {
    int64_t row = rows[i / 3];
    return row < 0 ? NAN : x.getDouble(row * 3 + i % 3);
  });
}

TEST(DecompositionTest, LinearRecurrenceByScan) {
  HostTensor a = randomTensor(DType::F64, {3, 6}, 1);
  HostTensor b = randomTensor(DType::F64, {3, 6}, 2);
  for (bool reverse : {false, true}) {
    auto outputs = run(std::string(R"(
func.func @f(%a: tensor<3x?xf64>, %b: tensor<3x?xf64>) -> tensor<3x?xf64> {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %0:2 = fusion.scan )") + (reverse ? "reverse" : "") +
                           R"(
      ins(%a, %b : tensor<3x?xf64>, tensor<3x?xf64>)
      inits(%one, %zero : f64, f64) axis(1)
      -> tensor<3x?xf64>, tensor<3x?xf64> {
  ^bb0(%a1: f64, %b1: f64, %a2: f64, %b2: f64):
    %p = arith.mulf %a1, %a2 : f64
    %q = arith.mulf %a2, %b1 : f64
    %r = arith.addf %q, %b2 : f64
    fusion.yield %p, %r : f64, f64
  }
  return %0#1 : tensor<3x?xf64>
})",
                       {a, b});
    expectNear(outputs, [&](int64_t n) {
      // h = a h + b, from the start up to n or from the end down to it.
      int64_t row = n / 6 * 6, i = n % 6;
      double h = 0;
      for (int64_t k = reverse ? 5 : 0; reverse ? k >= i : k <= i;
           k += reverse ? -1 : 1)
        h = a.getDouble(row + k) * h + b.getDouble(row + k);
      return h;
    });
  }
}

} // namespace
