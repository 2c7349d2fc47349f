//===- GranuleReduction.cpp - Reductions in granules ----------------------===//
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

#include "GranuleReduction.h"

using namespace mlir;
using namespace mlir::fusion;

Tile mlir::fusion::spreadGranules(Tile tile, const GranuleAxes &granules,
                                  TileBuilder &builder) {
  const TileAxes &axes = builder.getAxes();
  bool several = axes[granules.parts].tile > 1;
  SmallVector<unsigned> split(tile.axes), joined;
  split.push_back(granules.inside);
  if (several && !llvm::is_contained(split, granules.parts))
    split.push_back(granules.parts);
  llvm::sort(split);
  Tile spread = builder.broadcast(tile, split);
  for (unsigned axis : split)
    if (axis == granules.inside)
      joined.push_back(*axes[granules.parts].granulesOf);
    else if (axis != granules.parts)
      joined.push_back(axis);
  if (several)
    spread.value = tile::ReshapeOp::create(
        builder, builder.getLoc(),
        builder.getTileType(joined,
                            tile::getTileElementType(spread.value.getType())),
        spread.value);
  spread.axes = joined;
  return spread;
}

/// The coordinates of the loops of `op`, each of which has an axis.
static FailureOr<Coords> getLoopCoords(linalg::LinalgOp op,
                                       const TileAxes &axes) {
  const ScheduledKernel &kernel = axes.getKernel();
  MLIRContext *context = op->getContext();
  Coords coords;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    unsigned dim = kernel.getSpace().getDimOfLoop(op, loop);
    AffineExpr coord = axes.getMerged(dim);
    if (kernel.getDim(dim).getStaticExtent() == 1)
      coord = getAffineConstantExpr(0, context);
    else if (!coord && axes.isBound(dim))
      coord = getAffineDimExpr(axes.getBound(dim), context);
    if (!coord)
      return op.emitError("FUS-3120: a reduction in granules runs along a "
                          "dimension that no tile of the result has");
    coords.push_back(coord);
  }
  return coords;
}

FailureOr<Tile> mlir::fusion::emitGranules(linalg::LinalgOp op, unsigned result,
                                           const Granules &granules,
                                           TileEvaluator &evaluator,
                                           ReductionStates &states) {
  TileBuilder &builder = evaluator.getBuilder();
  const ScheduledKernel &kernel = builder.getKernel();
  const TileAxes &axes = builder.getAxes();
  FailureOr<Coords> loopCoords = getLoopCoords(op, axes);
  if (failed(loopCoords))
    return failure();
  Reduction reduction{op, {}, *loopCoords, {}, {}};
  unsigned divided = kernel.getSpace().getDimOfLoop(op, granules.loop);
  auto known = axes.getGranules().find(divided);
  Combiner combiner = matchCombiner(op, result);
  if (known == axes.getGranules().end() || !combiner.op ||
      axes[known->second.parts].granule != granules.size ||
      !isIdentityFill(op.getDpsInitOperand(result)->get(), combiner))
    return op.emitError(
        "FUS-3120: a reduction in granules has no tile form: it must combine "
        "by one operation from its identity on, in granules of one size along "
        "each dimension");
  reduction.combiners.assign(op->getNumResults(), combiner);

  unsigned whole = axes.getBound(divided);
  unsigned parts = known->second.parts, inside = known->second.inside;
  BodyEvaluator body(evaluator, op, reduction.loopCoords);
  FailureOr<Tile> element = evaluateElement(body, combiner);
  if (failed(element))
    return failure();
  SmallVector<unsigned> all(element->axes);
  if (!llvm::is_contained(all, whole))
    all.push_back(whole);
  llvm::sort(all);
  Tile tile =
      builder.broadcast(builder.maskPast(builder.broadcast(*element, all),
                                         whole, combiner.neutral),
                        all);
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
        builder, builder.getLoc(),
        builder.getTileType(split,
                            tile::getTileElementType(tile.value.getType())),
        tile.value);
  return states.finishCombiner(reduction, result, tile, inside);
}
