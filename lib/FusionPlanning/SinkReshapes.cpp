//===- SinkReshapes.cpp - Move reshapes off the edges of fusion -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the sinking of reshapes. A reduction or contraction is
// evaluated along its own dimensions only; a reshape between it and a pointwise
// user would split or join them. The user works as well on the shape before
// the reshape, which then follows it:
//
//   collapse(reduction-chain) -> silu   ==>   silu' -> collapse
//   expand(matmul) -> add               ==>   add' -> expand
//
// So does what works on split dimensions that are joined again.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations looked at on the way from a reshape back to a reduction.
static constexpr unsigned kMaxVisited = 64;

static bool isPointwise(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() == 0;
}

/// True when `value` is computed by a reduction or contraction and pointwise
/// operations after it, all of the same shape or broadcast to it.
static bool comesFromReduction(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty() && seen.size() < kMaxVisited) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || isFreeOp(op) || !seen.insert(op).second)
      continue;
    if (isPointwise(op))
      llvm::append_range(worklist, cast<linalg::LinalgOp>(op).getDpsInputs());
    else if (isa<linalg::LinalgOp>(op))
      return true;
  }
  return false;
}

/// True when two reshapes group dimensions in the same way.
static bool isSameReshape(Operation *a, Operation *b) {
  if (auto expandA = dyn_cast<tensor::ExpandShapeOp>(a)) {
    auto expandB = dyn_cast_if_present<tensor::ExpandShapeOp>(b);
    return expandB &&
           expandA.getReassociation() == expandB.getReassociation() &&
           expandA.getSrcType().getShape() == expandB.getSrcType().getShape();
  }
  auto collapseA = cast<tensor::CollapseShapeOp>(a);
  auto collapseB = dyn_cast_if_present<tensor::CollapseShapeOp>(b);
  return collapseB &&
         collapseA.getReassociation() == collapseB.getReassociation() &&
         collapseA.getSrcType().getShape() == collapseB.getSrcType().getShape();
}

/// True when `reshape` only adds or drops dimensions of size 1: those split
/// nothing.
static bool isUnitReshape(Operation *reshape) {
  auto groups =
      isa<tensor::ExpandShapeOp>(reshape)
          ? cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices()
          : cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices();
  Value wide = isa<tensor::ExpandShapeOp>(reshape) ? reshape->getResult(0)
                                                   : reshape->getOperand(0);
  auto type = cast<RankedTensorType>(wide.getType());
  return llvm::all_of(groups, [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return type.getDimSize(dim) != 1;
           }) <= 1;
  });
}

/// Does `op` undo `expand`?
static bool undoes(Operation *op, tensor::ExpandShapeOp expand) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  return collapse && expand.getReassociation() == collapse.getReassociation() &&
         expand.getResultType().getShape() == collapse.getSrcType().getShape();
}

/// Does `user` read nothing but tensors that `reshape`, which splits
/// dimensions, and its like give, so that it would do without them, and are the
/// dimensions of what is computed from it pointwise joined again?
static bool isUndone(linalg::LinalgOp user, Operation *reshape) {
  auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape);
  if (!expand)
    return false;
  if (!llvm::all_of(user.getDpsInputs(), [&](Value input) {
        Operation *def = input.getDefiningOp();
        return !isa<RankedTensorType>(input.getType()) ||
               (def && (def == reshape || isSameReshape(reshape, def)));
      }))
    return false;
  SmallVector<Operation *> worklist = {user};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty() && seen.size() < kMaxVisited) {
    Operation *op = worklist.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    for (Operation *next : op->getUsers()) {
      if (undoes(next, expand))
        return true;
      if (isPointwise(next) && !isa<linalg::FillOp>(next))
        worklist.push_back(next);
    }
  }
  return false;
}

/// Should the reshape that `operand` reads follow its user instead?
static bool shouldSink(OpOperand *operand) {
  Operation *user = operand->getOwner();
  Operation *reshape = operand->get().getDefiningOp();
  if (!reshape || !isPointwise(user) ||
      !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape) ||
      isUnitReshape(reshape))
    return false;
  bool isComputed = comesFromReduction(reshape->getOperand(0));
  if (!isComputed && !isUndone(cast<linalg::LinalgOp>(user), reshape))
    return false;
  // The rewriting would lose them.
  if (hasContract(user))
    return false;
  // Another operand that is a reduction's own would then be read reshaped.
  for (Value other : cast<linalg::LinalgOp>(user).getDpsInputs()) {
    Operation *def = other.getDefiningOp();
    if (other == operand->get() || (def && isSameReshape(reshape, def)))
      continue;
    if (comesFromReduction(other))
      return false;
  }
  return true;
}

void mlir::fusion::sinkReshapes(FunctionOpInterface func) {
  RewritePatternSet patterns(func.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldSink);
  linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, shouldSink);
  // What two of them that meet come to.
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns,
                                                     func.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                       func.getContext());
  (void)applyPatternsGreedily(
      func, std::move(patterns),
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled));
}
