//===- LossOps.cpp - Losses -----------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements cross-entropy and linear cross-entropy.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// The attributes that both losses have.
struct LossOptions {
  LossReduction reduction;
  std::optional<int64_t> ignoreIndex;
  double smoothing;
};
} // namespace

template <typename Op>
static LossOptions getLossOptions(Op op) {
  LossOptions options;
  options.reduction = op.getReduction();
  if (std::optional<uint64_t> ignored = op.getIgnoreIndex())
    options.ignoreIndex = static_cast<int64_t>(*ignored);
  options.smoothing = op.getLabelSmoothing().convertToDouble();
  return options;
}

static LogicalResult verifySmoothing(Operation *op, const APFloat &smoothing) {
  double value = smoothing.convertToDouble();
  if (value >= 0.0 && value <= 1.0)
    return success();
  return op->emitOpError() << "'label_smoothing' must be between 0 and 1, got "
                           << value;
}

/// Sum of all elements of `tensor`, as a tensor of rank 0.
static Value sumAll(Decomposer &d, Value tensor, BodyFn body) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return d.reduce({d.along(tensor)}, rank, {}, {}, Accumulation::Add, body);
}

/// 1 where the target counts, 0 where it is ignored.
static Scalar buildCounts(const Decomposer &d, Scalar target,
                          const LossOptions &options) {
  ImplicitLocOpBuilder &b = target.getBuilder();
  Scalar one = makeConstant(b, d.computeType, 1.0);
  if (!options.ignoreIndex)
    return one;
  Scalar ignored = makeInteger(b, target.getType(), *options.ignoreIndex);
  return select(eq(target, ignored), makeConstant(b, d.computeType, 0.0), one);
}

/// The loss of `logits` with classes along `axis`; see the op's description.
static Value buildCrossEntropy(Decomposer &d, Value logits, Value target,
                               int64_t axis, const LossOptions &options,
                               Type elementType) {
  int64_t rank = cast<RankedTensorType>(logits.getType()).getRank();
  SmallVector<OpFoldResult> sizes = d.getSizes(logits);
  OpFoldResult classes = sizes[axis];
  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  kept.erase(kept.begin() + axis);
  SmallVector<OpFoldResult> keptSizes;
  for (int64_t dim : kept)
    keptSizes.push_back(sizes[dim]);

  Value max = d.reduce(
      {d.along(logits)}, rank, kept, keptSizes, Accumulation::Max,
      [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) { return args[0]; });
  Value sum = d.reduce({d.along(logits), d.along(max, kept, rank)}, rank, kept,
                       keptSizes, Accumulation::Add,
                       [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                         return exp(args[0] - args[1]);
                       });
  SmallVector<LoopOperand> operands = {d.along(target), d.along(max),
                                       d.along(sum)};
  bool smooth = options.smoothing != 0.0;
  if (smooth)
    operands.push_back(d.along(
        d.reduce({d.along(logits)}, rank, kept, keptSizes, Accumulation::Add,
                 [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                   return args[0];
                 })));

  auto lossOf = [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
    Scalar target = args[0];
    Scalar logSum = args[1] + log(args[2]);
    // The load is always inside the row; what a target outside of it picked is
    // replaced afterwards.
    Type indexType = b.getIndexType();
    Scalar index = convertInteger(target, indexType);
    Scalar zeroIndex = makeInteger(b, indexType, 0);
    Scalar inside =
        logicalAnd(ge(index, zeroIndex), lt(index, d.getIndex(b, classes)));
    SmallVector<Value> at;
    for (int64_t dim = 0, loop = 0; dim < rank; ++dim)
      at.push_back(dim == axis ? Value(select(inside, index, zeroIndex))
                               : Value(getLoopIndex(b, loop++)));
    Scalar picked = convertFloat(extract(b, logits, at), d.computeType);
    Scalar loss = logSum - picked;
    if (smooth) {
      Scalar mean = args[3] / d.getCount(b, classes);
      loss = loss * (1.0 - options.smoothing) +
             (logSum - mean) * options.smoothing;
    }
    Scalar nan = makeConstant(b, d.computeType,
                              std::numeric_limits<double>::quiet_NaN());
    loss = select(inside, loss, nan);
    if (!options.ignoreIndex)
      return loss;
    Scalar ignored = makeInteger(b, target.getType(), *options.ignoreIndex);
    return select(eq(target, ignored), loss.constant(0.0), loss);
  };
  bool isPerElement = options.reduction == LossReduction::None;
  Value losses = d.elementwise(
      operands, keptSizes, isPerElement ? elementType : d.computeType, lossOf);
  if (isPerElement)
    return losses;

  Value total =
      sumAll(d, losses, [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
        return args[0];
      });
  if (options.reduction == LossReduction::Sum)
    return d.elementwise(
        {d.along(total)}, {}, elementType,
        [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) { return args[0]; });
  // Without an ignored index the number of targets is known from the shape.
  if (!options.ignoreIndex) {
    OpFoldResult count = d.multiply(keptSizes);
    return d.elementwise({d.along(total)}, {}, elementType,
                         [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
                           return args[0] / d.getCount(b, count);
                         });
  }
  Value count =
      sumAll(d, target, [&](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
        return buildCounts(d, args[0], options);
      });
  return d.elementwise({d.along(total), d.along(count)}, {}, elementType,
                       [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
                         return args[0] / args[1];
                       });
}

//===----------------------------------------------------------------------===//
// CrossEntropyOp
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  auto target = cast<RankedTensorType>(adaptor.getTarget().getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitInferError(location, getOperationName(), "'axis' is ", axis,
                          ", not a dimension of ", type);
  if (target.getRank() != type.getRank() - 1)
    return emitInferError(location, getOperationName(),
                          "'target' must have rank ", type.getRank() - 1,
                          ", got ", target);
  SmallVector<int64_t> shape;
  if (adaptor.getReduction() == LossReduction::None)
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != axis)
        shape.push_back(
            mergeSizes(type.getDimSize(dim), target.getDimSize(shape.size())));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  auto type = cast<RankedTensorType>(getInput().getType());
  SmallVector<int64_t> expected(type.getShape());
  expected.erase(expected.begin() + getAxis());
  if (failed(verifySmoothing(*this, getLabelSmoothing())))
    return failure();
  return verifySizes(*this, "target",
                     cast<RankedTensorType>(getTarget().getType()), expected,
                     "the input's dimensions but the class axis");
}

LogicalResult
CrossEntropyOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  shapes.emplace_back();
  if (getReduction() == LossReduction::None)
    shapes[0] = tensor::getMixedSizes(builder, getLoc(), getTarget());
  return success();
}

FailureOr<SmallVector<Value>> CrossEntropyOp::decompose(OpBuilder &builder) {
  auto type = cast<RankedTensorType>(getInput().getType());
  Decomposer d(builder, getLoc(), getComputeType(type.getElementType()));
  Value loss = buildCrossEntropy(d, getInput(), getTarget(), getAxis(),
                                 getLossOptions(*this), type.getElementType());
  return SmallVector<Value>{d.castTo(loss, getResult().getType())};
}

//===----------------------------------------------------------------------===//
// LinearCrossEntropyOp
//===----------------------------------------------------------------------===//

LogicalResult LinearCrossEntropyOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  auto target = cast<RankedTensorType>(adaptor.getTarget().getType());
  if (type.getRank() != 2)
    return emitInferError(location, getOperationName(),
                          "input must have rank 2, got ", type);
  if (target.getRank() != 1)
    return emitInferError(location, getOperationName(),
                          "'target' must have rank 1, got ", target);
  SmallVector<int64_t> shape;
  if (adaptor.getReduction() == LossReduction::None)
    shape.push_back(mergeSizes(type.getDimSize(0), target.getDimSize(0)));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult LinearCrossEntropyOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  auto type = cast<RankedTensorType>(getInput().getType());
  auto weight = cast<RankedTensorType>(getWeight().getType());
  if (failed(verifySizes(*this, "weight", weight,
                         {ShapedType::kDynamic, type.getDimSize(1)},
                         "classes, features")) ||
      failed(verifySizes(*this, "target",
                         cast<RankedTensorType>(getTarget().getType()),
                         type.getDimSize(0), "samples")) ||
      failed(verifyOptionalSizes(*this, "bias", getBias(), weight.getDimSize(0),
                                 "classes")))
    return failure();
  if (weight.getElementType() != type.getElementType())
    return emitOpError() << "input and 'weight' must have one element type, "
                         << "got " << type.getElementType() << " and "
                         << weight.getElementType();
  return verifySmoothing(*this, getLabelSmoothing());
}

LogicalResult
LinearCrossEntropyOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  shapes.emplace_back();
  if (getReduction() == LossReduction::None)
    shapes[0] = tensor::getMixedSizes(builder, getLoc(), getTarget());
  return success();
}

FailureOr<SmallVector<Value>>
LinearCrossEntropyOp::decompose(OpBuilder &builder) {
  auto type = cast<RankedTensorType>(getInput().getType());
  Decomposer d(builder, getLoc(), getComputeType(type.getElementType()));
  SmallVector<OpFoldResult> shape = {d.getSize(getInput(), 0),
                                     d.getSize(getWeight(), 0)};
  Value logits = d.reduce(
      {d.along(getInput(), {0, 2}, 3), d.along(getWeight(), {1, 2}, 3)}, 3,
      {0, 1}, shape, Accumulation::Add,
      [](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
        return args[0] * args[1];
      });
  if (getBias())
    logits = d.elementwise(
        {d.along(logits), d.along(getBias(), {1}, 2)}, shape, d.computeType,
        [&](ImplicitLocOpBuilder &, ArrayRef<Scalar> args) {
          return args[0] + convertFloat(args[1], d.computeType);
        });
  Value loss = buildCrossEntropy(d, logits, getTarget(), /*axis=*/1,
                                 getLossOptions(*this), type.getElementType());
  return SmallVector<Value>{d.castTo(loss, getResult().getType())};
}
