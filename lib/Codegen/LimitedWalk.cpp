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
// Blocks compute that in 64 bits: sums of factors and coordinates fit. Of an
// element of a tensor, the end of a row's sequence, R has the most, or the
// least, that the tile's rows have; what of the tensor these are may be more
// than that, and then steps are made in which nothing counts.
//
// Where a limit is s + r >= 0, or r - s >= 0, with s an element of a tensor at
// w, data say which elements may count, one by one: those with s >= -R, or s <=
// R.
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

/// Elements of a tensor that a block looks at for one bound, at most: 512 for
/// each lane of a warp, before its walk begins.
static constexpr int64_t kMaxElements = 1 << 14;

namespace {
/// Computes the bounds of one walk.
class WalkLimiter {
public:
  WalkLimiter(unsigned walk, TileEvaluator &evaluator, bool byElement)
      : walk(walk), byElement(byElement), evaluator(evaluator),
        builder(evaluator.getBuilder()), kernel(builder.getKernel()),
        axes(builder.getAxes()), loc(builder.getLoc()) {}

  LogicalResult limit(scf::ForOp walked, ArrayRef<Reduction> group);
  FailureOr<Tile> findCounting(ArrayRef<Reduction> group);

private:
  /// `symbol` over the symbols of sizes, or as one of `others`, the symbols
  /// behind these; null for what differs along the walk.
  AffineExpr getExpr(const LimitSymbol &symbol);
  /// The axis that walks for axis `i`: groups and blocks that have parts of a
  /// tile walk it together, and share what is loaded on the way.
  const Axis &getWhole(unsigned i) const {
    return axes[i].whole && !axes[i].start ? axes[*axes[i].whole] : axes[i];
  }
  /// `limit`, over axes and both kinds of symbols.
  std::optional<LinearExpr> getOwn(AffineExpr limit);
  /// What limits the elements of `member`.
  SmallVector<AffineExpr, 2> findLimits(const Reduction &member);
  /// What limits the elements of all of `group`.
  SmallVector<AffineExpr, 2> findLimits(ArrayRef<Reduction> group);
  /// The symbol by which `limit` says what counts element by element.
  std::optional<unsigned> findData(const LinearExpr &limit) {
    return findDataSymbol(limit, walk, others, kernel.getNumSymbols());
  }
  /// True for symbols that may be any number, other than sizes.
  bool isScalar(unsigned symbol) const;
  /// What symbol `number` is, for `least` the least and else the most that it
  /// is within the tile.
  FailureOr<Value> getSymbol(unsigned number, bool least);
  /// The coordinates that `coord` can have within the tile, or more, of `size`:
  /// the first and how many.
  std::pair<Value, int64_t> findRange(AffineExpr coord, int64_t size);
  FailureOr<Value> findBound(const LimitSymbol &element, bool least);
  /// The most that a limit is but for the walk's own coordinate, or what data
  /// say of it.
  FailureOr<Value> findMost(const LinearExpr &linear);
  /// Bits of the elements that may count by `limit`, which `symbol` decides.
  FailureOr<Tile> compareData(const LinearExpr &limit, unsigned symbol);
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
  /// Data say of elements of the walk whether they may count.
  bool byElement;
  TileEvaluator &evaluator;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
  SmallVector<LimitSymbol> others;
  /// Where the walk begins and ends, in 64 bits; null where nothing says so.
  Value begin, end;
};
} // namespace

AffineExpr WalkLimiter::getExpr(const LimitSymbol &symbol) {
  if (!symbol.isElement()) {
    FailureOr<AffineExpr> known = kernel.getShapes().getIndex(symbol.value);
    if (succeeded(known))
      return *known;
  }
  for (AffineExpr coord : symbol.coords)
    if (coord.isFunctionOfDim(walk) && !byElement)
      return {};
  unsigned number = llvm::find(others, symbol) - others.begin();
  if (number == others.size())
    others.push_back(symbol);
  return builder.getAffineSymbolExpr(kernel.getNumSymbols() + number);
}

std::optional<LinearExpr> WalkLimiter::getOwn(AffineExpr limit) {
  return getLinear(limit, axes.size(), kernel.getNumSymbols() + others.size());
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
  if (isComputed)
    return {};
  auto isOperand = [&](Value tensor) {
    auto argument = dyn_cast<BlockArgument>(tensor);
    return argument && argument.getOwner()->getParentOp() == kernel.getOp();
  };
  SmallVector<AffineExpr, 2> limits =
      findLimitsAt(member.op, member.loopCoords, isOperand,
                   [&](const LimitSymbol &symbol) { return getExpr(symbol); });
  for (AffineExpr &limit : limits)
    limit = simplifyAffineExpr(limit, axes.size(),
                               kernel.getNumSymbols() + others.size());
  llvm::erase_if(limits, [&](AffineExpr limit) {
    std::optional<LinearExpr> linear = getOwn(limit);
    return !linear || (byElement ? !findData(*linear).has_value()
                                 : linear->factors[walk] == 0);
  });
  return limits;
}

SmallVector<AffineExpr, 2> WalkLimiter::findLimits(ArrayRef<Reduction> group) {
  SmallVector<AffineExpr, 2> limits = findLimits(group.front());
  for (const Reduction &member : group.drop_front())
    intersectLimits(limits, findLimits(member));
  if (limits.empty()) {
    linalg::LinalgOp first = group.front().op;
    first->emitError(
        "FUS-3131: the schedule leaves out steps of a walk ('limited'), but no "
        "mask of ")
        << (byElement ? "data" : "positions")
        << " says of all that shares it which";
  }
  return limits;
}

bool WalkLimiter::isScalar(unsigned symbol) const {
  ArrayRef<SymbolicShapes::Symbol> sizes = kernel.getShapes().getSymbols();
  return symbol >= sizes.size() ||
         sizes[symbol].kind == SymbolicShapes::SymbolKind::Scalar;
}

FailureOr<Value> WalkLimiter::getSymbol(unsigned number, bool least) {
  unsigned sizes = kernel.getNumSymbols();
  if (number < sizes)
    return builder.getSize(builder.getAffineSymbolExpr(number));
  const LimitSymbol &symbol = others[number - sizes];
  if (symbol.isElement())
    return findBound(symbol, least);
  FailureOr<Tile> scalar = evaluator.evaluateScalar(symbol.value);
  if (failed(scalar))
    return failure();
  return scalar->value;
}

std::pair<Value, int64_t> WalkLimiter::findRange(AffineExpr coord,
                                                 int64_t size) {
  std::pair<Value, int64_t> all{builder.createIndex(0), size};
  if (auto axis = dyn_cast<AffineDimExpr>(coord)) {
    const Axis &whole = getWhole(axis.getPosition());
    Value offset = whole.offset ? whole.offset : builder.createIndex(0);
    return whole.tile < size ? std::pair(offset, whole.tile) : all;
  }
  auto parts = dyn_cast<AffineBinaryOpExpr>(coord);
  auto divisor = parts ? dyn_cast<AffineConstantExpr>(parts.getRHS()) : nullptr;
  if (!divisor || divisor.getValue() < 1 ||
      parts.getKind() != AffineExprKind::FloorDiv)
    return all;
  auto [first, count] = findRange(parts.getLHS(), kFar);
  // Those of a tile that begins within a quotient are of one more.
  int64_t quotients = (count - 2) / divisor.getValue() + 2;
  if (count >= kFar || quotients >= size)
    return all;
  return {arith::DivUIOp::create(builder, loc, first,
                                 builder.createIndex(divisor.getValue())),
          count == 1 ? 1 : quotients};
}

FailureOr<Value> WalkLimiter::findBound(const LimitSymbol &element,
                                        bool least) {
  auto differs = [&](unsigned i) {
    return getWhole(i).tile > 1 &&
           llvm::any_of(element.coords, [&](AffineExpr coord) {
             return coord.isFunctionOfDim(i);
           });
  };
  if (llvm::none_of(llvm::seq<unsigned>(axes.size()), differs)) {
    FailureOr<Tile> scalar = evaluator.evaluate(element.value, element.coords);
    if (failed(scalar))
      return failure();
    return scalar->value;
  }
  TypedValue<tile::ViewType> view = evaluator.getView(element.value);
  SmallVector<Value> begins;
  SmallVector<int64_t> sizes;
  int64_t elements = 1;
  for (auto [coord, size] :
       llvm::zip_equal(element.coords, view.getType().getShape())) {
    auto [begin, count] =
        findRange(coord, ShapedType::isDynamic(size) ? kFar : size);
    begins.push_back(begin);
    sizes.push_back(count);
    elements = std::min(elements, kMaxElements) * std::min(count, kMaxElements);
  }
  // Anything, where that is not known.
  if (elements > kMaxElements)
    return number(least ? -kFar : kFar);
  return tile::FindBoundOp::create(builder, loc,
                                   view.getType().getElementType(), view,
                                   begins, sizes, least)
      .getResult();
}

FailureOr<Value> WalkLimiter::findMost(const LinearExpr &linear) {
  int64_t known = linear.number;
  for (unsigned i = 0; i < axes.size(); ++i)
    if (i != walk && linear.factors[i] > 0)
      known += linear.factors[i] * (getWhole(i).tile - 1);
  Value most = number(known);
  auto add = [&](Value value) {
    most = arith::AddIOp::create(builder, loc, most, value);
  };
  for (unsigned i = 0; i < axes.size(); ++i) {
    if (i == walk || linear.factors[i] == 0 || !getWhole(i).offset)
      continue;
    Value offset = widen(getWhole(i).offset);
    if (linear.factors[i] != 1)
      offset = arith::MulIOp::create(builder, loc, offset,
                                     number(linear.factors[i]));
    add(offset);
  }
  SmallVector<unsigned> used;
  std::optional<unsigned> data;
  if (byElement)
    data = findData(linear);
  for (auto [i, factor] : llvm::enumerate(linear.symbols))
    if (factor != 0 && !(data && i == kernel.getNumSymbols() + *data))
      used.push_back(i);
  bool hasOneScalar = llvm::count_if(used, [&](unsigned symbol) {
                        return isScalar(symbol);
                      }) == 1;
  for (unsigned i : used) {
    FailureOr<Value> symbol = getSymbol(i, linear.symbols[i] < 0);
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

LogicalResult WalkLimiter::limit(scf::ForOp walked, ArrayRef<Reduction> group) {
  loop = walked;
  SmallVector<AffineExpr, 2> limits = findLimits(group);
  if (limits.empty())
    return failure();
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

FailureOr<Tile> WalkLimiter::compareData(const LinearExpr &limit,
                                         unsigned symbol) {
  FailureOr<Value> most = findMost(limit);
  if (failed(most))
    return failure();
  FailureOr<Tile> data =
      evaluator.evaluate(others[symbol].value, others[symbol].coords);
  if (failed(data))
    return failure();
  bool isLeast = limit.symbols[kernel.getNumSymbols() + symbol] > 0;
  Value bound = *most;
  if (isLeast)
    bound = arith::SubIOp::create(builder, loc, number(0), bound);
  std::array<Tile, 2> sides{builder.castTile(*data, builder.getI64Type()),
                            Tile{bound, {}}};
  SmallVector<unsigned> all = builder.unify(sides);
  auto predicate =
      isLeast ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
  return Tile{arith::CmpIOp::create(builder, loc, predicate, sides[0].value,
                                    sides[1].value),
              all};
}

FailureOr<Tile> WalkLimiter::findCounting(ArrayRef<Reduction> group) {
  SmallVector<AffineExpr, 2> limits = findLimits(group);
  if (limits.empty())
    return failure();
  std::optional<Tile> counting;
  for (AffineExpr expr : limits) {
    LinearExpr limit = *getOwn(expr);
    FailureOr<Tile> bits = compareData(limit, *findData(limit));
    if (failed(bits))
      return failure();
    counting = builder.conjunction(counting, *bits);
  }
  return builder.maskPast(*counting, {walk}, builder.getBoolAttr(false));
}

LogicalResult mlir::fusion::limitWalk(scf::ForOp loop, unsigned walk,
                                      ArrayRef<Reduction> group,
                                      TileEvaluator &evaluator) {
  return WalkLimiter(walk, evaluator, /*byElement=*/false).limit(loop, group);
}

FailureOr<Tile> mlir::fusion::findCounting(unsigned walk,
                                           ArrayRef<Reduction> group,
                                           TileEvaluator &evaluator) {
  return WalkLimiter(walk, evaluator, /*byElement=*/true).findCounting(group);
}
