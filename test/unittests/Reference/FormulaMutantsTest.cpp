//===- FormulaMutantsTest.cpp - Wrong decompositions are told apart -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that the bounds of formulas hold for plain loops that compute
// the same, rounded once, and do not for loops with one mistake each, such as a
// decomposition could have.
//
//===----------------------------------------------------------------------===//

#include "FormulaTestUtils.h"

#include <functional>

using namespace mlir;
using namespace mlir::fusion;

namespace {

using Vector = std::vector<double>;
using Inputs = std::vector<HostTensor>;

/// A program of one op, and plain loops that compute it in f64.
struct Op {
  std::string text;
  Inputs inputs;
  DType result;
  std::vector<int64_t> shape;

  /// How many elements of what `loops` give are no correct result.
  int64_t countWrong(const Vector &values) const {
    Program program(text);
    auto expected = evaluateByFormula(program, inputs);
    if (expected.empty()) {
      ADD_FAILURE() << text << program.getErrors();
      return 0;
    }
    return countOutside(tensorOf(result, shape, values), expected[0]);
  }
  void expectRight(const Vector &values) const {
    EXPECT_EQ(countWrong(values), 0) << text;
  }
  void expectWrong(const Vector &values, const char *mistake) const {
    EXPECT_GT(countWrong(values), 0) << mistake << "\n" << text;
  }
};

std::string typeOf(DType dtype, const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + fusionpkg::getDTypeName(dtype) + ">";
}

/// The function f on `arguments` with `op`, in which %0, %1, ... are these.
std::string functionOf(const std::vector<std::string> &arguments,
                       const std::string &op, const std::string &result) {
  std::string text = "func.func @f(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ", %arg" : "%arg") + std::to_string(i) + ": " + arguments[i];
  std::string body = op;
  for (size_t at = 0; (at = body.find('%', at)) != std::string::npos; ++at)
    if (std::isdigit(body[at + 1]))
      body.insert(at + 1, "arg");
  return text + ") -> " + result + " {\n  %y = " + body +
         "\n  return %y : " + result + "\n}";
}

const DType kTypes[] = {DType::BF16, DType::F16, DType::F32};

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Op activation(const std::string &op, DType dtype) {
  std::string type = typeOf(dtype, {400});
  return {functionOf({type}, "fusion." + op + " %0 : " + type, type),
          {randomTensor(dtype, {400}, 1)},
          dtype,
          {400}};
}

Vector mapOf(const HostTensor &x, const std::function<double(double)> &f) {
  Vector y;
  for (double value : toDoubles(x))
    y.push_back(f(value));
  return y;
}

TEST(FormulaMutantsTest, Activations) {
  for (DType dtype : kTypes) {
    Op tanhGelu = activation("gelu tanh", dtype);
    auto gelu = [](double c, double k) {
      return [=](double x) {
        return x / 2 * (1 + std::tanh(c * (x + k * x * x * x)));
      };
    };
    const double c = std::sqrt(2 / M_PI);
    tanhGelu.expectRight(mapOf(tanhGelu.inputs[0], gelu(c, 0.044715)));
    tanhGelu.expectWrong(mapOf(tanhGelu.inputs[0], gelu(c, 0.04715)),
                         "a wrong constant");
    tanhGelu.expectWrong(mapOf(tanhGelu.inputs[0], gelu(c * c, 0.044715)),
                         "2/pi without its root");

    Op erfGelu = activation("gelu", dtype);
    auto exact = [](double x) {
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    };
    erfGelu.expectRight(mapOf(erfGelu.inputs[0], exact));
    erfGelu.expectWrong(mapOf(erfGelu.inputs[0], gelu(c, 0.044715)),
                        "the other formula");

    Op silu = activation("silu", dtype);
    silu.expectRight(
        mapOf(silu.inputs[0], [](double x) { return x / (1 + std::exp(-x)); }));
    silu.expectWrong(
        mapOf(silu.inputs[0], [](double x) { return x / (1 + std::exp(x)); }),
        "a sign");

    Op elu = activation("elu", dtype);
    elu.expectRight(mapOf(elu.inputs[0],
                          [](double x) { return x > 0 ? x : std::expm1(x); }));
    elu.expectWrong(
        mapOf(elu.inputs[0], [](double x) { return x > 0 ? x : std::exp(x); }),
        "exp for expm1");

    Op selu = activation("selu", dtype);
    auto scaled = [](double alpha) {
      return [=](double x) {
        return 1.0507009873554805 * (x > 0 ? x : alpha * std::expm1(x));
      };
    };
    selu.expectRight(mapOf(selu.inputs[0], scaled(1.6732632423543772)));
    selu.expectWrong(mapOf(selu.inputs[0], scaled(1.6326324235)),
                     "a wrong constant");
  }
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

constexpr int64_t kRows = 12, kColumns = 40;

Op rowwise(const std::string &op, const std::string &tail, DType dtype) {
  std::string type = typeOf(dtype, {kRows, kColumns});
  return {functionOf({type}, "fusion." + op + " %0 " + tail, type),
          {randomTensor(dtype, {kRows, kColumns}, 2)},
          dtype,
          {kRows, kColumns}};
}

/// A row, changed in place.
using RowFunction = std::function<void(Vector &)>;

Vector rowsOf(const Op &op, const RowFunction &f) {
  Vector x = toDoubles(op.inputs[0]), y;
  for (int64_t i = 0; i < kRows; ++i) {
    Vector row(x.begin() + i * kColumns, x.begin() + (i + 1) * kColumns);
    f(row);
    y.insert(y.end(), row.begin(), row.end());
  }
  return y;
}

double sumOf(const Vector &x, const std::function<double(double)> &f) {
  double sum = 0;
  for (double value : x)
    sum += f(value);
  return sum;
}

/// (x - mean) / (sqrt(sum of squares / divisor + eps) + outer).
RowFunction layerNorm(double eps, double divisor, double outer = 0) {
  return [=](Vector &row) {
    double mean = sumOf(row, [](double x) { return x; }) / kColumns;
    double squares =
        sumOf(row, [&](double x) { return (x - mean) * (x - mean); });
    for (double &x : row)
      x = (x - mean) / (std::sqrt(squares / divisor + eps) + outer);
  };
}

TEST(FormulaMutantsTest, Norms) {
  for (DType dtype : kTypes) {
    std::string type = typeOf(dtype, {kRows, kColumns});
    Op norm = rowwise("layer_norm",
                      "axis(1) eps(1.0e-5) : (" + type + ") -> " + type, dtype);
    norm.expectRight(rowsOf(norm, layerNorm(1e-5, kColumns)));
    norm.expectWrong(rowsOf(norm, layerNorm(1 + 1e-5, kColumns)), "eps + 1");
    norm.expectWrong(rowsOf(norm, layerNorm(1e-5, kColumns - 1)),
                     "the unbiased variance");

    Op small = rowwise("layer_norm",
                       "axis(1) eps(0.1) : (" + type + ") -> " + type, dtype);
    small.expectRight(rowsOf(small, layerNorm(0.1, kColumns)));
    small.expectWrong(rowsOf(small, layerNorm(0, kColumns, 0.1)),
                      "eps outside of the root");
    small.expectWrong(rowsOf(small, layerNorm(0, kColumns)), "no eps");

    auto rms = [](double divisor) {
      return [=](Vector &row) {
        double squares = sumOf(row, [](double x) { return x * x; });
        for (double &x : row)
          x /= std::sqrt(squares / divisor + 1e-5);
      };
    };
    Op rmsNorm = rowwise(
        "rms_norm", "axis(1) eps(1.0e-5) : (" + type + ") -> " + type, dtype);
    rmsNorm.expectRight(rowsOf(rmsNorm, rms(kColumns)));
    rmsNorm.expectWrong(rowsOf(rmsNorm, rms(1)), "a sum for a mean");
    rmsNorm.expectWrong(rowsOf(rmsNorm, layerNorm(1e-5, kColumns)),
                        "the mean taken off");

    Op softmax = rowwise("softmax", "axis(1) : " + type, dtype);
    auto normalized = [](double missing, bool isLog) {
      return [=](Vector &row) {
        double sum = sumOf(row, [](double x) { return std::exp(x); });
        sum -= missing * std::exp(row.back());
        for (double &x : row)
          x = isLog ? x - std::log(sum) : std::exp(x) / sum;
      };
    };
    softmax.expectRight(rowsOf(softmax, normalized(0, false)));
    softmax.expectWrong(rowsOf(softmax, normalized(1, false)),
                        "a sum without its last term");
    Op logSoftmax = rowwise("log_softmax", "axis(1) : " + type, dtype);
    logSoftmax.expectRight(rowsOf(logSoftmax, normalized(0, true)));
    logSoftmax.expectWrong(rowsOf(logSoftmax, normalized(1, true)),
                           "a sum without its last term");
  }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Attention as plain loops, with the places where mistakes are made.
struct AttentionLoops {
  int64_t heads = 4, groups = 2, queries = 12, keys = 16, depth = 8, width = 6;
  double scale = 1 / std::sqrt(8.0);
  std::function<bool(int64_t, int64_t)> forbids = [](int64_t, int64_t) {
    return false;
  };
  std::function<int64_t(int64_t)> groupOf = [](int64_t h) { return h / 2; };
  std::function<double(double)> modify = [](double s) { return s; };

  Vector run(const Inputs &inputs) const {
    Vector result;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i) {
        Vector weights;
        double sum = 0;
        for (int64_t j = 0; j < keys; ++j) {
          double s = 0;
          for (int64_t d = 0; d < depth; ++d)
            s += inputs[0].getDouble((h * queries + i) * depth + d) *
                 inputs[1].getDouble((groupOf(h) * keys + j) * depth + d);
          weights.push_back(forbids(i, j) ? 0 : std::exp(modify(s * scale)));
          sum += weights.back();
        }
        for (int64_t c = 0; c < width; ++c) {
          double value = 0;
          for (int64_t j = 0; j < keys; ++j)
            value += weights[j] *
                     inputs[2].getDouble((groupOf(h) * keys + j) * width + c);
          result.push_back(value / sum);
        }
      }
    return result;
  }
};

Op attention(const std::string &form, const std::string &region, DType dtype) {
  std::string q = typeOf(dtype, {4, 12, 8}), k = typeOf(dtype, {2, 16, 8});
  std::string v = typeOf(dtype, {2, 16, 6}), o = typeOf(dtype, {4, 12, 6});
  return {functionOf({q, k, v},
                     "fusion.attention %0, %1, %2 " + form + " : (" + q + ", " +
                         k + ", " + v + ") -> " + o + region,
                     o),
          {randomTensor(dtype, {4, 12, 8}, 3),
           randomTensor(dtype, {2, 16, 8}, 4),
           randomTensor(dtype, {2, 16, 6}, 5)},
          dtype,
          {4, 12, 6}};
}

TEST(FormulaMutantsTest, Attention) {
  for (DType dtype : kTypes) {
    Op plain = attention("", "", dtype);
    AttentionLoops loops;
    plain.expectRight(loops.run(plain.inputs));
    loops.scale = 1;
    plain.expectWrong(loops.run(plain.inputs), "no 1 / sqrt(D)");
    loops.scale = 1.0 / 8;
    plain.expectWrong(loops.run(plain.inputs), "1 / D");
    loops = AttentionLoops();
    loops.groupOf = [](int64_t h) { return h % 2; };
    plain.expectWrong(loops.run(plain.inputs), "heads grouped the other way");

    Op causal = attention("causal(top_left)", "", dtype);
    loops = AttentionLoops();
    loops.forbids = [](int64_t i, int64_t j) { return j > i; };
    causal.expectRight(loops.run(causal.inputs));
    loops.forbids = [](int64_t i, int64_t j) { return j > i + 1; };
    causal.expectWrong(loops.run(causal.inputs), "one key too many");
    loops.forbids = [](int64_t i, int64_t j) { return j >= i && j; };
    causal.expectWrong(loops.run(causal.inputs), "one key too few");
    loops.forbids = [](int64_t i, int64_t j) { return j < i; };
    causal.expectWrong(loops.run(causal.inputs), "the mask inverted");
    loops.forbids = [](int64_t i, int64_t j) { return j > i + 4; };
    causal.expectWrong(loops.run(causal.inputs), "the other corner");

    Op corner = attention("causal(bottom_right)", "", dtype);
    corner.expectRight(loops.run(corner.inputs));
    loops.forbids = [](int64_t i, int64_t j) { return j > i; };
    corner.expectWrong(loops.run(corner.inputs), "the other corner");

    Op capped = attention("", R"( {
    ^bb0(%s: f32, %h: index, %i: index, %j: index):
      %cap = arith.constant 2.0 : f32
      %u = arith.divf %s, %cap : f32
      %t = math.tanh %u : f32
      %z = arith.mulf %t, %cap : f32
      fusion.yield %z : f32
    })",
                          dtype);
    loops = AttentionLoops();
    loops.modify = [](double s) { return 2 * std::tanh(s / 2); };
    capped.expectRight(loops.run(capped.inputs));
    loops.modify = [](double s) { return std::tanh(s / 2); };
    capped.expectWrong(loops.run(capped.inputs), "a cap that is left out");
  }
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

TEST(FormulaMutantsTest, CrossEntropy) {
  for (DType dtype : kTypes) {
    std::string x = typeOf(dtype, {9, 6}), t = typeOf(DType::I64, {9});
    std::string y = typeOf(dtype, {});
    HostTensor targets = randomIntegers(DType::I64, {9}, 0, 6, 6);
    targets.setInteger(3, -1);
    Op op{functionOf({x, t},
                     "fusion.cross_entropy mean %0, %1 axis(1) {ignore_index = "
                     "-1 : i64, label_smoothing = 0.5 : f64} : (" +
                         x + ", " + t + ") -> " + y,
                     y),
          {randomTensor(dtype, {9, 6}, 7), targets},
          dtype,
          {}};
    auto loss = [&](double count, double smoothing, bool countsTarget) {
      double total = 0;
      for (int64_t n = 0; n < 9; ++n) {
        int64_t target = targets.getInteger(n);
        if (target < 0)
          continue;
        double sum = 0, mean = 0;
        for (int64_t c = 0; c < 6; ++c) {
          double value = op.inputs[0].getDouble(n * 6 + c);
          sum += std::exp(value);
          if (countsTarget || c != target)
            mean += value / (countsTarget ? 6 : 5);
        }
        double lse = std::log(sum);
        total +=
            (1 - smoothing) * (lse - op.inputs[0].getDouble(n * 6 + target)) +
            smoothing * (lse - mean);
      }
      return Vector{total / count};
    };
    op.expectRight(loss(8, 0.5, true));
    op.expectWrong(loss(9, 0.5, true), "ignored targets are counted");
    op.expectWrong(loss(8, 0, true), "no smoothing");
    op.expectWrong(loss(8, 0.5, false), "smoothing without the target");
  }
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST(FormulaMutantsTest, Windows) {
  for (DType dtype : kTypes) {
    std::string x = typeOf(dtype, {3, 10}), x3 = typeOf(dtype, {1, 3, 10});
    std::string w = typeOf(dtype, {4, 3, 3}), y = typeOf(dtype, {1, 4, 10});
    Op conv{
        functionOf({x3, w},
                   "fusion.conv nchw %0, %1 {padding = array<i64: 1, 1>} : (" +
                       x3 + ", " + w + ") -> " + y,
                   y),
        {randomTensor(dtype, {1, 3, 10}, 8), randomTensor(dtype, {4, 3, 3}, 9)},
        dtype,
        {1, 4, 10}};
    auto convolve = [&](int64_t shift, bool isFlipped) {
      Vector result;
      for (int64_t f = 0; f < 4; ++f)
        for (int64_t o = 0; o < 10; ++o) {
          double sum = 0;
          for (int64_t c = 0; c < 3; ++c)
            for (int64_t k = 0; k < 3; ++k) {
              int64_t i = o + k - shift;
              if (i >= 0 && i < 10)
                sum += conv.inputs[0].getDouble(c * 10 + i) *
                       conv.inputs[1].getDouble((f * 3 + c) * 3 +
                                                (isFlipped ? 2 - k : k));
            }
          result.push_back(sum);
        }
      return result;
    };
    conv.expectRight(convolve(1, false));
    conv.expectWrong(convolve(0, false), "padding at the other end");
    conv.expectWrong(convolve(1, true), "the filter turned round");

    std::string p = typeOf(dtype, {1, 3, 5});
    Op pool{functionOf({x3},
                       "fusion.pool avg nchw %0 window [3] {strides = "
                       "array<i64: 2>, padding = array<i64: 1, 0>} : (" +
                           x3 + ") -> " + p,
                       p),
            {randomTensor(dtype, {1, 3, 10}, 8)},
            dtype,
            {1, 3, 5}};
    auto average = [&](bool countsPadding) {
      Vector result;
      for (int64_t c = 0; c < 3; ++c)
        for (int64_t o = 0; o < 5; ++o) {
          double sum = 0, count = 0;
          for (int64_t i = std::max<int64_t>(2 * o - 1, 0); i <= 2 * o + 1;
               ++i, ++count)
            sum += pool.inputs[0].getDouble(c * 10 + i);
          result.push_back(sum / (countsPadding ? 3 : count));
        }
      return result;
    };
    pool.expectRight(average(false));
    pool.expectWrong(average(true), "padding is counted");
  }
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

TEST(FormulaMutantsTest, Quantization) {
  for (DType dtype : kTypes) {
    std::string x = typeOf(dtype, {300}), q = typeOf(DType::I8, {300});
    HostTensor input = randomTensor(dtype, {300}, 10);
    // Ties, and what is clamped.
    for (int i = 0; i < 20; ++i)
      input.setDouble(i, (i - 10) * 0.25 + 0.125);
    input.setDouble(20, 100);
    input.setDouble(21, -100);
    Op op{functionOf({x, "tensor<f32>", "tensor<i32>"},
                     "fusion.quantize int8 %0 scale(%1) zero_point(%2) : (" +
                         x + ", tensor<f32>, tensor<i32>) -> " + q,
                     q),
          {input, tensorOf(DType::F32, {}, {0.25}),
           tensorOf(DType::I32, {}, {3})},
          DType::I8,
          {300}};
    auto quantize = [&](double (*round)(double), double least, bool isInner) {
      Vector result;
      for (double value : toDoubles(input)) {
        double scaled = value / 0.25;
        double rounded = isInner ? round(scaled + 3) : round(scaled) + 3;
        result.push_back(std::fmin(std::fmax(rounded, least), 127));
      }
      return result;
    };
    op.expectRight(quantize(std::nearbyint, -128, false));
    op.expectWrong(quantize(std::round, -128, false), "halves away from zero");
    op.expectWrong(quantize(std::nearbyint, -127, false), "a symmetric range");
    op.expectWrong(quantize(std::nearbyint, -128, true),
                   "the zero point inside of the rounding");
  }
}

//===----------------------------------------------------------------------===//
// Rotary embedding, dropout, scan
//===----------------------------------------------------------------------===//

TEST(FormulaMutantsTest, RotaryEmbedding) {
  for (DType dtype : kTypes) {
    std::string x = typeOf(dtype, {5, 8}), a = typeOf(DType::F32, {5, 4});
    Op op{functionOf({x, a, a},
                     "fusion.rope %0, %1, %2 seq_axis(0) : " + x + ", " + a +
                         ", " + a,
                     x),
          {randomTensor(dtype, {5, 8}, 11),
           randomTensor(DType::F32, {5, 4}, 12),
           randomTensor(DType::F32, {5, 4}, 13)},
          dtype,
          {5, 8}};
    auto rotate = [&](double sign, bool isInterleaved) {
      Vector y(40);
      for (int64_t s = 0; s < 5; ++s)
        for (int64_t p = 0; p < 4; ++p) {
          int64_t i = s * 8 + (isInterleaved ? 2 * p : p);
          int64_t j = isInterleaved ? i + 1 : i + 4;
          double c = op.inputs[1].getDouble(s * 4 + p);
          double t = sign * op.inputs[2].getDouble(s * 4 + p);
          double first = op.inputs[0].getDouble(i);
          double second = op.inputs[0].getDouble(j);
          y[i] = first * c - second * t;
          y[j] = second * c + first * t;
        }
      return y;
    };
    op.expectRight(rotate(1, false));
    op.expectWrong(rotate(-1, false), "the other direction");
    op.expectWrong(rotate(1, true), "pairs of neighbours");
  }
}

TEST(FormulaMutantsTest, Scan) {
  for (DType dtype : kTypes) {
    std::string x = typeOf(dtype, {64}), e = fusionpkg::getDTypeName(dtype);
    Op op{functionOf({x, e},
                     "fusion.scan ins(%0 : " + x + ") inits(%1 : " + e +
                         ") axis(0) -> " + x + " {\n  ^bb0(%a: " + e +
                         ", %b: " + e + "):\n    %s = arith.addf %a, %b : " +
                         e + "\n    fusion.yield %s : " + e + "\n  }",
                     x),
          {randomTensor(dtype, {64}, 14), createTensor(dtype, {})},
          dtype,
          {64}};
    auto sums = [&](int64_t from, bool isReverse) {
      Vector y(64);
      double sum = 0;
      for (int64_t n = 0; n < 64; ++n) {
        int64_t i = isReverse ? 63 - n : n;
        y[i] = sum += n < from ? 0 : op.inputs[0].getDouble(i);
      }
      return y;
    };
    op.expectRight(sums(0, false));
    op.expectWrong(sums(1, false), "the first term left out");
    op.expectWrong(sums(0, true), "the other direction");
  }
}

} // namespace
