//===- LogOfSums.cpp - Logarithms of sums of exponentials -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of logarithms of sums of two
// exponentials, and those of many.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/LogOfSums.h"

#include "FloatConstants.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// Whether `op` has the operands `a` and `b`, in either order.
static bool isOfBoth(Operation *op, Value a, Value b) {
  return op && op->getNumOperands() == 2 &&
         ((op->getOperand(0) == a && op->getOperand(1) == b) ||
          (op->getOperand(0) == b && op->getOperand(1) == a));
}

/// The exponential of -|a - b| that `value` is; null for another value.
static math::ExpOp matchExponential(Value value, Value a, Value b) {
  auto exponential = value.getDefiningOp<math::ExpOp>();
  auto negated = exponential
                     ? exponential.getOperand().getDefiningOp<arith::NegFOp>()
                     : arith::NegFOp();
  auto distance = negated ? negated.getOperand().getDefiningOp<math::AbsFOp>()
                          : math::AbsFOp();
  return distance &&
                 isOfBoth(distance.getOperand().getDefiningOp<arith::SubFOp>(),
                          a, b)
             ? exponential
             : nullptr;
}

std::optional<LogOfSum> LogOfSum::match(Value combined, Value a, Value b) {
  auto sum = combined.getDefiningOp<arith::AddFOp>();
  for (unsigned side = 0; sum && side < 2; ++side) {
    Operation *maximum = sum->getOperand(side).getDefiningOp();
    auto logarithm = sum->getOperand(1 - side).getDefiningOp<math::Log1pOp>();
    if (!logarithm || !isOfBoth(maximum, a, b) ||
        !isa<arith::MaximumFOp, arith::MaxNumFOp>(maximum))
      continue;
    if (math::ExpOp exponential =
            matchExponential(logarithm.getOperand(), a, b))
      return LogOfSum{maximum, exponential, logarithm};
  }
  return std::nullopt;
}

std::optional<LogOfSum> LogOfSum::match(Block &combiner) {
  if (combiner.getNumArguments() != 2)
    return std::nullopt;
  return match(combiner.getTerminator()->getOperand(0), combiner.getArgument(0),
               combiner.getArgument(1));
}

Value LogOfSum::fold(OpBuilder &builder, Location loc,
                     ArrayRef<Value> elements) const {
  if (elements.size() == 1)
    return elements.front();
  Value greatest = elements.front(), others;
  Value one = buildNumber(builder, loc, greatest, 1);
  for (Value element : elements.drop_front()) {
    Value distance = arith::SubFOp::create(builder, loc, element, greatest);
    distance = math::AbsFOp::create(builder, loc, distance);
    // Of the lesser relative to the greater, 0 where one is infinite and NaN
    // where both are.
    Value term = math::ExpOp::create(
        builder, loc, arith::NegFOp::create(builder, loc, distance),
        math::ExpOp(exponential).getFastmath());
    if (others) {
      // Either the element joins the others, or what was the greatest does,
      // and all are scaled: r + e or r e + e.
      Value isGreater = arith::CmpFOp::create(
          builder, loc, arith::CmpFPredicate::OGT, element, greatest);
      Value scale = arith::SelectOp::create(builder, loc, isGreater, term, one);
      term = math::FmaOp::create(builder, loc, others, scale, term);
    }
    others = term;
    greatest = combineValues(builder, loc, maximum, greatest, element);
  }
  Value rest = math::Log1pOp::create(builder, loc, others);
  return arith::AddFOp::create(builder, loc, greatest, rest);
}
