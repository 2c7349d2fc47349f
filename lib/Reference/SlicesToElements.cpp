//===- SlicesToElements.cpp - Slices wherever they are --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements slices whose positions only the run knows, for the
// reference. Such a slice may reach outside of its tensor, where buffers would
// end: every element asks where it is.
//
//===----------------------------------------------------------------------===//

#include "SlicesToElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when a position of `slice` is no constant, and all sizes are.
static bool isAtRunTime(OffsetSizeAndStrideOpInterface slice) {
  auto isConstant = [](OpFoldResult value) {
    return getConstantIntValue(value).has_value();
  };
  return !llvm::all_of(slice.getMixedOffsets(), isConstant) &&
         llvm::all_of(slice.getMixedSizes(), isConstant) &&
         llvm::all_of(slice.getMixedStrides(), isConstant);
}

/// A tensor of `type`, whose elements `element` computes from their places.
static Value
buildElements(PatternRewriter &rewriter, Location loc, RankedTensorType type,
              function_ref<Value(OpBuilder &, ValueRange)> element) {
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, type, ValueRange(), empty, map, loops,
      [&](OpBuilder &b, Location, ValueRange) {
        SmallVector<Value> place;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          place.push_back(linalg::IndexOp::create(b, loc, dim));
        linalg::YieldOp::create(b, loc, element(b, place));
      });
  return generic.getResult(0);
}

namespace {
/// The places of a slice, and whether they exist.
class Places {
public:
  Places(OpBuilder &b, Location loc)
      : b(b), loc(loc), exists(arith::ConstantIntOp::create(b, loc, 1, 1)) {}

  Value index(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  }
  /// Adds a dimension; as unsigned numbers, what is negative is too large.
  void add(Value place, int64_t size) {
    require(arith::CmpIPredicate::ult, place,
            arith::ConstantIndexOp::create(b, loc, size));
    places.push_back(place);
  }
  void require(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    exists = arith::AndIOp::create(
        b, loc, exists, arith::CmpIOp::create(b, loc, predicate, lhs, rhs));
  }
  void drop() { places.pop_back(); }
  /// The element of `tensor` there, or `otherwise`.
  Value read(Value tensor, Value otherwise) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    for (Value &place : places)
      place = arith::SelectOp::create(b, loc, exists, place, zero);
    Value element = tensor::ExtractOp::create(b, loc, tensor, places);
    return arith::SelectOp::create(b, loc, exists, element, otherwise);
  }

private:
  OpBuilder &b;
  Location loc;
  Value exists;
  SmallVector<Value> places;
};

struct ExtractByElement : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isAtRunTime(op) || !op.getSourceType().hasStaticShape() ||
        !op.getType().hasStaticShape() ||
        op.getSourceType().getNumElements() == 0)
      return failure();
    Location loc = op.getLoc();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    auto element = [&](OpBuilder &b, ValueRange at) {
      Places places(b, loc);
      for (unsigned dim = 0; dim < dropped.size(); ++dim) {
        Value place = places.index(op.getMixedOffsets()[dim]);
        if (!dropped.test(dim)) {
          Value stride = places.index(op.getMixedStrides()[dim]);
          place = arith::AddIOp::create(
              b, loc, place, arith::MulIOp::create(b, loc, at.front(), stride));
          at = at.drop_front();
        }
        places.add(place, op.getSourceType().getDimSize(dim));
      }
      Value zero = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(op.getType().getElementType()));
      return places.read(op.getSource(), zero);
    };
    rewriter.replaceOp(op, buildElements(rewriter, loc, op.getType(), element));
    return success();
  }
};

struct InsertByElement : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isAtRunTime(op) || !op.getSourceType().hasStaticShape() ||
        !op.getType().hasStaticShape())
      return failure();
    if (op.getSourceType().getNumElements() == 0) {
      rewriter.replaceOp(op, op.getDest());
      return success();
    }
    Location loc = op.getLoc();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    auto element = [&](OpBuilder &b, ValueRange at) {
      Places places(b, loc);
      for (unsigned dim = 0; dim < dropped.size(); ++dim) {
        Value stride = places.index(op.getMixedStrides()[dim]);
        Value distance = arith::SubIOp::create(
            b, loc, at[dim], places.index(op.getMixedOffsets()[dim]));
        Value place = arith::DivUIOp::create(b, loc, distance, stride);
        places.require(arith::CmpIPredicate::eq, distance,
                       arith::MulIOp::create(b, loc, place, stride));
        places.add(place, *getConstantIntValue(op.getMixedSizes()[dim]));
        if (dropped.test(dim))
          places.drop();
      }
      return places.read(op.getSource(),
                         tensor::ExtractOp::create(b, loc, op.getDest(), at));
    };
    rewriter.replaceOp(op, buildElements(rewriter, loc, op.getType(), element));
    return success();
  }
};
} // namespace

void mlir::fusion::populateSlicesToElements(RewritePatternSet &patterns) {
  patterns.add<ExtractByElement, InsertByElement>(patterns.getContext());
}
