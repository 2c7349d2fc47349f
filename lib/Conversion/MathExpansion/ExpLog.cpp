//===- ExpLog.cpp - Exponentials and logarithms -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the exponentials and logarithms of the math expansion in
// f32, and hands f64 to ExpLogF64.cpp.
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "Constants.h"
#include "Kernels.h"
#include "KernelsF64.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::constants;

/// 2^n for an n that `magic + n` holds in its low bits, with n + `bias` within
/// the exponents of normal numbers.
static Num powerOfTwo(Num magicPlusN, int64_t bias) {
  Num bits = magicPlusN.asInt();
  return (bits.shl(23) + bits.i((bias + 127) << 23)).asFloat();
}

Num mlir::fusion::expKernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return expF64(x);
  if (options.fast || options.roundedToHalf)
    return ex2ApproxFtz(x * x.c(log2e));
  // exp(x) = 2^hi * (1 + c) with hi near x log2(e) and c = x - hi ln(2). The
  // multiplier is below log2(e) by more than a rounding, so that c is positive
  // wherever 2^hi overflows and inf + inf * c stays inf. c is NaN for infinite
  // x alone, where the minimum, which prefers numbers, makes it harmless.
  Num hi = x * x.c(0x1.715474p+0);
  Num c = fma(hi, x.c(-ln2F32Hi), x);
  c = fma(hi, x.c(-ln2F32Lo), c);
  c = minNum(c, x.c(1.0));
  Num power = ex2ApproxFtz(hi);
  return fma(power, c, power);
}

Num mlir::fusion::exp2Kernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return exp2F64(x);
  return options.fast ? ex2ApproxFtz(x) : ex2Approx(x);
}

Num mlir::fusion::expm1Kernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return expm1F64(x);
  // Below -30 the result is -1 and above 89 it overflows; in between 2^n is a
  // normal number.
  Num clamped = minNaN(maxNaN(x, x.c(-30.0)), x.c(89.0));
  Num shifted = fma(clamped, x.c(log2e), x.c(magicF32));
  Num n = shifted - x.c(magicF32);
  Num r = fma(n, x.c(-ln2F32Hi), clamped);
  r = fma(n, x.c(-ln2F32Lo), r);
  Num p = fma(r * r, poly(r, coefficients::expm1F32), r);
  // 2^n itself would overflow for n = 128, half of it does not.
  Num scale = powerOfTwo(shifted, -1);
  Num half = fma(p, scale, scale - x.c(0.5));
  return copysign(half + half, x);
}

namespace {
/// x = 2^exponent * (1 + fraction) with the fraction in [-1/3, 1/3].
struct Split {
  Num exponent;
  Num fraction;
};
} // namespace

/// The bits of 2/3, at which mantissas change sides.
static constexpr int64_t twoThirdsBits = 0x3f2aaaab;

static Split splitF32(Num x) {
  Num subnormal = x < x.c(0x1p-126);
  Num scaled = select(subnormal, x * x.c(0x1p23), x);
  Num bits = scaled.asInt();
  Num power = (bits - bits.i(twoThirdsBits)) & bits.i(0xff800000);
  Num exponent = fma(power.toFloat(x.element()), x.c(0x1p-23),
                     select(subnormal, x.c(-23.0), x.c(0.0)));
  return {exponent, (bits - power).asFloat() - x.c(1.0)};
}

/// log(1 + f) for |f| <= 1/3.
static Num logNearOne(Num f) {
  return fma(f * f, poly(f, coefficients::logF32), f);
}

/// `result` where `x` is positive and finite; else what the hardware's
/// logarithm gives, which is right for 0, infinities, NaN and below 0.
static Num guardLogarithm(Num x, Num result) {
  Num bits = x.asInt();
  Num ordinary =
      (bits - bits.i(1)).icmp(arith::CmpIPredicate::ult, bits.i(0x7f7fffff));
  return select(ordinary, result, lg2Approx(x));
}

Num mlir::fusion::logKernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return logF64(x);
  if (options.fast)
    return lg2Approx(x) * x.c(ln2F64Hi);
  Split split = splitF32(x);
  return guardLogarithm(
      x, fma(split.exponent, x.c(ln2F64Hi), logNearOne(split.fraction)));
}

Num mlir::fusion::log2Kernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return log2F64(x);
  if (options.fast)
    return lg2Approx(x);
  Split split = splitF32(x);
  return guardLogarithm(
      x, fma(logNearOne(split.fraction), x.c(log2e), split.exponent));
}

Num mlir::fusion::log10Kernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return log10F64(x);
  if (options.fast)
    return lg2Approx(x) * x.c(log10of2);
  Split split = splitF32(x);
  // The two terms cancel by half near 4/3, so log10(2) comes in two parts.
  Num small = fma(logNearOne(split.fraction), x.c(log10e),
                  split.exponent * x.c(log10of2F32Lo));
  return guardLogarithm(x, fma(split.exponent, x.c(log10of2F32Hi), small));
}

Num mlir::fusion::log1pKernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return log1pF64(x);
  // The exponent comes from the rounded 1 + x, the fraction from x itself:
  // (1 + x) / 2^e - 1 = x / 2^e + (1 / 2^e - 1). The reciprocal power is formed
  // four times too large, where it is always a normal number.
  Num u = x + x.c(1.0);
  Num uBits = u.asInt();
  Num power = (uBits - uBits.i(twoThirdsBits)) & uBits.i(0xff800000);
  Num scaled = (x.asInt() - power).asFloat();
  Num reciprocal = (uBits.i(0x40800000) - power).asFloat();
  Num f = scaled + fma(reciprocal, x.c(0.25), x.c(-1.0));
  Num exponent = power.toFloat(x.element()) * x.c(0x1p-23);
  Num result = fma(exponent, x.c(ln2F64Hi), logNearOne(f));
  return guardLogarithm(u, copysign(result, x));
}

/// (log(1 + x) / x - 1) / x.
static Num fractionTail(Num x, const KernelOptions &options) {
  return options.fast ? poly(x, coefficients::log1pOfFractionFast)
                      : poly(x, coefficients::log1pOfFractionF32);
}

Num mlir::fusion::log1pOfFractionKernel(Num x, const KernelOptions &options) {
  // 0 stays 0, of which nothing is divided, and NaN NaN.
  return fma(x * x, fractionTail(x, options), x);
}

Num mlir::fusion::addLog1pOfFraction(Num x, bool negated, Num other,
                                     const KernelOptions &options) {
  Num slope = fma(x, fractionTail(x, options), x.c(1.0));
  return fma(negated ? -x : x, slope, other);
}
