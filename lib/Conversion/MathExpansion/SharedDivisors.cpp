//===- SharedDivisors.cpp - Quotients by one divisor ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements quotients by a divisor that several of a thread's have,
// such as the elements of a row by the row's sum. The division of PTX computes
// the reciprocal for each of them, and branches where an operand is extreme, as
// zero is: of a row with masked elements it takes both ways.
//
//===----------------------------------------------------------------------===//

#include "SharedDivisors.h"

#include "Num.h"
#include "fusion/Support/FloatRange.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// Quotients for which their divisor's reciprocal pays.
static constexpr unsigned kLeastQuotients = 4;

static bool isApproximate(arith::DivFOp op) {
  return bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
}

/// True for divisions by what is no count: those have patterns.
static bool mayShare(arith::DivFOp op) {
  return op.getType().isF32() &&
         (op.getFastmath() == arith::FastMathFlags::none ||
          isApproximate(op)) &&
         !Count::of(op.getRhs());
}

/// Computes `quotients`, all by `divisor`: as products by the reciprocal,
/// corrected by the rest that each leaves, which is exact. The reciprocal is
/// rounded once, so that the quotients are (Markstein, "Computation of
/// elementary functions on the IBM RISC System/6000 processor", 1990). Where
/// the rest is no part of the dividend, or no number, the product is the
/// quotient: of zeros and infinities, by them, and where it is too large; and
/// so it is where an approximation will do.
static void divideAll(Value divisor, ArrayRef<arith::DivFOp> quotients) {
  ImplicitLocOpBuilder b(divisor.getLoc(), divisor.getContext());
  b.setInsertionPointAfterValue(divisor);
  Num n(b, divisor);
  // The reciprocal of a subnormal number is too large for one.
  constexpr double kLeastNormal = 0x1p-126, kScale = 0x1p64;
  Num scale = select(fabs(n) < n.c(kLeastNormal), n.c(kScale), n.c(1.0));
  Num scaled = n * scale;
  Num reciprocal = n.c(1.0) / scaled;
  for (arith::DivFOp quotient : quotients) {
    b.setLoc(quotient.getLoc());
    b.setInsertionPoint(quotient);
    Num x = Num(b, quotient.getLhs()) * scale;
    Num result = x * reciprocal;
    if (!isApproximate(quotient)) {
      Num rest = fma(-result, scaled, x);
      result =
          select(fabs(rest) < fabs(x), fma(rest, reciprocal, result), result);
    }
    quotient.getResult().replaceAllUsesWith(result);
    quotient.erase();
  }
}

void mlir::fusion::shareReciprocals(Operation *root) {
  llvm::MapVector<Value, SmallVector<arith::DivFOp>> byDivisor;
  root->walk([&](arith::DivFOp op) {
    if (mayShare(op))
      byDivisor[op.getRhs()].push_back(op);
  });
  for (auto &[divisor, quotients] : byDivisor)
    if (quotients.size() >= kLeastQuotients)
      divideAll(divisor, quotients);
}
