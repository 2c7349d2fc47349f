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

/// Operations that a coordinate is looked for behind; it is a tile like others
/// where there are more.
static constexpr unsigned kMaxAffineDepth = 64;

std::optional<AffineExpr>
TileEmitter::affineValue(BodyContext &context, Value value, unsigned depth) {
  // Null for what is known to be none.
  auto known = context.affine.find(value);
  if (known != context.affine.end())
    return known->second ? std::optional(known->second) : std::nullopt;
  if (depth == kMaxAffineDepth)
    return std::nullopt;
  std::optional<AffineExpr> expr = computeAffine(context, value, depth);
  context.affine[value] = expr.value_or(AffineExpr());
  return expr;
}

std::optional<AffineExpr>
TileEmitter::computeAffine(BodyContext &context, Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return builder.getAffineConstantExpr(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<AffineExpr> result;
  auto lhs = [&] { return affineValue(context, op->getOperand(0), depth + 1); };
  auto rhs = [&] { return affineValue(context, op->getOperand(1), depth + 1); };
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
        auto part = affineValue(context, operand, depth + 1);
        if (!part)
          return std::nullopt;
        (i < apply.getAffineMap().getNumDims() ? dims : syms).push_back(*part);
      }
      result =
          apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, syms);
    }
  }
  return result;
}

SmallVector<Value> TileEmitter::getTileOperands(BodyContext &context,
                                                Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || context.operands.contains(value) ||
      op->hasTrait<OpTrait::ConstantLike>() ||
      (value.getType().isIndex() && affineValue(context, value)))
    return {};
  if (!isa<tensor::ExtractOp>(op))
    return llvm::to_vector(op->getOperands());
  SmallVector<Value> indices;
  for (Value index : cast<tensor::ExtractOp>(op).getIndices())
    if (!affineValue(context, index))
      indices.push_back(index);
  return indices;
}

FailureOr<Tile> TileEmitter::evaluateScalar(BodyContext &context, Value value) {
  // Operands first: a body may be longer than the stack is deep.
  SmallVector<Value> pending = {value};
  while (true) {
    Value next = pending.back();
    if (!context.tiles.contains(next)) {
      size_t before = pending.size();
      SmallVector<Value> operands = getTileOperands(context, next);
      for (Value operand : llvm::reverse(operands))
        if (!context.tiles.contains(operand))
          pending.push_back(operand);
      if (pending.size() > before)
        continue;
      FailureOr<Tile> tile = computeScalar(context, next);
      if (failed(tile))
        return failure();
      context.tiles[next] = *tile;
    }
    pending.pop_back();
    if (pending.empty())
      return context.tiles.lookup(value);
  }
}

FailureOr<Tile> TileEmitter::computeScalar(BodyContext &context, Value value) {
  auto operand = context.operands.find(value);
  if (operand != context.operands.end()) {
    auto [tensor, coords] = operand->second;
    if (!isa<RankedTensorType>(tensor.getType()))
      return scalarValue(tensor);
    return evaluate(tensor, coords);
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return scalarValue(value);
  Attribute attr;
  if (matchPattern(op, m_Constant(&attr)))
    return Tile{constant(cast<TypedAttr>(attr)), {}};
  if (value.getType().isIndex())
    if (std::optional<AffineExpr> coord = affineValue(context, value))
      return indexTile(*coord);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Coords coords;
    for (Value index : extract.getIndices()) {
      if (std::optional<AffineExpr> coord = affineValue(context, index)) {
        coords.push_back(*coord);
        continue;
      }
      coords.push_back(
          asCoordinate(context.tiles.lookup(index), scopes.size() - 1));
    }
    return evaluate(extract.getTensor(), coords);
  }
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return op->emitError("FUS-3111: '")
           << op->getName() << "' has no form on tiles";
  SmallVector<Tile> tiles;
  for (Value input : op->getOperands())
    tiles.push_back(context.tiles.lookup(input));
  guardDivisor(op, tiles);
  SmallVector<unsigned> all = unify(tiles);
  SmallVector<Value> values;
  for (const Tile &tile : tiles)
    values.push_back(tile.value);
  OperationState state(op->getLoc(), op->getName(), values,
                       tileType(all, value.getType()), op->getAttrs());
  return Tile{builder.create(state)->getResult(0), all};
}
