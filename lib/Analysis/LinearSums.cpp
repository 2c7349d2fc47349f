//===- LinearSums.cpp - Sums linear in distances --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what a body does for a sum of terms that are linear in
// distances from maxima, and its recognition. The two keep to one form, with
// the states (m, A, B) and (x, E, U), of which hi is the larger maximum, where
// says that it is x, and f is the factor of the other, one pair after the other
// (RescaledSums.cpp):
//
//   F(v) = v == -inf ? 0 : v
//   a = A + B * sum of +-(F(m) - F(hi))      e = E + U * sum of +-(F(x) -
//   F(hi)) A' = a * (where ? f : 1) + e * (where ? 1 : f) B' = B * (where ? f :
//   1) + U * (where ? 1 : f)
//
// without the factors where terms have no exponential, and without B' where B
// is the sum of exponentials of a pair. One element has
//
//   E = q + U * sum of +-(x - F(x))
//
// without q or U where there is none.
//
//===----------------------------------------------------------------------===//

#include "LinearSums.h"

#include "FloatConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

static constexpr double kNone = -std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// What bodies do
//===----------------------------------------------------------------------===//

Value mlir::fusion::buildFinite(OpBuilder &builder, Location loc, Value value) {
  Value isNone =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value,
                            buildNumber(builder, loc, value, kNone));
  return arith::SelectOp::create(builder, loc, isNone,
                                 buildNumber(builder, loc, value, 0.0), value);
}

Value mlir::fusion::buildDistance(OpBuilder &builder, Location loc,
                                  ArrayRef<LinearSum::Distance> distances,
                                  ArrayRef<Value> values,
                                  ArrayRef<Value> from) {
  Value sum;
  for (auto [pair, isNegative] : distances) {
    Value lhs = values[pair], rhs = from[pair];
    if (isNegative)
      std::swap(lhs, rhs);
    Value one = arith::SubFOp::create(builder, loc, lhs, rhs);
    sum = sum ? arith::AddFOp::create(builder, loc, sum, one).getResult() : one;
  }
  return sum;
}

Value mlir::fusion::buildLinearElement(OpBuilder &builder, Location loc,
                                       const LinearSum &linear,
                                       ArrayRef<Value> values) {
  SmallVector<Value> finite;
  for (Value value : values)
    finite.push_back(buildFinite(builder, loc, value));
  Value term = buildDistance(builder, loc, linear.distances, values, finite);
  if (linear.weight)
    term = arith::MulFOp::create(builder, loc, linear.weight, term);
  if (linear.plain)
    term = arith::AddFOp::create(builder, loc, linear.plain, term);
  return term;
}

SmallVector<Value> mlir::fusion::combineLinear(
    OpBuilder &builder, Location loc, const RescaledSums &sums,
    ArrayRef<RescaledSum::Meeting> meetings, ValueRange kept, ValueRange next) {
  const LinearSum &linear = *sums.linear;
  unsigned place = 2 * sums.pairs.size(), weights = sums.getWeights();
  SmallVector<Value> larger;
  for (const RescaledSum::Meeting &meeting : meetings)
    larger.push_back(buildFinite(builder, loc, meeting.larger));
  // A and B of one side, relative to the larger maxima.
  auto move = [&](ValueRange states, bool isSecond) {
    SmallVector<Value> own;
    for (unsigned k = 0; k < sums.pairs.size(); ++k)
      own.push_back(buildFinite(builder, loc, states[2 * k]));
    Value shift = buildDistance(builder, loc, linear.distances, own, larger);
    Value a = states[place], b = states[weights];
    if (!isNumber(b, 1))
      shift = arith::MulFOp::create(builder, loc, b, shift);
    a = arith::AddFOp::create(builder, loc, a, shift);
    if (!linear.base)
      return std::pair(a, b);
    const RescaledSum::Meeting &meeting = meetings[*linear.base];
    Value one = buildNumber(builder, loc, a, 1.0);
    Value factor = arith::SelectOp::create(builder, loc, meeting.isSecond,
                                           isSecond ? one : meeting.factor,
                                           isSecond ? meeting.factor : one);
    a = arith::MulFOp::create(builder, loc, a, factor);
    if (!linear.sharesWeights())
      b = arith::MulFOp::create(builder, loc, b, factor);
    return std::pair(a, b);
  };
  auto [a, b] = move(kept, /*isSecond=*/false);
  auto [e, u] = move(next, /*isSecond=*/true);
  SmallVector<Value> states{arith::AddFOp::create(builder, loc, a, e)};
  if (!linear.sharesWeights())
    states.push_back(arith::AddFOp::create(builder, loc, b, u));
  return states;
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// `value` of an `Op`, as its operands; nothing of anything else.
template <typename Op>
static std::optional<std::pair<Value, Value>> split(Value value) {
  auto op = value ? value.getDefiningOp<Op>() : Op();
  if (!op)
    return std::nullopt;
  return std::pair<Value, Value>(op->getOperand(0), op->getOperand(1));
}

/// True when `value` is F(`of`).
static bool isFinite(Value value, Value of) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto isNone = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                       : arith::CmpFOp();
  return isNone && isNone.getPredicate() == arith::CmpFPredicate::OEQ &&
         isNone.getLhs() == of && isNumber(isNone.getRhs(), kNone) &&
         isNumber(select.getTrueValue(), 0) && select.getFalseValue() == of;
}

namespace {
/// The search in one body.
class LinearMatcher {
public:
  LinearMatcher(linalg::LinalgOp op, ArrayRef<RescaledSum> pairs);
  std::optional<LinearSum> match();

private:
  /// Which value of a body, of pair `k`.
  using OfPair = function_ref<bool(Value value, unsigned k)>;
  /// The distances that `value` is the sum of, from values `isFirst` to values
  /// `isSecond`.
  std::optional<SmallVector<LinearSum::Distance, 2>>
  matchDistances(Value value, OfPair isFirst, OfPair isSecond);
  /// What `value` is but for the factor of one side; notes the pair that the
  /// factor is of.
  Value dropFactor(Value value, bool isSecond);
  /// A + B d, without B where that is null, or E + U d.
  bool matchMoved(Value value, Value weights, Value &rest, OfPair isOwn);
  bool matchElement();
  bool matchWeights();

  SmallVector<Value> accumulators, results, elements;
  LinearSum linear;
  unsigned ofPairs;
};
} // namespace

LinearMatcher::LinearMatcher(linalg::LinalgOp op, ArrayRef<RescaledSum> pairs)
    : accumulators(
          op.getBlock()->getArguments().take_back(op.getNumDpsInits())),
      results(op.getBlock()->getTerminator()->getOperands()),
      ofPairs(2 * pairs.size()) {
  for (const RescaledSum &pair : pairs)
    elements.push_back(pair.element);
}

std::optional<SmallVector<LinearSum::Distance, 2>>
LinearMatcher::matchDistances(Value value, OfPair isFirst, OfPair isSecond) {
  SmallVector<Value> terms;
  while (auto sum = split<arith::AddFOp>(value)) {
    terms.push_back(sum->second);
    value = sum->first;
  }
  terms.push_back(value);
  SmallVector<LinearSum::Distance, 2> distances;
  for (Value term : llvm::reverse(terms)) {
    auto difference = split<arith::SubFOp>(term);
    if (!difference)
      return std::nullopt;
    auto [lhs, rhs] = *difference;
    std::optional<LinearSum::Distance> found;
    for (unsigned k = 0; k < elements.size() && !found; ++k) {
      if (isFirst(lhs, k) && isSecond(rhs, k))
        found = {k, false};
      else if (isFirst(rhs, k) && isSecond(lhs, k))
        found = {k, true};
    }
    if (!found)
      return std::nullopt;
    distances.push_back(*found);
  }
  return distances;
}

Value LinearMatcher::dropFactor(Value value, bool isSecond) {
  auto product = split<arith::MulFOp>(value);
  auto select = product ? product->second.getDefiningOp<arith::SelectOp>()
                        : arith::SelectOp();
  if (!select)
    return value;
  Value factor = isSecond ? select.getFalseValue() : select.getTrueValue();
  Value one = isSecond ? select.getTrueValue() : select.getFalseValue();
  for (unsigned k = 0; k < elements.size(); ++k) {
    // The sum of the pair has both.
    auto scaled = results[2 * k + 1].getDefiningOp<arith::AddFOp>();
    auto larger = scaled.getRhs().getDefiningOp<arith::SelectOp>();
    if (isNumber(one, 1) && select.getCondition() == larger.getCondition() &&
        split<arith::MulFOp>(scaled.getLhs())->second == factor &&
        linear.base.value_or(k) == k) {
      linear.base = k;
      return product->first;
    }
  }
  return value;
}

bool LinearMatcher::matchMoved(Value value, Value weights, Value &rest,
                               OfPair isOwn) {
  auto sum = split<arith::AddFOp>(value);
  if (!sum)
    return false;
  rest = sum->first;
  Value shift = sum->second;
  if (weights) {
    auto product = split<arith::MulFOp>(shift);
    if (!product || product->first != weights)
      return false;
    shift = product->second;
  }
  auto distances = matchDistances(shift, isOwn, [&](Value other, unsigned k) {
    return isFinite(other, results[2 * k]);
  });
  if (!distances)
    return false;
  if (linear.distances.empty())
    linear.distances = *distances;
  return linear.distances == *distances;
}

bool LinearMatcher::matchElement() {
  Value term = linear.element;
  auto isOwn = [&](Value value, unsigned k) { return value == elements[k]; };
  auto isItsBase = [&](Value value, unsigned k) {
    return isFinite(value, elements[k]);
  };
  auto isTerm = [&](Value value) {
    if (linear.weight) {
      auto product = split<arith::MulFOp>(value);
      if (!product || product->first != linear.weight)
        return false;
      value = product->second;
    }
    auto distances = matchDistances(value, isOwn, isItsBase);
    return distances && *distances == linear.distances;
  };
  if (isTerm(term))
    return true;
  auto sum = split<arith::AddFOp>(term);
  if (!sum || !isTerm(sum->second))
    return false;
  linear.plain = sum->first;
  return true;
}

bool LinearMatcher::matchWeights() {
  if (results.size() != ofPairs + 2)
    return linear.sharesWeights() && results.size() == ofPairs + 1;
  std::optional<unsigned> base = std::exchange(linear.base, std::nullopt);
  auto sum = split<arith::AddFOp>(results[ofPairs + 1]);
  if (!sum || dropFactor(sum->first, false) != accumulators[ofPairs + 1] ||
      linear.base != base)
    return false;
  Value u = dropFactor(sum->second, true);
  return linear.base == base && !linear.sharesWeights() &&
         (linear.weight ? u == linear.weight : isNumber(u, 1));
}

std::optional<LinearSum> LinearMatcher::match() {
  auto sum = split<arith::AddFOp>(results[ofPairs]);
  if (!sum)
    return std::nullopt;
  Value kept = dropFactor(sum->first, /*isSecond=*/false);
  std::optional<unsigned> base = std::exchange(linear.base, std::nullopt);
  Value next = dropFactor(sum->second, /*isSecond=*/true);
  if (linear.base != base)
    return std::nullopt;
  bool hasWeights = results.size() > ofPairs + 1;
  if (!hasWeights && !base)
    return std::nullopt;
  Value a, weights = accumulators[hasWeights ? ofPairs + 1 : 2 * *base + 1];
  auto isKept = [&](Value value, unsigned k) {
    return isFinite(value, accumulators[2 * k]);
  };
  auto isNext = [&](Value value, unsigned k) {
    return isFinite(value, elements[k]);
  };
  if (!matchMoved(kept, weights, a, isKept) || a != accumulators[ofPairs])
    return std::nullopt;
  if (!matchMoved(next, Value(), linear.element, isNext)) {
    auto moved = split<arith::AddFOp>(next);
    auto product = moved ? split<arith::MulFOp>(moved->second) : std::nullopt;
    linear.weight = product ? product->first : Value();
    if (!linear.weight ||
        !matchMoved(next, linear.weight, linear.element, isNext))
      return std::nullopt;
  }
  SmallVector<BlockArgument> own;
  for (Value accumulator : accumulators)
    own.push_back(cast<BlockArgument>(accumulator));
  if (dependsOn(linear.element, own) || !matchElement() || !matchWeights())
    return std::nullopt;
  return linear;
}

std::optional<LinearSum>
mlir::fusion::matchLinearSum(linalg::LinalgOp op, ArrayRef<RescaledSum> pairs) {
  if (static_cast<size_t>(op.getNumDpsInits()) > 2 * pairs.size() + 2)
    return std::nullopt;
  return LinearMatcher(op, pairs).match();
}
