//===- FoldMaskedRows.cpp - Rows of infinities by their maximum -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the removal of reductions that ask whether all elements
// are minus infinity, where there is their maximum. A softmax that is zero in
// rows that a mask leaves nothing, as PyTorch's attention has it, asks so:
//
//   m = max(x);  r = all(x == -inf)   ==>   m = max(x);  r = m == -inf
//
// They are equal: a NaN is the maximum of what it is in, and no infinity.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/BodyValues.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// What `value` is computed as, by whatever operation, before it is extended.
static BodyValue resolve(BodyValue value) {
  while (true) {
    auto [extension, place] = findOp<arith::ExtFOp>(value);
    if (!extension)
      return place;
    value = place.at(extension.getIn());
  }
}

static bool areSame(const BodyValue &a, const BodyValue &b) {
  std::optional<TensorElement> first = getElement(a), second = getElement(b);
  if (first && second)
    return first->tensor == second->tensor && first->coords == second->coords;
  return !first && !second && a.value == b.value && a.op == b.op &&
         a.point == b.point;
}

/// What `op` asks of all its elements to be minus infinity, if it does that.
static std::optional<BodyValue> matchAllInfinite(linalg::GenericOp op) {
  std::optional<Combiner> all = getOnlyCombiner(op);
  if (!all || !isa<arith::AndIOp>(all->op) || !all->type.isInteger(1))
    return std::nullopt;
  auto [compare, place] =
      findOp<arith::CmpFOp>({all->element, op, getLoops(op)});
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ ||
      !matchPattern(compare.getRhs(), m_NegInfFloat()))
    return std::nullopt;
  return resolve(place.at(compare.getLhs()));
}

/// Whether `op` is the maximum of `elements`, which `all` reduces.
static bool isMaximum(linalg::GenericOp op, linalg::GenericOp all,
                      const BodyValue &elements) {
  std::optional<Combiner> combiner = getOnlyCombiner(op);
  return combiner && isa<arith::MaximumFOp>(combiner->op) &&
         op.getIteratorTypesArray() == all.getIteratorTypesArray() &&
         areSame(resolve({combiner->element, op, getLoops(op)}), elements);
}

/// Makes the result of `all` by `maximum`, which is one of the same elements;
/// fails where that has a dimension which the result has not.
static LogicalResult compareMaximum(linalg::GenericOp all,
                                    linalg::GenericOp maximum) {
  AffineMap from = maximum.getMatchingIndexingMap(maximum.getDpsInitOperand(0));
  AffineMap to = all.getMatchingIndexingMap(all.getDpsInitOperand(0));
  OpBuilder builder(all);
  SmallVector<AffineExpr> coords;
  for (AffineExpr coord : from.getResults()) {
    std::optional<unsigned> dim = to.getResultPosition(coord);
    if (isa<AffineDimExpr>(coord) && !dim)
      return failure();
    coords.push_back(dim ? builder.getAffineDimExpr(*dim) : coord);
  }
  Location loc = all.getLoc();
  auto type = cast<RankedTensorType>(all.getResult(0).getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc,
      tensor::getMixedSizes(builder, loc, all.getDpsInitOperand(0)->get()),
      type.getElementType());
  SmallVector<AffineMap> maps{
      AffineMap::get(type.getRank(), 0, coords, builder.getContext()),
      builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      builder, loc, type, maximum.getResult(0), empty, maps, kinds,
      [](OpBuilder &b, Location at, ValueRange arguments) {
        auto element = cast<FloatType>(arguments[0].getType());
        Value lowest = arith::ConstantOp::create(
            b, at,
            FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics(),
                                                    /*Negative=*/true)));
        Value isLowest = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ,
                                               arguments[0], lowest);
        linalg::YieldOp::create(b, at, isLowest);
      });
  all.getResult(0).replaceAllUsesWith(made.getResult(0));
  all.erase();
  return success();
}

void mlir::fusion::foldMaskedRows(FunctionOpInterface func) {
  SmallVector<linalg::GenericOp> earlier;
  for (auto op : llvm::make_early_inc_range(
           func.getFunctionBody().front().getOps<linalg::GenericOp>())) {
    if (op.getNumReductionLoops() == 0 || hasContract(op))
      continue;
    if (std::optional<BodyValue> elements = matchAllInfinite(op)) {
      auto *maximum = llvm::find_if(earlier, [&](linalg::GenericOp other) {
        return isMaximum(other, op, *elements);
      });
      if (maximum != earlier.end() && succeeded(compareMaximum(op, *maximum)))
        continue;
    }
    earlier.push_back(op);
  }
}
