//===- Numbers.h - Rules that float instructions share -----------*- C++
//-*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how instructions of PTX treat numbers: NaN, subnormals,
// saturation. Like Lanes.h it is built once for each host instruction set.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_EXEC_NUMBERS_H
#define FUSION_LIB_RUNTIME_EMULATOR_EXEC_NUMBERS_H

#include "Exec/Lanes.h"

#include <type_traits>

namespace fusionemu {
namespace FUSIONEMU_ISA {
namespace {

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

} // namespace
} // namespace FUSIONEMU_ISA
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_EXEC_NUMBERS_H
