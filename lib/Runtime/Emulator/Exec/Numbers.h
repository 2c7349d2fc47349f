//===- Numbers.h - Float formats and rounding -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the number formats of PTX and correctly rounded
// conversions between them. Like Lanes.h it is built once for each host
// instruction set.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_EXEC_NUMBERS_H
#define FUSION_LIB_RUNTIME_EMULATOR_EXEC_NUMBERS_H

#include "Exec/Lanes.h"

#include <type_traits>

namespace fusionemu {
namespace FUSIONEMU_ISA {
namespace {

/// The NaN that single-precision instructions return.
inline float canonicalNaN32() { return bitCast<float>(uint32_t(0x7fffffff)); }
/// Done on the bits: for a compiler one NaN is as good as another, and it may
/// drop a selection between two of them.
inline float canonical(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  bool nan = (bits & 0x7fffffff) > 0x7f800000;
  return bitCast<float>(nan ? uint32_t(0x7fffffff) : bits);
}
/// Double precision passes payloads on: see passNaN.
inline double canonical(double x) { return x; }

/// A double's NaN made quiet, or `otherwise` for a number. On the bits, as
/// above.
inline uint64_t quietNaN(double x, uint64_t otherwise) {
  uint64_t bits = bitCast<uint64_t>(x);
  bool nan = (bits & ~(uint64_t(1) << 63)) > uint64_t(0x7ff) << 52;
  return nan ? bits | uint64_t(1) << 51 : otherwise;
}
/// `result` of an operation on doubles; where it is NaN, the NaN that the
/// hardware returns: the last of `operands` that is one, quiet. For a sum or a
/// product that is the second operand; for a fused multiply-add the second,
/// then the third, then the first.
template <typename... Operands>
inline double passNaN(double result, Operands... operands) {
  uint64_t nan = uint64_t(0xfff8) << 48;
  ((nan = quietNaN(operands, nan)), ...);
  uint64_t bits = bitCast<uint64_t>(result);
  return bitCast<double>(quietNaN(result, 0) ? nan : bits);
}
/// Single precision has one NaN, which output() sees to.
template <typename... Operands>
inline float passNaN(float result, Operands...) {
  return result;
}

/// Replaces a subnormal by a zero of the same sign.
inline float flush(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  return bitCast<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
inline double flush(double x) { return x; }

/// Flushes a product or quotient that is tiny when rounded as if exponents had
/// no bound: one that would only round up to the smallest normal number among
/// the subnormals is flushed too. `scaled` is the result times 2^24.
template <bool ftz, typename T>
inline T flushTiny(T x, T scaled) {
  if constexpr (ftz && sizeof(T) == 4) {
    uint32_t bits = bitCast<uint32_t>(x);
    bool tiny = __builtin_fabsf(scaled) < 0x1p-102f;
    return bitCast<float>(tiny ? bits & 0x80000000 : bits);
  }
  return x;
}

template <bool ftz, typename T>
inline T input(T x) {
  return ftz ? flush(x) : x;
}
/// The result rules that every arithmetic instruction shares.
template <bool ftz, bool sat, typename T>
inline T output(T x) {
  if (sat) {
    x = x > T(0) ? x : T(0); // NaN saturates to zero.
    x = x < T(1) ? x : T(1);
  }
  if (ftz)
    x = flush(x);
  return canonical(x);
}

inline float fma(float a, float b, float d) { return __builtin_fmaf(a, b, d); }
inline double fma(double a, double b, double d) {
  return __builtin_fma(a, b, d);
}

/// The formats narrower than float.
struct Half {
  static constexpr unsigned mantissa = 10, exponent = 5;
  static constexpr uint32_t maxFinite = 0x7bff, infinity = 0x7c00, nan = 0x7fff;
};
struct BFloat {
  static constexpr unsigned mantissa = 7, exponent = 8;
  static constexpr uint32_t maxFinite = 0x7f7f, infinity = 0x7f80, nan = 0x7fff;
};
/// No infinity: what overflows is NaN, or the largest value when saturating.
struct E4M3Format {
  static constexpr unsigned mantissa = 3, exponent = 4;
  static constexpr uint32_t maxFinite = 0x7e, infinity = 0x7f, nan = 0x7f;
};
struct E5M2Format {
  static constexpr unsigned mantissa = 2, exponent = 5;
  static constexpr uint32_t maxFinite = 0x7b, infinity = 0x7c, nan = 0x7f;
};
struct TF32Format {
  static constexpr unsigned mantissa = 10, exponent = 8;
  static constexpr uint32_t maxFinite = 0x3fbff, infinity = 0x3fc00,
                            nan = 0x3ffff;
};
struct Float32Format {
  static constexpr unsigned mantissa = 23, exponent = 8;
  static constexpr uint32_t maxFinite = 0x7f7fffff, infinity = 0x7f800000,
                            nan = 0x7fffffff;
};

/// The bits of `x` in format F, rounded once. The sign lies above the rest.
template <typename F>
inline uint32_t encode(double x, Round round, bool satfinite) {
  constexpr unsigned width = 1 + F::exponent + F::mantissa;
  constexpr int bias = (1 << (F::exponent - 1)) - 1;
  constexpr int minExponent = 1 - bias;
  uint64_t bits = bitCast<uint64_t>(x);
  uint32_t negative = uint32_t(bits >> 63);
  uint32_t sign = negative << (width - 1);
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  if (magnitude > uint64_t(0x7ff) << 52)
    return F::nan;
  if (magnitude == uint64_t(0x7ff) << 52)
    return sign | (satfinite ? F::maxFinite : F::infinity);
  if (magnitude == 0)
    return sign;
  int exponent = int(magnitude >> 52) - 1023;
  uint64_t mantissa = magnitude & ((uint64_t(1) << 52) - 1);
  if (exponent == -1023)
    exponent = -1022;
  else
    mantissa |= uint64_t(1) << 52;
  int scale = exponent > minExponent ? exponent : minExponent;
  // Everything below the last kept bit; beyond 62 only stickiness counts.
  int shift = 52 - int(F::mantissa) + (scale - exponent);
  if (shift > 62) {
    mantissa = 1;
    shift = 62;
  }
  uint64_t kept = mantissa >> shift;
  uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  bool up = false;
  switch (round) {
  case Round::Nearest:
    up = rest > half || (rest == half && (kept & 1));
    break;
  case Round::NearestAway:
    up = rest >= half;
    break;
  case Round::Zero:
    break;
  case Round::Down:
    up = rest != 0 && negative;
    break;
  case Round::Up:
    up = rest != 0 && !negative;
    break;
  }
  uint64_t result =
      (uint64_t(scale + bias - 1) << F::mantissa) + kept + (up ? 1 : 0);
  if (result > F::maxFinite) {
    bool toInfinity = round == Round::Nearest || round == Round::NearestAway ||
                      (round == Round::Down && negative) ||
                      (round == Round::Up && !negative);
    return sign | (toInfinity && !satfinite ? F::infinity : F::maxFinite);
  }
  return sign | uint32_t(result);
}

inline float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16;
  uint32_t magnitude = h & 0x7fff;
  uint32_t normal = (magnitude << 13) + (112u << 23);
  normal = magnitude >= 0x7c00 ? normal + (112u << 23) : normal;
  uint32_t tiny = bitCast<uint32_t>(float(int32_t(magnitude)) * 0x1p-24f);
  return bitCast<float>(sign | (magnitude < 0x400 ? tiny : normal));
}

/// Round to nearest even, without branches so that lanes vectorise.
inline uint16_t floatToHalf(float f) {
  uint32_t bits = bitCast<uint32_t>(f);
  uint32_t magnitude = bits & 0x7fffffff;
  uint32_t shifted = magnitude - (112u << 23);
  uint32_t normal = (shifted + 0xfff + ((shifted >> 13) & 1)) >> 13;
  // Adding 0.5 leaves the multiple of 2^-24 in the low bits of the sum.
  uint32_t tiny =
      bitCast<uint32_t>(bitCast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000 ? tiny : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;
  result |= (bits >> 16) & 0x8000;
  return uint16_t(magnitude > 0x7f800000 ? 0x7fff : result);
}

inline float bfloatToFloat(uint16_t b) {
  return bitCast<float>(uint32_t(b) << 16);
}
inline uint16_t floatToBFloat(float f) {
  uint32_t bits = bitCast<uint32_t>(f);
  uint32_t result = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : result);
}

/// What the two 16-bit formats share, for templates.
struct HalfTraits : Half {
  static float decode(uint16_t x) { return halfToFloat(x); }
  static uint16_t encodeFloat(float x) { return floatToHalf(x); }
};
struct BFloatTraits : BFloat {
  static float decode(uint16_t x) { return bfloatToFloat(x); }
  static uint16_t encodeFloat(float x) { return floatToBFloat(x); }
};

/// a * b + d rounded to odd: rounding the result again to at most 51 bits
/// gives what one rounding would. The product must be exact in a double.
inline double fmaToOdd(double a, double b, double d) {
  double product = a * b;
  double sum = product + d;
  double back = sum - product;
  double error = (product - (sum - back)) + (d - back);
  uint64_t bits = bitCast<uint64_t>(sum);
  bool finite = (bits >> 52 & 0x7ff) != 0x7ff;
  if (finite && error != 0 && (bits & 1) == 0)
    bits += (error > 0) == (sum > 0) ? uint64_t(1) : ~uint64_t(0);
  return bitCast<double>(bits);
}

/// An 8-bit float widened; exact.
template <typename F>
inline float decodeSmall(uint8_t x) {
  constexpr int bias = (1 << (F::exponent - 1)) - 1;
  uint32_t magnitude = x & 0x7f;
  uint32_t sign = uint32_t(x & 0x80) << 24;
  if (magnitude > F::infinity || (F::infinity == F::nan && magnitude == F::nan))
    return canonicalNaN32();
  if (magnitude == F::infinity)
    return bitCast<float>(sign | 0x7f800000);
  uint32_t exponent = magnitude >> F::mantissa;
  uint32_t mantissa = magnitude & ((1u << F::mantissa) - 1);
  if (exponent == 0) {
    float scale =
        bitCast<float>(uint32_t(127 + 1 - bias - int(F::mantissa)) << 23);
    return bitCast<float>(bitCast<uint32_t>(float(int(mantissa)) * scale) |
                          sign);
  }
  return bitCast<float>(sign | ((exponent + 127 - bias) << 23) |
                        (mantissa << (23 - F::mantissa)));
}

} // namespace
} // namespace FUSIONEMU_ISA
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_EXEC_NUMBERS_H
