//===- GroupOps.cpp - Rows in groups --------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the ops on rows that are sorted by group.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// RowGroupsOp
//===----------------------------------------------------------------------===//

LogicalResult RowGroupsOp::verify() {
  auto type = cast<RankedTensorType>(getOffsets().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  constexpr int64_t unknown = ShapedType::kDynamic;
  if (failed(verifySizes(*this, "offsets", type, {unknown}, "groups + 1")) ||
      failed(verifySizes(*this, "result", result, {unknown}, "rows")))
    return failure();
  if (type.getDimSize(0) == 0 || type.getDimSize(0) == 1)
    return emitOpError("'offsets' must have one element more than there are "
                       "groups, of which there is at least one, got ")
           << type;
  if (result.isDynamicDim(0) != static_cast<bool>(getRows()))
    return emitOpError("takes 'rows' when the result has a dynamic size, and "
                       "only then");
  return success();
}

LogicalResult
RowGroupsOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(getResult().getType());
  OpFoldResult rows = builder.getIndexAttr(type.getDimSize(0));
  if (getRows())
    rows = getRows();
  shapes.push_back({rows});
  return success();
}

bool RowGroupsOp::isDecomposedOnInput() { return false; }

FailureOr<SmallVector<Value>> RowGroupsOp::decompose(OpBuilder &builder) {
  // Offsets up to a row, all but the first of which begin a new group. None of
  // them: the row lies before the first group.
  Decomposer d(builder, getLoc(), builder.getI32Type());
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(d.b, shapes)))
    return failure();
  OpFoldResult numOffsets = d.getSize(getOffsets(), 0);
  Value begun = d.reduce(
      {d.along(getOffsets(), {1}, 2)}, 2, {0}, shapes[0], Accumulation::Add,
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        Scalar row = convertInteger(getLoopIndex(b, 0), b.getI32Type());
        Scalar isBegun = ge(row, args[0]);
        return Scalar(b, arith::ExtUIOp::create(b, b.getI32Type(), isBegun));
      });
  Value groups = d.elementwise(
      {d.along(begun)}, shapes[0], d.b.getI32Type(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        Scalar one = args[0].constant(1);
        Scalar count =
            convertInteger(d.getIndex(b, numOffsets), b.getI32Type());
        return select(lt(args[0], one), count - one, args[0] - one);
      });
  return SmallVector<Value>{groups};
}

//===----------------------------------------------------------------------===//
// GroupedMatmulOp
//===----------------------------------------------------------------------===//

LogicalResult GroupedMatmulOp::verify() {
  auto typeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType());
  };
  RankedTensorType input = typeOf(getInput()), weight = typeOf(getWeight()),
                   offsets = typeOf(getOffsets()), result = typeOf(getResult());
  constexpr int64_t unknown = ShapedType::kDynamic;
  if (failed(verifySizes(*this, "input", input, {unknown, unknown},
                         "rows, depth")))
    return failure();
  int64_t depth = input.getDimSize(1);
  SmallVector<int64_t> sizes{unknown, depth, unknown};
  if (getTransposed())
    std::swap(sizes[1], sizes[2]);
  if (failed(verifySizes(*this, "weight", weight, sizes,
                         getTransposed() ? "groups, columns, depth"
                                         : "groups, depth, columns")))
    return failure();
  int64_t groups = weight.getDimSize(0);
  if (groups == 0)
    return emitOpError("must have at least one group, got ") << weight;
  int64_t columns = weight.getDimSize(getTransposed() ? 1 : 2);
  int64_t numOffsets = ShapedType::isDynamic(groups) ? unknown : groups + 1;
  if (failed(
          verifySizes(*this, "offsets", offsets, {numOffsets}, "groups + 1")) ||
      failed(verifyOptionalSizes(*this, "bias", getBias(), {groups, columns},
                                 "groups, columns")) ||
      failed(verifySizes(*this, "result", result,
                         {input.getDimSize(0), columns}, "rows, columns")))
    return failure();
  if (result.isDynamicDim(0) != input.isDynamicDim(0) ||
      result.isDynamicDim(1) != ShapedType::isDynamic(columns))
    return emitOpError("the result must be static where its operands are, got ")
           << result;
  bool isFloat = isa<FloatType>(input.getElementType());
  auto agrees = [&](Type type) { return isa<FloatType>(type) == isFloat; };
  if (!agrees(weight.getElementType()) || !agrees(result.getElementType()) ||
      (getBias() && !agrees(typeOf(getBias()).getElementType())))
    return emitOpError("takes either floats or integers everywhere, got ")
           << input << ", " << weight << " and " << result;
  return success();
}

LogicalResult
GroupedMatmulOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back({tensor::getMixedSize(builder, getLoc(), getInput(), 0),
                    tensor::getMixedSize(builder, getLoc(), getWeight(),
                                         getTransposed() ? 1 : 2)});
  return success();
}

FailureOr<SmallVector<Value>> GroupedMatmulOp::decompose(OpBuilder &builder) {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  Type sumType = getComputeType({getInput(), getWeight()});
  if (!sumType)
    sumType = builder.getI32Type();
  Decomposer d(builder, getLoc(), sumType);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(d.b, shapes)))
    return failure();
  Type i32 = builder.getI32Type();
  Value rows = dyn_cast<Value>(shapes[0][0]);
  Value groups = RowGroupsOp::create(
      d.b, RankedTensorType::get({input.getDimSize(0)}, i32), getOffsets(),
      rows);

  auto widen = [&](Scalar x) {
    return x.isFloat() ? convertFloat(x, sumType) : convertInteger(x, sumType);
  };
  auto weight = cast<RankedTensorType>(getWeight().getType());
  bool isSingle = weight.getDimSize(0) == 1;
  Value sum;
  if (isSingle) {
    // All rows, of which those of no group are cleared below.
    SmallVector<int64_t> loops{2, 1};
    if (getTransposed())
      std::swap(loops[0], loops[1]);
    Value matrix = tensor::CollapseShapeOp::create(
        d.b, getWeight(), ArrayRef<ReassociationIndices>{{0, 1}, {2}});
    sum = d.reduce({d.along(getInput(), {0, 2}, 3), d.along(matrix, loops, 3)},
                   3, {0, 1}, shapes[0], Accumulation::Add,
                   [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
                     return widen(args[0]) * widen(args[1]);
                   });
  } else {
    // Loops are rows, columns, groups, depth. The condition stands outside of
    // the product: an infinity of another group times zero would be a NaN.
    SmallVector<int64_t> loops{2, 3, 1};
    if (getTransposed())
      std::swap(loops[1], loops[2]);
    sum = d.reduce({d.along(getInput(), {0, 3}, 4),
                    d.along(getWeight(), loops, 4), d.along(groups, {0}, 4)},
                   4, {0, 1}, shapes[0], Accumulation::Add,
                   [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
                     Scalar group = convertInteger(getLoopIndex(b, 2), i32);
                     Scalar product = widen(args[0]) * widen(args[1]);
                     return select(eq(args[2], group), product,
                                   product.constant(0));
                   });
  }
  bool clears = isSingle || getBias();
  if (!clears && result.getElementType() == sumType)
    return SmallVector<Value>{sum};

  SmallVector<LoopOperand> operands{d.along(sum)};
  if (clears)
    operands.push_back(d.along(groups, {0}, 2));
  OpFoldResult numGroups = d.getSize(getWeight(), 0);
  Value y = d.elementwise(
      operands, shapes[0], result.getElementType(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Scalar> args) {
        if (!clears)
          return args[0];
        Scalar count = convertInteger(d.getIndex(b, numGroups), i32);
        Scalar inside = lt(args[1], count);
        if (!getBias())
          return select(inside, args[0], args[0].constant(0));
        Scalar group = convertInteger(
            select(inside, args[1], args[1].constant(0)), b.getIndexType());
        Scalar bias = extract(b, getBias(), {group, Value(getLoopIndex(b, 1))});
        return select(inside, args[0] + widen(bias), args[0].constant(0));
      });
  return SmallVector<Value>{y};
}
