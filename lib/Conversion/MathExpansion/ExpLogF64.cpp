//===- ExpLogF64.cpp - Exponentials and logarithms in doubles ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the exponentials, logarithms and powers of the math
// expansion in f64.
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "Constants.h"
#include "KernelsF64.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::constants;

/// 2^n for the 64-bit integer n, -1022 <= n <= 1023.
static Num powerOfTwo(Num n) { return (n + n.i(1023)).shl(52).asFloat(); }

/// The integer in the low half of `magic + n`, as 64 bits with its sign.
static Num lowInteger(Num magicPlusN) {
  Num bits = magicPlusN.asInt();
  return bits.shl(32).sar(32);
}

/// p * 2^n for p near 1 and |n| <= 1100: in two steps, so that the last one
/// alone rounds into the subnormals or overflows.
static Num scaleByPower(Num p, Num n) {
  Num half = n.sar(1);
  return p * powerOfTwo(half) * powerOfTwo(n - half);
}

/// exp(r) - 1 for |r| <= ln(2)/2.
static Num expm1Reduced(Num r) {
  return fma(r * r, poly(r, coefficients::expm1F64), r);
}

Num mlir::fusion::expF64(Num x) {
  // Beyond these the result is 0 or infinite, and n stays within an integer.
  Num clamped = minNaN(maxNaN(x, x.c(-750.0)), x.c(720.0));
  Num shifted = fma(clamped, x.c(log2e), x.c(magicF64));
  Num n = shifted - x.c(magicF64);
  Num r = fma(n, x.c(-ln2F64Hi), clamped);
  r = fma(n, x.c(-ln2F64Lo), r);
  return scaleByPower(x.c(1.0) + expm1Reduced(r), lowInteger(shifted));
}

Num mlir::fusion::exp2F64(Num x) {
  Num clamped = minNaN(maxNaN(x, x.c(-1080.0)), x.c(1030.0));
  Num shifted = clamped + x.c(magicF64);
  Num f = clamped - (shifted - x.c(magicF64));
  Num r = fma(f, x.c(ln2F64Hi), f * x.c(ln2F64Lo));
  return scaleByPower(x.c(1.0) + expm1Reduced(r), lowInteger(shifted));
}

Num mlir::fusion::expm1F64(Num x) {
  Num clamped = minNaN(maxNaN(x, x.c(-50.0)), x.c(710.0));
  Num shifted = fma(clamped, x.c(log2e), x.c(magicF64));
  Num n = shifted - x.c(magicF64);
  Num r = fma(n, x.c(-ln2F64Hi), clamped);
  r = fma(n, x.c(-ln2F64Lo), r);
  Num p = expm1Reduced(r);
  // 2^n itself would overflow for n = 1024, half of it does not.
  Num integer = lowInteger(shifted);
  Num scale = powerOfTwo(integer - integer.i(1));
  Num half = fma(p, scale, scale - x.c(0.5));
  return copysign(half + half, x);
}

namespace {
/// x = 2^exponent * (1 + fraction), 1 + fraction in [1/sqrt 2, sqrt 2).
struct Split {
  Num exponent;
  Num fraction;
};
} // namespace

static Split splitF64(Num x) {
  Num subnormal = x < x.c(0x1p-1022);
  Num scaled = select(subnormal, x * x.c(0x1p54), x);
  Num bits = scaled.asInt();
  // The bits of 1/sqrt 2, below which a mantissa belongs to the power before.
  Num power = (bits - bits.i(0x3fe6a09e667f3bcd)) &
              bits.i(static_cast<int64_t>(0xfff0000000000000ull));
  Num exponent = power.sar(52).toFloat(x.element()) +
                 select(subnormal, x.c(-54.0), x.c(0.0));
  return {exponent, (bits - power).asFloat() - x.c(1.0)};
}

namespace {
/// log(1 + f) as 2 s + tail, s = f / (2 + f).
struct LogParts {
  Num s;
  Num tail;
};
} // namespace

static LogParts logParts(Num f) {
  Num s = f / (f + f.c(2.0));
  Num z = s * s;
  return {s, s * z * poly(z, coefficients::logF64)};
}

/// `result` where `x` is positive and finite; -inf for 0, NaN below it, and
/// infinity and NaN as they come.
static Num guardLogarithm(Num x, Num result) {
  Num special = select(x < x.c(0.0), x.nan(), x + x);
  special = select(x.eq(x.c(0.0)), -x.inf(), special);
  Num ordinary = (x > x.c(0.0)) & (x < x.inf());
  return select(ordinary, result, special);
}

Num mlir::fusion::logF64(Num x) {
  auto [exponent, f] = splitF64(x);
  auto [s, tail] = logParts(f);
  Num low = fma(exponent, x.c(ln2F64Lo), tail);
  return guardLogarithm(x, fma(exponent, x.c(ln2F64Hi), (s + s) + low));
}

Num mlir::fusion::log2F64(Num x) {
  auto [exponent, f] = splitF64(x);
  auto [s, tail] = logParts(f);
  Num log = (s + s) + tail;
  Num low = fma(log, x.c(log2e), log * x.c(log2eLo));
  return guardLogarithm(x, exponent + low);
}

Num mlir::fusion::log10F64(Num x) {
  auto [exponent, f] = splitF64(x);
  auto [s, tail] = logParts(f);
  Num log = (s + s) + tail;
  Num low = fma(log, x.c(log10e), exponent * x.c(log10of2Lo));
  return guardLogarithm(x, fma(exponent, x.c(log10of2), low));
}

Num mlir::fusion::log1pF64(Num x) {
  // log(1 + x) = log(u) + c / u with u = 1 + x rounded and c what was lost.
  Num one = x.c(1.0);
  Num u = one + x;
  Num back = u - one;
  Num lost = (one - (u - back)) + (x - back);
  Num result = logF64(u) + lost / u;
  // Nothing is lost of, or can be added to, the special values.
  Num ordinary = (u > x.c(0.0)) & (u < x.inf());
  result = select(ordinary, result, logF64(u));
  return select(u.eq(one), x, result);
}

namespace {
/// An unevaluated sum, the second part within half a unit of the first.
struct Pair {
  Num high;
  Num low;
};
} // namespace

static Pair fastTwoSum(Num large, Num small) {
  Num sum = large + small;
  return {sum, small - (sum - large)};
}

/// log(x) to about 2^-66 for finite x > 0.
static Pair logPair(Num x) {
  auto [exponent, f] = splitF64(x);
  // s = f / (2 + f) with the digits that the division and the sum lose.
  Num two = x.c(2.0);
  Num denominator = two + f;
  Num denominatorLow = f - (denominator - two);
  Num s = f / denominator;
  Num rest = fma(-s, denominator, f);
  Num sLow = fma(-s, denominatorLow, rest) / denominator;
  // s^3 with its rounding errors, for the term 2/3 s^3.
  Num z = s * s;
  Num zLow = fma(s, s, -z) + two * s * sLow;
  Num cube = s * z;
  Num cubeLow = fma(s, z, -cube) + fma(s, zLow, sLow * z);
  ArrayRef<double> tail(coefficients::logF64);
  Num third = x.c(tail.front());
  Num term = cube * third;
  Num termLow = fma(cube, third, -term) + cubeLow * third;
  Num rest5 = cube * z * poly(z, tail.drop_front());
  Pair sum = fastTwoSum(s + s, term);
  Num low = sum.low + (termLow + rest5 + (sLow + sLow));
  // exponent * ln(2): the high product is not exact, so its error goes along.
  Num product = exponent * x.c(ln2F64Hi);
  Num productLow =
      fma(exponent, x.c(ln2F64Lo), fma(exponent, x.c(ln2F64Hi), -product));
  // With an exponent the product is the larger; without, it is 0.
  Num large = select(exponent.eq(x.c(0.0)), sum.high, product);
  Num small = select(exponent.eq(x.c(0.0)), product, sum.high);
  Pair total = fastTwoSum(large, small);
  return fastTwoSum(total.high, total.low + (low + productLow));
}

Num mlir::fusion::powPositiveF64(Num x, Num y) {
  Pair log = logPair(x);
  Num product = y * log.high;
  Num productLow = fma(y, log.low, fma(y, log.high, -product));
  // Where the power overflows or vanishes the low part may be NaN, or make it.
  Num power = expF64(product);
  Num tame = (fabs(product) < x.c(800.0)) & (power < x.inf());
  return select(tame, fma(power, productLow, power), power);
}
