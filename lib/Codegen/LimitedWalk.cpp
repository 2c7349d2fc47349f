//===- LimitedWalk.cpp - Walks that masks of positions limit --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the first and the last step of a walk from what limits
// its elements. With c w + r >= 0 where an element at w counts, and R the most
// that r is within the block's tile, w is
//
//   at most R / -c  where c < 0,      at least -R / c  where c > 0.
//
// Blocks compute that in 64 bits: sums of factors and coordinates fit.
//
//===----------------------------------------------------------------------===//

#include "LimitedWalk.h"

#include "fusion/Analysis/WalkLimits.h"
#include "fusion/Support/LinearExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// More than positions in tensors and what limits add to them.
static constexpr int64_t kFar = int64_t(1) << 42;

namespace {
/// Computes the bounds of one walk.
class WalkLimiter {
public:
  WalkLimiter(scf::ForOp loop, unsigned walk, TileEvaluator &evaluator)
      : loop(loop), walk(walk), evaluator(evaluator),
        builder(evaluator.getBuilder()), kernel(builder.getKernel()),
        axes(builder.getAxes()), loc(loop.getLoc()) {}

  LogicalResult limit(ArrayRef<Reduction> group);

private:
  /// `scalar` over the symbols of sizes, or as one of `scalars`, the symbols
  /// behind these.
  AffineExpr getExpr(Value scalar);
  /// `limit`, over axes and both kinds of symbols.
  std::optional<LinearExpr> getOwn(AffineExpr limit);
  /// What limits the elements of `member`.
  SmallVector<AffineExpr, 2> findLimits(const Reduction &member);
  /// True for symbols that may be any number, other than sizes.
  bool isScalar(unsigned symbol) const;
  FailureOr<Value> getSymbol(unsigned number);
  /// The most that a limit is but for the walk's own coordinate.
  FailureOr<Value> findMost(const LinearExpr &linear);
  LogicalResult addBound(const LinearExpr &linear);

  Value number(int64_t value) {
    return builder.createConstant(builder.getI64IntegerAttr(value));
  }
  Value widen(Value value) {
    Type i64 = builder.getI64Type();
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(builder, loc, i64, value);
    return value.getType() == i64
               ? value
               : arith::ExtSIOp::create(builder, loc, i64, value).getResult();
  }
  /// `value`, not negative, as an index, at most the end of the walk.
  Value narrow(Value value);

  scf::ForOp loop;
  unsigned walk;
  TileEvaluator &evaluator;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
  SmallVector<Value> scalars;
  /// Where the walk begins and ends, in 64 bits; null where nothing says so.
  Value begin, end;
};
} // namespace

AffineExpr WalkLimiter::getExpr(Value scalar) {
  FailureOr<AffineExpr> known = kernel.getShapes().getIndex(scalar);
  if (succeeded(known))
    return *known;
  unsigned number = llvm::find(scalars, scalar) - scalars.begin();
  if (number == scalars.size())
    scalars.push_back(scalar);
  return builder.getAffineSymbolExpr(kernel.getNumSymbols() + number);
}

std::optional<LinearExpr> WalkLimiter::getOwn(AffineExpr limit) {
  return getLinear(limit, axes.size(), kernel.getNumSymbols() + scalars.size());
}

SmallVector<AffineExpr, 2> WalkLimiter::findLimits(const Reduction &member) {
  // Coordinates that are computed have symbols where scalars have theirs.
  bool isComputed = llvm::any_of(member.loopCoords, [&](AffineExpr coord) {
    bool found = false;
    coord.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      found |= symbol && symbol.getPosition() >= kernel.getNumSymbols();
    });
    return found;
  });
  SmallVector<Value> symbols;
  SmallVector<AffineExpr, 2> limits;
  if (!isComputed)
    limits = findElementLimits(member.op, symbols);
  SmallVector<AffineExpr> values;
  for (Value symbol : symbols)
    values.push_back(getExpr(symbol));
  for (AffineExpr &limit : limits)
    limit = simplifyAffineExpr(
        limit.replaceDimsAndSymbols(member.loopCoords, values), axes.size(),
        kernel.getNumSymbols() + scalars.size());
  llvm::erase_if(limits, [&](AffineExpr limit) {
    std::optional<LinearExpr> linear = getOwn(limit);
    return !linear || linear->factors[walk] == 0;
  });
  return limits;
}

bool WalkLimiter::isScalar(unsigned symbol) const {
  ArrayRef<SymbolicShapes::Symbol> sizes = kernel.getShapes().getSymbols();
  return symbol >= sizes.size() ||
         sizes[symbol].kind == SymbolicShapes::SymbolKind::Scalar;
}

FailureOr<Value> WalkLimiter::getSymbol(unsigned number) {
  unsigned sizes = kernel.getNumSymbols();
  if (number < sizes)
    return builder.getSize(builder.getAffineSymbolExpr(number));
  FailureOr<Tile> scalar = evaluator.evaluateScalar(scalars[number - sizes]);
  if (failed(scalar))
    return failure();
  return scalar->value;
}

FailureOr<Value> WalkLimiter::findMost(const LinearExpr &linear) {
  // Groups and blocks that have parts of a tile walk it together: they share
  // what is loaded on the way.
  auto find = [&](unsigned i) -> const Axis & {
    return axes[i].whole && !axes[i].start ? axes[*axes[i].whole] : axes[i];
  };
  int64_t known = linear.number;
  for (unsigned i = 0; i < axes.size(); ++i)
    if (i != walk && linear.factors[i] > 0)
      known += linear.factors[i] * (find(i).tile - 1);
  Value most = number(known);
  auto add = [&](Value value) {
    most = arith::AddIOp::create(builder, loc, most, value);
  };
  for (unsigned i = 0; i < axes.size(); ++i) {
    if (i == walk || linear.factors[i] == 0 || !find(i).offset)
      continue;
    Value offset = widen(find(i).offset);
    if (linear.factors[i] != 1)
      offset = arith::MulIOp::create(builder, loc, offset,
                                     number(linear.factors[i]));
    add(offset);
  }
  SmallVector<unsigned> used;
  for (auto [i, factor] : llvm::enumerate(linear.symbols))
    if (factor != 0)
      used.push_back(i);
  bool hasOneScalar = llvm::count_if(used, [&](unsigned symbol) {
                        return isScalar(symbol);
                      }) == 1;
  for (unsigned i : used) {
    FailureOr<Value> symbol = getSymbol(i);
    if (failed(symbol))
      return failure();
    Value value = widen(*symbol);
    // Further away from everything it says the same, and sums do not overflow.
    if (isScalar(i) && hasOneScalar) {
      value = arith::MinSIOp::create(builder, loc, value, number(kFar));
      value = arith::MaxSIOp::create(builder, loc, value, number(-kFar));
    }
    int64_t factor = linear.symbols[i];
    if (factor != 1)
      value = arith::MulIOp::create(builder, loc, value, number(factor));
    add(value);
  }
  return most;
}

LogicalResult WalkLimiter::addBound(const LinearExpr &linear) {
  FailureOr<Value> most = findMost(linear);
  if (failed(most))
    return failure();
  Value zero = number(0);
  int64_t factor = linear.factors[walk], steps = std::abs(factor);
  auto divide = [&](Value value, int64_t round) {
    if (round != 0)
      value = arith::AddIOp::create(builder, loc, value, number(round));
    value = arith::MaxSIOp::create(builder, loc, value, zero);
    if (steps != 1)
      value = arith::DivUIOp::create(builder, loc, value, number(steps));
    return value;
  };
  if (factor < 0) {
    // One past the last element.
    Value own = divide(*most, steps);
    end =
        end ? arith::MinSIOp::create(builder, loc, end, own).getResult() : own;
    return success();
  }
  Value least = arith::SubIOp::create(builder, loc, zero, *most);
  Value own = divide(least, steps - 1);
  begin = begin ? arith::MaxSIOp::create(builder, loc, begin, own).getResult()
                : own;
  return success();
}

Value WalkLimiter::narrow(Value value) {
  value =
      arith::MinSIOp::create(builder, loc, value, widen(loop.getUpperBound()));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

LogicalResult WalkLimiter::limit(ArrayRef<Reduction> group) {
  SmallVector<AffineExpr, 2> limits = findLimits(group.front());
  for (const Reduction &member : group.drop_front())
    intersectLimits(limits, findLimits(member));
  linalg::LinalgOp first = group.front().op;
  if (limits.empty())
    return first->emitError(
        "FUS-3131: the schedule leaves out steps of a walk ('limited'), but no "
        "mask of positions says of all that shares it which");
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  for (AffineExpr limit : limits)
    if (failed(addBound(*getOwn(limit))))
      return failure();
  Value from = loop.getLowerBound();
  if (begin) {
    // Steps begin where they would without.
    Value index = narrow(begin);
    Value past = arith::RemUIOp::create(builder, loc, index,
                                        builder.createIndex(axes[walk].step()));
    index = arith::SubIOp::create(builder, loc, index, past);
    from = matchPattern(from, m_Zero())
               ? index
               : arith::MaxUIOp::create(builder, loc, from, index).getResult();
  }
  restrictWalk(builder, loop, from, end ? narrow(end) : loop.getUpperBound());
  return success();
}

LogicalResult mlir::fusion::limitWalk(scf::ForOp loop, unsigned walk,
                                      ArrayRef<Reduction> group,
                                      TileEvaluator &evaluator) {
  return WalkLimiter(loop, walk, evaluator).limit(group);
}
