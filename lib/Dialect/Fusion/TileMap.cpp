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
#include "Quantization.h"
#include "Verification.h"
#include "Window.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
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

TileMap RowGroupsOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  // The group of a row depends on the row's number.
  map.keepAllWhole();
  return map;
}

TileMap GroupedMatmulOp::getTileMap() {
  TileMap map = TileMap::overFirstResult(*this);
  map.tieDim(getInputMutable(), 0, {0});
  map.tieDim(getWeightMutable(), getTransposed() ? 1 : 2, {1});
  map.tieDim(getBiasMutable(), 1, {1});
  // As is that of the rows of the input.
  map.keepWhole(0);
  return map;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Keeps those loops whole whose indices elements of the result depend on.
static void keepPositions(AttentionOp op, TileMap &map) {
  int64_t rank = map.loops.size();
  // By the place of the score.
  if (op.getDropout().isNonZero())
    map.keepWhole(0, rank - 1);
  if (op.getCausal())
    map.keepWhole(rank - 2);
  if (op.getScoreMod().empty())
    return;
  ArrayRef<BlockArgument> indices =
      op.getScoreMod().front().getArguments().drop_front();
  for (int64_t loop = 0; loop < rank - 1; ++loop)
    if (!indices[loop].use_empty())
      map.keepWhole(loop);
}

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
  keepPositions(*this, map);
  return map;
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
