//===- Float.cpp - Single and double arithmetic ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements float arithmetic that rounds to nearest.
//
//===----------------------------------------------------------------------===//

#include "Exec/Numbers.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
template <typename T, bool ftz, bool sat, unsigned pack>
Next add(Context &c, const Instruction &I) {
  return binary<T, T, T, pack>(c, I, [](T a, T b) {
    return output<ftz, sat>(passNaN(input<ftz>(a) + input<ftz>(b), a, b));
  });
}
template <typename T, bool ftz, bool sat, unsigned pack>
Next sub(Context &c, const Instruction &I) {
  return binary<T, T, T, pack>(c, I, [](T a, T b) {
    return output<ftz, sat>(passNaN(input<ftz>(a) - input<ftz>(b), a, b));
  });
}
template <typename T, bool ftz, bool sat, unsigned pack>
Next mul(Context &c, const Instruction &I) {
  return binary<T, T, T, pack>(c, I, [](T a, T b) {
    T x = input<ftz>(a), y = input<ftz>(b);
    T product = flushTiny<ftz>(x * y, ftz ? x * T(0x1p24) * y : x);
    return output<ftz, sat>(passNaN(product, a, b));
  });
}
template <typename T, bool ftz, bool sat, unsigned pack>
Next fused(Context &c, const Instruction &I) {
  return ternary<T, T, T, T, pack>(c, I, [](T a, T b, T d) {
    T x = input<ftz>(a), y = input<ftz>(b), z = input<ftz>(d);
    T sum = flushTiny<ftz>(fma(x, y, z),
                           ftz ? fma(x * T(0x1p24), y, z * T(0x1p24)) : x);
    return output<ftz, sat>(passNaN(sum, a, d, b));
  });
}
template <typename T, bool ftz, bool, unsigned>
Next divide(Context &c, const Instruction &I) {
  return binary<T, T, T>(c, I, [](T a, T b) {
    T x = input<ftz>(a), y = input<ftz>(b);
    T quotient = flushTiny<ftz>(x / y, ftz ? x * T(0x1p24) / y : x);
    // A division is a sequence of instructions, which looks at `a` last.
    return output<ftz, false>(passNaN(quotient, b, a));
  });
}
template <typename T, bool ftz, bool, unsigned>
Next reciprocal(Context &c, const Instruction &I) {
  return unary<T, T>(c, I, [](T a) {
    T y = input<ftz>(a);
    T quotient = flushTiny<ftz>(T(1) / y, ftz ? T(0x1p24) / y : y);
    return output<ftz, false>(passNaN(quotient, a));
  });
}
inline float squareRoot(float a) { return __builtin_sqrtf(a); }
inline double squareRoot(double a) { return __builtin_sqrt(a); }
template <typename T, bool ftz, bool, unsigned>
Next squareRootOf(Context &c, const Instruction &I) {
  return unary<T, T>(c, I, [](T a) {
    return output<ftz, false>(passNaN(squareRoot(input<ftz>(a)), a));
  });
}

template <typename T>
using Pattern = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <typename T>
constexpr Pattern<T> signBit = Pattern<T>(1) << (sizeof(T) * 8 - 1);

template <typename T, bool ftz, bool, unsigned pack>
Next negate(Context &c, const Instruction &I) {
  return unary<T, T, pack>(c, I, [](T a) {
    T result = bitCast<T>(bitCast<Pattern<T>>(input<ftz>(a)) ^ signBit<T>);
    return canonical(passNaN(result, a));
  });
}
template <typename T, bool ftz, bool, unsigned pack>
Next absolute(Context &c, const Instruction &I) {
  return unary<T, T, pack>(c, I, [](T a) {
    T result = bitCast<T>(bitCast<Pattern<T>>(input<ftz>(a)) & ~signBit<T>);
    return canonical(passNaN(result, a));
  });
}
template <typename T>
Next copySign(Context &c, const Instruction &I) {
  return binary<T, T, T>(c, I, [](T a, T b) {
    return bitCast<T>((bitCast<Pattern<T>>(a) & signBit<T>) |
                      (bitCast<Pattern<T>>(b) & ~signBit<T>));
  });
}

/// PTX orders -0 below +0. A NaN loses against a number unless `nan` is set.
template <bool isMax, bool nan, bool xorsign, bool ftz, typename T>
inline T extreme(T a, T b) {
  a = input<ftz>(a);
  b = input<ftz>(b);
  Pattern<T> x = bitCast<Pattern<T>>(a), y = bitCast<Pattern<T>>(b);
  Pattern<T> sign = (x ^ y) & signBit<T>;
  if (xorsign) {
    a = bitCast<T>(x & ~signBit<T>);
    b = bitCast<T>(y & ~signBit<T>);
  }
  bool equal = a == b;
  // Among equals only the signs of zeros can differ: min keeps either's sign.
  x = bitCast<Pattern<T>>(a);
  y = bitCast<Pattern<T>>(b);
  T tie = bitCast<T>(isMax ? x & y : x | y);
  T pick = (isMax ? a > b : a < b) ? a : b;
  T result = equal ? tie : pick;
  if (nan) {
    result = a != a ? a : b != b ? b : result;
  } else {
    result = a != a ? b : b != b ? a : result;
  }
  if (xorsign)
    result = bitCast<T>((bitCast<Pattern<T>>(result) & ~signBit<T>) | sign);
  return canonical(passNaN(result, a, b));
}
template <typename T, bool isMax, bool nan, bool xorsign, bool ftz>
Next extremeOf(Context &c, const Instruction &I) {
  return binary<T, T, T>(
      c, I, [](T a, T b) { return extreme<isMax, nan, xorsign, ftz>(a, b); });
}
template <typename T, bool isMax>
Handler pickExtreme(FloatMode m) {
  if (m.xorsign)
    return m.nan ? (m.ftz ? extremeOf<T, isMax, true, true, true>
                          : extremeOf<T, isMax, true, true, false>)
                 : (m.ftz ? extremeOf<T, isMax, false, true, true>
                          : extremeOf<T, isMax, false, true, false>);
  return m.nan ? (m.ftz ? extremeOf<T, isMax, true, false, true>
                        : extremeOf<T, isMax, true, false, false>)
               : (m.ftz ? extremeOf<T, isMax, false, false, true>
                        : extremeOf<T, isMax, false, false, false>);
}

/// testp; aux holds the kind.
template <typename T>
Next testProperty(Context &c, const Instruction &I) {
  const Pattern<T> *a = c.slot<Pattern<T>>(I.a);
  constexpr Pattern<T> infinity =
      sizeof(T) == 4 ? Pattern<T>(0x7f800000) : Pattern<T>(0x7ffull << 52);
  constexpr Pattern<T> smallest =
      sizeof(T) == 4 ? Pattern<T>(0x00800000) : Pattern<T>(1ull << 52);
  TestKind kind = TestKind(I.aux);
  uint32_t result = 0;
  for (unsigned i = 0; i < warpSize; ++i) {
    Pattern<T> m = a[i] & ~signBit<T>;
    bool is = false;
    switch (kind) {
    case TestKind::Finite:
      is = m < infinity;
      break;
    case TestKind::Infinite:
      is = m == infinity;
      break;
    case TestKind::Number:
      is = m <= infinity;
      break;
    case TestKind::NotNumber:
      is = m > infinity;
      break;
    case TestKind::Normal: // A zero counts as one.
      is = m == 0 || (m >= smallest && m < infinity);
      break;
    case TestKind::Subnormal:
      is = m != 0 && m < smallest;
      break;
    }
    result |= uint32_t(is) << i;
  }
  writePredicate(c, I.dst, result);
  return Next::Continue;
}
} // namespace

#define FUSIONEMU_PICK_MODE(F)                                                 \
  if (type == Type::F64)                                                       \
    return mode.sat ? F<double, false, true, 1> : F<double, false, false, 1>;  \
  if (type == Type::F32x2)                                                     \
    return mode.ftz ? F<float, true, false, 2> : F<float, false, false, 2>;    \
  return mode.ftz                                                              \
             ? (mode.sat ? F<float, true, true, 1> : F<float, true, false, 1>) \
             : (mode.sat ? F<float, false, true, 1>                            \
                         : F<float, false, false, 1>);

Handler findFloat(Op op, Type type, FloatMode mode) {
  if (type == Type::F16 || type == Type::BF16 || type == Type::F16x2 ||
      type == Type::BF16x2)
    return findHalf(op, type, mode);
  if (type != Type::F32 && type != Type::F64 && type != Type::F32x2)
    return nullptr;
  if (mode.round != Round::Nearest)
    return findRounded(op, type, mode);
  bool isDouble = type == Type::F64;
  switch (op) {
  case Op::Add:
    FUSIONEMU_PICK_MODE(add)
  case Op::Sub:
    FUSIONEMU_PICK_MODE(sub)
  case Op::Mul:
    FUSIONEMU_PICK_MODE(mul)
  case Op::Fma:
    FUSIONEMU_PICK_MODE(fused)
  case Op::Neg:
    FUSIONEMU_PICK_MODE(negate)
  case Op::Abs:
    FUSIONEMU_PICK_MODE(absolute)
  default:
    break;
  }
  if (type == Type::F32x2)
    return nullptr;
  switch (op) {
  case Op::Div:
    if (mode.approx)
      return findFunction(op, type, mode);
    FUSIONEMU_PICK_MODE(divide)
  case Op::Rcp:
    if (mode.approx)
      return findFunction(op, type, mode);
    FUSIONEMU_PICK_MODE(reciprocal)
  case Op::Sqrt:
    FUSIONEMU_PICK_MODE(squareRootOf)
  case Op::Min:
    return isDouble ? pickExtreme<double, false>(mode)
                    : pickExtreme<float, false>(mode);
  case Op::Max:
    return isDouble ? pickExtreme<double, true>(mode)
                    : pickExtreme<float, true>(mode);
  case Op::Copysign:
    return isDouble ? copySign<double> : copySign<float>;
  case Op::Testp:
    return isDouble ? testProperty<double> : testProperty<float>;
  default:
    return findFunction(op, type, mode);
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
