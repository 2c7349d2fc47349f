//===- LowerTosaExtrema.cpp - Maxima and minima of TOSA -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lowers the maxima and minima of TOSA along
// a dimension. Upstream begins them with the largest finite number: a maximum
// of minus infinities would be that number, and no analysis of reductions knows
// what begins with anything but the identity.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Slices.h"
#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_LOWERTOSAEXTREMAPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// `op` as a reduction that combines by `Combine`, or by `IgnoringNaN` where it
/// says so, and begins with minus infinity if `isMaximum`.
template <typename Combine, typename IgnoringNaN, typename Op>
static void lowerExtremum(Op op, bool isMaximum) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto resultType = dyn_cast<RankedTensorType>(op.getResult().getType());
  FloatType element =
      type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
  if (!element || !resultType)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t axis = op.getAxis();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, op.getInput());
  llvm::SmallBitVector dropped(type.getRank());
  dropped.set(axis);
  SmallVector<OpFoldResult> kept(sizes);
  kept.erase(kept.begin() + axis);
  sizes[axis] = b.getIndexAttr(1);
  Value identity = arith::ConstantOp::create(
      b, loc,
      FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics(),
                                              /*Negative=*/isMaximum)));
  Value empty = tensor::EmptyOp::create(b, loc, kept, element);
  Value init = linalg::FillOp::create(b, loc, identity, empty).getResult(0);
  bool ignores = op.getNanMode() == tosa::NanPropagationMode::IGNORE;
  Value reduced =
      linalg::ReduceOp::create(
          b, loc, op.getInput(), init, ArrayRef<int64_t>{axis},
          [&](OpBuilder &inner, Location at, ValueRange arguments) {
            Value both;
            if (ignores)
              both = IgnoringNaN::create(inner, at, arguments[0], arguments[1]);
            else
              both = Combine::create(inner, at, arguments[0], arguments[1]);
            linalg::YieldOp::create(inner, at, both);
          })
          .getResult(0);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  Value expanded = tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, element), reduced,
      groupByKept(dropped), sizes);
  op.getResult().replaceAllUsesWith(
      b.createOrFold<tensor::CastOp>(loc, resultType, expanded));
  op.erase();
}

namespace {
struct LowerTosaExtremaPass
    : public fusion::impl::LowerTosaExtremaPassBase<LowerTosaExtremaPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto maximum = dyn_cast<tosa::ReduceMaxOp>(op))
        lowerExtremum<arith::MaximumFOp, arith::MaxNumFOp>(maximum, true);
      else if (auto minimum = dyn_cast<tosa::ReduceMinOp>(op))
        lowerExtremum<arith::MinimumFOp, arith::MinNumFOp>(minimum, false);
    });
  }
};
} // namespace
