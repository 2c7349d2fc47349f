//===- JoinReductions.cpp - Two reductions become one ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reduction that two reductions become, and the
// rewrites that make it.
//
//===----------------------------------------------------------------------===//

#include "JoinReductions.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;

linalg::GenericOp mlir::fusion::buildJoined(
    OpBuilder &builder, linalg::LinalgOp like, const Combiner &combiner,
    ValueRange inits,
    function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange, Value)>
        combine) {
  SmallVector<AffineMap> maps;
  for (OpOperand *input : like.getDpsInputOperands())
    maps.push_back(like.getMatchingIndexingMap(input));
  maps.append(inits.size(),
              like.getMatchingIndexingMap(like.getDpsInitOperand(0)));
  return linalg::GenericOp::create(
      builder, like.getLoc(), inits.getTypes(), like.getDpsInputs(), inits,
      maps, like.getIteratorTypesArray(),
      [&](OpBuilder &b, Location at, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(like.getBlock()->getArguments().drop_back(),
                    arguments.drop_back(inits.size()));
        for (Operation &inner : like.getBlock()->without_terminator())
          if (&inner != combiner.op)
            b.clone(inner, mapping);
        linalg::YieldOp::create(
            b, at,
            combine(b, at, arguments.take_back(inits.size()),
                    mapping.lookupOrDefault(combiner.element)));
      });
}

Value mlir::fusion::buildFilled(OpBuilder &builder, Location loc, Value like,
                                TypedAttr value) {
  Value scalar = arith::ConstantOp::create(builder, loc, value);
  return linalg::FillOp::create(builder, loc, scalar, like).getResult(0);
}

Value mlir::fusion::buildChecked(OpBuilder &builder, Location loc, Value m,
                                 Value s) {
  auto type = cast<RankedTensorType>(s.getType());
  SmallVector<AffineMap> maps(3,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{m, s}, ValueRange{s}, maps, kinds,
             [](OpBuilder &b, Location at, ValueRange arguments) {
               Value none =
                   arith::SubFOp::create(b, at, arguments[0], arguments[0]);
               Value sum = arith::AddFOp::create(b, at, arguments[1], none);
               linalg::YieldOp::create(b, at, sum);
             })
      .getResult(0);
}

void mlir::fusion::eraseUnused(Operation *op) {
  llvm::SetVector<Operation *> unused;
  unused.insert(op);
  while (!unused.empty()) {
    Operation *next = unused.pop_back_val();
    SmallVector<Value> operands(next->getOperands());
    next->erase();
    for (Value operand : operands)
      if (Operation *producer = operand.getDefiningOp())
        if (producer->use_empty() && isMemoryEffectFree(producer))
          unused.insert(producer);
  }
}

RewriteMatch mlir::fusion::getJoinMatch(linalg::LinalgOp earlier,
                                        linalg::LinalgOp later,
                                        std::function<Operation *()> apply) {
  return {getOpLabel(earlier, NodeKind::Reduction),
          getOpLabel(later, NodeKind::Reduction), later, std::move(apply)};
}

PricedRewrite mlir::fusion::getJoinRewrite(
    ReasonCode reason, double mostTime,
    std::function<std::optional<RewriteMatch>(linalg::LinalgOp)> findAt) {
  PricedRewrite rewrite;
  rewrite.find = [findAt](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
      if (std::optional<RewriteMatch> match = findAt(op))
        matches.push_back(std::move(*match));
    return matches;
  };
  rewrite.reason = reason;
  rewrite.mostTime = mostTime;
  return rewrite;
}
