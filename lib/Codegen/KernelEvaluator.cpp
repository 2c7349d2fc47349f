//===- KernelEvaluator.cpp - Tiles of any tensor --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the evaluation of a tile of any tensor of a kernel, on
// demand: for a tile of a result those of the operands are computed, at
// coordinates composed from the indexing maps.
//
//===----------------------------------------------------------------------===//

#include "KernelEvaluator.h"

#include "DataMovement.h"
#include "GranuleReduction.h"
#include "RowGroups.h"
#include "SerialReduction.h"
#include "TreeReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<Tile> KernelEvaluator::evaluate(Value tensor,
                                          ArrayRef<AffineExpr> coords) {
  ScopeStack &scopes = builder.getScopes();
  unsigned depth =
      std::max(axes.getDepth(coords), scopes.getRunningDepth(tensor));
  if (const Tile *known = scopes.find(tensor, coords, depth))
    return *known;
  depth = scopes.getComputedDepth(depth);
  // What does not depend on a loop is computed before it: the scopes inside
  // `depth` are put aside, and what is emitted goes before their first loop.
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<ScopeStack::Scope> inner = scopes.setAside(depth);
  TileAxes::Bindings bindings = axes.getBindings();
  axes.unbindFrom(depth + 1);
  scopes.insertAt(depth);
  FailureOr<Tile> tile = evaluateUncached(tensor, coords);
  scopes.putBack(std::move(inner));
  axes.setBindings(std::move(bindings));
  if (succeeded(tile))
    scopes.remember(tensor, coords, depth, *tile);
  return tile;
}

FailureOr<std::optional<Tile>>
KernelEvaluator::evaluateByGranules(Value tensor, ArrayRef<AffineExpr> coords) {
  for (auto [number, coord] : llvm::enumerate(coords)) {
    auto part = dyn_cast<AffineBinaryOpExpr>(coord);
    if (!part || part.getKind() != AffineExprKind::FloorDiv)
      continue;
    for (auto &[dim, granules] : axes.getGranules()) {
      const Axis &parts = axes[granules.parts];
      if (!parts.granulesOf ||
          part.getLHS() != builder.getAffineDimExpr(*parts.granulesOf) ||
          part.getRHS() != builder.getAffineConstantExpr(parts.granule))
        continue;
      // Where places within granules are told apart too, as when a dimension
      // is split, nothing is the same for all of a granule.
      if (llvm::count_if(coords, [&](AffineExpr other) {
            return other.isFunctionOfDim(*parts.granulesOf);
          }) > 1)
        continue;
      Coords moved(coords);
      moved[number] = builder.getAffineDimExpr(granules.parts);
      FailureOr<Tile> tile = evaluate(tensor, moved);
      if (failed(tile))
        return failure();
      return std::optional(spreadGranules(*tile, granules, builder));
    }
  }
  return std::optional<Tile>();
}

FailureOr<Tile> KernelEvaluator::evaluateUncached(Value tensor,
                                                  ArrayRef<AffineExpr> coords) {
  FailureOr<std::optional<Tile>> tile = evaluateByGranules(tensor, coords);
  if (succeeded(tile) && !*tile)
    tile = exchanges.evaluate(tensor, coords);
  if (failed(tile))
    return failure();
  if (*tile)
    return **tile;
  if (isa<BlockArgument>(tensor))
    return load(tensor, coords);
  return evaluateResult(cast<OpResult>(tensor), coords);
}

FailureOr<Tile> KernelEvaluator::evaluateResult(OpResult value,
                                                ArrayRef<AffineExpr> coords) {
  Operation *op = value.getOwner();
  Type element = getElementTypeOrSelf(value.getType());
  return TypeSwitch<Operation *, FailureOr<Tile>>(op)
      .Case([&](linalg::FillOp fill) -> FailureOr<Tile> {
        return evaluateScalar(fill.getInputs().front());
      })
      .Case([&](linalg::LinalgOp structured) {
        return evaluateStructured(structured, value.getResultNumber(), coords);
      })
      .Case([&](tensor::EmptyOp) -> FailureOr<Tile> {
        // Any value will do for what was never written.
        return Tile{builder.createConstant(builder.getZeroAttr(element)), {}};
      })
      .Case([&](RowGroupsOp groups) {
        return evaluateRowGroups(groups, coords, context.groups, *this,
                                 context.walks);
      })
      .Case([&](tensor::SplatOp splat) {
        return evaluateScalar(splat.getInput());
      })
      .Case([&](arith::ConstantOp constantOp) -> FailureOr<Tile> {
        auto dense = dyn_cast<DenseElementsAttr>(constantOp.getValue());
        if (!dense || !dense.isSplat())
          return op->emitError("FUS-3104: a constant with several values must "
                               "be an operand of the kernel");
        return Tile{builder.createConstant(dense.getSplatValue<TypedAttr>()),
                    {}};
      })
      .Case([&](tensor::CastOp cast) {
        return evaluate(cast.getSource(), coords);
      })
      .Case<tensor::PadOp, tensor::ConcatOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp>(
          [&](auto moves) { return evaluateMoved(moves, coords, *this); })
      .Default([&](Operation *) -> FailureOr<Tile> {
        return op->emitError("FUS-3105: no tile form for '")
               << op->getName() << "'; decompose it before code generation";
      });
}

FailureOr<Tile>
KernelEvaluator::evaluateStructured(linalg::LinalgOp op, unsigned result,
                                    ArrayRef<AffineExpr> coords) {
  const ScheduledKernel &kernel = builder.getKernel();
  if (std::optional<Granules> granules = matchGranules(op);
      granules &&
      !kernel.walksGranules(kernel.getSpace().getDimOfLoop(op, granules->loop)))
    return emitGranules(op, result, *granules, *this, states);
  FailureOr<Coords> loopCoords = bindLoops(op, result, coords);
  if (failed(loopCoords))
    return failure();
  if (op.getNumReductionLoops() > 0) {
    std::optional<Reduction> reduction =
        makeReduction(op, Coords(coords), *loopCoords, context.groups);
    return reduction ? emitTreeReduction(context, std::move(*reduction), result)
                     : emitSerialReduction(op, result, coords, *loopCoords,
                                           *this, context.walks);
  }
  BodyEvaluator body(*this, op, *loopCoords);
  // The initial value is read where the body uses it.
  for (OpOperand &init : op.getDpsInitsMutable())
    body.setOperand(op.getMatchingBlockArgument(&init),
                    {init.get(), getOperandCoords(op, init, *loopCoords)});
  return body.evaluate(op.getBlock()->getTerminator()->getOperand(result));
}

FailureOr<Tile> KernelEvaluator::evaluateScalar(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    Value value = views.lookup(argument);
    if (!value)
      return emitError(scalar.getLoc(), "FUS-3106: scalar has no tile form");
    return Tile{value, {}};
  }
  Attribute attr;
  if (matchPattern(scalar, m_Constant(&attr)))
    return Tile{builder.createConstant(cast<TypedAttr>(attr)), {}};
  // Scalar arithmetic, or an element of a tensor.
  return BodyEvaluator(*this, scalar.getParentBlock()).evaluate(scalar);
}

FailureOr<Tile> KernelEvaluator::load(Value argument,
                                      ArrayRef<AffineExpr> coords) {
  MemoryViews::Place place = views.placeOf(argument, argument, coords);
  auto view = place.view;
  Tile tile;
  tile.axes = axes.getAxesOf(place.coords);
  SmallVector<Value> symbols, indexTiles;
  AffineMap map =
      builder.buildMap(place.coords, tile.axes, symbols, &indexTiles);
  // A gather by a scalar index is an ordinary symbol.
  SmallVector<AffineExpr> replacements;
  SmallVector<Value> gathers;
  unsigned scalars = symbols.size();
  SmallVector<Value> scalarIndices;
  for (Value index : indexTiles)
    if (index.getType().isIndex())
      scalarIndices.push_back(index);
  unsigned nextScalar = scalars, nextGather = scalars + scalarIndices.size();
  for (unsigned i = 0; i < scalars; ++i)
    replacements.push_back(builder.getAffineSymbolExpr(i));
  for (Value index : indexTiles) {
    bool scalar = index.getType().isIndex();
    replacements.push_back(
        builder.getAffineSymbolExpr(scalar ? nextScalar++ : nextGather++));
    if (!scalar)
      gathers.push_back(index);
  }
  symbols.append(scalarIndices);
  map = map.replaceDimsAndSymbols({}, replacements, map.getNumDims(),
                                  map.getNumSymbols());
  tile.value = tile::LoadOp::create(
      builder, builder.getLoc(),
      builder.getTileType(tile.axes, view.getType().getElementType()), view,
      symbols, gathers, AffineMapAttr::get(map),
      builder.getDenseBoolArrayAttr(place.checked));
  return tile;
}
