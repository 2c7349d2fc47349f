//===- Remainder.cpp - The exact remainder ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the remainder of a division of floats.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "KernelsF64.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;

/// r modulo y for finite r >= 0 and normal y > 0. Each turn takes away a
/// multiple of y of up to 41 bits, chosen so that quotient, product and
/// difference are exact.
static Num reduceByMultiples(Num r, Num y) {
  ImplicitLocOpBuilder &b = r.b();
  auto loop = scf::WhileOp::create(b, TypeRange{r.type()}, ValueRange{r});
  OpBuilder::InsertionGuard guard(b);
  Block *before =
      b.createBlock(&loop.getBefore(), {}, {r.type()}, {b.getLoc()});
  Num rest(b, before->getArgument(0));
  scf::ConditionOp::create(b, rest >= y, ValueRange{rest});

  Block *after = b.createBlock(&loop.getAfter(), {}, {r.type()}, {b.getLoc()});
  rest = Num(b, after->getArgument(0));
  Num yBits = y.asInt();
  Num gap = (rest.asInt() - yBits).sar(52) - yBits.i(40);
  Num shift =
      select(gap.icmp(arith::CmpIPredicate::sgt, gap.i(0)), gap, gap.i(0));
  Num multiple = (yBits + shift.shl(52)).asFloat();
  Num next = fma(-trunc(rest / multiple), multiple, rest);
  // The quotient may have rounded up to an integer that it does not reach.
  next = select(next < next.c(0.0), next + multiple, next);
  scf::YieldOp::create(b, ValueRange{next});
  return Num(b, loop.getResult(0));
}

static Num remainderF64(Num x, Num y) {
  Num zero = x.c(0.0), inf = x.inf();
  Num magnitude = fabs(x), divisor = fabs(y);
  Num defined = (magnitude < inf) & (divisor > zero);
  Num r = select(defined, magnitude, zero);
  divisor = select(defined, divisor, x.c(1.0));
  // A subnormal divisor has no exponent to compare: first by a large multiple
  // of it, and then both scaled.
  Num subnormal = divisor < x.c(0x1p-1022);
  Num scale = select(subnormal, x.c(0x1p54), x.c(1.0));
  divisor = divisor * scale;
  r = reduceByMultiples(r, divisor);
  r = reduceByMultiples(r * scale, divisor);
  r = r * select(subnormal, x.c(0x1p-54), x.c(1.0));
  return select(defined, copysign(r, x), x.nan());
}

Num mlir::fusion::remainderKernel(Num x, Num y) {
  if (x.isF64())
    return remainderF64(x, y);
  Type f64 = x.b().getF64Type();
  return remainderF64(x.extendTo(f64), y.extendTo(f64)).truncateTo(x.element());
}
