//===- Decompose.cpp - Fusion ops to linalg -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that replaces fusion ops by what they mean in
// linalg.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionInterfaces.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Copies the contracts of `op` to the ops built for it between `begin` and the
/// op: what must not be split or shared is the whole of its meaning.
static void copyContracts(Operation *op, Operation *before) {
  SmallVector<NamedAttribute> contracts;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    contracts.push_back(attribute);
  if (contracts.empty())
    return;
  Operation *current =
      before ? before->getNextNode() : &op->getBlock()->front();
  for (; current != op; current = current->getNextNode())
    if (isa<linalg::LinalgOp>(current))
      for (NamedAttribute attribute : contracts)
        current->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

LogicalResult fusion::decomposeFusionOps(Operation *root, bool all) {
  SmallVector<DecomposeInterface> ops;
  auto collect = [&] {
    ops.clear();
    root->walk([&](DecomposeInterface op) {
      if (all || op.isDecomposedOnInput())
        ops.push_back(op);
    });
    return !ops.empty();
  };
  // Decompositions may make ops that have one of their own.
  while (collect())
    for (DecomposeInterface op : ops) {
      OpBuilder builder(op);
      Operation *before = op->getPrevNode();
      FailureOr<SmallVector<Value>> values = op.decompose(builder);
      if (failed(values))
        return op.emitOpError("cannot be decomposed");
      copyContracts(op, before);
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
        Value replacement = value;
        if (value.getType() != result.getType())
          replacement = tensor::CastOp::create(builder, op.getLoc(),
                                               result.getType(), value);
        result.replaceAllUsesWith(replacement);
      }
      op->erase();
    }
  return success();
}

/// Makes `op` a fusion.softmax, of f32 where its elements are f8, which that op
/// does not have.
static LogicalResult nameSoftmax(linalg::SoftmaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type)
    return success();
  if (!isa<FloatType>(type.getElementType()))
    return op.emitOpError("needs floats, got ") << type.getElementType();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  bool isWidened = type.getElementTypeBitWidth() < 16;
  Value value = op.getInput();
  if (isWidened)
    value = arith::ExtFOp::create(builder, loc,
                                  type.clone(builder.getF32Type()), value);
  auto softmax = SoftmaxOp::create(builder, loc, value.getType(), value,
                                   static_cast<int64_t>(op.getDimension()));
  softmax->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  value = softmax;
  if (isWidened)
    value = arith::TruncFOp::create(builder, loc, type, value);
  Value result = op->getResult(0);
  if (value.getType() != result.getType())
    value = tensor::CastOp::create(builder, loc, result.getType(), value);
  result.replaceAllUsesWith(value);
  op->erase();
  return success();
}

LogicalResult fusion::nameSoftmaxOps(Operation *root) {
  WalkResult result = root->walk([](linalg::SoftmaxOp op) {
    return failed(nameSoftmax(op)) ? WalkResult::interrupt()
                                   : WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct DecomposePass : public fusion::impl::DecomposePassBase<DecomposePass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(nameSoftmaxOps(getOperation())) ||
        failed(decomposeFusionOps(getOperation(), all)))
      signalPassFailure();
  }
};
} // namespace
