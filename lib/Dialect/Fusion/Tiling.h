//===- Tiling.h - Upstream's interfaces by tile maps ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines TilingInterface and ValueBoundsOpInterface of every op that
// has a tile map.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_TILING_H
#define FUSION_LIB_DIALECT_FUSION_TILING_H

#include "fusion/Dialect/Fusion/FusionInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::fusion {

using Sizes = ArrayRef<OpFoldResult>;
/// Offsets or sizes of several tiles.
using SizesList = ArrayRef<SmallVector<OpFoldResult>>;

/// A part of the iterations of an op.
struct IterationTile {
  SmallVector<OpFoldResult> offsets, sizes;
};

/// The ranges of the loops: from 0 on, by 1.
SmallVector<Range> getIterationDomain(OpBuilder &b, TileMapInterface op);
/// The op on slices of its operands. Fails for a tile that the op does not
/// have.
FailureOr<TilingResult> buildTile(OpBuilder &b, TileMapInterface op,
                                  Sizes offsets, Sizes sizes);
/// The elements of a result that a tile of iterations computes.
IterationTile getResultTile(OpBuilder &b, TileMapInterface op, unsigned number,
                            Sizes offsets, Sizes sizes);
/// The least tile of iterations that computes the elements of a result. Fails
/// where the op does not have it.
FailureOr<IterationTile> getTileOfResult(OpBuilder &b, TileMapInterface op,
                                         unsigned number, Sizes offsets,
                                         Sizes sizes);
/// These elements of the result, computed by the least tile.
FailureOr<TilingResult> buildResultTile(OpBuilder &b, TileMapInterface op,
                                        unsigned number, Sizes offsets,
                                        Sizes sizes);
/// The tile of iterations that reads the parts of operands and no others of
/// them. Fails where there is none.
FailureOr<IterationTile> getTileOfOperands(OpBuilder &b, TileMapInterface op,
                                           ArrayRef<unsigned> numbers,
                                           SizesList offsets, SizesList sizes);
/// Whether a tile of the result can be computed in the place of its reader,
/// or one of the op in the place of its operands' writers; known without
/// building anything.
bool hasTileOfResult(TileMapInterface op, unsigned number, Sizes offsets,
                     Sizes sizes);
bool hasTileOfOperands(TileMapInterface op, ArrayRef<unsigned> numbers,
                       SizesList offsets, SizesList sizes);
/// Says which sizes of operands dimension `dim` of the result `value` is.
void boundResultSize(TileMapInterface op, Value value, int64_t dim,
                     ValueBoundsConstraintSet &bounds);

/// Upstream's tiling of an op with a tile map.
template <typename Op>
struct TilingModel
    : public TilingInterface::ExternalModel<TilingModel<Op>, Op> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return llvm::map_to_vector(
        cast<Op>(op).getTileMap().loops, [](TileLoop loop) {
          return loop == TileLoop::Whole ? utils::IteratorType::reduction
                                         : utils::IteratorType::parallel;
        });
  }
  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    return fusion::getIterationDomain(b, cast<Op>(op));
  }
  FailureOr<TilingResult> getTiledImplementation(Operation *op, OpBuilder &b,
                                                 Sizes offsets,
                                                 Sizes sizes) const {
    return buildTile(b, cast<Op>(op), offsets, sizes);
  }
  LogicalResult
  getResultTilePosition(Operation *op, OpBuilder &b, unsigned number,
                        Sizes offsets, Sizes sizes,
                        SmallVector<OpFoldResult> &resultOffsets,
                        SmallVector<OpFoldResult> &resultSizes) const {
    IterationTile tile = getResultTile(b, cast<Op>(op), number, offsets, sizes);
    resultOffsets = std::move(tile.offsets);
    resultSizes = std::move(tile.sizes);
    return success();
  }
  FailureOr<TilingResult> generateResultTileValue(Operation *op, OpBuilder &b,
                                                  unsigned number,
                                                  Sizes offsets,
                                                  Sizes sizes) const {
    return buildResultTile(b, cast<Op>(op), number, offsets, sizes);
  }
  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &b, unsigned number, Sizes offsets, Sizes sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    return take(getTileOfResult(b, cast<Op>(op), number, offsets, sizes),
                domainOffsets, domainSizes);
  }
  LogicalResult getIterationDomainTileFromOperandTiles(
      Operation *op, OpBuilder &b, ArrayRef<unsigned> numbers,
      SizesList offsets, SizesList sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    return take(getTileOfOperands(b, cast<Op>(op), numbers, offsets, sizes),
                domainOffsets, domainSizes);
  }
  FailureOr<TilingResult> getTiledImplementationFromOperandTiles(
      Operation *op, OpBuilder &b, ArrayRef<unsigned> numbers,
      SizesList offsets, SizesList sizes) const {
    FailureOr<IterationTile> tile =
        getTileOfOperands(b, cast<Op>(op), numbers, offsets, sizes);
    if (failed(tile))
      return failure();
    return buildTile(b, cast<Op>(op), tile->offsets, tile->sizes);
  }
  bool isOpFusableWithConsumerSlice(Operation *op, unsigned number,
                                    Sizes offsets, Sizes sizes) const {
    return hasTileOfResult(cast<Op>(op), number, offsets, sizes);
  }
  bool isOpFusableWithProducerSlices(Operation *op, ArrayRef<unsigned> numbers,
                                     SizesList offsets, SizesList sizes) const {
    return hasTileOfOperands(cast<Op>(op), numbers, offsets, sizes);
  }

private:
  static LogicalResult take(FailureOr<IterationTile> tile,
                            SmallVectorImpl<OpFoldResult> &offsets,
                            SmallVectorImpl<OpFoldResult> &sizes) {
    if (failed(tile))
      return failure();
    offsets.assign(tile->offsets);
    sizes.assign(tile->sizes);
    return success();
  }
};

/// Upstream's bounds of the sizes of the results of an op with a tile map.
template <typename Op>
struct BoundsModel
    : public ValueBoundsOpInterface::ExternalModel<BoundsModel<Op>, Op> {
  void populateBoundsForShapedValueDim(Operation *op, Value value, int64_t dim,
                                       ValueBoundsConstraintSet &bounds) const {
    boundResultSize(cast<Op>(op), value, dim, bounds);
  }
};

/// Attaches both models to those of `Ops` that have a tile map.
template <typename... Ops>
void attachTiling(MLIRContext *context) {
  auto attach = [&](auto *of) {
    using Op = std::remove_pointer_t<decltype(of)>;
    if constexpr (Op::template hasTrait<TileMapInterface::Trait>()) {
      Op::template attachInterface<TilingModel<Op>>(*context);
      Op::template attachInterface<BoundsModel<Op>>(*context);
    }
  };
  (attach(static_cast<Ops *>(nullptr)), ...);
}

} // namespace mlir::fusion

#endif // FUSION_LIB_DIALECT_FUSION_TILING_H
