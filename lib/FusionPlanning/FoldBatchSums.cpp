//===- FoldBatchSums.cpp - Sums of products along their batch -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the folding of a sum along the batch of a contraction
// into it. The gradient of keys that several heads share is written as one
// product for each head, and their sum:
//
//   sum_g(matmul(x[g], y[g]))  ==>  matmul'(x, y), contracted along g as well
//
// What is summed is the f32 of the product, before anything rounds it.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when `op` begins with zeros.
static bool beginsWithZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
}

/// The contraction whose result `sum` adds up along loops that both factors
/// have, if that is all it does and nothing else needs that result.
static linalg::GenericOp matchBatchSum(linalg::GenericOp sum) {
  if (sum.getNumDpsInputs() != 1 || sum.getNumDpsInits() != 1 ||
      sum.getNumReductionLoops() == 0 || hasContract(sum) ||
      !beginsWithZero(sum))
    return nullptr;
  auto product = sum.getDpsInputs().front().getDefiningOp<linalg::GenericOp>();
  if (!product || !product->hasOneUse() || product.getNumDpsInits() != 1 ||
      !isContraction(product) || hasContract(product) ||
      !beginsWithZero(product) || product.getNumDpsInputs() != 2)
    return nullptr;
  auto add = sum.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  Block *body = sum.getBody();
  if (!add || body->getOperations().size() != 2 ||
      !llvm::is_contained(add->getOperands(), body->getArgument(0)) ||
      !llvm::is_contained(add->getOperands(), body->getArgument(1)))
    return nullptr;
  AffineMap read = sum.getMatchingIndexingMap(sum.getDpsInputOperand(0));
  AffineMap made = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  if (!read.isPermutation() || !made.isProjectedPermutation())
    return nullptr;
  auto iterators = sum.getIteratorTypesArray();
  for (auto [coord, loop] :
       llvm::zip_equal(read.getResults(), made.getResults())) {
    unsigned own = cast<AffineDimExpr>(coord).getPosition();
    if (iterators[own] != utils::IteratorType::reduction)
      continue;
    for (OpOperand *factor : product.getDpsInputOperands())
      if (!product.getMatchingIndexingMap(factor).getResultPosition(loop))
        return nullptr;
  }
  return product;
}

/// Lets `product` contract what `sum` adds up.
static void contractBatch(linalg::GenericOp sum, linalg::GenericOp product) {
  AffineMap read = sum.getMatchingIndexingMap(sum.getDpsInputOperand(0));
  AffineMap made = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  AffineMap kept = sum.getMatchingIndexingMap(sum.getDpsInitOperand(0));
  // From loops of the sum to those of the product.
  SmallVector<AffineExpr> loops(read.getNumDims());
  SmallVector<utils::IteratorType> iterators = product.getIteratorTypesArray();
  for (auto [coord, loop] :
       llvm::zip_equal(read.getResults(), made.getResults())) {
    unsigned own = cast<AffineDimExpr>(coord).getPosition();
    loops[own] = loop;
    iterators[cast<AffineDimExpr>(loop).getPosition()] =
        sum.getIteratorTypesArray()[own];
  }
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  maps.back() = kept.replaceDimsAndSymbols(loops, {}, made.getNumDims(), 0);
  OpBuilder builder(sum);
  auto contracted = linalg::GenericOp::create(
      builder, sum.getLoc(), sum.getResultTypes(), product.getDpsInputs(),
      sum.getDpsInits(), maps, iterators);
  IRMapping mapping;
  product.getRegion().cloneInto(&contracted.getRegion(), mapping);
  sum.getResult(0).replaceAllUsesWith(contracted.getResult(0));
  sum->erase();
  product->erase();
}

void mlir::fusion::foldBatchSums(FunctionOpInterface func) {
  for (auto sum : llvm::make_early_inc_range(
           func.getFunctionBody().front().getOps<linalg::GenericOp>()))
    if (linalg::GenericOp product = matchBatchSum(sum))
      contractBatch(sum, product);
}
