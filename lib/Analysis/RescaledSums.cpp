//===- RescaledSums.cpp - Sums relative to a maximum ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of sums of exponentials that are made
// together with the maximum that they are relative to, and how parts of them
// are combined. The two keep to one form:
//
//   hi = max(m, x)                  where = x > m
//   lo = minimum(m, x)              larger = where ? t : s
//   e = exp(lo - hi)                smaller = where ? s : t
//   f = lo == -inf ? 0 : e          s' = smaller * f + larger
//
// of the states (m, s) and (x, t); one element has t = 1. LinearSums.cpp has
// the form of what else such a reduction adds up.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Reductions.h"

#include "FloatConstants.h"
#include "LinearSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

RescaledSum::Meeting RescaledSum::meet(OpBuilder &builder, Location loc,
                                       Value m, Value x) const {
  Value hi = combineValues(builder, loc, maximum, m, x);
  Value lo = arith::MinimumFOp::create(builder, loc, m, x);
  Value difference = arith::SubFOp::create(builder, loc, lo, hi);
  Value factor = math::ExpOp::create(builder, loc, difference, fastmath);
  Value isNone = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OEQ, lo,
      buildNumber(builder, loc, lo, -std::numeric_limits<double>::infinity()));
  Value zero = buildNumber(builder, loc, lo, 0.0);
  factor = arith::SelectOp::create(builder, loc, isNone, zero, factor);
  Value where =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, x, m);
  return {hi, where, factor};
}

std::array<TypedAttr, 2> RescaledSum::getNeutral() const {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  return {FloatAttr::get(type, APFloat::getInf(semantics, /*Negative=*/true)),
          FloatAttr::get(type, APFloat::getZero(semantics))};
}

/// True when `value` is made by an `Op` of `operands`.
template <typename Op>
static bool isMadeBy(Value value, ArrayRef<Value> operands) {
  auto op = value.getDefiningOp<Op>();
  return op && llvm::equal(op->getOperands(), operands);
}

/// The exponential that the factor of the smaller sum is, when `value` is it.
static math::ExpOp matchFactor(Value value, Value m, Value x, Value hi) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || !isNumber(select.getTrueValue(), 0))
    return nullptr;
  auto isNone = select.getCondition().getDefiningOp<arith::CmpFOp>();
  auto exponential = select.getFalseValue().getDefiningOp<math::ExpOp>();
  if (!isNone || !exponential ||
      isNone.getPredicate() != arith::CmpFPredicate::OEQ ||
      !isNumber(isNone.getRhs(), -std::numeric_limits<double>::infinity()))
    return nullptr;
  Value lo = isNone.getLhs();
  return isMadeBy<arith::MinimumFOp>(lo, {m, x}) &&
                 isMadeBy<arith::SubFOp>(exponential.getOperand(), {lo, hi})
             ? exponential
             : math::ExpOp();
}

/// The pair that results `first` and the next of `op` are.
static std::optional<RescaledSum>
matchPair(linalg::LinalgOp op, ArrayRef<BlockArgument> accumulators,
          unsigned first) {
  ValueRange results = op.getBlock()->getTerminator()->getOperands();
  Value m = accumulators[first], s = accumulators[first + 1];
  Value hi = results[first];
  auto sum = results[first + 1].getDefiningOp<arith::AddFOp>();
  Operation *maximum = hi.getDefiningOp();
  auto type = dyn_cast<FloatType>(m.getType());
  if (!sum || !isa_and_present<arith::MaximumFOp, arith::MaxNumFOp>(maximum) ||
      maximum->getOperand(0) != m || !type || s.getType() != type)
    return std::nullopt;
  Value x = maximum->getOperand(1);
  auto scaled = sum.getLhs().getDefiningOp<arith::MulFOp>();
  auto larger = sum.getRhs().getDefiningOp<arith::SelectOp>();
  if (!scaled || !larger || dependsOn(x, accumulators))
    return std::nullopt;
  Value where = larger.getCondition(), one = larger.getTrueValue();
  auto comparison = where.getDefiningOp<arith::CmpFOp>();
  if (!comparison || comparison.getPredicate() != arith::CmpFPredicate::OGT ||
      comparison.getLhs() != x || comparison.getRhs() != m ||
      !isNumber(one, 1) || larger.getFalseValue() != s ||
      !isMadeBy<arith::SelectOp>(scaled.getLhs(), {where, s, one}))
    return std::nullopt;
  math::ExpOp factor = matchFactor(scaled.getRhs(), m, x, hi);
  if (!factor)
    return std::nullopt;
  return RescaledSum{x, one, maximum, type, factor.getFastmath()};
}

//===----------------------------------------------------------------------===//
// Several in one reduction
//===----------------------------------------------------------------------===//

unsigned RescaledSums::getNumStates() const {
  unsigned ofPairs = 2 * pairs.size();
  return linear ? ofPairs + (linear->sharesWeights() ? 1 : 2) : ofPairs;
}

unsigned RescaledSums::getWeights() const {
  return linear->sharesWeights() ? 2 * *linear->base + 1 : 2 * pairs.size() + 1;
}

Value RescaledSums::getElement(unsigned number) const {
  if (number / 2 < pairs.size())
    return number % 2 == 0 ? pairs[number / 2].element : pairs[number / 2].one;
  if (number % 2 == 0)
    return linear->element;
  return linear->weight ? linear->weight : pairs.front().one;
}

TypedAttr RescaledSums::getNeutral(unsigned number) const {
  return pairs.front().getNeutral()[number / 2 < pairs.size() ? number % 2 : 1];
}

bool RescaledSums::decidesBy(unsigned number) const {
  return number / 2 >= pairs.size() || number % 2 == 0;
}

SmallVector<Value> RescaledSums::combine(OpBuilder &builder, Location loc,
                                         ValueRange kept,
                                         ValueRange next) const {
  SmallVector<Value> states;
  SmallVector<RescaledSum::Meeting> meetings;
  for (auto [k, pair] : llvm::enumerate(pairs)) {
    Value s = kept[2 * k + 1], t = next[2 * k + 1];
    auto [hi, where, factor] = meetings.emplace_back(
        pair.meet(builder, loc, kept[2 * k], next[2 * k]));
    Value larger = arith::SelectOp::create(builder, loc, where, t, s);
    Value smaller = arith::SelectOp::create(builder, loc, where, s, t);
    Value scaled = arith::MulFOp::create(builder, loc, smaller, factor);
    states.push_back(hi);
    states.push_back(arith::AddFOp::create(builder, loc, scaled, larger));
  }
  if (linear)
    llvm::append_range(
        states, combineLinear(builder, loc, *this, meetings, kept, next));
  return states;
}

std::optional<RescaledSums>
mlir::fusion::matchRescaledSums(linalg::LinalgOp op) {
  unsigned results = op.getNumDpsInits();
  if (results < 2 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  ArrayRef<BlockArgument> accumulators =
      op.getBlock()->getArguments().take_back(results);
  RescaledSums sums;
  while (2 * sums.pairs.size() + 2 <= results) {
    std::optional<RescaledSum> pair =
        matchPair(op, accumulators, 2 * sums.pairs.size());
    if (!pair || (!sums.pairs.empty() && pair->type != sums.getType()))
      break;
    sums.pairs.push_back(*pair);
  }
  if (sums.pairs.empty())
    return std::nullopt;
  if (results > 2 * sums.pairs.size()) {
    sums.linear = matchLinearSum(op, sums.pairs);
    if (!sums.linear || results != sums.getNumStates())
      return std::nullopt;
  }
  return sums;
}
