//===- RescalableSums.cpp - Sums relative to a maximum
//----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for the maximum that a sum is relative to.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/RescalableSums.h"

#include "fusion/Analysis/BodyValues.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;

std::optional<RescalableSum>
mlir::fusion::findRescalableSum(linalg::LinalgOp sum) {
  std::optional<Combiner> combiner = getOnlyCombiner(sum);
  if (!combiner || !isa<arith::AddFOp>(combiner->op))
    return std::nullopt;
  auto [exponential, base] =
      findOp<math::ExpOp>({combiner->element, sum, getLoops(sum)});
  if (!exponential)
    return std::nullopt;
  auto [difference, terms] =
      findOp<arith::SubFOp>(base.at(exponential.getOperand()));
  if (!difference)
    return std::nullopt;
  std::optional<TensorElement> result =
      findReduced(terms.at(difference.getRhs()));
  if (!result)
    return std::nullopt;
  auto maximum = result->tensor.getDefiningOp<linalg::LinalgOp>();
  std::optional<Combiner> largest = getOnlyCombiner(maximum);
  if (!largest || !isa<arith::MaximumFOp, arith::MaxNumFOp>(largest->op) ||
      largest->type != combiner->type)
    return std::nullopt;
  LoopMatcher matcher(sum, maximum);
  if (!matcher.haveSameResults(result->coords) ||
      !matcher.areSame(terms.at(difference.getLhs()),
                       {largest->element, maximum, getLoops(maximum)}) ||
      !matcher.knowsAll())
    return std::nullopt;
  return RescalableSum{maximum, sum, exponential.getFastmath()};
}
