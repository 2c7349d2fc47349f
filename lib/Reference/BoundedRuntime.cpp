//===- BoundedRuntime.cpp - Bounded numbers for compiled code -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the functions on bounded numbers that compiled code
// calls: it passes a number as two doubles and gets back a pair of doubles.
//
//===----------------------------------------------------------------------===//

#include "BoundedRuntime.h"

#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

/// What C functions return: the calling convention of a pair of doubles.
namespace {
struct Pair {
  double value, error;
};
} // namespace

static Pair toPair(Bounded x) { return {x.value, x.error}; }

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The number that `bits` low bits of `x` are; truth values are 0 or 1.
static double wrap(int64_t x, int32_t bits) {
  if (bits == 1)
    return static_cast<double>(x & 1);
  int unused = 64 - bits;
  return static_cast<double>(
      static_cast<int64_t>(static_cast<uint64_t>(x) << unused) >> unused);
}

/// True where f64 holds the integer for certain.
static bool isSmall(double x) { return std::fabs(x) <= 0x1p53; }

/// An inexact integer, if the type holds the whole interval.
static Bounded keepInside(Bounded x, int32_t bits) {
  double end = std::ldexp(1.0, bits == 1 ? 1 : bits - 1);
  bool fits = x.isKnown() && x.low() >= (bits == 1 ? 0 : -end) &&
              x.high() < end && isSmall(x.low()) && isSmall(x.high());
  return fits ? x : Bounded::unknown(x.value);
}

static Bounded computeInteger(BoundedOp op, Bounded a, Bounded b,
                              int32_t bits) {
  if (op == BoundedOp::IntMin)
    return minimum(a, b);
  if (op == BoundedOp::IntMax)
    return maximum(a, b);
  Bounded exact = op == BoundedOp::IntAdd   ? a + b
                  : op == BoundedOp::IntSub ? a - b
                                            : a * b;
  if (!exact.isExact())
    return keepInside(exact, bits);
  if (!isSmall(exact.value))
    return Bounded::unknown(exact.value);
  return wrap(static_cast<int64_t>(exact.value), bits);
}

static Bounded narrow(Bounded a, int32_t bits) {
  if (!a.isExact())
    return keepInside(a, bits);
  return wrap(static_cast<int64_t>(a.value), bits);
}

static Bounded toUnsigned(Bounded a, int32_t bits) {
  if (a.low() >= 0)
    return a;
  Bounded shifted = a + Bounded(std::ldexp(1.0, bits));
  return a.high() < 0 ? shifted : Bounded::unknown(shifted.value);
}

static Bounded toBits(Bounded x, DType format) {
  x = roundTo(x, format);
  auto bits = static_cast<int64_t>(fusionrt::encodeFloat(format, x.value));
  double integer =
      wrap(bits, static_cast<int32_t>(fusionpkg::getStorageBits(format)));
  // Equal floats have different bits where they are 0.
  return x.isExact() && isSmall(integer) ? Bounded(integer)
                                         : Bounded::unknown(integer);
}

static Bounded fromBits(Bounded x, DType format) {
  unsigned width = fusionpkg::getStorageBits(format);
  auto bits = static_cast<uint64_t>(static_cast<int64_t>(x.value));
  if (width < 64)
    bits &= (uint64_t(1) << width) - 1;
  double number = fusionrt::decodeFloat(format, bits);
  return x.isExact() ? Bounded(number) : Bounded::unknown(number);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// One of the first group: the rounding of its result.
static Bounded finishRounding(Bounded x, DType format, int32_t flags) {
  if (flags & kRepaired)
    return roundScaled(x, format);
  if ((flags & kReordered) == 0)
    return roundTo(x, format, flags & kMayDrop);
  // In another order another number is rounded.
  if (!std::isfinite(x.value) || !x.isKnown())
    return roundTo(x, format);
  return Bounded(x.value,
                 x.error + getUlp(std::fabs(x.value) + x.error, format));
}

/// A quotient by 1 + exp(x) is made with an approximate reciprocal, which is 0
/// where it would not be a normal number (docs/Numerics.md).
static Bounded divideBySigmoid(Bounded a, Bounded b, DType format) {
  Bounded quotient = withUlps(a / b, format, format == DType::F32 ? 4 : 0.51);
  bool mayFlush = format != DType::F64 && b.high() > 0x1p125;
  return mayFlush ? either(quotient, Bounded(0)) : quotient;
}

static Bounded computeFloat(BoundedOp op, Bounded a, Bounded b, Bounded c,
                            DType format, int32_t flags) {
  switch (op) {
  case BoundedOp::Add:
    if (flags & kSigmoid)
      return withUlps(a + b, format, format == DType::F32 ? 4 : 0.5);
    return finishRounding(a + b, format, flags);
  case BoundedOp::Sub:
    return finishRounding(a - b, format, flags);
  case BoundedOp::Mul:
    return finishRounding(a * b, format, flags);
  case BoundedOp::Div:
    if (flags & kSigmoid)
      return divideBySigmoid(a, b, format);
    return finishRounding(divide(a, b, format, flags & kApproximate), format,
                          flags);
  case BoundedOp::Rem:
    return finishRounding(remainder(a, b), format, flags);
  case BoundedOp::Pow:
    return evaluate(Function::Pow, a, b, format, flags & kApproximate);
  case BoundedOp::Atan2:
    return evaluate(Function::Atan2, a, b, format, flags & kApproximate);
  case BoundedOp::Fma:
    return finishRounding(fma(a, b, c), format, flags);
  default:
    return finishRounding(a, format, flags);
  }
}

static Bounded classify(BoundedOp op, Bounded a) {
  bool guess = op == BoundedOp::IsNaN   ? std::isnan(a.value)
               : op == BoundedOp::IsInf ? std::isinf(a.value)
                                        : std::isfinite(a.value);
  return a.isKnown() ? Bounded(guess) : openTruth(guess);
}

static Bounded compute(BoundedOp op, Bounded a, Bounded b, Bounded c,
                       int32_t format, int32_t flags) {
  switch (op) {
  case BoundedOp::Minimum:
    return minimum(a, b);
  case BoundedOp::Maximum:
    return maximum(a, b);
  case BoundedOp::MinNumber:
    return minimumNumber(a, b);
  case BoundedOp::MaxNumber:
    return maximumNumber(a, b);
  case BoundedOp::CopySign:
    return copySign(a, b);
  case BoundedOp::Abs:
    return fusion::abs(a);
  case BoundedOp::Floor:
    return fusion::floor(a);
  case BoundedOp::Ceil:
    return fusion::ceil(a);
  case BoundedOp::Trunc:
    return truncate(a);
  case BoundedOp::RoundAway:
    return fusion::round(a);
  case BoundedOp::RoundEven:
    return roundEven(a);
  case BoundedOp::Select:
    return select(a, b, c);
  case BoundedOp::Less:
    return isLess(a, b);
  case BoundedOp::LessEqual:
    return isLessOrEqual(a, b);
  case BoundedOp::Equal:
    return isEqual(a, b);
  case BoundedOp::NotEqual:
    return isNotEqual(a, b);
  case BoundedOp::Unordered:
    return isUnordered(a, b);
  case BoundedOp::IsNaN:
  case BoundedOp::IsInf:
  case BoundedOp::IsFinite:
    return classify(op, a);
  case BoundedOp::And:
    return logicalAnd(a, b);
  case BoundedOp::Or:
    return logicalOr(a, b);
  case BoundedOp::Xor:
    return isNotEqual(a, b);
  case BoundedOp::IntAdd:
  case BoundedOp::IntSub:
  case BoundedOp::IntMul:
  case BoundedOp::IntMin:
  case BoundedOp::IntMax:
    return computeInteger(op, a, b, format);
  case BoundedOp::Narrow:
    return narrow(a, format);
  case BoundedOp::ToUnsigned:
    return toUnsigned(a, format);
  case BoundedOp::FloatToSigned:
    return toInteger(a, format, /*isSigned=*/true);
  case BoundedOp::FloatToUnsigned: {
    // Kept as the signed number with the same bits.
    Bounded whole = toInteger(a, format, /*isSigned=*/false);
    Bounded wrapped = whole - Bounded(std::ldexp(1.0, format));
    double end = std::ldexp(1.0, format - 1);
    if (format == 1 || !whole.isKnown() || whole.high() < end)
      return whole;
    return whole.low() >= end ? wrapped : Bounded::unknown(whole.value);
  }
  case BoundedOp::ToBits:
    return toBits(a, static_cast<DType>(format));
  case BoundedOp::FromBits:
    return fromBits(a, static_cast<DType>(format));
  default:
    break;
  }
  DType dtype = static_cast<DType>(format);
  if (op < BoundedOp::FirstFunction)
    return computeFloat(op, a, b, c, dtype, flags);
  auto function =
      static_cast<Function>(static_cast<int32_t>(op) -
                            static_cast<int32_t>(BoundedOp::FirstFunction));
  return evaluate(function, a, dtype, flags & kApproximate);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static Pair callBounded(int32_t op, double av, double ae, double bv, double be,
                        double cv, double ce, int32_t format, int32_t flags) {
  return toPair(compute(static_cast<BoundedOp>(op), Bounded(av, ae),
                        Bounded(bv, be), Bounded(cv, ce), format, flags));
}

static Pair callFromInteger(int64_t integer) {
  auto value = static_cast<double>(integer);
  return toPair(isSmall(value) ? Bounded(value) : Bounded::unknown(value));
}

static Pair callFinishSum(double sum, double error, double magnitude,
                          double squares, double shift, double initial,
                          double initialError, double count, int32_t factors,
                          int32_t format, int32_t kind) {
  BoundedSum parts;
  parts.sum = sum;
  parts.error = error;
  parts.magnitude = magnitude;
  parts.squares = squares;
  parts.shift = shift;
  auto dtype = static_cast<DType>(format);
  SumRule rule = factors < 0 ? SumRule::forSum(dtype)
                             : SumRule::forProducts(static_cast<DType>(factors),
                                                    dtype, kind & 1);
  if (kind & 2)
    rule.independent = std::max(rule.independent, SumRule::kMovedRoundings);
  Bounded first(initial, initialError);
  Bounded result = parts.finish(count, rule) + first;
  if (initial != 0 && std::isfinite(result.value) && result.isKnown())
    result = Bounded(result.value,
                     result.error +
                         std::fabs(initial) * rule.getRelativeError(count + 1));
  return toPair(roundTo(result, dtype));
}

static thread_local bool sawOpen = false;

static void callNoteOpen(double error) { sawOpen |= !(error == 0); }

bool fusion::takeNoteOfOpen() {
  bool result = sawOpen;
  sawOpen = false;
  return result;
}

void fusion::forEachBoundedCall(
    llvm::function_ref<void(llvm::StringRef, void *)> add) {
  add(kBoundedCall, reinterpret_cast<void *>(&callBounded));
  add(kFromIntegerCall, reinterpret_cast<void *>(&callFromInteger));
  add(kFinishSumCall, reinterpret_cast<void *>(&callFinishSum));
  add(kNoteOpenCall, reinterpret_cast<void *>(&callNoteOpen));
}
