//===- RoundFactors.cpp - Factors of products as tf32 ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rounding to tf32 that a program allows: the unfused
// program, which bounds the error of the fused one, makes use of it.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Passes.h"

#include "fusion/Analysis/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_ROUNDFACTORSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;

/// `tensor`, of f32, with 10 bits of mantissa: to nearest, ties away from zero.
static Value roundToTF32(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  Value half = constant(1 << 12), mask = constant(-(1 << 13));
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  // Sizes are static by now.
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  return linalg::GenericOp::create(
             builder, loc, type, tensor, empty,
             ArrayRef<AffineMap>{identity, identity}, kinds,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               Type i32 = b.getI32Type();
               Value bits = arith::BitcastOp::create(b, loc, i32, arguments[0]);
               bits = arith::AddIOp::create(b, loc, bits, half);
               bits = arith::AndIOp::create(b, loc, bits, mask);
               Value rounded =
                   arith::BitcastOp::create(b, loc, b.getF32Type(), bits);
               linalg::YieldOp::create(b, loc, rounded);
             })
      .getResult(0);
}

namespace {
struct RoundFactorsPass : fusion::impl::RoundFactorsPassBase<RoundFactorsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1 &&
          fusion::allowsTF32(op))
        products.push_back(op);
    });
    for (linalg::LinalgOp op : products) {
      OpBuilder builder(op);
      for (OpOperand *input : op.getDpsInputOperands()) {
        auto type = dyn_cast<RankedTensorType>(input->get().getType());
        if (type && type.getElementType().isF32())
          input->set(roundToTF32(builder, op.getLoc(), input->get()));
      }
    }
  }
};
} // namespace
