//===- PointwiseOps.cpp - Rotary embedding and dropout --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pointwise ops that look at where an element is.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "Random.h"
#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionOps.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// RopeOp
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  auto cosType = cast<RankedTensorType>(getCos().getType());
  int64_t rank = type.getRank();
  if (rank < 2)
    return emitOpError() << "input must have rank 2 or more, got " << type;
  int64_t axis = getSeqAxis();
  if (axis < 0 || axis >= rank - 1)
    return emitOpError() << "'seq_axis' is " << axis << ", not a dimension of "
                         << type << " before the last";
  int64_t size = type.getDimSize(rank - 1);
  if (ShapedType::isStatic(size) && size % 2 != 0)
    return emitOpError() << "the last dimension must be even, got " << type;
  int64_t half = ShapedType::isDynamic(size) ? size : size / 2;
  SmallVector<int64_t> expected = {type.getDimSize(axis), half};
  StringRef what = "sequence, half of the last dimension";
  if (cosType.getRank() == 3) {
    if (axis == 0)
      return emitOpError("'seq_axis' must not be 0 when 'cos' has a batch");
    expected.insert(expected.begin(), type.getDimSize(0));
    what = "batch, sequence, half of the last dimension";
  }
  if (failed(verifySizes(*this, "cos", cosType, expected, what)))
    return failure();
  return verifySizes(*this, "sin", cast<RankedTensorType>(getSin().getType()),
                     expected, what);
}

FailureOr<SmallVector<Value>> RopeOp::decompose(OpBuilder &builder) {
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t last = type.getRank() - 1;
  bool batched = cast<RankedTensorType>(getCos().getType()).getRank() == 3;
  Decomposer d(builder, getLoc(),
               getComputeType({getInput(), getCos(), getSin()}));
  SmallVector<OpFoldResult> sizes = d.getSizes(getInput());

  // One op with index arithmetic, not slices and a concatenation: the result is
  // written once, and the op fuses like any other pointwise one. The partner
  // of an element is in the same row, so its load is coalesced too.
  Value result = d.elementwise(
      {d.along(getInput())}, sizes, type.getElementType(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        SmallVector<Value> indices;
        for (int64_t loop = 0; loop <= last; ++loop)
          indices.push_back(getLoopIndex(b, loop));
        Scalar column(b, indices[last]);
        Type indexType = b.getIndexType();
        Scalar two = makeInteger(b, indexType, 2);
        Scalar one = makeInteger(b, indexType, 1);
        Scalar half = d.getIndex(b, sizes[last]) / two;
        Scalar isFirst = getInterleaved()
                             ? eq(column % two, makeInteger(b, indexType, 0))
                             : lt(column, half);
        Scalar step = getInterleaved() ? one : half;
        // Where the partner differs in one bit this is said: elements that are
        // computed in the same kernel can then be exchanged.
        int64_t size = type.getDimSize(last);
        bool isBit = getInterleaved() || llvm::isPowerOf2_64(size);
        Scalar angle = getInterleaved() ? column / two
                       : isBit ? column % half
                               : select(isFirst, column, column - half);
        SmallVector<Value> partnerIndices = indices;
        partnerIndices[last] =
            isBit ? arith::XOrIOp::create(b, column, step).getResult()
                  : Value(select(isFirst, column + step, column - step));
        SmallVector<Value> angleIndices;
        if (batched)
          angleIndices.push_back(indices[0]);
        angleIndices.push_back(indices[getSeqAxis()]);
        angleIndices.push_back(angle);

        auto load = [&](Value tensor, ArrayRef<Value> at) {
          return convertFloat(extract(b, tensor, at), d.computeType);
        };
        Scalar partner = load(getInput(), partnerIndices);
        Scalar cos = load(getCos(), angleIndices);
        Scalar sin = load(getSin(), angleIndices);
        Scalar x = convertFloat(args[0], d.computeType);
        Scalar turned = partner * sin;
        return x * cos + select(isFirst, -turned, turned);
      });
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// DropoutOp
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::verify() {
  double p = getProbability().convertToDouble();
  if (!(p >= 0.0 && p <= 1.0))
    return emitOpError() << "'probability' must be between 0 and 1, got " << p;
  return success();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) {
  if (getProbability().isZero())
    return getInput();
  return {};
}

FailureOr<SmallVector<Value>> DropoutOp::decompose(OpBuilder &builder) {
  Type elementType = getElementTypeOrSelf(getInput().getType());
  Decomposer d(builder, getLoc(), getComputeType(elementType));
  SmallVector<OpFoldResult> sizes = d.getSizes(getInput());
  double p = getProbability().convertToDouble();
  Value result = d.elementwise(
      {d.along(getInput())}, sizes, elementType,
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        Scalar keep = buildKeep(
            b, sizes, {getSeed(), static_cast<int64_t>(getOpId())}, p);
        Scalar scaled = p == 1.0 ? args[0] : args[0] * (1.0 / (1.0 - p));
        return select(keep, scaled, args[0].constant(0.0));
      });
  return SmallVector<Value>{result};
}
