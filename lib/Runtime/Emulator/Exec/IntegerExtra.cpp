//===- IntegerExtra.cpp - Bit fields, carries, dot products ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the less common integer instructions over all lanes.
//
//===----------------------------------------------------------------------===//

#include "Exec/Lanes.h"

#include <type_traits>

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
template <typename T>
constexpr unsigned bitsOf = sizeof(T) * 8;

inline uint32_t clampTo(uint32_t value, uint32_t limit) {
  return value < limit ? value : limit;
}

template <typename T>
Next popc(Context &c, const Instruction &I) {
  return unary<uint32_t, T>(
      c, I, [](T a) { return uint32_t(__builtin_popcountll(a)); });
}
template <typename T>
inline uint32_t leadingZeros(T a) {
  if (a == 0)
    return bitsOf<T>;
  return uint32_t(__builtin_clzll(uint64_t(a))) - (64 - bitsOf<T>);
}
template <typename T>
Next clz(Context &c, const Instruction &I) {
  return unary<uint32_t, T>(c, I, [](T a) { return leadingZeros(a); });
}
template <typename T>
Next brev(Context &c, const Instruction &I) {
  return unary<T, T>(c, I, [](T a) {
    T r = 0;
    for (unsigned i = 0; i < bitsOf<T>; ++i)
      r |= ((a >> i) & 1) << (bitsOf<T> - 1 - i);
    return r;
  });
}
/// The position of the highest bit that differs from the sign.
template <typename T, bool shiftAmount>
Next bfind(Context &c, const Instruction &I) {
  using U = std::make_unsigned_t<T>;
  return unary<uint32_t, T>(c, I, [](T a) {
    U magnitude = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
    if (magnitude == 0)
      return ~uint32_t(0);
    uint32_t zeros = leadingZeros(magnitude);
    return shiftAmount ? zeros : bitsOf<T> - 1 - zeros;
  });
}
template <typename T>
Next bfe(Context &c, const Instruction &I) {
  using U = std::make_unsigned_t<T>;
  return ternary<T, T, uint32_t, uint32_t>(
      c, I, [](T a, uint32_t b, uint32_t d) {
        uint32_t pos = b & 0xff, len = d & 0xff;
        constexpr uint32_t msb = bitsOf<T> - 1;
        U fill = 0;
        if (std::is_signed_v<T> && len != 0 &&
            ((U(a) >> clampTo(pos + len - 1, msb)) & 1))
          fill = ~U(0);
        if (len == 0)
          return T(0);
        U field = pos <= msb ? U(a) >> pos : U(0);
        // Only bits inside both the field and the register are copied.
        uint32_t copied = pos > msb ? 0 : clampTo(len, msb + 1 - pos);
        if (copied > msb)
          return T(field);
        U mask = (U(1) << copied) - 1;
        return T((field & mask) | (fill & ~mask));
      });
}
template <typename T>
Next bfi(Context &c, const Instruction &I) {
  const uint32_t *length = c.slot<uint32_t>(I.d);
  const T *a = c.slot<T>(I.a), *b = c.slot<T>(I.b);
  const uint32_t *position = c.slot<uint32_t>(I.c);
  return forLanes<T>(c, c.slot<T>(I.dst), [=](unsigned i) {
    uint32_t pos = position[i] & 0xff, len = length[i] & 0xff;
    if (pos >= bitsOf<T> || len == 0)
      return b[i];
    T mask = len >= bitsOf<T> ? ~T(0) : (T(1) << len) - 1;
    mask <<= pos;
    return T((b[i] & ~mask) | ((a[i] << pos) & mask));
  });
}

inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t nibble = selector >> (4 * i);
    uint32_t byte = uint32_t(bytes >> (8 * (nibble & 7))) & 0xff;
    if (nibble & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
/// The selector that a special mode of prmt stands for.
inline uint32_t permuteSelector(uint32_t mode, uint32_t c) {
  static const uint16_t table[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
  };
  return mode == 0 ? c : table[mode - 1][c & 3];
}
Next prmt(Context &c, const Instruction &I) {
  uint32_t mode = I.aux;
  return ternary<uint32_t, uint32_t, uint32_t, uint32_t>(
      c, I, [=](uint32_t a, uint32_t b, uint32_t d) {
        return permute(a, b, permuteSelector(mode, d));
      });
}

template <bool left, bool clamp>
Next funnelShift(Context &c, const Instruction &I) {
  return ternary<uint32_t, uint32_t, uint32_t, uint32_t>(
      c, I, [](uint32_t a, uint32_t b, uint32_t d) {
        uint64_t v = uint64_t(b) << 32 | a;
        uint32_t n = clamp ? (d < 32 ? d : 32) : d & 31;
        return left ? uint32_t((v << n) >> 32) : uint32_t(v >> n);
      });
}

Next lop3(Context &c, const Instruction &I) {
  uint32_t table = I.aux;
  uint32_t m[8];
  for (unsigned i = 0; i < 8; ++i)
    m[i] = (table >> i) & 1 ? ~uint32_t(0) : 0;
  return ternary<uint32_t, uint32_t, uint32_t, uint32_t>(
      c, I, [=](uint32_t a, uint32_t b, uint32_t d) {
        return (m[0] & ~a & ~b & ~d) | (m[1] & ~a & ~b & d) |
               (m[2] & ~a & b & ~d) | (m[3] & ~a & b & d) |
               (m[4] & a & ~b & ~d) | (m[5] & a & ~b & d) |
               (m[6] & a & b & ~d) | (m[7] & a & b & d);
      });
}

/// One signed or unsigned part of a packed word.
inline int32_t part(uint32_t word, unsigned shift, unsigned bits, bool sign) {
  uint32_t value = (word >> shift) & ((1u << bits) - 1);
  if (sign && (value >> (bits - 1)))
    value |= ~uint32_t(0) << bits;
  return int32_t(value);
}
Next dp4a(Context &c, const Instruction &I) {
  bool signA = I.aux & 1, signB = I.aux & 2;
  return ternary<uint32_t, uint32_t, uint32_t, uint32_t>(
      c, I, [=](uint32_t a, uint32_t b, uint32_t d) {
        for (unsigned i = 0; i < 4; ++i)
          d += uint32_t(part(a, 8 * i, 8, signA) * part(b, 8 * i, 8, signB));
        return d;
      });
}
Next dp2a(Context &c, const Instruction &I) {
  bool signA = I.aux & 1, signB = I.aux & 2;
  unsigned base = I.aux & 4 ? 16 : 0;
  return ternary<uint32_t, uint32_t, uint32_t, uint32_t>(
      c, I, [=](uint32_t a, uint32_t b, uint32_t d) {
        for (unsigned i = 0; i < 2; ++i)
          d += uint32_t(part(a, 16 * i, 16, signA) *
                        part(b, base + 8 * i, 8, signB));
        return d;
      });
}

template <bool sign>
inline int64_t low24(uint32_t a) {
  return sign ? int64_t(int32_t(a << 8) >> 8) : int64_t(a & 0xffffff);
}
template <bool sign, bool high>
Next mul24(Context &c, const Instruction &I) {
  return binary<uint32_t, uint32_t, uint32_t>(c, I, [](uint32_t a, uint32_t b) {
    int64_t p = low24<sign>(a) * low24<sign>(b);
    return uint32_t(high ? p >> 16 : p);
  });
}
template <bool sign, bool high>
Next mad24(Context &c, const Instruction &I) {
  return ternary<uint32_t, uint32_t, uint32_t, uint32_t>(
      c, I, [](uint32_t a, uint32_t b, uint32_t d) {
        int64_t p = low24<sign>(a) * low24<sign>(b);
        return uint32_t(high ? p >> 16 : p) + d;
      });
}

// In aux: 1 for wrap, 0 for clamp.
Next bmsk(Context &c, const Instruction &I) {
  bool wrap = I.aux;
  return binary<uint32_t, uint32_t, uint32_t>(
      c, I, [=](uint32_t a, uint32_t b) {
        uint32_t pos = wrap ? a & 31 : clampTo(a, 32);
        uint32_t width = wrap ? b & 31 : clampTo(b, 32);
        uint64_t mask = (uint64_t(1) << width) - 1;
        return uint32_t(mask << pos);
      });
}
template <bool sign>
Next szext(Context &c, const Instruction &I) {
  bool wrap = I.aux;
  return binary<uint32_t, uint32_t, uint32_t>(
      c, I, [=](uint32_t a, uint32_t b) {
        uint32_t n = wrap ? b & 31 : clampTo(b, 32);
        if (n == 0)
          return uint32_t(0);
        uint32_t shift = 32 - n;
        return sign ? uint32_t(int32_t(a << shift) >> shift)
                    : (a << shift) >> shift;
      });
}

/// a + b + carry, or a - b - borrow; the carry flag in and out as asked for.
template <typename T, bool subtract>
void addWithCarry(Context &c, const Instruction &I, const T *a, const T *b) {
  uint32_t flag = I.aux & carryIn ? c.warp->carry : 0;
  uint32_t out = 0;
  T *d = c.slot<T>(I.dst);
  for (unsigned i = 0; i < warpSize; ++i) {
    T x = a[i], y = b[i], in = (flag >> i) & 1;
    T sum;
    bool carry;
    if (subtract) {
      sum = x - y;
      carry = x < y || sum < in;
      sum -= in;
    } else {
      sum = x + y;
      carry = sum < x;
      sum += in;
      carry |= sum < in;
    }
    out |= uint32_t(carry) << i;
    if ((c.exec >> i) & 1)
      d[i] = sum;
  }
  if (I.aux & carryOut)
    c.warp->carry = (c.warp->carry & ~c.exec) | (out & c.exec);
}
template <typename T, bool subtract>
Next carryAdd(Context &c, const Instruction &I) {
  addWithCarry<T, subtract>(c, I, c.slot<T>(I.a), c.slot<T>(I.b));
  return Next::Continue;
}
template <typename T, bool high>
Next carryMad(Context &c, const Instruction &I) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<
      sizeof(T) == 8,
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  const T *a = c.slot<T>(I.a), *b = c.slot<T>(I.b);
  U product[warpSize];
  for (unsigned i = 0; i < warpSize; ++i) {
    Wide p = Wide(a[i]) * Wide(b[i]);
    product[i] = U(high ? p >> bitsOf<T> : p);
  }
  addWithCarry<U, false>(c, I, product, c.slot<U>(I.c));
  return Next::Continue;
}
} // namespace

Handler findIntegerExtra(Op op, Type type) {
  bool is64 = type == Type::U64 || type == Type::S64;
  bool sign = type == Type::S32 || type == Type::S64;
  if (!is64 && type != Type::U32 && type != Type::S32)
    return nullptr;
  switch (op) {
  case Op::Popc:
    return is64 ? popc<uint64_t> : popc<uint32_t>;
  case Op::Clz:
    return is64 ? clz<uint64_t> : clz<uint32_t>;
  case Op::Brev:
    return is64 ? brev<uint64_t> : brev<uint32_t>;
  case Op::Bfind:
    if (is64)
      return sign ? bfind<int64_t, false> : bfind<uint64_t, false>;
    return sign ? bfind<int32_t, false> : bfind<uint32_t, false>;
  case Op::BfindShift:
    if (is64)
      return sign ? bfind<int64_t, true> : bfind<uint64_t, true>;
    return sign ? bfind<int32_t, true> : bfind<uint32_t, true>;
  case Op::Bfe:
    if (is64)
      return sign ? bfe<int64_t> : bfe<uint64_t>;
    return sign ? bfe<int32_t> : bfe<uint32_t>;
  case Op::Bfi:
    return is64 ? bfi<uint64_t> : bfi<uint32_t>;
  case Op::AddCarry:
    return is64 ? carryAdd<uint64_t, false> : carryAdd<uint32_t, false>;
  case Op::SubCarry:
    return is64 ? carryAdd<uint64_t, true> : carryAdd<uint32_t, true>;
  case Op::MadCarryLo:
    return is64 ? carryMad<uint64_t, false> : carryMad<uint32_t, false>;
  case Op::MadCarryHi:
    if (is64)
      return sign ? carryMad<int64_t, true> : carryMad<uint64_t, true>;
    return sign ? carryMad<int32_t, true> : carryMad<uint32_t, true>;
  default:
    break;
  }
  if (is64)
    return nullptr;
  switch (op) {
  case Op::Prmt:
    return prmt;
  case Op::ShfL:
    return funnelShift<true, false>;
  case Op::ShfLClamp:
    return funnelShift<true, true>;
  case Op::ShfR:
    return funnelShift<false, false>;
  case Op::ShfRClamp:
    return funnelShift<false, true>;
  case Op::Lop3:
    return lop3;
  case Op::Dp4a:
    return dp4a;
  case Op::Dp2a:
    return dp2a;
  case Op::Mul24Lo:
    return sign ? mul24<true, false> : mul24<false, false>;
  case Op::Mul24Hi:
    return sign ? mul24<true, true> : mul24<false, true>;
  case Op::Mad24Lo:
    return sign ? mad24<true, false> : mad24<false, false>;
  case Op::Mad24Hi:
    return sign ? mad24<true, true> : mad24<false, true>;
  case Op::Bmsk:
    return bmsk;
  case Op::Szext:
    return sign ? szext<true> : szext<false>;
  default:
    return nullptr;
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
