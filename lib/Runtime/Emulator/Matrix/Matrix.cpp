//===- Matrix.cpp - Fragments and arithmetic of matrices ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the types of matrices and the fused dot product, on
// integers, so that no floating-point environment matters.
//
//===----------------------------------------------------------------------===//

#include "Matrix/Matrix.h"

#include <algorithm>

using namespace fusionemu;

unsigned fusionemu::getBits(MatrixType type) {
  switch (type) {
  case MatrixType::None:
    return 0;
  case MatrixType::S8:
  case MatrixType::U8:
  case MatrixType::E4M3:
  case MatrixType::E5M2:
    return 8;
  case MatrixType::F16:
  case MatrixType::BF16:
    return 16;
  case MatrixType::TF32:
  case MatrixType::F32:
  case MatrixType::S32:
    return 32;
  case MatrixType::F64:
    return 64;
  }
  return 0;
}

bool fusionemu::isFloat(MatrixType type) {
  return type != MatrixType::None && type != MatrixType::S8 &&
         type != MatrixType::U8 && type != MatrixType::S32;
}

MatrixType fusionemu::parseMatrixType(std::string_view s) {
  struct Entry {
    const char *name;
    MatrixType type;
  };
  static const Entry entries[] = {
      {"f16", MatrixType::F16},   {"bf16", MatrixType::BF16},
      {"tf32", MatrixType::TF32}, {"f64", MatrixType::F64},
      {"s8", MatrixType::S8},     {"u8", MatrixType::U8},
      {"e4m3", MatrixType::E4M3}, {"e5m2", MatrixType::E5M2},
      {"f32", MatrixType::F32},   {"s32", MatrixType::S32},
  };
  for (const Entry &entry : entries)
    if (s == entry.name)
      return entry.type;
  return MatrixType::None;
}

unsigned fusionemu::countMatrixRegisters(MatrixType type, unsigned rows,
                                         unsigned columns) {
  unsigned elements = rows * columns / 32;
  unsigned bits = getBits(type);
  return bits >= 32 ? elements : elements * bits / 32;
}

DotModel fusionemu::getDotModel(MatrixType a, MatrixType accumulator,
                                unsigned k, bool warpgroup) {
  DotModel model;
  bool half = accumulator == MatrixType::F16;
  bool narrow = getBits(a) == 8;
  model.rounding = half ? DotRounding::NearestF16 : DotRounding::TowardZero;
  // 32 bytes of a row of A at a time.
  model.blockLength = std::min(k, 256 / getBits(a));
  if (!narrow)
    return model;
  if (warpgroup) {
    model.fractionBits = 13;
    if (!half)
      model.rounding = DotRounding::TowardZero13;
    return model;
  }
  // mma.sync widens 8-bit floats to f16 and multiplies twice: the low halves
  // of all registers, then the high halves.
  model.blockLength = k / 2;
  model.interleaved = true;
  model.widens = true;
  return model;
}

uint32_t fusionemu::widenToHalf(MatrixType type, uint32_t bits) {
  if (type == MatrixType::E5M2)
    return bits << 8;
  uint32_t sign = (bits & 0x80) << 8, magnitude = bits & 0x7f;
  if (magnitude == 0x7f)
    return sign | 0x7fff;
  if (magnitude >= 8)
    return sign | (magnitude + (8 << 3)) << 7;
  // A subnormal, magnitude * 2^-9, is a normal f16.
  if (magnitude == 0)
    return sign;
  uint32_t top = 31 - uint32_t(__builtin_clz(magnitude));
  return sign | (top + 6) << 10 | ((magnitude << (10 - top)) & 0x3ff);
}

namespace {
/// sign * significand * 2^(exponent - fraction).
struct Term {
  uint64_t significand = 0;
  int exponent = 0;
  unsigned fraction = 0;
  bool negative = false, infinite = false, nan = false;
};
} // namespace

static Term decode(uint32_t bits, unsigned exponentBits, unsigned fraction,
                   bool hasInfinity) {
  Term t;
  uint32_t top = (1u << exponentBits) - 1;
  uint32_t field = (bits >> fraction) & top;
  uint32_t mantissa = bits & ((1u << fraction) - 1);
  t.negative = (bits >> (exponentBits + fraction)) & 1;
  t.fraction = fraction;
  if (hasInfinity && field == top) {
    t.infinite = mantissa == 0;
    t.nan = mantissa != 0;
    return t;
  }
  // E4M3 has one NaN and no infinity.
  if (!hasInfinity && field == top && mantissa == (1u << fraction) - 1) {
    t.nan = true;
    return t;
  }
  int bias = int(top / 2);
  t.exponent = field == 0 ? 1 - bias : int(field) - bias;
  t.significand = field == 0 ? mantissa : mantissa | (1u << fraction);
  return t;
}

static Term decode(MatrixType type, uint32_t bits) {
  switch (type) {
  case MatrixType::F16:
    return decode(bits, 5, 10, true);
  case MatrixType::BF16:
    return decode(bits, 8, 7, true);
  case MatrixType::TF32:
    return decode(bits >> 13, 8, 10, true);
  case MatrixType::E4M3:
    return decode(bits, 4, 3, false);
  case MatrixType::E5M2:
    return decode(bits, 5, 2, true);
  default:
    return decode(bits, 8, 23, true);
  }
}

/// The magnitude of a term in units of 2^(greatest - fractionBits), cut off.
static int64_t align(const Term &t, int greatest, unsigned fractionBits) {
  // The exponent of a zero has no part in `greatest`.
  if (t.significand == 0)
    return 0;
  int shift = int(fractionBits) - int(t.fraction) - (greatest - t.exponent);
  uint64_t magnitude;
  if (shift >= 0)
    magnitude = t.significand << shift;
  else
    magnitude = shift < -63 ? 0 : t.significand >> -shift;
  return t.negative ? -int64_t(magnitude) : int64_t(magnitude);
}

/// sum * 2^exponent as f32, cut off below bit `dropped` of the fraction.
static uint32_t truncateToFloat(int64_t sum, int exponent, unsigned dropped) {
  if (sum == 0)
    return 0;
  uint32_t sign = sum < 0 ? 0x80000000u : 0;
  uint64_t magnitude = sum < 0 ? uint64_t(-sum) : uint64_t(sum);
  int top = 63 - __builtin_clzll(magnitude);
  int scale = top + exponent;
  if (scale > 127)
    return sign | 0x7f800000u;
  // The exponent of the last bit that is kept.
  int last = std::max(scale, -126) - 23;
  int shift = exponent - last;
  uint64_t fraction = shift >= 0     ? magnitude << shift
                      : shift <= -64 ? 0
                                     : magnitude >> -shift;
  uint32_t bits = uint32_t(fraction);
  if (scale >= -126)
    bits += uint32_t(scale + 126) << 23;
  bits &= ~((1u << dropped) - 1);
  // What is cut off to zero loses its sign.
  return bits == 0 ? 0 : sign | bits;
}

/// sum * 2^exponent as f16, rounded to nearest even.
static uint32_t roundToHalf(int64_t sum, int exponent) {
  if (sum == 0)
    return 0;
  uint32_t sign = sum < 0 ? 0x8000u : 0;
  uint64_t magnitude = sum < 0 ? uint64_t(-sum) : uint64_t(sum);
  int scale = 63 - __builtin_clzll(magnitude) + exponent;
  if (scale > 15)
    return sign | 0x7c00u;
  int last = std::max(scale, -14) - 10;
  int shift = exponent - last;
  uint64_t fraction;
  if (shift >= 0) {
    fraction = magnitude << shift;
  } else if (shift <= -63) {
    fraction = 0;
  } else {
    uint64_t rest = magnitude & ((uint64_t(1) << -shift) - 1);
    uint64_t half = uint64_t(1) << (-shift - 1);
    fraction = magnitude >> -shift;
    if (rest > half || (rest == half && (fraction & 1)))
      ++fraction;
  }
  // What rounds to zero loses its sign.
  if (fraction == 0)
    return 0;
  uint32_t bits = uint32_t(fraction);
  if (scale >= -14)
    bits += uint32_t(scale + 14) << 10;
  return sign | std::min(bits, 0x7c00u);
}

uint32_t fusionemu::fuseDot(const DotModel &model, MatrixType typeA,
                            MatrixType typeB, MatrixType accumulator,
                            const uint32_t *a, const uint32_t *b,
                            unsigned count, uint32_t c) {
  bool half = accumulator == MatrixType::F16;
  Term terms[33];
  bool nan = false, positive = false, negative = false;
  int greatest = leastDotExponent;
  count = std::min(count, 32u);
  for (unsigned i = 0; i <= count; ++i) {
    Term &t = terms[i];
    if (i == count) {
      t = decode(accumulator, c);
    } else {
      Term x = decode(typeA, a[i]), y = decode(typeB, b[i]);
      bool zero = (x.significand == 0 && !x.infinite && !x.nan) ||
                  (y.significand == 0 && !y.infinite && !y.nan);
      t.negative = x.negative != y.negative;
      t.infinite = x.infinite || y.infinite;
      t.nan = x.nan || y.nan || (t.infinite && zero);
      t.significand = x.significand * y.significand;
      t.exponent = x.exponent + y.exponent;
      t.fraction = x.fraction + y.fraction;
    }
    nan |= t.nan;
    positive |= t.infinite && !t.negative;
    negative |= t.infinite && t.negative;
    if (t.significand != 0)
      greatest = std::max(greatest, t.exponent);
  }
  if (nan || (positive && negative))
    return half ? 0x7fff : 0x7fffffff;
  if (positive || negative)
    return half ? (negative ? 0xfc00 : 0x7c00)
                : (negative ? 0xff800000 : 0x7f800000);
  int64_t sum = 0;
  for (unsigned i = 0; i <= count; ++i)
    sum += align(terms[i], greatest, model.fractionBits);
  int exponent = greatest - int(model.fractionBits);
  switch (model.rounding) {
  case DotRounding::TowardZero:
    return truncateToFloat(sum, exponent, 0);
  case DotRounding::TowardZero13:
    return truncateToFloat(sum, exponent, 10);
  case DotRounding::NearestF16:
    break;
  }
  return roundToHalf(sum, exponent);
}
