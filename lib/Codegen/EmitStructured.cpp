//===- EmitStructured.cpp - Tiles of structured operations ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the tile form of structured operations whose loops are
// all parallel, and the evaluation of the scalar computation in the body of any
// structured operation on whole tiles.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "fusion/Analysis/Exchanges.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult TileEmitter::bindLoops(linalg::LinalgOp op, unsigned result,
                                     ArrayRef<AffineExpr> coords,
                                     Coords &loopCoords) {
  loopCoords.assign(op.getNumLoops(), AffineExpr());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, coord] : llvm::zip(map.getResults(), coords)) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return op.emitError("FUS-3108: the result is not indexed by plain loops");
    loopCoords[loop.getPosition()] = coord;
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && !loopCoords[loop])
      return op.emitError(
          "FUS-3109: a parallel loop does not index the result");
  return success();
}

TileEmitter::BodyContext
TileEmitter::makeContext(linalg::LinalgOp op, ArrayRef<AffineExpr> loopCoords) {
  BodyContext context;
  context.block = op.getBlock();
  context.loopCoords = loopCoords;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    Coords coords;
    AffineMap map = op.getMatchingIndexingMap(input);
    for (AffineExpr expr : map.getResults()) {
      AffineExpr coord = expr.replaceDims(loopCoords);
      // Elements of a strip meet in a window at coordinates that are equal, but
      // for the order of their terms.
      if (!strips.empty() && coord.isPureAffine())
        coord = simplifyAffineExpr(coord, axes.size(),
                                   shapes.getSymbols().size() +
                                       indexSymbols.size());
      coords.push_back(coord);
    }
    context.operands[argument] = {input->get(), coords};
  }
  return context;
}

FailureOr<Tile> TileEmitter::evaluateStructured(linalg::LinalgOp op,
                                                unsigned result,
                                                ArrayRef<AffineExpr> coords) {
  if (std::optional<Granules> granules = matchGranules(op))
    return emitGranules(op, result, *granules);
  Coords loopCoords;
  if (failed(bindLoops(op, result, coords, loopCoords)))
    return failure();
  if (op.getNumReductionLoops() > 0)
    return emitReduction(op, result, coords, loopCoords);
  BodyContext context = makeContext(op, loopCoords);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    // The initial value is read where the body uses it.
    Coords initCoords;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      initCoords.push_back(expr.replaceDims(loopCoords));
    context.operands[op.getMatchingBlockArgument(&init)] = {init.get(),
                                                            initCoords};
  }
  return evaluateScalar(context,
                        op.getBlock()->getTerminator()->getOperand(result));
}

std::optional<AffineExpr> TileEmitter::affineValue(BodyContext &context,
                                                   Value value) {
  auto known = context.affine.find(value);
  if (known != context.affine.end())
    return known->second;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return builder.getAffineConstantExpr(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<AffineExpr> result;
  auto lhs = [&] { return affineValue(context, op->getOperand(0)); };
  auto rhs = [&] { return affineValue(context, op->getOperand(1)); };
  // Divisions of coordinates by positive constants are floors only when the
  // dividend is not negative.
  auto isNatural = [&](AffineExpr expr) {
    bool natural = true;
    expr.walk([&](AffineExpr part) {
      if (auto number = dyn_cast<AffineConstantExpr>(part))
        natural &= number.getValue() >= 0;
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        natural &= symbol.getPosition() < shapes.getSymbols().size() &&
                   shapes.getSymbols()[symbol.getPosition()].kind ==
                       SymbolicShapes::SymbolKind::Size;
    });
    return natural;
  };
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    if (index->getBlock() == context.block)
      result = context.loopCoords[index.getDim()];
  } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    // Through i32 only when nothing can be lost: coordinates are not negative
    // and programs with larger sizes do their index arithmetic in 64 bits.
    if (op->getResult(0).getType().isIndex() ||
        op->getResult(0).getType().isInteger(64))
      result = lhs();
  } else if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
             (value.getType().isIndex() || value.getType().isInteger(64))) {
    auto a = lhs(), b = rhs();
    if (a && b) {
      if (isa<arith::AddIOp>(op))
        result = *a + *b;
      else if (isa<arith::SubIOp>(op))
        result = *a - *b;
      else if (a->isSymbolicOrConstant() || b->isSymbolicOrConstant())
        result = *a * *b;
    }
  } else if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
                 arith::RemUIOp, arith::RemSIOp>(op) &&
             (value.getType().isIndex() || value.getType().isInteger(64))) {
    auto a = lhs(), b = rhs();
    auto divisor = b ? dyn_cast<AffineConstantExpr>(*b) : AffineConstantExpr();
    if (a && divisor && divisor.getValue() > 0 && isNatural(*a))
      result = isa<arith::RemUIOp, arith::RemSIOp>(op)
                   ? *a % divisor.getValue()
                   : a->floorDiv(divisor.getValue());
  } else if (isa<arith::XOrIOp>(op) && value.getType().isIndex()) {
    auto a = lhs(), b = rhs();
    auto mask = b ? dyn_cast<AffineConstantExpr>(*b) : AffineConstantExpr();
    if (a && mask && mask.getValue() > 0 && isNatural(*a))
      result = flipBits(*a, mask.getValue());
  } else if (isa<affine::AffineApplyOp, tensor::DimOp>(op)) {
    FailureOr<AffineExpr> expr = shapes.getIndex(value);
    if (succeeded(expr)) {
      result = *expr;
    } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      SmallVector<AffineExpr> dims, syms;
      for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
        auto part = affineValue(context, operand);
        if (!part)
          return std::nullopt;
        (i < apply.getAffineMap().getNumDims() ? dims : syms).push_back(*part);
      }
      result =
          apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, syms);
    }
  }
  if (result)
    context.affine[value] = *result;
  return result;
}

FailureOr<Tile> TileEmitter::evaluateScalar(BodyContext &context, Value value) {
  auto known = context.tiles.find(value);
  if (known != context.tiles.end())
    return known->second;
  auto remembered = [&](FailureOr<Tile> tile) {
    if (succeeded(tile))
      context.tiles[value] = *tile;
    return tile;
  };
  auto operand = context.operands.find(value);
  if (operand != context.operands.end()) {
    auto [tensor, coords] = operand->second;
    if (!isa<RankedTensorType>(tensor.getType()))
      return remembered(scalarValue(tensor));
    return remembered(evaluate(tensor, coords));
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return scalarValue(value);
  Attribute attr;
  if (matchPattern(op, m_Constant(&attr)))
    return remembered(Tile{constant(cast<TypedAttr>(attr)), {}});
  if (value.getType().isIndex())
    if (std::optional<AffineExpr> coord = affineValue(context, value))
      return remembered(indexTile(*coord));
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Coords coords;
    for (Value index : extract.getIndices()) {
      if (std::optional<AffineExpr> coord = affineValue(context, index)) {
        coords.push_back(*coord);
        continue;
      }
      FailureOr<Tile> tile = evaluateScalar(context, index);
      if (failed(tile))
        return failure();
      coords.push_back(asCoordinate(*tile, scopes.size() - 1));
    }
    return remembered(evaluate(extract.getTensor(), coords));
  }
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return op->emitError("FUS-3111: '")
           << op->getName() << "' has no form on tiles";
  SmallVector<Tile> tiles;
  for (Value input : op->getOperands()) {
    FailureOr<Tile> tile = evaluateScalar(context, input);
    if (failed(tile))
      return failure();
    tiles.push_back(*tile);
  }
  SmallVector<unsigned> all = unify(tiles);
  SmallVector<Value> values;
  for (const Tile &tile : tiles)
    values.push_back(tile.value);
  OperationState state(op->getLoc(), op->getName(), values,
                       tileType(all, value.getType()), op->getAttrs());
  return remembered(Tile{builder.create(state)->getResult(0), all});
}
