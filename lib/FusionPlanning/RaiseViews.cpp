//===- RaiseViews.cpp - Kernels of the views that they take ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that takes reshapes of operands before kernels.
// Planning moves reshapes behind pointwise operations, off the edges of fusion.
// Where a kernel begins with such an operation, what it reads along one of its
// loops is found at quotients and remainders then, and neighbours along it are
// not read as neighbours:
//
//   kernel(x) { reduce(expand(extf x)) }  ==>  kernel(expand(x)) { reduce(extf)
//   }
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_RAISEVIEWSPASS
#include "fusion/FusionPlanning/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

static bool isReshape(Operation *op) {
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

/// True when `value` is an operand of the kernel, or a view of one, that `op`
/// alone reads. What others read without the reshape would be two operands,
/// whose dimensions nothing relates.
static bool isOwnOperand(Value value, Operation *op) {
  while (isReshape(value.getDefiningOp())) {
    op = value.getDefiningOp();
    value = op->getOperand(0);
  }
  return isa<BlockArgument>(value) &&
         llvm::all_of(value.getUsers(),
                      [&](Operation *user) { return user == op; });
}

/// True when a reshape is all that uses what a pointwise operation computes of
/// operands of the kernel.
static bool shouldRaise(OpOperand *operand) {
  auto op = operand->get().getDefiningOp<linalg::GenericOp>();
  return op && isReshape(operand->getOwner()) && op->hasOneUse() &&
         op.getNumReductionLoops() == 0 &&
         llvm::all_of(op.getDpsInputs(), [&](Value input) {
           return !isa<RankedTensorType>(input.getType()) ||
                  isOwnOperand(input, op);
         });
}

/// Takes the reshapes that alone read operand `number` of `kernel` before it.
static void takeOutside(KernelOp kernel, unsigned number) {
  OpOperand &operand = kernel.getInputsMutable()[number];
  BlockArgument argument = kernel.getBlock().getArgument(number);
  while (argument.hasOneUse() && isReshape(*argument.user_begin())) {
    Operation *reshape = *argument.user_begin();
    auto type = cast<RankedTensorType>(reshape->getResult(0).getType());
    if (!type.hasStaticShape())
      return;
    OpBuilder builder(kernel);
    Operation *outside = builder.clone(*reshape);
    outside->setOperand(0, operand.get());
    operand.set(outside->getResult(0));
    argument.setType(type);
    reshape->getResult(0).replaceAllUsesWith(argument);
    reshape->erase();
  }
}

static void raiseViews(KernelOp kernel) {
  auto ops = kernel.getBlock().getOps<linalg::LinalgOp>();
  // Kernels without reductions walk the dimensions of their results, and
  // products are scheduled along the dimensions that they have.
  if (kernel.getScheduleAttr() || llvm::any_of(ops, isContraction) ||
      llvm::none_of(ops, [](linalg::LinalgOp op) {
        return op.getNumReductionLoops() != 0;
      }))
    return;
  RewritePatternSet patterns(kernel.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldRaise);
  linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, shouldRaise);
  // Destinations get reshapes by that, which would keep dimensions apart.
  tensor::populateFoldTensorEmptyPatterns(patterns);
  (void)applyPatternsGreedily(
      kernel.getBody(), std::move(patterns),
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled));
  for (unsigned number = 0; number < kernel.getInputs().size(); ++number)
    takeOutside(kernel, number);
}

namespace {
class RaiseViewsPass
    : public mlir::fusion::impl::RaiseViewsPassBase<RaiseViewsPass> {
public:
  using Base::Base;
  void runOnOperation() override { getOperation()->walk(raiseViews); }
};
} // namespace
