//===- EmitTensors.cpp - Tiles of tensors, on demand ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the evaluation of a tile of any tensor of a kernel, and
// the operations that only move data: a reshape, slice, pad or concatenation
// changes coordinates, selects between tiles, and touches no memory.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

static std::pair<void *, std::vector<const void *>>
memoKey(Value tensor, ArrayRef<AffineExpr> coords) {
  std::vector<const void *> key;
  for (AffineExpr coord : coords)
    key.push_back(coord.getAsOpaquePointer());
  return {tensor.getAsOpaquePointer(), key};
}

void TileEmitter::remember(Value tensor, ArrayRef<AffineExpr> coords, Tile tile,
                           unsigned depth) {
  scopes[depth].memo[memoKey(tensor, coords)] = tile;
}

FailureOr<Tile> TileEmitter::evaluate(Value tensor,
                                      ArrayRef<AffineExpr> coords) {
  unsigned depth = depthOf(coords);
  auto key = memoKey(tensor, coords);
  auto known = scopes[depth].memo.find(key);
  if (known != scopes[depth].memo.end())
    return known->second;
  // What does not depend on a loop is computed before it: the scopes inside
  // `depth` are put aside, and what is emitted goes before their first loop.
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Scope> inner(std::make_move_iterator(scopes.begin() + depth + 1),
                           std::make_move_iterator(scopes.end()));
  scopes.resize(depth + 1);
  DenseMap<unsigned, unsigned> allBound = bound;
  unbindFrom(depth + 1);
  insertAt(depth);
  FailureOr<Tile> tile = evaluateUncached(tensor, coords);
  llvm::move(inner, std::back_inserter(scopes));
  bound = std::move(allBound);
  if (succeeded(tile))
    scopes[depth].memo[key] = *tile;
  return tile;
}

FailureOr<Tile> TileEmitter::evaluateUncached(Value tensor,
                                              ArrayRef<AffineExpr> coords) {
  // What is the same within a granule is computed once for each.
  for (auto [number, coord] : llvm::enumerate(coords)) {
    auto part = dyn_cast<AffineBinaryOpExpr>(coord);
    if (!part || part.getKind() != AffineExprKind::FloorDiv)
      continue;
    for (auto &[dim, granules] : granuleAxes) {
      const Axis &parts = axes[granules.parts];
      if (part.getLHS() != builder.getAffineDimExpr(*parts.granulesOf) ||
          part.getRHS() != builder.getAffineConstantExpr(parts.granule))
        continue;
      Coords moved(coords);
      moved[number] = builder.getAffineDimExpr(granules.parts);
      FailureOr<Tile> tile = evaluate(tensor, moved);
      if (failed(tile))
        return failure();
      return spreadGranules(*tile, granules);
    }
  }
  FailureOr<std::optional<Tile>> exchanged = evaluateExchanged(tensor, coords);
  if (failed(exchanged))
    return failure();
  if (*exchanged)
    return **exchanged;
  if (isa<BlockArgument>(tensor))
    return load(tensor, coords);
  Operation *op = tensor.getDefiningOp();
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  Type element = getElementTypeOrSelf(tensor.getType());
  return TypeSwitch<Operation *, FailureOr<Tile>>(op)
      .Case([&](linalg::FillOp fill) -> FailureOr<Tile> {
        return scalarValue(fill.getInputs().front());
      })
      .Case([&](linalg::LinalgOp structured) {
        return evaluateStructured(structured, result, coords);
      })
      .Case([&](tensor::EmptyOp) -> FailureOr<Tile> {
        // Any value will do for what was never written.
        return Tile{constant(builder.getZeroAttr(element)), {}};
      })
      .Case([&](RowGroupsOp groups) { return evaluateGroups(groups, coords); })
      .Case(
          [&](tensor::SplatOp splat) { return scalarValue(splat.getInput()); })
      .Case([&](arith::ConstantOp constantOp) -> FailureOr<Tile> {
        auto dense = dyn_cast<DenseElementsAttr>(constantOp.getValue());
        if (!dense || !dense.isSplat())
          return op->emitError("FUS-3104: a constant with several values must "
                               "be an operand of the kernel");
        return Tile{constant(dense.getSplatValue<TypedAttr>()), {}};
      })
      .Case([&](tensor::CastOp cast) {
        return evaluate(cast.getSource(), coords);
      })
      .Case([&](tensor::PadOp pad) { return evaluatePad(pad, coords); })
      .Case([&](tensor::ConcatOp concat) {
        return evaluateConcat(concat, coords);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return evaluateSlice(slice, coords);
      })
      .Case([&](tensor::InsertSliceOp slice) {
        return evaluateInsert(slice, coords);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        return evaluateExpand(expand, coords);
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return evaluateCollapse(collapse, coords);
      })
      .Default([&](Operation *) -> FailureOr<Tile> {
        return op->emitError("FUS-3105: no tile form for '")
               << op->getName() << "'; decompose it before code generation";
      });
}

FailureOr<Tile> TileEmitter::scalarValue(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    Value value = views.lookup(argument);
    if (!value)
      return emitError(scalar.getLoc(), "FUS-3106: scalar has no tile form");
    return Tile{value, {}};
  }
  Attribute attr;
  if (matchPattern(scalar, m_Constant(&attr)))
    return Tile{constant(cast<TypedAttr>(attr)), {}};
  // Scalar arithmetic, or an element of a tensor.
  BodyContext context;
  context.block = scalar.getParentBlock();
  return evaluateScalar(context, scalar);
}

FailureOr<Tile> TileEmitter::load(Value argument, ArrayRef<AffineExpr> coords) {
  Place place = placeOf(argument, argument, coords);
  auto view = place.view;
  Tile tile;
  tile.axes = axesOf(place.coords);
  SmallVector<Value> symbols, indexTiles;
  AffineMap map = buildMap(place.coords, tile.axes, symbols, &indexTiles);
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
      builder, loc, tileType(tile.axes, view.getType().getElementType()), view,
      symbols, gathers, AffineMapAttr::get(map),
      builder.getDenseBoolArrayAttr(place.checked));
  return tile;
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

FailureOr<Tile> TileEmitter::evaluatePad(tensor::PadOp pad,
                                         ArrayRef<AffineExpr> coords) {
  FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(pad.getSource());
  if (failed(shape))
    return failure();
  Coords source(coords);
  SmallVector<unsigned> padded;
  for (auto [dim, coord] : llvm::enumerate(source)) {
    FailureOr<AffineExpr> low = shapes.getIndex(pad.getMixedLowPad()[dim]);
    if (failed(low))
      return failure();
    coord = coord - *low;
    if (!isInBounds(coord, (*shape)[dim],
                    space.findDimOfTensor(pad.getSource(), dim)))
      padded.push_back(dim);
  }
  FailureOr<Tile> inside = evaluate(pad.getSource(), source);
  if (failed(inside) || padded.empty())
    return inside;
  BodyContext context;
  context.block = pad.getBody();
  for (auto [argument, coord] :
       llvm::zip(pad.getBody()->getArguments(), coords))
    context.affine[argument] = coord;
  FailureOr<Tile> fill = evaluateScalar(
      context,
      cast<tensor::YieldOp>(pad.getBody()->getTerminator()).getValue());
  if (failed(fill))
    return failure();
  // What is read outside an operand of the kernel is zero already.
  bool isZero = matchPattern(fill->value, m_Zero()) ||
                matchPattern(fill->value, m_PosZeroFloat());
  if (isZero && isa<BlockArgument>(pad.getSource()) &&
      inside->value.getDefiningOp<tile::LoadOp>())
    return inside;
  // Compared as unsigned numbers, a coordinate before the start is huge.
  std::optional<Tile> condition;
  for (unsigned dim : padded)
    condition = conjunction(condition, below(source[dim], (*shape)[dim]));
  return select(*condition, *inside, *fill);
}

Tile TileEmitter::conjunction(std::optional<Tile> a, Tile b) {
  if (!a)
    return b;
  std::array<Tile, 2> tiles{*a, b};
  SmallVector<unsigned> all = unify(tiles);
  return {arith::AndIOp::create(builder, loc, tiles[0].value, tiles[1].value),
          all};
}

FailureOr<Tile> TileEmitter::evaluateConcat(tensor::ConcatOp op,
                                            ArrayRef<AffineExpr> coords) {
  int64_t dim = op.getDim();
  AffineExpr start = builder.getAffineConstantExpr(0);
  SmallVector<std::pair<Tile, AffineExpr>> pieces; // tile and its end
  for (Value input : op.getInputs()) {
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(input);
    if (failed(shape))
      return failure();
    Coords source(coords);
    source[dim] = coords[dim] - start;
    FailureOr<Tile> piece = evaluate(input, source);
    if (failed(piece))
      return failure();
    start = start + (*shape)[dim];
    pieces.push_back({*piece, start});
  }
  Tile result = pieces.back().first;
  for (auto &[piece, end] : llvm::reverse(ArrayRef(pieces).drop_back()))
    result = select(below(coords[dim], end), piece, result);
  return result;
}

FailureOr<AffineExpr> TileEmitter::positionOf(OpFoldResult offset) {
  FailureOr<AffineExpr> known = shapes.getIndex(offset);
  if (succeeded(known))
    return known;
  FailureOr<Tile> tile = scalarValue(cast<Value>(offset));
  if (failed(tile))
    return failure();
  return asCoordinate(*tile, scopes.size() - 1);
}

FailureOr<Tile> TileEmitter::evaluateSlice(tensor::ExtractSliceOp op,
                                           ArrayRef<AffineExpr> coords) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Coords source;
  unsigned next = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    FailureOr<AffineExpr> offset = positionOf(op.getMixedOffsets()[dim]);
    FailureOr<AffineExpr> stride = shapes.getIndex(op.getMixedStrides()[dim]);
    if (failed(offset) || failed(stride))
      return op.emitError("FUS-3107: the stride of a slice depends on data");
    source.push_back(dropped.test(dim) ? *offset
                                       : *offset + coords[next++] * *stride);
  }
  return evaluate(op.getSource(), source);
}

FailureOr<Tile> TileEmitter::evaluateInsert(tensor::InsertSliceOp op,
                                            ArrayRef<AffineExpr> coords) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  FailureOr<Tile> outside = evaluate(op.getDest(), coords);
  if (failed(outside))
    return failure();
  Coords source;
  std::optional<Tile> condition;
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    FailureOr<AffineExpr> offset = positionOf(op.getMixedOffsets()[dim]);
    FailureOr<AffineExpr> size = shapes.getIndex(op.getMixedSizes()[dim]);
    FailureOr<AffineExpr> stride = shapes.getIndex(op.getMixedStrides()[dim]);
    if (failed(offset) || failed(size) || failed(stride))
      return op.emitError("FUS-3107: the size of a slice depends on data");
    AffineExpr position = coord - *offset;
    if (*stride != builder.getAffineConstantExpr(1)) {
      // Only every stride-th element belongs to the slice.
      Tile remainder = indexTile(position % *stride);
      std::array<Tile, 2> pair{
          remainder, {arith::ConstantIndexOp::create(builder, loc, 0), {}}};
      SmallVector<unsigned> all = unify(pair);
      condition = conjunction(
          condition,
          {arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                 pair[0].value, pair[1].value),
           all});
      position = position.floorDiv(*stride);
    }
    if (!isInBounds(position, *size, std::nullopt))
      condition = conjunction(condition, below(position, *size));
    if (!dropped.test(dim))
      source.push_back(position);
  }
  FailureOr<Tile> inside = evaluate(op.getSource(), source);
  if (failed(inside) || !condition)
    return inside;
  return select(*condition, *inside, *outside);
}

FailureOr<TileEmitter::Place>
TileEmitter::placeOfSlice(Value key, tensor::InsertSliceOp insert,
                          ArrayRef<AffineExpr> coords) {
  FailureOr<SmallVector<AffineExpr>> slice =
      shapes.getShape(insert.getSource());
  FailureOr<SmallVector<AffineExpr>> whole =
      shapes.getShape(insert.getResult());
  if (failed(slice) || failed(whole))
    return insert.emitError("FUS-3107: the size of a slice depends on data");
  Place place;
  SmallVector<AffineExpr> sizes;
  auto add = [&](AffineExpr coord, AffineExpr size, bool checked) {
    place.coords.push_back(coord);
    sizes.push_back(size);
    place.checked.push_back(checked);
  };
  // A tile may reach past the slice, where the memory goes on: a dimension of
  // one element in front, of which an element of the slice is the first.
  for (auto [dim, coord] : llvm::enumerate(coords))
    if (!isInBounds(coord, (*slice)[dim],
                    space.getDimOfTensor(insert.getSource(), dim)))
      add(coord.floorDiv((*slice)[dim]), builder.getAffineConstantExpr(1),
          /*checked=*/true);
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  unsigned next = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    FailureOr<AffineExpr> offset = positionOf(insert.getMixedOffsets()[dim]);
    FailureOr<AffineExpr> stride =
        shapes.getIndex(insert.getMixedStrides()[dim]);
    if (failed(offset) || failed(stride))
      return insert.emitError("FUS-3107: the stride of a slice depends on "
                              "data");
    AffineExpr coord =
        dropped.test(dim) ? *offset : *offset + coords[next++] * *stride;
    add(coord, (*whole)[dim], !isInBounds(coord, (*whole)[dim], std::nullopt));
  }
  place.view = viewAs(key, sizes);
  return place;
}

/// Splits `linear`, a row-major position in a box of `sizes`, into coordinates.
static SmallVector<AffineExpr> delinearize(AffineExpr linear,
                                           ArrayRef<AffineExpr> sizes) {
  SmallVector<AffineExpr> result(sizes.size());
  for (unsigned i = sizes.size(); i-- > 0;) {
    // The outermost coordinate needs no remainder.
    result[i] = i == 0 ? linear : linear % sizes[i];
    linear = linear.floorDiv(sizes[i]);
  }
  return result;
}

FailureOr<Tile> TileEmitter::evaluateExpand(tensor::ExpandShapeOp op,
                                            ArrayRef<AffineExpr> coords) {
  FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(op.getResult());
  if (failed(shape))
    return failure();
  Coords source;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    AffineExpr linear = builder.getAffineConstantExpr(0);
    for (int64_t dim : group)
      linear = linear * (*shape)[dim] + coords[dim];
    source.push_back(linear);
  }
  return evaluate(op.getSrc(), source);
}

FailureOr<Tile> TileEmitter::evaluateCollapse(tensor::CollapseShapeOp op,
                                              ArrayRef<AffineExpr> coords) {
  FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(op.getSrc());
  if (failed(shape))
    return failure();
  Coords source;
  for (auto [group, coord] : llvm::zip(op.getReassociationIndices(), coords)) {
    SmallVector<AffineExpr> sizes;
    for (int64_t dim : group)
      sizes.push_back((*shape)[dim]);
    source.append(delinearize(coord, sizes));
  }
  // A tensor of one element collapses to rank 0, with no coordinate to split.
  if (op.getReassociationIndices().empty())
    source.assign(shape->size(), builder.getAffineConstantExpr(0));
  return evaluate(op.getSrc(), source);
}
