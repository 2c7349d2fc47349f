//===- Function.cpp - Approximate functions -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the .approx instructions. Each is computed in double
// precision and rounded once, which is inside every bound that the PTX ISA
// publishes.
//
//===----------------------------------------------------------------------===//

#include "Exec/Numbers.h"

#include <cmath>

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// 2^x in double precision to about 1e-11 relative, for the range where the
/// result matters to a float; branch-free so that lanes vectorise.
inline double exp2Wide(double x) {
  x = x < -1020 ? -1020 : x;
  x = x > 1020 ? 1020 : x;
  // The sum's low mantissa bits hold x rounded to an integer.
  constexpr double magic = 0x1.8p52;
  double shifted = x + magic;
  double whole = shifted - magic;
  double f = (x - whole) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 3628800;
  p = p * f + 1.0 / 362880;
  p = p * f + 1.0 / 40320;
  p = p * f + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  uint64_t exponent = (bitCast<uint64_t>(shifted) + 1023) << 52;
  return p * bitCast<double>(exponent);
}
/// log2 of a positive finite normal double, to about 1e-12 absolute.
inline double log2Wide(double x) {
  uint64_t bits = bitCast<uint64_t>(x);
  // Brings the mantissa to [sqrt(1/2), sqrt(2)).
  uint64_t offset = bits - 0x3fe6a09e667f3bcdull;
  int32_t exponent = int32_t(int64_t(offset) >> 52);
  double m = bitCast<double>(bits - (offset & (~uint64_t(0) << 52)));
  double s = (m - 1) / (m + 1), z = s * s;
  double p = 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z + 1.0;
  return double(exponent) + 2.885390081777926815 * s * p;
}

inline float ex2(float x) {
  float r = float(exp2Wide(double(x)));
  // Clamping loses NaN.
  return x != x ? x : r;
}
inline float lg2(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  float r = float(log2Wide(x));
  float special = bits == 0x7f800000 ? x : canonicalNaN32();
  special = (bits & 0x7fffffff) == 0 ? -__builtin_inff() : special;
  return x > 0 && bits < 0x7f800000 ? r : special;
}
inline float tanhOf(float x) {
  double t = exp2Wide(2.885390081777926815 * double(x));
  float r = float(1.0 - 2.0 / (t + 1.0));
  // Cancellation would leave nothing of a small argument.
  bool small = __builtin_fabsf(x) < 0x1p-12f;
  return small || x != x ? x : r;
}
inline float rsqrtOf(float x) { return float(1.0 / __builtin_sqrt(double(x))); }
inline float sinOf(float x) { return float(std::sin(double(x))); }
inline float cosOf(float x) { return float(std::cos(double(x))); }
inline float rcpOf(float x) { return 1.0f / x; }
/// PTX: a / b is 0 for huge divisors, NaN when a is infinite as well.
inline float divApprox(float a, float b) {
  float magnitude = __builtin_fabsf(b);
  float r = a / b;
  bool huge = magnitude > 0x1p126f && magnitude < __builtin_inff();
  float zero = bitCast<float>((bitCast<uint32_t>(a) ^ bitCast<uint32_t>(b)) &
                              0x80000000);
  float hugeResult =
      __builtin_fabsf(a) < __builtin_inff() ? zero : canonicalNaN32();
  return huge ? hugeResult : r;
}

template <float (*f)(float), bool ftz>
Next function(Context &c, const Instruction &I) {
  return unary<float, float>(
      c, I, [](float a) { return output<ftz, false>(f(input<ftz>(a))); });
}
template <bool ftz>
Next divide(Context &c, const Instruction &I) {
  return binary<float, float, float>(c, I, [](float a, float b) {
    return output<ftz, false>(divApprox(input<ftz>(a), input<ftz>(b)));
  });
}

template <typename F, float (*f)(float)>
Next half(Context &c, const Instruction &I) {
  return unary<uint16_t, uint16_t>(
      c, I, [](uint16_t a) { return F::encodeFloat(f(F::decode(a))); });
}
template <typename F, float (*f)(float)>
Next half2(Context &c, const Instruction &I) {
  return unary<uint16_t, uint16_t, 2>(
      c, I, [](uint16_t a) { return F::encodeFloat(f(F::decode(a))); });
}

// The .ftz.f64 approximations return 20 bits of mantissa and no subnormals.
inline double truncate20(double x) {
  if (!(__builtin_fabs(x) >= 0x1p-1022))
    return x != x ? bitCast<double>(uint64_t(0x7fffffff00000000))
                  : __builtin_copysign(0.0, x);
  return bitCast<double>(bitCast<uint64_t>(x) & 0xffffffff00000000);
}
inline double flushDouble(double x) {
  return __builtin_fabs(x) < 0x1p-1022 ? __builtin_copysign(0.0, x) : x;
}
Next rcpDouble(Context &c, const Instruction &I) {
  return unary<double, double>(
      c, I, [](double a) { return truncate20(1.0 / flushDouble(a)); });
}
Next rsqrtDouble(Context &c, const Instruction &I) {
  return unary<double, double>(
      c, I, [](double a) { return 1.0 / __builtin_sqrt(a); });
}
Next rsqrtDoubleFlush(Context &c, const Instruction &I) {
  return unary<double, double>(c, I, [](double a) {
    return truncate20(1.0 / __builtin_sqrt(flushDouble(a)));
  });
}
} // namespace

template <float (*f)(float)>
static Handler pick(Type type, FloatMode mode) {
  switch (type) {
  case Type::F32:
    return mode.ftz ? function<f, true> : function<f, false>;
  case Type::F16:
    return half<HalfTraits, f>;
  case Type::BF16:
    return half<BFloatTraits, f>;
  case Type::F16x2:
    return half2<HalfTraits, f>;
  case Type::BF16x2:
    return half2<BFloatTraits, f>;
  default:
    return nullptr;
  }
}

Handler findFunction(Op op, Type type, FloatMode mode) {
  if (type == Type::F64) {
    if (op == Op::Rcp)
      return rcpDouble;
    if (op == Op::Rsqrt)
      return mode.ftz ? rsqrtDoubleFlush : rsqrtDouble;
    return nullptr;
  }
  switch (op) {
  case Op::Ex2:
    return pick<ex2>(type, mode);
  case Op::Tanh:
    return pick<tanhOf>(type, mode);
  default:
    break;
  }
  if (type != Type::F32)
    return nullptr;
  switch (op) {
  case Op::Lg2:
    return pick<lg2>(type, mode);
  case Op::Rsqrt:
    return pick<rsqrtOf>(type, mode);
  case Op::Sin:
    return pick<sinOf>(type, mode);
  case Op::Cos:
    return pick<cosOf>(type, mode);
  case Op::Rcp:
    return pick<rcpOf>(type, mode);
  case Op::Div:
    return mode.ftz ? divide<true> : divide<false>;
  default:
    return nullptr;
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
