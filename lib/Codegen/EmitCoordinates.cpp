//===- EmitCoordinates.cpp - Coordinates of the tile emitter --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the part of the tile emitter that turns coordinates,
// affine expressions over axes and symbols, into maps and values.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

SmallVector<unsigned> TileEmitter::axesOf(ArrayRef<AffineExpr> coords) const {
  SmallVector<unsigned> result;
  unsigned numShapes = shapes.getSymbols().size();
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part)) {
        if (axes[dim.getPosition()].tile > 1)
          result.push_back(dim.getPosition());
      } else if (auto symbol = dyn_cast<AffineSymbolExpr>(part)) {
        if (symbol.getPosition() >= numShapes) {
          const Tile &tile =
              indexSymbols[symbol.getPosition() - numShapes].first;
          result.append(tile.axes.begin(), tile.axes.end());
        }
      }
    });
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

Value TileEmitter::sizeOf(AffineExpr extent) {
  auto known = sizes.find(extent);
  if (known != sizes.end())
    return known->second;
  // Sizes belong to the program's entry: they do not depend on the block.
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = &program.getBody().front();
  if (Operation *last = lastSize)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(entry);
  Value value;
  if (auto constant = dyn_cast<AffineConstantExpr>(extent)) {
    value = arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  } else {
    SmallVector<Value> symbols(shapes.getSymbols().size());
    for (auto [number, argument] : symbolValues)
      symbols[number] = argument;
    value = affine::expandAffineExpr(builder, loc, extent, {}, symbols);
  }
  if (Operation *op = value.getDefiningOp())
    lastSize = op;
  sizes[extent] = value;
  return value;
}

AffineMap TileEmitter::buildMap(ArrayRef<AffineExpr> coords,
                                ArrayRef<unsigned> tileAxes,
                                SmallVector<Value> &symbols,
                                SmallVector<Value> *indexTiles) {
  unsigned numShapes = shapes.getSymbols().size();
  SmallVector<AffineExpr> dimReplacements(axes.size());
  SmallVector<AffineExpr> symbolReplacements(numShapes + indexSymbols.size());
  auto symbolFor = [&](Value value) {
    auto known = llvm::find(symbols, value);
    if (known == symbols.end()) {
      symbols.push_back(value);
      known = std::prev(symbols.end());
    }
    return builder.getAffineSymbolExpr(known - symbols.begin());
  };
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part)) {
        AffineExpr &replacement = dimReplacements[dim.getPosition()];
        if (replacement)
          return;
        const Axis &axis = axes[dim.getPosition()];
        replacement = builder.getAffineConstantExpr(0);
        if (axis.tile > 1)
          replacement = builder.getAffineDimExpr(
              llvm::find(tileAxes, dim.getPosition()) - tileAxes.begin());
        if (axis.offset)
          replacement = replacement + symbolFor(axis.offset);
      } else if (auto symbol = dyn_cast<AffineSymbolExpr>(part)) {
        unsigned position = symbol.getPosition();
        if (position < numShapes && !symbolReplacements[position])
          symbolReplacements[position] = symbolFor(sizeOf(part));
      }
    });
  // Index tiles follow the scalars.
  unsigned next = symbols.size();
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      if (!symbol || symbol.getPosition() < numShapes ||
          symbolReplacements[symbol.getPosition()])
        return;
      const Tile &tile = indexSymbols[symbol.getPosition() - numShapes].first;
      assert(indexTiles && "index tiles only in loads");
      // One index for the whole tile stays a scalar.
      indexTiles->push_back(
          tile.axes.empty() ? tile.value : broadcast(tile, tileAxes).value);
      symbolReplacements[symbol.getPosition()] =
          builder.getAffineSymbolExpr(next++);
    });
  for (AffineExpr &expr : dimReplacements)
    if (!expr)
      expr = builder.getAffineConstantExpr(0);
  for (AffineExpr &expr : symbolReplacements)
    if (!expr)
      expr = builder.getAffineConstantExpr(0);
  SmallVector<AffineExpr> results;
  for (AffineExpr coord : coords)
    results.push_back(
        coord.replaceDimsAndSymbols(dimReplacements, symbolReplacements));
  return AffineMap::get(tileAxes.size(), next, results, context);
}

Tile TileEmitter::indexTile(AffineExpr coord) {
  unsigned depth = depthOf(coord);
  auto &memo = scopes[depth].indexTiles;
  auto known = memo.find(coord.getAsOpaquePointer());
  if (known != memo.end())
    return known->second;
  unsigned numShapes = shapes.getSymbols().size();
  OpBuilder::InsertionGuard guard(builder);
  insertAt(depth);
  Tile tile;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(coord);
      symbol && symbol.getPosition() >= numShapes) {
    tile = indexSymbols[symbol.getPosition() - numShapes].first;
  } else {
    bool pure = true;
    coord.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        pure &= symbol.getPosition() < numShapes;
    });
    if (pure) {
      tile.axes = axesOf(coord);
      SmallVector<Value> symbols;
      AffineMap map = buildMap(coord, tile.axes, symbols, nullptr);
      tile.value = tile::IndexOp::create(
          builder, loc, tileType(tile.axes, builder.getIndexType()), symbols,
          map);
    } else {
      // Data-dependent: split the outermost operation until it is not.
      auto binary = cast<AffineBinaryOpExpr>(coord);
      std::array<Tile, 2> parts{indexTile(binary.getLHS()),
                                indexTile(binary.getRHS())};
      tile.axes = unify(parts);
      Value lhs = parts[0].value, rhs = parts[1].value;
      switch (coord.getKind()) {
      case AffineExprKind::Add:
        tile.value = arith::AddIOp::create(builder, loc, lhs, rhs);
        break;
      case AffineExprKind::Mul:
        tile.value = arith::MulIOp::create(builder, loc, lhs, rhs);
        break;
      case AffineExprKind::Mod:
        tile.value = arith::RemUIOp::create(builder, loc, lhs, rhs);
        break;
      case AffineExprKind::FloorDiv:
        tile.value = arith::DivUIOp::create(builder, loc, lhs, rhs);
        break;
      default:
        tile.value = arith::CeilDivUIOp::create(builder, loc, lhs, rhs);
        break;
      }
    }
  }
  memo[coord.getAsOpaquePointer()] = tile;
  return tile;
}

AffineExpr TileEmitter::asCoordinate(Tile indices, unsigned depth) {
  indexSymbols.push_back({indices, depth});
  return builder.getAffineSymbolExpr(shapes.getSymbols().size() +
                                     indexSymbols.size() - 1);
}

using Bounds = std::optional<std::pair<int64_t, int64_t>>;

/// Least and greatest value of `expr`, or nothing when it has no static bounds.
/// Tiles along `groupedDim` begin anywhere.
static Bounds boundsOf(AffineExpr expr, ArrayRef<Axis> axes,
                       std::optional<unsigned> groupedDim) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::make_pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    const Axis &axis = axes[dim.getPosition()];
    auto extent = dyn_cast<AffineConstantExpr>(axis.extent);
    if (!extent)
      return std::nullopt;
    int64_t size = extent.getValue();
    bool isGrouped = groupedDim && axis.dim == groupedDim;
    // A part may lie beyond the extent as a whole, where its tile does not.
    if (isGrouped)
      size += axis.tile - 1;
    else if (axis.lead > 0)
      size += axis.step() - 1;
    else if (!axis.exact)
      size = llvm::alignTo(size,
                           axis.whole ? axes[*axis.whole].tile : axis.step());
    return Bounds({-axis.lead, std::max<int64_t>(size - 1, 0)});
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  Bounds lhs = boundsOf(binary.getLHS(), axes, groupedDim);
  Bounds rhs = boundsOf(binary.getRHS(), axes, groupedDim);
  if (!rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mod) {
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    if (lhs && lhs->first >= 0 && lhs->second < rhs->first)
      return lhs;
    return Bounds({0, rhs->first - 1});
  }
  if (!lhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    int64_t low, high;
    if (llvm::AddOverflow(lhs->first, rhs->first, low) ||
        llvm::AddOverflow(lhs->second, rhs->second, high))
      return std::nullopt;
    return std::make_pair(low, high);
  }
  case AffineExprKind::Mul: {
    if (rhs->first != rhs->second)
      return std::nullopt;
    int64_t a, b;
    if (llvm::MulOverflow(lhs->first, rhs->first, a) ||
        llvm::MulOverflow(lhs->second, rhs->first, b))
      return std::nullopt;
    return std::make_pair(std::min(a, b), std::max(a, b));
  }
  case AffineExprKind::FloorDiv:
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    return std::make_pair(llvm::divideFloorSigned(lhs->first, rhs->first),
                          llvm::divideFloorSigned(lhs->second, rhs->first));
  default:
    return std::nullopt;
  }
}

bool TileEmitter::isInBounds(AffineExpr coord, AffineExpr size,
                             std::optional<unsigned> dim) const {
  if (auto axis = dyn_cast<AffineDimExpr>(coord)) {
    const Axis &info = axes[axis.getPosition()];
    if (info.exact && (info.extent == size || (dim && info.dim == dim)))
      return true;
  }
  std::optional<unsigned> groupedDim;
  if (tileGroups)
    groupedDim = tileGroups->dim;
  auto bounds = boundsOf(coord, axes, groupedDim);
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return bounds && constant && bounds->first >= 0 &&
         bounds->second < constant.getValue();
}

Tile TileEmitter::below(AffineExpr coord, AffineExpr size) {
  Tile index = indexTile(coord);
  std::array<Tile, 2> operands{index, Tile{sizeOf(size), {}}};
  SmallVector<unsigned> all = unify(operands);
  return {arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                operands[0].value, operands[1].value),
          all};
}
