//===- IndexOps.cpp - Gather and scan -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the ops that move along an axis by index or in order.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitInferError(location, getOperationName(), "'axis' is ", axis,
                          ", not a dimension of ", type);
  SmallVector<int64_t> shape(type.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult GatherOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  auto type = cast<RankedTensorType>(getInput().getType());
  if (type.getDimSize(getAxis()) == 0)
    return emitOpError() << "has nothing to pick from along axis " << getAxis()
                         << " of " << type;
  return success();
}

LogicalResult GatherOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getInput());
  SmallVector<OpFoldResult> picked =
      tensor::getMixedSizes(builder, getLoc(), getIndices());
  auto position = sizes.erase(sizes.begin() + getAxis());
  sizes.insert(position, picked.begin(), picked.end());
  shapes.push_back(std::move(sizes));
  return success();
}

FailureOr<SmallVector<Value>> GatherOp::decompose(OpBuilder &builder) {
  auto type = cast<RankedTensorType>(getInput().getType());
  auto indicesType = cast<RankedTensorType>(getIndices().getType());
  int64_t axis = getAxis();
  int64_t rank = cast<RankedTensorType>(getResult().getType()).getRank();
  Decomposer d(builder, getLoc(), getComputeType(type.getElementType()));
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(d.b, shapes)))
    return failure();
  OpFoldResult extent = d.getSize(getInput(), axis);
  SmallVector<int64_t> indexLoops =
      llvm::to_vector(llvm::seq(axis, axis + indicesType.getRank()));
  Value result = d.elementwise(
      {d.along(getIndices(), indexLoops, rank)}, shapes[0],
      type.getElementType(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        Type indexType = b.getIndexType();
        Scalar zero = makeInteger(b, indexType, 0);
        Scalar size = d.getIndex(b, extent);
        Scalar index = convertInteger(args[0], indexType);
        index = select(lt(index, zero), index + size, index);
        Scalar inside = logicalAnd(ge(index, zero), lt(index, size));
        SmallVector<Value> at;
        for (int64_t dim = 0; dim < type.getRank(); ++dim) {
          if (dim == axis)
            at.push_back(select(inside, index, zero));
          else
            at.push_back(getLoopIndex(
                b, dim < axis ? dim : dim + indicesType.getRank() - 1));
        }
        // Always inside of the tensor, so the load itself is safe.
        Scalar element = extract(b, getInput(), at);
        double nothing =
            element.isFloat() ? std::numeric_limits<double>::quiet_NaN() : 0.0;
        return select(inside, element, element.constant(nothing));
      });
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return success();
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty())
    return emitOpError("must have at least one input");
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(verifyAxis(*this, "axis", getAxis(), first)))
    return failure();
  for (auto [index, input, init] : llvm::enumerate(getInputs(), getInits())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getShape() != first.getShape())
      return emitOpError() << "input #" << index << " must have the shape of "
                           << first << ", got " << type;
    if (type.getElementType() != init.getType())
      return emitOpError() << "initial value #" << index << " must be a "
                           << type.getElementType() << ", got "
                           << init.getType();
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  Block &block = getCombiner().front();
  SmallVector<Type> expected(getInits().getTypes());
  llvm::append_range(expected, getInits().getTypes());
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return emitOpError() << "the combiner must take two values per state, of "
                         << "the initial values' types";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield ||
      !llvm::equal(yield.getValues().getTypes(), getInits().getTypes()))
    return emitOpError() << "the combiner must yield one value per state, of "
                         << "the initial values' types";
  return success();
}

LogicalResult ScanOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  for (Value input : getInputs())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), input));
  return success();
}

/// Whether the axis is known to have one element: nothing is combined.
static bool hasOneElement(ScanOp op) {
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  return type.getDimSize(op.getAxis()) == 1;
}

bool ScanOp::isDecomposedOnInput() { return hasOneElement(*this); }

/// Clones the combiner of `op` onto two tuples of scalars.
static SmallVector<Value> cloneCombiner(ImplicitLocOpBuilder &b, ScanOp op,
                                        ValueRange left, ValueRange right) {
  Block &block = op.getCombiner().front();
  IRMapping map;
  map.map(block.getArguments().take_front(left.size()), left);
  map.map(block.getArguments().drop_front(left.size()), right);
  for (Operation &inner : block.without_terminator())
    b.clone(inner, map);
  return llvm::map_to_vector(
      cast<YieldOp>(block.getTerminator()).getValues(),
      [&](Value value) { return map.lookupOrDefault(value); });
}

FailureOr<SmallVector<Value>> ScanOp::decompose(OpBuilder &builder) {
  if (hasOneElement(*this) && !getExclusive())
    return SmallVector<Value>(getInputs());
  // A loop over slices that carries the running states, one tensor each with
  // the axis left out, and the results.
  auto type = cast<RankedTensorType>(getInputs().front().getType());
  int64_t rank = type.getRank();
  int64_t axis = getAxis();
  unsigned states = getInputs().size();
  Decomposer d(builder, getLoc(), getComputeType(type.getElementType()));
  ImplicitLocOpBuilder &b = d.b;
  SmallVector<OpFoldResult> sizes = d.getSizes(getInputs().front());
  SmallVector<OpFoldResult> sliceSizes = sizes;
  sliceSizes.erase(sliceSizes.begin() + axis);
  SmallVector<int64_t> sliceShape(type.getShape());
  sliceShape.erase(sliceShape.begin() + axis);

  if (hasOneElement(*this)) {
    SmallVector<Value> starts;
    for (Value init : getInits())
      starts.push_back(
          linalg::FillOp::create(b, init, d.createEmpty(sizes, init.getType()))
              .getResult(0));
    return starts;
  }

  SmallVector<Value> carried;
  for (Value init : getInits()) {
    Value empty = d.createEmpty(sliceSizes, init.getType());
    carried.push_back(linalg::FillOp::create(b, init, empty).getResult(0));
  }
  for (Value init : getInits())
    carried.push_back(d.createEmpty(sizes, init.getType()));

  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value extent = d.getIndex(sizes[axis]);
  auto loop = scf::ForOp::create(b, zero, extent, one, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  if (getReverse()) {
    Value last = arith::SubIOp::create(b, extent, one);
    position = arith::SubIOp::create(b, last, position);
  }
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> windowSizes = sizes;
  offsets[axis] = position;
  windowSizes[axis] = b.getIndexAttr(1);

  SmallVector<Value> operands;
  SmallVector<Value> running(loop.getRegionIterArgs().take_front(states));
  for (Value input : getInputs()) {
    auto sliceType = RankedTensorType::get(
        sliceShape, getElementTypeOrSelf(input.getType()));
    operands.push_back(tensor::ExtractSliceOp::create(
        b, sliceType, input, offsets, windowSizes, strides));
  }
  SmallVector<AffineMap> maps(2 * states, b.getMultiDimIdentityMap(rank - 1));
  SmallVector<utils::IteratorType> iterators(rank - 1,
                                             utils::IteratorType::parallel);
  auto combine = linalg::GenericOp::create(
      b, ValueRange(running).getTypes(), operands, running, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder inner(loc, nested);
        ValueRange elements = args.take_front(states);
        ValueRange sofar = args.drop_front(states);
        // From either end, what was met before stands on the left.
        SmallVector<Value> next = cloneCombiner(inner, *this, sofar, elements);
        linalg::YieldOp::create(inner, next);
      });
  SmallVector<Value> yielded(combine.getResults());
  ValueRange written =
      getExclusive() ? ValueRange(running) : ValueRange(combine.getResults());
  for (auto [value, result] :
       llvm::zip_equal(written, loop.getRegionIterArgs().drop_front(states)))
    yielded.push_back(tensor::InsertSliceOp::create(b, value, result, offsets,
                                                    windowSizes, strides));
  scf::YieldOp::create(b, yielded);
  return SmallVector<Value>(loop.getResults().drop_front(states));
}
