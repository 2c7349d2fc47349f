//===- ProductResults.cpp - What is made of products ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for products.
//
//===----------------------------------------------------------------------===//

#include "ProductResults.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

bool mlir::fusion::isProduct(linalg::LinalgOp op) {
  // Rows in groups lie anywhere in tiles.
  return !matchGroupedSum(op) &&
         matchContraction(
             op, [](unsigned loop) { return loop; }, [](Value) { return true; })
             .has_value();
}

linalg::LinalgOp mlir::fusion::findProduct(Value tensor) {
  SmallVector<Value> worklist{tensor};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    auto op = worklist.pop_back_val().getDefiningOp<linalg::LinalgOp>();
    if (!op || !seen.insert(op).second)
      continue;
    if (op.getNumReductionLoops() == 0)
      llvm::append_range(worklist, op.getDpsInputs());
    else if (isProduct(op))
      return op;
  }
  return nullptr;
}

std::optional<SmallVector<OpFoldResult>>
mlir::fusion::getLoopSizes(linalg::LinalgOp op) {
  Builder builder(op.getContext());
  SmallVector<OpFoldResult> sizes;
  for (int64_t range : op.getStaticLoopRanges())
    sizes.push_back(ShapedType::isDynamic(range)
                        ? OpFoldResult()
                        : OpFoldResult(builder.getIndexAttr(range)));
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value tensor = init.get();
    if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
      tensor = fill.getOutputs().front();
    auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      continue;
    SmallVector<OpFoldResult> own = empty.getMixedSizes();
    for (auto [expr, size] :
         llvm::zip(op.getMatchingIndexingMap(&init).getResults(), own))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        if (!sizes[loop.getPosition()])
          sizes[loop.getPosition()] = size;
  }
  if (llvm::is_contained(sizes, OpFoldResult()))
    return std::nullopt;
  return sizes;
}

bool mlir::fusion::isElementwise(linalg::LinalgOp op) {
  return op && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}
