//===- SmallFloat.h - Float formats and conversions -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the float formats of tensors and of PTX, and correctly
// rounded conversions between them, for the emulator and for tensors in host
// memory. The emulator builds its handlers once for each host instruction set:
// nothing here may be a function that the linker could share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_SMALLFLOAT_H
#define FUSION_LIB_RUNTIME_EMULATOR_SMALLFLOAT_H

#include <cstdint>

namespace fusionemu {

enum class Round : uint8_t { Nearest, Zero, Down, Up, NearestAway };

namespace {

template <typename To, typename From>
inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

/// The NaN that single-precision instructions return.
inline float canonicalNaN32() { return bitCast<float>(uint32_t(0x7fffffff)); }

/// Formats: bits of mantissa and exponent, and bits of numbers without a sign.
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
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_SMALLFLOAT_H
