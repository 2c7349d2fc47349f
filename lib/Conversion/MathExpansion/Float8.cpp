//===- Float8.cpp - 8-bit floats by integer arithmetic ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the conversions between 8-bit floats and wider ones.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// How an 8-bit format lies in the bits of an f32.
struct Float8Format {
  /// The 8 bits without their sign, moved up by this, have their exponent in
  /// the place of f32's.
  unsigned shift;
  /// f32's exponent bias less the format's.
  int bias;
  /// The largest finite magnitude, what stands for overflow, and a NaN.
  unsigned largest, overflow, nan;
  /// A float whose last place is the format's smallest subnormal.
  double magic;
  double smallestNormal;
};
} // namespace

static Float8Format formatOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return {20, 120, 0x7e, 0x7f, 0x7f, 0x1p14, 0x1p-6};
  return {21, 112, 0x7b, 0x7c, 0x7e, 0x1p7, 0x1p-14};
}

Num mlir::fusion::extendFloat8(Num x, Type source, Type target) {
  Float8Format format = formatOf(source);
  Num bits = x.resize(32);
  Num magnitude = bits & bits.i(0x7f);
  // The product moves the exponent and makes subnormals normal, exactly.
  Num value = magnitude.shl(format.shift).asFloat();
  value = value * value.c(std::ldexp(1.0, format.bias));
  if (format.overflow != format.nan)
    value = select(
        magnitude.icmp(arith::CmpIPredicate::eq, bits.i(format.overflow)),
        value.inf(), value);
  Num nan = magnitude.icmp(arith::CmpIPredicate::ugt,
                           bits.i(std::max(format.largest, format.nan - 1)));
  if (format.overflow != format.nan)
    nan = magnitude.icmp(arith::CmpIPredicate::ugt, bits.i(format.overflow));
  value = select(nan, value.nan(), value);
  Num sign = (bits & bits.i(0x80)).shl(24);
  value = (value.asInt() | sign).asFloat();
  if (target.isF64())
    return value.extendTo(target);
  return value.truncateTo(target);
}

/// f64 as f32 with the last bit set where anything was lost: rounding that to
/// fewer bits gives what rounding the f64 would have.
static Num narrowToOdd(Num x) {
  Type f64 = x.element();
  Num narrow = x.truncateTo(x.b().getF32Type());
  Num back = narrow.extendTo(f64);
  Num bits = narrow.asInt();
  Num away = fabs(back) > fabs(x);
  Num inexact = !back.eq(x) & !x.isNaN();
  Num towardZero = select(away, bits - bits.i(1), bits);
  return select(inexact, towardZero | bits.i(1), bits).asFloat();
}

Num mlir::fusion::truncateToFloat8(Num x, Type target) {
  Float8Format format = formatOf(target);
  if (x.isF64())
    x = narrowToOdd(x);
  Num bits = x.asInt();
  Num magnitude = bits & bits.i(0x7fffffff);
  // To nearest, ties to even: half a unit less one, and one more if odd.
  Num odd = magnitude.shr(format.shift) & bits.i(1);
  Num rounded =
      (magnitude + bits.i((1 << (format.shift - 1)) - 1) + odd)
          .shr(format.shift) -
      bits.i(static_cast<int64_t>(format.bias) << (23 - format.shift));
  // Below the normal numbers the adder rounds to the smallest unit.
  Num small = fabs(x) < x.c(format.smallestNormal);
  Num counted = (fabs(x) + x.c(format.magic)).asInt() & bits.i(0xff);
  rounded = select(small, counted, rounded);
  Num over = rounded.icmp(arith::CmpIPredicate::ugt, bits.i(format.largest));
  rounded = select(over, bits.i(format.overflow), rounded);
  rounded = select(x.isNaN(), bits.i(format.nan), rounded);
  Num sign = bits.shr(24) & bits.i(0x80);
  return (rounded | sign).resize(8);
}
