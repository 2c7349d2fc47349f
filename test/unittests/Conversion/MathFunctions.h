//===- MathFunctions.h - Functions and their error bounds -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the functions of one operand that tests measure, with the
// bounds that docs/Numerics.md states.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_CONVERSION_MATHFUNCTIONS_H
#define FUSION_TEST_UNITTESTS_CONVERSION_MATHFUNCTIONS_H

#include <algorithm>
#include <cmath>
#include <limits>

using Reference = long double (*)(long double);

/// A function of one operand and the errors it may have.
struct Function {
  const char *name;
  Reference reference;
  /// Bounds in units of the last place: f32 with exact and with the worst
  /// approximate instructions, f64.
  double f32, f32Worst, f64;
  /// f32 results below the normal numbers may be 0.
  bool flushes = false;
};

inline long double rsqrtReference(long double x) { return 1 / sqrtl(x); }

inline const Function functions[] = {
    {"exp", expl, 1.1, 5.5, 1.1, true},
    {"exp2", exp2l, 0.501, 5.1, 1.1},
    {"expm1", expm1l, 1.5, 1.5, 2},
    {"log", logl, 1, 1, 1.2},
    {"log2", log2l, 2, 2, 2},
    {"log10", log10l, 2.5, 2.5, 2.5},
    {"log1p", log1pl, 1.7, 1.7, 2.7},
    {"sinh", sinhl, 0.501, 0.501, 3},
    {"cosh", coshl, 0.501, 0.501, 3},
    {"tanh", tanhl, 1.6, 2.5, 3},
    {"asinh", asinhl, 0.501, 0.501, 3.2},
    {"acosh", acoshl, 0.501, 0.501, 3},
    {"atanh", atanhl, 0.501, 0.501, 3},
    {"sin", sinl, 1.6, 1.6, 2.2},
    {"cos", cosl, 1.6, 1.6, 2.2},
    {"tan", tanl, 3.2, 3.2, 3.5},
    {"asin", asinl, 0.501, 0.501, 1.8},
    {"acos", acosl, 0.501, 0.501, 1.5},
    {"atan", atanl, 1.4, 2.4, 1.7},
    {"erf", erfl, 1.1, 2.2, 1.2},
    {"erfc", erfcl, 0.501, 0.501, 4},
    {"sqrt", sqrtl, 0.5, 0.5, 0.5},
    {"rsqrt", rsqrtReference, 0.501, 2.7, 1.6},
    {"cbrt", cbrtl, 0.501, 0.501, 1},
};

/// The error of `got` in units of the last place of T at `reference`.
template <typename T>
double ulps(T got, long double reference, bool flushes) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(reference) || std::isnan(got))
    return std::isnan(reference) == std::isnan(got) ? 0 : INFINITY;
  if (static_cast<T>(reference) == got && std::isinf(got))
    return 0;
  if (flushes && got == 0 && fabsl(reference) < Limits::min())
    return 0;
  // One past the largest number is where an infinity stands.
  long double value = got, wanted = reference;
  long double top = std::ldexp(1.0L, Limits::max_exponent);
  if (std::isinf(got))
    value = std::copysign(top, (long double)got);
  if (fabsl(wanted) > top)
    wanted = std::copysign(top, wanted);
  int exponent =
      std::max(wanted == 0 ? Limits::min_exponent - 1 : ilogbl(wanted),
               Limits::min_exponent - 1);
  return static_cast<double>(fabsl(value - wanted) /
                             std::ldexp(1.0L, exponent - (Limits::digits - 1)));
}

#endif // FUSION_TEST_UNITTESTS_CONVERSION_MATHFUNCTIONS_H
