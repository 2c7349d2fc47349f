//===- DotEmitter.cpp - Sums of products as dots --------------------------===//
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

#include "DotEmitter.h"

#include "fusion/Analysis/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

SmallVector<unsigned> DotEmitter::getFactorAxes(const BodyEvaluator &body,
                                                Value factor) {
  SmallVector<unsigned> result;
  for (auto &[argument, operand] : body.getOperands())
    if (dependsOn(factor, cast<BlockArgument>(argument)))
      llvm::append_range(result, axes.getAxesOf(operand.coords));
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

std::optional<DotForm> DotEmitter::match(const Reduction &reduction,
                                         unsigned contracted) {
  if (kernel.getStrategy() != Strategy::Contraction ||
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
  BodyEvaluator body(evaluator, reduction.op, reduction.loopCoords);
  SmallVector<unsigned> sides[2];
  for (unsigned side = 0; side < 2; ++side) {
    sides[side] = getFactorAxes(body, product->getOperand(side));
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
  if (form.axes != axes.getAxesOf(reduction.coords))
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

bool DotEmitter::isZeroPast(Tile tile, unsigned axis) {
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
    // Zeros begin where the tensor ends, at the latest with the axis; that may
    // count through the dimensions after this one.
    AffineExpr size = view.getShapeAttr().getValue().getResult(i);
    AffineExpr coord = expr;
    while (auto outer = dyn_cast<AffineBinaryOpExpr>(coord)) {
      if (outer.getKind() != AffineExprKind::FloorDiv)
        break;
      coord = outer.getLHS();
      size = size * outer.getRHS();
    }
    auto most = dyn_cast<AffineConstantExpr>(size);
    auto extent = dyn_cast<AffineConstantExpr>(axes[axis].extent);
    bool ends = size == axes[axis].extent ||
                (most && extent && most.getValue() <= extent.getValue());
    if (!load.getChecked()[i] || !ends)
      continue;
    // The coordinate itself, from the start of the tile.
    AffineExpr rest = coord - builder.getAffineDimExpr(dim);
    auto symbol = dyn_cast<AffineSymbolExpr>(rest);
    if (symbol && load.getSymbols()[symbol.getPosition()] == axes[axis].offset)
      return true;
    if (rest == builder.getAffineConstantExpr(0) && !axes[axis].offset)
      return true;
  }
  return false;
}

FailureOr<Value> DotEmitter::emit(BodyEvaluator &body, const DotForm &dot,
                                  unsigned contracted, Value accumulator) {
  std::array<Value, 2> operands;
  for (auto [operand, factor, element, axis] :
       llvm::zip(operands, dot.factors, dot.elements, dot.axes)) {
    FailureOr<Tile> tile = body.evaluate(factor);
    if (failed(tile))
      return failure();
    // What does not depend on the loop is brought into form before it.
    OpBuilder::InsertionGuard guard(builder);
    ScopeStack &scopes = builder.getScopes();
    unsigned depth =
        std::max(scopes.getDepthOf(tile->value), axes[contracted].depth);
    if (depth < scopes.getDepth())
      scopes.insertAt(depth);
    // Zeros past the end add nothing. What is loaded is zero there; what is
    // computed may be anything.
    Tile masked = *tile;
    if (!isZeroPast(masked, contracted))
      masked = builder.maskPast(
          masked, contracted,
          builder.getZeroAttr(tile::getTileElementType(tile->value.getType())));
    if (contracted < axis)
      return emitError(loc, "FUS-3112: a reduction axis precedes the axes of "
                            "the result");
    operand =
        builder.broadcast(builder.castTile(masked, element), {axis, contracted})
            .value;
  }
  auto result = tile::DotOp::create(builder, loc, accumulator.getType(),
                                    operands[0], operands[1], accumulator);
  bool isF32 = dot.elements[0].isF32() &&
               tile::getTileElementType(accumulator.getType()).isF32();
  Operation *product = body.getBlock()->getParentOp();
  result.setTf32(isF32 && allowsTF32(product));
  if (!dot.condition)
    return result.getResult();
  FailureOr<Tile> condition = body.evaluate(dot.condition);
  if (failed(condition))
    return failure();
  return builder.select(*condition, {result, dot.axes}, {accumulator, dot.axes})
      .value;
}

//===----------------------------------------------------------------------===//
// Contractions shared by the warps of a block
//===----------------------------------------------------------------------===//

Value DotEmitter::splitAmongWarps(Value init, unsigned contracted) {
  std::optional<unsigned> dim = axes[contracted].dim;
  MmaAttr mma = kernel.getMma();
  // Warpgroups share columns and rows only.
  if (!dim || !mma || mma.getKind() != MmaKind::MmaSync)
    return init;
  int64_t parts = kernel.getDecision(*dim).getWarps();
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

Value DotEmitter::sumWarps(Value sum, ArrayRef<unsigned> sumAxes) {
  Type element = tile::getTileElementType(sum.getType());
  if (tile::getTileShape(sum.getType()).size() == sumAxes.size())
    return sum;
  auto reduce = tile::ReduceOp::create(
      builder, loc, TypeRange(builder.getTileType(sumAxes, element)), sum,
      /*dim=*/0,
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
