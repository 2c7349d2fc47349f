//===- IntervalTest.cpp - Tests of ranges and divisors --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests interval arithmetic against enumeration, in 128 bits at the
// ends of the 64-bit range, and the analysis of affine expressions against
// their values.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/Interval.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <functional>
#include <optional>
#include <random>
#include <string>

using namespace mlir;
using namespace mlir::fusion;

namespace {

using Wide = __int128;

constexpr int64_t kMin = Interval::kMin;
constexpr int64_t kMax = Interval::kMax;

Wide floorQuotient(Wide a, Wide b) {
  Wide quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

/// The interval admits a value that may lie beyond 64 bits.
bool admits(const Interval &interval, Wide value) {
  return (!interval.hasLower() || value >= interval.getLower()) &&
         (!interval.hasUpper() || value <= interval.getUpper());
}

std::string str(const Interval &interval) {
  std::string text;
  llvm::raw_string_ostream(text) << interval;
  return text;
}

TEST(Interval, Basics) {
  Interval all;
  EXPECT_FALSE(all.isBounded());
  EXPECT_FALSE(all.fitsInSigned(64));
  EXPECT_EQ(str(all), "[-inf, +inf]");
  EXPECT_EQ(str(Interval(-3, 7)), "[-3, 7]");
  EXPECT_TRUE(Interval::point(5).isPoint());
  EXPECT_TRUE(Interval::atLeast(1).contains(kMax));
  EXPECT_FALSE(Interval::atLeast(1).contains(0));
  EXPECT_TRUE(Interval(0, 9).contains(Interval(2, 9)));
  EXPECT_FALSE(Interval(0, 9).contains(Interval(2, 10)));
  EXPECT_EQ(Interval::indicesOf(Interval(1, 64)), Interval(0, 63));
  EXPECT_EQ(Interval::indicesOf(Interval::atLeast(0)), Interval::atLeast(0));
  EXPECT_EQ(Interval::indicesOf(Interval::point(0)), Interval::point(0));
}

TEST(Interval, FitsInSigned) {
  EXPECT_TRUE(Interval(INT32_MIN, INT32_MAX).fitsInSigned32());
  EXPECT_FALSE(Interval(0, int64_t(INT32_MAX) + 1).fitsInSigned32());
  EXPECT_FALSE(Interval(int64_t(INT32_MIN) - 1, 0).fitsInSigned32());
  EXPECT_FALSE(Interval::atLeast(0).fitsInSigned32());
  EXPECT_TRUE(Interval(-128, 127).fitsInSigned(8));
  EXPECT_FALSE(Interval(0, 128).fitsInSigned(8));
}

TEST(Interval, ExactOnSmallIntervals) {
  // The least interval around all results, by enumeration.
  auto hull = [](const Interval &a, const Interval &b, auto fn, bool positive) {
    std::optional<Interval> result;
    for (int64_t x = a.getLower(); x <= a.getUpper(); ++x)
      for (int64_t y = b.getLower(); y <= b.getUpper(); ++y) {
        if (positive && y <= 0)
          continue;
        Interval value = Interval::point(int64_t(fn(x, y)));
        result = result ? result->join(value) : value;
      }
    return result;
  };
  for (int64_t a = -5; a <= 5; ++a)
    for (int64_t b = a; b <= 6; ++b)
      for (int64_t c = -4; c <= 5; ++c)
        for (int64_t d = c; d <= 5; ++d) {
          Interval x(a, b), y(c, d);
          EXPECT_EQ(x + y, hull(x, y, std::plus<Wide>(), false));
          EXPECT_EQ(x - y, hull(x, y, std::minus<Wide>(), false));
          EXPECT_EQ(x * y, hull(x, y, std::multiplies<Wide>(), false));
          EXPECT_EQ(
              Interval::min(x, y),
              hull(x, y, [](Wide p, Wide q) { return std::min(p, q); }, false));
          EXPECT_EQ(
              Interval::max(x, y),
              hull(x, y, [](Wide p, Wide q) { return std::max(p, q); }, false));
          if (d <= 0) {
            EXPECT_EQ(x.floorDiv(y), Interval());
            EXPECT_EQ(x.ceilDiv(y), Interval());
            EXPECT_EQ(x.mod(y), Interval());
            continue;
          }
          EXPECT_EQ(x.floorDiv(y), hull(x, y, floorQuotient, true));
          auto ceilQuotient = [](Wide p, Wide q) {
            return -floorQuotient(-p, q);
          };
          EXPECT_EQ(x.ceilDiv(y), hull(x, y, ceilQuotient, true));
          auto remainder = [](Wide p, Wide q) {
            return p - floorQuotient(p, q) * q;
          };
          std::optional<Interval> exact = hull(x, y, remainder, true);
          EXPECT_TRUE(x.mod(y).contains(*exact)) << str(x) << str(y);
          EXPECT_GE(x.mod(y).getLower(), 0);
          EXPECT_LT(x.mod(y).getUpper(), d);
        }
  EXPECT_EQ(Interval(13, 15).mod(Interval::point(8)), Interval(5, 7));
  EXPECT_EQ(Interval(-3, -1).mod(Interval::point(8)), Interval(5, 7));
  EXPECT_EQ(Interval(7, 8).mod(Interval::point(8)), Interval(0, 7));
}

TEST(Interval, SoundAtTheEndsOfTheRange) {
  // Members of an interval, those beyond 64 bits that a missing bound admits
  // included.
  auto members = [](const Interval &interval) {
    llvm::SmallVector<Wide, 8> result = {interval.getLower(),
                                         interval.getUpper()};
    for (Wide value : {Wide(-2), Wide(-1), Wide(0), Wide(1), Wide(2),
                       Wide(kMax) + 1, Wide(kMin) - 1})
      if (admits(interval, value))
        result.push_back(value);
    return result;
  };
  llvm::SmallVector<int64_t, 16> bounds = {
      kMin, kMin + 1, kMin / 2, -3, -1, 0, 1, 3, kMax / 2, kMax - 1, kMax};
  llvm::SmallVector<Interval, 64> intervals;
  for (int64_t lower : bounds)
    for (int64_t upper : bounds)
      if (lower <= upper)
        intervals.push_back(Interval(lower, upper));
  for (const Interval &a : intervals)
    for (const Interval &b : intervals)
      for (Wide x : members(a))
        for (Wide y : members(b)) {
          ASSERT_TRUE(admits(a + b, x + y)) << str(a) << str(b);
          ASSERT_TRUE(admits(a - b, x - y)) << str(a) << str(b);
          ASSERT_TRUE(admits(a * b, x * y)) << str(a) << str(b);
          if (y <= 0)
            continue;
          ASSERT_TRUE(admits(a.floorDiv(b), floorQuotient(x, y)))
              << str(a) << str(b);
          ASSERT_TRUE(admits(a.ceilDiv(b), -floorQuotient(-x, y)))
              << str(a) << str(b);
          ASSERT_TRUE(admits(a.mod(b), x - floorQuotient(x, y) * y))
              << str(a) << str(b);
        }
  EXPECT_EQ(Interval(0, kMax - 1) + Interval(0, 1), Interval::atLeast(0));
  EXPECT_EQ(Interval(0, int64_t(1) << 40) * Interval(0, int64_t(1) << 40),
            Interval::atLeast(0));
  EXPECT_EQ(Interval() * Interval::point(0), Interval::point(0));
}

class AffineInterval : public testing::Test {
protected:
  AffineInterval() : builder(&context) {
    bindDims(&context, d0, d1);
    bindSymbols(&context, s0);
  }
  AffineExpr constant(int64_t value) {
    return builder.getAffineConstantExpr(value);
  }

  MLIRContext context;
  Builder builder;
  AffineExpr d0, d1, s0;
};

TEST_F(AffineInterval, Range) {
  llvm::SmallVector<Interval, 2> dims = {Interval(0, 63), Interval(0, 7)};
  llvm::SmallVector<Interval, 1> symbols = {Interval(1, 100)};
  EXPECT_EQ(getRange(d0 * 8 + d1, dims), Interval(0, 511));
  EXPECT_EQ(getRange(d0 - d1, dims), Interval(-7, 63));
  EXPECT_EQ(getRange(d0.floorDiv(8), dims), Interval(0, 7));
  EXPECT_EQ(getRange(d0.ceilDiv(8), dims), Interval(0, 8));
  EXPECT_EQ(getRange((d0 + 1) % 16, dims), Interval(0, 15));
  EXPECT_EQ(getRange(d0 * s0 + d1, dims, symbols), Interval(0, 6307));
  EXPECT_EQ(getRange(d0.floorDiv(s0), dims, symbols), Interval(0, 63));
  EXPECT_EQ(getRange(d0 % s0, dims, symbols), Interval(0, 63));
}

TEST_F(AffineInterval, FitsIn32Bits) {
  Interval block(0, 65535), thread(0, 1023);
  EXPECT_TRUE(fitsInSigned32(d0 * 1024 + d1, {block, thread}));
  EXPECT_FALSE(fitsInSigned32(d0 * 65536 + d1, {block, thread}));
  // A size that is not known may be anything.
  EXPECT_FALSE(fitsInSigned32(d0 * s0, {block}, {Interval::atLeast(1)}));
  EXPECT_TRUE(fitsInSigned32(d0 * s0, {block}, {Interval(1, 32767)}));
  EXPECT_FALSE(fitsInSigned32(d0 * s0, {block}, {Interval(1, 32769)}));
  // The value fits, a step on the way to it does not.
  AffineExpr wide = (d0 * 65536).floorDiv(65537);
  EXPECT_TRUE(getRange(wide, {block}).fitsInSigned32());
  EXPECT_FALSE(fitsInSigned32(wide, {block}));
  EXPECT_TRUE(fitsInSigned(wide, 64, {block}));
}

TEST_F(AffineInterval, KnownDivisor) {
  auto divisor = [&](AffineExpr expr) {
    return getKnownDivisor(expr, {8, 1}, {6});
  };
  EXPECT_EQ(divisor(d0), 8);
  EXPECT_EQ(divisor(d0 + 4), 4);
  EXPECT_EQ(divisor(d0 * 3), 24);
  EXPECT_EQ(divisor(d0 * s0), 48);
  EXPECT_EQ(divisor(d0 + s0 * d1), 2);
  EXPECT_EQ(divisor(d0 % 12), 4);
  EXPECT_EQ(divisor(d0.floorDiv(2)), 4);
  EXPECT_EQ(divisor(d0.ceilDiv(2)), 4);
  EXPECT_EQ(divisor(d0.floorDiv(3)), 1);
  EXPECT_EQ(divisor(d0.floorDiv(s0)), 1);
  EXPECT_EQ(divisor(d0 % 4), 0);
  EXPECT_EQ(divisor(d0 % 4 + d1 * 16), 16);
  EXPECT_EQ(divisor(constant(0)), 0);
  EXPECT_EQ(divisor(constant(-12)), 12);
  EXPECT_EQ(divisor(constant(kMin)), int64_t(1) << 62);
  EXPECT_TRUE(isMultipleOf(d0 * 2 + 16, 16, {8, 1}));
  EXPECT_FALSE(isMultipleOf(d0 * 2 + 8, 16, {8, 1}));
  EXPECT_TRUE(isMultipleOf(d0 % 4, 1000, {8, 1}));
  // A product beyond 64 bits still has its factors' divisors.
  int64_t big = int64_t(1) << 40;
  EXPECT_EQ(getKnownDivisor(d0 * s0, {big}, {big}), big);
}

/// Random expressions: every value lies in the range and is a multiple of the
/// divisor.
TEST_F(AffineInterval, AgreesWithValues) {
  std::mt19937 random(3);
  std::function<AffineExpr(unsigned)> make = [&](unsigned depth) {
    switch (depth == 0 ? random() % 4 : random() % 8) {
    case 0:
      return d0;
    case 1:
      return d1;
    case 2:
      return s0;
    case 3:
      return constant(int64_t(random() % 9) - 4);
    case 4:
      return make(depth - 1) + make(depth - 1);
    case 5:
      return make(depth - 1) * (int64_t(random() % 9) - 4);
    case 6:
      return make(depth - 1) % (1 + random() % 6);
    default:
      return random() % 2 ? make(depth - 1).floorDiv(1 + random() % 6)
                          : make(depth - 1).ceilDiv(1 + random() % 6);
    }
  };
  std::function<int64_t(AffineExpr, int64_t, int64_t, int64_t)> valueOf =
      [&](AffineExpr expr, int64_t x, int64_t y, int64_t s) -> int64_t {
    if (auto each = dyn_cast<AffineConstantExpr>(expr))
      return each.getValue();
    if (expr == d0)
      return x;
    if (expr == d1)
      return y;
    if (expr == s0)
      return s;
    auto binary = cast<AffineBinaryOpExpr>(expr);
    int64_t lhs = valueOf(binary.getLHS(), x, y, s);
    int64_t rhs = valueOf(binary.getRHS(), x, y, s);
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return lhs + rhs;
    case AffineExprKind::Mul:
      return lhs * rhs;
    case AffineExprKind::Mod:
      return lhs - int64_t(floorQuotient(lhs, rhs)) * rhs;
    case AffineExprKind::FloorDiv:
      return floorQuotient(lhs, rhs);
    default:
      return -floorQuotient(-lhs, rhs);
    }
  };
  for (unsigned trial = 0; trial != 2000; ++trial) {
    AffineExpr expr = make(4);
    // d0 in 0, 4, ... 12; d1 in -3 ... 3; s0 in 6, 12.
    Interval range =
        getRange(expr, {Interval(0, 12), Interval(-3, 3)}, {Interval(6, 12)});
    int64_t divisor = getKnownDivisor(expr, {4, 1}, {6});
    for (int64_t x = 0; x <= 12; x += 4)
      for (int64_t y = -3; y <= 3; ++y)
        for (int64_t s = 6; s <= 12; s += 6) {
          int64_t value = valueOf(expr, x, y, s);
          ASSERT_TRUE(range.contains(value)) << str(range) << " " << value;
          ASSERT_EQ(divisor == 0 ? value : value % divisor, 0);
        }
  }
}

} // namespace
