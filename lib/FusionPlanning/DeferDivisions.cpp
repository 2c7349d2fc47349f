//===- DeferDivisions.cpp - Divisions of whole sums -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the move of divisors from the elements of a sum to the
// sum.
//
//===----------------------------------------------------------------------===//

#include "DeferDivisions.h"

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// Whether `op` adds up nothing, if that is known at run time only, or true.
static Value createIsEmpty(OpBuilder &builder, linalg::LinalgOp op) {
  Location loc = op.getLoc();
  Value isEmpty;
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction ||
        (!ShapedType::isDynamic(extent) && extent > 0))
      continue;
    // Sizes of tensors from outside are arguments.
    OpFoldResult size = builder.getIndexAttr(0);
    for (OpOperand *operand : op.getDpsInputOperands())
      if (std::optional<unsigned> dim =
              op.getMatchingIndexingMap(operand).getResultPosition(
                  builder.getAffineDimExpr(loop));
          dim && (!isa<Value>(size) || isa<BlockArgument>(operand->get())))
        size = tensor::getMixedSize(builder, loc, operand->get(), *dim);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value none = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq,
        getValueOrCreateConstantIndexOp(builder, loc, size), zero);
    isEmpty =
        isEmpty ? arith::OrIOp::create(builder, loc, isEmpty, none) : none;
  }
  return isEmpty;
}

/// Does to the result of `op`, which is `result` after what was done before,
/// what `deferral` says. A sum of nothing is zero, not zero divided by zero.
static Value apply(Value result, linalg::LinalgOp op,
                   const Deferral &deferral) {
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfterValue(result);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(result.getType());
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  // From loops of the sum to dimensions of its result.
  SmallVector<AffineExpr> coords;
  for (AffineExpr coord : deferral.source.coords) {
    std::optional<unsigned> place = out.getResultPosition(coord);
    coords.push_back(place ? builder.getAffineDimExpr(*place) : coord);
  }
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  AffineMap rows =
      AffineMap::get(type.getRank(), 0, coords, builder.getContext());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  Value isEmpty = createIsEmpty(builder, op);
  Value empty = tensor::EmptyOp::create(
      builder, loc,
      tensor::getMixedSizes(builder, loc, op.getDpsInitOperand(0)->get()),
      type.getElementType());
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{result, deferral.source.tensor},
             empty, ArrayRef<AffineMap>{identity, rows, identity}, kinds,
             [&](OpBuilder &b, Location at, ValueRange arguments) {
               Value quotient;
               if (deferral.isChoice()) {
                 Value zero = arith::ConstantOp::create(
                     b, at, b.getZeroAttr(arguments[0].getType()));
                 bool isFirst = deferral.element == 1;
                 quotient = arith::SelectOp::create(
                     b, at, arguments[1], isFirst ? arguments[0] : zero,
                     isFirst ? zero : arguments[0]);
               } else {
                 quotient = arith::DivFOp::create(
                     b, at, arguments[0], arguments[1], deferral.fastmath);
               }
               if (isEmpty && !deferral.isChoice())
                 quotient = arith::SelectOp::create(b, at, isEmpty,
                                                    arguments[0], quotient);
               linalg::YieldOp::create(b, at, quotient);
             })
      .getResult(0);
}

void mlir::fusion::deferDivisions(KernelOp kernel) {
  SmallVector<linalg::LinalgOp> earlier;
  llvm::MapVector<Operation *, unsigned> dividends;
  for (auto op :
       llvm::to_vector(kernel.getBlock().getOps<linalg::LinalgOp>())) {
    if (!isPlainReduction(op))
      continue;
    FailureOr<CascadeLinks> links = matchRepairs(op, earlier);
    // What contractions give, each step has.
    if (!isContraction(op))
      earlier.push_back(op);
    if (failed(links))
      continue;
    Value result = op->getResult(0);
    SmallPtrSet<Operation *, 2> added;
    for (const Deferral &deferral : llvm::reverse(links->deferrals)) {
      Value quotient = apply(result, op, deferral);
      added.insert(quotient.getDefiningOp());
      result = quotient;
      dividends[deferral.application] = deferral.element;
    }
    op->getResult(0).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !added.contains(use.getOwner());
    });
  }
  if (dividends.empty())
    return;
  // What several sums are made of loses its divisor once.
  for (auto [application, dividend] : dividends) {
    application->getResult(0).replaceAllUsesWith(
        application->getOperand(dividend));
    application->erase();
  }
  RewritePatternSet patterns(kernel.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  (void)applyPatternsGreedily(kernel.getBody(), std::move(patterns));
}
