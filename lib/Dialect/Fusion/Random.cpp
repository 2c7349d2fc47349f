//===- Random.cpp - Counter-based random numbers --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements Philox4x32-7 in i32 and i64 arithmetic on scalars, and
// how elements share what it draws (docs/Rationale/Random.md).
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cmath>
#include <limits>

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

static Scalar bitOr(Scalar x, Scalar y) {
  return {x.getBuilder(), arith::OrIOp::create(x.getBuilder(), x, y)};
}

static Scalar shiftLeft(Scalar x, int64_t bits) {
  ImplicitLocOpBuilder &b = x.getBuilder();
  return {b, arith::ShLIOp::create(b, x, makeInteger(b, x.getType(), bits))};
}

/// A 32-bit constant given as an unsigned number.
static Scalar word(ImplicitLocOpBuilder &b, uint32_t number) {
  return makeInteger(b, b.getI32Type(), static_cast<int32_t>(number));
}

/// The four words of Philox4x32-7 for a 128-bit counter and a 64-bit key
/// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
static std::array<Scalar, 4> buildPhilox(ImplicitLocOpBuilder &b,
                                         std::array<Scalar, 4> counter,
                                         std::array<Scalar, 2> key) {
  // Multipliers as 64-bit numbers: the full product gives both halves.
  Scalar m0 = makeInteger(b, b.getI64Type(), 0xD2511F53);
  Scalar m1 = makeInteger(b, b.getI64Type(), 0xCD9E8D57);
  for (int round = 0; round < 7; ++round) {
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

/// Elements that share a draw: each has 16 of its 128 bits first.
static constexpr int64_t kSharers = 8;

namespace {
/// Where an element finds its bits.
struct Place {
  /// The low and the high word of the number of its draw.
  std::array<Scalar, 2> draw;
  /// Its number among those of the draw.
  Scalar lane;
};
} // namespace

/// True if a tensor of this shape is known to have fewer than 2^32 elements.
static bool countsInWord(ArrayRef<OpFoldResult> shape) {
  int64_t count = 1;
  return llvm::all_of(shape, [&](OpFoldResult size) {
    std::optional<int64_t> known = getConstantIntValue(size);
    return known && !llvm::MulOverflow(count, *known, count) &&
           count <= std::numeric_limits<uint32_t>::max();
  });
}

/// The row-major number of the element at the current loop indices.
static Scalar buildNumber(ImplicitLocOpBuilder &b,
                          ArrayRef<OpFoldResult> shape) {
  Type index = b.getIndexType();
  Scalar number = makeInteger(b, index, 0);
  for (auto [loop, size] : llvm::enumerate(shape)) {
    Scalar place = getLoopIndex(b, loop);
    std::optional<int64_t> known = getConstantIntValue(size);
    Scalar extent =
        known ? makeInteger(b, index, *known) : Scalar(b, cast<Value>(size));
    number = loop == 0 ? place : number * extent + place;
  }
  return number;
}

static Place buildPlace(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> shape) {
  Type i32 = b.getI32Type();
  Scalar number = buildNumber(b, shape);
  Scalar sharers = makeInteger(b, b.getIndexType(), kSharers);
  Scalar draw = number / sharers;
  Scalar high =
      countsInWord(shape)
          ? word(b, 0)
          : truncate(shiftRight(convertInteger(draw, b.getI64Type()), 32));
  Scalar lane = logicalAnd(convertInteger(number, i32),
                           makeInteger(b, i32, kSharers - 1));
  return {{convertInteger(draw, i32), high}, lane};
}

/// The word of an element: the 32 bits that begin with the 16 of `lane`,
/// cyclically. Lanes are known at compile time where threads have elements side
/// by side.
static Scalar buildWord(ArrayRef<Scalar> words, Scalar lane) {
  SmallVector<Scalar> windows;
  for (auto [i, word] : llvm::enumerate(words)) {
    Scalar next = words[(i + 1) % words.size()];
    windows.push_back(word);
    windows.push_back(bitOr(shiftLeft(word, 16), shiftRight(next, 16)));
  }
  // A bit of the lane, from the highest, halves the choice.
  ImplicitLocOpBuilder &b = lane.getBuilder();
  Scalar zero = makeInteger(b, lane.getType(), 0);
  for (int64_t half = kSharers / 2; half > 0; half /= 2) {
    Scalar bit = makeInteger(b, lane.getType(), half);
    Scalar isLow = eq(logicalAnd(lane, bit), zero);
    for (int64_t i = 0; i < half; ++i)
      windows[i] = select(isLow, windows[i], windows[i + half]);
  }
  return windows[0];
}

Scalar fusion::buildKeep(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> shape,
                         RandomStream stream, double probability) {
  Place place = buildPlace(b, shape);
  Scalar seed(b, stream.seed);
  uint64_t id = static_cast<uint64_t>(stream.opId);
  std::array<Scalar, 4> words = buildPhilox(
      b,
      {place.draw[0], place.draw[1], word(b, static_cast<uint32_t>(id)),
       word(b, static_cast<uint32_t>(id >> 32))},
      {truncate(seed), truncate(shiftRight(seed, 32))});
  // 24 random bits against the probability as an integer: exact, and the same
  // on every device. Both sides are below 2^24 + 1, so signed comparison holds.
  int64_t threshold = static_cast<int64_t>(std::ceil(probability * 16777216.0));
  return ge(shiftRight(buildWord(words, place.lane), 8),
            makeInteger(b, b.getI32Type(), threshold));
}
