//===- CenterSums.cpp - Variances in one sweep ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements sums of squares of distances from the mean in one sweep.
// The mean is known when all elements have been read; but what parts have of
// such a sum, each relative to its own mean, is put right by the distances of
// those means. Rows that no block can keep are then read once for both sums,
// and blocks that share a row exchange once what they have of them.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/CenterSums.h"

#include "JoinReductions.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Which sums
//===----------------------------------------------------------------------===//

/// Elements that `op` reduces to each of its results, where that is known.
static std::optional<int64_t> countTerms(linalg::LinalgOp op) {
  int64_t terms = 1;
  for (auto [size, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction &&
        (ShapedType::isDynamic(size) || llvm::MulOverflow(terms, size, terms)))
      return std::nullopt;
  return terms;
}

/// True for a constant of f32 that is `number`, rounded.
static bool isNumber(Value value, double number) {
  FloatAttr constant;
  return matchPattern(value, m_Constant(&constant)) &&
         constant.getType().isF32() &&
         constant.getValue().convertToFloat() == static_cast<float>(number);
}

/// The sum that `mean` is the mean of, as an element of a reduction's result:
/// it is divided by the number of its terms, or multiplied by the inverse.
static std::optional<TensorElement> findSumOfMean(const BodyValue &mean,
                                                  int64_t terms) {
  auto count = static_cast<double>(terms);
  auto [division, divided] = findOp<arith::DivFOp>(mean);
  if (division)
    return isNumber(division.getRhs(), count)
               ? findReduced(divided.at(division.getLhs()))
               : std::nullopt;
  auto [product, scaled] = findOp<arith::MulFOp>(mean);
  if (!product)
    return std::nullopt;
  for (bool isRight : {true, false}) {
    Value factor = isRight ? product.getRhs() : product.getLhs();
    Value sum = isRight ? product.getLhs() : product.getRhs();
    if (isNumber(factor, 1 / count))
      return findReduced(scaled.at(sum));
  }
  return std::nullopt;
}

std::optional<CenteredSum>
mlir::fusion::findCenteredSum(linalg::LinalgOp squares) {
  std::optional<Combiner> combiner = getOnlyCombiner(squares);
  std::optional<int64_t> terms = combiner ? countTerms(squares) : std::nullopt;
  if (!terms || !isa<arith::AddFOp>(combiner->op) || !combiner->type.isF32())
    return std::nullopt;
  auto [square, factors] =
      findOp<arith::MulFOp>({combiner->element, squares, getLoops(squares)});
  if (!square)
    return std::nullopt;
  auto [distance, parts] = findOp<arith::SubFOp>(factors.at(square.getLhs()));
  auto [other, otherParts] = findOp<arith::SubFOp>(factors.at(square.getRhs()));
  if (!distance || distance != other || parts.point != otherParts.point)
    return std::nullopt;
  std::optional<TensorElement> result =
      findSumOfMean(parts.at(distance.getRhs()), *terms);
  if (!result)
    return std::nullopt;
  auto sum = result->tensor.getDefiningOp<linalg::LinalgOp>();
  std::optional<Combiner> added = getOnlyCombiner(sum);
  if (!added || !isa<arith::AddFOp>(added->op) || !added->type.isF32())
    return std::nullopt;
  LoopMatcher matcher(squares, sum);
  if (!matcher.haveSameResults(result->coords) ||
      !matcher.areSame(parts.at(distance.getLhs()),
                       {added->element, sum, getLoops(sum)}) ||
      !matcher.knowsAll())
    return std::nullopt;
  return CenteredSum{sum, squares};
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

linalg::GenericOp mlir::fusion::centerSum(const CenteredSum &found) {
  linalg::LinalgOp sum = found.sum, squares = found.squares;
  OpBuilder builder(sum);
  Location loc = squares.getLoc();
  Value init = sum.getDpsInitOperand(0)->get();
  SmallVector<Value> inits(
      3, buildFilled(builder, loc, init, builder.getF32FloatAttr(0)));
  linalg::GenericOp both = buildJoined(
      builder, sum, matchCombiner(sum, 0), inits,
      [](OpBuilder &b, Location at, ValueRange kept, Value element) {
        return Moments::add(b, at, kept, element);
      });
  sum->getResult(0).replaceAllUsesWith(both.getResult(1));
  squares->getResult(0).replaceAllUsesWith(both.getResult(2));
  eraseUnused(squares);
  eraseUnused(sum);
  return both;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite mlir::fusion::getCenterRewrite(const TargetInfo &target) {
  return getJoinRewrite(
      ReasonCode::CenteredSum, target.fitted.kernels.joinedShare,
      [](linalg::LinalgOp op) -> std::optional<RewriteMatch> {
        std::optional<CenteredSum> found = findCenteredSum(op);
        if (!found)
          return std::nullopt;
        return getJoinMatch(found->sum, found->squares,
                            [found]() { return centerSum(*found); });
      });
}
