//===- ReduceAngle.cpp - Angles modulo pi/2 ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reduction of angles modulo pi/2.
//
//===----------------------------------------------------------------------===//

#include "ReduceAngle.h"

#include "Coefficients.h"
#include "Constants.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::constants;

/// By three products with parts of pi/2; the first two are exact up to the
/// bounds that the header states.
static ReducedAngle reduceByProducts(Num x) {
  if (x.isF64()) {
    Num shifted = fma(x, x.c(twoOverPi), x.c(magicF64));
    Num n = shifted - x.c(magicF64);
    Num r = fma(n, x.c(-halfPiF64Hi), x);
    r = fma(n, x.c(-halfPiF64Mid), r);
    return {shifted.asInt(), fma(n, x.c(-halfPiF64Lo), r)};
  }
  Num shifted = fma(x, x.c(twoOverPi), x.c(magicF32));
  Num n = shifted - x.c(magicF32);
  Num r = fma(n, x.c(-halfPiF32Hi), x);
  r = fma(n, x.c(-halfPiF32Mid), r);
  return {shifted.asInt(), fma(n, x.c(-halfPiF32Lo), r)};
}

/// By products with parts of pi. The zeros of the cosine lie between whole half
/// turns.
static ReducedAngle reduceToSineByProducts(Num x, bool isCosine) {
  Num turns = isCosine ? fma(x, x.c(twoOverPi / 2), x.c(0.5)) + x.c(magicF32)
                       : fma(x, x.c(twoOverPi / 2), x.c(magicF32));
  Num n = turns - x.c(magicF32);
  if (isCosine)
    n = n - x.c(0.5);
  Num r = fma(n, x.c(-2 * halfPiF32Hi), x);
  return {turns.asInt(), fma(n, x.c(-2 * halfPiF32Mid), r)};
}

//===----------------------------------------------------------------------===//
// Huge angles
//===----------------------------------------------------------------------===//

/// The words of 2/pi behind one word of zeros, `width` bits each.
static SmallVector<uint64_t> wordsOfTwoOverPi(unsigned width) {
  SmallVector<uint64_t> words = {0};
  for (uint64_t word : coefficients::twoOverPi) {
    if (width == 32) {
      words.push_back(word >> 32);
      words.push_back(word & 0xffffffff);
    } else {
      words.push_back(word);
    }
  }
  return words;
}

/// Words index .. index + 3 of `words`: each bit of the index, from the
/// highest, selects between the words and those a power of two further on.
static SmallVector<Num> windowOfWords(Num index, ArrayRef<uint64_t> words,
                                      unsigned indexBits) {
  SmallVector<Num> window;
  for (uint64_t word : words.take_front(4 + (1u << indexBits) - 1))
    window.push_back(index.i(static_cast<int64_t>(word)));
  for (unsigned bit = indexBits; bit-- > 0;) {
    unsigned step = 1u << bit;
    Num set =
        (index & index.i(step)).icmp(arith::CmpIPredicate::ne, index.i(0));
    unsigned count = 4 + step - 1;
    for (unsigned i = 0; i < count; ++i)
      window[i] = select(set, window[i + step], window[i]);
    window.truncate(count);
  }
  return window;
}

namespace {
struct WideProduct {
  Num low;
  Num high;
};
} // namespace

static WideProduct multiplyWide(Num a, Num b) {
  auto op = arith::MulUIExtendedOp::create(a.b(), a, b);
  return {Num(a.b(), op.getLow()), Num(a.b(), op.getHigh())};
}

/// By the product of the mantissa with the digits of 2/pi that matter: those
/// before only add whole turns, those after only what rounding hides. For a
/// finite scalar x, |x| >= 2.
static ReducedAngle reduceByDigits(Num x) {
  unsigned width = x.element().getIntOrFloatBitWidth();
  unsigned mantissaBits = x.isF64() ? 52 : 23;
  int64_t bias = x.isF64() ? 1023 : 127;
  unsigned exponentBits = width - 1 - mantissaBits;
  Num bits = x.asInt();

  // |x| = mantissa * 2^(exponent - width + 1), the mantissa's top bit set.
  Num exponent =
      (bits.shr(mantissaBits) & bits.i((1 << exponentBits) - 1)) - bits.i(bias);
  Num mantissa = bits.shl(exponentBits) |
                 bits.i(static_cast<int64_t>(1ull << (width - 1)));

  // Three words of 2/pi from bit exponent - 1 on, counting the word of zeros:
  // the digits before it multiply the mantissa to multiples of 4.
  Num offset = exponent - bits.i(1);
  unsigned logWidth = x.isF64() ? 6 : 5;
  unsigned indexBits = x.isF64() ? 4 : 2;
  SmallVector<Num> window =
      windowOfWords(offset.shr(logWidth), wordsOfTwoOverPi(width), indexBits);
  Num shift = offset & bits.i(width - 1);
  // A shift by the whole width would be poison, so it goes in two steps.
  Num back = bits.i(width - 1) - shift;
  SmallVector<Num> digits;
  for (unsigned i = 0; i < 3; ++i)
    digits.push_back(window[i].shl(shift) | window[i + 1].shr(1).shr(back));

  // The product modulo 4 in two words: quarter turns above, fraction below.
  WideProduct p2 = multiplyWide(mantissa, digits[2]);
  WideProduct p1 = multiplyWide(mantissa, digits[1]);
  Num p0 = mantissa * digits[0];
  Num low = p1.low + p2.high;
  Num carry = low.icmp(arith::CmpIPredicate::ult, p1.low);
  Num high = p0 + p1.high + select(carry, bits.i(1), bits.i(0));
  Num quadrant = high.shr(width - 2);
  Num fraction = high.shl(2) | low.shr(width - 2);
  Num fractionLow = low.shl(2);
  // The nearest quarter turn leaves a signed fraction: the top bit's weight.
  quadrant = quadrant + fraction.shr(width - 1);

  Type f64 = x.b().getF64Type();
  Num lowFloat(x.b(), arith::UIToFPOp::create(x.b(), f64, Value(fractionLow)));
  double unit = x.isF64() ? 0x1p-64 : 0x1p-32;
  Num value = fraction.toFloat(f64);
  value = fma(lowFloat, value.c(unit), value) * value.c(unit);
  Num rest = fma(value, value.c(halfPiF64Hi), value * value.c(halfPiF64Mid));
  rest = rest.truncateTo(x.element());
  Num negative = bits.icmp(arith::CmpIPredicate::slt, bits.i(0));
  return {select(negative, bits.i(0) - quadrant, quadrant),
          select(negative, -rest, rest)};
}

/// True when any element of the predicate `mask` is.
static Value anyOf(Num mask) {
  ImplicitLocOpBuilder &b = mask.b();
  auto vector = dyn_cast<VectorType>(mask.type());
  if (!vector)
    return mask;
  Value any;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value element = vector::ExtractOp::create(b, Value(mask), i);
    any = any ? arith::OrIOp::create(b, any, element) : element;
  }
  return any;
}

/// The same as reduceToSine() for a scalar x like that.
static ReducedAngle reduceToSineByDigits(Num x, bool isCosine) {
  auto [turns, rest] = reduceByDigits(x);
  if (isCosine)
    turns = turns + turns.i(1);
  // The cosine of a small angle is the sine of a large one.
  Num odd = (turns & turns.i(1)).icmp(arith::CmpIPredicate::ne, turns.i(0));
  return {turns.shr(1), select(odd, x.c(halfPiF64Hi) - fabs(rest), rest)};
}

/// What products reduce.
static double getBound(Type element) {
  return element.isF64() ? 0x1p24 : 0x1p18;
}

using ScalarReduction = function_ref<ReducedAngle(Num)>;

/// Replaces the elements of `angle` whose operand is huge.
static ReducedAngle correctHuge(Num x, Num huge, ReducedAngle angle,
                                ScalarReduction reduce) {
  auto correct = [&](ArrayRef<Num> scalars) {
    ReducedAngle exact = reduce(scalars[0]);
    return ReducedAngle{select(scalars[1], exact.turns, scalars[2]),
                        select(scalars[1], exact.rest, scalars[3])};
  };
  ImplicitLocOpBuilder &b = x.b();
  auto vector = dyn_cast<VectorType>(x.type());
  if (!vector)
    return correct({x, huge, angle.turns, angle.rest});
  SmallVector<Value> turns, rests;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<Num> scalars;
    for (const Num &operand : {x, huge, angle.turns, angle.rest})
      scalars.push_back(
          Num(b, vector::ExtractOp::create(b, Value(operand), i)));
    ReducedAngle fixed = correct(scalars);
    turns.push_back(fixed.turns);
    rests.push_back(fixed.rest);
  }
  return {Num(b, vector::FromElementsOp::create(
                     b, cast<VectorType>(angle.turns.type()), turns)),
          Num(b, vector::FromElementsOp::create(
                     b, cast<VectorType>(angle.rest.type()), rests))};
}

/// `angle`, which products have reduced, where they can; what `reduce` gives
/// where they cannot.
static ReducedAngle correctIfHuge(Num x, ReducedAngle angle,
                                  double largestOperand,
                                  ScalarReduction reduce) {
  if (!mayBeHuge(x.element(), largestOperand))
    return angle;
  Num magnitude = fabs(x);
  Num large = magnitude >= x.c(getBound(x.element()));
  ImplicitLocOpBuilder &b = x.b();
  auto branch = scf::IfOp::create(
      b, TypeRange{angle.turns.type(), angle.rest.type()}, anyOf(large),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  // Infinite operands stay with the products, which make them NaN.
  ReducedAngle fixed =
      correctHuge(x, large & (magnitude < x.inf()), angle, reduce);
  scf::YieldOp::create(b, ValueRange{fixed.turns, fixed.rest});
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, ValueRange{angle.turns, angle.rest});
  return {Num(b, branch.getResult(0)), Num(b, branch.getResult(1))};
}

bool mlir::fusion::mayBeHuge(Type element, double largestOperand) {
  return largestOperand >= getBound(element);
}

ReducedAngle mlir::fusion::reduceAngle(Num x, double largestOperand) {
  return correctIfHuge(x, reduceByProducts(x), largestOperand, reduceByDigits);
}

ReducedAngle mlir::fusion::reduceToSine(Num x, bool isCosine,
                                        double largestOperand) {
  return correctIfHuge(
      x, reduceToSineByProducts(x, isCosine), largestOperand,
      [&](Num x) { return reduceToSineByDigits(x, isCosine); });
}
