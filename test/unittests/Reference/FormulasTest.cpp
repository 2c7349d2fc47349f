//===- FormulasTest.cpp - Formulas on values known by hand ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests formulas on values that are computed by hand, where something
// is special: NaN and infinity, nothing at all, indices outside, ties.
//
//===----------------------------------------------------------------------===//

#include "FormulaTestUtils.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The first result of the function f in `text`.
BoundedTensor evaluateFirst(const std::string &text,
                            const std::vector<HostTensor> &inputs) {
  Program program(text);
  auto results = evaluateByFormula(program, inputs);
  if (!results.empty())
    return results[0];
  ADD_FAILURE() << text << program.getErrors();
  return {};
}

/// Expects numbers that are off by no more than `error`, NaN and infinity for
/// certain.
void expectNumbers(const BoundedTensor &got, const std::vector<double> &wanted,
                   double error = 0) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(wanted.size()));
  for (int64_t n = 0; n < got.size(); ++n) {
    Bounded number = got.getNumber(n);
    if (std::isnan(wanted[n]))
      EXPECT_TRUE(number.isNaN()) << n << ": " << number.value;
    else if (std::isinf(wanted[n]))
      EXPECT_TRUE(number.isExact() && number.value == wanted[n]) << n;
    else
      EXPECT_NEAR(number.value, wanted[n], error) << n;
    EXPECT_LE(number.error, error) << n;
  }
}

HostTensor f32(std::vector<int64_t> shape, const std::vector<double> &values) {
  return tensorOf(DType::F32, std::move(shape), values);
}

TEST(FormulasTest, ActivationsAtTheEnds) {
  auto apply = [](const std::string &op) {
    return evaluateFirst("func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {\n"
                         "  %y = fusion." +
                             op +
                             " %x : tensor<5xf32>\n"
                             "  return %y : tensor<5xf32>\n}",
                         {f32({5}, {-200, 0, 200, kNaN, kInfinity})});
  };
  expectNumbers(apply("relu"), {0, 0, 200, kNaN, kInfinity});
  expectNumbers(apply("relu6"), {0, 0, 6, kNaN, 6});
  expectNumbers(apply("sigmoid"), {0, 0.5, 1, kNaN, 1}, 1e-6);
  expectNumbers(apply("log_sigmoid"), {-200, std::log(0.5), 0, kNaN, 0}, 1e-4);
  expectNumbers(apply("silu"), {0, 0, 200, kNaN, kInfinity}, 1e-3);
  expectNumbers(apply("mish"), {0, 0, 200, kNaN, kInfinity}, 1e-3);
  expectNumbers(apply("hard_sigmoid"), {0, 0.5, 1, kNaN, 1}, 1e-6);
  expectNumbers(apply("softplus"), {0, std::log(2.0), 200, kNaN, kInfinity},
                1e-5);
  expectNumbers(apply("elu"), {-1, 0, 200, kNaN, kInfinity}, 1e-6);
  expectNumbers(apply("leaky_relu"), {-2, 0, 200, kNaN, kInfinity}, 1e-6);
}

TEST(FormulasTest, ActivationsTakeTheirAttributes) {
  auto apply = [](const std::string &op, const std::string &attributes) {
    return evaluateFirst("func.func @f(%x: tensor<3xf64>) -> tensor<3xf64> {\n"
                         "  %y = fusion." +
                             op + " %x {" + attributes +
                             "} : tensor<3xf64>\n"
                             "  return %y : tensor<3xf64>\n}",
                         {tensorOf(DType::F64, {3}, {-1, 0.5, 3})});
  };
  expectNumbers(apply("elu", "alpha = 2.0 : f64"), {2 * std::expm1(-1), 0.5, 3},
                1e-14);
  expectNumbers(apply("leaky_relu", "slope = 0.25 : f64"), {-0.25, 0.5, 3},
                1e-14);
  expectNumbers(apply("hard_sigmoid", "alpha = 0.2 : f64, beta = 0.1 : f64"),
                {0, 0.2, 0.7}, 1e-14);
  expectNumbers(apply("softplus", "beta = 2.0 : f64, threshold = 5.0 : f64"),
                {std::log1p(std::exp(-2)) / 2, std::log1p(std::exp(1)) / 2, 3},
                1e-14);
}

TEST(FormulasTest, SoftmaxOfSpecialRows) {
  BoundedTensor y =
      evaluateFirst("func.func @f(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {\n"
                    "  %y = fusion.softmax %x axis(1) : tensor<4x2xf32>\n"
                    "  return %y : tensor<4x2xf32>\n}",
                    {f32({4, 2}, {1, kNaN, -kInfinity, -kInfinity, -kInfinity,
                                  3, 1000, 1000})});
  expectNumbers(y, {kNaN, kNaN, kNaN, kNaN, 0, 1, 0.5, 0.5}, 1e-5);
}

TEST(FormulasTest, NormsOfOneElement) {
  BoundedTensor y = evaluateFirst(
      "func.func @f(%x: tensor<2x1xf16>) -> tensor<2x1xf16> {\n"
      "  %y = fusion.layer_norm %x axis(1) eps(1.0) : (tensor<2x1xf16>) -> "
      "tensor<2x1xf16>\n  return %y : tensor<2x1xf16>\n}",
      {tensorOf(DType::F16, {2, 1}, {5, -3})});
  expectNumbers(y, {0, 0}, 1e-5);
}

TEST(FormulasTest, BatchStatisticsAreBiased) {
  Program program(
      "func.func @f(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, "
      "tensor<2xf32>) {\n"
      "  %y:3 = fusion.batch_norm_training %x channel_axis(1) eps(0.0) : "
      "(tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)\n"
      "  return %y#0, %y#1, %y#2 : tensor<4x2xf32>, tensor<2xf32>, "
      "tensor<2xf32>\n}");
  auto results =
      evaluateByFormula(program, {f32({4, 2}, {1, 0, 1, 4, 3, 0, 3, 4})});
  ASSERT_EQ(results.size(), 3u) << program.getErrors();
  expectNumbers(results[0], {-1, -1, -1, 1, 1, -1, 1, 1}, 1e-5);
  expectNumbers(results[1], {2, 2}, 1e-5);
  expectNumbers(results[2], {1, 4}, 1e-4);
}

/// The mask that a dropout of ones of this many elements draws.
static std::vector<bool> drawMask(int64_t count, double p, int64_t seed,
                                  int64_t opId) {
  char attributes[96];
  std::snprintf(attributes, sizeof(attributes),
                "probability(%.17e) op_id(%lld)", p,
                static_cast<long long>(opId));
  std::string type = "tensor<" + std::to_string(count) + "xf32>";
  BoundedTensor y =
      evaluateFirst("func.func @f(%x: " + type + ", %s: i64) -> " + type +
                        " {\n  %y = fusion.dropout %x, %s " + attributes +
                        " : " + type + "\n  return %y : " + type + "\n}",
                    {f32({count}, std::vector<double>(count, 1)),
                     tensorOf(DType::I64, {}, {static_cast<double>(seed)})});
  std::vector<bool> kept(count);
  for (int64_t n = 0; n < count; ++n) {
    kept[n] = y[n].value != 0;
    if (kept[n])
      EXPECT_NEAR(y[n].value, 1 / (1 - p), 1e-5 / (1 - p));
  }
  return kept;
}

/// The words of Philox4x32-7 for a counter and a key of zeros are those that
/// its authors publish: 5f6fb709 0d893f64 4f121f81 4f730a48.
TEST(FormulasTest, DropoutDrawsFromPhilox) {
  // 24 bits from each 16th on, around the end to the beginning.
  const uint32_t bits[] = {0x5f6fb7, 0xb7090d, 0x0d893f, 0x3f644f,
                           0x4f121f, 0x1f814f, 0x4f730a, 0x0a485f};
  for (int n = 0; n < 8; ++n) {
    EXPECT_TRUE(drawMask(8, bits[n] * 0x1p-24, 0, 0)[n]) << n;
    EXPECT_FALSE(drawMask(8, (bits[n] + 1) * 0x1p-24, 0, 0)[n]) << n;
  }
}

/// As many elements are dropped as should be, in each of the eight places of a
/// draw; what becomes of one says nothing of its neighbours, of those in the
/// next draws, of other seeds and other ops. All within five deviations.
TEST(FormulasTest, DropoutIsRandom) {
  constexpr int64_t kCount = 1 << 18;
  for (double p : {0.001, 0.1, 0.5, 0.9}) {
    std::vector<bool> kept = drawMask(kCount, p, 2026, 1);
    double variance = p * (1 - p);
    std::array<double, 8> dropped = {};
    for (int64_t n = 0; n < kCount; ++n)
      dropped[n % 8] += !kept[n];
    double all = 0, chiSquare = 0;
    for (double count : dropped) {
      all += count;
      double expected = kCount / 8 * p;
      chiSquare +=
          (count - expected) * (count - expected) / (kCount / 8 * variance);
    }
    EXPECT_LE(std::abs(all - kCount * p), 5 * std::sqrt(kCount * variance));
    // Eight degrees of freedom: 0.9999 of what chance gives is below.
    EXPECT_LE(chiSquare, 31.8) << p;
    auto expectIndependent = [&](const std::vector<bool> &other, int64_t lag) {
      double sum = 0;
      for (int64_t n = 0; n + lag < kCount; ++n)
        sum += (kept[n] - (1 - p)) * (other[n + lag] - (1 - p));
      EXPECT_LE(std::abs(sum), 5 * std::sqrt(kCount) * variance)
          << p << ", " << lag << " apart";
    };
    for (int64_t lag : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 64, 4096})
      expectIndependent(kept, lag);
    for (auto [seed, opId] : {std::pair{2026, 2}, {2027, 1}, {-2026, 1}})
      expectIndependent(drawMask(kCount, p, seed, opId), 0);
  }
}

TEST(FormulasTest, AQueryThatMayAttendToNothing) {
  const char *text = R"(
func.func @f(%q: tensor<1x2x2xf32>, %k: tensor<1x3x2xf32>, %v: tensor<1x3x1xf32>, %m: tensor<2x3xi1>) -> tensor<1x2x1xf32> {
  %y = fusion.attention %q, %k, %v mask(%m) : (tensor<1x2x2xf32>, tensor<1x3x2xf32>, tensor<1x3x1xf32>, tensor<2x3xi1>) -> tensor<1x2x1xf32>
  return %y : tensor<1x2x1xf32>
})";
  BoundedTensor y = evaluateFirst(
      text, {f32({1, 2, 2}, {0, 0, 0, 0}), f32({1, 3, 2}, {1, 2, 3, 4, 5, 6}),
             f32({1, 3, 1}, {1, 2, 6}),
             tensorOf(DType::I1, {2, 3}, {0, 0, 0, 1, 0, 1})});
  expectNumbers(y, {kNaN, 3.5}, 1e-4);
}

TEST(FormulasTest, AttentionToNoKeys) {
  const char *text = R"(
func.func @f(%q: tensor<1x2x2xf32>, %k: tensor<1x?x2xf32>, %v: tensor<1x?x1xf32>) -> tensor<1x2x1xf32> {
  %y = fusion.attention %q, %k, %v : (tensor<1x2x2xf32>, tensor<1x?x2xf32>, tensor<1x?x1xf32>) -> tensor<1x2x1xf32>
  return %y : tensor<1x2x1xf32>
})";
  expectNumbers(evaluateFirst(text, {f32({1, 2, 2}, {0, 0, 0, 0}),
                                     f32({1, 0, 2}, {}), f32({1, 0, 1}, {})}),
                {kNaN, kNaN});
}

TEST(FormulasTest, TargetsThatDoNotCount) {
  auto loss = [](const std::string &reduction, const std::string &result,
                 std::vector<double> targets) {
    return evaluateFirst(
        "func.func @f(%x: tensor<3x2xf32>, %t: tensor<3xi64>) -> " + result +
            " {\n  %y = fusion.cross_entropy " + reduction +
            " %x, %t axis(1) {ignore_index = 7 : i64} : (tensor<3x2xf32>, "
            "tensor<3xi64>) -> " +
            result + "\n  return %y : " + result + "\n}",
        {f32({3, 2}, {0, 0, 1, 1, 2, 2}), tensorOf(DType::I64, {3}, targets)});
  };
  double log2 = std::log(2.0);
  expectNumbers(loss("none", "tensor<3xf32>", {7, 2, 1}), {0, kNaN, log2},
                1e-5);
  expectNumbers(loss("mean", "tensor<f32>", {7, 0, 1}), {log2}, 1e-5);
  expectNumbers(loss("sum", "tensor<f32>", {7, 0, 1}), {2 * log2}, 1e-5);
  expectNumbers(loss("mean", "tensor<f32>", {7, 7, 7}), {kNaN});
}

TEST(FormulasTest, WindowsThatMissTheInput) {
  auto pool = [](const std::string &form, const std::string &attributes,
                 const std::string &type, const HostTensor &input) {
    return evaluateFirst(
        "func.func @f(%x: tensor<1x1x1x" + type + ">) -> tensor<1x1x1x" + type +
            "> {\n  %y = fusion.pool " + form +
            " nchw %x window [2] {dilations = array<i64: 2>, padding = "
            "array<i64: 1, 1>" +
            attributes + "} : (tensor<1x1x1x" + type + ">) -> tensor<1x1x1x" +
            type + ">\n  return %y : tensor<1x1x1x" + type + ">\n}",
        {input});
  };
  HostTensor x = f32({1, 1, 1}, {5});
  expectNumbers(pool("max", "", "f32", x), {-kInfinity});
  expectNumbers(pool("avg", "", "f32", x), {kNaN});
  expectNumbers(pool("max", "", "i8", tensorOf(DType::I8, {1, 1, 1}, {5})),
                {-128});
}

TEST(FormulasTest, MaximumFindsNaN) {
  BoundedTensor y = evaluateFirst(
      "func.func @f(%x: tensor<1x1x4xf32>) -> tensor<1x1x2xf32> {\n"
      "  %y = fusion.pool max nchw %x window [2] {strides = array<i64: 2>} : "
      "(tensor<1x1x4xf32>) -> tensor<1x1x2xf32>\n"
      "  return %y : tensor<1x1x2xf32>\n}",
      {f32({1, 1, 4}, {kNaN, 1, -3, -2})});
  expectNumbers(y, {kNaN, -2});
}

TEST(FormulasTest, SumsOfIntegersAreExact) {
  BoundedTensor y = evaluateFirst(
      "func.func @f(%x: tensor<1x1x4xi8>, %w: tensor<1x1x4xi8>, %b: "
      "tensor<1xi32>) -> tensor<1x1x1xi32> {\n"
      "  %y = fusion.conv nchw %x, %w bias(%b) : (tensor<1x1x4xi8>, "
      "tensor<1x1x4xi8>, tensor<1xi32>) -> tensor<1x1x1xi32>\n"
      "  return %y : tensor<1x1x1xi32>\n}",
      {tensorOf(DType::I8, {1, 1, 4}, {-128, 127, 1, 2}),
       tensorOf(DType::I8, {1, 1, 4}, {-128, -128, 3, 4}),
       tensorOf(DType::I32, {1}, {2147483647})});
  ASSERT_TRUE(y.isInteger());
  // The sum wraps.
  EXPECT_EQ(y.integer(0),
            int64_t(128 * 128 - 127 * 128 + 3 + 8) - 1 - 2147483648);
}

TEST(FormulasTest, QuantizedIntegersAreOpenNearTies) {
  auto quantize = [](const std::string &format, const std::string &result,
                     std::vector<double> values) {
    return evaluateFirst(
        "func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) -> " + result +
            " {\n  %y = fusion.quantize " + format +
            " %x scale(%s) : (tensor<4xf32>, tensor<f32>) -> " + result +
            "\n  return %y : " + result + "\n}",
        {f32({4}, values), f32({}, {0.5})});
  };
  expectNumbers(quantize("int8", "tensor<4xi8>", {1.25, 1.75, 1000, kNaN}),
                {2, 4, 127, -128});
  expectNumbers(quantize("uint8", "tensor<4xi8>", {-1, 100, 1000, 63.5}),
                {0, -56, -1, 127});
  // 1 and -2 in one byte, then 7 and -8.
  expectNumbers(quantize("int4", "tensor<2xi8>", {0.5, -1, 100, -100}),
                {-31, -121});
  expectNumbers(
      quantize("float8", "tensor<4xf8E4M3FN>", {0.53, 1e6, -1e6, kNaN}),
      {1.0, 448, -448, kNaN}, 0.125);
}

TEST(FormulasTest, IntegersThatAreOpenAreUnpacked) {
  // Of a byte from 0x11 to 0x13, the low half is from 1 to 3 and the high
  // half 1.
  Program program(
      "func.func @f(%q: tensor<1xi8>, %s: tensor<f32>) -> tensor<2xf32> {\n"
      "  %y = fusion.dequantize uint4 %q scale(%s) : (tensor<1xi8>, "
      "tensor<f32>) -> tensor<2xf32>\n  return %y : tensor<2xf32>\n}");
  auto function = program.getModule().lookupSymbol<func::FuncOp>("f");
  llvm::DenseMap<Value, BoundedTensor> values;
  BoundedTensor byte(Builder(function).getI8Type(), {1}, /*isDerived=*/true);
  byte[0] = Bounded(0x12, 1);
  values[function.getArgument(0)] = byte;
  values[function.getArgument(1)] =
      toBounded(f32({}, {1}), function.getArgumentTypes()[1]);
  Operation *op = &function.getBody().front().front();
  BoundedTensor y = evaluateFormula(op, values)[0];
  EXPECT_TRUE(y[0].contains(1) && y[0].contains(3) && !y[0].contains(4));
  EXPECT_TRUE(y[1].contains(1) && !y[1].contains(0));
}

TEST(FormulasTest, IndicesFromTheEndAndOutside) {
  auto gather = [](const std::string &type, const HostTensor &x) {
    return evaluateFirst("func.func @f(%x: tensor<3x" + type +
                             ">, %i: tensor<5xi32>) -> "
                             "tensor<5x" +
                             type +
                             "> {\n  %y = fusion.gather %x, %i axis(0) : "
                             "(tensor<3x" +
                             type + ">, tensor<5xi32>) -> tensor<5x" + type +
                             ">\n  return %y : tensor<5x" + type + ">\n}",
                         {x, tensorOf(DType::I32, {5}, {2, -1, -3, 3, -4})});
  };
  expectNumbers(gather("bf16", tensorOf(DType::BF16, {3}, {4, 5, 6})),
                {6, 6, 4, kNaN, kNaN});
  HostTensor large = createTensor(DType::I64, {3});
  large.setInteger(2, (int64_t(1) << 60) + 1);
  BoundedTensor y = gather("i64", large);
  EXPECT_EQ(y.integer(0), (int64_t(1) << 60) + 1);
  EXPECT_EQ(y.integer(3), 0);
}

TEST(FormulasTest, ScansOfIntegersAndOfNothing) {
  auto scan = [](const std::string &form, const std::string &op,
                 std::vector<double> values, double init) {
    std::string size = std::to_string(values.size());
    return evaluateFirst(
        "func.func @f(%x: tensor<" + size + "xi32>, %i: i32) -> tensor<" +
            size + "xi32> {\n  %y = fusion.scan " + form + " ins(%x : tensor<" +
            size + "xi32>) inits(%i : i32) axis(0) -> tensor<" + size +
            "xi32> {\n  ^bb0(%a: i32, %b: i32):\n    %s = arith." + op +
            " %a, %b : i32\n    fusion.yield %s : i32\n  }\n  return %y : "
            "tensor<" +
            size + "xi32>\n}",
        {tensorOf(DType::I32, {static_cast<int64_t>(values.size())}, values),
         tensorOf(DType::I32, {}, {init})});
  };
  expectNumbers(scan("", "addi", {1, 2, 3, 4}, 0), {1, 3, 6, 10});
  expectNumbers(scan("exclusive", "addi", {1, 2, 3, 4}, 0), {0, 1, 3, 6});
  expectNumbers(scan("reverse", "addi", {1, 2, 3, 4}, 0), {10, 9, 7, 4});
  expectNumbers(scan("exclusive reverse", "maxsi", {1, 5, 3, 4}, -9),
                {5, 4, 4, -9});
  expectNumbers(scan("", "addi", {}, 0), {});
}

// From left to right everything is exact; the last three together first, 2^24
// and 1 are 2^24, so that nothing is left.
TEST(FormulasTest, ScansAllowEveryGrouping) {
  double large = 0x1p24;
  BoundedTensor y = evaluateFirst(
      R"(func.func @f(%x: tensor<4xf32>, %i: f32) -> tensor<4xf32> {
  %y = fusion.scan ins(%x : tensor<4xf32>) inits(%i : f32) axis(0) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<4xf32>
})",
      {tensorOf(DType::F32, {4}, {-large, large, 1, 0}),
       tensorOf(DType::F32, {}, {0})});
  EXPECT_EQ(y[3].value, 1);
  EXPECT_TRUE(y[3].contains(0));
  EXPECT_FALSE(y[3].contains(-16));
  EXPECT_TRUE(y[0].isExact());
}

TEST(FormulasTest, RowsOfGroupsAndOfNone) {
  auto groups = [](std::vector<double> offsets) {
    return evaluateFirst(
        "func.func @f(%o: tensor<4xi32>, %n: index) -> tensor<?xi32> {\n"
        "  %g = fusion.row_groups %o rows(%n) : tensor<4xi32> -> "
        "tensor<?xi32>\n"
        "  return %g : tensor<?xi32>\n}",
        {tensorOf(DType::I32, {4}, offsets), tensorOf(DType::I64, {}, {6})});
  };
  expectNumbers(groups({1, 2, 2, 5}), {3, 0, 2, 2, 2, 3});
  BoundedTensor undefined = groups({1, 5, 2, 6});
  ASSERT_FALSE(undefined.isInteger());
  EXPECT_TRUE(undefined[0].contains(0) && undefined[0].contains(3));
}

TEST(FormulasTest, GroupedRowsOfNoneAreZero) {
  BoundedTensor y = evaluateFirst(
      "func.func @f(%x: tensor<3x1xf32>, %w: tensor<2x1x1xf32>, %o: "
      "tensor<3xi32>, %b: tensor<2x1xf32>) -> tensor<3x1xf32> {\n"
      "  %y = fusion.grouped_matmul %x, %w offsets(%o) bias(%b) : "
      "(tensor<3x1xf32>, tensor<2x1x1xf32>, tensor<3xi32>, tensor<2x1xf32>) -> "
      "tensor<3x1xf32>\n  return %y : tensor<3x1xf32>\n}",
      {f32({3, 1}, {kNaN, 2, 3}), f32({2, 1, 1}, {10, kInfinity}),
       tensorOf(DType::I32, {3}, {1, 3, 3}), f32({2, 1}, {1, 1})});
  expectNumbers(y, {0, 21, 31}, 1e-3);
}

TEST(FormulasTest, AnUnknownOperationInARegionHasNoFormula) {
  Program program(R"(
func.func @f(%x: tensor<3xf32>, %i: f32) -> tensor<3xf32> {
  %y = fusion.scan ins(%x : tensor<3xf32>) inits(%i : f32) axis(0) -> tensor<3xf32> {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf ogt, %a, %b : f32
    %s = scf.if %p -> f32 {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    fusion.yield %s : f32
  }
  return %y : tensor<3xf32>
})");
  bool hasScan = false;
  program.getModule().walk([&](ScanOp op) {
    hasScan = true;
    EXPECT_FALSE(hasFormula(op));
  });
  EXPECT_TRUE(hasScan) << program.getErrors();
}

} // namespace
