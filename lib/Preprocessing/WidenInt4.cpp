//===- WidenInt4.cpp - Tensors of i4 by bytes -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass after which only arguments and results of
// functions have elements of four bits.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_WIDENINT4PASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// True for tensors of i4.
static bool isInt4Tensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger(4);
}

/// A tensor type of bytes where `type` is one of i4.
static Type widen(Type type) {
  if (!isInt4Tensor(type))
    return type;
  return cast<RankedTensorType>(type).clone(
      IntegerType::get(type.getContext(), 8));
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

/// A generic of `sizes` without inputs whose elements `body` computes.
static Value
buildGeneric(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes,
             function_ref<Value(OpBuilder &, ValueRange indices)> body) {
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getI8Type());
  int64_t rank = sizes.size();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), ValueRange(), empty,
             builder.getMultiDimIdentityMap(rank), iterators,
             [&](OpBuilder &b, Location, ValueRange) {
               SmallVector<Value> indices;
               for (int64_t dim = 0; dim < rank; ++dim)
                 indices.push_back(linalg::IndexOp::create(b, loc, dim));
               linalg::YieldOp::create(b, loc, body(b, indices));
             })
      .getResult(0);
}

/// The type of the bytes of tensors of `type`.
static RankedTensorType getBytesType(RankedTensorType type) {
  int64_t bytes = type.hasStaticShape()
                      ? llvm::divideCeil(type.getNumElements(), 2)
                      : ShapedType::kDynamic;
  return RankedTensorType::get(bytes, IntegerType::get(type.getContext(), 8));
}

/// `value`, a tensor of any rank, as one of rank 1.
static Value flatten(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return value;
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(1, type.getElementType()), value,
        ArrayRef<ReassociationIndices>());
  SmallVector<ReassociationIndices> all(1);
  llvm::append_range(all.front(), llvm::seq<int64_t>(0, type.getRank()));
  return tensor::CollapseShapeOp::create(builder, loc, value, all);
}

/// The elements of `sizes` of i4 that `bytes` store, as i8.
static Value unpackBytes(OpBuilder &builder, Location loc, Value bytes,
                         ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> extents;
  for (OpFoldResult size : sizes)
    extents.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return buildGeneric(
      builder, loc, sizes, [&](OpBuilder &b, ValueRange indices) {
        Value position = arith::ConstantIndexOp::create(b, loc, 0);
        for (auto [index, extent] : llvm::zip_equal(indices, extents)) {
          position = arith::MulIOp::create(b, loc, position, extent);
          position = arith::AddIOp::create(b, loc, position, index);
        }
        Value two = arith::ConstantIndexOp::create(b, loc, 2);
        Value place = arith::DivUIOp::create(b, loc, position, two);
        Value byte = tensor::ExtractOp::create(b, loc, bytes, place);
        // The half wanted goes to the top and, with its sign, down again.
        Value half = arith::RemUIOp::create(b, loc, position, two);
        Value isHigh = arith::IndexCastOp::create(b, loc, b.getI8Type(), half);
        Value four = arith::ConstantIntOp::create(b, loc, 4, 8);
        Value skipped = arith::MulIOp::create(b, loc, isHigh, four);
        Value up = arith::SubIOp::create(b, loc, four, skipped);
        Value top = arith::ShLIOp::create(b, loc, byte, up);
        return arith::ShRSIOp::create(b, loc, top, four).getResult();
      });
}

/// The elements of `argument`, a tensor of i4, as i8.
static Value unpack(OpBuilder &builder, Value argument) {
  Location loc = argument.getLoc();
  auto type = cast<RankedTensorType>(argument.getType());
  Value bytes = Int4BytesOp::create(builder, loc, getBytesType(type), argument);
  return unpackBytes(builder, loc, bytes,
                     tensor::getMixedSizes(builder, loc, argument));
}

/// The bytes that store `value`, a tensor of i8, as the elements of `type`, of
/// i4.
static Value packBytes(OpBuilder &builder, Location loc, Value value,
                       RankedTensorType type) {
  Value flat = flatten(builder, loc, value);
  bool isEven = type.hasStaticShape() && type.getNumElements() % 2 == 0;
  RankedTensorType bytesType = getBytesType(type);
  Value count = tensor::DimOp::create(builder, loc, flat, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value two = arith::ConstantIndexOp::create(builder, loc, 2);
  OpFoldResult numBytes = builder.getIndexAttr(bytesType.getDimSize(0));
  if (bytesType.isDynamicDim(0))
    numBytes = arith::CeilDivUIOp::create(builder, loc, count, two).getResult();
  return buildGeneric(
      builder, loc, numBytes, [&](OpBuilder &b, ValueRange indices) {
        Value first = arith::MulIOp::create(b, loc, indices[0], two);
        Value second = arith::AddIOp::create(b, loc, first, one);
        Value low = tensor::ExtractOp::create(b, loc, flat, first);
        Value at = second;
        if (!isEven) {
          Value last = arith::SubIOp::create(b, loc, count, one);
          at = arith::MinUIOp::create(b, loc, second, last);
        }
        Value high = tensor::ExtractOp::create(b, loc, flat, at);
        Value mask = arith::ConstantIntOp::create(b, loc, 15, 8);
        Value four = arith::ConstantIntOp::create(b, loc, 4, 8);
        Value lowHalf = arith::AndIOp::create(b, loc, low, mask);
        Value highHalf = arith::ShLIOp::create(b, loc, high, four);
        return arith::OrIOp::create(b, loc, lowHalf, highHalf).getResult();
      });
}

/// `value`, a tensor of i8, as the tensor of i4 of type `type`.
static Value pack(OpBuilder &builder, Location loc, Value value,
                  RankedTensorType type) {
  SmallVector<Value> dynamicSizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      dynamicSizes.push_back(tensor::DimOp::create(builder, loc, value, dim));
  Value bytes = packBytes(builder, loc, value, type);
  return Int4ElementsOp::create(builder, loc, type, bytes, dynamicSizes);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The i8 form of a constant; null if its elements are not known.
static Attribute widenConstant(Attribute value) {
  auto signExtend = [](const APInt &element) {
    return element.trunc(4).sext(8);
  };
  Type byte = IntegerType::get(value.getContext(), 8);
  if (auto dense = dyn_cast<DenseIntElementsAttr>(value))
    return dense.mapValues(byte, signExtend);
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource)
    return {};
  // Stored a byte an element.
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  ShapedType type = resource.getType().clone(byte);
  bool isSplat = false;
  if (!blob ||
      !DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
    return {};
  auto raw = DenseElementsAttr::getFromRawBuffer(type, blob->getData());
  return cast<DenseIntElementsAttr>(raw).mapValues(byte, signExtend);
}

/// `value`, an i4, as an i8.
static Value extend(OpBuilder &builder, Location loc, Value value) {
  if (!value.getType().isInteger(4))
    return value;
  return arith::ExtSIOp::create(builder, loc, builder.getI8Type(), value);
}

/// Extends what the terminator of `block` yields.
static void extendYield(Block &block) {
  Operation *yield = block.getTerminator();
  OpBuilder builder(yield);
  for (OpOperand &operand : yield->getOpOperands())
    operand.set(extend(builder, yield->getLoc(), operand.get()));
}

/// Lets the body of `op` read and yield i8 where its tensors are of i4.
static void widenBody(linalg::GenericOp op) {
  Block *body = op.getBody();
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  for (auto [operand, argument] :
       llvm::zip_equal(op->getOperands(), body->getArguments())) {
    if (!isa<RankedTensorType>(operand.getType()) ||
        !argument.getType().isInteger(4))
      continue;
    Type narrow = argument.getType();
    argument.setType(builder.getI8Type());
    auto truncated =
        arith::TruncIOp::create(builder, op.getLoc(), narrow, argument);
    argument.replaceAllUsesExcept(truncated, truncated);
  }
  extendYield(*body);
}

/// What takes the place of `op`, a view of the memory of elements of i4, now
/// that they are of i8; null if it is another op, or the view of an argument.
static Value widenView(OpBuilder &builder, Operation *op) {
  if (auto bytes = dyn_cast<Int4BytesOp>(op)) {
    auto type = cast<RankedTensorType>(bytes.getInput().getType());
    return isInt4Tensor(type)
               ? Value()
               : packBytes(builder, op->getLoc(), bytes.getInput(),
                           type.clone(builder.getIntegerType(4)));
  }
  auto elements = dyn_cast<Int4ElementsOp>(op);
  if (!elements)
    return {};
  return unpackBytes(builder, op->getLoc(), elements.getBytes(),
                     getMixedValues(elements.getType().getShape(),
                                    elements.getSizes(), builder));
}

/// Makes `op` an operation on tensors of i8.
static LogicalResult widenOp(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  // A result of the function stays as it is.
  if (isa<Int4ElementsOp>(op) &&
      llvm::all_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>))
    return success();
  if (Value wide = widenView(builder, op)) {
    op->getResult(0).replaceAllUsesWith(wide);
    op->erase();
    return success();
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    if (!isInt4Tensor(fill.getType(0)))
      return success();
    // The destination is of i8 by now.
    Value scalar = extend(builder, loc, fill.getInputs().front());
    auto wide =
        linalg::FillOp::create(builder, loc, scalar, fill.getOutputs().front());
    fill->getResult(0).replaceAllUsesWith(wide.getResult(0));
    fill.erase();
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (!extract.getType().isInteger(4))
      return success();
    Value result = extract.getResult();
    builder.setInsertionPointAfter(op);
    auto truncated = arith::TruncIOp::create(builder, loc,
                                             builder.getIntegerType(4), result);
    result.replaceAllUsesExcept(truncated, truncated);
    result.setType(builder.getI8Type());
    return success();
  }
  if (llvm::none_of(op->getResultTypes(), isInt4Tensor) &&
      llvm::none_of(op->getOperandTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return tensor && tensor.getElementType().isInteger(8);
      }))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute value = widenConstant(constant.getValue());
    if (!value)
      return emitCodedError(loc, ErrorCode::UnsupportedType,
                            "the elements of a constant of i4 are not known",
                            "write it as a dense constant");
    constant.setValueAttr(cast<TypedAttr>(value));
  } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    widenBody(generic);
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    extendYield(*pad.getBody());
  }
  for (OpResult result : op->getResults())
    result.setType(widen(result.getType()));
  return success();
}

namespace {
struct WidenInt4Pass : public fusion::impl::WidenInt4PassBase<WidenInt4Pass> {
  using Base::Base;

  void runOnOperation() override;

private:
  /// False, with an error, if there is an op on i4 that has no form on bytes.
  LogicalResult check();
  void widenArguments();
  void packResults();
};
} // namespace

LogicalResult WidenInt4Pass::check() {
  WalkResult walk = getOperation().walk([](Operation *op) {
    bool isOnInt4 = llvm::any_of(op->getOperandTypes(), isInt4Tensor) ||
                    llvm::any_of(op->getResultTypes(), isInt4Tensor);
    if (!isOnInt4 || !isa<ScanOp, KernelOp>(op))
      return WalkResult::advance();
    (void)emitCodedError(op->getLoc(), ErrorCode::UnsupportedType,
                         "'" + op->getName().getStringRef() +
                             "' cannot take tensors of i4",
                         "extend the elements to i8");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

void WidenInt4Pass::widenArguments() {
  Block &block = getOperation().getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (BlockArgument argument : block.getArguments()) {
    if (!isInt4Tensor(argument.getType()))
      continue;
    // Sizes are asked of the argument itself.
    auto isReader = [](OpOperand &use) {
      return !isa<tensor::DimOp, func::ReturnOp>(use.getOwner());
    };
    if (llvm::none_of(argument.getUses(), isReader))
      continue;
    Operation *first = &block.front();
    builder.setInsertionPoint(first);
    Value wide = unpack(builder, argument);
    argument.replaceUsesWithIf(wide, [&](OpOperand &use) {
      return isReader(use) && !isa<Int4BytesOp>(use.getOwner());
    });
  }
}

void WidenInt4Pass::packResults() {
  Operation *terminator = getOperation().getBody().front().getTerminator();
  OpBuilder builder(terminator);
  for (auto [operand, type] :
       llvm::zip_equal(terminator->getOpOperands(),
                       getOperation().getFunctionType().getResults()))
    if (operand.get().getType() != type)
      operand.set(pack(builder, terminator->getLoc(), operand.get(),
                       cast<RankedTensorType>(type)));
}

void WidenInt4Pass::runOnOperation() {
  auto hasInt4 = [](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), isInt4Tensor) ||
                   llvm::any_of(op->getResultTypes(), isInt4Tensor)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  if (!getOperation().walk(hasInt4).wasInterrupted())
    return markAllAnalysesPreserved();
  if (failed(check()))
    return signalPassFailure();
  SmallVector<Operation *> ops;
  getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != getOperation())
      ops.push_back(op);
    // Replaced as a whole.
    return isa<linalg::FillOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  widenArguments();
  for (Operation *op : ops)
    if (failed(widenOp(op)))
      return signalPassFailure();
  packResults();
}
