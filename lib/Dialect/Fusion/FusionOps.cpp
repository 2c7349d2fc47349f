//===- FusionOps.cpp - Structural operations of the fusion dialect --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion.kernel and fusion.yield.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "DecomposeActivation.h"
#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fusion;

#include "fusion/Dialect/Fusion/FusionInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "fusion/Dialect/Fusion/FusionOps.cpp.inc"

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state,
                     StringRef kernelName, TypeRange resultTypes,
                     ValueRange inputs) {
  OpBuilder::InsertionGuard guard(builder);
  state.addOperands(inputs);
  state.addTypes(resultTypes);
  state.getOrAddProperties<Properties>().kernel_name =
      builder.getStringAttr(kernelName);
  SmallVector<Location> locs(inputs.size(), state.location);
  builder.createBlock(state.addRegion(), {}, inputs.getTypes(), locs);
}

YieldOp KernelOp::getYield() {
  return cast<YieldOp>(getBlock().getTerminator());
}

Value KernelOp::getStored(Value yielded) {
  auto insert = yielded.getDefiningOp<tensor::InsertSliceOp>();
  if (insert && insert->hasAttr(FusionDialect::kInPlaceAttrName))
    return insert.getSource();
  return yielded;
}

SmallVector<Value> KernelOp::getStoredValues() {
  return llvm::map_to_vector(getYield().getValues(), getStored);
}

LogicalResult KernelOp::verify() {
  if (getKernelName().empty())
    return emitOpError("has an empty name");
  if (getNumResults() == 0)
    return emitOpError("must have at least one result");
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  Block &block = getBlock();
  if (failed(verifyKernelInputs(*this, getInputs(), block)))
    return failure();

  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError() << "must end in 'fusion.yield', found '"
                         << block.getTerminator()->getName() << "'";
  if (yield.getValues().size() != getNumResults())
    return emitOpError() << "has " << getNumResults()
                         << " results but its body yields "
                         << yield.getValues().size() << " values";
  for (auto [index, value, result] :
       llvm::enumerate(yield.getValues(), getResults()))
    if (value.getType() != result.getType())
      return emitOpError() << "result #" << index << " has type "
                           << result.getType() << " but the body yields "
                           << value.getType();
  return success();
}

LogicalResult KernelOp::canonicalize(KernelOp op, PatternRewriter &rewriter) {
  // Drops inputs that the body does not use, and all but the first of equal
  // ones: each is a parameter of the GPU kernel.
  Block &block = op.getBlock();
  llvm::BitVector dropped(block.getNumArguments());
  llvm::SmallDenseMap<Value, BlockArgument> first;
  for (auto [input, argument] :
       llvm::zip_equal(op.getInputs(), block.getArguments())) {
    auto [entry, isNew] = first.try_emplace(input, argument);
    if (!isNew)
      rewriter.replaceAllUsesWith(argument, entry->second);
  }
  for (BlockArgument argument : block.getArguments())
    if (argument.use_empty())
      dropped.set(argument.getArgNumber());
  if (dropped.none())
    return rewriter.notifyMatchFailure(op, "every input is needed");
  rewriter.modifyOpInPlace(op, [&]() {
    block.eraseArguments(dropped);
    op->eraseOperands(dropped);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes of a kernel's results
//===----------------------------------------------------------------------===//

namespace {
/// Rebuilds, outside a kernel, the sizes that its body computes. Only index
/// arithmetic is copied; tensors are reached through their dimensions.
class ShapeCloner {
public:
  ShapeCloner(OpBuilder &builder, KernelOp kernel)
      : builder(builder), loc(kernel.getLoc()) {
    map.map(kernel.getBlock().getArguments(), kernel.getInputs());
  }

  /// The size of dimension `dim` of `tensor`, a value of the body.
  FailureOr<OpFoldResult> getDim(Value tensor, int64_t dim);

private:
  /// The value outside the kernel that equals `value`, a scalar of the body.
  FailureOr<Value> getScalar(Value value);
  FailureOr<OpFoldResult> getScalar(OpFoldResult value);
  /// True when `op` can be copied outside with its operands mapped.
  static bool isIndexArithmetic(Operation *op);

  OpBuilder &builder;
  Location loc;
  IRMapping map;
};
} // namespace

bool ShapeCloner::isIndexArithmetic(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         op->getResult(0).getType().isIntOrIndex() && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return type.isIntOrIndex(); });
}

FailureOr<Value> ShapeCloner::getScalar(Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return failure();
  if (auto dimOp = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dimOp.getConstantIndex();
    if (!index)
      return failure();
    FailureOr<OpFoldResult> size = getDim(dimOp.getSource(), *index);
    if (failed(size))
      return failure();
    return getValueOrCreateConstantIndexOp(builder, loc, *size);
  }
  if (!isIndexArithmetic(op))
    return failure();
  for (Value operand : op->getOperands()) {
    FailureOr<Value> mapped = getScalar(operand);
    if (failed(mapped))
      return failure();
    map.map(operand, *mapped);
  }
  return builder.clone(*op, map)->getResult(0);
}

FailureOr<OpFoldResult> ShapeCloner::getScalar(OpFoldResult value) {
  if (isa<Attribute>(value))
    return value;
  FailureOr<Value> mapped = getScalar(cast<Value>(value));
  if (failed(mapped))
    return failure();
  return OpFoldResult(*mapped);
}

FailureOr<OpFoldResult> ShapeCloner::getDim(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (dim < 0 || dim >= type.getRank())
    return failure();
  if (!type.isDynamicDim(dim))
    return OpFoldResult(builder.getIndexAttr(type.getDimSize(dim)));
  if (Value known = map.lookupOrNull(tensor))
    return tensor::getMixedSize(builder, loc, known, dim);
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return failure();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return getScalar(empty.getMixedSizes()[dim]);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return getDim(cast.getSource(), dim);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    // Dropped unit dimensions shift the result's dimensions to the left.
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
    int64_t position = -1;
    for (auto [index, size] : llvm::enumerate(sizes))
      if (!dropped.test(index) && ++position == dim)
        return getScalar(size);
    return failure();
  }
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    if (OpOperand *init = destination.getTiedOpOperand(cast<OpResult>(tensor)))
      return getDim(init->get(), dim);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getScalar(expand.getMixedOutputShape()[dim]);
  return failure();
}

LogicalResult KernelOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  ShapeCloner cloner(builder, *this);
  for (Value yielded : getYield().getValues()) {
    SmallVector<OpFoldResult> shape;
    int64_t rank = cast<RankedTensorType>(yielded.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      FailureOr<OpFoldResult> size = cloner.getDim(yielded, dim);
      // The interface marks a size that is out of reach by a null result.
      shape.push_back(failed(size) ? OpFoldResult() : *size);
    }
    shapes.push_back(std::move(shape));
  }
  return success();
}
