//===- RescaleSums.cpp - Sums relative to a maximum -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements softmax statistics in one sweep. The sum of exp(x - m)
// needs the maximum m of all x; but exp(x - m') = exp(x - m) exp(m - m'), so
// that a sum relative to a maximum so far is put right by a factor when a
// larger element comes. Rows that no block can keep are then read once for
// both.
//
// Where m is infinite, or NaN, the sum as it was written is NaN: an element
// equal to m gives exp(m - m). The rewritten sum adds m - m, which is zero for
// all other m.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/RescaleSums.h"

#include "JoinReductions.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

linalg::GenericOp mlir::fusion::rescaleSum(const RescalableSum &found) {
  linalg::LinalgOp maximum = found.maximum, sum = found.sum;
  OpBuilder builder(maximum);
  Location loc = sum.getLoc();
  Combiner combiner = matchCombiner(maximum, 0);
  RescaledSums form;
  form.pairs.push_back({Value(), Value(), combiner.op,
                        cast<FloatType>(combiner.type), found.fastmath});
  Value init = maximum.getDpsInitOperand(0)->get();
  SmallVector<Value> inits;
  for (unsigned i = 0; i < form.getNumStates(); ++i)
    inits.push_back(buildFilled(builder, loc, init, form.getNeutral(i)));
  linalg::GenericOp both = buildJoined(
      builder, maximum, combiner, inits,
      [&](OpBuilder &b, Location at, ValueRange kept, Value element) {
        Value one = arith::ConstantOp::create(
            b, at, b.getFloatAttr(form.getType(), 1.0));
        return form.combine(b, at, kept, {element, one});
      });
  Value checked =
      buildChecked(builder, loc, both.getResult(0), both.getResult(1));
  maximum->getResult(0).replaceAllUsesWith(both.getResult(0));
  sum->getResult(0).replaceAllUsesWith(checked);
  eraseUnused(sum);
  eraseUnused(maximum);
  return both;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite mlir::fusion::getRescaleRewrite(const TargetInfo &target) {
  return getJoinRewrite(
      ReasonCode::RescaledSum, target.fitted.kernels.joinedShare,
      [](linalg::LinalgOp op) -> std::optional<RewriteMatch> {
        std::optional<RescalableSum> found = findRescalableSum(op);
        if (!found)
          return std::nullopt;
        return getJoinMatch(found->maximum, found->sum,
                            [found]() { return rescaleSum(*found); });
      });
}
