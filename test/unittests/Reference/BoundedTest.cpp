//===- BoundedTest.cpp - Numbers and how far off they may be --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the algebra of the reference: whatever is drawn from the
// operands' intervals gives something in the result's, and not much else does.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Bounded.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <functional>
#include <random>

using namespace mlir::fusion;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class Draw {
public:
  double normal() { return gauss(random); }
  Bounded interval() {
    return Bounded(normal(), std::fabs(normal()) * std::pow(2, exponent()));
  }
  double inside(Bounded x) { return x.value + x.error * unit(random); }

private:
  double exponent() { return -12 * std::fabs(unit(random)); }
  std::mt19937_64 random{1};
  std::normal_distribution<double> gauss;
  std::uniform_real_distribution<double> unit{-1, 1};
};

/// A little more than `x`, for what f64 itself rounds.
Bounded widen(Bounded x) {
  return Bounded(x.value, x.error * (1 + 1e-12) + 1e-15 * std::fabs(x.value));
}

TEST(BoundedTest, ArithmeticCoversItsOperands) {
  Draw draw;
  for (int i = 0; i < 2000; ++i) {
    Bounded a = draw.interval(), b = draw.interval(), c = draw.interval();
    Bounded sum = a + b, difference = a - b, product = a * b, quotient = a / b;
    Bounded least = minimum(a, b), most = maximum(a, b), all = fma(a, b, c);
    for (int j = 0; j < 20; ++j) {
      double x = draw.inside(a), y = draw.inside(b), z = draw.inside(c);
      EXPECT_TRUE(widen(sum).contains(x + y));
      EXPECT_TRUE(widen(difference).contains(x - y));
      EXPECT_TRUE(widen(product).contains(x * y));
      EXPECT_TRUE(widen(quotient).contains(x / y));
      EXPECT_TRUE(widen(least).contains(std::min(x, y)));
      EXPECT_TRUE(widen(most).contains(std::max(x, y)));
      EXPECT_TRUE(widen(all).contains(x * y + z));
    }
  }
}

TEST(BoundedTest, FunctionsCoverTheirOperand) {
  const std::pair<Function, double (*)(double)> functions[] = {
      {Function::Exp, std::exp},     {Function::Exp2, std::exp2},
      {Function::Expm1, std::expm1}, {Function::Log, std::log},
      {Function::Log1p, std::log1p}, {Function::Sinh, std::sinh},
      {Function::Cosh, std::cosh},   {Function::Tanh, std::tanh},
      {Function::Atanh, std::atanh}, {Function::Acosh, std::acosh},
      {Function::Sin, std::sin},     {Function::Cos, std::cos},
      {Function::Tan, std::tan},     {Function::Asin, std::asin},
      {Function::Acos, std::acos},   {Function::Atan, std::atan},
      {Function::Erf, std::erf},     {Function::Erfc, std::erfc},
      {Function::Sqrt, std::sqrt},   {Function::Cbrt, std::cbrt}};
  Draw draw;
  for (auto [function, exact] : functions)
    for (int i = 0; i < 500; ++i) {
      Bounded x = draw.interval();
      Bounded y = apply(function, x);
      for (int j = 0; j < 20; ++j)
        EXPECT_TRUE(widen(y).contains(exact(draw.inside(x))))
            << static_cast<int>(function) << " of " << x.value << " +- "
            << x.error;
      // Where the function is smooth, the error is about the slope's.
      Bounded small = apply(function, Bounded(0.5, 1e-6));
      if (small.isKnown())
        EXPECT_LT(small.error, 1e-5);
    }
}

TEST(BoundedTest, PowersCoverTheirOperands) {
  Draw draw;
  for (int i = 0; i < 2000; ++i) {
    Bounded x = draw.interval(), y = draw.interval();
    if (i % 2)
      y = Bounded(std::round(y.value));
    Bounded power = pow(x, y), angle = atan2(x, y);
    for (int j = 0; j < 20; ++j) {
      double a = draw.inside(x), b = draw.inside(y);
      EXPECT_TRUE(widen(power).contains(std::pow(a, b)));
      EXPECT_TRUE(widen(angle).contains(std::atan2(a, b)));
    }
  }
}

TEST(BoundedTest, LeavingTheDomainIsUnknown) {
  EXPECT_FALSE((Bounded(1) / Bounded(0.5, 1)).isKnown());
  EXPECT_FALSE(apply(Function::Log, Bounded(0.5, 1)).isKnown());
  EXPECT_FALSE(apply(Function::Sqrt, Bounded(0, 1e-9)).isKnown());
  EXPECT_FALSE(apply(Function::Tan, Bounded(1.57, 0.1)).isKnown());
  // An exact operand gives what it gives.
  EXPECT_TRUE(apply(Function::Sqrt, Bounded(-1)).isNaN());
  EXPECT_EQ((Bounded(1) / Bounded(0.0)).value, kInfinity);
  EXPECT_TRUE((Bounded(1) / Bounded(0.0)).isExact());
}

TEST(BoundedTest, NaNAndInfinityAreCertain) {
  Bounded some(1, 0.5), infinity(kInfinity), nan(kNaN);
  EXPECT_TRUE((some + nan).isNaN());
  EXPECT_TRUE((Bounded::unknown() * nan).isNaN());
  EXPECT_EQ((some + infinity).value, kInfinity);
  EXPECT_TRUE((some * infinity).isExact());
  EXPECT_FALSE((Bounded(0, 1) * infinity).isKnown());
  EXPECT_FALSE((Bounded::unknown() + infinity).isKnown());
  EXPECT_TRUE((infinity - infinity).isNaN());
  EXPECT_TRUE(maximum(some, nan).isNaN());
  EXPECT_EQ(maximumNumber(some, nan).error, 0.5);
  EXPECT_EQ(minimum(some, infinity).value, 1);
  EXPECT_TRUE((infinity / some).isExact());
  EXPECT_EQ((some / infinity).value, 0);
}

TEST(BoundedTest, ARoundingIsExactWhereNothingElseIsPossible) {
  // bf16 has steps of 2^-7 from 1 on.
  Bounded sure = roundTo(Bounded(1.001, 0.002), DType::BF16);
  EXPECT_EQ(sure.value, 1);
  EXPECT_TRUE(sure.isExact());
  Bounded tie = roundTo(Bounded(1 + 0x1p-8, 1e-6), DType::BF16);
  EXPECT_TRUE(tie.contains(1));
  EXPECT_TRUE(tie.contains(1 + 0x1p-7));
  EXPECT_FALSE(tie.contains(1 + 0x1p-6));
  // A dropped rounding is covered too.
  Bounded maybe = roundTo(Bounded(1.001), DType::BF16, /*mayDrop=*/true);
  EXPECT_TRUE(maybe.contains(1));
  EXPECT_TRUE(maybe.contains(1.001));
  NumericsScope fast(true);
  EXPECT_TRUE(roundTo(Bounded(1.001), DType::BF16).contains(1.001));
}

TEST(BoundedTest, RoundingsAreThoseOfTheFormat) {
  Draw draw;
  for (DType format :
       {DType::F32, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2})
    for (int i = 0; i < 5000; ++i) {
      double x = draw.normal() * std::pow(2, 12 * draw.normal());
      HostTensor tensor = createTensor(format, {1});
      tensor.setDouble(0, x);
      double expected = tensor.getDouble(0);
      Bounded rounded = roundTo(x, format);
      EXPECT_TRUE(rounded.isExact());
      if (std::isnan(expected))
        EXPECT_TRUE(rounded.isNaN());
      else
        EXPECT_EQ(rounded.value, expected) << x;
    }
}

TEST(BoundedTest, OverflowIsOpenWhereItMayHappen) {
  EXPECT_EQ(roundTo(Bounded(1e6), DType::F16).value, kInfinity);
  EXPECT_EQ(roundTo(Bounded(1e6, 10), DType::F16).value, kInfinity);
  Bounded open = roundTo(Bounded(65519, 10), DType::F16);
  EXPECT_TRUE(std::isfinite(open.value));
  EXPECT_GT(open.high(), 65504);
  EXPECT_TRUE(open.contains(65504));
  EXPECT_FALSE(roundTo(Bounded(460, 10), DType::F8E4M3).isKnown());
  EXPECT_TRUE(roundTo(Bounded(1e6), DType::F8E4M3).isNaN());
}

TEST(BoundedTest, FunctionsHaveTheAccuracyOfTheirFormat) {
  Bounded wide = evaluate(Function::Exp, 1.0, DType::F32);
  EXPECT_GE(wide.error, 4 * getUlp(2.7, DType::F32));
  EXPECT_LE(wide.error, 7 * getUlp(2.7, DType::F32));
  Bounded narrow = evaluate(Function::Exp, 1.0, DType::BF16);
  EXPECT_TRUE(narrow.isExact());
  EXPECT_TRUE(evaluate(Function::Sqrt, 2.0, DType::F32).isExact());
  // Results that compiled code flushes to 0.
  EXPECT_TRUE(evaluate(Function::Exp, -88.0, DType::F32).contains(0));
  EXPECT_FALSE(evaluate(Function::Exp, -80.0, DType::F32).contains(0));
  EXPECT_GT(evaluate(Function::Tanh, 1.0, DType::F32, /*afn=*/true).error,
            0.7 * 0x1p-10);
  EXPECT_GT(divide(1.0, 3.0, DType::F32, /*afn=*/true).error, 0);
  EXPECT_TRUE(divide(1.0, 3.0, DType::F32).isExact());
}

/// Sums in f32, front to back and in a tree, lie in the bound; one that lacks
/// a term does not.
TEST(BoundedTest, SumsInAnyOrder) {
  Draw draw;
  for (int count : {2, 17, 256, 4096})
    for (bool isPositive : {false, true}) {
      std::vector<float> terms(count);
      BoundedSum sum;
      float chain = 0;
      for (float &term : terms) {
        term = draw.normal();
        term = isPositive ? std::fabs(term) : term;
        sum.add(double(term));
        chain += term;
      }
      std::function<float(int, int)> tree = [&](int begin, int end) {
        int middle = (begin + end) / 2;
        return end - begin == 1 ? terms[begin]
                                : tree(begin, middle) + tree(middle, end);
      };
      Bounded result = sum.finish(count, SumRule::forSum(DType::F32));
      EXPECT_TRUE(result.contains(chain));
      EXPECT_TRUE(result.contains(tree(0, count)));
      float largest = *std::max_element(terms.begin(), terms.end());
      EXPECT_FALSE(result.contains(chain - largest));
    }
}

TEST(BoundedTest, ErrorsOfFactorsAreIndependentOrCommon) {
  Draw draw;
  const int count = 1024;
  const double error = 0x1p-9;
  BoundedSum sum;
  double apart = 0, scaled = 0, shifted = 0;
  for (int i = 0; i < count; ++i) {
    double a = draw.normal(), b = draw.normal();
    sum.addProduct(Bounded(a, error * std::fabs(a)), b);
    apart += (a + error * std::fabs(a) * std::fmod(i * 0.7548776662, 1)) * b;
    scaled += a * (1 + error) * b;
    shifted += a * b;
  }
  Bounded result = sum.finish(count, SumRule::forSum(DType::F32));
  EXPECT_TRUE(result.contains(apart));
  EXPECT_TRUE(result.contains(scaled));
  EXPECT_TRUE(result.contains(shifted));
  EXPECT_LT(result.error, sum.error / 2);
}

TEST(BoundedTest, RoundedFactorsReachMoreThanUsual) {
  // Weights on the grid of bf16: every rounding is anywhere in its interval.
  Draw draw;
  const int count = 64, tries = 4096;
  SumRule usual = SumRule::forProducts(DType::BF16, DType::F32),
          rounded = usual;
  rounded.independent = SumRule::kIndependentRoundings;
  int beyondUsual = 0;
  for (int n = 0; n < tries; ++n) {
    BoundedSum sum;
    double onGrid = 0;
    for (int i = 0; i < count; ++i) {
      double weight = std::exp(-std::fabs(draw.normal())), b = draw.normal();
      sum.addProduct(Bounded(weight, weight * 0x1p-9), b);
      onGrid += roundTo(weight, DType::BF16).value * b;
    }
    beyondUsual += !sum.finish(count, usual).contains(onGrid);
    EXPECT_TRUE(sum.finish(count, rounded).contains(onGrid));
  }
  EXPECT_GT(beyondUsual, 0);
}

TEST(BoundedTest, RulesOfSumsFollowTheFactors) {
  auto error = [](DType factors, bool tf32) {
    return SumRule::forProducts(factors, DType::F32, tf32)
        .getRelativeError(4096);
  };
  EXPECT_LT(error(DType::BF16, false), error(DType::F32, true));
  EXPECT_LT(error(DType::F32, true), error(DType::F8E4M3, false));
  EXPECT_LT(error(DType::F8E4M3, false), error(DType::F8E4M3, true));
  EXPECT_LT(SumRule::forSum(DType::F64).getRelativeError(4096), 1e-13);
  EXPECT_EQ(SumRule::forSum(DType::F16).getRelativeError(4096),
            SumRule::forSum(DType::F32).getRelativeError(4096));
}

TEST(BoundedTest, ComparisonsAreOpenWhereIntervalsOverlap) {
  EXPECT_TRUE(isLess(1.0, 2.0).isExact());
  EXPECT_TRUE(isLess(Bounded(1, 0.4), Bounded(2, 0.4)).isExact());
  Bounded open = isLess(Bounded(1, 0.6), Bounded(2, 0.6));
  EXPECT_EQ(open.value, 1);
  EXPECT_EQ(open.error, 1);
  EXPECT_EQ(isNotEqual(kNaN, 1.0).value, 1);
  EXPECT_EQ(isEqual(kNaN, kNaN).value, 0);
  EXPECT_EQ(isUnordered(kNaN, Bounded(1, 1)).value, 1);
  EXPECT_TRUE(logicalAnd(open, 0.0).isExact());
  EXPECT_EQ(logicalAnd(open, 1.0).error, 1);
  EXPECT_EQ(logicalOr(open, 1.0).value, 1);
  EXPECT_TRUE(logicalOr(open, 1.0).isExact());
}

TEST(BoundedTest, SelectionsAreHulls) {
  Bounded chosen = select(openTruth(true), 3.0, 5.0);
  EXPECT_EQ(chosen.value, 3);
  EXPECT_TRUE(chosen.contains(5));
  EXPECT_TRUE(select(1.0, 3.0, 5.0).isExact());
  EXPECT_FALSE(select(openTruth(true), 3.0, kNaN).isKnown());
}

TEST(BoundedTest, IntegersAreOpenNearABoundary) {
  EXPECT_TRUE(toInteger(Bounded(2.5, 0.1), 32, true).isExact());
  Bounded open = toInteger(Bounded(2.95, 0.1), 32, true);
  EXPECT_EQ(open.value, 2);
  EXPECT_TRUE(open.contains(3));
  EXPECT_FALSE(toInteger(Bounded(1e10), 32, true).isKnown());
  EXPECT_FALSE(toInteger(kNaN, 32, true).isKnown());
  EXPECT_EQ(roundEven(Bounded(2.5)).value, 2);
  EXPECT_EQ(round(Bounded(2.5)).value, 3);
  EXPECT_EQ(round(Bounded(2.5, 0.01)).error, 1);
}

} // namespace
