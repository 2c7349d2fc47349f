//===- Atomic.cpp - atom and red ------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements atomic operations.
//
//===----------------------------------------------------------------------===//

#include "Exec/Access.h"
#include "Exec/Numbers.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// The new value of memory that held `old`. `b` is the operand, `d` the
/// second one of cas, where `b` is what is compared.
template <typename T, Op op>
inline T combine(T old, T b, T d) {
  switch (op) {
  case Op::Add:
    return T(uint64_t(old) + uint64_t(b));
  case Op::Min:
    return b < old ? b : old;
  case Op::Max:
    return b > old ? b : old;
  case Op::Exch:
    return b;
  case Op::Cas:
    return old == b ? d : old;
  case Op::And:
    return T(uint64_t(old) & uint64_t(b));
  case Op::Or:
    return T(uint64_t(old) | uint64_t(b));
  case Op::Xor:
    return T(uint64_t(old) ^ uint64_t(b));
  case Op::Inc:
    return old >= b ? T(0) : T(old + 1);
  case Op::Dec:
    return old == 0 || old > b ? b : T(old - 1);
  default:
    return old;
  }
}

template <typename T, Op op>
struct Plain {
  using Storage = T;
  static T apply(T old, T b, T d, bool) { return combine<T, op>(old, b, d); }
};
struct FloatAdd {
  using Storage = uint32_t;
  static Storage apply(Storage old, Storage b, Storage, bool flushes) {
    float x = bitCast<float>(old), y = bitCast<float>(b);
    float sum = flushes ? flush(flush(x) + flush(y)) : x + y;
    return bitCast<Storage>(canonical(sum));
  }
};
/// The memory's adder passes a NaN on as it is, signalling or not.
struct DoubleAdd {
  using Storage = uint64_t;
  static bool isNaN(Storage x) { return quietNaN(bitCast<double>(x), 0) != 0; }
  static Storage apply(Storage old, Storage b, Storage, bool) {
    if (isNaN(b) || isNaN(old))
      return isNaN(b) ? b : old;
    double sum = bitCast<double>(old) + bitCast<double>(b);
    return bitCast<Storage>(passNaN(sum));
  }
};
/// One or two 16-bit floats; op is Add, Min or Max.
template <typename F, Op op, typename S>
struct HalfOp {
  using Storage = S;
  static uint16_t one(uint16_t old, uint16_t b) {
    float x = F::decode(old), y = F::decode(b);
    if (op == Op::Add)
      return F::encodeFloat(x + y);
    if (x != x)
      return y != y ? uint16_t(F::nan) : b;
    if (y != y)
      return old;
    if (x == y) // Only the sign of a zero can differ.
      return op == Op::Max ? old & b : old | b;
    return (op == Op::Max ? x > y : x < y) ? old : b;
  }
  static S apply(S old, S b, S, bool) {
    S r = one(uint16_t(old), uint16_t(b));
    if (sizeof(S) == 4)
      r |= S(one(uint16_t(uint32_t(old) >> 16), uint16_t(uint32_t(b) >> 16)))
           << (sizeof(S) == 4 ? 16 : 0);
    return r;
  }
};

/// A pair of 16-bit integers, in payload mode.
template <Op op>
struct PayloadPair {
  using Storage = uint32_t;
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t, bool) {
    uint32_t low = uint16_t(combine<int16_t, op>(int16_t(old), int16_t(b), 0));
    uint32_t high =
        uint16_t(combine<int16_t, op>(int16_t(old >> 16), int16_t(b >> 16), 0));
    return high << 16 | low;
  }
};

/// Lanes act in order, so that the result does not depend on the host.
template <typename A>
Next atomic(Context &c, const Instruction &I) {
  using T = typename A::Storage;
  Access access;
  access.mode = AccessMode::Atomic;
  if (!resolve(c, I, access))
    return Next::Fail;
  const T *b = c.slot<T>(I.b), *e = c.slot<T>(I.c);
  T *d = c.slot<T>(I.dst);
  bool keep = !(I.aux & reductionOnly);
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    T *p = reinterpret_cast<T *>(pointerOf(access, lane));
    T operand = b[lane], second = e[lane];
    const Block &block = *c.block;
    bool inGlobal = uintptr_t(p) - uintptr_t(block.shared) >= block.sharedBytes;
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);
    T desired;
    do {
      desired = A::apply(old, operand, second, inGlobal);
    } while (!__atomic_compare_exchange_n(p, &old, desired, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    if (keep)
      d[lane] = old;
  }
  return Next::Continue;
}

/// A vector form: aux holds the number of elements from bit 8 on, the operands
/// are in Kernel::extraOperands, the old values' places behind them.
template <typename A>
Next atomicVector(Context &c, const Instruction &I) {
  using T = typename A::Storage;
  Access access;
  access.mode = AccessMode::Atomic;
  if (!resolve(c, I, access))
    return Next::Fail;
  unsigned count = I.aux >> 8;
  const int32_t *slots = c.kernel->extraOperands.data() + I.target;
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    T *p = reinterpret_cast<T *>(pointerOf(access, lane));
    for (unsigned k = 0; k < count; ++k) {
      T operand = c.slot<T>(slots[k])[lane];
      T old = __atomic_load_n(p + k, __ATOMIC_RELAXED), desired;
      do {
        desired = A::apply(old, operand, operand, true);
      } while (!__atomic_compare_exchange_n(
          p + k, &old, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
      if (!(I.aux & reductionOnly))
        c.slot<T>(slots[count + k])[lane] = old;
    }
  }
  return Next::Continue;
}

/// exch and cas of 128 bits. A kernel with one runs its blocks one after the
/// other, so that no other host thread is at the same place.
template <bool compares>
Next atomic128(Context &c, const Instruction &I) {
  struct Value {
    uint64_t low, high;
  };
  Access access;
  access.mode = AccessMode::Atomic;
  if (!resolve(c, I, access))
    return Next::Fail;
  const Value *b = c.slot<Value>(I.b), *e = c.slot<Value>(I.c);
  Value *d = c.slot<Value>(I.dst);
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = lowest(r);
    Value old, desired = compares ? e[lane] : b[lane];
    uint8_t *p = pointerOf(access, lane);
    __builtin_memcpy(&old, p, 16);
    if (!compares || (old.low == b[lane].low && old.high == b[lane].high))
      __builtin_memcpy(p, &desired, 16);
    if (!(I.aux & reductionOnly))
      d[lane] = old;
  }
  return Next::Continue;
}

template <typename A>
Handler pickShape(bool vector) {
  return vector ? atomicVector<A> : atomic<A>;
}
template <typename T>
Handler pickInteger(Op op) {
  switch (op) {
  case Op::Add:
    return atomic<Plain<T, Op::Add>>;
  case Op::Min:
    return atomic<Plain<T, Op::Min>>;
  case Op::Max:
    return atomic<Plain<T, Op::Max>>;
  case Op::Exch:
    return atomic<Plain<T, Op::Exch>>;
  case Op::Cas:
    return atomic<Plain<T, Op::Cas>>;
  case Op::And:
    return atomic<Plain<T, Op::And>>;
  case Op::Or:
    return atomic<Plain<T, Op::Or>>;
  case Op::Xor:
    return atomic<Plain<T, Op::Xor>>;
  case Op::Inc:
    return atomic<Plain<T, Op::Inc>>;
  case Op::Dec:
    return atomic<Plain<T, Op::Dec>>;
  default:
    return nullptr;
  }
}
template <typename T>
Handler pickPayload(Op op, bool vector) {
  return op == Op::Add   ? pickShape<Plain<T, Op::Add>>(vector)
         : op == Op::Min ? pickShape<Plain<T, Op::Min>>(vector)
                         : pickShape<Plain<T, Op::Max>>(vector);
}
template <typename F, typename S>
Handler pickHalf(Op op, bool vector) {
  switch (op) {
  case Op::Add:
    return pickShape<HalfOp<F, Op::Add, S>>(vector);
  case Op::Min:
    return pickShape<HalfOp<F, Op::Min, S>>(vector);
  case Op::Max:
    return pickShape<HalfOp<F, Op::Max, S>>(vector);
  default:
    return nullptr;
  }
}
} // namespace

Handler findAtomic(Op op, Type type, bool vector) {
  if (vector && type != Type::F32 && type != Type::F16 && type != Type::BF16 &&
      type != Type::F16x2 && type != Type::BF16x2)
    return nullptr;
  switch (type) {
  case Type::U16:
    return op == Op::Cas ? pickInteger<uint16_t>(op) : nullptr;
  case Type::U32:
    return pickInteger<uint32_t>(op);
  case Type::S32:
    return op == Op::Inc || op == Op::Dec ? nullptr : pickInteger<int32_t>(op);
  case Type::U64:
    return op == Op::Inc || op == Op::Dec ? nullptr : pickInteger<uint64_t>(op);
  case Type::S64:
    return op == Op::Inc || op == Op::Dec ? nullptr : pickInteger<int64_t>(op);
  case Type::B128:
    return op == Op::Exch  ? atomic128<false>
           : op == Op::Cas ? atomic128<true>
                           : nullptr;
  case Type::F32:
    return op == Op::Add ? pickShape<FloatAdd>(vector) : nullptr;
  case Type::F64:
    return op == Op::Add ? atomic<DoubleAdd> : nullptr;
  case Type::F16:
    return pickHalf<HalfTraits, uint16_t>(op, vector);
  case Type::BF16:
    return pickHalf<BFloatTraits, uint16_t>(op, vector);
  case Type::F16x2:
    return pickHalf<HalfTraits, uint32_t>(op, vector);
  case Type::BF16x2:
    return pickHalf<BFloatTraits, uint32_t>(op, vector);
  default:
    return nullptr;
  }
}

/// Floats add and compare as integers.
Handler findPayloadAtomic(Op op, Type type, bool vector) {
  Handler floating = findAtomic(op, type, vector);
  if (!floating || isInteger(type) || type == Type::B128)
    return floating;
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return pickPayload<int16_t>(op, vector);
  case Type::F16x2:
  case Type::BF16x2:
    return op == Op::Add   ? pickShape<PayloadPair<Op::Add>>(vector)
           : op == Op::Min ? pickShape<PayloadPair<Op::Min>>(vector)
                           : pickShape<PayloadPair<Op::Max>>(vector);
  case Type::F32:
    return pickPayload<int32_t>(op, vector);
  case Type::F64:
    return pickPayload<int64_t>(op, vector);
  default:
    return nullptr;
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
