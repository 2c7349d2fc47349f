//===- FoldIndexFunctions.cpp - Masks made where they are read ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the folding of tensors that are functions of their
// indices, and of integers with fewer dimensions, masks and positions for
// example, into the pointwise operations that read them:
//
//   select(mask, x, -inf), mask[i, j] = j > i   ==>
//   select'(x, -inf), which compares its own indices
//
// Were a mask an operation of its own, two kernels that read it would have it
// in memory, and neither would know which of its tiles are masked. Of a mask by
// the length of each sequence, j < length[b], kernels read the lengths.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/OpCosts.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

/// Instructions for an element up to which computing it again costs less than
/// reading it.
static constexpr double kMostInstructions = 16;

static bool isPointwise(linalg::GenericOp op) {
  return op && op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
         op.hasPureTensorSemantics() && !hasContract(op) &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

/// Instructions for each element, if each is computed on its own.
static double countInstructions(linalg::GenericOp op) {
  OpCost cost;
  for (Operation &scalar : *op.getBody())
    cost += getOpCost(&scalar);
  return cost.instructions + cost.doubles;
}

/// True when `operand` of `op`, a tensor, has integers that are the same along
/// a dimension of the result, which may have more than one element.
static bool hasFewer(OpOperand *operand, linalg::GenericOp op) {
  Type type = getElementTypeOrSelf(operand->get());
  if (!type.isSignlessInteger())
    return false;
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  return llvm::any_of(llvm::seq<unsigned>(op.getNumLoops()),
                      [&](unsigned loop) {
                        return extents[loop] != 1 && !map.isFunctionOfDim(loop);
                      });
}

/// True when `op` computes its result from its indices, from scalars and from
/// integers that are fewer, at little cost. What integers look up is in memory.
static bool isIndexFunction(linalg::GenericOp op) {
  if (!isPointwise(op) || countInstructions(op) > kMostInstructions)
    return false;
  bool looksUp = !op.getBody()->getOps<tensor::ExtractOp>().empty();
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    bool isScalar = !isa<RankedTensorType>(operand->get().getType());
    return isScalar || (!looksUp && hasFewer(operand, op));
  });
}

/// The operand of `op` that is a function of indices and can be folded.
static OpOperand *findIndexFunction(linalg::GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands())
    if (auto producer = operand->get().getDefiningOp<linalg::GenericOp>())
      if (isIndexFunction(producer) &&
          linalg::areElementwiseOpsFusable(operand))
        return operand;
  return nullptr;
}

void mlir::fusion::foldIndexFunctions(FunctionOpInterface func) {
  IRRewriter rewriter(func.getContext());
  for (Operation &op :
       llvm::make_early_inc_range(func.getFunctionBody().front())) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    while (isPointwise(generic)) {
      OpOperand *operand = findIndexFunction(generic);
      if (!operand)
        break;
      // Of its own: what other operations read would stay a result.
      rewriter.setInsertionPoint(generic);
      Operation *own = rewriter.clone(*operand->get().getDefiningOp());
      operand->set(own->getResult(0));
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, operand);
      if (failed(fused))
        break;
      Value result = fused->replacements.lookup(generic->getResult(0));
      rewriter.replaceOp(generic, result);
      rewriter.eraseOp(own);
      generic = result.getDefiningOp<linalg::GenericOp>();
    }
  }
}
