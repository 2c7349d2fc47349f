//===- MathAccuracyTest.cpp - Errors of expanded math ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file measures the errors of expanded math operations against the host's
// library in a wider format, and holds them to the bounds that docs/Numerics.md
// states.
//
//===----------------------------------------------------------------------===//

#include "ApproximateInstructions.h"
#include "CompiledFunction.h"
#include "MathFunctions.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace {
std::string unaryFunction(const std::string &name, const std::string &type) {
  return "func.func @f(%x: " + type + ") -> " + type + " {\n  %y = math." +
         name + " %x : " + type + "\n  return %y : " + type + "\n}";
}

/// Every how-manieth f32 is tried: a prime, so that all exponents and endings
/// occur. FUSION_MATH_STRIDE=1 tries all.
uint64_t stride() {
  const char *text = std::getenv("FUSION_MATH_STRIDE");
  return text ? std::strtoull(text, nullptr, 10) : 7919;
}

struct Worst {
  double error = 0;
  double at = 0;
};

Worst sweepF32(float (*compiled)(float), const Function &function) {
  Worst worst;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += stride()) {
    uint32_t pattern = static_cast<uint32_t>(bits);
    float x;
    std::memcpy(&x, &pattern, sizeof x);
    double error = ulps(compiled(x), function.reference(x), function.flushes);
    if (error > worst.error)
      worst = {error, x};
  }
  return worst;
}

Worst sweepF64(double (*compiled)(double), const Function &function) {
  Worst worst;
  std::mt19937_64 random(1);
  auto attempt = [&](double x) {
    double error = ulps(compiled(x), function.reference(x), false);
    if (error > worst.error)
      worst = {error, x};
  };
  for (double x :
       {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, HUGE_VAL, -HUGE_VAL, double(NAN),
        5e-324, -5e-324, 2.2250738585072014e-308, 1.7e308, -1.7e308})
    attempt(x);
  const int count = std::getenv("FUSION_MATH_STRIDE") ? 20000000 : 50000;
  for (int i = 0; i < count; ++i) {
    // Every pattern of bits, and numbers of ordinary size.
    uint64_t pattern = random();
    double x;
    std::memcpy(&x, &pattern, sizeof x);
    attempt(x);
    attempt(
        std::ldexp(2.0 * (random() >> 11) - 0x1p53, int(random() % 24) - 66));
  }
  return worst;
}
} // namespace

class MathAccuracy : public ::testing::TestWithParam<Function> {
protected:
  void TearDown() override { approximationError = 0; }
};

TEST_P(MathAccuracy, F32) {
  const Function &function = GetParam();
  CompiledFunction compiled(unaryFunction(function.name, "f32"));
  Worst exact = sweepF32(compiled.as<float(float)>(), function);
  std::printf("%-6s f32 %.3f ULP at %a\n", function.name, exact.error,
              exact.at);
  EXPECT_LE(exact.error, function.f32) << "at " << exact.at;
  for (double sign : {1.0, -1.0}) {
    approximationError = sign;
    Worst worst = sweepF32(compiled.as<float(float)>(), function);
    std::printf("%-6s f32 %.3f ULP at %a, approximations off by %g\n",
                function.name, worst.error, worst.at, sign);
    EXPECT_LE(worst.error, function.f32Worst) << "at " << worst.at;
  }
}

TEST_P(MathAccuracy, F64) {
  const Function &function = GetParam();
  CompiledFunction compiled(unaryFunction(function.name, "f64"));
  Worst worst = sweepF64(compiled.as<double(double)>(), function);
  std::printf("%-6s f64 %.3f ULP at %a\n", function.name, worst.error,
              worst.at);
  EXPECT_LE(worst.error, function.f64) << "at " << worst.at;
}

namespace {
/// A fast function over an interval: its largest error, relative or absolute.
struct FastFunction {
  const char *name;
  Reference reference;
  double low, high, relative, absolute;
};
} // namespace

static const FastFunction fastFunctions[] = {
    {"exp", expl, -10, 10, 0x1p-20, 0},
    {"exp", expl, -87, 88, 0x1p-16, 0},
    {"exp2", exp2l, -125, 127, 0x1p-21, 0},
    {"log", logl, 1e-30, 0.5, 0x1p-21, 0},
    {"log", logl, 0.5, 2, 0, 0x1p-22},
    {"log2", log2l, 2, 1e30, 0x1p-21, 0},
    {"tanh", tanhl, -10, 10, 0x1p-10, 0},
    {"sin", sinl, -3.14, 3.14, 0, 0x1p-19},
    {"cos", cosl, -3.14, 3.14, 0, 0x1p-19},
    {"sqrt", sqrtl, 1e-30, 1e30, 0x1p-22, 0},
};

namespace {
class MathFast : public ::testing::Test {
protected:
  void TearDown() override { approximationError = 0; }
};
} // namespace

TEST_F(MathFast, StaysWithinItsBounds) {
  for (const FastFunction &function : fastFunctions) {
    CompiledFunction compiled(unaryFunction(function.name, "f32"),
                              /*fast=*/true);
    auto *f = compiled.as<float(float)>();
    for (double sign : {-1.0, 0.0, 1.0}) {
      approximationError = sign;
      for (int i = 0; i <= 100000; ++i) {
        auto x = static_cast<float>(
            function.low + (function.high - function.low) * i / 100000);
        long double wanted = function.reference(x);
        ASSERT_LE(fabsl(f(x) - wanted),
                  function.relative * fabsl(wanted) + function.absolute)
            << function.name << " of " << x;
      }
    }
  }
}

/// f32 in, f32 out: `body` computes %y of %x.
static std::string functionOf(const std::string &body) {
  return "func.func @f(%x: f32) -> f32 {\n" + body + "  return %y : f32\n}";
}

// The logarithm of 1 + x for an x in [0, 1], by itself and as part of a sum,
// against that of the x that the same code computes.
TEST(Log1pOfFraction, StaysWithinItsBounds) {
  struct Case {
    std::string flags, end;
    double bound;
  };
  std::string sum = "  %zero = arith.constant 0.0 : f32\n";
  for (const Case &each :
       {Case{"", "  %y = math.log1p %e : f32\n", 1.2},
        Case{"",
             sum + "  %l = math.log1p %e : f32\n"
                   "  %y = arith.addf %zero, %l : f32\n",
             1.4},
        Case{"",
             sum + "  %l = math.log1p %e : f32\n"
                   "  %y = arith.subf %zero, %l : f32\n",
             1.4},
        Case{" fastmath<afn>", "  %y = math.log1p %e fastmath<afn> : f32\n",
             5}}) {
    std::string fraction = "  %a = math.absf %x : f32\n"
                           "  %n = arith.negf %a : f32\n"
                           "  %e = math.exp %n" +
                           each.flags + " : f32\n";
    CompiledFunction ofFraction(functionOf(fraction + each.end));
    CompiledFunction exponential(
        functionOf(fraction + "  %o = arith.constant 1.0 : f32\n"
                              "  %y = arith.mulf %e, %o : f32\n"));
    auto *log = ofFraction.as<float(float)>();
    auto *exp = exponential.as<float(float)>();
    double worst = 0, at = 0;
    for (int i = 0; i <= 1000000; ++i) {
      float x = 90.0f * static_cast<float>(i) / 1000000;
      double error = ulps(std::fabs(log(x)), log1pl(exp(x)), /*flushes=*/false);
      if (error > worst) {
        worst = error;
        at = x;
      }
    }
    std::printf("log1p of a fraction%s %.3f ULP at %a\n", each.flags.c_str(),
                worst, at);
    EXPECT_LE(worst, each.bound) << "at " << at;
  }
}

// Infinities and NaN in the logarithm of a sum of exponentials are what they
// are element by element: only two equal infinities have no difference.
TEST(LogOfSum, KeepsSpecialValues) {
  for (const char *flags : {"", " fastmath<afn>"}) {
    std::string f = flags;
    CompiledFunction compiled(
        "func.func @f(%x: f32, %y: f32) -> f32 {\n"
        "  %m = arith.maximumf %x, %y : f32\n"
        "  %d = arith.subf %x, %y : f32\n  %a = math.absf %d : f32\n"
        "  %n = arith.negf %a : f32\n  %e = math.exp %n" +
        f +
        " : f32\n"
        "  %l = math.log1p %e" +
        f +
        " : f32\n"
        "  %z = arith.addf %m, %l : f32\n  return %z : f32\n}");
    auto *combine = compiled.as<float(float, float)>();
    const float values[] = {0,        -0.0f,     1,   -1e30f, 3e38f, -3e38f,
                            INFINITY, -INFINITY, NAN, 1e-40f, 100,   -100};
    for (float x : values)
      for (float y : values) {
        float wanted =
            std::isnan(x) || std::isnan(y) || (std::isinf(x) && x == y)
                ? NAN
                : std::max(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
        float got = combine(x, y);
        EXPECT_TRUE(std::isnan(wanted)
                        ? std::isnan(got)
                        : got == wanted || std::fabs(got - wanted) <= 1e-6f)
            << x << ", " << y << ": " << got << flags;
      }
  }
}

/// Every value of a 16-bit format: correct but for the ties that an error of
/// the f32 result tips over.
static void sweepHalf(const Function &function, const char *type, int digits,
                      int minExponent, float (*toFloat)(uint16_t)) {
  std::string t = type;
  CompiledFunction compiled(
      "func.func @f(%i: i16) -> i16 {\n  %x = arith.bitcast %i : i16 to " + t +
      "\n  %y = math." + function.name + " %x : " + t +
      "\n  %o = arith.bitcast %y : " + t + " to i16\n  return %o : i16\n}");
  auto *f = compiled.as<uint16_t(uint16_t)>();
  int maxExponent = digits == 11 ? 16 : 128;
  double worst = 0, at = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float x = toFloat(static_cast<uint16_t>(bits));
    long double reference = function.reference(x);
    float got = toFloat(f(static_cast<uint16_t>(bits)));
    if (std::isnan(got) || std::isnan(reference)) {
      ASSERT_EQ(std::isnan(got), std::isnan(reference)) << function.name << x;
      continue;
    }
    if (function.flushes && got == 0 && fabsl(reference) < 0x1p-126)
      continue;
    long double top = std::ldexp(1.0L, maxExponent), value = got;
    if (std::isinf(got))
      value = std::copysign(top, value);
    if (fabsl(reference) > top)
      reference = std::copysign(top, reference);
    int exponent = reference == 0 ? minExponent : ilogbl(reference);
    double error =
        fabsl(value - reference) /
        std::ldexp(1.0L, std::max(exponent, minExponent) - digits + 1);
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  std::printf("%-6s %s %.4f ULP at %a\n", function.name, type, worst, at);
  EXPECT_LE(worst, 0.51) << "at " << at;
}

static float halfToFloat(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  float magnitude = exponent == 31 ? (mantissa ? NAN : INFINITY)
                    : exponent ? std::ldexp(1024.0f + mantissa, exponent - 25)
                               : std::ldexp(float(mantissa), -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static float bfloatToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

TEST_P(MathAccuracy, F16) {
  sweepHalf(GetParam(), "f16", 11, -14, halfToFloat);
}

TEST_P(MathAccuracy, BF16) {
  sweepHalf(GetParam(), "bf16", 8, -126, bfloatToFloat);
}

INSTANTIATE_TEST_SUITE_P(Functions, MathAccuracy,
                         ::testing::ValuesIn(functions), [](const auto &info) {
                           return std::string(info.param.name);
                         });
