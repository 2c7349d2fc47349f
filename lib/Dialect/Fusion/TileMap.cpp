//===- TileMap.cpp - Which tiles belong together --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file says for every op that computes which tiles it has. Activations,
// which are all alike, are in the op definitions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/TileMap.h"
#include "Decomposition.h"
#include "Quantization.h"
#include "Verification.h"
#include "Window.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::fusion;

static constexpr int64_t kNoLoop = TiledDim::kNoLoop;

//===----------------------------------------------------------------------===//
// TileMap
//===----------------------------------------------------------------------===//

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

static SmallVector<int64_t> getLoops(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq(begin, end));
}

TileMap TileMap::overFirstResult(Operation *op) {
  TileMap map;
  for (Value operand : op->getOperands())
    map.operands.emplace_back(getRank(operand));
  for (Value result : op->getResults())
    map.results.emplace_back(getRank(result));
  map.loops.assign(map.results.front().size(), TileLoop::Free);
  for (auto [loop, dim] : llvm::enumerate(map.results.front()))
    dim.loop = loop;
  return map;
}

TileMap TileMap::overFirstOperand(Operation *op) {
  TileMap map = overFirstResult(op);
  map.operands.front() = map.results.front();
  return map;
}

void TileMap::tie(OpOperand &operand, ArrayRef<int64_t> alongLoops) {
  for (auto [dim, loop] :
       llvm::zip_equal(operands[operand.getOperandNumber()], alongLoops))
    dim = {loop};
}

void TileMap::tie(MutableOperandRange given, ArrayRef<int64_t> alongLoops) {
  for (OpOperand &operand : given)
    tie(operand, alongLoops);
}

void TileMap::tieDim(OpOperand &operand, int64_t dim, TiledDim tied) {
  operands[operand.getOperandNumber()][dim] = tied;
}

void TileMap::tieDim(MutableOperandRange given, int64_t dim, TiledDim tied) {
  for (OpOperand &operand : given)
    tieDim(operand, dim, tied);
}

void TileMap::keepWhole(int64_t begin, int64_t end) {
  for (int64_t loop = begin; loop < end; ++loop)
    loops[loop] = TileLoop::Whole;
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

TileMap RopeOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  int64_t last = map.loops.size() - 1;
  SmallVector<int64_t> positions = {static_cast<int64_t>(getSeqAxis()),
                                    kNoLoop};
  if (getTensorType(getCos()).getRank() == 3)
    positions.insert(positions.begin(), 0);
  map.tie(getCosMutable(), positions);
  map.tie(getSinMutable(), positions);
  // The partner of an element is half of the dimension away.
  map.keepWhole(last);
  return map;
}

TileMap DropoutOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  // What is kept depends on the place of an element.
  map.keepAllWhole();
  return map;
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

TileMap SoftmaxOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  map.keepWhole(getAxis());
  return map;
}

TileMap LogSoftmaxOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  map.keepWhole(getAxis());
  return map;
}

template <typename Op>
static TileMap getTrailingNormMap(Op op) {
  TileMap map = TileMap::overFirstOperand(op);
  int64_t rank = map.loops.size();
  int64_t axis = op.getAxis();
  map.tie(op.getScaleMutable(), getLoops(axis, rank));
  map.tie(op.getBiasMutable(), getLoops(axis, rank));
  map.keepWhole(axis, rank);
  return map;
}

TileMap LayerNormOp::getTileMap() { return getTrailingNormMap(*this); }
TileMap RmsNormOp::getTileMap() { return getTrailingNormMap(*this); }

TileMap GroupNormOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  map.tie(getScaleMutable(), {1});
  map.tie(getBiasMutable(), {1});
  map.keepWhole(1, map.loops.size());
  return map;
}

TileMap InstanceNormOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  map.tie(getScaleMutable(), {1});
  map.tie(getBiasMutable(), {1});
  map.keepWhole(2, map.loops.size());
  return map;
}

TileMap BatchNormOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  int64_t channels = getChannelAxis();
  map.tie(getMeanMutable(), {channels});
  map.tie(getVarianceMutable(), {channels});
  map.tie(getScaleMutable(), {channels});
  map.tie(getBiasMutable(), {channels});
  return map;
}

TileMap BatchNormTrainingOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  int64_t channels = getChannelAxis();
  map.tie(getScaleMutable(), {channels});
  map.tie(getBiasMutable(), {channels});
  map.results[1].front().loop = channels;
  map.results[2].front().loop = channels;
  map.keepAllWhole();
  map.loops[channels] = TileLoop::Free;
  return map;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

TileMap CrossEntropyOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  // The sum of all losses is one number.
  if (getReduction() != LossReduction::None)
    return map;
  int64_t rank = map.loops.size();
  map.tie(getTargetMutable(), getLoops(0, rank));
  SmallVector<int64_t> along = getLoops(0, rank);
  along.insert(along.begin() + getAxis(), kNoLoop);
  map.tie(getInputMutable(), along);
  return map;
}

TileMap LinearCrossEntropyOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  if (getReduction() != LossReduction::None)
    return map;
  map.tie(getInputMutable(), {0, kNoLoop});
  map.tie(getTargetMutable(), {0});
  return map;
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

/// Tiles of numbers and of what is stored of them, `numbers` and `stored`. A
/// loop along a dimension counts what cannot be divided: numbers that share a
/// byte, or a scale.
template <typename Op>
static TileMap getQuantizationMap(Op op, int64_t rank,
                                  SmallVector<TiledDim> &numbers,
                                  SmallVector<TiledDim> &stored) {
  TileMap map = TileMap::overFirstResult(op);
  bool packs = isPacked(op.getFormat());
  int64_t groupSize = op.getGroupSize().value_or(1);
  SmallVector<TiledDim> scales(getTensorType(op.getScale()).getRank());
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool hasGroups = op.getGroupSize() && *op.getAxis() == uint64_t(dim);
    bool sharesBytes = packs && dim == rank - 1;
    int64_t unit = hasGroups ? groupSize : sharesBytes ? 2 : 1;
    // A group ends within a byte.
    if (sharesBytes && unit % 2 != 0) {
      map.keepWhole(dim);
      continue;
    }
    int64_t bytes = sharesBytes ? unit / 2 : unit;
    numbers[dim] = {dim, unit, unit};
    stored[dim] = {dim, bytes, bytes};
    if (op.getGroupSize())
      scales[dim] = hasGroups ? TiledDim{dim} : numbers[dim];
    else if (op.getAxis() && *op.getAxis() == uint64_t(dim))
      scales[0] = numbers[dim];
  }
  map.operands[op.getScaleMutable().getOperandNumber()] = scales;
  for (OpOperand &operand : op.getZeroPointMutable())
    map.operands[operand.getOperandNumber()] = scales;
  return map;
}

/// Dimensions of a tensor, each along the loop of its number.
static SmallVector<TiledDim> getPlainDims(int64_t rank) {
  SmallVector<TiledDim> dims(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    dims[dim].loop = dim;
  return dims;
}

TileMap QuantizeOp::getTileMap() {
  int64_t rank = getTensorType(getInput()).getRank();
  SmallVector<TiledDim> numbers(rank), stored = getPlainDims(rank);
  TileMap map = getQuantizationMap(*this, rank, numbers, stored);
  map.operands.front() = numbers;
  map.results.front() = stored;
  return map;
}

TileMap DequantizeOp::getTileMap() {
  int64_t rank = getTensorType(getInput()).getRank();
  SmallVector<TiledDim> numbers = getPlainDims(rank), stored(rank);
  TileMap map = getQuantizationMap(*this, rank, numbers, stored);
  map.operands.front() = stored;
  map.results.front() = numbers;
  return map;
}

//===----------------------------------------------------------------------===//
// Gathers, scans and groups
//===----------------------------------------------------------------------===//

TileMap GatherOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  int64_t axis = getAxis();
  int64_t numIndices = getTensorType(getIndices()).getRank();
  map.tie(getIndicesMutable(), getLoops(axis, axis + numIndices));
  SmallVector<int64_t> along = getLoops(0, axis);
  along.push_back(kNoLoop);
  llvm::append_range(along, getLoops(axis + numIndices, map.loops.size()));
  map.tie(getInputMutable(), along);
  return map;
}

TileMap ScanOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  SmallVector<int64_t> along = getLoops(0, map.loops.size());
  map.tie(getInputsMutable(), along);
  for (SmallVector<TiledDim> &result : map.results)
    result = getPlainDims(along.size());
  map.keepWhole(getAxis());
  return map;
}

/// Counts offsets of groups from row `first` on. None is negative before that,
/// so that nothing overflows: a row before the first is no row.
static void shiftGroups(OpBuilder &b, OpOperand &offsets, OpFoldResult first) {
  ImplicitLocOpBuilder in(offsets.getOwner()->getLoc(), b);
  RankedTensorType type = getTensorType(offsets.get());
  Value row = arith::IndexCastOp::create(
      in, type.getElementType(),
      getValueOrCreateConstantIndexOp(in, in.getLoc(), first));
  auto splat = [&](Value value) -> Value {
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(tensor::DimOp::create(in, offsets.get(), 0));
    return tensor::SplatOp::create(in, type, value, sizes);
  };
  Value zero = arith::ConstantIntOp::create(in, type.getElementType(), 0);
  Value least = arith::MaxSIOp::create(in, offsets.get(), splat(zero));
  offsets.set(arith::SubIOp::create(in, least, splat(row)));
}

TileMap RowGroupsOp::getTileMap() { return TileMap::overFirstResult(*this); }

void RowGroupsOp::adaptTile(OpBuilder &builder, Operation *tiled,
                            ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes) {
  auto tile = cast<RowGroupsOp>(tiled);
  if (getTensorType(tile.getResult()).hasStaticShape())
    tile.getRowsMutable().clear();
  else
    tile.getRowsMutable().assign(cast<Value>(sizes[0]));
  if (offsets[0])
    shiftGroups(builder, tile.getOffsetsMutable(), offsets[0]);
}

TileMap GroupedMatmulOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  map.tieDim(getInputMutable(), 0, {0});
  map.tieDim(getWeightMutable(), getTransposed() ? 1 : 2, {1});
  map.tieDim(getBiasMutable(), 1, {1});
  return map;
}

void GroupedMatmulOp::adaptTile(OpBuilder &builder, Operation *tiled,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  if (offsets[0])
    shiftGroups(builder, cast<GroupedMatmulOp>(tiled).getOffsetsMutable(),
                offsets[0]);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

TileMap AttentionOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  int64_t rank = map.loops.size();
  int64_t heads = rank - 3, rows = rank - 2, features = rank - 1;
  int64_t queryHeads = getTensorType(getQuery()).getDimSize(heads);
  int64_t keyHeads = mergeSizes(getTensorType(getKey()).getDimSize(heads),
                                getTensorType(getValue()).getDimSize(heads));
  int64_t group = 1;
  // Heads of queries and keys whose number is not known are as many.
  if (ShapedType::isStatic(queryHeads) && ShapedType::isStatic(keyHeads))
    group = queryHeads / keyHeads;
  if (group > 1)
    map.loops[heads] = TileLoop::Constant;

  SmallVector<int64_t> along = getLoops(0, rank);
  along[features] = kNoLoop;
  map.tie(getQueryMutable(), along);
  along[rows] = kNoLoop;
  map.tie(getKeyMutable(), along);
  map.tie(getValueMutable(), along);
  map.tieDim(getValueMutable(), features, {features});
  TiledDim grouped = {heads, group, group};
  map.tieDim(getQueryMutable(), heads, grouped);
  map.results.front()[heads] = grouped;
  for (MutableOperandRange scores : {getMaskMutable(), getBiasMutable()})
    for (OpOperand &operand : scores) {
      RankedTensorType type = getTensorType(operand.get());
      int64_t missing = rank - type.getRank();
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        // One element of a broadcast dimension is for all.
        if (type.getDimSize(dim) != 1 && dim + missing < features)
          map.tieDim(operand, dim,
                     dim + missing == heads ? grouped
                                            : TiledDim{dim + missing});
    }
  // Which weights are kept depends on the place of the score.
  if (getDropout().isNonZero())
    map.keepWhole(0, features);
  return map;
}

/// The block that modifies scores, made if there is none.
static Block &getScoreBlock(AttentionOp op) {
  Region &region = op.getScoreMod();
  if (!region.empty())
    return region.front();
  Block &block = region.emplaceBlock();
  Type score = getComputeType(getTensorType(op.getQuery()).getElementType());
  block.addArgument(score, op.getLoc());
  for (int64_t dim = 0; dim < getRank(op.getQuery()); ++dim)
    block.addArgument(IndexType::get(op.getContext()), op.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(&block);
  YieldOp::create(b, op.getLoc(), block.getArgument(0));
  return block;
}

/// The last key that row number `row` of all rows attends to.
static Value buildLastKey(OpBuilder &b, OpBuilder &inner, AttentionOp whole,
                          Value row) {
  if (*whole.getCausal() == CausalMask::TopLeft)
    return row;
  Location loc = whole.getLoc();
  int64_t rows = getRank(whole.getQuery()) - 2;
  OpFoldResult more = affine::makeComposedFoldedAffineApply(
      b, loc, b.getAffineDimExpr(0) - b.getAffineDimExpr(1),
      {tensor::getMixedSize(b, loc, whole.getKey(), rows),
       tensor::getMixedSize(b, loc, whole.getQuery(), rows)});
  return arith::AddIOp::create(inner, loc, row,
                               getValueOrCreateConstantIndexOp(b, loc, more));
}

/// Makes the causal mask of `whole` a modification of the scores of `tile`:
/// its rows do not count from the first. `row` is the row of a score among all.
static void maskScores(OpBuilder &b, AttentionOp whole, AttentionOp tile,
                       Value row) {
  Block &block = getScoreBlock(tile);
  Operation *yield = block.getTerminator();
  OpBuilder inner(yield);
  Location loc = whole.getLoc();
  Value column = block.getArguments().back(), score = yield->getOperand(0);
  Value last = buildLastKey(b, inner, whole, row);
  Value isAfter = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sgt,
                                        column, last);
  auto type = cast<FloatType>(score.getType());
  Value nothing = arith::ConstantFloatOp::create(
      inner, loc, type, APFloat::getInf(type.getFloatSemantics(), true));
  yield->setOperand(
      0, arith::SelectOp::create(inner, loc, isAfter, nothing, score));
  tile.removeCausalAttr();
}

void AttentionOp::adaptTile(OpBuilder &builder, Operation *tiled,
                            ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes) {
  auto tile = cast<AttentionOp>(tiled);
  int64_t rows = offsets.size() - 2;
  bool hasMask = getCausal() && offsets[rows];
  if (!hasMask && getScoreMod().empty())
    return;
  Block &block = getScoreBlock(tile);
  OpBuilder inner = OpBuilder::atBlockBegin(&block);
  Location loc = getLoc();
  SmallVector<TiledDim> dims = getTileMap().results.front();
  for (int64_t loop = 0; loop <= rows; ++loop) {
    BlockArgument index = block.getArgument(loop + 1);
    bool isAsked = !index.use_empty() || (loop == rows && hasMask);
    if (!offsets[loop] || !isAsked)
      continue;
    OpFoldResult first = affine::makeComposedFoldedAffineApply(
        builder, loc, builder.getAffineDimExpr(0) * dims[loop].step,
        {offsets[loop]});
    Value place = arith::AddIOp::create(
        inner, loc, index,
        getValueOrCreateConstantIndexOp(builder, loc, first));
    index.replaceAllUsesExcept(place, place.getDefiningOp());
    if (loop == rows && hasMask)
      maskScores(builder, *this, tile, place);
  }
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Lets the spatial dimensions of `input` run with those of the result. Where
/// it is padded, tiles at the borders are not alike: that is left whole.
static void tieSpace(TileMap &map, OpOperand &input, SpatialDims dims,
                     const Window &window) {
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    int64_t loop = dims.getSpace(dim);
    int64_t span = window.getSpan(dim);
    if (window.padding[2 * dim] != 0 || window.padding[2 * dim + 1] != 0 ||
        ShapedType::isDynamic(span))
      map.keepWhole(loop);
    else
      map.tieDim(input, loop, {loop, window.strides[dim], span});
  }
}

TileMap ConvOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  int64_t rank = map.loops.size();
  SpatialDims dims = {getLayout(), rank};
  int64_t channels = dims.getChannel();
  map.tieDim(getInputMutable(), 0, {0});
  if (getTransposed())
    map.keepWhole(dims.getSpace(0), dims.getSpace(rank - 2));
  else
    tieSpace(map, getInputMutable(), dims, getWindowOf(*this));
  // Channels of several groups read different channels of the input.
  if (getGroups() != 1)
    map.keepWhole(channels);
  else
    map.tieDim(getFilterMutable(), getTransposed() ? channels : 0, {channels});
  map.tie(getBiasMutable(), {channels});
  return map;
}

TileMap PoolOp::getTileMap() {
  TileMap map = TileMap::overFirstOperand(*this);
  SpatialDims dims = {getLayout(), static_cast<int64_t>(map.loops.size())};
  Window window = getWindowOf(*this);
  for (int64_t dim = 0; dim < window.getRank(); ++dim)
    map.tieDim(getInputMutable(), dims.getSpace(dim), {});
  tieSpace(map, getInputMutable(), dims, window);
  return map;
}
