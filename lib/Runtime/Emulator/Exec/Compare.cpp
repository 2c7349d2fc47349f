//===- Compare.cpp - setp and set -----------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements comparisons. Aux holds the boolean operator in bits 0-1
// and whether the other predicate is negated in bit 2.
//
//===----------------------------------------------------------------------===//

#include "Exec/Numbers.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
template <Compare op, typename T>
inline bool holds(T a, T b) {
  bool unordered = a != a || b != b;
  switch (op) {
  case Compare::Eq:
    return a == b;
  // The ordered "not equal" is false on NaN, unlike C's.
  case Compare::Ne:
    return !unordered && a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  case Compare::Equ:
    return unordered || a == b;
  case Compare::Neu:
    return unordered || a != b;
  case Compare::Ltu:
    return unordered || a < b;
  case Compare::Leu:
    return unordered || a <= b;
  case Compare::Gtu:
    return unordered || a > b;
  case Compare::Geu:
    return unordered || a >= b;
  case Compare::Num:
    return !unordered;
  case Compare::NotNum:
    return unordered;
  }
  return false;
}

/// How a lane of type T is stored and read.
template <typename T>
struct Lane {
  using Storage = T;
  static T read(T x) { return x; }
};
struct HalfLane {
  using Storage = uint16_t;
  static float read(uint16_t x) { return halfToFloat(x); }
};
struct FlushHalfLane {
  using Storage = uint16_t;
  static float read(uint16_t x) {
    return halfToFloat(x & 0x7c00 ? x : x & 0x8000);
  }
};
struct BFloatLane {
  using Storage = uint16_t;
  static float read(uint16_t x) { return bfloatToFloat(x); }
};
/// One half of a packed pair, in payload mode.
struct IntegerHalfLane {
  using Storage = uint16_t;
  static int16_t read(uint16_t x) { return int16_t(x); }
};
struct FlushLane {
  using Storage = float;
  static float read(float x) { return flush(x); }
};

inline uint32_t combine(Context &c, const Instruction &I, uint32_t bits) {
  uint32_t other = c.preds[I.c] ^ (I.aux & 4 ? ~0u : 0u);
  switch (BoolOp(I.aux & 3)) {
  case BoolOp::None:
    return bits;
  case BoolOp::And:
    return bits & other;
  case BoolOp::Or:
    return bits | other;
  case BoolOp::Xor:
    return bits ^ other;
  }
  return bits;
}

template <typename L, Compare op>
inline uint32_t compareLanes(Context &c, const Instruction &I) {
  using S = typename L::Storage;
  const S *a = c.slot<S>(I.a), *b = c.slot<S>(I.b);
  return collect(
      [=](unsigned i) { return holds<op>(L::read(a[i]), L::read(b[i])); });
}
/// The bits of one half of packed operands.
template <typename L, Compare op>
inline uint32_t compareHalves(Context &c, const Instruction &I, unsigned part) {
  const uint16_t *a = c.slot<uint16_t>(I.a), *b = c.slot<uint16_t>(I.b);
  return collect([=](unsigned i) {
    return holds<op>(L::read(a[2 * i + part]), L::read(b[2 * i + part]));
  });
}

template <typename L, Compare op>
Next setp(Context &c, const Instruction &I) {
  uint32_t bits = compareLanes<L, op>(c, I);
  uint32_t first = combine(c, I, bits), second = combine(c, I, ~bits);
  writePredicate(c, I.dst, first);
  writePredicate(c, I.d, second);
  return Next::Continue;
}
template <typename L, Compare op>
Next setpPacked(Context &c, const Instruction &I) {
  uint32_t low = combine(c, I, compareHalves<L, op>(c, I, 0));
  uint32_t high = combine(c, I, compareHalves<L, op>(c, I, 1));
  writePredicate(c, I.dst, low);
  writePredicate(c, I.d, high);
  return Next::Continue;
}

/// set: the bits become I.offset, the pattern of "true", or 0. Its size is in
/// aux from bit 4 on.
template <typename L, Compare op>
Next set(Context &c, const Instruction &I) {
  uint32_t bits = combine(c, I, compareLanes<L, op>(c, I));
  uint32_t yes = uint32_t(I.offset);
  if (I.aux >> 4 == 2)
    return forLanes<uint16_t>(c, c.slot<uint16_t>(I.dst), [=](unsigned i) {
      return uint16_t((bits >> i) & 1 ? yes : 0);
    });
  return forLanes<uint32_t>(c, c.slot<uint32_t>(I.dst), [=](unsigned i) {
    return (bits >> i) & 1 ? yes : 0;
  });
}
template <typename L, Compare op>
Next setPacked(Context &c, const Instruction &I) {
  uint32_t low = combine(c, I, compareHalves<L, op>(c, I, 0));
  uint32_t high = combine(c, I, compareHalves<L, op>(c, I, 1));
  uint32_t yes = uint32_t(I.offset);
  return forLanes<uint32_t>(c, c.slot<uint32_t>(I.dst), [=](unsigned i) {
    return ((low >> i) & 1 ? yes : 0) | ((high >> i) & 1 ? yes << 16 : 0);
  });
}

template <typename L, bool packed, Compare op>
Handler pick(bool toRegister) {
  if constexpr (packed)
    return toRegister ? setPacked<L, op> : setpPacked<L, op>;
  else
    return toRegister ? set<L, op> : setp<L, op>;
}
template <typename L, bool packed = false>
Handler pickOrdered(Compare op, bool toRegister) {
  switch (op) {
  case Compare::Eq:
    return pick<L, packed, Compare::Eq>(toRegister);
  case Compare::Ne:
    return pick<L, packed, Compare::Ne>(toRegister);
  case Compare::Lt:
    return pick<L, packed, Compare::Lt>(toRegister);
  case Compare::Le:
    return pick<L, packed, Compare::Le>(toRegister);
  case Compare::Gt:
    return pick<L, packed, Compare::Gt>(toRegister);
  case Compare::Ge:
    return pick<L, packed, Compare::Ge>(toRegister);
  default:
    return nullptr;
  }
}
template <typename L, bool packed = false>
Handler pickFloat(Compare op, bool toRegister) {
  switch (op) {
  case Compare::Equ:
    return pick<L, packed, Compare::Equ>(toRegister);
  case Compare::Neu:
    return pick<L, packed, Compare::Neu>(toRegister);
  case Compare::Ltu:
    return pick<L, packed, Compare::Ltu>(toRegister);
  case Compare::Leu:
    return pick<L, packed, Compare::Leu>(toRegister);
  case Compare::Gtu:
    return pick<L, packed, Compare::Gtu>(toRegister);
  case Compare::Geu:
    return pick<L, packed, Compare::Geu>(toRegister);
  case Compare::Num:
    return pick<L, packed, Compare::Num>(toRegister);
  case Compare::NotNum:
    return pick<L, packed, Compare::NotNum>(toRegister);
  default:
    return pickOrdered<L, packed>(op, toRegister);
  }
}
} // namespace

/// Floats compare as signed integers; nothing is unordered.
Handler findPayloadCompare(Compare op, Type type, bool ftz, bool toRegister) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return pickFloat<Lane<int16_t>>(op, toRegister);
  case Type::F32:
    return pickFloat<Lane<int32_t>>(op, toRegister);
  case Type::F64:
    return pickFloat<Lane<int64_t>>(op, toRegister);
  case Type::F16x2:
  case Type::BF16x2:
    return pickFloat<IntegerHalfLane, true>(op, toRegister);
  default:
    return findCompare(op, type, ftz, toRegister);
  }
}

Handler findCompare(Compare op, Type type, bool ftz, bool toRegister) {
  switch (type) {
  case Type::U16:
    return pickOrdered<Lane<uint16_t>>(op, toRegister);
  case Type::S16:
    return pickOrdered<Lane<int16_t>>(op, toRegister);
  case Type::U32:
    return pickOrdered<Lane<uint32_t>>(op, toRegister);
  case Type::S32:
    return pickOrdered<Lane<int32_t>>(op, toRegister);
  case Type::U64:
    return pickOrdered<Lane<uint64_t>>(op, toRegister);
  case Type::S64:
    return pickOrdered<Lane<int64_t>>(op, toRegister);
  case Type::F32:
    return ftz ? pickFloat<FlushLane>(op, toRegister)
               : pickFloat<Lane<float>>(op, toRegister);
  case Type::F64:
    return pickFloat<Lane<double>>(op, toRegister);
  case Type::F16:
    return ftz ? pickFloat<FlushHalfLane>(op, toRegister)
               : pickFloat<HalfLane>(op, toRegister);
  case Type::BF16:
    return pickFloat<BFloatLane>(op, toRegister);
  case Type::F16x2:
    return ftz ? pickFloat<FlushHalfLane, true>(op, toRegister)
               : pickFloat<HalfLane, true>(op, toRegister);
  case Type::BF16x2:
    return pickFloat<BFloatLane, true>(op, toRegister);
  default:
    return nullptr;
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
