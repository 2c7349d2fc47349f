//===- BulkReduce.cpp - Reductions on their way ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what cp.reduce.async.bulk does to each element.
//
//===----------------------------------------------------------------------===//

#include "Async/Bulk.h"

#define FUSIONEMU_ISA isa_scalar
#include "Exec/Numbers.h"

#include <cmath>
#include <cstring>
#include <type_traits>

using namespace fusionemu;

template <typename T>
static T combine(T a, T b, Op op) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Op::Add:
    return T(U(a) + U(b));
  case Op::Min:
    return a < b ? a : b;
  case Op::Max:
    return a < b ? b : a;
  case Op::And:
    return a & b;
  case Op::Or:
    return a | b;
  case Op::Xor:
    return a ^ b;
  case Op::Inc:
    return U(a) >= U(b) ? 0 : T(U(a) + 1);
  case Op::Dec:
    return a == 0 || U(a) > U(b) ? b : T(U(a) - 1);
  default:
    return a;
  }
}

static float combineFloat(float a, float b, Op op) {
  using namespace fusionemu::isa_scalar;
  if (op == Op::Add)
    return canonical(a + b);
  if (a != a || b != b)
    return a != a ? b : a;
  // -0 is less than +0.
  bool less = a < b || (a == b && std::signbit(a));
  return less == (op == Op::Min) ? a : b;
}

template <typename T, typename F>
static void forEach(uint8_t *to, const uint8_t *from, uint32_t bytes, F f) {
  for (uint32_t k = 0; k + sizeof(T) <= bytes; k += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + k, sizeof(T));
    std::memcpy(&b, from + k, sizeof(T));
    a = f(a, b);
    std::memcpy(to + k, &a, sizeof(T));
  }
}

void fusionemu::reduceBytes(uint8_t *to, const uint8_t *from, uint32_t bytes,
                            Op op, Type type) {
  using namespace fusionemu::isa_scalar;
  auto integers = [&](auto zero) {
    using T = decltype(zero);
    forEach<T>(to, from, bytes, [&](T a, T b) { return combine(a, b, op); });
  };
  switch (type) {
  case Type::S16: // In payload mode.
    return integers(int16_t());
  case Type::U32:
    return integers(uint32_t());
  case Type::S32:
    return integers(int32_t());
  case Type::U64:
    return integers(uint64_t());
  case Type::S64:
    return integers(int64_t());
  case Type::F32:
    // Only sums, which have no subnormal operands or results.
    return forEach<float>(to, from, bytes, [&](float a, float b) {
      return flush(combineFloat(flush(a), flush(b), op));
    });
  case Type::F64:
    return forEach<double>(to, from, bytes,
                           [](double a, double b) { return a + b; });
  case Type::F16:
    // The sum of two is exact enough in single precision to round only once.
    return forEach<uint16_t>(to, from, bytes, [&](uint16_t a, uint16_t b) {
      return floatToHalf(combineFloat(halfToFloat(a), halfToFloat(b), op));
    });
  case Type::BF16:
    return forEach<uint16_t>(to, from, bytes, [&](uint16_t a, uint16_t b) {
      return floatToBFloat(
          combineFloat(bfloatToFloat(a), bfloatToFloat(b), op));
    });
  default:
    return;
  }
}

bool fusionemu::canReduceShared(Op op, Type type) {
  switch (type) {
  case Type::U32:
    return true;
  case Type::S32:
    return op == Op::Add || op == Op::Min || op == Op::Max;
  case Type::U64:
    return op == Op::Add;
  default:
    return false;
  }
}

bool fusionemu::canReduce(Op op, Type type) {
  switch (type) {
  case Type::U32:
    return true;
  case Type::S32:
  case Type::U64:
    return op == Op::Add || op == Op::Min || op == Op::Max || op == Op::And ||
           op == Op::Or || op == Op::Xor;
  case Type::S64:
    return op == Op::Add || op == Op::Min || op == Op::Max;
  case Type::F16:
  case Type::BF16:
    return op == Op::Add || op == Op::Min || op == Op::Max;
  case Type::F32:
  case Type::F64:
    return op == Op::Add;
  default:
    return false;
  }
}
