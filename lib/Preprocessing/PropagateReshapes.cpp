//===- PropagateReshapes.cpp - Moves reshapes past elementwise operations -===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that sinks reshapes which join dimensions below
// the elementwise operations that use them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_PROPAGATERESHAPESPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-input-propagate-reshapes"

using namespace mlir;
using namespace mlir::fusion;

/// True when `operand` is the joined form of a tensor in an elementwise
/// operation: the operation may then run on the tensor's own dimensions.
/// Reductions and contractions stay: more loops would hide their form.
static bool joinsForElementwise(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  return consumer && linalg::isElementwise(consumer) &&
         operand->get().getDefiningOp<tensor::CollapseShapeOp>();
}

namespace {
class PropagateReshapesPass
    : public fusion::impl::PropagateReshapesPassBase<PropagateReshapesPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                      joinsForElementwise);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                         &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
