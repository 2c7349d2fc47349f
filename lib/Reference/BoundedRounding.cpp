//===- BoundedRounding.cpp - Roundings of bounded numbers -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the roundings that programs declare, and the accuracy
// of functions that docs/Numerics.md promises: this is its only other place.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Bounded.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {
struct Format {
  int precision;   // bits of the mantissa, with the hidden one
  int minExponent; // of the least normal number
  double largest;
  bool hasInfinity;
};
} // namespace

static const Format &getFormat(DType dtype) {
  static const Format f64{53, -1022, std::numeric_limits<double>::max(), true};
  static const Format f32{24, -126, std::numeric_limits<float>::max(), true};
  static const Format bf16{8, -126, 0x1.fep127, true};
  static const Format f16{11, -14, 65504, true};
  static const Format e4m3{4, -6, 448, false};
  static const Format e5m2{3, -14, 57344, true};
  switch (dtype) {
  case DType::F32:
    return f32;
  case DType::BF16:
    return bf16;
  case DType::F16:
    return f16;
  case DType::F8E4M3:
    return e4m3;
  case DType::F8E5M2:
    return e5m2;
  default:
    return f64;
  }
}

/// 2^exponent, for exponents of normal numbers.
static double exp2i(int exponent) {
  uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof(power));
  return power;
}

/// The exponent of a finite number; small ones have that of the least normal.
static int getExponent(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return static_cast<int>(bits >> 52 & 0x7ff) - 1023;
}

static double getUlp(double x, const Format &format) {
  int exponent = std::max(getExponent(x), format.minExponent);
  int last = exponent - format.precision + 1;
  return last < -1022 ? std::ldexp(1.0, last) : exp2i(last);
}

double fusion::getUlp(double x, DType format) {
  return ::getUlp(x, getFormat(format));
}

/// The number of `format` nearest to `x`, ties to even.
static double roundNumber(double x, const Format &format) {
  if (format.precision == 53 || !std::isfinite(x))
    return !format.hasInfinity && std::isinf(x) ? kNaN : x;
  double ulp = ::getUlp(x, format);
  // At most 2^24 units: adding 1.5 2^52 rounds to whole ones.
  double rounded = (x / ulp + 0x1.8p52 - 0x1.8p52) * ulp;
  if (std::fabs(rounded) > format.largest)
    return format.hasInfinity ? std::copysign(kInfinity, x) : kNaN;
  return std::copysign(rounded, x);
}

//===----------------------------------------------------------------------===//
// Roundings
//===----------------------------------------------------------------------===//

static thread_local bool fastNumerics = false;

NumericsScope::NumericsScope(bool fast) : outer(fastNumerics) {
  fastNumerics = fast;
}
NumericsScope::~NumericsScope() { fastNumerics = outer; }
bool fusion::isFastNumerics() { return fastNumerics; }

/// What rounds to `low` and to `high`, of which one is beyond the largest
/// number: everything up to that, and what lies behind it.
static Bounded reachOverflow(double value, double low, double high,
                             const Format &format) {
  if (!format.hasInfinity)
    return Bounded::unknown(value);
  // Compared results may be infinite where the interval goes beyond the
  // largest number.
  double beyond = format.largest + ::getUlp(format.largest, format);
  double bottom = std::isinf(low) ? -beyond : low;
  double top = std::isinf(high) ? beyond : high;
  double middle = std::fmin(std::fmax(value, -format.largest), format.largest);
  return Bounded::hull(middle, bottom, top);
}

Bounded fusion::roundTo(Bounded x, DType dtype, bool mayDrop) {
  const Format &format = getFormat(dtype);
  if (format.precision == 53) {
    // The reference itself computes in f64.
    double ulp = x.isExact() ? 0 : ::getUlp(x.value, format);
    return Bounded(x.value, x.error + ulp);
  }
  double value = roundNumber(x.value, format);
  mayDrop |= fastNumerics;
  if (!x.isKnown())
    return Bounded::unknown(value);
  if (!std::isfinite(x.value))
    return value;
  double low = x.isExact() ? value : roundNumber(x.low(), format);
  double high = x.isExact() ? value : roundNumber(x.high(), format);
  if (!std::isfinite(low) || !std::isfinite(high)) {
    bool isSure = !std::isfinite(value) && !std::isfinite(low) &&
                  !std::isfinite(high) && x.contains(0) == false;
    return isSure ? Bounded(value) : reachOverflow(x.value, low, high, format);
  }
  if (mayDrop)
    return Bounded::hull(x.value, std::fmin(low, x.low()),
                         std::fmax(high, x.high()));
  return Bounded::hull(value, low, high);
}

Bounded fusion::roundScaled(Bounded x, DType format) {
  if (x.value == 0 || !std::isfinite(x.value) || !x.isKnown())
    return roundTo(x, format);
  double unit = getUlp(1, format) / 2, least = getUlp(0, format) / 2;
  return Bounded(x.value,
                 x.error + std::fmax(std::fabs(x.value) * unit, least));
}

Bounded fusion::withUlps(Bounded x, DType format, double ulps) {
  if (!std::isfinite(x.value) || !x.isKnown())
    return roundTo(x, format);
  double reach = std::fabs(x.value) + x.error;
  double more = format == DType::F64 ? 1 + ulps : ulps - 0.5;
  if (more > 0)
    x = Bounded(x.value, x.error + more * fusion::getUlp(reach, format));
  return roundTo(x, format);
}

Bounded fusion::withRelativeError(Bounded x, double relative) {
  if (!std::isfinite(x.value) || !x.isKnown())
    return x;
  return Bounded(x.value, x.error + relative * (std::fabs(x.value) + x.error));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// The accuracy of one function, in units in the last place: the columns
/// "worst" of f32 and f64 of docs/Numerics.md. In fast mode, of f32: relative
/// and absolute errors, 0 where the precise code is used.
struct Accuracy {
  double f32, f64;
  double fastRelative = 0, fastAbsolute = 0;
};
} // namespace

static Accuracy getAccuracy(Function function) {
  switch (function) {
  case Function::Exp:
    return {5.5, 1.1, 0x1p-16};
  case Function::Exp2:
    return {5.1, 1.1, 0x1p-21};
  case Function::Expm1:
    return {1.5, 2};
  case Function::Log:
    return {1, 1.2, 0x1p-21, 0x1p-22};
  case Function::Log2:
    return {2, 2, 0x1p-21, 0x1p-22};
  case Function::Log10:
    return {2.5, 2.5, 0x1p-21, 0x1p-22};
  case Function::Log1p:
    return {1.7, 2.7};
  case Function::Sinh:
    return {0.501, 3};
  case Function::Cosh:
    return {0.501, 3};
  case Function::Tanh:
    return {2.5, 3, 0x1p-10};
  case Function::Asinh:
    return {0.501, 3.2};
  case Function::Acosh:
    return {0.501, 3};
  case Function::Atanh:
    return {0.501, 3};
  case Function::Sin:
  case Function::Cos:
    return {1.6, 2.2, 0, 0x1p-19};
  case Function::Tan:
    return {3.2, 3.5, 0x1p-17, 0x1p-18};
  case Function::Asin:
    return {0.501, 1.8};
  case Function::Acos:
    return {0.501, 1.5};
  case Function::Atan:
    return {2.4, 1.7};
  case Function::Erf:
    return {2.2, 1.2};
  case Function::Erfc:
    return {0.501, 4};
  case Function::Sqrt:
    return {0.5, 0.5, 0x1p-22};
  case Function::Rsqrt:
    // A power of -1/2 may become it; both are within this.
    return {2.7, 1.6};
  case Function::Cbrt:
    return {0.501, 1};
  case Function::Pow:
    return {2.7, 2, 0x1p-20};
  case Function::Atan2:
    return {0.51, 2};
  }
  return {0, 0};
}

double fusion::getUlps(Function function, DType format) {
  Accuracy accuracy = getAccuracy(function);
  if (format == DType::F64)
    return accuracy.f64;
  return format == DType::F32 ? accuracy.f32 : 0.51;
}

/// `y`, the true value at `x`, as fast code evaluates it, before the rounding.
static Bounded approximate(Function function, Bounded y, double x) {
  Accuracy accuracy = getAccuracy(function);
  if (!std::isfinite(y.value) || !y.isKnown())
    return y;
  double absolute = accuracy.fastAbsolute;
  // Nothing is promised for angles beyond a turn; the reduction is that of f32.
  if (absolute > 0 && (function == Function::Sin || function == Function::Cos ||
                       function == Function::Tan))
    absolute *= std::fmax(1, std::fabs(x));
  double relative = accuracy.fastRelative;
  if (function == Function::Pow)
    relative *= 1 + std::fabs(std::log2(std::fabs(y.value) + 1e-300));
  y = withRelativeError(y, relative);
  return Bounded(y.value, y.error + absolute);
}

/// Results of `exp` below the least normal number may be 0.
static Bounded flushSmall(Bounded y, DType format) {
  bool hasFlush = format == DType::F32 || format == DType::BF16;
  if (!hasFlush || !y.isKnown() || !(y.low() < 0x1p-126))
    return y;
  return Bounded(y.value, std::fmax(y.error, y.value));
}

static Bounded finish(Function function, Bounded y, double x, DType format,
                      bool afn) {
  afn |= fastNumerics;
  if (afn && format != DType::F64)
    y = approximate(function, y, x);
  y = withUlps(y, format, getUlps(function, format));
  bool isExp = function == Function::Exp || function == Function::Exp2;
  return isExp ? flushSmall(y, format) : y;
}

Bounded fusion::evaluate(Function function, Bounded x, DType format, bool afn) {
  return finish(function, apply(function, x), x.value, format, afn);
}

Bounded fusion::evaluate(Function function, Bounded x, Bounded y, DType format,
                         bool afn) {
  Bounded result = function == Function::Pow ? pow(x, y) : atan2(x, y);
  return finish(function, result, x.value, format, afn);
}

Bounded fusion::divide(Bounded a, Bounded b, DType format, bool afn) {
  Bounded quotient = a / b;
  bool isFast = (afn || fastNumerics) && format != DType::F64;
  if (!isFast)
    return roundTo(quotient, format);
  return withUlps(withRelativeError(quotient, 0x1p-22), format, 0.5);
}
