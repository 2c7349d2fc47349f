//===- EmitGranules.cpp - Reductions in granules on tiles -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the emission of reductions in granules: a tile is seen
// as granules and what lies inside them, and reduced along the latter.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult TileEmitter::addGranuleAxes(ArrayRef<unsigned> dims) {
  int64_t granule = space.getDims()[dims.back()].granule;
  if (granule == 1)
    return success();
  unsigned number = axes.size() - 1;
  const Axis axis = axes[number];
  // Granules of the last of several dimensions must not cross into the next
  // row of it.
  bool whole = axis.tile % granule == 0 && llvm::isPowerOf2_64(axis.tile);
  if (dims.size() > 1)
    whole &= space.getDims()[dims.back()].extent.getLargestKnownDivisor() %
                 granule ==
             0;
  if (!whole)
    return kernel.emitError("FUS-3119: a tile of ")
           << axis.tile << " elements along dimension " << dims.back()
           << " holds no whole granules of " << granule
           << ", which the kernel reduces";
  Axis parts = axis;
  parts.dim = std::nullopt;
  parts.extent = axis.extent.ceilDiv(granule);
  parts.tile = axis.tile / granule;
  parts.exact = tilesExactly(parts.extent, parts.tile);
  parts.grid = false;
  parts.granulesOf = number;
  parts.granule = granule;
  axes.push_back(parts);
  axes.push_back({std::nullopt, builder.getAffineConstantExpr(granule), granule,
                  Value(), axis.depth, /*exact=*/true});
  GranuleAxes &own = granuleAxes[dims.back()];
  own.parts = number + 1;
  own.inside = number + 2;
  AffineExpr position = builder.getAffineDimExpr(own.parts);
  for (unsigned i = dims.size(); i-- > 0;) {
    AffineExpr size = space.getDims()[dims[i]].extent;
    if (dims[i] == dims.back())
      size = size.ceilDiv(granule);
    own.coords[dims[i]] = i == 0 ? position : position % size;
    position = position.floorDiv(size);
  }
  return success();
}

void TileEmitter::placeGranules() {
  for (Axis &axis : axes) {
    if (!axis.granulesOf || !axes[*axis.granulesOf].offset)
      continue;
    Value size = arith::ConstantIndexOp::create(builder, loc, axis.granule);
    axis.offset = arith::DivUIOp::create(builder, loc,
                                         axes[*axis.granulesOf].offset, size);
  }
}

std::optional<TileEmitter::Coords> TileEmitter::granuleCoords(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const GranuleAxes *granules = nullptr;
  for (int64_t i = 0; i < type.getRank() && !granules; ++i)
    if (space.getGranule(tensor, i) > 1)
      if (auto known = granuleAxes.find(space.getDimOfTensor(tensor, i));
          known != granuleAxes.end())
        granules = &known->second;
  if (!granules)
    return std::nullopt;
  Coords coords;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    unsigned dim = space.getDimOfTensor(tensor, i);
    AffineExpr coord = granules->coords.lookup(dim);
    if (space.getDims()[dim].getStaticExtent() == 1)
      coord = builder.getAffineConstantExpr(0);
    if (!coord)
      coord = merged.lookup(dim);
    if (!coord) {
      auto axis = bound.find(dim);
      if (axis == bound.end())
        return std::nullopt;
      coord = builder.getAffineDimExpr(axis->second);
    }
    coords.push_back(coord);
  }
  return coords;
}

Tile TileEmitter::spreadGranules(Tile tile, const GranuleAxes &granules) {
  bool several = axes[granules.parts].tile > 1;
  SmallVector<unsigned> split(tile.axes), joined;
  split.push_back(granules.inside);
  if (several && !llvm::is_contained(split, granules.parts))
    split.push_back(granules.parts);
  llvm::sort(split);
  Tile spread = broadcast(tile, split);
  for (unsigned axis : split)
    if (axis == granules.inside)
      joined.push_back(*axes[granules.parts].granulesOf);
    else if (axis != granules.parts)
      joined.push_back(axis);
  if (several)
    spread.value = tile::ReshapeOp::create(
        builder, loc,
        tileType(joined, tile::getTileElementType(spread.value.getType())),
        spread.value);
  spread.axes = joined;
  return spread;
}

FailureOr<Tile> TileEmitter::emitGranules(linalg::LinalgOp op, unsigned result,
                                          const Granules &granules) {
  Reduction reduction{op, {}, {}, {}, {}};
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    unsigned dim = space.getDimOfLoop(op, loop);
    AffineExpr coord = merged.lookup(dim);
    auto axis = bound.find(dim);
    if (space.getDims()[dim].getStaticExtent() == 1)
      coord = builder.getAffineConstantExpr(0);
    else if (!coord && axis != bound.end())
      coord = builder.getAffineDimExpr(axis->second);
    if (!coord)
      return op.emitError("FUS-3120: a reduction in granules runs along a "
                          "dimension that no tile of the result has");
    reduction.loopCoords.push_back(coord);
  }
  unsigned divided = space.getDimOfLoop(op, granules.loop);
  auto known = granuleAxes.find(divided);
  Combiner combiner = matchCombiner(op, result);
  if (known == granuleAxes.end() || !combiner.op ||
      axes[known->second.parts].granule != granules.size ||
      !isIdentityFill(op.getDpsInitOperand(result)->get(), combiner))
    return op.emitError(
        "FUS-3120: a reduction in granules has no tile form: it must combine "
        "by one operation from its identity on, in granules of one size along "
        "each dimension");
  reduction.combiners.assign(op->getNumResults(), combiner);

  unsigned whole = bound.lookup(divided);
  unsigned parts = known->second.parts, inside = known->second.inside;
  BodyContext context = makeContext(op, reduction.loopCoords);
  FailureOr<Tile> element = evaluateElement(context, combiner);
  if (failed(element))
    return failure();
  SmallVector<unsigned> all(element->axes);
  if (!llvm::is_contained(all, whole))
    all.push_back(whole);
  llvm::sort(all);
  Tile tile = broadcast(
      maskReduced(broadcast(*element, all), whole, combiner.neutral), all);
  // The axis becomes two, which lie next to each other in number as well.
  SmallVector<unsigned> split;
  for (unsigned axis : all) {
    if (axis != whole) {
      split.push_back(axis);
      continue;
    }
    if (axes[parts].tile > 1)
      split.push_back(parts);
    split.push_back(inside);
  }
  tile.axes = split;
  if (axes[parts].tile > 1)
    tile.value = tile::ReshapeOp::create(
        builder, loc,
        tileType(split, tile::getTileElementType(tile.value.getType())),
        tile.value);
  return finishCombiner(reduction, result, tile, inside);
}
