//===- AttentionOps.cpp - Attention ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements scaled dot-product attention.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "Random.h"
#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Types and verification
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType query = getTensorType(adaptor.getQuery());
  RankedTensorType key = getTensorType(adaptor.getKey());
  RankedTensorType value = getTensorType(adaptor.getValue());
  int64_t rank = query.getRank();
  if (rank < 3)
    return emitInferError(location, getOperationName(),
                          "'query' must have rank 3 or more, got ", query);
  if (key.getRank() != rank || value.getRank() != rank)
    return emitInferError(location, getOperationName(), "'query' (", query,
                          "), 'key' (", key, ") and 'value' (", value,
                          ") must have one rank");
  SmallVector<int64_t> shape(query.getShape());
  for (int64_t dim = 0; dim < rank - 3; ++dim)
    shape[dim] = mergeSizes(
        shape[dim], mergeSizes(key.getDimSize(dim), value.getDimSize(dim)));
  shape[rank - 1] = value.getDimSize(rank - 1);
  types.push_back(RankedTensorType::get(shape, query.getElementType()));
  return success();
}

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getQuery());
  int64_t last = getTensorType(getQuery()).getRank() - 1;
  sizes[last] = tensor::getMixedSize(builder, getLoc(), getValue(), last);
  // A static size of the result may come from key or value.
  for (auto [dim, size] :
       llvm::enumerate(getTensorType(getResult()).getShape()))
    if (ShapedType::isStatic(size))
      sizes[dim] = builder.getIndexAttr(size);
  shapes.push_back(std::move(sizes));
  return success();
}

/// Checks that `operand` broadcasts to the scores, aligned to the right.
static LogicalResult verifyScoreOperand(AttentionOp op, StringRef name,
                                        Value operand,
                                        ArrayRef<int64_t> scores) {
  if (!operand)
    return success();
  RankedTensorType type = getTensorType(operand);
  int64_t missing = static_cast<int64_t>(scores.size()) - type.getRank();
  if (missing < 0)
    return op.emitOpError() << "'" << name << "' must have rank "
                            << scores.size() << " or less, got " << type;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1 &&
        sizesDiffer(type.getDimSize(dim), scores[dim + missing]))
      return op.emitOpError()
             << "'" << name << "' must have size 1 or " << scores[dim + missing]
             << " in dimension " << dim << ", got " << type;
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  RankedTensorType query = getTensorType(getQuery());
  RankedTensorType key = getTensorType(getKey());
  RankedTensorType value = getTensorType(getValue());
  int64_t rank = query.getRank();
  if (query.getElementType() != key.getElementType())
    return emitOpError() << "'query' and 'key' must have one element type, got "
                         << query.getElementType() << " and "
                         << key.getElementType();

  // Sizes that key and value must have; heads are checked on their own.
  SmallVector<int64_t> expected(query.getShape());
  expected[rank - 3] = key.getDimSize(rank - 3);
  expected[rank - 2] = key.getDimSize(rank - 2);
  if (failed(verifySizes(*this, "key", key, expected,
                         "batch, heads, keys, features")))
    return failure();
  expected = SmallVector<int64_t>(key.getShape());
  expected[rank - 1] = ShapedType::kDynamic;
  if (failed(verifySizes(*this, "value", value, expected,
                         "batch, heads, keys, any")))
    return failure();
  int64_t queryHeads = query.getDimSize(rank - 3);
  int64_t keyHeads =
      mergeSizes(key.getDimSize(rank - 3), value.getDimSize(rank - 3));
  if (ShapedType::isStatic(queryHeads) && ShapedType::isStatic(keyHeads) &&
      (keyHeads == 0 || queryHeads % keyHeads != 0))
    return emitOpError() << "the number of query heads (" << queryHeads
                         << ") must be a multiple of the number of key heads ("
                         << keyHeads << ")";

  SmallVector<int64_t> scores(query.getShape());
  scores[rank - 1] =
      mergeSizes(key.getDimSize(rank - 2), value.getDimSize(rank - 2));
  if (failed(verifyScoreOperand(*this, "mask", getMask(), scores)) ||
      failed(verifyScoreOperand(*this, "bias", getBias(), scores)))
    return failure();

  double p = getDropout().convertToDouble();
  if (!(p >= 0.0 && p <= 1.0))
    return emitOpError() << "'dropout' must be between 0 and 1, got " << p;
  if (p > 0.0 && !getSeed())
    return emitOpError("dropout needs a 'seed'");
  if (std::optional<APFloat> scale = getScale())
    if (!scale->isFinite())
      return emitOpError("'scale' must be finite");
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  Region &region = getScoreMod();
  if (region.empty())
    return success();
  if (!region.hasOneBlock())
    return emitOpError("the score modification must have one block");
  Block &block = region.front();
  Type scoreType =
      fusion::getComputeType(getTensorType(getQuery()).getElementType());
  int64_t rank = getTensorType(getQuery()).getRank();
  SmallVector<Type> expected(1, scoreType);
  expected.append(rank, IndexType::get(getContext()));
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return emitOpError() << "the score modification must take a " << scoreType
                         << " and " << rank << " indices";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != 1 ||
      yield.getValues().front().getType() != scoreType)
    return emitOpError() << "the score modification must yield one "
                         << scoreType;
  return success();
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

namespace {
/// The loops of an attention: one per dimension of the scores, with the head
/// split in two (key head, query head of the key head) where queries are
/// grouped.
class AttentionBuilder {
public:
  AttentionBuilder(AttentionOp op, OpBuilder &builder);
  Value build();

private:
  /// Splits the static head dimension `dim` into (key heads, group).
  Value splitHeads(Value tensor, int64_t dim);
  /// `tensor`, aligned to the right of the scores and broadcast.
  LoopOperand alongScores(Value tensor);
  /// Key or value, whose last two dimensions run with the loops given.
  LoopOperand alongKeys(Value tensor, int64_t keyLoop, int64_t lastLoop,
                        int64_t allLoops);
  Value buildScores();
  Value modifyScores(Value scores);
  /// The score, or -inf where the causal mask forbids it.
  Scalar applyCausalMask(ImplicitLocOpBuilder &b, Scalar score);
  /// The region's value for a score.
  Scalar applyScoreMod(ImplicitLocOpBuilder &b, Scalar score);

  AttentionOp op;
  Decomposer d;
  int64_t rank;
  /// Query heads per key head; 1 means that no dimension is split.
  int64_t group = 1;
  Value query;
  /// Number of loops of the scores, and their sizes.
  int64_t numLoops;
  SmallVector<OpFoldResult> scoreSizes;
};
} // namespace

AttentionBuilder::AttentionBuilder(AttentionOp op, OpBuilder &builder)
    : op(op), d(builder, op.getLoc(),
                getComputeType(getTensorType(op.getQuery()).getElementType())),
      rank(getTensorType(op.getQuery()).getRank()), query(op.getQuery()) {
  int64_t heads = getTensorType(query).getDimSize(rank - 3);
  int64_t keyHeads =
      mergeSizes(getTensorType(op.getKey()).getDimSize(rank - 3),
                 getTensorType(op.getValue()).getDimSize(rank - 3));
  if (ShapedType::isStatic(heads) && ShapedType::isStatic(keyHeads))
    group = heads / keyHeads;
  if (group > 1)
    query = splitHeads(query, rank - 3);
  numLoops = getTensorType(query).getRank();
  scoreSizes = d.getSizes(query);
  scoreSizes[numLoops - 1] = d.getSize(op.getKey(), rank - 2);
}

Value AttentionBuilder::splitHeads(Value tensor, int64_t dim) {
  RankedTensorType type = getTensorType(tensor);
  SmallVector<int64_t> shape(type.getShape());
  // A bias may leave open what the query states.
  shape[dim] = getTensorType(op.getQuery()).getDimSize(rank - 3);
  tensor =
      d.castTo(tensor, RankedTensorType::get(shape, type.getElementType()));
  SmallVector<OpFoldResult> sizes = d.getSizes(tensor);
  int64_t keyHeads = shape[dim] / group;
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t i = 0, rank = type.getRank(); i < rank; ++i) {
    reassociation.push_back({i <= dim ? i : i + 1});
    if (i == dim)
      reassociation.back().push_back(i + 1);
  }
  shape[dim] = keyHeads;
  shape.insert(shape.begin() + dim + 1, group);
  sizes[dim] = d.b.getIndexAttr(keyHeads);
  sizes.insert(sizes.begin() + dim + 1, d.b.getIndexAttr(group));
  return tensor::ExpandShapeOp::create(
      d.b, RankedTensorType::get(shape, type.getElementType()), tensor,
      reassociation, sizes);
}

LoopOperand AttentionBuilder::alongScores(Value tensor) {
  RankedTensorType type = getTensorType(tensor);
  int64_t missing = rank - type.getRank();
  int64_t headDim = rank - 3 - missing;
  if (group > 1 && headDim >= 0 && type.getDimSize(headDim) != 1)
    tensor = splitHeads(tensor, headDim);

  // A dimension of size 1 runs with no loop: it is dropped, so that the map
  // is a projected permutation.
  SmallVector<int64_t> loops;
  llvm::SmallBitVector dropped(getTensorType(tensor).getRank());
  for (int64_t i = 0, position = 0; i < type.getRank(); ++i, ++position) {
    int64_t dim = i + missing;
    if (type.getDimSize(i) == 1) {
      dropped.set(position);
      continue;
    }
    bool split = group > 1 && dim == rank - 3;
    loops.push_back(dim > rank - 3 ? dim + numLoops - rank : dim);
    if (split) {
      loops.push_back(dim + 1);
      ++position;
    }
  }
  if (dropped.any())
    tensor = tensor::dropGivenUnitDims(d.b, d.b.getLoc(), tensor, dropped);
  return d.along(tensor, loops, numLoops);
}

LoopOperand AttentionBuilder::alongKeys(Value tensor, int64_t keyLoop,
                                        int64_t lastLoop, int64_t allLoops) {
  SmallVector<int64_t> loops = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  loops.push_back(keyLoop);
  loops.push_back(lastLoop);
  return d.along(tensor, loops, allLoops);
}

static Scalar multiplyArgs(ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
  return args[0] * args[1];
}

Value AttentionBuilder::buildScores() {
  int64_t feature = numLoops;
  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, numLoops));
  SmallVector<int64_t> queryLoops = kept;
  queryLoops.back() = feature;
  return d.reduce({d.along(query, queryLoops, numLoops + 1),
                   alongKeys(op.getKey(), numLoops - 1, feature, numLoops + 1)},
                  numLoops + 1, kept, scoreSizes, Accumulation::Add,
                  multiplyArgs);
}

Scalar AttentionBuilder::applyCausalMask(ImplicitLocOpBuilder &b,
                                         Scalar score) {
  Scalar row = getLoopIndex(b, numLoops - 2);
  Scalar column = getLoopIndex(b, numLoops - 1);
  if (*op.getCausal() == CausalMask::BottomRight)
    row = row + d.getIndex(b, scoreSizes[numLoops - 1]) -
          d.getIndex(b, scoreSizes[numLoops - 2]);
  return select(gt(column, row),
                score.constant(-std::numeric_limits<double>::infinity()),
                score);
}

Scalar AttentionBuilder::applyScoreMod(ImplicitLocOpBuilder &b, Scalar score) {
  SmallVector<Value> arguments = {score};
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t loop = dim > rank - 3 ? dim + numLoops - rank : dim;
    Scalar index = getLoopIndex(b, loop);
    if (group > 1 && dim == rank - 3)
      index = index * makeInteger(b, b.getIndexType(), group) +
              getLoopIndex(b, loop + 1);
    arguments.push_back(index);
  }
  Block &block = op.getScoreMod().front();
  IRMapping map;
  map.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator())
    b.clone(inner, map);
  auto yield = cast<YieldOp>(block.getTerminator());
  return {b, map.lookupOrDefault(yield.getValues().front())};
}

Value AttentionBuilder::modifyScores(Value scores) {
  SmallVector<LoopOperand> operands = {d.along(scores)};
  if (op.getBias())
    operands.push_back(alongScores(op.getBias()));
  if (op.getMask())
    operands.push_back(alongScores(op.getMask()));
  OpFoldResult features = d.getSize(op.getQuery(), rank - 1);
  return d.elementwise(
      operands, scoreSizes, d.computeType,
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        std::optional<APFloat> scale = op.getScale();
        std::optional<int64_t> size = getConstantIntValue(features);
        Scalar score = args[0];
        if (scale)
          score = score * scale->convertToDouble();
        else if (size)
          score = score * (1.0 / std::sqrt(static_cast<double>(*size)));
        else
          score = score * rsqrt(d.getCount(b, features));
        unsigned next = 1;
        if (op.getBias())
          score = score + convertFloat(args[next++], d.computeType);
        if (!op.getScoreMod().empty())
          score = applyScoreMod(b, score);
        if (op.getMask())
          score =
              select(args[next++], score,
                     score.constant(-std::numeric_limits<double>::infinity()));
        if (op.getCausal())
          score = applyCausalMask(b, score);
        return score;
      });
}

Value AttentionBuilder::build() {
  Value scores = modifyScores(buildScores());
  SmallVector<int64_t> rows =
      llvm::to_vector(llvm::seq<int64_t>(0, numLoops - 1));
  ArrayRef<OpFoldResult> rowSizes = ArrayRef(scoreSizes).drop_back();
  Value max = d.reduce(
      {d.along(scores)}, numLoops, rows, rowSizes, Accumulation::Max,
      [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) { return args[0]; });
  SmallVector<LoopOperand> shifted = {d.along(scores),
                                      d.along(max, rows, numLoops)};
  Value sum = d.reduce(shifted, numLoops, rows, rowSizes, Accumulation::Add,
                       [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                         return exp(args[0] - args[1]);
                       });
  double p = op.getDropout().convertToDouble();
  Value weights = d.elementwise(
      shifted, scoreSizes, getTensorType(op.getValue()).getElementType(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        Scalar weight = exp(args[0] - args[1]);
        if (p == 0.0)
          return weight;
        Scalar keep =
            buildKeep(b, scoreSizes,
                      {op.getSeed(), static_cast<int64_t>(op.getOpId())}, p);
        // A factor, no choice: the maximum of the scores repairs products.
        Scalar zero = weight.constant(0.0);
        double scale = p == 1.0 ? 0.0 : 1.0 / (1.0 - p);
        return weight * select(keep, weight.constant(scale), zero);
      });

  // The second product has the scores' loops but a feature of the value in the
  // place of the key, and sums over the keys in one loop more.
  int64_t keyLoop = numLoops;
  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, numLoops));
  SmallVector<int64_t> weightLoops = rows;
  weightLoops.push_back(keyLoop);
  SmallVector<OpFoldResult> resultSizes(rowSizes);
  resultSizes.push_back(d.getSize(op.getValue(), rank - 1));
  Value product = d.reduce(
      {d.along(weights, weightLoops, numLoops + 1),
       alongKeys(op.getValue(), keyLoop, numLoops - 1, numLoops + 1)},
      numLoops + 1, kept, resultSizes, Accumulation::Add, multiplyArgs);
  RankedTensorType type = getTensorType(op.getResult());
  Value result = d.elementwise(
      {d.along(product), d.along(sum, rows, numLoops)}, resultSizes,
      type.getElementType(), [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
        return args[0] / args[1];
      });
  if (group > 1) {
    SmallVector<ReassociationIndices> reassociation;
    for (int64_t i = 0; i < rank; ++i) {
      reassociation.push_back({i <= rank - 3 ? i : i + 1});
      if (i == rank - 3)
        reassociation.back().push_back(i + 1);
    }
    result = tensor::CollapseShapeOp::create(d.b, result, reassociation);
  }
  return d.castTo(result, type);
}

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &builder) {
  return SmallVector<Value>{AttentionBuilder(*this, builder).build()};
}
