//===- RaiseReshapes.cpp - Contractions along the dimensions of users -----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the raising of reshapes. Behind a reshape that splits a
// contraction's dimensions, a user may read a vector along one of them, or put
// them into another order: nothing that could be done before the reshape. Then
// the contraction is made along the split dimensions itself:
//
//   transpose(expand(matmul(x, w)))  ==>
//   transpose(matmul'(expand(x), expand(w)))
//
// So are the parts of a concatenation, as of a stack of tensors, before what
// puts them into another order.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations looked at on the way to or from a reshape.
static constexpr unsigned kMaxVisited = 64;

static bool isPointwise(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && !isa<linalg::FillOp>(op) &&
         linalgOp.getNumReductionLoops() == 0 && linalgOp.getNumDpsInits() == 1;
}

static bool isContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && sumsProducts(linalgOp);
}

/// True when what `expand` splits is a contraction's result, or computed from
/// it by pointwise operations, and nothing else reads what they compute: all
/// are split then, and nothing is computed twice.
static bool comesFromContraction(tensor::ExpandShapeOp expand) {
  Operation *contraction = nullptr;
  llvm::SetVector<Operation *> chain;
  SmallVector<Value> worklist = {expand.getSrc()};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || chain.size() == kMaxVisited)
      return false;
    if (!chain.insert(op))
      continue;
    if (isContraction(op)) {
      if (contraction)
        return false;
      contraction = op;
      continue;
    }
    if (!isPointwise(op))
      return false;
    bool isOfOthers = false;
    for (Value input : cast<linalg::LinalgOp>(op).getDpsInputs())
      if (Operation *def = input.getDefiningOp();
          def && !isFreeOp(def) && (isContraction(def) || isPointwise(def))) {
        worklist.push_back(input);
        isOfOthers = true;
      }
    // What does not come from the contraction would have to be split as well.
    if (!isOfOthers)
      return false;
  }
  return contraction && llvm::all_of(chain, [&](Operation *op) {
           return llvm::all_of(op->getUsers(), [&](Operation *user) {
             auto other = dyn_cast<tensor::ExpandShapeOp>(user);
             return chain.contains(user) ||
                    (other &&
                     other.getReassociation() == expand.getReassociation() &&
                     other.getResultType().getShape() ==
                         expand.getResultType().getShape());
           });
         });
}

/// True when `map` has some, but not all, of the dimensions of a group, or has
/// them apart: an operand read so keeps the loops of the group from being one.
static bool separates(AffineMap map, ArrayRef<int64_t> group) {
  SmallVector<unsigned> places;
  for (int64_t dim : group)
    for (auto [place, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(dim))
        places.push_back(place);
  if (places.empty())
    return false;
  for (unsigned i = 1; i < places.size(); ++i)
    if (places[i] != places[i - 1] + 1)
      return true;
  return places.size() != group.size();
}

/// Does a user of `expand`, directly or behind pointwise operations, need the
/// dimensions that it splits?
static bool isNeededSplit(tensor::ExpandShapeOp expand,
                          const TargetInfo &target) {
  auto type = expand.getResultType();
  SmallVector<SmallVector<int64_t>> groups;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    SmallVector<int64_t> large;
    for (int64_t dim : group)
      if (type.getDimSize(dim) != 1)
        large.push_back(dim);
    if (large.size() > 1)
      groups.push_back(large);
  }
  SmallVector<Value> worklist = {expand.getResult()};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty() && seen.size() < kMaxVisited) {
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (!isPointwise(user) || !seen.insert(user).second)
        continue;
      auto op = cast<linalg::LinalgOp>(user);
      AffineMap own = op.getMatchingIndexingMap(&use);
      if (!own.isIdentity())
        // In another order: tiles are written along the last dimension.
        return own.isPermutation() &&
               own.getResults().back() ==
                   getAffineDimExpr(own.getNumDims() - 1, own.getContext()) &&
               type.getShape().back() >= target.fitted.mma.headColumns;
      for (AffineMap map : op.getIndexingMapsArray())
        for (ArrayRef<int64_t> group : groups)
          if (separates(map, group))
            return true;
      worklist.push_back(user->getResult(0));
    }
  }
  return false;
}

/// True when a pointwise operation reads what `expand` splits in another order.
static bool isReordered(tensor::ExpandShapeOp expand) {
  return llvm::any_of(expand.getResult().getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    return isPointwise(user) && !cast<linalg::LinalgOp>(user)
                                     .getMatchingIndexingMap(&use)
                                     .isIdentity();
  });
}

namespace {
/// Splits the parts of a concatenation instead of the whole, where each is some
/// of the rows that the dimension becomes:
///
///   transpose(expand(concat(x, y)))  ==>
///   transpose(concat(expand(x), expand(y)))
class SplitParts : public OpRewritePattern<tensor::ExpandShapeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp expand,
                                PatternRewriter &rewriter) const override {
    auto concat = expand.getSrc().getDefiningOp<tensor::ConcatOp>();
    RankedTensorType type = expand.getResultType();
    if (!concat || !concat->hasOneUse() || hasContract(concat) ||
        !type.hasStaticShape() || type.getNumElements() == 0 ||
        !isReordered(expand))
      return failure();
    uint64_t dim = concat.getDim();
    ReassociationIndices group = expand.getReassociationIndices()[dim];
    int64_t rowSize = 1;
    while (group.size() > 1 && type.getDimSize(group.front()) == 1)
      group.erase(group.begin());
    for (int64_t inner : ArrayRef(group).drop_front())
      rowSize *= type.getDimSize(inner);
    auto isOfRows = [&](Value part) {
      auto own = cast<RankedTensorType>(part.getType());
      return own.hasStaticShape() && own.getDimSize(dim) % rowSize == 0;
    };
    if (!llvm::all_of(concat.getInputs(), isOfRows))
      return failure();
    SmallVector<Value> parts;
    for (Value part : concat.getInputs()) {
      SmallVector<int64_t> shape(type.getShape());
      shape[group.front()] =
          cast<RankedTensorType>(part.getType()).getDimSize(dim) / rowSize;
      parts.push_back(tensor::ExpandShapeOp::create(
          rewriter, expand.getLoc(), type.clone(shape), part,
          expand.getReassociationIndices()));
    }
    rewriter.replaceOpWithNewOp<tensor::ConcatOp>(expand, type, group.front(),
                                                  parts);
    return success();
  }
};
} // namespace

void mlir::fusion::raiseReshapes(FunctionOpInterface func) {
  FailureOr<TargetInfo> target = resolveTarget(func);
  if (failed(target))
    return;
  auto shouldRaise = [&](OpOperand *operand) {
    auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner());
    Operation *producer = operand->get().getDefiningOp();
    // The rewriting would lose contracts.
    return expand && producer && !hasContract(producer) &&
           expand.getResultType().hasStaticShape() &&
           comesFromContraction(expand) && isNeededSplit(expand, *target);
  };
  RewritePatternSet patterns(func.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldRaise);
  patterns.add<SplitParts>(func.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, func.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  (void)applyPatternsGreedily(
      func, std::move(patterns),
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled));
}
