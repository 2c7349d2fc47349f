//===- FoldedStates.cpp - States with all that a thread has ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements, of the elements x that a thread has of a tile,
//
//   m' = max(m, max x)                            a sum relative to its maximum
//   s' = s e^(m - m') + sum of e^(x - m')
//   A' = (A + B (m - m')) e^(m - m') + sum of e^(x - m') (q + u (x - m'))
//
//   c elements, t = sum x, r = sum (x - t/c)^2                        moments
//   q' = q + r + (t/c - s/n)^2 n c / (n + c)
//
// so that what it takes to combine is done once for all of them.
//
//===----------------------------------------------------------------------===//

#include "FoldedStates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;

static Value addFloats(OpBuilder &b, Value lhs, Value rhs) {
  return arith::AddFOp::create(b, lhs.getLoc(), lhs, rhs);
}

/// A product and the sum that it goes into may be one instruction.
static constexpr auto kContract = arith::FastMathFlags::contract;

static Value addProducts(OpBuilder &b, Value lhs, Value rhs) {
  return arith::AddFOp::create(b, lhs.getLoc(), lhs, rhs, kContract);
}

static Value multiply(OpBuilder &b, Value lhs, Value rhs) {
  return arith::MulFOp::create(b, lhs.getLoc(), lhs, rhs, kContract);
}

namespace {
/// Takes in one tile.
class RescaledFolder {
public:
  RescaledFolder(const RescaledSums &sums, const TileFold &fold,
                 TileBuilder &builder, ValueRange kept,
                 const RescaledElements &x, ArrayRef<unsigned> masked)
      : sums(sums), fold(fold), builder(builder), loc(builder.getLoc()),
        kept(kept), x(x), masked(masked) {}

  SmallVector<Value> run();

private:
  Value spread(TypedAttr number) {
    return builder
        .broadcast({builder.createConstant(number), {}}, fold.getAxes())
        .value;
  }
  void addPair(unsigned k);
  void addLinear();
  /// The sum of `terms`, which are of all elements, past the end as well.
  Value foldPresent(Value terms);

  const RescaledSums &sums;
  const TileFold &fold;
  TileBuilder &builder;
  Location loc;
  ValueRange kept;
  const RescaledElements &x;
  ArrayRef<unsigned> masked;
  SmallVector<Value> states;
  // By pair: what all is relative to, and what that makes of elements and of
  // the states so far.
  SmallVector<Value> bases, unfolded, exponentials, factors;
};
} // namespace

void RescaledFolder::addPair(unsigned k) {
  const RescaledSum &pair = sums.pairs[k];
  Value m = kept[2 * k], s = kept[2 * k + 1], element = x.maxima[k].value;
  auto maximum = [&](OpBuilder &b, Value lhs, Value rhs) {
    return combineValues(b, loc, pair.maximum, lhs, rhs);
  };
  Value largest = maximum(builder, m, fold.fold(element, maximum));
  // Of nothing but minus infinity all is zero times e to whatever is finite.
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       largest, spread(pair.getNeutral()[0]));
  Value base = arith::SelectOp::create(
      builder, loc, isNone, spread(FloatAttr::get(pair.type, 0.0)), largest);
  auto exponential = [&](Value value, Value from) -> Value {
    Value distance = arith::SubFOp::create(builder, loc, value, from);
    return math::ExpOp::create(builder, loc, distance, pair.fastmath);
  };
  bases.push_back(base);
  unfolded.push_back(fold.unfold(base));
  exponentials.push_back(exponential(element, unfolded.back()));
  factors.push_back(exponential(m, base));
  Value own = fold.fold(exponentials.back(), addFloats);
  Value before = arith::MulFOp::create(builder, loc, s, factors.back());
  states.push_back(largest);
  states.push_back(addFloats(builder, before, own));
}

Value RescaledFolder::foldPresent(Value terms) {
  const Tile &like = x.maxima.front();
  TypedAttr zero = FloatAttr::get(sums.getType(), 0.0);
  Tile present = builder.broadcast(
      builder.maskPast({terms, like.axes}, masked, zero), like.axes);
  return fold.fold(present.value, addProducts);
}

void RescaledFolder::addLinear() {
  const LinearSum &linear = *sums.linear;
  SmallVector<Value> elements, before;
  for (unsigned k = 0; k < sums.pairs.size(); ++k) {
    elements.push_back(x.maxima[k].value);
    before.push_back(buildFinite(builder, loc, kept[2 * k]));
  }
  Value terms =
      buildDistance(builder, loc, linear.distances, elements, unfolded);
  if (x.weight)
    terms = multiply(builder, x.weight->value, terms);
  if (x.plain)
    terms = addProducts(builder, x.plain->value, terms);
  if (linear.base)
    terms = multiply(builder, exponentials[*linear.base], terms);
  unsigned place = 2 * sums.pairs.size();
  Value a = kept[place], b = kept[sums.getWeights()];
  Value shift = buildDistance(builder, loc, linear.distances, before, bases);
  a = addProducts(builder, a, multiply(builder, b, shift));
  if (linear.base)
    a = multiply(builder, a, factors[*linear.base]);
  states.push_back(addProducts(builder, a, foldPresent(terms)));
  if (linear.sharesWeights())
    return;
  Value weights =
      x.weight ? x.weight->value
               : builder
                     .broadcast({builder.createConstant(
                                     FloatAttr::get(sums.getType(), 1.0)),
                                 {}},
                                x.maxima.front().axes)
                     .value;
  if (linear.base) {
    weights = multiply(builder, exponentials[*linear.base], weights);
    b = multiply(builder, b, factors[*linear.base]);
  }
  states.push_back(addProducts(builder, b, foldPresent(weights)));
}

SmallVector<Value> RescaledFolder::run() {
  for (unsigned k = 0; k < sums.pairs.size(); ++k)
    addPair(k);
  if (sums.linear)
    addLinear();
  return std::move(states);
}

SmallVector<Value> mlir::fusion::addRescaled(
    const RescaledSums &sums, const TileFold &fold, TileBuilder &builder,
    ValueRange kept, const RescaledElements &x, ArrayRef<unsigned> masked) {
  return RescaledFolder(sums, fold, builder, kept, x, masked).run();
}

SmallVector<Value> mlir::fusion::addMoments(const Moments &moments,
                                            const TileFold &fold,
                                            TileBuilder &builder,
                                            ValueRange kept, Tile x,
                                            ArrayRef<unsigned> masked) {
  Location loc = builder.getLoc();
  Value n = kept[0], s = kept[1], q = kept[2];
  FloatType type = moments.type;
  ArrayRef<unsigned> axes = fold.getAxes();
  auto number = [&](double value) -> TypedAttr {
    return FloatAttr::get(type, value);
  };
  auto constant = [&](double value) {
    return builder.createConstant(number(value));
  };
  auto spread = [&](Value value) {
    return builder.broadcast({value, {}}, axes).value;
  };
  bool sameCounts = n.getType() != s.getType();
  Value sum = fold.fold(x.value, addFloats);
  auto factor = static_cast<double>(fold.getFactor());
  Value count, mean, ones;
  if (sameCounts) {
    count = constant(factor);
    mean = multiply(builder, sum, spread(constant(1 / factor)));
  } else {
    Tile one = builder.maskPast({constant(1), {}}, masked, number(0));
    ones = builder.broadcast(one, x.axes).value;
    count = fold.fold(ones, addFloats);
    Value divisor =
        arith::MaximumFOp::create(builder, loc, count, spread(constant(1)));
    mean = arith::DivFOp::create(builder, loc, sum, divisor);
  }
  Value squares = spread(constant(0));
  if (factor > 1) {
    Value distance = arith::SubFOp::create(builder, loc, x.value,
                                           fold.unfold(mean), kContract);
    Value other = distance;
    if (!sameCounts)
      other = multiply(builder, distance, ones);
    squares = fold.fold(multiply(builder, other, distance), addProducts);
  }
  if (!sameCounts)
    return Moments::combine(builder, loc, kept, {count, sum, squares});
  // With n the same for all, what divides is computed once.
  Value isFirst = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                        n, constant(0));
  Value divisor =
      arith::SelectOp::create(builder, loc, isFirst, constant(1), n);
  Value share = arith::DivFOp::create(builder, loc, constant(1), divisor);
  Value all = arith::AddFOp::create(builder, loc, n, count);
  Value product = arith::MulFOp::create(builder, loc, n, count);
  Value weight = arith::DivFOp::create(builder, loc, product, all);
  Value distance = arith::SubFOp::create(
      builder, loc, mean, multiply(builder, s, spread(share)), kContract);
  Value term =
      multiply(builder, multiply(builder, distance, spread(weight)), distance);
  Value both = arith::AddFOp::create(builder, loc, q, term, kContract);
  return {all, arith::AddFOp::create(builder, loc, s, sum),
          arith::AddFOp::create(builder, loc, both, squares)};
}
