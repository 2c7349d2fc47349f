//===- EmitReductions.cpp - Reductions and contractions on tiles ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the tile form of structured operations with reduction
// loops. A reduction whose elements may be combined in any order, by one
// operation for each result or as a selection, accumulates element by element
// over the loops and reduces the tile once at the end (TreeReduction.cpp); any
// other body runs in the order of its loops.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "fusion/Support/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when `tile` holds values of a float with at most 11 bits of precision
/// and an exponent of at most 5 bits.
static bool isShort(Value tile) {
  while (auto broadcast = tile.getDefiningOp<tile::BroadcastOp>())
    tile = broadcast.getValue();
  auto extension = tile.getDefiningOp<arith::ExtFOp>();
  if (!extension)
    return false;
  Type type = tile::getTileElementType(extension.getIn().getType());
  return type.isF16() || isFloat8(type);
}

/// Lets `sum` and the product it adds be one instruction, when that product is
/// exact in f32, so that nothing is rounded in between anyway.
static void contractExactProduct(Value sum, Value element) {
  auto add = sum.getDefiningOp<arith::AddFOp>();
  auto product = element.getDefiningOp<arith::MulFOp>();
  if (!add || !product || !isShort(product.getLhs()) ||
      !isShort(product.getRhs()))
    return;
  add.setFastmath(add.getFastmath() | arith::FastMathFlags::contract);
  product.setFastmath(product.getFastmath() | arith::FastMathFlags::contract);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void TileEmitter::takeGroupOfTile(Reduction &reduction) const {
  std::optional<GroupedSum> sum = matchGroupedSum(reduction.op);
  if (!sum || !isGroupOfTile(reduction.op, *sum, reduction.loopCoords))
    return;
  reduction.combiners.front().element = sum->element;
  reduction.loopCoords[sum->loop] = tileGroups->coord;
  reduction.ofGroup = true;
}

std::optional<TileEmitter::Reduction>
TileEmitter::makeReduction(linalg::LinalgOp op, Coords coords,
                           Coords loopCoords) {
  Reduction reduction{op, std::move(coords), std::move(loopCoords), {}, {}};
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    reduction.combiners.push_back(matchCombiner(op, i));
  if (llvm::all_of(reduction.combiners,
                   [](const Combiner &combiner) { return combiner.op; })) {
    takeGroupOfTile(reduction);
    return reduction;
  }
  reduction.rescaled = matchRescaledSum(op);
  if (reduction.rescaled) {
    const RescaledSum &sum = *reduction.rescaled;
    std::array<TypedAttr, 2> neutral = sum.getNeutral();
    reduction.combiners = {{nullptr, sum.element, neutral[0], sum.type},
                           {nullptr, sum.one, neutral[1], sum.type}};
    return reduction;
  }
  reduction.selection = matchSelection(op);
  if (!reduction.selection)
    return std::nullopt;
  const Selection &selection = *reduction.selection;
  reduction.combiners.clear();
  for (auto [i, element] : llvm::enumerate(selection.elements)) {
    if (!element)
      continue;
    Type type = element.getType();
    TypedAttr neutral = cast<TypedAttr>(builder.getZeroAttr(type));
    if (i == selection.key) {
      neutral = selection.neutral;
      type = neutral.getType();
    }
    reduction.combiners.push_back({nullptr, element, neutral, type});
  }
  // No element has this position: any other comes before it.
  unsigned width = selection.positionType.getWidth();
  APInt last = selection.keepsLast ? APInt::getAllOnes(width)
                                   : APInt::getSignedMaxValue(width);
  reduction.combiners.push_back(
      {nullptr, Value(), builder.getIntegerAttr(selection.positionType, last),
       selection.positionType});
  return reduction;
}

SmallVector<Value> TileEmitter::Reduction::combine(OpBuilder &builder,
                                                   Location loc,
                                                   ValueRange kept,
                                                   ValueRange next,
                                                   bool inOrder) const {
  if (selection)
    return selection->combine(builder, loc, kept, next, inOrder);
  if (rescaled)
    return rescaled->combine(builder, loc, kept, next);
  SmallVector<Value> combined;
  for (auto [combiner, a, b] : llvm::zip_equal(combiners, kept, next)) {
    combined.push_back(
        combineValues(builder, combiner.op->getLoc(), combiner.op, a, b));
    contractExactProduct(combined.back(), b);
  }
  return combined;
}

FailureOr<Tile> TileEmitter::emitReduction(linalg::LinalgOp op, unsigned result,
                                           ArrayRef<AffineExpr> coords,
                                           Coords loopCoords) {
  std::optional<Reduction> reduction =
      makeReduction(op, Coords(coords), loopCoords);
  if (!reduction)
    return emitSerialReduction(op, result, coords, loopCoords);
  return emitTreeReduction({*reduction}, result);
}

bool TileEmitter::mentions(ArrayRef<AffineExpr> coords, unsigned dim) const {
  for (AffineExpr coord : coords) {
    bool found = false;
    coord.walk([&](AffineExpr part) {
      if (auto axis = dyn_cast<AffineDimExpr>(part))
        found |= axes[axis.getPosition()].dim == dim;
    });
    if (found)
      return true;
  }
  return false;
}

/// True when an operation of `op`'s block that `op` needs is in `others`.
static bool needsAny(Operation *op, ArrayRef<Operation *> others) {
  SmallVector<Operation *> worklist{op};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    for (Value operand : next->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !seen.insert(producer).second)
        continue;
      if (llvm::is_contained(others, producer))
        return true;
      worklist.push_back(producer);
    }
  }
  return false;
}

void TileEmitter::addSiblings(std::vector<Reduction> &group) {
  linalg::LinalgOp first = group.front().op;
  FailureOr<Coords> plain = plainCoords(first->getResult(0));
  if (failed(plain) || *plain != group.front().coords)
    return;
  auto reducedDims = [&](linalg::LinalgOp op) {
    SmallVector<unsigned> dims;
    SmallVector<unsigned> loops;
    op.getReductionDims(loops);
    for (unsigned loop : loops) {
      unsigned dim = space.getDimOfLoop(op, loop);
      if (schedule.getAxes()[dim].getKind() != AxisKind::Group)
        dims.push_back(dim);
    }
    return dims;
  };
  SmallVector<unsigned> dims = reducedDims(first);
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>()) {
    if (op == first || op.getNumReductionLoops() == 0 ||
        reducedDims(op) != dims)
      continue;
    SmallVector<Operation *> members;
    for (const Reduction &member : group)
      members.push_back(member.op);
    bool entangled = needsAny(op, members);
    for (Operation *member : members)
      entangled |= needsAny(member, op.getOperation());
    FailureOr<Coords> coords = plainCoords(op->getResult(0));
    if (entangled || failed(coords) ||
        axesOf(*coords) != axesOf(group.front().coords) ||
        depthOf(*coords) != depthOf(group.front().coords))
      continue;
    Coords loopCoords;
    if (failed(bindLoops(op, 0, *coords, loopCoords)))
      continue;
    if (std::optional<Reduction> sibling =
            makeReduction(op, *coords, loopCoords))
      group.push_back(*sibling);
  }
}

void TileEmitter::addParts(std::vector<Reduction> &group) {
  auto here = llvm::find_if(
      parts, [&](unsigned part) { return isUsed(group.front().coords, part); });
  if (here == parts.end())
    return;
  AffineExpr from = builder.getAffineDimExpr(*here);
  std::vector<Reduction> present(group);
  for (unsigned part : parts) {
    if (part == *here)
      continue;
    AffineExpr to = builder.getAffineDimExpr(part);
    for (Reduction member : present) {
      for (Coords *coords : {&member.coords, &member.loopCoords})
        for (AffineExpr &coord : *coords)
          if (coord)
            coord = coord.replace(from, to);
      group.push_back(member);
    }
  }
}

Tile TileEmitter::castTile(Tile tile, Type element) {
  Type from = tile::getTileElementType(tile.value.getType());
  if (from == element)
    return tile;
  Type type = tileType(tile.axes, element);
  bool wider = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  Value value;
  if (isa<IntegerType>(from) && isa<FloatType>(element))
    value = arith::SIToFPOp::create(builder, loc, type, tile.value);
  else if (isa<IntegerType>(from))
    value = arith::ExtSIOp::create(builder, loc, type, tile.value);
  else if (wider)
    value = arith::ExtFOp::create(builder, loc, type, tile.value);
  else
    value = arith::TruncFOp::create(builder, loc, type, tile.value);
  return {value, tile.axes};
}

Tile TileEmitter::maskReduced(Tile value, ArrayRef<unsigned> reduced,
                              TypedAttr neutral) {
  for (unsigned axis : reduced) {
    if (axes[axis].exact)
      continue;
    Tile inside = below(builder.getAffineDimExpr(axis), axes[axis].extent);
    value = select(inside, value, {constant(neutral), {}});
  }
  return value;
}

FailureOr<Tile> TileEmitter::evaluateElement(BodyContext &context,
                                             const Combiner &combiner) {
  // A product that accumulates in f32 is made in f32.
  Operation *op = combiner.element.getDefiningOp();
  if (op && isa<arith::MulFOp>(op) &&
      combiner.element.getType() != combiner.type) {
    std::array<Tile, 2> factors;
    for (unsigned i = 0; i < 2; ++i) {
      FailureOr<Tile> factor = evaluateScalar(context, op->getOperand(i));
      if (failed(factor))
        return failure();
      factors[i] = castTile(*factor, combiner.type);
    }
    SmallVector<unsigned> all = unify(factors);
    return Tile{
        arith::MulFOp::create(builder, loc, factors[0].value, factors[1].value),
        all};
  }
  FailureOr<Tile> element = evaluateScalar(context, combiner.element);
  if (failed(element))
    return failure();
  return castTile(*element, combiner.type);
}

Tile TileEmitter::evaluatePosition(const Reduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  // Row by row, in the order of the body's loops.
  AffineExpr position = builder.getAffineConstantExpr(0);
  for (unsigned loop : loops) {
    AffineExpr extent = space.getDims()[space.getDimOfLoop(op, loop)].extent;
    position = position * extent + reduction.loopCoords[loop];
  }
  Tile index = indexTile(position);
  Type type = tileType(index.axes, reduction.selection->positionType);
  return Tile{
      arith::IndexCastOp::create(builder, loc, type, index.value).getResult(),
      index.axes};
}

FailureOr<Tile> TileEmitter::evaluateState(BodyContext &context,
                                           const Reduction &reduction,
                                           unsigned number) {
  const Combiner &combiner = reduction.combiners[number];
  return combiner.element ? evaluateElement(context, combiner)
                          : evaluatePosition(reduction);
}

void TileEmitter::dropNaN(const Reduction &reduction,
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
      state = select(isNumber, state,
                     {constant(reduction.combiners[i].neutral), {}});
}

bool TileEmitter::Reduction::decidesBy(unsigned number) const {
  // The positions of other elements come before those that there are not. Those
  // before a row come first, but have a key that does not replace the initial
  // one, as no element with that key does. What is relative to a maximum of
  // nothing adds nothing.
  if (rescaled)
    return number == 0;
  return !selection || number == selection->getKeyState() ||
         (selection->keepsLast && number + 1 == combiners.size());
}

FailureOr<Tile> TileEmitter::evaluateInit(const Reduction &reduction,
                                          unsigned result) {
  linalg::LinalgOp op = reduction.op;
  OpOperand *init = op.getDpsInitOperand(result);
  Coords coords;
  for (AffineExpr expr : op.getMatchingIndexingMap(init).getResults())
    coords.push_back(expr.replaceDims(reduction.loopCoords));
  return evaluate(init->get(), coords);
}

SmallVector<Tile> TileEmitter::reduceAlong(const Reduction &reduction,
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
    types.push_back(
        tileType(rest, tile::getTileElementType(state.value.getType())));
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

void TileEmitter::Reduction::addCombiner(OpBuilder &builder, Location loc,
                                         ArrayRef<Type> types,
                                         Region &region) const {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> scalars;
  for (Type type : types)
    scalars.push_back(tile::getTileElementType(type));
  llvm::append_range(scalars, SmallVector<Type>(scalars));
  Block *block = builder.createBlock(
      &region, {}, scalars, SmallVector<Location>(scalars.size(), loc));
  ValueRange arguments = block->getArguments();
  tile::YieldOp::create(builder, loc,
                        combine(builder, loc,
                                arguments.take_front(types.size()),
                                arguments.drop_front(types.size()),
                                /*inOrder=*/false));
}

FailureOr<SmallVector<Tile>>
TileEmitter::reduceStates(const Reduction &reduction, SmallVector<Tile> states,
                          ArrayRef<unsigned> reduced) {
  for (unsigned axis : reduced)
    states = reduceAlong(reduction, states, axis);
  if (!reduction.inPanel)
    return states;
  return combineInPanel(states, reduction);
}

SmallVector<Tile> TileEmitter::combineStates(const Reduction &reduction,
                                             ArrayRef<Tile> kept,
                                             ArrayRef<Tile> next) {
  SmallVector<Tile> tiles(kept);
  llvm::append_range(tiles, next);
  SmallVector<unsigned> all = unify(tiles);
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

FailureOr<Tile> TileEmitter::finishCombiner(const Reduction &reduction,
                                            unsigned result, Tile sum,
                                            ArrayRef<unsigned> reduced) {
  Reduction single = reduction;
  single.combiners.assign(1, reduction.combiners[result]);
  const Combiner &combiner = single.combiners.front();
  FailureOr<SmallVector<Tile>> whole = reduceStates(single, {sum}, reduced);
  if (failed(whole))
    return failure();
  sum = whole->front();
  if (reduction.ofGroup)
    sum = clearUngrouped(sum, combiner.neutral);
  linalg::LinalgOp op = reduction.op;
  Value init = op.getDpsInitOperand(result)->get();
  if (!isIdentityFill(init, combiner)) {
    FailureOr<Tile> initial = evaluateInit(reduction, result);
    if (failed(initial))
      return failure();
    sum = combineStates(single, castTile(*initial, combiner.type), sum).front();
  }
  return castTile(sum, getElementTypeOrSelf(init.getType()));
}

FailureOr<Tile> TileEmitter::evaluateAt(const Reduction &reduction,
                                        unsigned result, Tile position) {
  linalg::LinalgOp op = reduction.op;
  BodyContext context = makeContext(op, reduction.loopCoords);
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  // From the innermost loop on, a position has a digit for each.
  Type type = tileType(position.axes, builder.getIndexType());
  Tile rest{arith::IndexCastOp::create(builder, loc, type, position.value)
                .getResult(),
            position.axes};
  DenseMap<unsigned, Tile> places;
  for (unsigned loop : llvm::reverse(loops)) {
    if (loop == loops.front()) {
      places[loop] = rest;
      break;
    }
    AffineExpr extent = space.getDims()[space.getDimOfLoop(op, loop)].extent;
    std::array<Tile, 2> pair{rest, Tile{sizeOf(extent), {}}};
    SmallVector<unsigned> all = unify(pair);
    Value a = pair[0].value, b = pair[1].value;
    places[loop] = {arith::RemUIOp::create(builder, loc, a, b), all};
    rest = {arith::DivUIOp::create(builder, loc, a, b), all};
  }
  op.getBlock()->walk([&](linalg::IndexOp index) {
    auto place = places.find(index.getDim());
    if (place == places.end())
      return;
    context.affine[index.getResult()] = AffineExpr();
    context.tiles[index.getResult()] = place->second;
  });
  Value select = op.getBlock()->getTerminator()->getOperand(result);
  auto choice = select.getDefiningOp<arith::SelectOp>();
  BlockArgument kept =
      op.getMatchingBlockArgument(op.getDpsInitOperand(result));
  return evaluateScalar(context, choice.getFalseValue() == kept
                                     ? choice.getTrueValue()
                                     : choice.getFalseValue());
}

FailureOr<SmallVector<Tile>>
TileEmitter::finishSelection(const Reduction &reduction,
                             SmallVector<Tile> states,
                             ArrayRef<unsigned> reduced) {
  const Selection &selection = *reduction.selection;
  linalg::LinalgOp op = reduction.op;
  FailureOr<SmallVector<Tile>> whole =
      reduceStates(reduction, std::move(states), reduced);
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
      tiles.push_back(castTile(*init, reduction.combiners[tiles.size()].type));
  }
  TypedAttr none = builder.getIntegerAttr(selection.positionType, -1);
  tiles.push_back({constant(none), {}});
  SmallVector<Tile> combined = combineStates(reduction, tiles, *whole);
  Tile position = combined.back();
  ArrayRef<unsigned> all = position.axes;
  Value zero =
      broadcast(
          {constant(builder.getIntegerAttr(selection.positionType, 0)), {}},
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
      results.push_back(castTile(combined[carried++], element));
      continue;
    }
    FailureOr<Tile> own = evaluateAt(reduction, i, position);
    if (failed(own))
      return failure();
    results.push_back(broadcast(select(isInit, initial[i], *own), all));
  }
  return results;
}

FailureOr<SmallVector<Tile>>
TileEmitter::finishRescaled(const Reduction &reduction,
                            SmallVector<Tile> states,
                            ArrayRef<unsigned> reduced) {
  FailureOr<SmallVector<Tile>> whole =
      reduceStates(reduction, std::move(states), reduced);
  if (failed(whole))
    return failure();
  linalg::LinalgOp op = reduction.op;
  auto isNeutral = [&](unsigned i) {
    return isIdentityFill(op.getDpsInitOperand(i)->get(),
                          reduction.combiners[i]);
  };
  if (isNeutral(0) && isNeutral(1))
    return *whole;
  SmallVector<Tile> initial;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    FailureOr<Tile> init = evaluateInit(reduction, i);
    if (failed(init))
      return failure();
    initial.push_back(*init);
  }
  return combineStates(reduction, initial, *whole);
}

FailureOr<SmallVector<Tile>>
TileEmitter::finishReduction(const Reduction &reduction,
                             SmallVector<Tile> states,
                             ArrayRef<unsigned> reduced) {
  if (reduction.selection)
    return finishSelection(reduction, std::move(states), reduced);
  if (reduction.rescaled)
    return finishRescaled(reduction, std::move(states), reduced);
  SmallVector<Tile> results;
  for (auto [i, state] : llvm::enumerate(states)) {
    FailureOr<Tile> tile = finishCombiner(reduction, i, state, reduced);
    if (failed(tile))
      return failure();
    results.push_back(*tile);
  }
  return results;
}

FailureOr<Tile> TileEmitter::emitSerialReduction(linalg::LinalgOp op,
                                                 unsigned result,
                                                 ArrayRef<AffineExpr> coords,
                                                 Coords loopCoords) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  SmallVector<unsigned> resultAxes = axesOf(coords);
  SmallVector<Value> carried;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    OpOperand *init = op.getDpsInitOperand(i);
    Coords initCoords;
    for (AffineExpr expr : op.getMatchingIndexingMap(init).getResults())
      initCoords.push_back(expr.replaceDims(loopCoords));
    FailureOr<Tile> tile = evaluate(init->get(), initCoords);
    if (failed(tile))
      return failure();
    carried.push_back(broadcast(*tile, resultAxes).value);
  }
  for (unsigned loop : loops) {
    unsigned dim = space.getDimOfLoop(op, loop);
    scf::ForOp forOp;
    unsigned axis =
        openLoop(std::nullopt, space.getDims()[dim].extent, 1, carried, &forOp);
    loopCoords[loop] = builder.getAffineDimExpr(axis);
    carried.assign(forOp.getRegionIterArgs().begin(),
                   forOp.getRegionIterArgs().end());
  }
  BodyContext context = makeContext(op, loopCoords);
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    context.tiles[op.getMatchingBlockArgument(op.getDpsInitOperand(i))] = {
        carried[i], resultAxes};
  SmallVector<Value> next;
  for (Value yielded : op.getBlock()->getTerminator()->getOperands()) {
    FailureOr<Tile> tile = evaluateScalar(context, yielded);
    if (failed(tile))
      return failure();
    next.push_back(broadcast(*tile, resultAxes).value);
  }
  for (unsigned i = 0; i < loops.size(); ++i)
    next = llvm::to_vector_of<Value>(closeLoop(next).getResults());
  for (auto [i, value] : llvm::enumerate(next))
    remember(op->getResult(i), coords, {value, resultAxes}, depthOf(coords));
  return Tile{next[result], resultAxes};
}
