//===- Rounded.cpp - Arithmetic in directed roundings ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements float arithmetic that rounds towards zero, down or up.
// It is built with -frounding-math.
//
//===----------------------------------------------------------------------===//

#include "Exec/Numbers.h"

#include <cfenv>

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// Sets the host's rounding for the life of the object.
class RoundingScope {
public:
  explicit RoundingScope(uint32_t round) : saved(std::fegetround()) {
    switch (Round(round)) {
    case Round::Zero:
      std::fesetround(FE_TOWARDZERO);
      break;
    case Round::Down:
      std::fesetround(FE_DOWNWARD);
      break;
    case Round::Up:
      std::fesetround(FE_UPWARD);
      break;
    default:
      std::fesetround(FE_TONEAREST);
      break;
    }
  }
  ~RoundingScope() { std::fesetround(saved); }

private:
  int saved;
};

/// A store that the compiler cannot move across the change of rounding.
template <typename T>
inline T opaque(T x) {
  volatile T y = x;
  return y;
}

template <typename T>
inline T squareRoot(T a) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(a);
  else
    return __builtin_sqrt(a);
}

template <typename T, Op op>
inline T compute(T a, T b, T d) {
  switch (op) {
  case Op::Add:
    return opaque(a) + b;
  case Op::Sub:
    return opaque(a) - b;
  case Op::Mul:
    return opaque(a) * b;
  case Op::Fma:
    return fma(opaque(a), b, d);
  case Op::Div:
    return opaque(a) / b;
  case Op::Rcp:
    return opaque(T(1)) / a;
  case Op::Sqrt:
    return squareRoot(opaque(a));
  default:
    return a;
  }
}

/// The operation with one factor or the dividend times 2^24, for flushTiny.
template <typename T, Op op>
inline T computeScaled(T a, T b, T d) {
  constexpr T scale = T(0x1p24);
  switch (op) {
  case Op::Mul:
  case Op::Div:
    return compute<T, op>(a * scale, b, d);
  case Op::Fma:
    return compute<T, op>(a * scale, b, d * scale);
  case Op::Rcp:
    return compute<T, Op::Div>(scale, a, d);
  default: // Exact where it is tiny.
    return compute<T, op>(a, b, d) * scale;
  }
}

/// The NaN of a result, by the order in which the hardware looks for one.
template <typename T, Op op>
inline T settleNaN(T result, T a, T b, T d) {
  switch (op) {
  case Op::Fma:
    return passNaN(result, a, d, b);
  case Op::Div:
    return passNaN(result, b, a);
  case Op::Rcp:
  case Op::Sqrt:
    return passNaN(result, a);
  default:
    return passNaN(result, a, b);
  }
}

template <typename T, Op op, bool ftz, bool sat, unsigned pack>
Next rounded(Context &c, const Instruction &I) {
  constexpr bool two = op != Op::Rcp && op != Op::Sqrt;
  constexpr bool three = op == Op::Fma;
  const T *a = c.slot<T>(I.a);
  const T *b = two ? c.slot<T>(I.b) : a;
  const T *e = three ? c.slot<T>(I.c) : a;
  T *d = c.slot<T>(I.dst);
  T result[warpSize * pack];
  {
    RoundingScope scope(I.aux);
    for (unsigned i = 0; i < warpSize * pack; ++i) {
      T x = input<ftz>(a[i]), y = input<ftz>(b[i]), z = input<ftz>(e[i]);
      T r = opaque(compute<T, op>(x, y, z));
      if (ftz && op != Op::Sqrt)
        r = flushTiny<ftz>(r, opaque(computeScaled<T, op>(x, y, z)));
      result[i] = settleNaN<T, op>(r, a[i], b[i], e[i]);
    }
  }
  for (unsigned i = 0; i < warpSize * pack; ++i)
    if ((c.exec >> (i / pack)) & 1)
      d[i] = output<ftz, sat>(result[i]);
  return Next::Continue;
}

template <Op op>
Handler pick(Type type, FloatMode m) {
  if (type == Type::F64)
    return rounded<double, op, false, false, 1>;
  if (type == Type::F32x2)
    return m.ftz ? rounded<float, op, true, false, 2>
                 : rounded<float, op, false, false, 2>;
  if (m.sat)
    return m.ftz ? rounded<float, op, true, true, 1>
                 : rounded<float, op, false, true, 1>;
  return m.ftz ? rounded<float, op, true, false, 1>
               : rounded<float, op, false, false, 1>;
}
} // namespace

Handler findRounded(Op op, Type type, FloatMode mode) {
  switch (op) {
  case Op::Add:
    return pick<Op::Add>(type, mode);
  case Op::Sub:
    return pick<Op::Sub>(type, mode);
  case Op::Mul:
    return pick<Op::Mul>(type, mode);
  case Op::Fma:
    return pick<Op::Fma>(type, mode);
  default:
    break;
  }
  if (type == Type::F32x2)
    return nullptr;
  switch (op) {
  case Op::Div:
    return pick<Op::Div>(type, mode);
  case Op::Rcp:
    return pick<Op::Rcp>(type, mode);
  case Op::Sqrt:
    return pick<Op::Sqrt>(type, mode);
  default:
    return nullptr;
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
