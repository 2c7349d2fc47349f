//===- TotalDivision.cpp - Integer division that never traps --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that keeps integer division from trapping.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_TOTALDIVISIONPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;

/// True if the value is a constant, or a splat of one, that neither traps as a
/// divisor nor needs a look at the dividend.
static bool isHarmlessDivisor(Value divisor) {
  APInt value;
  return matchPattern(divisor, m_ConstantInt(&value)) && !value.isZero() &&
         !value.isAllOnes();
}

static Value createConstant(OpBuilder &b, Location loc, Type type,
                            const APInt &value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// Replaces the divisor of `op` by 1 where the division would trap.
static void guard(Operation *op, bool isSigned) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  if (!type.isIntOrIndex() || isHarmlessDivisor(divisor))
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto compare = [&](Value value, const APInt &bits) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                                 createConstant(b, loc, type, bits));
  };
  Value traps = compare(divisor, APInt::getZero(width));
  if (isSigned) {
    Value least = compare(dividend, APInt::getSignedMinValue(width));
    Value minusOne = compare(divisor, APInt::getAllOnes(width));
    Value both = arith::AndIOp::create(b, loc, least, minusOne);
    traps = arith::OrIOp::create(b, loc, traps, both);
  }
  Value one = createConstant(b, loc, type, APInt(width, 1));
  op->setOperand(1, arith::SelectOp::create(b, loc, traps, one, divisor));
}

namespace {
struct TotalDivisionPass
    : fusion::impl::TotalDivisionPassBase<TotalDivisionPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
              arith::FloorDivSIOp>(op))
        guard(op, /*isSigned=*/true);
      else if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
        guard(op, /*isSigned=*/false);
    });
  }
};
} // namespace
