//===- BodyEvaluator.cpp - Tiles of scalars in a body ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the evaluation of scalars in a body on whole tiles: what
// is an expression of the loops' coordinates stays a coordinate, and each other
// operation is done on tiles.
//
//===----------------------------------------------------------------------===//

#include "BodyEvaluator.h"

#include "DivisorGuard.h"
#include "fusion/Analysis/Exchanges.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

FailureOr<Coords> mlir::fusion::bindLoops(linalg::LinalgOp op, unsigned result,
                                          ArrayRef<AffineExpr> coords) {
  Coords loopCoords(op.getNumLoops());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, coord] : llvm::zip(map.getResults(), coords)) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    // What walks a granule has its loop.
    if (matchGranules(op) && !loop)
      continue;
    if (!loop)
      return op.emitError("FUS-3108: the result is not indexed by plain loops");
    loopCoords[loop.getPosition()] = coord;
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && !loopCoords[loop])
      return op.emitError(
          "FUS-3109: a parallel loop does not index the result");
  return loopCoords;
}

/// `coord`, of loops over so many elements, without quotients that none of them
/// reaches one of: as sums with them, addresses are aligned to nothing.
static AffineExpr dropZeros(AffineExpr coord, ArrayRef<int64_t> extents) {
  DenseMap<AffineExpr, AffineExpr> zeros;
  coord.walk([&](AffineExpr part) {
    if (part.getKind() != AffineExprKind::FloorDiv)
      return;
    auto quotient = cast<AffineBinaryOpExpr>(part);
    auto loop = dyn_cast<AffineDimExpr>(quotient.getLHS());
    auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (loop && divisor &&
        !ShapedType::isDynamic(extents[loop.getPosition()]) &&
        extents[loop.getPosition()] <= divisor.getValue())
      zeros[part] = getAffineConstantExpr(0, coord.getContext());
  });
  return zeros.empty() ? coord : coord.replace(zeros);
}

Coords mlir::fusion::getOperandCoords(linalg::LinalgOp op, OpOperand &operand,
                                      ArrayRef<AffineExpr> loopCoords) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Coords coords;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    coords.push_back(dropZeros(expr, extents).replaceDims(loopCoords));
  return coords;
}

BodyEvaluator::BodyEvaluator(TileEvaluator &evaluator, linalg::LinalgOp op,
                             ArrayRef<AffineExpr> loopCoords)
    : BodyEvaluator(evaluator, op.getBlock()) {
  this->loopCoords.assign(loopCoords);
  const TileAxes &axes = builder.getAxes();
  unsigned numSymbols =
      builder.getKernel().getNumSymbols() + axes.getNumIndexTiles();
  for (OpOperand *input : op.getDpsInputOperands()) {
    Coords coords = getOperandCoords(op, *input, loopCoords);
    // Elements of a strip meet in a window at coordinates that are equal, but
    // for the order of their terms.
    if (!axes.getStrips().empty())
      for (AffineExpr &coord : coords)
        if (coord.isPureAffine())
          coord = simplifyAffineExpr(coord, axes.size(), numSymbols);
    setOperand(op.getMatchingBlockArgument(input), {input->get(), coords});
  }
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// Operations that a coordinate is looked for behind; it is a tile like others
/// where there are more.
static constexpr unsigned kMaxAffineDepth = 64;

std::optional<AffineExpr> BodyEvaluator::getCoordinate(Value value,
                                                       unsigned depth) {
  // Null for what is known to be none.
  auto known = knownCoords.find(value);
  if (known != knownCoords.end())
    return known->second ? std::optional(known->second) : std::nullopt;
  if (depth == kMaxAffineDepth)
    return std::nullopt;
  std::optional<AffineExpr> expr = computeCoordinate(value, depth);
  knownCoords[value] = expr.value_or(AffineExpr());
  return expr;
}

bool BodyEvaluator::isNatural(AffineExpr expr) const {
  ArrayRef<SymbolicShapes::Symbol> symbols =
      builder.getKernel().getShapes().getSymbols();
  bool natural = true;
  expr.walk([&](AffineExpr part) {
    if (auto number = dyn_cast<AffineConstantExpr>(part))
      natural &= number.getValue() >= 0;
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      natural &= symbol.getPosition() < symbols.size() &&
                 symbols[symbol.getPosition()].kind ==
                     SymbolicShapes::SymbolKind::Size;
  });
  return natural;
}

bool BodyEvaluator::isWithin(AffineExpr coord, int64_t low,
                             int64_t high) const {
  const TileAxes &axes = builder.getAxes();
  SmallVector<std::optional<int64_t>> least, most;
  for (unsigned axis = 0; axis < axes.size(); ++axis) {
    auto extent = dyn_cast<AffineConstantExpr>(axes[axis].extent);
    least.push_back(0);
    most.push_back(extent ? std::optional(extent.getValue()) : std::nullopt);
  }
  unsigned symbols =
      builder.getKernel().getNumSymbols() + axes.getNumIndexTiles();
  least.resize(axes.size() + symbols);
  most.resize(axes.size() + symbols);
  auto bound = [&](bool isUpper) {
    return getBoundForAffineExpr(coord, axes.size(), symbols, least, most,
                                 isUpper);
  };
  std::optional<int64_t> lower = bound(false), upper = bound(true);
  return lower && upper && *lower >= low && *upper <= high;
}

bool BodyEvaluator::fits(AffineExpr coord, Type type) const {
  unsigned bits = type.getIntOrFloatBitWidth() - 1;
  if (auto floats = dyn_cast<FloatType>(type))
    bits = floats.getFPMantissaWidth();
  int64_t limit = int64_t(1) << std::min(bits, 62u);
  return isWithin(coord, -limit, limit - 1);
}

std::optional<AffineExpr> BodyEvaluator::getConverted(Value value) {
  auto conversion = value.getDefiningOp<arith::SIToFPOp>();
  if (!conversion)
    return std::nullopt;
  Value integer = conversion.getIn();
  if (auto absolute = integer.getDefiningOp<math::AbsIOp>())
    integer = absolute.getOperand();
  std::optional<AffineExpr> coord = getCoordinate(integer);
  return coord && !coord->isSymbolicOrConstant() &&
                 fits(*coord, value.getType())
             ? coord
             : std::nullopt;
}

std::optional<AffineExpr> BodyEvaluator::computeDivision(Operation *op,
                                                         unsigned depth) {
  auto a = getCoordinate(op->getOperand(0), depth + 1);
  auto b = getCoordinate(op->getOperand(1), depth + 1);
  auto divisor = b ? dyn_cast<AffineConstantExpr>(*b) : AffineConstantExpr();
  // Divisions of coordinates by positive constants are floors only when the
  // dividend is not negative.
  if (!a || !divisor || divisor.getValue() <= 0 || !isNatural(*a))
    return std::nullopt;
  if (isa<arith::XOrIOp>(op))
    return flipBits(*a, divisor.getValue());
  return isa<arith::RemUIOp, arith::RemSIOp>(op)
             ? *a % divisor.getValue()
             : a->floorDiv(divisor.getValue());
}

std::optional<AffineExpr> BodyEvaluator::computeArithmetic(Operation *op,
                                                           unsigned depth) {
  auto a = getCoordinate(op->getOperand(0), depth + 1);
  auto b = getCoordinate(op->getOperand(1), depth + 1);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *a + *b;
  if (isa<arith::SubIOp>(op))
    return *a - *b;
  if (a->isSymbolicOrConstant() || b->isSymbolicOrConstant())
    return *a * *b;
  return std::nullopt;
}

std::optional<AffineExpr> BodyEvaluator::computeApply(affine::AffineApplyOp op,
                                                      unsigned depth) {
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(op.getMapOperands())) {
    auto part = getCoordinate(operand, depth + 1);
    if (!part)
      return std::nullopt;
    (i < op.getAffineMap().getNumDims() ? dims : symbols).push_back(*part);
  }
  return op.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, symbols);
}

std::optional<AffineExpr> BodyEvaluator::computeCoordinate(Value value,
                                                           unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return builder.getAffineConstantExpr(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  bool isIndex = value.getType().isIndex();
  bool isWide = isIndex || value.getType().isInteger(64);
  // Narrower integers are coordinates where they hold all of them.
  if (!isWide && value.getType().isSignlessInteger()) {
    if (!isa<arith::IndexCastOp, arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    std::optional<AffineExpr> expr =
        isa<arith::IndexCastOp>(op)
            ? getCoordinate(op->getOperand(0), depth + 1)
            : computeArithmetic(op, depth);
    return expr && fits(*expr, value.getType()) ? expr : std::nullopt;
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    if (index->getBlock() == block)
      return loopCoords[index.getDim()];
    return std::nullopt;
  }
  // Programs with larger sizes do their index arithmetic in 64 bits.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && isWide)
    return getCoordinate(op->getOperand(0), depth + 1);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) && isWide)
    return computeArithmetic(op, depth);
  bool divides = isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
                     arith::RemUIOp, arith::RemSIOp>(op);
  if ((divides && isWide) || (isa<arith::XOrIOp>(op) && isIndex))
    return computeDivision(op, depth);
  if (!isa<affine::AffineApplyOp, tensor::DimOp>(op))
    return std::nullopt;
  FailureOr<AffineExpr> known = builder.getKernel().getShapes().getIndex(value);
  if (succeeded(known))
    return *known;
  auto apply = dyn_cast<affine::AffineApplyOp>(op);
  return apply ? computeApply(apply, depth) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SmallVector<Value> BodyEvaluator::getTileOperands(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || operands.contains(value) ||
      op->hasTrait<OpTrait::ConstantLike>() ||
      (value.getType().isIndex() && getCoordinate(value)) ||
      getConverted(value))
    return {};
  if (!isa<tensor::ExtractOp>(op))
    return llvm::to_vector(op->getOperands());
  SmallVector<Value> indices;
  for (Value index : cast<tensor::ExtractOp>(op).getIndices())
    if (!getCoordinate(index))
      indices.push_back(index);
  return indices;
}

FailureOr<Tile> BodyEvaluator::evaluate(Value value) {
  // Operands first: a body may be longer than the stack is deep.
  SmallVector<Value> pending = {value};
  while (true) {
    Value next = pending.back();
    if (!tiles.contains(next)) {
      size_t before = pending.size();
      SmallVector<Value> needed = getTileOperands(next);
      for (Value operand : llvm::reverse(needed))
        if (!tiles.contains(operand))
          pending.push_back(operand);
      if (pending.size() > before)
        continue;
      FailureOr<Tile> tile = compute(next);
      if (failed(tile))
        return failure();
      tiles[next] = *tile;
    }
    pending.pop_back();
    if (pending.empty())
      return tiles.lookup(value);
  }
}

FailureOr<Tile> BodyEvaluator::computeExtract(tensor::ExtractOp extract) {
  Coords coords;
  for (Value index : extract.getIndices()) {
    std::optional<AffineExpr> coord = getCoordinate(index);
    coords.push_back(
        coord ? *coord
              : builder.getAxes().asCoordinate(tiles.lookup(index),
                                               builder.getScopes().getDepth()));
  }
  return evaluator.evaluate(extract.getTensor(), coords);
}

FailureOr<Tile> BodyEvaluator::compute(Value value) {
  auto operand = operands.find(value);
  if (operand != operands.end()) {
    auto [tensor, coords] = operand->second;
    if (!isa<RankedTensorType>(tensor.getType()))
      return evaluator.evaluateScalar(tensor);
    return evaluator.evaluate(tensor, coords);
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return evaluator.evaluateScalar(value);
  Attribute attr;
  if (matchPattern(op, m_Constant(&attr)))
    return Tile{builder.createConstant(cast<TypedAttr>(attr)), {}};
  if (value.getType().isIndex())
    if (std::optional<AffineExpr> coord = getCoordinate(value))
      return builder.getIndexTile(*coord);
  if (std::optional<AffineExpr> coord = getConverted(value)) {
    Tile tile = builder.getIndexTile(*coord, cast<FloatType>(value.getType()));
    if (cast<arith::SIToFPOp>(op).getIn().getDefiningOp<math::AbsIOp>())
      tile.value = math::AbsFOp::create(builder, op->getLoc(), tile.value);
    return tile;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return computeExtract(extract);
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return op->emitError("FUS-3111: '")
           << op->getName() << "' has no form on tiles";
  SmallVector<Tile> inputs;
  for (Value input : op->getOperands())
    inputs.push_back(tiles.lookup(input));
  guardDivisor(op, inputs, builder);
  SmallVector<unsigned> all = builder.unify(inputs);
  SmallVector<Value> values;
  for (const Tile &tile : inputs)
    values.push_back(tile.value);
  OperationState state(op->getLoc(), op->getName(), values,
                       builder.getTileType(all, value.getType()),
                       op->getAttrs());
  return Tile{builder.create(state)->getResult(0), all};
}
