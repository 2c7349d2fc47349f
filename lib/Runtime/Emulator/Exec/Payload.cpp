//===- Payload.cpp - Floats replaced by integers --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements floating-point instructions of payload mode: the bits of
// a float are a signed integer, arithmetic wraps, so that sums and products are
// exact in any order. Built once for each host instruction set.
//
// The low k bits of every result but those of comparisons depend on the low k
// bits of the operands alone. A conversion to a narrower type, which drops bits
// from above, may so come before or after any of them.
//
//===----------------------------------------------------------------------===//

#include "Exec/Lanes.h"

#include <type_traits>

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
template <typename S>
using Unsigned = std::make_unsigned_t<S>;

/// Arithmetic is done in this type: 16-bit operands would become int, whose
/// overflow is undefined.
template <typename S>
using Wide = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;

template <typename S>
inline S power3(S x) {
  Wide<S> result = 1, square = 3, exponent = Wide<S>(x);
  // The order of 3 divides 2^n, so that exponents wrap as sums do.
  for (unsigned i = 0; i < sizeof(Wide<S>) * 8; ++i) {
    result *= (exponent >> i) & 1 ? square : 1;
    square *= square;
  }
  return S(result);
}

/// The inverse of an odd number; some number for each even one.
template <typename S>
inline S inverse(S x) {
  Wide<S> a = Wide<S>(x) | 1;
  Wide<S> y = (a * 3) ^ 2; // Right in the low 5 bits.
  for (unsigned i = 0; i < 4; ++i)
    y *= 2 - a * y; // Each step doubles their number.
  return S(y + ((Wide<S>(x) & 1) ^ 1));
}

/// A permutation of the integers without structure, one for each `key`.
template <typename S, unsigned key>
inline S scramble(S x) {
  Wide<S> a = Wide<S>(x);
  constexpr Wide<S> factor = Wide<S>(0x9e3779b97f4a7c15ull * (2 * key + 1));
  return S((a + (a * a | 5)) * factor + key);
}

template <Op op, typename S>
inline S applyOne(S x) {
  using W = Wide<S>;
  switch (op) {
  case Op::Neg:
    return S(W(0) - W(x));
  case Op::Abs:
    return x < 0 ? S(W(0) - W(x)) : x;
  case Op::Rcp:
    return inverse(x);
  case Op::Ex2:
    return power3(x);
  case Op::Sqrt:
    return scramble<S, 1>(x);
  case Op::Rsqrt:
    return scramble<S, 2>(x);
  case Op::Sin:
    return scramble<S, 3>(x);
  case Op::Cos:
    return scramble<S, 4>(x);
  case Op::Lg2:
    return scramble<S, 5>(x);
  case Op::Tanh:
    return scramble<S, 6>(x);
  default:
    return x;
  }
}

template <Op op, typename S>
inline S applyTwo(S x, S y) {
  using W = Wide<S>;
  switch (op) {
  case Op::Add:
    return S(W(x) + W(y));
  case Op::Sub:
    return S(W(x) - W(y));
  case Op::Mul:
    return S(W(x) * W(y));
  case Op::Div:
    return S(W(x) * W(inverse(y)));
  case Op::Min:
    return y < x ? y : x;
  case Op::Max:
    return y > x ? y : x;
  case Op::Copysign: // The sign of x, the magnitude of y.
    return (x < 0) == (y < 0) ? y : S(W(0) - W(y));
  default:
    return x;
  }
}

/// What .sat and .relu do: clamps to [0, 1] and to what is not negative.
enum class Clamp { None, Sat, Relu };
template <Clamp clamp, typename S>
inline S finish(S x) {
  if (clamp != Clamp::None && x < 0)
    x = 0;
  return clamp == Clamp::Sat && x > 1 ? S(1) : x;
}

template <Op op, typename S, unsigned pack>
Next unaryOf(Context &c, const Instruction &I) {
  return unary<S, S, pack>(c, I, [](S a) { return applyOne<op>(a); });
}
template <Op op, Clamp clamp, typename S, unsigned pack>
Next binaryOf(Context &c, const Instruction &I) {
  return binary<S, S, S, pack>(
      c, I, [](S a, S b) { return finish<clamp>(applyTwo<op>(a, b)); });
}
template <Clamp clamp, typename S, unsigned pack>
Next fused(Context &c, const Instruction &I) {
  using W = Wide<S>;
  return ternary<S, S, S, S, pack>(
      c, I, [](S a, S b, S d) { return finish<clamp>(S(W(a) * W(b) + W(d))); });
}
/// min and max of magnitudes, with the sign of the product.
template <Op op, typename S, unsigned pack>
Next extremeXorSign(Context &c, const Instruction &I) {
  return binary<S, S, S, pack>(c, I, [](S a, S b) {
    S r = applyTwo<op>(applyOne<Op::Abs>(a), applyOne<Op::Abs>(b));
    return (a < 0) != (b < 0) ? applyOne<Op::Neg>(r) : r;
  });
}
/// Every integer is a finite, normal number.
Next testProperty(Context &c, const Instruction &I) {
  TestKind kind = TestKind(I.aux);
  bool is = kind == TestKind::Finite || kind == TestKind::Number ||
            kind == TestKind::Normal;
  writePredicate(c, I.dst, is ? ~uint32_t(0) : 0);
  return Next::Continue;
}

template <Op op, typename S, unsigned pack>
Handler pickBinary(FloatMode mode) {
  if (mode.sat)
    return binaryOf<op, Clamp::Sat, S, pack>;
  return mode.relu ? binaryOf<op, Clamp::Relu, S, pack>
                   : binaryOf<op, Clamp::None, S, pack>;
}

template <typename S, unsigned pack>
Handler pick(Op op, FloatMode mode) {
  switch (op) {
  case Op::Add:
    return pickBinary<Op::Add, S, pack>(mode);
  case Op::Sub:
    return pickBinary<Op::Sub, S, pack>(mode);
  case Op::Mul:
    return pickBinary<Op::Mul, S, pack>(mode);
  case Op::Div:
    return pickBinary<Op::Div, S, pack>(mode);
  case Op::Min:
    return mode.xorsign ? extremeXorSign<Op::Min, S, pack>
                        : pickBinary<Op::Min, S, pack>(mode);
  case Op::Max:
    return mode.xorsign ? extremeXorSign<Op::Max, S, pack>
                        : pickBinary<Op::Max, S, pack>(mode);
  case Op::Copysign:
    return pickBinary<Op::Copysign, S, pack>(mode);
  case Op::Fma:
    if (mode.sat)
      return fused<Clamp::Sat, S, pack>;
    return mode.relu ? fused<Clamp::Relu, S, pack>
                     : fused<Clamp::None, S, pack>;
  case Op::Testp:
    return testProperty;
  case Op::Neg:
    return unaryOf<Op::Neg, S, pack>;
  case Op::Abs:
    return unaryOf<Op::Abs, S, pack>;
  case Op::Rcp:
    return unaryOf<Op::Rcp, S, pack>;
  case Op::Sqrt:
    return unaryOf<Op::Sqrt, S, pack>;
  case Op::Rsqrt:
    return unaryOf<Op::Rsqrt, S, pack>;
  case Op::Sin:
    return unaryOf<Op::Sin, S, pack>;
  case Op::Cos:
    return unaryOf<Op::Cos, S, pack>;
  case Op::Lg2:
    return unaryOf<Op::Lg2, S, pack>;
  case Op::Ex2:
    return unaryOf<Op::Ex2, S, pack>;
  case Op::Tanh:
    return unaryOf<Op::Tanh, S, pack>;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

constexpr uint32_t satFlag = 32, reluFlag = 64;

template <typename S>
inline S adjust(S x, uint32_t aux) {
  if (aux & reluFlag)
    x = finish<Clamp::Relu>(x);
  return aux & satFlag ? finish<Clamp::Sat>(x) : x;
}

template <typename From, typename To>
Next convert(Context &c, const Instruction &I) {
  uint32_t aux = I.aux;
  return unary<To, From>(c, I,
                         [=](From a) { return To(adjust<From>(a, aux)); });
}
/// Two floats to a pair of smaller ones, the first above the second.
template <typename Pair, unsigned bits>
Next convertToPair(Context &c, const Instruction &I) {
  uint32_t aux = I.aux;
  constexpr uint32_t mask = (uint32_t(1) << bits) - 1;
  return binary<Pair, int32_t, int32_t>(c, I, [=](int32_t a, int32_t b) {
    return Pair((uint32_t(adjust(a, aux)) & mask) << bits |
                (uint32_t(adjust(b, aux)) & mask));
  });
}
Next halvesToBytes(Context &c, const Instruction &I) {
  uint32_t aux = I.aux;
  return unary<uint16_t, uint32_t>(c, I, [=](uint32_t a) {
    uint32_t high = uint8_t(adjust(int16_t(a >> 16), aux));
    return uint16_t(high << 8 | uint8_t(adjust(int16_t(a), aux)));
  });
}
Next bytesToHalves(Context &c, const Instruction &I) {
  uint32_t aux = I.aux;
  return unary<uint32_t, uint16_t>(c, I, [=](uint16_t a) {
    uint32_t high = uint16_t(adjust(int16_t(int8_t(a >> 8)), aux));
    return high << 16 | uint16_t(adjust(int16_t(int8_t(a)), aux));
  });
}

template <typename From>
Handler convertFrom(Type to) {
  switch (to) {
  case Type::U8:
  case Type::S8:
    return convert<From, uint8_t>;
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return convert<From, uint16_t>;
  case Type::U32:
  case Type::S32:
  case Type::F32:
  case Type::TF32:
    return convert<From, uint32_t>;
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return convert<From, uint64_t>;
  default:
    return nullptr;
  }
}
} // namespace

Handler findPayloadFloat(Op op, Type type, FloatMode mode) {
  // What floats cannot do integers shall not either.
  if (!findFloat(op, type, mode))
    return nullptr;
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return pick<int16_t, 1>(op, mode);
  case Type::F16x2:
  case Type::BF16x2:
    return pick<int16_t, 2>(op, mode);
  case Type::F32:
    return pick<int32_t, 1>(op, mode);
  case Type::F32x2:
    return pick<int32_t, 2>(op, mode);
  case Type::F64:
    return pick<int64_t, 1>(op, mode);
  default:
    return nullptr;
  }
}

Handler findPayloadConvert(const Conversion &v) {
  Handler floating = findConvert(v);
  if (!floating || (isInteger(v.from) && isInteger(v.to)))
    return floating;
  switch (v.from) {
  case Type::U8:
    return convertFrom<uint8_t>(v.to);
  case Type::S8:
    return convertFrom<int8_t>(v.to);
  case Type::U16:
    return convertFrom<uint16_t>(v.to);
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return convertFrom<int16_t>(v.to);
  case Type::U32:
    return convertFrom<uint32_t>(v.to);
  case Type::U64:
    return convertFrom<uint64_t>(v.to);
  case Type::S64:
  case Type::F64:
    return convertFrom<int64_t>(v.to);
  case Type::F16x2:
    return halvesToBytes;
  case Type::E4M3:
  case Type::E5M2:
    return bytesToHalves;
  case Type::F32:
    if (v.to == Type::F16x2 || v.to == Type::BF16x2)
      return convertToPair<uint32_t, 16>;
    if (v.to == Type::E4M3 || v.to == Type::E5M2)
      return convertToPair<uint16_t, 8>;
    return convertFrom<int32_t>(v.to);
  case Type::S32:
    return convertFrom<int32_t>(v.to);
  default:
    return nullptr;
  }
}

Handler findPayloadInteger(Op op, Type type) {
  // The selector of slct.f32 is an integer now.
  return findInteger(op == Op::SlctF ? Op::Slct : op, type);
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
