//===- Convert.cpp - cvt --------------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements conversions between all types, in all roundings.
//
//===----------------------------------------------------------------------===//

#include "Exec/Numbers.h"

#include <limits>

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// The flags of a conversion, packed into Instruction::aux by the decoder.
struct Flags {
  Round round;
  bool toInteger, ftz, sat, relu, satfinite;
  explicit Flags(uint32_t aux)
      : round(Round(aux & 7)), toInteger(aux & 8), ftz(aux & 16), sat(aux & 32),
        relu(aux & 64), satfinite(aux & 128) {}
};

/// A lane as a double, exactly, for every float format.
template <typename T>
struct Lane {
  using Storage = T;
  static double read(T x, bool ftz) { return ftz ? flush(x) : x; }
};
struct HalfLane {
  using Storage = uint16_t;
  static double read(uint16_t x, bool) { return halfToFloat(x); }
};
struct BFloatLane {
  using Storage = uint16_t;
  static double read(uint16_t x, bool) { return bfloatToFloat(x); }
};

inline double roundToIntegral(double x, Round round) {
  switch (round) {
  case Round::Zero:
    return __builtin_trunc(x);
  case Round::Down:
    return __builtin_floor(x);
  case Round::Up:
    return __builtin_ceil(x);
  default:
    return __builtin_rint(x);
  }
}

template <typename L, typename To>
Next floatToInteger(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  using S = typename L::Storage;
  // NaN becomes 0, or the top bit alone when a 64-bit type is involved.
  constexpr bool wide = sizeof(To) == 8 || std::is_same_v<S, double>;
  constexpr To nan = wide ? To(uint64_t(1) << (sizeof(To) * 8 - 1)) : To(0);
  constexpr double low = double(std::numeric_limits<To>::min());
  // 2^63 and 2^64 are exact, the largest values themselves are not.
  constexpr double limit =
      2.0 * double(uint64_t(1) << (std::numeric_limits<To>::digits - 1));
  Round round = flags.round;
  bool ftz = flags.ftz;
  return unary<To, S>(c, I, [=](S a) {
    double x = roundToIntegral(L::read(a, ftz), round);
    if (x != x)
      return nan;
    if (x < low)
      return std::numeric_limits<To>::min();
    if (x >= limit)
      return std::numeric_limits<To>::max();
    return To(x);
  });
}
/// The one that kernels use most, without branches.
Next floatToInt32TowardsZero(Context &c, const Instruction &I) {
  return unary<int32_t, float>(c, I, [](float a) {
    float low = a < -2147483648.0f ? -2147483648.0f : a;
    low = a != a ? 0.0f : low;
    bool high = low >= 2147483648.0f;
    int32_t r = int32_t(high ? 0.0f : low);
    return high ? INT32_MAX : r;
  });
}

/// An integer as a double rounded to odd: exact, or inexact in a way that a
/// second rounding to fewer bits repairs.
template <typename T>
inline double integerToOdd(T x) {
  if constexpr (sizeof(T) == 8) {
    uint64_t magnitude = x < 0 ? 0 - uint64_t(x) : uint64_t(x);
    if (magnitude >> 53) {
      uint64_t kept = magnitude >> 11 | (magnitude << 53 ? 1 : 0);
      double r = double(kept) * 2048.0;
      return x < 0 ? -r : r;
    }
  }
  return double(x);
}
template <typename From>
Next integerToFloat(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  if (flags.round == Round::Nearest && !flags.sat)
    return unary<float, From>(c, I, [](From a) { return float(a); });
  return unary<float, From>(c, I, [=](From a) {
    uint32_t bits = encode<Float32Format>(integerToOdd(a), flags.round, false);
    float r = bitCast<float>(bits);
    return flags.sat ? output<false, true>(r) : r;
  });
}
template <typename From>
Next integerToDouble(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  return unary<double, From>(c, I, [=](From a) {
    double r = double(a);
    if (sizeof(From) < 8 || flags.round == Round::Nearest)
      return flags.sat ? output<false, true>(r) : r;
    // Compare exactly and step one place where rounding went the other way.
    __int128 exact = a, got = __int128(r);
    bool towardsZero = flags.round == Round::Zero;
    bool lower = flags.round == Round::Down || (towardsZero && exact > 0);
    uint64_t bits = bitCast<uint64_t>(r);
    if (lower && got > exact)
      bits += r > 0 ? ~uint64_t(0) : uint64_t(1);
    if (!lower && got < exact)
      bits += r > 0 ? uint64_t(1) : ~uint64_t(0);
    r = bitCast<double>(bits);
    return flags.sat ? output<false, true>(r) : r;
  });
}
template <typename F, typename From>
Next integerToHalf(Context &c, const Instruction &I) {
  Round round = Flags(I.aux).round;
  return unary<uint16_t, From>(c, I, [=](From a) {
    return uint16_t(encode<F>(integerToOdd(a), round, false));
  });
}

template <typename From, typename To>
Next integerToInteger(Context &c, const Instruction &I) {
  if (!(I.aux & 32))
    return unary<To, From>(c, I, [](From a) { return To(a); });
  return unary<To, From>(c, I, [](From a) {
    __int128 x = a;
    if (x < std::numeric_limits<To>::min())
      return std::numeric_limits<To>::min();
    if (x > std::numeric_limits<To>::max())
      return std::numeric_limits<To>::max();
    return To(a);
  });
}

/// Applies .relu, .sat and the rounding to an integral value.
inline double adjust(double x, Flags flags) {
  if (flags.toInteger)
    x = roundToIntegral(x, flags.round);
  if (flags.sat) {
    x = x > 0 ? x : 0;
    x = x < 1 ? x : 1;
  }
  if (flags.relu && x < 0)
    x = 0;
  if (flags.relu && x == 0)
    x = 0; // -0 as well.
  return x;
}
/// The rounding of the format change itself.
inline Round formatRound(Flags flags) {
  return flags.toInteger ? Round::Nearest : flags.round;
}
/// A double's NaN in a narrower format: quiet, with the upper bits of its
/// payload.
template <typename F>
inline uint32_t narrowNaN(double x) {
  uint64_t bits = quietNaN(x, 0);
  return uint32_t(bits >> 63) << (F::exponent + F::mantissa) | F::infinity |
         (uint32_t(bits >> (52 - F::mantissa)) & ((1u << F::mantissa) - 1));
}
/// encode() of a value that came from format L.
template <typename F, typename L>
inline uint32_t encodeFrom(double x, Round round, bool satfinite) {
  if (std::is_same_v<L, Lane<double>> && x != x)
    return narrowNaN<F>(x);
  return encode<F>(x, round, satfinite);
}

template <typename L>
Next floatToFloat32(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  using S = typename L::Storage;
  return unary<float, S>(c, I, [=](S a) {
    double x = adjust(L::read(a, flags.ftz), flags);
    float r = bitCast<float>(
        encodeFrom<Float32Format, L>(x, formatRound(flags), false));
    return flags.ftz ? flush(r) : r;
  });
}
template <typename L>
Next floatToFloat64(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  using S = typename L::Storage;
  return unary<double, S>(c, I, [=](S a) {
    double x = L::read(a, flags.ftz);
    // With .ftz the value passes through single precision's own NaN.
    if (flags.ftz && x != x)
      x = double(canonicalNaN32());
    return adjust(x, flags);
  });
}
template <typename F, typename L>
Next floatToHalfFormat(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  using S = typename L::Storage;
  return unary<uint16_t, S>(c, I, [=](S a) {
    double x = adjust(L::read(a, flags.ftz), flags);
    return uint16_t(encodeFrom<F, L>(x, formatRound(flags), flags.satfinite));
  });
}

// The conversions that kernels spend their time in.
Next halfToFloatLanes(Context &c, const Instruction &I) {
  return unary<float, uint16_t>(
      c, I, [](uint16_t a) { return canonical(halfToFloat(a)); });
}
Next bfloatToFloatLanes(Context &c, const Instruction &I) {
  // The upper half of a float; also for a NaN, which stays as it is.
  return unary<float, uint16_t>(c, I,
                                [](uint16_t a) { return bfloatToFloat(a); });
}
Next floatToHalfLanes(Context &c, const Instruction &I) {
  return unary<uint16_t, float>(c, I, [](float a) { return floatToHalf(a); });
}
Next floatToBFloatLanes(Context &c, const Instruction &I) {
  return unary<uint16_t, float>(c, I, [](float a) { return floatToBFloat(a); });
}
Next roundFloat(Context &c, const Instruction &I) {
  Round round = Flags(I.aux).round;
  const float *a = c.slot<float>(I.a);
  float *d = c.slot<float>(I.dst);
  switch (round) {
  case Round::Zero:
    return forLanes<float>(
        c, d, [=](unsigned i) { return canonical(__builtin_truncf(a[i])); });
  case Round::Down:
    return forLanes<float>(
        c, d, [=](unsigned i) { return canonical(__builtin_floorf(a[i])); });
  case Round::Up:
    return forLanes<float>(
        c, d, [=](unsigned i) { return canonical(__builtin_ceilf(a[i])); });
  default:
    return forLanes<float>(
        c, d, [=](unsigned i) { return canonical(__builtin_rintf(a[i])); });
  }
}
Next floatToTF32(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  return unary<uint32_t, float>(c, I, [=](float a) {
    double x = adjust(double(a), flags);
    // .rna adds to the bits, without looking for a NaN.
    if (flags.round == Round::NearestAway && a != a)
      return bitCast<uint32_t>(a) & ~0x1fffu;
    uint32_t bits = encode<TF32Format>(x, flags.round, flags.satfinite);
    return bits << 13;
  });
}

/// Two floats to a pair: the first operand goes to the upper half.
template <typename F, typename Pair, unsigned bits>
Next floatsToPair(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  return binary<Pair, float, float>(c, I, [=](float a, float b) {
    uint32_t high =
        encode<F>(adjust(double(a), flags), flags.round, flags.satfinite);
    uint32_t low =
        encode<F>(adjust(double(b), flags), flags.round, flags.satfinite);
    return Pair(high << bits | low);
  });
}
Next floatsToBFloats(Context &c, const Instruction &I) {
  return binary<uint32_t, float, float>(c, I, [](float a, float b) {
    return uint32_t(floatToBFloat(a)) << 16 | floatToBFloat(b);
  });
}
Next floatsToHalves(Context &c, const Instruction &I) {
  return binary<uint32_t, float, float>(c, I, [](float a, float b) {
    return uint32_t(floatToHalf(a)) << 16 | floatToHalf(b);
  });
}
template <typename F>
Next halvesToBytes(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  return unary<uint16_t, uint32_t>(c, I, [=](uint32_t a) {
    double high = adjust(halfToFloat(uint16_t(a >> 16)), flags);
    double low = adjust(halfToFloat(uint16_t(a)), flags);
    return uint16_t(encode<F>(high, flags.round, true) << 8 |
                    encode<F>(low, flags.round, true));
  });
}
template <typename F>
Next bytesToHalves(Context &c, const Instruction &I) {
  Flags flags(I.aux);
  return unary<uint32_t, uint16_t>(c, I, [=](uint16_t a) {
    double high = adjust(decodeSmall<F>(uint8_t(a >> 8)), flags);
    double low = adjust(decodeSmall<F>(uint8_t(a)), flags);
    return encode<Half>(high, Round::Nearest, false) << 16 |
           encode<Half>(low, Round::Nearest, false);
  });
}

template <typename From>
Handler fromInteger(Type to) {
  switch (to) {
  case Type::U8:
    return integerToInteger<From, uint8_t>;
  case Type::S8:
    return integerToInteger<From, int8_t>;
  case Type::U16:
    return integerToInteger<From, uint16_t>;
  case Type::S16:
    return integerToInteger<From, int16_t>;
  case Type::U32:
    return integerToInteger<From, uint32_t>;
  case Type::S32:
    return integerToInteger<From, int32_t>;
  case Type::U64:
    return integerToInteger<From, uint64_t>;
  case Type::S64:
    return integerToInteger<From, int64_t>;
  case Type::F16:
    return integerToHalf<Half, From>;
  case Type::BF16:
    return integerToHalf<BFloat, From>;
  case Type::F32:
    return integerToFloat<From>;
  case Type::F64:
    return integerToDouble<From>;
  default:
    return nullptr;
  }
}
template <typename L>
Handler fromFloat(Type to) {
  switch (to) {
  case Type::U8:
    return floatToInteger<L, uint8_t>;
  case Type::S8:
    return floatToInteger<L, int8_t>;
  case Type::U16:
    return floatToInteger<L, uint16_t>;
  case Type::S16:
    return floatToInteger<L, int16_t>;
  case Type::U32:
    return floatToInteger<L, uint32_t>;
  case Type::S32:
    return floatToInteger<L, int32_t>;
  case Type::U64:
    return floatToInteger<L, uint64_t>;
  case Type::S64:
    return floatToInteger<L, int64_t>;
  case Type::F16:
    return floatToHalfFormat<Half, L>;
  case Type::BF16:
    return floatToHalfFormat<BFloat, L>;
  case Type::F32:
    return floatToFloat32<L>;
  case Type::F64:
    return floatToFloat64<L>;
  default:
    return nullptr;
  }
}
} // namespace

Handler findConvert(const Conversion &v) {
  bool plain = !v.ftz && !v.sat && !v.relu && !v.satfinite;
  switch (v.from) {
  case Type::U8:
    return fromInteger<uint8_t>(v.to);
  case Type::S8:
    return fromInteger<int8_t>(v.to);
  case Type::U16:
    return fromInteger<uint16_t>(v.to);
  case Type::S16:
    return fromInteger<int16_t>(v.to);
  case Type::U32:
    return fromInteger<uint32_t>(v.to);
  case Type::S32:
    return fromInteger<int32_t>(v.to);
  case Type::U64:
    return fromInteger<uint64_t>(v.to);
  case Type::S64:
    return fromInteger<int64_t>(v.to);
  case Type::F16:
    if (v.to == Type::F32 && plain && !v.toInteger)
      return halfToFloatLanes;
    return fromFloat<HalfLane>(v.to);
  case Type::BF16:
    if (v.to == Type::F32 && plain && !v.toInteger)
      return bfloatToFloatLanes;
    return fromFloat<BFloatLane>(v.to);
  case Type::F64:
    return fromFloat<Lane<double>>(v.to);
  case Type::F16x2:
    if (v.to == Type::E4M3)
      return halvesToBytes<E4M3Format>;
    return v.to == Type::E5M2 ? halvesToBytes<E5M2Format> : nullptr;
  case Type::E4M3:
    return v.to == Type::F16x2 ? bytesToHalves<E4M3Format> : nullptr;
  case Type::E5M2:
    return v.to == Type::F16x2 ? bytesToHalves<E5M2Format> : nullptr;
  case Type::F32:
    break;
  default:
    return nullptr;
  }
  bool nearest = v.round == Round::Nearest && plain && !v.toInteger;
  switch (v.to) {
  case Type::F16:
    return nearest ? floatToHalfLanes : fromFloat<Lane<float>>(v.to);
  case Type::BF16:
    return nearest ? floatToBFloatLanes : fromFloat<Lane<float>>(v.to);
  case Type::F32:
    return plain && v.toInteger ? roundFloat : fromFloat<Lane<float>>(v.to);
  case Type::S32:
    return plain && v.round == Round::Zero ? floatToInt32TowardsZero
                                           : fromFloat<Lane<float>>(v.to);
  case Type::TF32:
    return floatToTF32;
  case Type::F16x2:
    return nearest ? floatsToHalves : floatsToPair<Half, uint32_t, 16>;
  case Type::BF16x2:
    return nearest ? floatsToBFloats : floatsToPair<BFloat, uint32_t, 16>;
  case Type::E4M3:
    return floatsToPair<E4M3Format, uint16_t, 8>;
  case Type::E5M2:
    return floatsToPair<E5M2Format, uint16_t, 8>;
  default:
    return fromFloat<Lane<float>>(v.to);
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
