//===- OpCosts.cpp - Arithmetic of scalar code ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the arithmetic cost of scalar ops. Transcendentals count
// the special functions they are built from and the polynomial around them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/OpCosts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

/// Flops beside the special functions, and the special functions, of one op.
static std::pair<double, double> getFlopsAndSfu(Operation *op) {
  using Pair = std::pair<double, double>;
  return llvm::TypeSwitch<Operation *, Pair>(op)
      // exp(x) is ex2(x * log2(e)); log(x) is lg2(x) * ln(2).
      .Case<math::ExpOp, math::LogOp, math::Log10Op>(
          [](auto) { return Pair(1, 1); })
      .Case<math::Exp2Op, math::Log2Op, math::RsqrtOp, math::TanhOp>(
          [](auto) { return Pair(0, 1); })
      .Case<math::SqrtOp>([](auto) { return Pair(1, 1); })
      .Case<math::SinOp, math::CosOp>([](auto) { return Pair(4, 1); })
      .Case<math::ExpM1Op, math::Log1pOp>([](auto) { return Pair(8, 1); })
      .Case<math::PowFOp>([](auto) { return Pair(4, 2); })
      // Polynomials with one exponential.
      .Case<math::ErfOp>([](auto) { return Pair(14, 1); })
      .Case<math::FmaOp>([](auto) { return Pair(2, 0); })
      // A reciprocal and one step of correction.
      .Case<arith::DivFOp, arith::RemFOp>([](auto) { return Pair(4, 1); })
      // Integer division is a sequence of about twenty instructions.
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [](auto) { return Pair(20, 0); })
      .Default([](Operation *) { return Pair(1, 0); });
}

OpCost mlir::fusion::getOpCost(Operation *op) {
  OpCost cost;
  if (op->getNumResults() == 0 || op->hasTrait<OpTrait::ConstantLike>() ||
      op->hasTrait<OpTrait::IsTerminator>())
    return cost;
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect != "arith" && dialect != "math")
    return cost;
  auto [flops, sfu] = getFlopsAndSfu(op);
  bool isDouble = llvm::any_of(op->getOperandTypes(),
                               [](Type type) { return type.isF64(); }) ||
                  op->getResult(0).getType().isF64();
  // The special function units have no f64: those are sequences of about ten
  // multiply-adds each.
  if (isDouble) {
    cost.fp64 = flops + 20 * sfu;
    return cost;
  }
  cost.fp32 = flops;
  cost.sfu = sfu;
  return cost;
}

OpCost mlir::fusion::getRegionCost(Region &region) {
  OpCost cost;
  region.walk([&](Operation *op) { cost += getOpCost(op); });
  return cost;
}
