//===- Reduction.cpp - A reduction that is emitted ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what reductions combine and how.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "GroupedTiles.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// What `tile` repeats, or itself.
static Value getRepeated(Value tile) {
  while (auto broadcast = tile.getDefiningOp<tile::BroadcastOp>())
    tile = broadcast.getValue();
  return tile;
}

/// Lets `sum` and the product it adds be one instruction, when that product is
/// exact in f32, so that nothing is rounded in between anyway.
static void contractExactProduct(Value sum, Value element) {
  auto add = sum.getDefiningOp<arith::AddFOp>();
  auto product = element.getDefiningOp<arith::MulFOp>();
  if (!add || !product || !isExactFactor(getRepeated(product.getLhs())) ||
      !isExactFactor(getRepeated(product.getRhs())))
    return;
  add.setFastmath(add.getFastmath() | arith::FastMathFlags::contract);
  product.setFastmath(product.getFastmath() | arith::FastMathFlags::contract);
}

/// The combiners of a selection: its key, what it carries besides, and the
/// position, which has no element.
static SmallVector<Combiner> getCombiners(const Selection &selection) {
  SmallVector<Combiner> combiners;
  for (auto [i, element] : llvm::enumerate(selection.elements)) {
    if (!element)
      continue;
    Type type = element.getType();
    TypedAttr neutral =
        cast<TypedAttr>(Builder(type.getContext()).getZeroAttr(type));
    if (i == selection.key) {
      neutral = selection.neutral;
      type = neutral.getType();
    }
    combiners.push_back({nullptr, element, neutral, type});
  }
  // No element has this position: any other comes before it.
  unsigned width = selection.positionType.getWidth();
  APInt last = selection.keepsLast ? APInt::getAllOnes(width)
                                   : APInt::getSignedMaxValue(width);
  combiners.push_back({nullptr, Value(),
                       IntegerAttr::get(selection.positionType, last),
                       selection.positionType});
  return combiners;
}

/// Replaces what a sum over groups adds by what it adds for the tile's.
static void takeGroupOfTile(Reduction &reduction, const GroupedTiles &groups) {
  std::optional<GroupedSum> sum = matchGroupedSum(reduction.op);
  if (!sum || !groups.isGroupOfTile(reduction.op, *sum, reduction.loopCoords))
    return;
  reduction.combiners.front().element = sum->element;
  reduction.loopCoords[sum->loop] = groups.getCoordinate();
  reduction.ofGroup = true;
}

std::optional<Reduction>
mlir::fusion::makeReduction(linalg::LinalgOp op, Coords coords,
                            Coords loopCoords, const GroupedTiles &groups) {
  Reduction reduction{op, std::move(coords), std::move(loopCoords), {}, {}};
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    reduction.combiners.push_back(matchCombiner(op, i));
  if (llvm::all_of(reduction.combiners,
                   [](const Combiner &combiner) { return combiner.op; })) {
    takeGroupOfTile(reduction, groups);
    return reduction;
  }
  reduction.rescaled = matchRescaledSums(op);
  if (reduction.rescaled) {
    const RescaledSums &sums = *reduction.rescaled;
    reduction.combiners.clear();
    for (unsigned i = 0; i < sums.getNumStates(); ++i)
      reduction.combiners.push_back(
          {nullptr, sums.getElement(i), sums.getNeutral(i), sums.getType()});
    return reduction;
  }
  reduction.moments = matchMoments(op);
  if (reduction.moments) {
    FloatType type = reduction.moments->type;
    TypedAttr zero = FloatAttr::get(type, 0.0);
    reduction.combiners = {{nullptr, Value(), zero, type},
                           {nullptr, reduction.moments->element, zero, type},
                           {nullptr, Value(), zero, type}};
    return reduction;
  }
  reduction.selection = matchSelection(op);
  if (!reduction.selection)
    return std::nullopt;
  reduction.combiners = getCombiners(*reduction.selection);
  return reduction;
}

SmallVector<Value> Reduction::combine(OpBuilder &builder, Location loc,
                                      ValueRange kept, ValueRange next,
                                      bool inOrder) const {
  if (selection)
    return selection->combine(builder, loc, kept, next, inOrder);
  if (rescaled)
    return rescaled->combine(builder, loc, kept, next);
  if (moments)
    return Moments::combine(builder, loc, kept, next);
  SmallVector<Value> combined;
  for (auto [combiner, a, b] : llvm::zip_equal(combiners, kept, next)) {
    combined.push_back(
        combineValues(builder, combiner.op->getLoc(), combiner.op, a, b));
    contractExactProduct(combined.back(), b);
  }
  return combined;
}

bool Reduction::decidesBy(unsigned number) const {
  // The positions of other elements come before those that there are not. Those
  // before a row come first, but have a key that does not replace the initial
  // one, as no element with that key does. What is relative to a maximum of
  // nothing adds nothing.
  if (rescaled)
    return rescaled->decidesBy(number);
  return !selection || number == selection->getKeyState() ||
         (selection->keepsLast && number + 1 == combiners.size());
}

bool Reduction::isCascaded(unsigned number) const {
  const Combiner &combiner = combiners[number];
  return combiner.type.isF32() &&
         (rescaled || moments || isa_and_present<arith::AddFOp>(combiner.op));
}

void Reduction::addCombiner(OpBuilder &builder, Location loc,
                            ArrayRef<Type> types, Region &region) const {
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
