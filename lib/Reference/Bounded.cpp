//===- Bounded.cpp - A number and how far off it may be -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements real arithmetic on intervals around a value, sums and
// truth values. Roundings are in BoundedRounding.cpp.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Bounded.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;

static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// True where arithmetic on the values alone gives the result for certain:
/// both are exact, or one is NaN.
static bool isCertain(Bounded a, Bounded b) {
  return (a.isExact() && b.isExact()) || a.isNaN() || b.isNaN();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Bounded fusion::operator+(Bounded a, Bounded b) {
  double sum = a.value + b.value;
  if (isCertain(a, b))
    return sum;
  // Infinity swallows every finite number.
  if (std::isinf(sum) && a.isKnown() && b.isKnown())
    return std::isfinite(a.value) && std::isfinite(b.value)
               ? Bounded::unknown(sum)
               : Bounded(sum);
  return Bounded(sum, a.error + b.error);
}

Bounded fusion::operator-(Bounded a) {
  a.value = -a.value;
  return a;
}

Bounded fusion::operator-(Bounded a, Bounded b) { return a + -b; }

Bounded fusion::operator*(Bounded a, Bounded b) {
  double product = a.value * b.value;
  if (isCertain(a, b))
    return product;
  if (std::isinf(a.value) || std::isinf(b.value)) {
    Bounded other = std::isinf(a.value) ? b : a;
    bool isSure = a.isKnown() && b.isKnown() && !other.contains(0);
    return isSure ? Bounded(product) : Bounded::unknown(product);
  }
  return Bounded(product, std::fabs(a.value) * b.error +
                              std::fabs(b.value) * a.error + a.error * b.error);
}

Bounded fusion::operator/(Bounded a, Bounded b) {
  double quotient = a.value / b.value;
  if (isCertain(a, b))
    return quotient;
  if (!a.isKnown() || !b.isKnown() || b.contains(0))
    return Bounded::unknown(quotient);
  if (std::isinf(b.value))
    return quotient;
  if (std::isinf(a.value))
    return quotient;
  // a/b - v/w = (ea - (v/w) eb) / b, with b at its least.
  double least = std::fabs(b.value) - b.error;
  return Bounded(quotient, (a.error + std::fabs(quotient) * b.error) / least);
}

Bounded fusion::fma(Bounded a, Bounded b, Bounded c) {
  if (!a.isExact() || !b.isExact() || !c.isExact())
    return a * b + c;
  // The sum is rounded to f64 here: a tie may look like one and be none.
  double result = std::fma(a.value, b.value, c.value);
  return Bounded(result,
                 std::isfinite(result) ? std::fabs(result) * 0x1p-53 : 0);
}

Bounded fusion::remainder(Bounded a, Bounded b) {
  double rest = std::fmod(a.value, b.value);
  if (isCertain(a, b))
    return rest;
  if (!a.isKnown() || !b.isKnown() || !std::isfinite(rest))
    return Bounded::unknown(rest);
  // In one period of an exact divisor the remainder moves with the dividend.
  double quotient = std::trunc(a.value / b.value);
  if (b.isExact() && std::trunc(a.low() / b.value) == quotient &&
      std::trunc(a.high() / b.value) == quotient)
    return Bounded(rest, a.error);
  return Bounded(rest, std::fmax(2 * (std::fabs(b.value) + b.error), a.error));
}

Bounded fusion::abs(Bounded a) {
  a.value = std::fabs(a.value);
  return a;
}

Bounded fusion::copySign(Bounded magnitude, Bounded sign) {
  Bounded size = abs(magnitude);
  Bounded result = std::signbit(sign.value) ? -size : size;
  bool isSure = sign.isExact() || (sign.isKnown() && !sign.contains(0));
  return isSure ? result : either(result, -result);
}

/// `pick` is the smaller or the larger of two numbers.
template <typename Pick>
static Bounded pickOf(Bounded a, Bounded b, Pick pick) {
  if (!a.isKnown() || !b.isKnown())
    return Bounded::unknown(pick(a.value, b.value));
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) {
    // An infinity either wins for certain or loses for certain.
    double value = pick(a.value, b.value);
    return value == a.value ? a : b;
  }
  return Bounded::hull(pick(a.value, b.value), pick(a.low(), b.low()),
                       pick(a.high(), b.high()));
}

static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

Bounded fusion::minimum(Bounded a, Bounded b) {
  return a.isNaN() || b.isNaN() ? Bounded(kNaN) : pickOf(a, b, lesser);
}
Bounded fusion::maximum(Bounded a, Bounded b) {
  return a.isNaN() || b.isNaN() ? Bounded(kNaN) : pickOf(a, b, greater);
}
Bounded fusion::minimumNumber(Bounded a, Bounded b) {
  return a.isNaN() ? b : b.isNaN() ? a : pickOf(a, b, lesser);
}
Bounded fusion::maximumNumber(Bounded a, Bounded b) {
  return a.isNaN() ? b : b.isNaN() ? a : pickOf(a, b, greater);
}

/// A function that rises (or falls) everywhere: its ends bound it.
template <typename Fn>
static Bounded applyMonotone(Bounded x, Fn function) {
  double value = function(x.value);
  if (x.isExact())
    return value;
  if (!x.isKnown())
    return Bounded::unknown(value);
  double low = function(x.low()), high = function(x.high());
  if (!std::isfinite(low) || !std::isfinite(high))
    return Bounded::unknown(value);
  return Bounded(value,
                 std::fmax(std::fabs(high - value), std::fabs(value - low)));
}

Bounded fusion::floor(Bounded a) {
  return applyMonotone(a, [](double x) { return std::floor(x); });
}
Bounded fusion::ceil(Bounded a) {
  return applyMonotone(a, [](double x) { return std::ceil(x); });
}
Bounded fusion::truncate(Bounded a) {
  return applyMonotone(a, [](double x) { return std::trunc(x); });
}
Bounded fusion::round(Bounded a) {
  return applyMonotone(a, [](double x) { return std::round(x); });
}
Bounded fusion::roundEven(Bounded a) {
  return applyMonotone(a, [](double x) { return std::nearbyint(x); });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Sine or cosine: the slope is at most `slope` here and changes by no more
/// than the distance.
static Bounded applyWave(Bounded x, double value, double slope) {
  if (x.isExact())
    return value;
  if (!std::isfinite(value))
    return Bounded::unknown(value);
  double error = x.error * (std::fabs(slope) + x.error / 2);
  return Bounded(value,
                 std::fmin(std::fmin(error, x.error), 1 + std::fabs(value)));
}

static Bounded applyTan(Bounded x) {
  // No pole lies inside where the cosine keeps away from 0.
  if (!x.isExact() && !(std::fabs(std::cos(x.value)) > x.error))
    return Bounded::unknown(std::tan(x.value));
  return applyMonotone(x, [](double x) { return std::tan(x); });
}

static Bounded applyCosh(Bounded x) {
  // It rises on either side of 0.
  return applyMonotone(abs(x),
                       [](double x) { return x < 0 ? 1 : std::cosh(x); });
}

Bounded fusion::apply(Function function, Bounded x) {
  // NaN gives NaN, and an exact operand needs one evaluation.
  auto monotone = [&](double (*fn)(double)) { return applyMonotone(x, fn); };
  switch (function) {
  case Function::Exp:
    return monotone(std::exp);
  case Function::Exp2:
    return monotone(std::exp2);
  case Function::Expm1:
    return monotone(std::expm1);
  case Function::Log:
    return monotone(std::log);
  case Function::Log2:
    return monotone(std::log2);
  case Function::Log10:
    return monotone(std::log10);
  case Function::Log1p:
    return monotone(std::log1p);
  case Function::Sinh:
    return monotone(std::sinh);
  case Function::Cosh:
    return applyCosh(x);
  case Function::Tanh:
    return monotone(std::tanh);
  case Function::Asinh:
    return monotone(std::asinh);
  case Function::Acosh:
    return monotone(std::acosh);
  case Function::Atanh:
    return monotone(std::atanh);
  case Function::Sin:
    return applyWave(x, std::sin(x.value), std::cos(x.value));
  case Function::Cos:
    return applyWave(x, std::cos(x.value), std::sin(x.value));
  case Function::Tan:
    return applyTan(x);
  case Function::Asin:
    return monotone(std::asin);
  case Function::Acos:
    return monotone(std::acos);
  case Function::Atan:
    return monotone(std::atan);
  case Function::Erf:
    return monotone(std::erf);
  case Function::Erfc:
    return monotone(std::erfc);
  case Function::Sqrt:
    return monotone(std::sqrt);
  case Function::Rsqrt:
    return applyMonotone(x, [](double x) { return 1 / std::sqrt(x); });
  case Function::Cbrt:
    return monotone(std::cbrt);
  case Function::Pow:
  case Function::Atan2:
    break;
  }
  return Bounded::unknown();
}

/// A function of two operands that is monotone in each: its corners bound it.
template <typename Fn>
static Bounded applyCorners(Bounded x, Bounded y, Fn function) {
  double value = function(x.value, y.value);
  double low = value, high = value;
  for (double a : {x.low(), x.high()})
    for (double b : {y.low(), y.high()}) {
      double corner = function(a, b);
      if (!std::isfinite(corner))
        return Bounded::unknown(value);
      low = std::fmin(low, corner);
      high = std::fmax(high, corner);
    }
  return Bounded::hull(value, low, high);
}

Bounded fusion::pow(Bounded base, Bounded exponent) {
  auto power = [](double a, double b) { return std::pow(a, b); };
  double value = power(base.value, exponent.value);
  if (base.isExact() && exponent.isExact())
    return value;
  if (!base.isKnown() || !exponent.isKnown())
    return Bounded::unknown(value);
  if (base.low() > 0)
    return applyCorners(base, exponent, power);
  bool isInteger = exponent.isExact() &&
                   exponent.value == std::trunc(exponent.value) &&
                   exponent.value > 0;
  if (isInteger) {
    Bounded result = applyCorners(base, exponent, power);
    // An even power has its least value inside.
    return base.contains(0) ? either(result, either(result, Bounded(0)))
                            : result;
  }
  if (exponent.isExact() && exponent.value > 0 && base.low() >= 0)
    return applyCorners(base, exponent, power);
  return Bounded::unknown(value);
}

Bounded fusion::atan2(Bounded y, Bounded x) {
  auto angle = [](double a, double b) { return std::atan2(a, b); };
  double value = angle(y.value, x.value);
  if (y.isExact() && x.isExact())
    return value;
  // The angle jumps where the negative x axis is crossed.
  if (!y.isKnown() || !x.isKnown() || (y.contains(0) && x.low() <= 0))
    return Bounded::unknown(value);
  return applyCorners(y, x, angle);
}

//===----------------------------------------------------------------------===//
// Truth values and integers
//===----------------------------------------------------------------------===//

/// True when both are known and no number is in both intervals.
static bool isApart(Bounded a, Bounded b) {
  return a.isKnown() && b.isKnown() &&
         (a.high() < b.low() || b.high() < a.low());
}

Bounded fusion::isLess(Bounded a, Bounded b) {
  bool guess = a.value < b.value;
  return isCertain(a, b) || isApart(a, b) ? Bounded(guess) : openTruth(guess);
}
Bounded fusion::isLessOrEqual(Bounded a, Bounded b) {
  bool guess = a.value <= b.value;
  return isCertain(a, b) || isApart(a, b) ? Bounded(guess) : openTruth(guess);
}
Bounded fusion::isEqual(Bounded a, Bounded b) {
  bool guess = a.value == b.value;
  return isCertain(a, b) || isApart(a, b) ? Bounded(guess) : openTruth(guess);
}
Bounded fusion::isNotEqual(Bounded a, Bounded b) {
  return logicalNot(isEqual(a, b));
}
Bounded fusion::isUnordered(Bounded a, Bounded b) {
  bool guess = std::isnan(a.value) || std::isnan(b.value);
  bool isSure = a.isNaN() || b.isNaN() || (a.isKnown() && b.isKnown());
  return isSure ? Bounded(guess) : openTruth(guess);
}

static bool isCertainly(Bounded a, bool truth) {
  return a.isExact() && (a.value != 0) == truth;
}

Bounded fusion::logicalAnd(Bounded a, Bounded b) {
  if (isCertainly(a, false) || isCertainly(b, false))
    return 0.0;
  bool guess = a.value != 0 && b.value != 0;
  return a.isExact() && b.isExact() ? Bounded(guess) : openTruth(guess);
}
Bounded fusion::logicalOr(Bounded a, Bounded b) {
  return logicalNot(logicalAnd(logicalNot(a), logicalNot(b)));
}
Bounded fusion::logicalNot(Bounded a) {
  a.value = a.value == 0;
  return a;
}

Bounded fusion::either(Bounded a, Bounded b) {
  if (!a.isKnown() || !b.isKnown())
    return Bounded::unknown(a.value);
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) {
    bool isSame = a.value == b.value || (a.isNaN() && b.isNaN());
    return isSame ? a : Bounded::unknown(a.value);
  }
  return Bounded::hull(a.value, std::fmin(a.low(), b.low()),
                       std::fmax(a.high(), b.high()));
}

Bounded fusion::select(Bounded condition, Bounded a, Bounded b) {
  bool isTrue = condition.value != 0;
  if (condition.isExact())
    return isTrue ? a : b;
  return isTrue ? either(a, b) : either(b, a);
}

Bounded fusion::toInteger(Bounded x, unsigned bits, bool isSigned) {
  Bounded whole = truncate(x);
  double end = std::ldexp(1.0, static_cast<int>(bits - isSigned));
  double begin = isSigned ? -end : 0;
  bool fits = whole.isKnown() && std::isfinite(whole.value) &&
              whole.low() >= begin && whole.high() < end;
  return fits ? whole : Bounded::unknown(std::isnan(x.value) ? 0 : whole.value);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Roundings of a sum are independent of each other and add up like their
/// squares. This many times the root of the sum covers what millions of sums
/// show.
static constexpr double kIndependent = 4;

double SumRule::getUsualIndependent() {
  return isFastNumerics() ? kMovedRoundings : 1.5;
}

SumRule SumRule::forSum(DType format) {
  SumRule rule;
  // The reference's own sum may be off by as much as the program's.
  if (format == DType::F64)
    rule.unit = 2 * 0x1p-53;
  return rule;
}

SumRule SumRule::forProducts(DType factors, DType format, bool tf32) {
  SumRule rule = forSum(format);
  // Three products of tf32 for one of f32, or one (docs/Numerics.md).
  if (tf32)
    rule.product = 0x1p-10;
  else if (factors == DType::F32)
    rule.product = 0x1p-20;
  switch (factors) {
  case DType::F64:
    break;
  case DType::F32:
    rule.cutOff = 0x1p-23 / 8;
    rule.firstCutOff = 8 * 0x1p-23;
    break;
  case DType::F8E4M3:
  case DType::F8E5M2:
    rule.cutOff = 0x1p-13 / 32;
    rule.firstCutOff = 4 * 0x1p-13;
    break;
  default:
    rule.cutOff = 0x1p-23 / 8;
    rule.firstCutOff = 8 * 0x1p-23;
    break;
  }
  return rule;
}

double SumRule::getRelativeError(double count) const {
  return std::fmin(count, kIndependent * std::sqrt(count)) * unit + product +
         count * cutOff + firstCutOff;
}

Bounded BoundedSum::finish(double count, const SumRule &rule) const {
  if (!std::isfinite(sum))
    return error == 0 ? Bounded(sum) : Bounded::unknown(sum);
  if (count <= 0 || magnitude == 0)
    return Bounded(sum, error);
  // Independent errors, those that all values of one factor share, and those
  // that all terms share in proportion.
  double apart = rule.independent * std::sqrt(squares);
  apart = std::fmax(apart, std::fabs(shift));
  apart = std::fmax(apart, error * (std::fabs(sum) / magnitude));
  // A partial sum is hardly larger than the sum or than sums of random signs.
  double running = std::fmin(
      magnitude, std::fabs(sum) + kIndependent * magnitude / std::sqrt(count));
  double own = rule.getRelativeError(count) * running;
  return Bounded(sum, std::fmin(error, apart) + own);
}
