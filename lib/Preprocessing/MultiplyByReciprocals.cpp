//===- MultiplyByReciprocals.cpp - Quotients that products equal ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that makes a product of a quotient by a power
// of two, as the square root of a head's width is one: both round the same
// number, so that they are equal bit for bit. Of other divisors a product by
// the reciprocal is not: it misses the middle of two numbers where quotients
// are just that, as subnormal ones can be.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_MULTIPLYBYRECIPROCALSPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

static void multiply(arith::DivFOp quotient) {
  APFloat number(0.0f), inverse(0.0f);
  if (!matchPattern(quotient.getRhs(), m_ConstantFloat(&number)) ||
      !number.getExactInverse(&inverse))
    return;
  OpBuilder builder(quotient);
  Location loc = quotient.getLoc();
  Value factor = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(quotient.getType(), inverse));
  Value product = arith::MulFOp::create(builder, loc, quotient.getLhs(), factor,
                                        quotient.getFastmath());
  quotient.replaceAllUsesWith(product);
  quotient.erase();
}

namespace {
class MultiplyByReciprocalsPass
    : public fusion::impl::MultiplyByReciprocalsPassBase<
          MultiplyByReciprocalsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<arith::DivFOp> quotients;
    getOperation()->walk([&](linalg::LinalgOp op) {
      llvm::append_range(quotients, op.getBlock()->getOps<arith::DivFOp>());
    });
    llvm::for_each(quotients, multiply);
  }
};
} // namespace
