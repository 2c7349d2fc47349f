//===- TileBuilder.cpp - Builds operations on tiles -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the operations that bring tiles to the same axes, and
// the sizes, maps and indices of a tile program.
//
//===----------------------------------------------------------------------===//

#include "TileBuilder.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

void TileBuilder::enterProgram(tile::ProgramOp newProgram,
                               ArrayRef<unsigned> symbols,
                               unsigned firstSymbol) {
  program = newProgram;
  Block *body = &program.getBody().front();
  scopes.open(body);
  for (auto [i, symbol] : llvm::enumerate(symbols))
    symbolValues[symbol] = body->getArgument(firstSymbol + i);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Type TileBuilder::getTileType(ArrayRef<unsigned> tileAxes, Type element) const {
  SmallVector<int64_t> shape;
  for (unsigned axis : tileAxes)
    shape.push_back(axes[axis].tile);
  return tile::getTileType(shape, element);
}

Value TileBuilder::createConstant(TypedAttr value) {
  return arith::ConstantOp::create(*this, getLoc(), value);
}

Value TileBuilder::createIndex(int64_t value) {
  return arith::ConstantIndexOp::create(*this, getLoc(), value);
}

Tile TileBuilder::broadcast(Tile tile, ArrayRef<unsigned> newAxes) {
  if (ArrayRef<unsigned>(tile.axes) == newAxes)
    return tile;
  Type element = tile::getTileElementType(tile.value.getType());
  Type type = getTileType(newAxes, element);
  if (tile.axes.empty())
    return {tile::SplatOp::create(*this, getLoc(), type, tile.value),
            SmallVector<unsigned>(newAxes)};
  SmallVector<int64_t> dims;
  for (unsigned axis : tile.axes)
    dims.push_back(llvm::find(newAxes, axis) - newAxes.begin());
  return {tile::BroadcastOp::create(*this, getLoc(), type, tile.value, dims),
          SmallVector<unsigned>(newAxes)};
}

SmallVector<unsigned> TileBuilder::unify(MutableArrayRef<Tile> tiles) {
  SmallVector<unsigned> all;
  for (const Tile &tile : tiles)
    all.append(tile.axes.begin(), tile.axes.end());
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  for (Tile &tile : tiles)
    tile = broadcast(tile, all);
  return all;
}

Tile TileBuilder::conjunction(std::optional<Tile> a, Tile b) {
  if (!a)
    return b;
  std::array<Tile, 2> tiles{*a, b};
  SmallVector<unsigned> all = unify(tiles);
  return {
      arith::AndIOp::create(*this, getLoc(), tiles[0].value, tiles[1].value),
      all};
}

Tile TileBuilder::select(Tile condition, Tile yes, Tile no) {
  std::array<Tile, 3> tiles{condition, yes, no};
  SmallVector<unsigned> all = unify(tiles);
  return {arith::SelectOp::create(*this, getLoc(), tiles[0].value,
                                  tiles[1].value, tiles[2].value),
          all};
}

Tile TileBuilder::castTile(Tile tile, Type element) {
  Type from = tile::getTileElementType(tile.value.getType());
  if (from == element)
    return tile;
  Type type = getTileType(tile.axes, element);
  bool wider = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  Value value;
  if (isa<IntegerType>(from) && isa<FloatType>(element))
    value = arith::SIToFPOp::create(*this, getLoc(), type, tile.value);
  else if (isa<IntegerType>(from))
    value = arith::ExtSIOp::create(*this, getLoc(), type, tile.value);
  else if (wider)
    value = arith::ExtFOp::create(*this, getLoc(), type, tile.value);
  else
    value = arith::TruncFOp::create(*this, getLoc(), type, tile.value);
  return {value, tile.axes};
}

Tile TileBuilder::below(AffineExpr coord, AffineExpr size) {
  Tile index = getIndexTile(coord);
  std::array<Tile, 2> operands{index, Tile{getSize(size), {}}};
  SmallVector<unsigned> all = unify(operands);
  return {arith::CmpIOp::create(*this, getLoc(), arith::CmpIPredicate::ult,
                                operands[0].value, operands[1].value),
          all};
}

Tile TileBuilder::maskPast(Tile value, ArrayRef<unsigned> masked,
                           TypedAttr neutral) {
  for (unsigned axis : masked) {
    if (axes[axis].exact)
      continue;
    Tile inside = below(getAffineDimExpr(axis), axes[axis].extent);
    value = select(inside, value, {createConstant(neutral), {}});
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Sizes and coordinates
//===----------------------------------------------------------------------===//

void TileBuilder::insertAfterSizes() {
  if (lastSize)
    setInsertionPointAfter(lastSize);
  else
    setInsertionPointToStart(&program.getBody().front());
}

Value TileBuilder::getSize(AffineExpr extent) {
  auto known = sizes.find(extent);
  if (known != sizes.end())
    return known->second;
  // Sizes belong to the program's entry: they do not depend on the block.
  InsertionGuard guard(*this);
  insertAfterSizes();
  Value value;
  if (auto constant = dyn_cast<AffineConstantExpr>(extent)) {
    value = createIndex(constant.getValue());
  } else {
    SmallVector<Value> symbols(kernel.getNumSymbols());
    for (auto [number, argument] : symbolValues)
      symbols[number] = argument;
    value = affine::expandAffineExpr(*this, getLoc(), extent, {}, symbols);
  }
  if (Operation *op = value.getDefiningOp())
    lastSize = op;
  sizes[extent] = value;
  return value;
}

void TileBuilder::replaceAxes(ArrayRef<AffineExpr> coords,
                              ArrayRef<unsigned> tileAxes,
                              SmallVector<Value> &symbols,
                              SmallVectorImpl<AffineExpr> &dims,
                              SmallVectorImpl<AffineExpr> &sizes) {
  auto symbolFor = [&](Value value) {
    auto known = llvm::find(symbols, value);
    if (known == symbols.end()) {
      symbols.push_back(value);
      known = std::prev(symbols.end());
    }
    return getAffineSymbolExpr(known - symbols.begin());
  };
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part)) {
        AffineExpr &replacement = dims[dim.getPosition()];
        if (replacement)
          return;
        const Axis &axis = axes[dim.getPosition()];
        replacement = getAffineConstantExpr(0);
        if (axis.tile > 1)
          replacement = getAffineDimExpr(
              llvm::find(tileAxes, dim.getPosition()) - tileAxes.begin());
        if (axis.offset)
          replacement = replacement + symbolFor(axis.offset);
      } else if (auto symbol = dyn_cast<AffineSymbolExpr>(part)) {
        unsigned position = symbol.getPosition();
        if (position < kernel.getNumSymbols() && !sizes[position])
          sizes[position] = symbolFor(getSize(part));
      }
    });
}

unsigned TileBuilder::replaceIndexTiles(
    ArrayRef<AffineExpr> coords, ArrayRef<unsigned> tileAxes, unsigned next,
    SmallVector<Value> *indexTiles, SmallVectorImpl<AffineExpr> &replacements) {
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      const Tile *tile = axes.findIndexTile(part);
      if (!tile)
        return;
      AffineExpr &replacement =
          replacements[cast<AffineSymbolExpr>(part).getPosition()];
      if (replacement)
        return;
      assert(indexTiles && "index tiles only in loads");
      // One index for the whole tile stays a scalar.
      indexTiles->push_back(
          tile->axes.empty() ? tile->value : broadcast(*tile, tileAxes).value);
      replacement = getAffineSymbolExpr(next++);
    });
  return next;
}

AffineMap TileBuilder::buildMap(ArrayRef<AffineExpr> coords,
                                ArrayRef<unsigned> tileAxes,
                                SmallVector<Value> &symbols,
                                SmallVector<Value> *indexTiles) {
  // What coordinates do not mention is never asked for.
  SmallVector<AffineExpr> dims(axes.size());
  SmallVector<AffineExpr> sizes(kernel.getNumSymbols() +
                                axes.getNumIndexTiles());
  replaceAxes(coords, tileAxes, symbols, dims, sizes);
  // Index tiles follow the scalars.
  unsigned numSymbols =
      replaceIndexTiles(coords, tileAxes, symbols.size(), indexTiles, sizes);
  for (SmallVector<AffineExpr> *exprs : {&dims, &sizes})
    for (AffineExpr &expr : *exprs)
      if (!expr)
        expr = getAffineConstantExpr(0);
  SmallVector<AffineExpr> results;
  for (AffineExpr coord : coords)
    results.push_back(coord.replaceDimsAndSymbols(dims, sizes));
  return AffineMap::get(tileAxes.size(), numSymbols, results, getContext());
}

Tile TileBuilder::createIndexTile(AffineExpr coord) {
  if (const Tile *known = axes.findIndexTile(coord))
    return *known;
  bool pure = true;
  coord.walk([&](AffineExpr part) { pure &= !axes.findIndexTile(part); });
  Tile tile;
  if (pure) {
    tile.axes = axes.getAxesOf(coord);
    SmallVector<Value> symbols;
    AffineMap map = buildMap(coord, tile.axes, symbols, nullptr);
    tile.value = tile::IndexOp::create(
        *this, getLoc(), getTileType(tile.axes, getIndexType()), symbols, map);
    return tile;
  }
  // Data-dependent: split the outermost operation until it is not.
  auto binary = cast<AffineBinaryOpExpr>(coord);
  std::array<Tile, 2> parts{getIndexTile(binary.getLHS()),
                            getIndexTile(binary.getRHS())};
  tile.axes = unify(parts);
  Value lhs = parts[0].value, rhs = parts[1].value;
  switch (coord.getKind()) {
  case AffineExprKind::Add:
    tile.value = arith::AddIOp::create(*this, getLoc(), lhs, rhs);
    break;
  case AffineExprKind::Mul:
    tile.value = arith::MulIOp::create(*this, getLoc(), lhs, rhs);
    break;
  case AffineExprKind::Mod:
    tile.value = arith::RemUIOp::create(*this, getLoc(), lhs, rhs);
    break;
  case AffineExprKind::FloorDiv:
    tile.value = arith::DivUIOp::create(*this, getLoc(), lhs, rhs);
    break;
  default:
    tile.value = arith::CeilDivUIOp::create(*this, getLoc(), lhs, rhs);
    break;
  }
  return tile;
}

Tile TileBuilder::getIndexTile(AffineExpr coord, FloatType type) {
  Tile tile = getIndexTile(coord);
  Type result = getTileType(tile.axes, type);
  if (auto index = tile.value.getDefiningOp<tile::IndexOp>())
    tile.value = tile::IndexOp::create(*this, getLoc(), result,
                                       index.getSymbols(), index.getMap());
  else
    tile.value = arith::SIToFPOp::create(
        *this, getLoc(), result,
        arith::IndexCastOp::create(
            *this, getLoc(), getTileType(tile.axes, getI64Type()), tile.value));
  return tile;
}

Tile TileBuilder::getIndexTile(AffineExpr coord) {
  unsigned depth = axes.getDepth(coord);
  if (const Tile *known = scopes.findIndices(coord, depth))
    return *known;
  depth = scopes.getComputedDepth(depth);
  InsertionGuard guard(*this);
  scopes.insertAt(depth);
  Tile created = createIndexTile(coord);
  scopes.rememberIndices(coord, depth, created);
  return created;
}
