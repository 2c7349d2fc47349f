//===- EmitContractions.cpp - Sums of products as dots --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the emission of sums of products of two factors as dots
// on tiles of the narrowest element type that holds the factors exactly.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "fusion/Analysis/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

std::optional<TileEmitter::DotForm>
TileEmitter::matchDot(const Reduction &reduction, unsigned contracted) {
  if (schedule.getStrategy() != Strategy::Contraction ||
      reduction.combiners.size() != 1)
    return std::nullopt;
  const Combiner &combiner = reduction.combiners.front();
  Operation *product = combiner.element.getDefiningOp();
  // Where rows of several groups meet in a tile, those of the present group
  // count.
  std::optional<GroupedSum> grouped = matchGroupedSum(reduction.op);
  DotForm form;
  if (grouped && !reduction.ofGroup) {
    product = grouped->element.getDefiningOp();
    form.condition = grouped->condition;
  }
  if (!isa<arith::AddFOp, arith::AddIOp>(combiner.op) || !product ||
      !isa<arith::MulFOp, arith::MulIOp>(product))
    return std::nullopt;
  BodyContext context = makeContext(reduction.op, reduction.loopCoords);
  SmallVector<unsigned> sides[2];
  for (unsigned side = 0; side < 2; ++side) {
    for (auto &[argument, operand] : context.operands)
      if (dependsOn(product->getOperand(side), cast<BlockArgument>(argument)))
        llvm::append_range(sides[side], axesOf(operand.second));
    llvm::sort(sides[side]);
    sides[side].erase(llvm::unique(sides[side]), sides[side].end());
    auto position = llvm::find(sides[side], contracted);
    if (position == sides[side].end() || sides[side].size() != 2)
      return std::nullopt;
    sides[side].erase(position);
  }
  if (sides[0] == sides[1])
    return std::nullopt;
  // Tiles list their axes in increasing order: the operand whose own axis
  // comes first gives the rows of the accumulator.
  bool swapped = sides[0].front() > sides[1].front();
  form.factors = {product->getOperand(swapped), product->getOperand(!swapped)};
  form.axes = {std::min(sides[0].front(), sides[1].front()),
               std::max(sides[0].front(), sides[1].front())};
  if (form.axes != axesOf(reduction.coords))
    return std::nullopt;
  std::array<Value, 2> narrow = {stripExtensions(form.factors[0]),
                                 stripExtensions(form.factors[1])};
  form.elements =
      getNarrowTypes(narrow[0].getType(), narrow[1].getType(), combiner.type);
  if (form.elements[0])
    form.factors = narrow;
  else
    form.elements = {combiner.type, combiner.type};
  return form;
}

bool TileEmitter::isZeroPast(Tile tile, unsigned axis) {
  auto position = llvm::find(tile.axes, axis);
  if (position == tile.axes.end())
    return false;
  unsigned dim = position - tile.axes.begin();
  Operation *op = tile.value.getDefiningOp();
  while (op && isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp,
                   arith::SIToFPOp, arith::NegFOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto load = dyn_cast_or_null<tile::LoadOp>(op);
  if (!load)
    return false;
  auto view = load.getView().getDefiningOp<tile::MakeViewOp>();
  for (auto [i, expr] : llvm::enumerate(load.getMap().getResults())) {
    // Zeros begin where the tensor ends, at the latest with the axis.
    AffineExpr size = view.getShapeAttr().getValue().getResult(i);
    auto most = dyn_cast<AffineConstantExpr>(size);
    auto extent = dyn_cast<AffineConstantExpr>(axes[axis].extent);
    bool ends = size == axes[axis].extent ||
                (most && extent && most.getValue() <= extent.getValue());
    if (!load.getChecked()[i] || !ends)
      continue;
    // The coordinate itself, from the start of the tile.
    AffineExpr rest = expr - builder.getAffineDimExpr(dim);
    auto symbol = dyn_cast<AffineSymbolExpr>(rest);
    if (symbol && load.getSymbols()[symbol.getPosition()] == axes[axis].offset)
      return true;
    if (rest == builder.getAffineConstantExpr(0) && !axes[axis].offset)
      return true;
  }
  return false;
}

FailureOr<Value> TileEmitter::emitDot(BodyContext &context, const DotForm &dot,
                                      unsigned contracted, Value accumulator) {
  std::array<Value, 2> operands;
  for (auto [operand, factor, element, axis] :
       llvm::zip(operands, dot.factors, dot.elements, dot.axes)) {
    FailureOr<Tile> tile = evaluateScalar(context, factor);
    if (failed(tile))
      return failure();
    // Zeros past the end add nothing. What is loaded is zero there; what is
    // computed may be anything.
    Tile masked = *tile;
    if (!isZeroPast(masked, contracted))
      masked = maskReduced(
          masked, contracted,
          builder.getZeroAttr(tile::getTileElementType(tile->value.getType())));
    if (contracted < axis)
      return emitError(loc, "FUS-3112: a reduction axis precedes the axes of "
                            "the result");
    operand = broadcast(castTile(masked, element), {axis, contracted}).value;
  }
  auto result = tile::DotOp::create(builder, loc, accumulator.getType(),
                                    operands[0], operands[1], accumulator);
  bool isF32 = dot.elements[0].isF32() &&
               tile::getTileElementType(accumulator.getType()).isF32();
  Operation *product = context.block->getParentOp();
  result.setTf32(isF32 && allowsTF32(product));
  if (!dot.condition)
    return result.getResult();
  FailureOr<Tile> condition = evaluateScalar(context, dot.condition);
  if (failed(condition))
    return failure();
  return select(*condition, {result, dot.axes}, {accumulator, dot.axes}).value;
}

//===----------------------------------------------------------------------===//
// Contractions shared by the warps of a block
//===----------------------------------------------------------------------===//

Value TileEmitter::addParts(Value init, unsigned contracted) {
  std::optional<unsigned> dim = axes[contracted].dim;
  MmaAttr mma = schedule.getMma();
  // Warpgroups share columns and rows only.
  if (!dim || !mma || mma.getKind() != MmaKind::MmaSync)
    return init;
  int64_t parts = schedule.getAxes()[*dim].getWarps();
  if (parts == 1)
    return init;
  SmallVector<int64_t> shape(tile::getTileShape(init.getType()));
  shape.insert(shape.begin(), parts);
  auto splat = init.getDefiningOp<tile::SplatOp>();
  assert(splat && "sums begin with one value for all");
  return tile::SplatOp::create(
      builder, loc,
      tile::getTileType(shape, tile::getTileElementType(init.getType())),
      splat.getValue());
}

Value TileEmitter::sumParts(Value sum, ArrayRef<unsigned> sumAxes) {
  Type element = tile::getTileElementType(sum.getType());
  if (tile::getTileShape(sum.getType()).size() == sumAxes.size())
    return sum;
  auto reduce = tile::ReduceOp::create(
      builder, loc, TypeRange(tileType(sumAxes, element)), sum, /*dim=*/0,
      /*within_warp=*/false);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&reduce.getCombiner(), {},
                                     {element, element}, {loc, loc});
  Value lhs = block->getArgument(0), rhs = block->getArgument(1);
  Value both = isa<FloatType>(element)
                   ? arith::AddFOp::create(builder, loc, lhs, rhs).getResult()
                   : arith::AddIOp::create(builder, loc, lhs, rhs).getResult();
  tile::YieldOp::create(builder, loc, both);
  return reduce.getResult(0);
}

//===----------------------------------------------------------------------===//
// Contractions shared by blocks
//===----------------------------------------------------------------------===//

bool TileEmitter::shareContraction(MutableArrayRef<Reduction> group,
                                   ArrayRef<unsigned> reduced) {
  if (!clusterRank || schedule.getMma().getSplit() == 1 || reduced.size() != 1)
    return false;
  SmallVector<AffineExpr> wholes;
  for (auto [number, axis] : llvm::enumerate(axes))
    wholes.push_back(builder.getAffineDimExpr(axis.whole.value_or(number)));
  std::vector<Reduction> moved(group);
  for (Reduction &member : moved) {
    for (AffineExpr &coord : member.coords)
      coord = coord.replaceDims(wholes);
    for (AffineExpr &coord : member.loopCoords)
      coord = coord.replaceDims(wholes);
    if (member.coords == group[&member - moved.data()].coords ||
        !matchDot(member, reduced.front()))
      return false;
  }
  llvm::copy(moved, group.begin());
  return true;
}

void TileEmitter::restrictToShare(scf::ForOp loop, const Axis &axis) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  int64_t parts = schedule.getMma().getSplit();
  Value share = sizeOf(axis.extent.ceilDiv(axis.tile * parts) * axis.tile);
  Value begin = arith::MulIOp::create(builder, loc, clusterRank, share);
  Value end = arith::AddIOp::create(builder, loc, begin, share);
  loop.setLowerBound(begin);
  loop.setUpperBound(
      arith::MinUIOp::create(builder, loc, end, loop.getUpperBound()));
}

unsigned TileEmitter::takePart(SmallVectorImpl<unsigned> &tileAxes) const {
  unsigned dim = 0;
  for (auto [number, axis] : llvm::enumerate(axes))
    for (auto [position, of] : llvm::enumerate(tileAxes))
      if (axis.whole == of) {
        of = number;
        dim = position;
      }
  return dim;
}

FailureOr<SmallVector<Value>>
TileEmitter::exchangeShares(ValueRange sums,
                            MutableArrayRef<SmallVector<unsigned>> sumAxes) {
  auto refuse = [&](const Twine &reason) {
    return kernel.emitError("FUS-3123: the blocks of a 'split' exchange their "
                            "sums through global memory ('apart'), but ")
           << reason;
  };
  auto blocks = dyn_cast<AffineConstantExpr>(gridSize);
  if (!blocks)
    return refuse("sizes are not known at compile time");
  if (program.walk([](tile::GridReduceOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return refuse("the kernel has several contractions");
  FailureOr<Scratch> scratch = makeScratch(sums, blocks.getValue());
  if (failed(scratch))
    return refuse("there are too many of them to signal to each other");
  SmallVector<Type> types;
  unsigned dim = 0;
  for (auto [sum, own] : llvm::zip(sums, sumAxes)) {
    dim = takePart(own);
    types.push_back(tileType(own, tile::getTileElementType(sum.getType())));
  }
  auto parts = tile::GridReduceOp::create(builder, loc, types, sums,
                                          scratch->slots, scratch->signals,
                                          blockNumber, clusterRank, dim);
  return llvm::to_vector_of<Value>(parts.getResults());
}

Tile TileEmitter::addShares(Tile sum) {
  Tile part = sum;
  unsigned dim = takePart(part.axes);
  Type element = tile::getTileElementType(sum.value.getType());
  part.value = tile::ClusterReduceOp::create(
      builder, loc, tileType(part.axes, element), sum.value, dim);
  return part;
}
