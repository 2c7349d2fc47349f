//===- MathSemanticsTest.cpp - Special cases of expanded math -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the values that expanded operations of two operands, of
// integers and of 8-bit floats give, special values included.
//
//===----------------------------------------------------------------------===//

#include "CompiledFunction.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

static std::string binaryFunction(const std::string &op,
                                  const std::string &type) {
  return "func.func @f(%x: " + type + ", %y: " + type + ") -> " + type +
         " {\n  %z = " + op + " %x, %y : " + type + "\n  return %z : " + type +
         "\n}";
}

/// Numbers at which functions of two operands turn.
template <typename T>
static std::vector<T> corners() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (double x : {0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0, 1e10,
                   16777216.0, 16777215.0, 1e-10, 100.0, 127.0, 128.5, 1074.0})
    values.push_back(static_cast<T>(x));
  values.insert(values.end(),
                {Limits::max(), Limits::min(), Limits::denorm_min(),
                 Limits::infinity(), Limits::quiet_NaN(),
                 std::nextafter(T(1), T(2)), std::nextafter(T(1), T(0))});
  for (size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

/// Equal, both NaN, or within `bound` units of the last place of T.
template <typename T>
static ::testing::AssertionResult close(T got, long double wanted,
                                        double bound) {
  using Limits = std::numeric_limits<T>;
  T rounded = static_cast<T>(wanted);
  if (got == rounded || (std::isnan(got) && std::isnan(wanted)))
    return got == 0 && std::signbit(got) != std::signbit(rounded)
               ? ::testing::AssertionFailure() << "zero of the wrong sign"
               : ::testing::AssertionSuccess();
  long double top = std::ldexp(1.0L, Limits::max_exponent), value = got;
  if (std::isinf(got))
    value = std::copysign(top, value);
  int exponent = wanted == 0 ? Limits::min_exponent - 1 : ilogbl(wanted);
  exponent = std::max(exponent, Limits::min_exponent - 1);
  if (std::isfinite(wanted) && std::fabs(wanted) < 2 * top &&
      fabsl(value - wanted) <=
          bound * std::ldexp(1.0L, exponent - (Limits::digits - 1)))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << got << " is not " << static_cast<double>(wanted);
}

template <typename T>
static void testBinary(const char *op, const char *type,
                       long double (*reference)(long double, long double),
                       double bound, bool ordinary = true) {
  CompiledFunction compiled(binaryFunction(op, type));
  T (*f)(T, T) = compiled.as<T(T, T)>();
  for (T x : corners<T>())
    for (T y : corners<T>())
      EXPECT_TRUE(close<T>(f(x, y), reference(x, y), bound))
          << op << " of " << x << " and " << y << " : " << type;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-30, 30);
  for (int i = 0; ordinary && i < 200000; ++i) {
    T x = static_cast<T>(std::exp(uniform(random))),
      y = static_cast<T>(uniform(random));
    ASSERT_TRUE(close<T>(f(x, y), reference(x, y), bound))
        << op << " of " << x << " and " << y << " : " << type;
  }
}

TEST(MathSemantics, Pow) {
  testBinary<float>("math.powf", "f32", powl, 0.51);
  testBinary<double>("math.powf", "f64", powl, 2);
}

TEST(MathSemantics, Atan2) {
  testBinary<float>("math.atan2", "f32", atan2l, 0.51);
  testBinary<double>("math.atan2", "f64", atan2l, 2);
}

TEST(MathSemantics, RemainderIsExact) {
  testBinary<float>("arith.remf", "f32", fmodl, 0);
  testBinary<double>("arith.remf", "f64", fmodl, 0);
  // All distances between exponents, subnormals too.
  CompiledFunction compiled(binaryFunction("arith.remf", "f64"));
  auto *f = compiled.as<double(double, double)>();
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits[2] = {random(), random()};
    double x, y;
    std::memcpy(&x, &bits[0], 8);
    std::memcpy(&y, &bits[1], 8);
    if (i % 3 == 0)
      y = std::ldexp(y, -2000);
    ASSERT_TRUE(close<double>(f(x, y), std::fmod(x, y), 0)) << x << " " << y;
  }
}

TEST(MathSemantics, CopysignAndClamp) {
  testBinary<float>("math.copysign", "f32", copysignl, 0);
  CompiledFunction clamp("func.func @f(%x: f32, %y: f32, %z: f32) -> f32 {\n"
                         "  %r = math.clampf %x to [%y, %z] : f32\n"
                         "  return %r : f32\n}");
  auto *f = clamp.as<float(float, float, float)>();
  EXPECT_EQ(f(3, 0, 1), 1);
  EXPECT_EQ(f(-3, 0, 1), 0);
  EXPECT_EQ(f(0.5, 0, 1), 0.5);
  EXPECT_TRUE(std::isnan(f(NAN, 0, 1)));
}

TEST(MathSemantics, ConstantPowers) {
  auto power = [](const char *exponent) {
    return CompiledFunction(
        std::string("func.func @f(%x: f32) -> f32 {\n  %c = arith.constant ") +
        exponent +
        " : f32\n  %y = math.powf %x, %c : f32\n  return %y : f32\n}");
  };
  for (const char *exponent :
       {"0.0", "1.0", "2.0", "3.0", "-1.0", "0.5", "-0.5", "5.0", "1.7"}) {
    CompiledFunction compiled = power(exponent);
    for (float x : corners<float>())
      EXPECT_TRUE(close<float>(compiled.as<float(float)>()(x),
                               powl(x, std::strtof(exponent, nullptr)), 1.01))
          << x << " to " << exponent;
  }
}

TEST(MathSemantics, PowersByIntegers) {
  CompiledFunction compiled("func.func @f(%x: f32, %n: i32) -> f32 {\n"
                            "  %y = math.fpowi %x, %n : f32, i32\n"
                            "  return %y : f32\n}");
  auto *f = compiled.as<float(float, int32_t)>();
  for (float x : corners<float>())
    for (int32_t n : {0, 1, 2, 3, -1, -2, -3, 31, 16777217, -16777217,
                      INT32_MAX, INT32_MIN})
      EXPECT_TRUE(close<float>(f(x, n), powl(x, n), 0.51)) << x << " " << n;
}

TEST(MathSemantics, IntegerPowers) {
  CompiledFunction compiled(binaryFunction("math.ipowi", "i32"));
  auto *f = compiled.as<int32_t(int32_t, int32_t)>();
  for (int32_t base : {0, 1, -1, 2, -3, 7, 46341})
    for (int32_t exponent = 0; exponent < 40; ++exponent) {
      uint32_t wanted = 1;
      for (int i = 0; i < exponent; ++i)
        wanted *= static_cast<uint32_t>(base);
      EXPECT_EQ(f(base, exponent), static_cast<int32_t>(wanted))
          << base << " to " << exponent;
    }
  EXPECT_EQ(f(1, -5), 1);
  EXPECT_EQ(f(-1, -5), -1);
  EXPECT_EQ(f(-1, -4), 1);
  EXPECT_EQ(f(2, -1), 0);
}

TEST(MathSemantics, IntegerBits) {
  auto unary = [](const char *op) {
    return CompiledFunction(
        std::string("func.func @f(%x: i8) -> i8 {\n  %y = ") + op +
        " %x : i8\n  return %y : i8\n}");
  };
  CompiledFunction leading = unary("math.ctlz"), trailing = unary("math.cttz"),
                   count = unary("math.ctpop"), absolute = unary("math.absi");
  for (int x = -128; x < 128; ++x) {
    uint8_t bits = static_cast<uint8_t>(x);
    int lead = 0, trail = 0, ones = 0;
    for (int i = 7; i >= 0 && !(bits >> i & 1); --i)
      ++lead;
    for (int i = 0; i < 8 && !(bits >> i & 1); ++i)
      ++trail;
    for (int i = 0; i < 8; ++i)
      ones += bits >> i & 1;
    EXPECT_EQ(leading.as<uint8_t(uint8_t)>()(bits), lead);
    EXPECT_EQ(trailing.as<uint8_t(uint8_t)>()(bits), trail);
    EXPECT_EQ(count.as<uint8_t(uint8_t)>()(bits), ones);
    EXPECT_EQ(absolute.as<uint8_t(uint8_t)>()(bits),
              static_cast<uint8_t>(std::abs(x)));
  }
}

TEST(MathSemantics, Classes) {
  auto unary = [](const char *op) {
    return CompiledFunction(
        std::string("func.func @f(%x: f32) -> i8 {\n  %y = ") + op +
        " %x : f32\n  %z = arith.extui %y : i1 to i8\n"
        "  return %z : i8\n}");
  };
  CompiledFunction nan = unary("math.isnan"), infinite = unary("math.isinf"),
                   finite = unary("math.isfinite"),
                   normal = unary("math.isnormal");
  for (float x : corners<float>()) {
    EXPECT_EQ(nan.as<uint8_t(float)>()(x), std::isnan(x)) << x;
    EXPECT_EQ(infinite.as<uint8_t(float)>()(x), std::isinf(x)) << x;
    EXPECT_EQ(finite.as<uint8_t(float)>()(x), std::isfinite(x)) << x;
    EXPECT_EQ(normal.as<uint8_t(float)>()(x), std::isnormal(x)) << x;
  }
}

namespace {
struct Format {
  const char *name;
  const llvm::fltSemantics &semantics;
};
} // namespace

static const Format float8Formats[] = {
    {"f8E4M3FN", llvm::APFloat::Float8E4M3FN()},
    {"f8E5M2", llvm::APFloat::Float8E5M2()}};

TEST(MathSemantics, Float8Extends) {
  for (const Format &format : float8Formats) {
    std::string type = format.name;
    CompiledFunction compiled(
        "func.func @f(%i: i8) -> f32 {\n  %x = arith.bitcast %i : i8 to " +
        type + "\n  %y = arith.extf %x : " + type +
        " to f32\n  return %y : f32\n}");
    for (unsigned bits = 0; bits < 256; ++bits) {
      llvm::APFloat wanted(format.semantics, llvm::APInt(8, bits));
      bool lost;
      wanted.convert(llvm::APFloat::IEEEsingle(),
                     llvm::APFloat::rmNearestTiesToEven, &lost);
      float got = compiled.as<float(uint8_t)>()(static_cast<uint8_t>(bits));
      EXPECT_TRUE(close<float>(got, wanted.convertToFloat(), 0))
          << type << " " << bits;
    }
  }
}

/// Truncates `x` as APFloat does.
static unsigned truncateReference(llvm::APFloat x, const Format &format) {
  bool lost;
  x.convert(format.semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return x.bitcastToAPInt().getZExtValue();
}

static bool isNaN(unsigned bits, const Format &format) {
  return llvm::APFloat(format.semantics, llvm::APInt(8, bits)).isNaN();
}

TEST(MathSemantics, Float8Truncates) {
  for (const Format &format : float8Formats) {
    std::string type = format.name;
    auto truncation = [&](const std::string &from) {
      return CompiledFunction("func.func @f(%x: " + from +
                              ") -> i8 {\n  %y = arith.truncf %x : " + from +
                              " to " + type + "\n  %i = arith.bitcast %y : " +
                              type + " to i8\n  return %i : i8\n}");
    };
    CompiledFunction single = truncation("f32"), wide = truncation("f64");
    auto expect = [&](unsigned got, unsigned wanted, double x) {
      if (isNaN(wanted, format))
        EXPECT_TRUE(isNaN(got, format)) << type << " " << x;
      else
        EXPECT_EQ(got, wanted) << type << " " << x;
    };
    auto tryBoth = [&](float x) {
      unsigned wanted = truncateReference(llvm::APFloat(x), format);
      expect(single.as<uint8_t(float)>()(x), wanted, x);
      expect(wide.as<uint8_t(double)>()(x), wanted, x);
    };
    // Every value and every tie between two, and their neighbours.
    for (unsigned bits = 0; bits < 255; ++bits) {
      llvm::APFloat low(format.semantics, llvm::APInt(8, bits)),
          high(format.semantics, llvm::APInt(8, bits + 1));
      if (!low.isFinite() || !high.isFinite())
        continue;
      double tie = (low.convertToDouble() + high.convertToDouble()) / 2;
      for (double x : {low.convertToDouble(), tie}) {
        tryBoth(static_cast<float>(x));
        tryBoth(std::nextafter(static_cast<float>(x), 1e9f));
        tryBoth(std::nextafter(static_cast<float>(x), -1e9f));
        // A hair beside the tie: rounding to f32 first would go wrong here.
        for (double near : {std::nextafter(x, 1e9), std::nextafter(x, -1e9)})
          expect(wide.as<uint8_t(double)>()(near),
                 truncateReference(llvm::APFloat(near), format), near);
      }
    }
    for (float x : corners<float>())
      tryBoth(x);
    for (float x : {447.0f, 448.0f, 463.9f, 464.0f, 465.0f, 480.0f, 57344.0f,
                    61439.0f, 61440.0f, 1e-40f})
      tryBoth(x);
  }
}

TEST(MathSemantics, Logistic) {
  CompiledFunction sigmoid("func.func @f(%x: f32) -> f32 {\n"
                           "  %one = arith.constant 1.0 : f32\n"
                           "  %n = arith.negf %x : f32\n"
                           "  %e = math.exp %n : f32\n"
                           "  %d = arith.addf %e, %one : f32\n"
                           "  %y = arith.divf %one, %d : f32\n"
                           "  return %y : f32\n}");
  auto *f = sigmoid.as<float(float)>();
  EXPECT_EQ(f(0), 0.5f);
  EXPECT_EQ(f(INFINITY), 1);
  EXPECT_EQ(f(-INFINITY), 0);
  EXPECT_TRUE(std::isnan(f(NAN)));
  for (float x = -87; x < 20; x += 0.0037f)
    ASSERT_TRUE(close<float>(f(x), 1 / (1 + expl(-x)), 3)) << x;
}

TEST(MathSemantics, ProductWithLogistic) {
  CompiledFunction silu("func.func @f(%x: f32) -> f32 {\n"
                        "  %one = arith.constant 1.0 : f32\n"
                        "  %n = arith.negf %x : f32\n"
                        "  %e = math.exp %n : f32\n"
                        "  %d = arith.addf %e, %one : f32\n"
                        "  %y = arith.divf %x, %d : f32\n"
                        "  return %y : f32\n}");
  auto *f = silu.as<float(float)>();
  EXPECT_EQ(f(0), 0);
  EXPECT_EQ(f(1e30f), 1e30f);
  EXPECT_EQ(f(-1000), 0);
  EXPECT_TRUE(std::isnan(f(NAN)));
  for (float x = -87; x < 40; x += 0.0037f)
    ASSERT_TRUE(close<float>(f(x), x / (1 + expl(-x)), 4)) << x;
}

/// Some numbers of each exponent, with both signs.
static std::vector<float> numbersOfAllSizes() {
  std::vector<float> numbers = {0.0f, -0.0f, INFINITY, -INFINITY,
                                std::numeric_limits<float>::max()};
  for (uint32_t bits = 1; bits < 0x7f800000; bits += 0x2f1357)
    for (float sign : {1.0f, -1.0f})
      numbers.push_back(sign * llvm::bit_cast<float>(bits));
  return numbers;
}

TEST(MathSemantics, DivisionByCounts) {
  for (int n : {1, 2, 3, 7, 10, 24, 29, 49, 1023, 77777, 1048575, 1 << 20}) {
    CompiledFunction mean("func.func @f(%x: f32) -> f32 {\n"
                          "  %n = arith.constant " +
                          std::to_string(n) +
                          ".0 : f32\n"
                          "  %y = arith.divf %x, %n : f32\n"
                          "  return %y : f32\n}");
    auto *f = mean.as<float(float)>();
    EXPECT_TRUE(std::isnan(f(NAN)));
    for (float x : numbersOfAllSizes()) {
      float exact = x / static_cast<float>(n);
      // Only between subnormal numbers may a tie become the other one.
      bool isTiny = std::abs(exact) < std::numeric_limits<float>::min();
      float allowed = isTiny ? std::numeric_limits<float>::denorm_min() : 0;
      if (std::isinf(exact))
        EXPECT_EQ(f(x), exact);
      else
        ASSERT_LE(std::abs(f(x) - exact), allowed) << x << " by " << n;
      ASSERT_EQ(std::signbit(f(x)), std::signbit(exact)) << x << " by " << n;
    }
  }
}

TEST(MathSemantics, DivisionByCountsAtRunTime) {
  CompiledFunction mean("func.func @f(%x: f32, %i: i32) -> f32 {\n"
                        "  %zero = arith.constant 0 : i32\n"
                        "  %most = arith.constant 300 : i32\n"
                        "  %a = arith.maxsi %i, %zero : i32\n"
                        "  %b = arith.minsi %a, %most : i32\n"
                        "  %n = arith.sitofp %b : i32 to f32\n"
                        "  %y = arith.divf %x, %n : f32\n"
                        "  return %y : f32\n}");
  auto *f = mean.as<float(float, int32_t)>();
  EXPECT_EQ(f(3.0f, 0), INFINITY);
  EXPECT_EQ(f(-3.0f, 0), -INFINITY);
  EXPECT_TRUE(std::isnan(f(0.0f, 0)));
  for (int n = 1; n <= 300; ++n)
    for (float x = 1e-20f; x < 1e20f; x *= 1.37f)
      ASSERT_EQ(f(x, n), x / static_cast<float>(n)) << x << " by " << n;
}

/// The four quotients that a thread has by one divisor, which share its
/// reciprocal.
TEST(MathSemantics, QuotientsByOneDivisor) {
  CompiledFunction row("func.func @f(%x: f32, %d: f32, %i: i32) -> f32 {\n"
                       "  %two = arith.constant 2.0 : f32\n"
                       "  %zero = arith.constant 0.0 : f32\n"
                       "  %one = arith.constant 1.0 : f32\n"
                       "  %negative = arith.negf %x : f32\n"
                       "  %double = arith.mulf %x, %two : f32\n"
                       "  %a = arith.divf %x, %d : f32\n"
                       "  %b = arith.divf %negative, %d : f32\n"
                       "  %c = arith.divf %double, %d : f32\n"
                       "  %e = arith.divf %zero, %d : f32\n"
                       "  %c0 = arith.constant 0 : i32\n"
                       "  %c1 = arith.constant 1 : i32\n"
                       "  %c2 = arith.constant 2 : i32\n"
                       "  %is0 = arith.cmpi eq, %i, %c0 : i32\n"
                       "  %is1 = arith.cmpi eq, %i, %c1 : i32\n"
                       "  %is2 = arith.cmpi eq, %i, %c2 : i32\n"
                       "  %s = arith.select %is2, %c, %e : f32\n"
                       "  %t = arith.select %is1, %b, %s : f32\n"
                       "  %u = arith.select %is0, %a, %t : f32\n"
                       "  return %u : f32\n}");
  auto *f = row.as<float(float, float, int32_t)>();
  std::vector<float> divisors = {1.0f,      3.0f,           -7.7f,
                                 0.0f,      -0.0f,          INFINITY,
                                 NAN,       0x1p-149f,      0x1.8p-140f,
                                 0x1p-126f, 0x1.fffffep-1f, 0x1.fffffep127f,
                                 0x1.3p126f};
  for (float d = 1e-37f; d < 1e38f; d *= 61.7f)
    divisors.push_back(d);
  for (float d : divisors)
    for (float x : numbersOfAllSizes())
      for (int i = 0; i < 4; ++i) {
        float dividend = i == 0 ? x : i == 1 ? -x : i == 2 ? 2 * x : 0.0f;
        float exact = dividend / d, result = f(x, d, i);
        if (std::isnan(exact) || std::isinf(exact)) {
          ASSERT_EQ(std::isnan(result), std::isnan(exact))
              << dividend << " by " << d;
          if (std::isinf(exact))
            ASSERT_EQ(result, exact) << dividend << " by " << d;
          continue;
        }
        // Where the rest that a product leaves is below all numbers, and for
        // reciprocals that are subnormal, the neighbour may be taken.
        bool isTiny = std::abs(exact) < std::numeric_limits<float>::min() ||
                      std::abs(dividend) < 0x1p-100f || std::abs(d) > 0x1p126f;
        float allowed =
            isTiny ? std::abs(std::nextafter(exact, INFINITY) - exact) : 0;
        ASSERT_LE(std::abs(result - exact), allowed) << dividend << " by " << d;
      }
}

TEST(MathSemantics, HalfOfTanhPlusOne) {
  // As far from the true value as the sum of tanh and 1 by itself.
  CompiledFunction gelu("func.func @f(%x: f32, %y: f32) -> f32 {\n"
                        "  %one = arith.constant 1.0 : f32\n"
                        "  %half = arith.constant 0.5 : f32\n"
                        "  %h = arith.mulf %half, %x : f32\n"
                        "  %t = math.tanh %y : f32\n"
                        "  %s = arith.addf %one, %t : f32\n"
                        "  %g = arith.mulf %s, %h : f32\n"
                        "  return %g : f32\n}");
  auto *f = gelu.as<float(float, float)>();
  EXPECT_EQ(f(3, 0), 1.5f);
  EXPECT_EQ(f(3, INFINITY), 3);
  EXPECT_EQ(f(3, -INFINITY), 0);
  EXPECT_EQ(f(0x1p-149f, 20), 0x1p-149f);
  EXPECT_TRUE(std::isnan(f(3, NAN)));
  for (float y = -1; y < 12; y += 0.0037f)
    ASSERT_TRUE(close<float>(f(3, y), 3 / (1 + expl(-2 * y)), 8)) << y;
}

TEST(MathSemantics, Gelu) {
  CompiledFunction gelu("func.func @f(%x: f32) -> f32 {\n"
                        "  %one = arith.constant 1.0 : f32\n"
                        "  %half = arith.constant 0.5 : f32\n"
                        "  %cubic = arith.constant 0.044715 : f32\n"
                        "  %root = arith.constant 0.797884583 : f32\n"
                        "  %a = arith.mulf %x, %x : f32\n"
                        "  %b = arith.mulf %a, %x : f32\n"
                        "  %c = arith.mulf %b, %cubic : f32\n"
                        "  %d = arith.addf %x, %c : f32\n"
                        "  %y = arith.mulf %d, %root : f32\n"
                        "  %h = arith.mulf %half, %x : f32\n"
                        "  %t = math.tanh %y : f32\n"
                        "  %s = arith.addf %one, %t : f32\n"
                        "  %g = arith.mulf %s, %h : f32\n"
                        "  return %g : f32\n}");
  auto *f = gelu.as<float(float)>();
  EXPECT_EQ(f(0), 0);
  EXPECT_EQ(f(INFINITY), INFINITY);
  EXPECT_EQ(f(1e30f), 1e30f);
  EXPECT_EQ(f(-1e30f), 0);
  EXPECT_EQ(f(0x1p-140f), 0x1p-141f);
  // As the program says: no power of e is left of 1, and infinity by 0.
  EXPECT_TRUE(std::isnan(f(-INFINITY)));
  EXPECT_TRUE(std::isnan(f(NAN)));
  for (float x = -9; x < 12; x += 0.0037f) {
    long double y = 0.797884583f * (x + 0.044715f * (long double)(x)*x * x);
    // The argument's error grows with it as that of any exponential's.
    double bound = 4 + 4 * std::fabs(std::min(double(y), 0.0));
    ASSERT_TRUE(close<float>(f(x), x / (1 + expl(-2 * y)), bound)) << x;
  }
}

TEST(MathSemantics, VectorsOfAnyShape) {
  // The shape must not matter: a 2 x 3 vector of halves, element by element.
  CompiledFunction compiled(
      "func.func @f(%p: !llvm.ptr, %q: !llvm.ptr) {\n"
      "  %v = llvm.load %p : !llvm.ptr -> vector<6xf32>\n"
      "  %w = vector.shape_cast %v : vector<6xf32> to vector<2x3xf32>\n"
      "  %s = math.sin %w : vector<2x3xf32>\n"
      "  %e = math.exp %s : vector<2x3xf32>\n"
      "  %r = vector.shape_cast %e : vector<2x3xf32> to vector<6xf32>\n"
      "  llvm.store %r, %q : vector<6xf32>, !llvm.ptr\n"
      "  return\n}");
  alignas(32) float in[8] = {0, 1, -2, 1e30f, 3, 300000};
  alignas(32) float out[8] = {};
  compiled.as<void(float *, float *)>()(in, out);
  for (int i = 0; i < 6; ++i)
    EXPECT_TRUE(close<float>(out[i], expl(sinl(in[i])), 4)) << in[i];
}
