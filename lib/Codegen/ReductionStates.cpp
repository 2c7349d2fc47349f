//===- ReductionStates.cpp - What a reduction accumulates -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the states of reductions: what comes in of an element,
// how tiles of states are reduced, and the results that are made of them.
//
//===----------------------------------------------------------------------===//

#include "ReductionStates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<Tile> mlir::fusion::evaluateElement(BodyEvaluator &body,
                                              const Combiner &combiner) {
  TileBuilder &builder = body.getEvaluator().getBuilder();
  // A product that accumulates in f32 is made in f32.
  Operation *op = combiner.element.getDefiningOp();
  if (op && isa<arith::MulFOp>(op) &&
      combiner.element.getType() != combiner.type) {
    std::array<Tile, 2> factors;
    for (unsigned i = 0; i < 2; ++i) {
      FailureOr<Tile> factor = body.evaluate(op->getOperand(i));
      if (failed(factor))
        return failure();
      factors[i] = builder.castTile(*factor, combiner.type);
    }
    SmallVector<unsigned> all = builder.unify(factors);
    return Tile{arith::MulFOp::create(builder, builder.getLoc(),
                                      factors[0].value, factors[1].value),
                all};
  }
  FailureOr<Tile> element = body.evaluate(combiner.element);
  if (failed(element))
    return failure();
  return builder.castTile(*element, combiner.type);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Tile ReductionStates::evaluatePosition(const Reduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  // Row by row, in the order of the body's loops.
  AffineExpr position = builder.getAffineConstantExpr(0);
  for (unsigned loop : loops) {
    AffineExpr extent =
        kernel.getDim(kernel.getSpace().getDimOfLoop(op, loop)).extent;
    position = position * extent + reduction.loopCoords[loop];
  }
  Tile index = builder.getIndexTile(position);
  Type type =
      builder.getTileType(index.axes, reduction.selection->positionType);
  return Tile{
      arith::IndexCastOp::create(builder, loc, type, index.value).getResult(),
      index.axes};
}

FailureOr<Tile> ReductionStates::evaluate(BodyEvaluator &body,
                                          const Reduction &reduction,
                                          unsigned number) {
  const Combiner &combiner = reduction.combiners[number];
  if (combiner.element)
    return evaluateElement(body, combiner);
  if (!reduction.moments)
    return evaluatePosition(reduction);
  // One element counts for one, and has no distance from itself.
  return Tile{builder.createConstant(
                  FloatAttr::get(combiner.type, number == 0 ? 1.0 : 0.0)),
              {}};
}

void ReductionStates::dropNaN(const Reduction &reduction,
                              MutableArrayRef<Tile> states) {
  const Selection &selection = *reduction.selection;
  Tile key = states[selection.getKeyState()];
  if (selection.keepsNaN ||
      !isa<FloatType>(tile::getTileElementType(key.value.getType())))
    return;
  Tile isNumber{arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD,
                                      key.value, key.value),
                key.axes};
  for (auto [i, state] : llvm::enumerate(states))
    if (reduction.decidesBy(i))
      state = builder.select(
          isNumber, state,
          {builder.createConstant(reduction.combiners[i].neutral), {}});
}

FailureOr<Tile> ReductionStates::evaluateInit(const Reduction &reduction,
                                              unsigned result) {
  linalg::LinalgOp op = reduction.op;
  OpOperand *init = op.getDpsInitOperand(result);
  return evaluator.evaluate(init->get(),
                            getOperandCoords(op, *init, reduction.loopCoords));
}

//===----------------------------------------------------------------------===//
// Combination
//===----------------------------------------------------------------------===//

SmallVector<Tile> ReductionStates::reduceAlong(const Reduction &reduction,
                                               ArrayRef<Tile> states,
                                               unsigned axis) {
  const Tile &like = states.front();
  auto position = llvm::find(like.axes, axis);
  if (position == like.axes.end())
    return SmallVector<Tile>(states);
  SmallVector<unsigned> rest(like.axes);
  rest.erase(rest.begin() + (position - like.axes.begin()));
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (const Tile &state : states) {
    values.push_back(state.value);
    types.push_back(builder.getTileType(
        rest, tile::getTileElementType(state.value.getType())));
  }
  auto reduce = tile::ReduceOp::create(builder, loc, types, values,
                                       position - like.axes.begin(),
                                       /*within_warp=*/false);
  reduction.addCombiner(builder, loc, types, reduce.getCombiner());
  SmallVector<Tile> results;
  for (Value value : reduce.getResults())
    results.push_back({value, rest});
  return results;
}

SmallVector<Tile> ReductionStates::reduceTile(const Reduction &reduction,
                                              SmallVector<Tile> states,
                                              ArrayRef<unsigned> reduced) {
  for (unsigned axis : reduced)
    states = reduceAlong(reduction, states, axis);
  return states;
}

FailureOr<SmallVector<Tile>>
ReductionStates::reduce(const Reduction &reduction, SmallVector<Tile> states,
                        ArrayRef<unsigned> reduced) {
  states = reduceTile(reduction, std::move(states), reduced);
  if (!reduction.inPanel)
    return states;
  return panels.combine(states, reduction);
}

SmallVector<Tile> ReductionStates::combine(const Reduction &reduction,
                                           ArrayRef<Tile> kept,
                                           ArrayRef<Tile> next) {
  SmallVector<Tile> tiles(kept);
  llvm::append_range(tiles, next);
  SmallVector<unsigned> all = builder.unify(tiles);
  SmallVector<Value> values;
  for (const Tile &tile : tiles)
    values.push_back(tile.value);
  SmallVector<Tile> combined;
  for (Value value :
       reduction.combine(builder, loc, ArrayRef(values).take_front(kept.size()),
                         ArrayRef(values).drop_front(kept.size()),
                         /*inOrder=*/false))
    combined.push_back({value, all});
  return combined;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

FailureOr<Tile> ReductionStates::finishCombiner(const Reduction &reduction,
                                                unsigned result, Tile sum,
                                                ArrayRef<unsigned> reduced) {
  Reduction single = reduction;
  single.combiners.assign(1, reduction.combiners[result]);
  const Combiner &combiner = single.combiners.front();
  FailureOr<SmallVector<Tile>> whole = reduce(single, {sum}, reduced);
  if (failed(whole))
    return failure();
  sum = whole->front();
  if (reduction.ofGroup)
    sum = groups.clearUngrouped(sum, combiner.neutral);
  linalg::LinalgOp op = reduction.op;
  Value init = op.getDpsInitOperand(result)->get();
  if (!isIdentityFill(init, combiner)) {
    FailureOr<Tile> initial = evaluateInit(reduction, result);
    if (failed(initial))
      return failure();
    sum =
        combine(single, builder.castTile(*initial, combiner.type), sum).front();
  }
  return builder.castTile(sum, getElementTypeOrSelf(init.getType()));
}

FailureOr<Tile> ReductionStates::evaluateAt(const Reduction &reduction,
                                            unsigned result, Tile position) {
  linalg::LinalgOp op = reduction.op;
  BodyEvaluator body(evaluator, op, reduction.loopCoords);
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  // From the innermost loop on, a position has a digit for each.
  Type type = builder.getTileType(position.axes, builder.getIndexType());
  Tile rest{arith::IndexCastOp::create(builder, loc, type, position.value)
                .getResult(),
            position.axes};
  DenseMap<unsigned, Tile> places;
  for (unsigned loop : llvm::reverse(loops)) {
    if (loop == loops.front()) {
      places[loop] = rest;
      break;
    }
    AffineExpr extent =
        kernel.getDim(kernel.getSpace().getDimOfLoop(op, loop)).extent;
    std::array<Tile, 2> pair{rest, Tile{builder.getSize(extent), {}}};
    SmallVector<unsigned> all = builder.unify(pair);
    Value a = pair[0].value, b = pair[1].value;
    places[loop] = {arith::RemUIOp::create(builder, loc, a, b), all};
    rest = {arith::DivUIOp::create(builder, loc, a, b), all};
  }
  op.getBlock()->walk([&](linalg::IndexOp index) {
    auto place = places.find(index.getDim());
    if (place == places.end())
      return;
    body.setCoordinate(index.getResult(), AffineExpr());
    body.setTile(index.getResult(), place->second);
  });
  Value select = op.getBlock()->getTerminator()->getOperand(result);
  auto choice = select.getDefiningOp<arith::SelectOp>();
  BlockArgument kept =
      op.getMatchingBlockArgument(op.getDpsInitOperand(result));
  return body.evaluate(choice.getFalseValue() == kept ? choice.getTrueValue()
                                                      : choice.getFalseValue());
}

FailureOr<SmallVector<Tile>>
ReductionStates::finishSelection(const Reduction &reduction,
                                 SmallVector<Tile> states,
                                 ArrayRef<unsigned> reduced) {
  const Selection &selection = *reduction.selection;
  linalg::LinalgOp op = reduction.op;
  FailureOr<SmallVector<Tile>> whole =
      reduce(reduction, std::move(states), reduced);
  if (failed(whole))
    return failure();
  // What it starts from comes before all elements, and has no position.
  SmallVector<Tile> initial, tiles;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    FailureOr<Tile> init = evaluateInit(reduction, i);
    if (failed(init))
      return failure();
    initial.push_back(*init);
    if (selection.elements[i])
      tiles.push_back(
          builder.castTile(*init, reduction.combiners[tiles.size()].type));
  }
  TypedAttr none = builder.getIntegerAttr(selection.positionType, -1);
  tiles.push_back({builder.createConstant(none), {}});
  SmallVector<Tile> combined = combine(reduction, tiles, *whole);
  Tile position = combined.back();
  ArrayRef<unsigned> all = position.axes;
  Value zero = builder
                   .broadcast({builder.createConstant(builder.getIntegerAttr(
                                   selection.positionType, 0)),
                               {}},
                              all)
                   .value;
  Tile isInit{arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                    position.value, zero),
              position.axes};
  SmallVector<Tile> results;
  unsigned carried = 0;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    Type element = getElementTypeOrSelf(op.getDpsInitOperand(i)->get());
    if (selection.elements[i]) {
      results.push_back(builder.castTile(combined[carried++], element));
      continue;
    }
    FailureOr<Tile> own = evaluateAt(reduction, i, position);
    if (failed(own))
      return failure();
    results.push_back(
        builder.broadcast(builder.select(isInit, initial[i], *own), all));
  }
  return results;
}

FailureOr<SmallVector<Tile>>
ReductionStates::finishRescaled(const Reduction &reduction,
                                SmallVector<Tile> states,
                                ArrayRef<unsigned> reduced) {
  FailureOr<SmallVector<Tile>> whole =
      reduce(reduction, std::move(states), reduced);
  if (failed(whole))
    return failure();
  return addInits(reduction, std::move(*whole));
}

FailureOr<SmallVector<Tile>>
ReductionStates::addInits(const Reduction &reduction, SmallVector<Tile> whole) {
  linalg::LinalgOp op = reduction.op;
  bool isNeutral = true;
  for (auto [init, combiner] :
       llvm::zip_equal(op.getDpsInits(), reduction.combiners))
    isNeutral &= isIdentityFill(init, combiner);
  if (isNeutral)
    return whole;
  SmallVector<Tile> initial;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    FailureOr<Tile> init = evaluateInit(reduction, i);
    if (failed(init))
      return failure();
    initial.push_back(*init);
  }
  return combine(reduction, initial, whole);
}

SmallVector<Tile> ReductionStates::sum(ArrayRef<Tile> tiles,
                                       ArrayRef<unsigned> reduced) {
  SmallVector<Tile> sums(tiles);
  for (unsigned axis : reduced) {
    SmallVector<unsigned> rest(sums.front().axes);
    auto *position = llvm::find(rest, axis);
    if (position == rest.end())
      continue;
    int64_t dim = position - rest.begin();
    rest.erase(position);
    SmallVector<Value> values;
    SmallVector<Type> types, scalars;
    for (const Tile &tile : sums) {
      values.push_back(tile.value);
      scalars.push_back(tile::getTileElementType(tile.value.getType()));
      types.push_back(builder.getTileType(rest, scalars.back()));
    }
    auto reduce = tile::ReduceOp::create(builder, loc, types, values, dim,
                                         /*within_warp=*/false);
    OpBuilder::InsertionGuard guard(builder);
    llvm::append_range(scalars, SmallVector<Type>(scalars));
    Block *block =
        builder.createBlock(&reduce.getCombiner(), {}, scalars,
                            SmallVector<Location>(scalars.size(), loc));
    SmallVector<Value> both;
    for (unsigned i = 0; i < sums.size(); ++i)
      both.push_back(
          arith::AddFOp::create(builder, loc, block->getArgument(i),
                                block->getArgument(sums.size() + i)));
    tile::YieldOp::create(builder, loc, both);
    for (auto [tile, value] : llvm::zip_equal(sums, reduce.getResults()))
      tile = {value, rest};
  }
  return sums;
}

// Of parts of which each has a mean, the mean of all is had first, and the
// squares then grow by those of the distances from it: two sums, where to
// combine part with part takes three divisions each.
FailureOr<SmallVector<Tile>> ReductionStates::finishMoments(
    const Reduction &reduction, ArrayRef<Tile> states,
    ArrayRef<unsigned> reduced, ArrayRef<unsigned> held) {
  Tile count = states[0], sums = states[1], squares = states[2];
  TypedAttr zero = reduction.combiners.front().neutral;
  // a / b, and zero where b is.
  auto divide = [&](Tile a, Tile b) {
    Tile none = builder.broadcast({builder.createConstant(zero), {}}, b.axes);
    Tile isNone{arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                      b.value, none.value),
                b.axes};
    Tile quotient{arith::DivFOp::create(builder, loc, a.value, b.value),
                  b.axes};
    return builder.select(isNone, none, quotient);
  };
  auto multiply = [&](Tile a, Tile b) {
    return Tile{arith::MulFOp::create(builder, loc, a.value, b.value), a.axes};
  };
  ArrayRef<unsigned> all = sums.axes;
  Tile means;
  if (count.axes.size() < all.size()) {
    Tile one{
        builder.createConstant(FloatAttr::get(reduction.moments->type, 1.0)),
        {}};
    means = multiply(sums, builder.broadcast(divide(one, count), all));
    count = builder.broadcast(
        builder.maskPast(builder.broadcast(count, all), held, zero), all);
  } else {
    means = divide(sums, count);
  }
  SmallVector<Tile> whole = sum({count, sums}, reduced);
  Tile mean = builder.broadcast(divide(whole[1], whole[0]), all);
  Tile distance{arith::SubFOp::create(builder, loc, means.value, mean.value),
                means.axes};
  Tile between = multiply(multiply(distance, count), distance);
  Tile own{arith::AddFOp::create(builder, loc, squares.value, between.value),
           squares.axes};
  whole.push_back(sum({own}, reduced).front());
  if (reduction.inPanel) {
    FailureOr<SmallVector<Tile>> ofPanel = panels.combine(whole, reduction);
    if (failed(ofPanel))
      return failure();
    whole = std::move(*ofPanel);
  }
  return addInits(reduction, std::move(whole));
}

FailureOr<SmallVector<Tile>> ReductionStates::finish(const Reduction &reduction,
                                                     SmallVector<Tile> states,
                                                     ArrayRef<unsigned> reduced,
                                                     ArrayRef<unsigned> held) {
  if (reduction.selection)
    return finishSelection(reduction, std::move(states), reduced);
  if (reduction.rescaled)
    return finishRescaled(reduction, std::move(states), reduced);
  if (reduction.moments)
    return finishMoments(reduction, states, reduced, held);
  SmallVector<Tile> results;
  for (auto [i, state] : llvm::enumerate(states)) {
    FailureOr<Tile> tile = finishCombiner(reduction, i, state, reduced);
    if (failed(tile))
      return failure();
    results.push_back(*tile);
  }
  return results;
}
