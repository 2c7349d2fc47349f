//===- Trigonometry.cpp - Circular functions and inverses -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the circular functions of the math expansion and their
// inverses.
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "Constants.h"
#include "Kernels.h"
#include "KernelsF64.h"
#include "ReduceAngle.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::constants;

namespace {
/// Sine and cosine of a reduced angle.
struct SineCosine {
  Num sine;
  Num cosine;
};
} // namespace

static SineCosine reducedSineCosine(Num r) {
  Num z = r * r;
  if (r.isF64())
    return {fma(r * z, poly(z, coefficients::sinF64), r),
            fma(z, poly(z, coefficients::cosF64), r.c(1.0))};
  return {fma(r * z, poly(z, coefficients::sinF32), r),
          fma(z, poly(z, coefficients::cosF32), r.c(1.0))};
}

static Num isOdd(Num quadrant) {
  return (quadrant & quadrant.i(1))
      .icmp(arith::CmpIPredicate::ne, quadrant.i(0));
}

/// `x` negated where bit 1 of `quadrant` is set.
static Num negateByBit1(Num x, Num quadrant) {
  unsigned width = x.element().getIntOrFloatBitWidth();
  Num sign = (quadrant & quadrant.i(2)).shl(width - 2);
  return (x.asInt() ^ sign).asFloat();
}

/// A sine or cosine for results of 16 bits: up to a sign the sine of what whole
/// half turns, or these and a half, leave. One polynomial on twice the interval
/// takes fewer instructions than two and a choice, but rounds more.
static Num sineOfHalfTurn(Num x, bool isCosine, const KernelOptions &options) {
  ReducedAngle angle = reduceToSine(x, isCosine, options.largestOperand);
  Num r = angle.rest, z = r * r;
  Num sine = fma(r * z, poly(z, coefficients::sinHalf), r);
  return (sine.asInt() ^ angle.turns.shl(31)).asFloat();
}

Num mlir::fusion::sinKernel(Num x, const KernelOptions &options) {
  if (options.fast && !x.isF64())
    return sinApprox(x);
  if (options.roundedToHalf)
    return sineOfHalfTurn(x, /*isCosine=*/false, options);
  ReducedAngle angle = reduceAngle(x, options.largestOperand);
  auto [sine, cosine] = reducedSineCosine(angle.rest);
  return negateByBit1(select(isOdd(angle.turns), cosine, sine), angle.turns);
}

Num mlir::fusion::cosKernel(Num x, const KernelOptions &options) {
  if (options.fast && !x.isF64())
    return cosApprox(x);
  if (options.roundedToHalf)
    return sineOfHalfTurn(x, /*isCosine=*/true, options);
  ReducedAngle angle = reduceAngle(x, options.largestOperand);
  auto [sine, cosine] = reducedSineCosine(angle.rest);
  // cos(q pi/2 + r) is cos r, -sin r, -cos r, sin r: negated in the quadrants
  // whose successor has bit 1 set.
  return negateByBit1(select(isOdd(angle.turns), sine, cosine),
                      angle.turns + angle.turns.i(1));
}

Num mlir::fusion::tanKernel(Num x, const KernelOptions &options) {
  if (options.fast && !x.isF64())
    return divFull(sinApprox(x), cosApprox(x));
  ReducedAngle angle = reduceAngle(x, options.largestOperand);
  auto [sine, cosine] = reducedSineCosine(angle.rest);
  Num odd = isOdd(angle.turns);
  return select(odd, -cosine, sine) / select(odd, sine, cosine);
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

/// atan(numerator / denominator) for 0 <= numerator, denominator, not both
/// infinite or 0.
static Num atanOfRatio(Num numerator, Num denominator) {
  // atan(t) directly below tan(pi/8), by pi/4 up to tan(3 pi/8), by pi/2 above;
  // one division serves all three.
  Num steep = numerator > denominator * denominator.c(2.414213562373095);
  Num middle = numerator > denominator * denominator.c(0.4142135623730951);
  Num top = select(steep, -denominator,
                   select(middle, numerator - denominator, numerator));
  Num bottom = select(steep, numerator,
                      select(middle, numerator + denominator, denominator));
  Num w = top / bottom;
  Num zero = w.c(0.0);
  Num base = select(steep, w.c(halfPiF64Hi),
                    select(middle, w.c(halfPiF64Hi / 2), zero));
  Num baseLow = select(steep, w.c(halfPiF64Mid),
                       select(middle, w.c(halfPiF64Mid / 2), zero));
  Num z = w * w;
  Num tail = fma(w * z, poly(z, coefficients::atanF64), baseLow);
  return base + (tail + w);
}

Num mlir::fusion::atanKernel(Num x, const KernelOptions &options) {
  if (x.isF64())
    return copysign(atanOfRatio(fabs(x), x.c(1.0)), x);
  // atan(a) directly up to 1, pi/2 - atan(1 / a) beyond, where pi/2 as a
  // product of two floats has the digits that one would lose.
  Num magnitude = fabs(x);
  Num steep = magnitude > x.c(1.0);
  Num t = select(steep, rcpApproxFtz(magnitude), magnitude);
  Num z = t * t;
  Num tail = options.roundedToHalf ? poly(z, coefficients::atanHalf)
                                   : poly(z, coefficients::atanF32);
  Num angle = fma(t * z, tail, t);
  Num rest = fma(x.c(halfPiF32FactorA), x.c(halfPiF32FactorB), -angle);
  return copysign(select(steep, rest, angle), x);
}

Num mlir::fusion::atan2Kernel(Num y, Num x, const KernelOptions &options) {
  if (!x.isF64())
    return atan2Kernel(y.extendTo(y.b().getF64Type()),
                       x.extendTo(x.b().getF64Type()), options)
        .truncateTo(x.element());
  Num rise = fabs(y), run = fabs(x);
  // Both infinite is the diagonal, both 0 the axis.
  Num infinite = rise.eq(x.inf()) & run.eq(x.inf());
  rise = select(infinite, x.c(1.0), rise);
  run = select(infinite, x.c(1.0), run);
  Num nothing = rise.eq(x.c(0.0)) & run.eq(x.c(0.0));
  run = select(nothing, x.c(1.0), run);
  // Halving keeps the sums and products of the reduction finite.
  Num huge = maxNum(rise, run) > x.c(0x1p1020);
  Num scale = select(huge, x.c(0.125), x.c(1.0));
  Num angle = atanOfRatio(rise * scale, run * scale);
  Num left = x.asInt().icmp(arith::CmpIPredicate::slt, x.asInt().i(0));
  Num mirrored = x.c(pi) - (angle - x.c(2 * halfPiF64Mid));
  return copysign(select(left, mirrored, angle), y);
}

namespace {
/// asin(w) = w + tail, |w| <= 1/2.
struct AsinParts {
  Num w;
  Num tail;
};
} // namespace

/// For x in [0, 1]: asin(x) where x <= 1/2, else asin(sqrt((1 - x) / 2)), which
/// is half of acos(x).
static AsinParts asinParts(Num magnitude, Num large) {
  Num folded = fma(magnitude, magnitude.c(-0.5), magnitude.c(0.5));
  Num z = select(large, folded, magnitude * magnitude);
  Num w = select(large, sqrt(folded), magnitude);
  return {w, w * z * poly(z, coefficients::asinF64)};
}

Num mlir::fusion::asinKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    Num magnitude = fabs(x);
    Num large = magnitude > x.c(0.5);
    auto [w, tail] = asinParts(magnitude, large);
    Num direct = w + tail;
    Num low = x.c(halfPiF64Mid) - (tail + tail);
    Num folded = x.c(halfPiF64Hi) - ((w + w) - low);
    return copysign(select(large, folded, direct), x);
  });
}

Num mlir::fusion::acosKernel(Num x, const KernelOptions &) {
  return throughF64(x, [](Num x) {
    Num magnitude = fabs(x);
    Num large = magnitude > x.c(0.5);
    auto [w, tail] = asinParts(magnitude, large);
    Num half = w + tail;
    Num twice = half + half;
    Num negative = x < x.c(0.0);
    Num folded =
        select(negative, x.c(pi) - (twice - x.c(2 * halfPiF64Mid)), twice);
    Num signedW = copysign(w, x), signedTail = copysign(tail, x);
    Num direct =
        x.c(halfPiF64Hi) - (signedW - (x.c(halfPiF64Mid) - signedTail));
    return select(large, folded, direct);
  });
}
