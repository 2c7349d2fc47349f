//===- Random.cpp - Counter-based random numbers --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements Philox4x32-10 in i32 and i64 arithmetic on scalars.
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

static Scalar extendUnsigned(Scalar x) {
  ImplicitLocOpBuilder &b = x.getBuilder();
  return {b, arith::ExtUIOp::create(b, b.getI64Type(), x)};
}

static Scalar truncate(Scalar x) {
  ImplicitLocOpBuilder &b = x.getBuilder();
  return {b, arith::TruncIOp::create(b, b.getI32Type(), x)};
}

static Scalar shiftRight(Scalar x, int64_t bits) {
  ImplicitLocOpBuilder &b = x.getBuilder();
  return {b, arith::ShRUIOp::create(b, x, makeInteger(b, x.getType(), bits))};
}

static Scalar bitXor(Scalar x, Scalar y) {
  return {x.getBuilder(), arith::XOrIOp::create(x.getBuilder(), x, y)};
}

/// A 32-bit constant given as an unsigned number.
static Scalar word(ImplicitLocOpBuilder &b, uint32_t number) {
  return makeInteger(b, b.getI32Type(), static_cast<int32_t>(number));
}

/// The four words of Philox4x32-10 for a 128-bit counter and a 64-bit key
/// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
static std::array<Scalar, 4> buildPhilox(ImplicitLocOpBuilder &b,
                                         std::array<Scalar, 4> counter,
                                         std::array<Scalar, 2> key) {
  // Multipliers as 64-bit numbers: the full product gives both halves.
  Scalar m0 = makeInteger(b, b.getI64Type(), 0xD2511F53);
  Scalar m1 = makeInteger(b, b.getI64Type(), 0xCD9E8D57);
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] = key[0] + word(b, 0x9E3779B9);
      key[1] = key[1] + word(b, 0xBB67AE85);
    }
    Scalar p0 = extendUnsigned(counter[0]) * m0;
    Scalar p1 = extendUnsigned(counter[2]) * m1;
    Scalar high0 = truncate(shiftRight(p0, 32));
    Scalar high1 = truncate(shiftRight(p1, 32));
    counter = {bitXor(bitXor(high1, counter[1]), key[0]), truncate(p1),
               bitXor(bitXor(high0, counter[3]), key[1]), truncate(p0)};
  }
  return counter;
}

Scalar fusion::buildKeep(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> shape,
                         RandomStream stream, double probability) {
  Type i64 = b.getI64Type();
  Scalar flat = makeInteger(b, i64, 0);
  for (auto [loop, size] : llvm::enumerate(shape)) {
    Scalar index = convertInteger(getLoopIndex(b, loop), i64);
    if (loop == 0) {
      flat = index;
      continue;
    }
    std::optional<int64_t> known = getConstantIntValue(size);
    Scalar extent = known ? makeInteger(b, i64, *known)
                          : convertInteger(Scalar(b, cast<Value>(size)), i64);
    flat = flat * extent + index;
  }

  Scalar seed(b, stream.seed);
  Scalar draw = shiftRight(flat, 2);
  uint64_t id = static_cast<uint64_t>(stream.opId);
  std::array<Scalar, 4> words =
      buildPhilox(b,
                  {truncate(draw), truncate(shiftRight(draw, 32)),
                   word(b, static_cast<uint32_t>(id)),
                   word(b, static_cast<uint32_t>(id >> 32))},
                  {truncate(seed), truncate(shiftRight(seed, 32))});
  Scalar three = makeInteger(b, b.getI32Type(), 3);
  Scalar lane(b, arith::AndIOp::create(b, truncate(flat), three));
  Scalar chosen = words[0];
  for (int64_t i = 1; i < 4; ++i)
    chosen =
        select(eq(lane, makeInteger(b, b.getI32Type(), i)), words[i], chosen);
  // 24 random bits against the probability as an integer: exact, and the same
  // on every device. Both sides are below 2^24 + 1, so signed comparison holds.
  int64_t threshold = static_cast<int64_t>(std::ceil(probability * 16777216.0));
  return ge(shiftRight(chosen, 8), makeInteger(b, b.getI32Type(), threshold));
}
