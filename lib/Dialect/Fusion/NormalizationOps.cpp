//===- NormalizationOps.cpp - Softmax and norms ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements softmax, log-softmax and the normalisations.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::fusion;

static SmallVector<int64_t> getLoops(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq(begin, end));
}

/// The entries of `values` at `positions`.
template <typename T>
static SmallVector<T> pick(ArrayRef<T> values, ArrayRef<int64_t> positions) {
  return llvm::map_to_vector(
      positions, [&](int64_t position) { return values[position]; });
}

//===----------------------------------------------------------------------===//
// SoftmaxOp, LogSoftmaxOp
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, "axis", getAxis(),
                    cast<RankedTensorType>(getInput().getType()));
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyAxis(*this, "axis", getAxis(),
                    cast<RankedTensorType>(getInput().getType()));
}

/// Three ops: the maximum, the sum of exponentials, and the result.
static SmallVector<Value> decomposeSoftmax(OpBuilder &builder, Location loc,
                                           Value input, int64_t axis,
                                           bool logarithm) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t rank = type.getRank();
  Decomposer d(builder, loc, getComputeType(type.getElementType()));
  SmallVector<OpFoldResult> sizes = d.getSizes(input);
  SmallVector<int64_t> kept = getLoops(0, rank);
  kept.erase(kept.begin() + axis);
  SmallVector<OpFoldResult> keptSizes = pick<OpFoldResult>(sizes, kept);

  Value max = d.reduce(
      {d.along(input)}, rank, kept, keptSizes, Accumulation::Max,
      [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) { return args[0]; });
  Value sum = d.reduce({d.along(input), d.along(max, kept, rank)}, rank, kept,
                       keptSizes, Accumulation::Add,
                       [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                         return exp(args[0] - args[1]);
                       });
  Value result = d.elementwise(
      {d.along(input), d.along(max, kept, rank), d.along(sum, kept, rank)},
      sizes, type.getElementType(),
      [&](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
        Scalar shifted = args[0] - args[1];
        return logarithm ? shifted - log(args[2]) : exp(shifted) / args[2];
      });
  return {result};
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  return decomposeSoftmax(builder, getLoc(), getInput(), getAxis(), false);
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &builder) {
  return decomposeSoftmax(builder, getLoc(), getInput(), getAxis(), true);
}

//===----------------------------------------------------------------------===//
// What the norms share
//===----------------------------------------------------------------------===//

namespace {
/// Mean and variance, or what the caller gives in their place.
struct Statistics {
  Value mean;
  Value variance;
};

/// A norm as loops: which dimensions of the input the statistics keep, and
/// which ones scale and bias run with.
struct Norm {
  Value input;
  Value scale;
  Value bias;
  SmallVector<int64_t> kept;
  SmallVector<int64_t> affine;
  double eps;

  int64_t getRank() const {
    return cast<RankedTensorType>(input.getType()).getRank();
  }
  SmallVector<int64_t> getReduced() const {
    SmallVector<int64_t> reduced;
    for (int64_t dim = 0, rank = getRank(); dim < rank; ++dim)
      if (!llvm::is_contained(kept, dim))
        reduced.push_back(dim);
    return reduced;
  }
};
} // namespace

/// sum / n, on a tensor of the kept dimensions.
static Value buildMeanOfSum(Decomposer &d, Value sum, OpFoldResult count) {
  return d.elementwise({d.along(sum)}, d.getSizes(sum), d.computeType,
                       [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
                         return args[0] / d.getCount(b, count);
                       });
}

/// Mean, then the mean of squared deviations from it: two passes, because the
/// difference of the mean square and the squared mean loses all digits when
/// the mean is large.
static Statistics buildStatistics(Decomposer &d, const Norm &norm) {
  int64_t rank = norm.getRank();
  SmallVector<OpFoldResult> sizes = d.getSizes(norm.input);
  SmallVector<OpFoldResult> keptSizes = pick<OpFoldResult>(sizes, norm.kept);
  OpFoldResult count = d.multiply(pick<OpFoldResult>(sizes, norm.getReduced()));
  Value sum = d.reduce(
      {d.along(norm.input)}, rank, norm.kept, keptSizes, Accumulation::Add,
      [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) { return args[0]; });
  Value mean = buildMeanOfSum(d, sum, count);
  Value squares =
      d.reduce({d.along(norm.input), d.along(mean, norm.kept, rank)}, rank,
               norm.kept, keptSizes, Accumulation::Add,
               [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                 Scalar deviation = args[0] - args[1];
                 return deviation * deviation;
               });
  return {mean, buildMeanOfSum(d, squares, count)};
}

/// (x - mean) rsqrt(variance + eps) scale + bias; without a mean, x is not
/// shifted.
static Value buildNormalized(Decomposer &d, const Norm &norm,
                             Statistics statistics, Type elementType) {
  int64_t rank = norm.getRank();
  // The root is taken once per group of elements, not once per element.
  Value factor = d.elementwise(
      {d.along(statistics.variance)}, d.getSizes(statistics.variance),
      d.computeType, [&](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
        return rsqrt(args[0] + norm.eps);
      });
  SmallVector<LoopOperand> operands = {d.along(norm.input),
                                       d.along(factor, norm.kept, rank)};
  if (statistics.mean)
    operands.push_back(d.along(statistics.mean, norm.kept, rank));
  if (norm.scale)
    operands.push_back(d.along(norm.scale, norm.affine, rank));
  if (norm.bias)
    operands.push_back(d.along(norm.bias, norm.affine, rank));
  return d.elementwise(operands, d.getSizes(norm.input), elementType,
                       [&](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                         Scalar y = args[0];
                         unsigned next = 2;
                         if (statistics.mean)
                           y = y - args[next++];
                         y = y * args[1];
                         if (norm.scale)
                           y = y * args[next++];
                         if (norm.bias)
                           y = y + args[next++];
                         return y;
                       });
}

static LogicalResult verifyEps(Operation *op, const APFloat &eps) {
  if (eps.isFinite() && !eps.isNegative())
    return success();
  return op->emitOpError("'eps' must be finite and not negative");
}

//===----------------------------------------------------------------------===//
// LayerNormOp, RmsNormOp
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult verifyTrailingNorm(Op op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (failed(verifyAxis(op, "axis", op.getAxis(), type)) ||
      failed(verifyEps(op, op.getEps())))
    return failure();
  ArrayRef<int64_t> normalized = type.getShape().drop_front(op.getAxis());
  StringRef what = "the normalised dimensions";
  if (failed(verifyOptionalSizes(op, "scale", op.getScale(), normalized, what)))
    return failure();
  return verifyOptionalSizes(op, "bias", op.getBias(), normalized, what);
}

template <typename Op>
static Norm getTrailingNorm(Op op) {
  int64_t rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
  int64_t axis = op.getAxis();
  return {op.getInput(),        op.getScale(),
          op.getBias(),         getLoops(0, axis),
          getLoops(axis, rank), op.getEps().convertToDouble()};
}

LogicalResult LayerNormOp::verify() { return verifyTrailingNorm(*this); }
LogicalResult RmsNormOp::verify() { return verifyTrailingNorm(*this); }

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  Norm norm = getTrailingNorm(*this);
  Decomposer d(builder, getLoc(), getComputeType(getOperands()));
  return SmallVector<Value>{
      buildNormalized(d, norm, buildStatistics(d, norm),
                      getElementTypeOrSelf(getResult().getType()))};
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &builder) {
  Norm norm = getTrailingNorm(*this);
  Decomposer d(builder, getLoc(), getComputeType(getOperands()));
  SmallVector<OpFoldResult> sizes = d.getSizes(getInput());
  Value squares =
      d.reduce({d.along(getInput())}, norm.getRank(), norm.kept,
               pick<OpFoldResult>(sizes, norm.kept), Accumulation::Add,
               [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                 return args[0] * args[0];
               });
  OpFoldResult count = d.multiply(pick<OpFoldResult>(sizes, norm.getReduced()));
  Statistics statistics = {Value(), buildMeanOfSum(d, squares, count)};
  return SmallVector<Value>{buildNormalized(
      d, norm, statistics, getElementTypeOrSelf(getResult().getType()))};
}

//===----------------------------------------------------------------------===//
// GroupNormOp
//===----------------------------------------------------------------------===//

LogicalResult GroupNormOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (type.getRank() < 2)
    return emitOpError() << "input must have rank 2 or more, got " << type;
  int64_t groups = getGroups();
  int64_t channels = type.getDimSize(1);
  if (groups < 1)
    return emitOpError() << "'groups' must be positive, got " << groups;
  if (ShapedType::isStatic(channels) && channels % groups != 0)
    return emitOpError() << channels << " channels do not divide into "
                         << groups << " groups";
  if (failed(verifyEps(*this, getEps())) ||
      failed(verifyOptionalSizes(*this, "scale", getScale(), channels,
                                 "channels")))
    return failure();
  return verifyOptionalSizes(*this, "bias", getBias(), channels, "channels");
}

/// Splits dimension `dim` of `tensor` into (groups, size / groups).
static Value splitDimension(Decomposer &d, Value tensor, int64_t dim,
                            int64_t groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> reassociation;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes;
  for (int64_t i = 0, rank = type.getRank(); i < rank; ++i) {
    ReassociationIndices &indices = reassociation.emplace_back();
    indices.push_back(shape.size());
    int64_t size = type.getDimSize(i);
    OpFoldResult dynamicSize = d.getSize(tensor, i);
    if (i == dim) {
      shape.push_back(groups);
      sizes.push_back(d.b.getIndexAttr(groups));
      indices.push_back(shape.size());
      if (ShapedType::isStatic(size)) {
        size /= groups;
        dynamicSize = d.b.getIndexAttr(size);
      } else {
        Scalar whole(d.b, cast<Value>(dynamicSize));
        dynamicSize =
            Value(whole / makeInteger(d.b, d.b.getIndexType(), groups));
      }
    }
    shape.push_back(size);
    sizes.push_back(dynamicSize);
  }
  return tensor::ExpandShapeOp::create(
      d.b, RankedTensorType::get(shape, type.getElementType()), tensor,
      reassociation, sizes);
}

FailureOr<SmallVector<Value>> GroupNormOp::decompose(OpBuilder &builder) {
  Decomposer d(builder, getLoc(), getComputeType(getOperands()));
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t groups = getGroups();
  Norm norm;
  norm.input = splitDimension(d, getInput(), 1, groups);
  if (getScale())
    norm.scale = splitDimension(d, getScale(), 0, groups);
  if (getBias())
    norm.bias = splitDimension(d, getBias(), 0, groups);
  norm.kept = {0, 1};
  norm.affine = {1, 2};
  norm.eps = getEps().convertToDouble();
  Value result =
      buildNormalized(d, norm, buildStatistics(d, norm), type.getElementType());
  SmallVector<ReassociationIndices> reassociation = {{0}, {1, 2}};
  for (int64_t dim = 2; dim < type.getRank(); ++dim)
    reassociation.push_back({dim + 1});
  return SmallVector<Value>{
      tensor::CollapseShapeOp::create(d.b, type, result, reassociation)};
}

//===----------------------------------------------------------------------===//
// InstanceNormOp
//===----------------------------------------------------------------------===//

LogicalResult InstanceNormOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (type.getRank() < 3)
    return emitOpError() << "input must have rank 3 or more, got " << type;
  int64_t channels = type.getDimSize(1);
  if (failed(verifyEps(*this, getEps())) ||
      failed(verifyOptionalSizes(*this, "scale", getScale(), channels,
                                 "channels")))
    return failure();
  return verifyOptionalSizes(*this, "bias", getBias(), channels, "channels");
}

FailureOr<SmallVector<Value>> InstanceNormOp::decompose(OpBuilder &builder) {
  Decomposer d(builder, getLoc(), getComputeType(getOperands()));
  Norm norm = {getInput(), getScale(), getBias(),
               {0, 1},     {1},        getEps().convertToDouble()};
  return SmallVector<Value>{
      buildNormalized(d, norm, buildStatistics(d, norm),
                      getElementTypeOrSelf(getResult().getType()))};
}

//===----------------------------------------------------------------------===//
// BatchNormOp, BatchNormTrainingOp
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (failed(verifyAxis(*this, "channel_axis", getChannelAxis(), type)) ||
      failed(verifyEps(*this, getEps())))
    return failure();
  int64_t channels = type.getDimSize(getChannelAxis());
  std::pair<StringRef, Value> operands[] = {{"mean", getMean()},
                                            {"variance", getVariance()},
                                            {"scale", getScale()},
                                            {"bias", getBias()}};
  for (auto [name, operand] : operands)
    if (failed(verifyOptionalSizes(*this, name, operand, channels, "channels")))
      return failure();
  return success();
}

FailureOr<SmallVector<Value>> BatchNormOp::decompose(OpBuilder &builder) {
  Decomposer d(builder, getLoc(), getComputeType(getOperands()));
  int64_t axis = getChannelAxis();
  Norm norm = {getInput(), getScale(), getBias(),
               {axis},     {axis},     getEps().convertToDouble()};
  return SmallVector<Value>{
      buildNormalized(d, norm, {getMean(), getVariance()},
                      getElementTypeOrSelf(getResult().getType()))};
}

LogicalResult BatchNormTrainingOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t axis = adaptor.getChannelAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitInferError(location, getOperationName(), "'channel_axis' is ",
                          axis, ", not a dimension of ", type);
  auto statistics = RankedTensorType::get(
      type.getDimSize(axis), getComputeType(type.getElementType()));
  types.assign({type, statistics, statistics});
  return success();
}

LogicalResult BatchNormTrainingOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t channels = type.getDimSize(getChannelAxis());
  if (type.getRank() < 2)
    return emitOpError() << "input must have rank 2 or more, got " << type;
  if (failed(verifyEps(*this, getEps())) ||
      failed(verifyOptionalSizes(*this, "scale", getScale(), channels,
                                 "channels")))
    return failure();
  return verifyOptionalSizes(*this, "bias", getBias(), channels, "channels");
}

LogicalResult
BatchNormTrainingOp::reifyResultShapes(OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getInput());
  OpFoldResult channels = sizes[getChannelAxis()];
  shapes.assign({sizes, {channels}, {channels}});
  return success();
}

FailureOr<SmallVector<Value>>
BatchNormTrainingOp::decompose(OpBuilder &builder) {
  Decomposer d(builder, getLoc(), getComputeType(getOperands()));
  int64_t axis = getChannelAxis();
  Norm norm = {getInput(), getScale(), getBias(),
               {axis},     {axis},     getEps().convertToDouble()};
  Statistics statistics = buildStatistics(d, norm);
  Value result = buildNormalized(d, norm, statistics,
                                 getElementTypeOrSelf(getInput().getType()));
  // Statistics are wider than their type only when scale or bias is f64.
  auto narrow = [&](Value value, Type type) {
    Type elementType = getElementTypeOrSelf(type);
    if (getElementTypeOrSelf(value.getType()) == elementType)
      return value;
    return d.elementwise(
        {d.along(value)}, d.getSizes(value), elementType,
        [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) { return args[0]; });
  };
  return SmallVector<Value>{
      result, narrow(statistics.mean, getMean().getType()),
      narrow(statistics.variance, getVariance().getType())};
}
