//===- UnusedResults.cpp - Operations without results nothing uses --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the removal of results that nothing uses from operations
// with several: importers of PyTorch make every maximum one with its index,
// which a softmax does not ask for.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/UnusedResults.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult mlir::fusion::dropUnusedResults(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](linalg::GenericOp op) {
    if (op->getNumResults() > 1 &&
        llvm::any_of(op->getResults(),
                     [](Value result) { return result.use_empty(); }))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  RewritePatternSet patterns(root->getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  if (failed(applyOpPatternsGreedily(
          ops, std::move(patterns),
          GreedyRewriteConfig().setStrictness(
              GreedyRewriteStrictness::ExistingAndNewOps))))
    return failure();
  // An index that nothing asks for would make what is left depend on indices.
  root->walk([](linalg::GenericOp op) {
    for (Operation &inner : llvm::make_early_inc_range(
             llvm::reverse(op.getBody()->without_terminator())))
      if (isOpTriviallyDead(&inner))
        inner.erase();
  });
  return success();
}
