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

/// True when elementwise operations and views lie between `value` and the
/// results of the function, and nothing else. A reshape may pass those; before
/// a reduction or a contraction it has to stay, whose loops it forms.
static bool endsInResults(Value value, llvm::SmallDenseSet<Operation *> &seen) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<func::ReturnOp>(user) || !seen.insert(user).second)
      return true;
    auto structured = dyn_cast<linalg::LinalgOp>(user);
    bool passes = (structured && linalg::isElementwise(structured)) ||
                  isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user);
    return passes && endsInResults(user->getResult(0), seen);
  });
}

/// True when `operand` is the joined form of a tensor in an elementwise
/// operation that may as well run on the tensor's own dimensions.
static bool joinsForElementwise(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!consumer || !linalg::isElementwise(consumer) ||
      consumer->getNumResults() != 1 ||
      !operand->get().getDefiningOp<tensor::CollapseShapeOp>())
    return false;
  llvm::SmallDenseSet<Operation *> seen;
  return endsInResults(consumer->getResult(0), seen);
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
