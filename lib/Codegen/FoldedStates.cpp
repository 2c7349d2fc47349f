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

SmallVector<Value> mlir::fusion::addRescaled(const RescaledSum &sum,
                                             const TileFold &fold,
                                             TileBuilder &builder,
                                             ValueRange kept, Tile x) {
  Location loc = builder.getLoc();
  Value m = kept[0], s = kept[1];
  ArrayRef<unsigned> axes = fold.getAxes();
  auto spread = [&](TypedAttr number) {
    return builder.broadcast({builder.createConstant(number), {}}, axes).value;
  };
  auto maximum = [&](OpBuilder &b, Value lhs, Value rhs) {
    return combineValues(b, loc, sum.maximum, lhs, rhs);
  };
  Value largest = maximum(builder, m, fold.fold(x.value, maximum));
  // Of nothing but minus infinity all is zero times e to whatever is finite.
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       largest, spread(sum.getNeutral()[0]));
  Value base = arith::SelectOp::create(
      builder, loc, isNone, spread(FloatAttr::get(sum.type, 0.0)), largest);
  auto exponential = [&](Value value, Value from) -> Value {
    Value distance = arith::SubFOp::create(builder, loc, value, from);
    return math::ExpOp::create(builder, loc, distance);
  };
  Value terms = exponential(x.value, fold.unfold(base));
  Value own = fold.fold(terms, addFloats);
  Value before = arith::MulFOp::create(builder, loc, s, exponential(m, base));
  return {largest, addFloats(builder, before, own)};
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
  // A product and the sum that it goes into may be one instruction.
  auto contract = arith::FastMathFlags::contract;
  auto multiply = [&](Value lhs, Value rhs) -> Value {
    return arith::MulFOp::create(builder, loc, lhs, rhs, contract);
  };
  bool sameCounts = n.getType() != s.getType();
  Value sum = fold.fold(x.value, addFloats);
  auto factor = static_cast<double>(fold.getFactor());
  Value count, mean, ones;
  if (sameCounts) {
    count = constant(factor);
    mean = multiply(sum, spread(constant(1 / factor)));
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
                                           fold.unfold(mean), contract);
    Value other = distance;
    if (!sameCounts)
      other = multiply(distance, ones);
    squares =
        fold.fold(multiply(other, distance),
                  [&](OpBuilder &b, Value lhs, Value rhs) -> Value {
                    return arith::AddFOp::create(b, loc, lhs, rhs, contract);
                  });
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
  Value distance = arith::SubFOp::create(builder, loc, mean,
                                         multiply(s, spread(share)), contract);
  Value term = multiply(multiply(distance, spread(weight)), distance);
  Value both = arith::AddFOp::create(builder, loc, q, term, contract);
  return {all, arith::AddFOp::create(builder, loc, s, sum),
          arith::AddFOp::create(builder, loc, both, squares)};
}
