//===- Moments.cpp - Sums and squares of distances from the mean ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of sums that are made together with the
// sum of squares of distances from the mean, and how parts of them are
// combined. What one element x adds to the states (n, s, q) keeps to one form:
//
//   n' = n + 1          d = x - s / n
//   s' = s + x          t = n == 0 ? 0 : d * d * (n / n')
//                       q' = q + t
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Reductions.h"

#include "FloatConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// What the squares grow by where parts `distance` from each other meet:
/// distance^2 * (product / count), where `count` is the number of elements of
/// both and `product` that of one times that of the other; nothing if one has
/// none.
static Value buildTerm(OpBuilder &b, Location loc, Value distance,
                       Value product, Value count) {
  Value square = arith::MulFOp::create(b, loc, distance, distance);
  Value weight = arith::DivFOp::create(b, loc, product, count);
  Value term = arith::MulFOp::create(b, loc, square, weight);
  Value zero = buildNumber(b, loc, product, 0.0);
  Value isAlone =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, product, zero);
  return arith::SelectOp::create(b, loc, isAlone, zero, term);
}

SmallVector<Value> Moments::add(OpBuilder &b, Location loc, ValueRange kept,
                                Value x) {
  Value n = kept[0], s = kept[1], q = kept[2];
  Value count = arith::AddFOp::create(b, loc, n, buildNumber(b, loc, n, 1.0));
  Value sum = arith::AddFOp::create(b, loc, s, x);
  Value mean = arith::DivFOp::create(b, loc, s, n);
  Value distance = arith::SubFOp::create(b, loc, x, mean);
  Value term = buildTerm(b, loc, distance, n, count);
  return {count, sum, arith::AddFOp::create(b, loc, q, term)};
}

SmallVector<Value> Moments::combine(OpBuilder &b, Location loc, ValueRange kept,
                                    ValueRange next) {
  Value n = kept[0], s = kept[1], m = next[0], t = next[1];
  Value count = arith::AddFOp::create(b, loc, n, m);
  Value sum = arith::AddFOp::create(b, loc, s, t);
  Value mean = arith::DivFOp::create(b, loc, s, n);
  Value other = arith::DivFOp::create(b, loc, t, m);
  Value distance = arith::SubFOp::create(b, loc, other, mean);
  Value product = arith::MulFOp::create(b, loc, n, m);
  Value term = buildTerm(b, loc, distance, product, count);
  Value squares = arith::AddFOp::create(b, loc, kept[2], next[2]);
  return {count, sum, arith::AddFOp::create(b, loc, squares, term)};
}

/// The op that makes `value`, if it is an `Op` of `lhs` and anything, or of
/// `lhs` and `rhs`.
template <typename Op>
static Op findMaker(Value value, Value lhs, Value rhs = nullptr) {
  auto op = value ? value.getDefiningOp<Op>() : Op();
  if (!op || op->getOperand(0) != lhs || (rhs && op->getOperand(1) != rhs))
    return nullptr;
  return op;
}

/// True when `term` is what an element `x` adds to the squares of the elements
/// (n, s), with which there are `count`.
static bool isTerm(Value term, Value n, Value s, Value count, Value x) {
  auto select = term.getDefiningOp<arith::SelectOp>();
  if (!select || !isNumber(select.getTrueValue(), 0))
    return false;
  auto isFirst = select.getCondition().getDefiningOp<arith::CmpFOp>();
  auto product = select.getFalseValue().getDefiningOp<arith::MulFOp>();
  if (!isFirst || isFirst.getPredicate() != arith::CmpFPredicate::OEQ ||
      isFirst.getLhs() != n || !isNumber(isFirst.getRhs(), 0) || !product ||
      !findMaker<arith::DivFOp>(product.getRhs(), n, count))
    return false;
  auto square = product.getLhs().getDefiningOp<arith::MulFOp>();
  if (!square || square.getLhs() != square.getRhs())
    return false;
  auto distance = findMaker<arith::SubFOp>(square.getLhs(), x);
  return distance && findMaker<arith::DivFOp>(distance.getRhs(), s, n);
}

std::optional<Moments> mlir::fusion::matchMoments(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 3 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  Block *block = op.getBlock();
  ArrayRef<BlockArgument> accumulators = block->getArguments().take_back(3);
  Value n = accumulators[0], s = accumulators[1], q = accumulators[2];
  auto type = dyn_cast<FloatType>(n.getType());
  if (!type || s.getType() != type || q.getType() != type)
    return std::nullopt;
  ValueRange results = block->getTerminator()->getOperands();
  auto count = findMaker<arith::AddFOp>(results[0], n);
  auto sum = findMaker<arith::AddFOp>(results[1], s);
  auto squares = findMaker<arith::AddFOp>(results[2], q);
  if (!count || !isNumber(count.getRhs(), 1) || !sum || !squares)
    return std::nullopt;
  Value x = sum.getRhs();
  if (dependsOn(x, accumulators) || !isTerm(squares.getRhs(), n, s, count, x))
    return std::nullopt;
  return Moments{x, type};
}

bool mlir::fusion::isDearToCombine(linalg::LinalgOp op) {
  return matchMoments(op) || matchRescaledSums(op);
}
