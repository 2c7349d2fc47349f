//===- PrepareForPlanning.cpp - Free sizes from intermediate tensors ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the step before planning. A tensor that exists inside a
// kernel only has no dimensions that the function could ask for, and a
// destination that is not read must not keep a tensor alive.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::fusion;

/// Gives each op of `block` that does not read a destination an empty one.
static void freeDestinations(Block &block) {
  IRRewriter rewriter(block.getParentOp()->getContext());
  for (Operation &op : block) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      continue;
    for (OpOperand &init : linalgOp.getDpsInitsMutable()) {
      auto type = dyn_cast<RankedTensorType>(init.get().getType());
      if (!type || init.get().getDefiningOp<tensor::EmptyOp>() ||
          linalgOp.payloadUsesValueFromOperand(&init))
        continue;
      rewriter.setInsertionPoint(&op);
      SmallVector<OpFoldResult> sizes =
          tensor::getMixedSizes(rewriter, op.getLoc(), init.get());
      init.set(tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                       type.getElementType()));
    }
  }
}

/// Forgets what planning alone decides.
static void dropDecisions(Block &block) {
  for (Operation &op : block) {
    op.removeDiscardableAttr(FusionDialect::kInPlaceAttrName);
    op.removeDiscardableAttr(FusionDialect::kPartAttrName);
  }
}

/// True when `dim` asks for a size of a tensor that kernels compute.
static bool isOfComputedTensor(tensor::DimOp dim) {
  Operation *op = dim.getSource().getDefiningOp();
  while (op && isViewOp(op))
    op = op->getOperand(0).getDefiningOp();
  return op && (isComputeOp(op) || isa<linalg::FillOp, tensor::EmptyOp>(op));
}

LogicalResult mlir::fusion::prepareForPlanning(FunctionOpInterface func) {
  if (!llvm::hasSingleElement(func.getFunctionBody()))
    return func.emitOpError(
        "FUS-2003: has control flow between blocks; planning takes functions "
        "of one block");
  Block &block = func.getFunctionBody().front();
  dropDecisions(block);
  foldMaskedRows(func);
  foldNegativeIndices(func);
  foldLookups(func);
  reshapeLookups(func);
  foldWidening(func);
  foldCopies(func);
  foldIndexFunctions(func);
  splitRepeats(func);
  foldBatchSums(func);
  joinExchangedHalves(func);
  collapseReshapes(func);
  raiseReshapes(func);
  sinkReshapes(func);
  freeDestinations(block);

  SmallVector<Operation *> dims;
  for (tensor::DimOp dim : block.getOps<tensor::DimOp>())
    dims.push_back(dim);
  RewritePatternSet patterns(func.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  // Patterns make new ops of the same kind until arguments are reached.
  if (!dims.empty())
    (void)applyOpPatternsGreedily(
        dims, std::move(patterns),
        GreedyRewriteConfig().setStrictness(
            GreedyRewriteStrictness::ExistingAndNewOps));

  for (tensor::DimOp dim : block.getOps<tensor::DimOp>())
    if (isOfComputedTensor(dim) && !dim->use_empty())
      return dim.emitOpError(
          "FUS-2004: asks for a size that cannot be computed from the sizes of "
          "the function's arguments");
  writeInPlace(func);
  return success();
}
