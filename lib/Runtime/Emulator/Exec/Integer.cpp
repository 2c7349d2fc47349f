//===- Integer.cpp - Integer arithmetic -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the common integer instructions over all lanes.
//
//===----------------------------------------------------------------------===//

#include "Exec/Lanes.h"

#include <type_traits>

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
template <typename T>
constexpr unsigned bitsOf = sizeof(T) * 8;

namespace {
/// The high half of a product.
template <typename T>
inline T mulHigh(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Wide =
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T((Wide(a) * Wide(b)) >> 64);
  } else if constexpr (sizeof(T) == 4) {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return T((Wide(a) * Wide(b)) >> 32);
  } else {
    return T((int64_t(a) * int64_t(b)) >> bitsOf<T>);
  }
}

template <typename T>
struct Add {
  T operator()(T a, T b) const { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
};
template <typename T>
struct Sub {
  T operator()(T a, T b) const { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
};
template <typename T>
struct MulLo {
  // 16-bit operands would be promoted to int, whose overflow is undefined.
  T operator()(T a, T b) const {
    return T(uint64_t(Unsigned<T>(a)) * uint64_t(Unsigned<T>(b)));
  }
};
template <>
struct MulLo<uint32_t> {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a * b; }
};
template <>
struct MulLo<int32_t> {
  int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(uint32_t(a) * uint32_t(b));
  }
};
template <typename T>
struct MulHi {
  T operator()(T a, T b) const { return mulHigh(a, b); }
};
// The hardware defines no result for a zero divisor; all ones for a quotient
// and the dividend for a remainder is what it gives.
template <typename T>
struct Div {
  T operator()(T a, T b) const {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return T(Unsigned<T>(0) - Unsigned<T>(a));
    return T(a / b);
  }
};
template <typename T>
struct Rem {
  T operator()(T a, T b) const {
    if (b == 0)
      return T(-1); // What the hardware's sequence ends with.
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
template <typename T>
struct Min {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <typename T>
struct Max {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T>
struct MinRelu {
  T operator()(T a, T b) const {
    T m = a < b ? a : b;
    return m > 0 ? m : T(0);
  }
};
template <typename T>
struct MaxRelu {
  T operator()(T a, T b) const {
    T m = a > b ? a : b;
    return m > 0 ? m : T(0);
  }
};
template <typename T>
struct And {
  T operator()(T a, T b) const { return T(a & b); }
};
template <typename T>
struct Or {
  T operator()(T a, T b) const { return T(a | b); }
};
template <typename T>
struct Xor {
  T operator()(T a, T b) const { return T(a ^ b); }
};
template <typename T>
struct AddSat {
  T operator()(T a, T b) const {
    int64_t sum = int64_t(a) + int64_t(b);
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : T(sum);
  }
};
template <typename T>
struct SubSat {
  T operator()(T a, T b) const {
    int64_t sum = int64_t(a) - int64_t(b);
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : T(sum);
  }
};
template <typename T>
struct Neg {
  T operator()(T a) const { return T(Unsigned<T>(0) - Unsigned<T>(a)); }
};
template <typename T>
struct Abs {
  T operator()(T a) const {
    return a < 0 ? T(Unsigned<T>(0) - Unsigned<T>(a)) : a;
  }
};
template <typename T>
struct Not {
  T operator()(T a) const { return T(~a); }
};
template <typename T>
struct Cnot {
  T operator()(T a) const { return a == 0 ? T(1) : T(0); }
};
template <typename T>
struct MadLo {
  T operator()(T a, T b, T d) const { return Add<T>()(MulLo<T>()(a, b), d); }
};
template <typename T>
struct MadHi {
  T operator()(T a, T b, T d) const { return Add<T>()(mulHigh(a, b), d); }
};
template <typename T>
struct Sad {
  T operator()(T a, T b, T d) const {
    Unsigned<T> difference = a < b ? Unsigned<T>(b) - Unsigned<T>(a)
                                   : Unsigned<T>(a) - Unsigned<T>(b);
    return T(Unsigned<T>(d) + difference);
  }
};

template <template <typename> class F, typename T, unsigned pack = 1>
Next binaryOf(Context &c, const Instruction &I) {
  return binary<T, T, T, pack>(c, I, F<T>());
}
template <template <typename> class F, typename T, unsigned pack = 1>
Next unaryOf(Context &c, const Instruction &I) {
  return unary<T, T, pack>(c, I, F<T>());
}
template <template <typename> class F, typename T>
Next ternaryOf(Context &c, const Instruction &I) {
  return ternary<T, T, T, T>(c, I, F<T>());
}

// A shift by the width or more gives 0, or the sign for signed right shifts.
template <typename T>
Next shiftLeft(Context &c, const Instruction &I) {
  return binary<T, T, uint32_t>(c, I, [](T a, uint32_t b) {
    return b < bitsOf<T> ? T(uint64_t(Unsigned<T>(a)) << b) : T(0);
  });
}
template <typename T>
Next shiftRight(Context &c, const Instruction &I) {
  return binary<T, T, uint32_t>(c, I, [](T a, uint32_t b) {
    if constexpr (std::is_signed_v<T>)
      return T(a >> (b < bitsOf<T> ? b : bitsOf<T> - 1));
    else
      return b < bitsOf<T> ? T(a >> b) : T(0);
  });
}
template <typename T>
Next slct(Context &c, const Instruction &I) {
  return ternary<T, T, T, int32_t>(
      c, I, [](T a, T b, int32_t d) { return d >= 0 ? a : b; });
}
template <typename T>
Next slctFloat(Context &c, const Instruction &I) {
  // A NaN selects b, minus zero selects a; with .ftz what lies just below zero
  // does too.
  float limit = I.aux & 1 ? -0x1p-126f : -0x1p-149f;
  return ternary<T, T, T, float>(
      c, I, [=](T a, T b, float d) { return d > limit ? a : b; });
}

template <typename T, typename W>
Next mulWide(Context &c, const Instruction &I) {
  return binary<W, T, T>(c, I, [](T a, T b) { return W(W(a) * W(b)); });
}
template <typename T, typename W>
Next madWide(Context &c, const Instruction &I) {
  return ternary<W, T, T, W>(c, I, [](T a, T b, W d) {
    return W(Unsigned<W>(W(a) * W(b)) + Unsigned<W>(d));
  });
}

template <template <typename> class F>
Handler pickBinary(Type type) {
  switch (type) {
  case Type::U16:
    return binaryOf<F, uint16_t>;
  case Type::S16:
    return binaryOf<F, int16_t>;
  case Type::U32:
    return binaryOf<F, uint32_t>;
  case Type::S32:
    return binaryOf<F, int32_t>;
  case Type::U64:
    return binaryOf<F, uint64_t>;
  case Type::S64:
    return binaryOf<F, int64_t>;
  case Type::U16x2:
    return binaryOf<F, uint16_t, 2>;
  case Type::S16x2:
    return binaryOf<F, int16_t, 2>;
  default:
    return nullptr;
  }
}
template <template <typename> class F>
Handler pickUnary(Type type) {
  switch (type) {
  case Type::U16:
    return unaryOf<F, uint16_t>;
  case Type::S16:
    return unaryOf<F, int16_t>;
  case Type::U32:
    return unaryOf<F, uint32_t>;
  case Type::S32:
    return unaryOf<F, int32_t>;
  case Type::U64:
    return unaryOf<F, uint64_t>;
  case Type::S64:
    return unaryOf<F, int64_t>;
  case Type::S16x2:
    return unaryOf<F, int16_t, 2>;
  default:
    return nullptr;
  }
}
template <template <typename> class F>
Handler pickTernary(Type type) {
  switch (type) {
  case Type::U16:
    return ternaryOf<F, uint16_t>;
  case Type::S16:
    return ternaryOf<F, int16_t>;
  case Type::U32:
    return ternaryOf<F, uint32_t>;
  case Type::S32:
    return ternaryOf<F, int32_t>;
  case Type::U64:
    return ternaryOf<F, uint64_t>;
  case Type::S64:
    return ternaryOf<F, int64_t>;
  default:
    return nullptr;
  }
}
} // namespace

#define FUSIONEMU_PICK(F)                                                      \
  switch (type) {                                                              \
  case Type::U16:                                                              \
    return F<uint16_t>;                                                        \
  case Type::S16:                                                              \
    return F<int16_t>;                                                         \
  case Type::U32:                                                              \
    return F<uint32_t>;                                                        \
  case Type::S32:                                                              \
    return F<int32_t>;                                                         \
  case Type::U64:                                                              \
    return F<uint64_t>;                                                        \
  case Type::S64:                                                              \
    return F<int64_t>;                                                         \
  default:                                                                     \
    return nullptr;                                                            \
  }

#define FUSIONEMU_PICK_WIDE(F)                                                 \
  switch (type) {                                                              \
  case Type::U16:                                                              \
    return F<uint16_t, uint32_t>;                                              \
  case Type::S16:                                                              \
    return F<int16_t, int32_t>;                                                \
  case Type::U32:                                                              \
    return F<uint32_t, uint64_t>;                                              \
  case Type::S32:                                                              \
    return F<int32_t, int64_t>;                                                \
  default:                                                                     \
    return nullptr;                                                            \
  }

Handler findInteger(Op op, Type type) {
  switch (op) {
  case Op::Add:
    return pickBinary<Add>(type);
  case Op::Sub:
    return pickBinary<Sub>(type);
  case Op::MulLo:
    return pickBinary<MulLo>(type);
  case Op::MulHi:
    return pickBinary<MulHi>(type);
  case Op::Div:
    return pickBinary<Div>(type);
  case Op::Rem:
    return pickBinary<Rem>(type);
  case Op::Min:
    return pickBinary<Min>(type);
  case Op::Max:
    return pickBinary<Max>(type);
  case Op::MinRelu:
    return pickBinary<MinRelu>(type);
  case Op::MaxRelu:
    return pickBinary<MaxRelu>(type);
  case Op::And:
    return pickBinary<And>(type);
  case Op::Or:
    return pickBinary<Or>(type);
  case Op::Xor:
    return pickBinary<Xor>(type);
  case Op::AddSat:
    return type == Type::S32 ? binaryOf<AddSat, int32_t> : nullptr;
  case Op::SubSat:
    return type == Type::S32 ? binaryOf<SubSat, int32_t> : nullptr;
  case Op::Neg:
    return pickUnary<Neg>(type);
  case Op::Abs:
    return pickUnary<Abs>(type);
  case Op::Not:
    return pickUnary<Not>(type);
  case Op::Cnot:
    return pickUnary<Cnot>(type);
  case Op::MadLo:
    return pickTernary<MadLo>(type);
  case Op::MadHi:
    return pickTernary<MadHi>(type);
  case Op::Sad:
    return pickTernary<Sad>(type);
  case Op::Shl:
    FUSIONEMU_PICK(shiftLeft)
  case Op::Shr:
    FUSIONEMU_PICK(shiftRight)
  case Op::Slct:
    FUSIONEMU_PICK(slct)
  case Op::SlctF:
    FUSIONEMU_PICK(slctFloat)
  case Op::MulWide:
    FUSIONEMU_PICK_WIDE(mulWide)
  case Op::MadWide:
    FUSIONEMU_PICK_WIDE(madWide)
  default:
    return findIntegerExtra(op, type);
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
