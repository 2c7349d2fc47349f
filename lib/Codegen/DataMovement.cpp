//===- DataMovement.cpp - Tiles of operations that move -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the tiles of operations that only move data: a reshape,
// slice or pad changes coordinates, selects between tiles, and touches no
// memory. Those of concatenations are in JoinedParts.cpp.
//
//===----------------------------------------------------------------------===//

#include "DataMovement.h"

#include "BodyEvaluator.h"
#include "Coordinates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<Tile> mlir::fusion::evaluateMoved(tensor::PadOp pad,
                                            ArrayRef<AffineExpr> coords,
                                            TileEvaluator &evaluator) {
  TileBuilder &builder = evaluator.getBuilder();
  const ScheduledKernel &kernel = builder.getKernel();
  const TileAxes &axes = builder.getAxes();
  FailureOr<SmallVector<AffineExpr>> shape =
      kernel.getShapes().getShape(pad.getSource());
  if (failed(shape))
    return failure();
  Coords source(coords);
  SmallVector<unsigned> padded;
  for (auto [dim, coord] : llvm::enumerate(source)) {
    FailureOr<AffineExpr> low =
        kernel.getShapes().getIndex(pad.getMixedLowPad()[dim]);
    if (failed(low))
      return failure();
    coord = coord - *low;
    if (!isInBounds(coord, (*shape)[dim],
                    kernel.getSpace().findDimOfTensor(pad.getSource(), dim),
                    axes))
      padded.push_back(dim);
  }
  FailureOr<Tile> inside = evaluator.evaluate(pad.getSource(), source);
  if (failed(inside) || padded.empty())
    return inside;
  BodyEvaluator body(evaluator, pad.getBody());
  for (auto [argument, coord] :
       llvm::zip(pad.getBody()->getArguments(), coords))
    body.setCoordinate(argument, coord);
  FailureOr<Tile> fill = body.evaluate(
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
    condition = builder.conjunction(condition,
                                    builder.below(source[dim], (*shape)[dim]));
  return builder.select(*condition, *inside, *fill);
}

FailureOr<Tile> mlir::fusion::evaluateMoved(tensor::ExtractSliceOp op,
                                            ArrayRef<AffineExpr> coords,
                                            TileEvaluator &evaluator) {
  const ScheduledKernel &kernel = evaluator.getBuilder().getKernel();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Coords source;
  unsigned next = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    FailureOr<AffineExpr> offset =
        evaluator.evaluatePosition(op.getMixedOffsets()[dim]);
    FailureOr<AffineExpr> stride =
        kernel.getShapes().getIndex(op.getMixedStrides()[dim]);
    if (failed(offset) || failed(stride))
      return op.emitError("FUS-3107: the stride of a slice depends on data");
    source.push_back(dropped.test(dim) ? *offset
                                       : *offset + coords[next++] * *stride);
  }
  return evaluator.evaluate(op.getSource(), source);
}

FailureOr<Tile> mlir::fusion::evaluateMoved(tensor::InsertSliceOp op,
                                            ArrayRef<AffineExpr> coords,
                                            TileEvaluator &evaluator) {
  TileBuilder &builder = evaluator.getBuilder();
  const ScheduledKernel &kernel = builder.getKernel();
  const TileAxes &axes = builder.getAxes();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  FailureOr<Tile> outside = evaluator.evaluate(op.getDest(), coords);
  if (failed(outside))
    return failure();
  Coords source;
  std::optional<Tile> condition;
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    FailureOr<AffineExpr> offset =
        evaluator.evaluatePosition(op.getMixedOffsets()[dim]);
    FailureOr<AffineExpr> size =
        kernel.getShapes().getIndex(op.getMixedSizes()[dim]);
    FailureOr<AffineExpr> stride =
        kernel.getShapes().getIndex(op.getMixedStrides()[dim]);
    if (failed(offset) || failed(size) || failed(stride))
      return op.emitError("FUS-3107: the size of a slice depends on data");
    AffineExpr position = coord - *offset;
    if (*stride != builder.getAffineConstantExpr(1)) {
      // Only every stride-th element belongs to the slice.
      Tile remainder = builder.getIndexTile(position % *stride);
      std::array<Tile, 2> pair{
          remainder,
          {arith::ConstantIndexOp::create(builder, builder.getLoc(), 0), {}}};
      SmallVector<unsigned> all = builder.unify(pair);
      condition = builder.conjunction(
          condition, {arith::CmpIOp::create(builder, builder.getLoc(),
                                            arith::CmpIPredicate::eq,
                                            pair[0].value, pair[1].value),
                      all});
      position = position.floorDiv(*stride);
    }
    if (!isInBounds(position, *size, std::nullopt, axes))
      condition =
          builder.conjunction(condition, builder.below(position, *size));
    if (!dropped.test(dim))
      source.push_back(position);
  }
  FailureOr<Tile> inside = evaluator.evaluate(op.getSource(), source);
  if (failed(inside) || !condition)
    return inside;
  return builder.select(*condition, *inside, *outside);
}

FailureOr<Tile> mlir::fusion::evaluateMoved(tensor::ExpandShapeOp op,
                                            ArrayRef<AffineExpr> coords,
                                            TileEvaluator &evaluator) {
  TileBuilder &builder = evaluator.getBuilder();
  const ScheduledKernel &kernel = builder.getKernel();
  FailureOr<SmallVector<AffineExpr>> shape =
      kernel.getShapes().getShape(op.getResult());
  if (failed(shape))
    return failure();
  Coords source;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    AffineExpr linear = builder.getAffineConstantExpr(0);
    // The coordinate along a dimension of one element is 0, though it may be
    // written as a sum of others.
    for (int64_t dim : group)
      if ((*shape)[dim] != 1)
        linear = linear * (*shape)[dim] + coords[dim];
    source.push_back(linear);
  }
  return evaluator.evaluate(op.getSrc(), source);
}

FailureOr<Tile> mlir::fusion::evaluateMoved(tensor::CollapseShapeOp op,
                                            ArrayRef<AffineExpr> coords,
                                            TileEvaluator &evaluator) {
  TileBuilder &builder = evaluator.getBuilder();
  const ScheduledKernel &kernel = builder.getKernel();
  FailureOr<SmallVector<AffineExpr>> shape =
      kernel.getShapes().getShape(op.getSrc());
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
  return evaluator.evaluate(op.getSrc(), source);
}
