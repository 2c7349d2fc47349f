//===- Half.cpp - 16-bit float arithmetic ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements f16 and bf16 arithmetic, single and packed. Flags
// travel in Instruction::aux: 1 ftz, 2 sat, 4 relu, 8 NaN, 16 xorsign.abs.
//
//===----------------------------------------------------------------------===//

#include "Exec/Numbers.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// The flags of an instruction on 16-bit floats, in Instruction::aux, so that
/// they need no template each.
struct Flags {
  bool ftz, sat, relu, nan, xorsign;
  explicit Flags(uint32_t aux)
      : ftz(aux & 1), sat(aux & 2), relu(aux & 4), nan(aux & 8),
        xorsign(aux & 16) {}
};

template <typename F>
inline uint16_t flushHalf(uint16_t x) {
  return (x & F::infinity) == 0 ? x & 0x8000 : x;
}
template <typename F>
inline bool isNaN(uint16_t x) {
  return (x & 0x7fff) > F::infinity;
}

template <typename F>
inline uint16_t finish(uint16_t x, Flags flags) {
  if (flags.sat) {
    constexpr uint16_t one = ((1u << (F::exponent - 1)) - 1) << F::mantissa;
    if (isNaN<F>(x) || (x & 0x8000))
      x = 0;
    else if (x > one)
      x = one;
  }
  if (flags.relu && !isNaN<F>(x) && (x & 0x8000))
    x = 0;
  if (flags.ftz)
    x = flushHalf<F>(x);
  return isNaN<F>(x) ? uint16_t(F::nan) : x;
}

/// Whether a number is subnormal when it is rounded as if exponents had no
/// bound, which is when .ftz flushes a result.
template <typename F>
inline bool isTiny(double exact) {
  constexpr double smallest = F::exponent == 8 ? 0x1p-126 : 0x1p-14;
  constexpr double halfPlace = 1.0 / double(uint32_t(4) << F::mantissa);
  return __builtin_fabs(exact) < smallest * (1 - halfPlace);
}

template <typename F, unsigned pack, bool product = false, typename G>
inline Next binaryHalf(Context &c, const Instruction &I, G g) {
  // Without flags the loop has no branches and vectorises.
  if ((I.aux & 7) == 0)
    return binary<uint16_t, uint16_t, uint16_t, pack>(
        c, I,
        [=](uint16_t a, uint16_t b) { return g(F::decode(a), F::decode(b)); });
  Flags flags(I.aux);
  return binary<uint16_t, uint16_t, uint16_t, pack>(
      c, I, [=](uint16_t a, uint16_t b) {
        if (flags.ftz) {
          a = flushHalf<F>(a);
          b = flushHalf<F>(b);
        }
        uint16_t r = g(F::decode(a), F::decode(b));
        if (product && flags.ftz && isTiny<F>(F::decode(a) * F::decode(b)))
          r &= 0x8000;
        return finish<F>(r, flags);
      });
}

// A float holds more than twice the bits of either format, so that rounding a
// sum twice changes nothing. A product of bfloats may leave float's range.
template <typename F, unsigned pack>
Next add(Context &c, const Instruction &I) {
  return binaryHalf<F, pack>(
      c, I, [](float a, float b) { return F::encodeFloat(a + b); });
}
template <typename F, unsigned pack>
Next sub(Context &c, const Instruction &I) {
  return binaryHalf<F, pack>(
      c, I, [](float a, float b) { return F::encodeFloat(a - b); });
}
template <typename F, unsigned pack>
Next mul(Context &c, const Instruction &I) {
  return binaryHalf<F, pack, true>(c, I, [](float a, float b) {
    float product = a * b; // Exact for half precision.
    if (F::exponent == 8 && __builtin_fabsf(product) < 0x1p-120f)
      return uint16_t(encode<F>(double(a) * double(b), Round::Nearest, false));
    return F::encodeFloat(product);
  });
}
template <typename F, unsigned pack>
Next fused(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  return ternary<uint16_t, uint16_t, uint16_t, uint16_t, pack>(
      c, I, [=](uint16_t a, uint16_t b, uint16_t d) {
        if (flags.ftz) {
          a = flushHalf<F>(a);
          b = flushHalf<F>(b);
          d = flushHalf<F>(d);
        }
        double sum = fmaToOdd(F::decode(a), F::decode(b), F::decode(d));
        uint16_t r = uint16_t(encode<F>(sum, Round::Nearest, false));
        if (flags.ftz && isTiny<F>(sum))
          r &= 0x8000;
        return finish<F>(r, flags);
      });
}
template <typename F, unsigned pack>
Next negate(Context &c, const Instruction &I) {
  bool ftz = I.aux & 1;
  return unary<uint16_t, uint16_t, pack>(c, I, [=](uint16_t a) {
    a = ftz ? flushHalf<F>(a) : a;
    return isNaN<F>(a) ? uint16_t(F::nan) : uint16_t(a ^ 0x8000);
  });
}
template <typename F, unsigned pack>
Next absolute(Context &c, const Instruction &I) {
  bool ftz = I.aux & 1;
  return unary<uint16_t, uint16_t, pack>(c, I, [=](uint16_t a) {
    a = ftz ? flushHalf<F>(a) : a;
    return isNaN<F>(a) ? uint16_t(F::nan) : uint16_t(a & 0x7fff);
  });
}

/// Orders the bit patterns of numbers, -0 below +0.
inline int32_t orderOf(uint16_t x) {
  return x & 0x8000 ? -int32_t(x & 0x7fff) - 1 : int32_t(x);
}
template <typename F, bool isMax, unsigned pack>
Next extreme(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  return binary<uint16_t, uint16_t, uint16_t, pack>(
      c, I, [=](uint16_t a, uint16_t b) {
        if (flags.ftz) {
          a = flushHalf<F>(a);
          b = flushHalf<F>(b);
        }
        uint16_t sign = (a ^ b) & 0x8000;
        if (flags.xorsign) {
          a &= 0x7fff;
          b &= 0x7fff;
        }
        if (isNaN<F>(a) || isNaN<F>(b)) {
          if (flags.nan || (isNaN<F>(a) && isNaN<F>(b)))
            return uint16_t(F::nan);
          uint16_t number = isNaN<F>(a) ? b : a;
          return flags.xorsign ? uint16_t(number | sign) : number;
        }
        bool first = isMax ? orderOf(a) > orderOf(b) : orderOf(a) < orderOf(b);
        uint16_t r = first ? a : b;
        if (flags.relu && (r & 0x8000))
          r = 0;
        return flags.xorsign ? uint16_t(r | sign) : r;
      });
}

template <typename F, unsigned pack>
Handler pick(Op op) {
  switch (op) {
  case Op::Add:
    return add<F, pack>;
  case Op::Sub:
    return sub<F, pack>;
  case Op::Mul:
    return mul<F, pack>;
  case Op::Fma:
    return fused<F, pack>;
  case Op::Neg:
    return negate<F, pack>;
  case Op::Abs:
    return absolute<F, pack>;
  case Op::Min:
    return extreme<F, false, pack>;
  case Op::Max:
    return extreme<F, true, pack>;
  default:
    return nullptr;
  }
}
} // namespace

Handler findHalf(Op op, Type type, FloatMode mode) {
  if (op == Op::Ex2 || op == Op::Tanh)
    return findFunction(op, type, mode);
  if (mode.round != Round::Nearest)
    return nullptr;
  switch (type) {
  case Type::F16:
    return pick<HalfTraits, 1>(op);
  case Type::BF16:
    return pick<BFloatTraits, 1>(op);
  case Type::F16x2:
    return pick<HalfTraits, 2>(op);
  case Type::BF16x2:
    return pick<BFloatTraits, 2>(op);
  default:
    return nullptr;
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
