//===- Tiling.cpp - Upstream's interfaces by tile maps --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements upstream's tiling, and its bounds of sizes, for every op
// that has a tile map.
//
//===----------------------------------------------------------------------===//

#include "Tiling.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Sizes of loops
//===----------------------------------------------------------------------===//

namespace {
/// A size as types and tensors tell it, without any IR for it.
struct KnownSize {
  int64_t size = ShapedType::kDynamic;
  /// The dimension of an operand or a result that has it.
  Value tensor;
  int64_t dim = 0;

  static KnownSize of(Value tensor, int64_t dim) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return {type.getDimSize(dim), tensor, dim};
  }
  bool isStatic() const { return ShapedType::isStatic(size); }
};
} // namespace

/// Every dimension with one element for each iteration has the loop's size. One
/// that is static is taken, else one of an operand.
static SmallVector<KnownSize> findLoopSizes(TileMapInterface op,
                                            const TileMap &map) {
  SmallVector<KnownSize> sizes(map.loops.size());
  auto look = [&](ValueRange tensors, ArrayRef<SmallVector<TiledDim>> tiled) {
    for (auto [tensor, dims] : llvm::zip_equal(tensors, tiled))
      for (auto [dim, tied] : llvm::enumerate(dims)) {
        if (!tied.isPlain())
          continue;
        KnownSize &known = sizes[tied.loop];
        KnownSize found = KnownSize::of(tensor, dim);
        if (!known.tensor || (found.isStatic() && !known.isStatic()))
          known = found;
      }
  };
  look(op->getOperands(), map.operands);
  look(op->getResults(), map.results);
  return sizes;
}

static OpFoldResult buildSize(OpBuilder &b, TileMapInterface op,
                              const KnownSize &known) {
  if (known.isStatic())
    return b.getIndexAttr(known.size);
  if (known.tensor.getDefiningOp() != op.getOperation())
    return tensor::getMixedSize(b, op.getLoc(), known.tensor, known.dim);
  ReifiedRankedShapedTypeDims shapes;
  LogicalResult result =
      cast<ReifyRankedShapedTypeOpInterface>(op.getOperation())
          .reifyResultShapes(b, shapes);
  assert(succeeded(result) && "every op that computes tells its sizes");
  (void)result;
  return shapes[cast<OpResult>(known.tensor).getResultNumber()][known.dim];
}

/// How many operations deep two sizes are compared: a few of index arithmetic
/// make each, and the number of paths through them doubles with every one.
static constexpr unsigned kMaxSizeDepth = 8;

/// Whether the same operations on scalars, without effects, compute both from
/// the same.
static bool areComputedAlike(Value a, Value b, unsigned depth = 0) {
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (a == b || !first || !second || depth == kMaxSizeDepth)
    return a == b;
  if (isa<ShapedType>(a.getType()) || first->getNumResults() != 1 ||
      second->getNumResults() != 1 || first->getNumRegions() != 0 ||
      !isMemoryEffectFree(first))
    return false;
  return OperationEquivalence::isEquivalentTo(
      first, second,
      [&](Value x, Value y) {
        return success(areComputedAlike(x, y, depth + 1));
      },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Whether `size` is that of the result of a copy of the op that has
/// `known.tensor`, on the same operands: upstream asks a copy of an op for the
/// tile that a reader of the op needs.
static bool isSizeOfCopy(OpFoldResult size, const KnownSize &known) {
  auto value = dyn_cast<Value>(size);
  auto dimOp = value ? value.getDefiningOp<tensor::DimOp>() : nullptr;
  Operation *op = known.tensor.getDefiningOp();
  Operation *other = dimOp ? dimOp.getSource().getDefiningOp() : nullptr;
  return op && other && dimOp.getConstantIndex() == known.dim &&
         cast<OpResult>(dimOp.getSource()).getResultNumber() ==
             cast<OpResult>(known.tensor).getResultNumber() &&
         op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         OperationEquivalence::isEquivalentTo(
             op, other, OperationEquivalence::exactValueMatch,
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

static bool areKnownEqual(OpFoldResult a, const KnownSize &known) {
  std::optional<int64_t> size = getConstantIntValue(a);
  if (size && known.isStatic())
    return *size == known.size;
  if (isSizeOfCopy(a, known))
    return true;
  MLIRContext *context = known.tensor.getContext();
  ValueBoundsConstraintSet::Variable other(known.tensor, known.dim);
  if (known.isStatic())
    other = OpFoldResult(IntegerAttr::get(IndexType::get(context), known.size));
  FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(a, other);
  return succeeded(equal) && *equal;
}

/// Whether a tile is known to be all of what has the size `known`; `built` is
/// that size in the IR, where it has been built.
static bool isWhole(OpFoldResult offset, OpFoldResult size,
                    const KnownSize &known, OpFoldResult built = {}) {
  if (!isZeroInteger(offset))
    return false;
  auto value = dyn_cast<Value>(size);
  auto builtValue = dyn_cast_if_present<Value>(built);
  if (value && builtValue && areComputedAlike(value, builtValue))
    return true;
  return areKnownEqual(size, known);
}

SmallVector<Range> fusion::getIterationDomain(OpBuilder &b,
                                              TileMapInterface op) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return llvm::map_to_vector(findLoopSizes(op, op.getTileMap()),
                             [&](const KnownSize &known) {
                               return Range{zero, buildSize(b, op, known), one};
                             });
}

//===----------------------------------------------------------------------===//
// Tiles of operands and results
//===----------------------------------------------------------------------===//

/// `value * factor + addend`.
static OpFoldResult scale(OpBuilder &b, Location loc, OpFoldResult value,
                          int64_t factor, int64_t addend = 0) {
  if (factor == 1 && addend == 0)
    return value;
  AffineExpr expr = b.getAffineDimExpr(0) * factor + addend;
  return affine::makeComposedFoldedAffineApply(b, loc, expr, {value});
}

/// The part of `operand` that belongs to a tile; the operand itself where that
/// is all of it for every tile.
static Value sliceOperand(OpBuilder &b, Location loc, Value operand,
                          ArrayRef<TiledDim> dims, ArrayRef<TileLoop> loops,
                          Sizes offsets, Sizes sizes) {
  auto isCut = [&](const TiledDim &tied) {
    return tied.loop != TiledDim::kNoLoop &&
           loops[tied.loop] != TileLoop::Whole;
  };
  if (llvm::none_of(dims, isCut))
    return operand;
  SmallVector<OpFoldResult> sliceOffsets(dims.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> sliceSizes = tensor::getMixedSizes(b, loc, operand);
  for (auto [dim, tied] : llvm::enumerate(dims)) {
    if (!isCut(tied))
      continue;
    sliceOffsets[dim] = scale(b, loc, offsets[tied.loop], tied.step);
    sliceSizes[dim] =
        scale(b, loc, sizes[tied.loop], tied.step, tied.extent - tied.step);
  }
  SmallVector<OpFoldResult> strides(dims.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, operand, sliceOffsets,
                                        sliceSizes, strides);
}

IterationTile fusion::getResultTile(OpBuilder &b, TileMapInterface op,
                                    unsigned number, Sizes offsets,
                                    Sizes sizes) {
  IterationTile tile;
  TileMap map = op.getTileMap();
  for (const TiledDim &tied : map.results[number]) {
    tile.offsets.push_back(
        scale(b, op.getLoc(), offsets[tied.loop], tied.step));
    tile.sizes.push_back(scale(b, op.getLoc(), sizes[tied.loop], tied.step));
  }
  return tile;
}

/// Types of the results of `op` on `operands`, of the sizes that a tile has as
/// far as they are constants.
static FailureOr<SmallVector<Type>>
inferTileTypes(Operation *op, ValueRange operands, TypeRange tileTypes) {
  auto inferring = dyn_cast<InferTypeOpInterface>(op);
  if (!inferring)
    return SmallVector<Type>(tileTypes);
  SmallVector<Type> types;
  if (failed(inferring.inferReturnTypes(
          op->getContext(), std::nullopt, operands, op->getAttrDictionary(),
          op->getPropertiesStorage(), op->getRegions(), types)))
    return failure();
  return types;
}

/// The offsets of a tile, null for loops of which it is known to be all. Fails
/// where the op has no such tile: all of every loop that must be whole, a
/// constant size where the op needs one.
static FailureOr<SmallVector<OpFoldResult>>
findCuts(OpBuilder &b, TileMapInterface op, const TileMap &map, Sizes offsets,
         Sizes sizes) {
  SmallVector<OpFoldResult> cuts(map.loops.size());
  SmallVector<KnownSize> known = findLoopSizes(op, map);
  for (auto [loop, kind] : llvm::enumerate(map.loops)) {
    if (isWhole(offsets[loop], sizes[loop], known[loop],
                buildSize(b, op, known[loop])))
      continue;
    if (kind == TileLoop::Whole ||
        (kind == TileLoop::Constant && !getConstantIntValue(sizes[loop])))
      return failure();
    cuts[loop] = offsets[loop];
  }
  return cuts;
}

FailureOr<TilingResult> fusion::buildTile(OpBuilder &b, TileMapInterface op,
                                          Sizes offsets, Sizes sizes) {
  TileMap map = op.getTileMap();
  if (offsets.size() != map.loops.size())
    return failure();
  FailureOr<SmallVector<OpFoldResult>> cuts =
      findCuts(b, op, map, offsets, sizes);
  if (failed(cuts))
    return failure();
  Location loc = op.getLoc();
  TilingResult result;
  SmallVector<Value> operands;
  for (auto [operand, dims] :
       llvm::zip_equal(op->getOperands(), map.operands)) {
    operands.push_back(
        sliceOperand(b, loc, operand, dims, map.loops, offsets, sizes));
    if (operands.back() != operand)
      result.generatedSlices.push_back(operands.back().getDefiningOp());
  }
  SmallVector<Type> tileTypes;
  for (OpResult value : op->getResults()) {
    IterationTile tile =
        getResultTile(b, op, value.getResultNumber(), offsets, sizes);
    auto [shape, dynamicSizes] = decomposeMixedValues(tile.sizes);
    tileTypes.push_back(cast<RankedTensorType>(value.getType()).clone(shape));
  }
  FailureOr<SmallVector<Type>> types = inferTileTypes(op, operands, tileTypes);
  if (failed(types))
    return failure();
  // Not mlir::clone, which does not survive a region without blocks.
  Operation *tiled = op->clone();
  tiled->setOperands(operands);
  for (auto [value, type] : llvm::zip_equal(tiled->getResults(), *types))
    value.setType(type);
  op.adaptTile(b, tiled, *cuts, sizes);
  result.tiledOps.push_back(b.insert(tiled));
  for (auto [value, type] : llvm::zip_equal(tiled->getResults(), tileTypes))
    result.tiledValues.push_back(
        value.getType() == type
            ? Value(value)
            : tensor::CastOp::create(b, loc, type, value).getResult());
  return result;
}

//===----------------------------------------------------------------------===//
// From results to tiles
//===----------------------------------------------------------------------===//

static bool isMultiple(OpFoldResult value, int64_t factor) {
  std::optional<int64_t> number = getConstantIntValue(value);
  return factor == 1 || (number && *number % factor == 0);
}

bool fusion::hasTileOfResult(TileMapInterface op, unsigned number,
                             Sizes offsets, Sizes sizes) {
  TileMap map = op.getTileMap();
  SmallVector<KnownSize> known = findLoopSizes(op, map);
  for (auto [dim, tied] : llvm::enumerate(map.results[number])) {
    TileLoop kind = map.loops[tied.loop];
    bool isConstant = getConstantIntValue(sizes[dim]) &&
                      isMultiple(offsets[dim], tied.step) &&
                      isMultiple(sizes[dim], tied.step);
    if (kind == TileLoop::Free || (kind == TileLoop::Constant && isConstant))
      continue;
    if (!isWhole(offsets[dim], sizes[dim],
                 KnownSize::of(op->getResult(number), dim)) &&
        !(tied.isPlain() &&
          isWhole(offsets[dim], sizes[dim], known[tied.loop])))
      return false;
  }
  return true;
}

FailureOr<IterationTile> fusion::getTileOfResult(OpBuilder &b,
                                                 TileMapInterface op,
                                                 unsigned number, Sizes offsets,
                                                 Sizes sizes) {
  TileMap map = op.getTileMap();
  SmallVector<KnownSize> known = findLoopSizes(op, map);
  IterationTile tile;
  tile.offsets.assign(map.loops.size(), b.getIndexAttr(0));
  for (const KnownSize &size : known)
    tile.sizes.push_back(buildSize(b, op, size));
  Location loc = op.getLoc();
  for (auto [dim, tied] : llvm::enumerate(map.results[number])) {
    OpFoldResult &size = tile.sizes[tied.loop];
    if (isWhole(offsets[dim], sizes[dim],
                KnownSize::of(op->getResult(number), dim)) ||
        (tied.isPlain() &&
         isWhole(offsets[dim], sizes[dim], known[tied.loop], size)))
      continue;
    if (map.loops[tied.loop] == TileLoop::Whole)
      return failure();
    if (tied.step == 1) {
      tile.offsets[tied.loop] = offsets[dim];
      size = sizes[dim];
      continue;
    }
    // The iterations that own some of the elements.
    AffineExpr offset = b.getAffineDimExpr(0), count = b.getAffineDimExpr(1);
    AffineExpr first = offset.floorDiv(tied.step);
    AffineExpr last = (offset + count).ceilDiv(tied.step);
    tile.offsets[tied.loop] =
        affine::makeComposedFoldedAffineApply(b, loc, first, {offsets[dim]});
    size = affine::makeComposedFoldedAffineApply(b, loc, last - first,
                                                 {offsets[dim], sizes[dim]});
  }
  return tile;
}

FailureOr<TilingResult> fusion::buildResultTile(OpBuilder &b,
                                                TileMapInterface op,
                                                unsigned number, Sizes offsets,
                                                Sizes sizes) {
  FailureOr<IterationTile> tile =
      getTileOfResult(b, op, number, offsets, sizes);
  if (failed(tile))
    return failure();
  FailureOr<TilingResult> result = buildTile(b, op, tile->offsets, tile->sizes);
  if (failed(result))
    return failure();
  result->tiledValues = {result->tiledValues[number]};
  // Iterations own several elements: the outer ones may be too many.
  SmallVector<TiledDim> dims = op.getTileMap().results[number];
  SmallVector<OpFoldResult> inner(dims.size(), b.getIndexAttr(0));
  bool isExact = true;
  for (auto [dim, tied] : llvm::enumerate(dims)) {
    if (isMultiple(offsets[dim], tied.step) &&
        isMultiple(sizes[dim], tied.step))
      continue;
    isExact = false;
    AffineExpr expr = b.getAffineDimExpr(0) - b.getAffineDimExpr(1) * tied.step;
    inner[dim] = affine::makeComposedFoldedAffineApply(
        b, op.getLoc(), expr, {offsets[dim], tile->offsets[tied.loop]});
  }
  if (isExact)
    return result;
  SmallVector<OpFoldResult> strides(dims.size(), b.getIndexAttr(1));
  result->tiledValues = {tensor::ExtractSliceOp::create(
      b, op.getLoc(), result->tiledValues.front(), inner, sizes, strides)};
  return result;
}

//===----------------------------------------------------------------------===//
// From operands to tiles
//===----------------------------------------------------------------------===//

/// The tiles of the loops that parts of operands say; without any, of loops
/// that they do not run with. Builds nothing.
static FailureOr<
    SmallVector<std::optional<std::pair<OpFoldResult, OpFoldResult>>>>
matchOperands(TileMapInterface op, const TileMap &map,
              ArrayRef<unsigned> numbers, SizesList offsets, SizesList sizes) {
  SmallVector<std::optional<std::pair<OpFoldResult, OpFoldResult>>> tiles(
      map.loops.size());
  for (auto [number, offset, size] : llvm::zip_equal(numbers, offsets, sizes)) {
    Value operand = op->getOperand(number);
    for (auto [dim, tied] : llvm::enumerate(map.operands[number])) {
      bool isTiled = tied.isPlain() && map.loops[tied.loop] == TileLoop::Free;
      if (!isTiled) {
        // Other tiles need the same elements: there must be no others.
        if (!isWhole(offset[dim], size[dim], KnownSize::of(operand, dim)))
          return failure();
        continue;
      }
      std::pair<OpFoldResult, OpFoldResult> tile(offset[dim], size[dim]);
      auto &known = tiles[tied.loop];
      if (known && !(isEqualConstantIntOrValue(known->first, tile.first) &&
                     isEqualConstantIntOrValue(known->second, tile.second)))
        return failure();
      known = tile;
    }
  }
  return tiles;
}

bool fusion::hasTileOfOperands(TileMapInterface op, ArrayRef<unsigned> numbers,
                               SizesList offsets, SizesList sizes) {
  return succeeded(matchOperands(op, op.getTileMap(), numbers, offsets, sizes));
}

FailureOr<IterationTile> fusion::getTileOfOperands(OpBuilder &b,
                                                   TileMapInterface op,
                                                   ArrayRef<unsigned> numbers,
                                                   SizesList offsets,
                                                   SizesList sizes) {
  TileMap map = op.getTileMap();
  auto tiles = matchOperands(op, map, numbers, offsets, sizes);
  if (failed(tiles))
    return failure();
  IterationTile all;
  for (auto [tile, known] : llvm::zip_equal(*tiles, findLoopSizes(op, map))) {
    all.offsets.push_back(tile ? tile->first : b.getIndexAttr(0));
    all.sizes.push_back(tile ? tile->second : buildSize(b, op, known));
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

void fusion::boundResultSize(TileMapInterface op, Value value, int64_t dim,
                             ValueBoundsConstraintSet &bounds) {
  TileMap map = op.getTileMap();
  TiledDim result = map.results[cast<OpResult>(value).getResultNumber()][dim];
  for (auto [operand, dims] : llvm::zip_equal(op->getOperands(), map.operands))
    for (auto [position, tied] : llvm::enumerate(dims))
      if (tied.loop == result.loop && tied.isOwned() &&
          result.step % tied.step == 0)
        bounds.bound(value)[dim] ==
            bounds.getExpr(operand, position) * (result.step / tied.step);
}
