//===- ReshapeLookups.cpp - Looked-up elements by their readers' dims -----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements lookups along the dimensions of those who read them.
// Rows that a table of blocks names are looked up block by block, and the
// blocks joined:
//
//   matmul(q, collapse(pool[table[block], row]))   ==>
//   matmul(q, pool[table[key floordiv 16], key mod 16])
//
// The reshape would keep what follows from having the contraction's dimensions,
// or split these. Parts of tensors are read where they are in the whole.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Exchanges.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations looked at on the way to a contraction.
static constexpr unsigned kMaxVisited = 64;

/// The operation that looks up the elements of `value` in other tensors, for
/// `value` alone.
static linalg::GenericOp getLookup(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || hasContract(op) || !value.hasOneUse() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !op.getDpsInits().front().getDefiningOp<tensor::EmptyOp>() ||
      op.getBody()->getOps<tensor::ExtractOp>().empty())
    return nullptr;
  return op;
}

/// True when a contraction reads `value`, or what copies and views make of it.
static bool isContracted(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty() && seen.size() < kMaxVisited)
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      auto op = dyn_cast<linalg::LinalgOp>(user);
      if (op && sumsProducts(op))
        return true;
      if (isViewOp(user) || (op && op.getNumReductionLoops() == 0))
        llvm::append_range(worklist, user->getResults());
    }
  return false;
}

/// The coordinates before `reshape` by those behind it; none where sizes that
/// they need are not known.
static std::optional<SmallVector<AffineExpr>> getSources(Operation *reshape) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape);
  if (!collapse && !expand)
    return std::nullopt;
  MLIRContext *context = reshape->getContext();
  auto groups = collapse ? collapse.getReassociationIndices()
                         : expand.getReassociationIndices();
  auto split = cast<RankedTensorType>(collapse ? collapse.getSrcType()
                                               : expand.getResultType());
  SmallVector<AffineExpr> sources;
  for (auto [joined, group] : llvm::enumerate(groups)) {
    AffineExpr rest = getAffineDimExpr(joined, context);
    AffineExpr sum = getAffineConstantExpr(0, context);
    int64_t inner = 1;
    SmallVector<AffineExpr> own;
    for (int64_t dim : llvm::reverse(group)) {
      int64_t size = split.getDimSize(dim);
      bool isFirst = dim == group.front();
      if (ShapedType::isDynamic(size) && !isFirst)
        return std::nullopt;
      AffineExpr at = rest.floorDiv(inner);
      own.push_back(isFirst ? at : at % size);
      sum = sum + getAffineDimExpr(dim, context) * inner;
      inner *= isFirst ? 1 : size;
    }
    if (collapse)
      sources.append(own.rbegin(), own.rend());
    else
      sources.push_back(sum);
  }
  return sources;
}

/// The tensor that was joined to `input`, if `reshape` splits the dimensions of
/// all its elements the same way.
static std::optional<std::pair<Value, AffineMap>>
matchSplitBack(Value input, AffineMap map, Operation *reshape) {
  auto joined = input.getDefiningOp<tensor::CollapseShapeOp>();
  auto split = dyn_cast<tensor::ExpandShapeOp>(reshape);
  if (!joined || !split)
    return std::nullopt;
  SmallVector<ReassociationIndices> parts = split.getReassociationIndices();
  SmallVector<AffineExpr> coords;
  for (auto [coord, group] :
       llvm::zip_equal(map.getResults(), joined.getReassociationIndices())) {
    auto loop = dyn_cast<AffineDimExpr>(coord);
    if (!loop || parts[loop.getPosition()].size() != group.size())
      return std::nullopt;
    for (auto [dim, part] : llvm::zip(group, parts[loop.getPosition()])) {
      int64_t size = joined.getSrcType().getDimSize(dim);
      if (ShapedType::isDynamic(size) ||
          size != split.getResultType().getDimSize(part))
        return std::nullopt;
      coords.push_back(getAffineDimExpr(part, map.getContext()));
    }
  }
  return std::pair(joined.getSrc(),
                   AffineMap::get(split.getResultType().getRank(), 0, coords,
                                  map.getContext()));
}

/// The sizes behind `reshape` of what `op` computes before it.
static SmallVector<OpFoldResult>
getSizes(OpBuilder &builder, linalg::GenericOp op, Operation *reshape) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return expand.getMixedOutputShape();
  SmallVector<OpFoldResult> before =
      op.getDpsInits().front().getDefiningOp<tensor::EmptyOp>().getMixedSizes();
  SmallVector<OpFoldResult> sizes;
  for (ArrayRef<int64_t> group :
       cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices()) {
    AffineExpr product = builder.getAffineConstantExpr(1);
    SmallVector<OpFoldResult> own;
    for (int64_t dim : group) {
      product = product * builder.getAffineSymbolExpr(own.size());
      own.push_back(before[dim]);
    }
    sizes.push_back(affine::makeComposedFoldedAffineApply(
        builder, op.getLoc(), AffineMap::get(0, own.size(), product), own));
  }
  return sizes;
}

/// Lets the operation behind `reshape`'s operand make the reshape's result.
static void reshapeLookup(linalg::GenericOp op, Operation *reshape,
                          ArrayRef<AffineExpr> sources) {
  OpBuilder builder(reshape);
  Location loc = op.getLoc();
  Value result = reshape->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  AffineMap before =
      AffineMap::get(type.getRank(), 0, sources, builder.getContext());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    auto back = matchSplitBack(input->get(), map, reshape);
    inputs.push_back(back ? back->first : input->get());
    maps.push_back(back ? back->second : map.compose(before));
  }
  maps.push_back(builder.getMultiDimIdentityMap(type.getRank()));
  Value empty = tensor::EmptyOp::create(
      builder, loc, getSizes(builder, op, reshape), type.getElementType());
  // One of them may know more sizes.
  if (empty.getType() != type) {
    empty.getDefiningOp()->erase();
    return;
  }
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      builder, loc, type, inputs, empty, maps, kinds,
      [&](OpBuilder &b, Location at, ValueRange arguments) {
        SmallVector<OpFoldResult> loops;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          loops.push_back(linalg::IndexOp::create(b, at, dim).getResult());
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments(), arguments);
        for (Operation &inner : op.getBody()->without_terminator())
          if (auto index = dyn_cast<linalg::IndexOp>(inner))
            mapping.map(index.getResult(),
                        affine::makeComposedAffineApply(
                            b, at, before.getSubMap(index.getDim()), loops)
                            .getResult());
          else
            b.clone(inner, mapping);
        for (OpFoldResult loop : loops)
          if (auto index = cast<Value>(loop); index.use_empty())
            index.getDefiningOp()->erase();
        linalg::YieldOp::create(
            b, at,
            mapping.lookupOrDefault(
                op.getBody()->getTerminator()->getOperand(0)));
      });
  result.replaceAllUsesWith(made.getResult(0));
  reshape->erase();
  op.erase();
}

/// The indices of an element of the tensor that `collapse` has without
/// dimensions of one element, if it drops no others.
static std::optional<SmallVector<Value>>
getIndicesBefore(OpBuilder &b, Location loc, tensor::CollapseShapeOp collapse,
                 ValueRange indices) {
  SmallVector<Value> before;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [index, group] :
       llvm::zip_equal(indices, collapse.getReassociationIndices())) {
    auto isLong = [&](int64_t dim) {
      return collapse.getSrcType().getDimSize(dim) != 1;
    };
    if (llvm::count_if(group, isLong) > 1)
      return std::nullopt;
    const auto *own = llvm::find_if(group, isLong);
    if (own == group.end())
      own = group.begin();
    for (int64_t dim : group)
      before.push_back(dim == *own ? index : zero);
  }
  return before;
}

/// The indices of an element of the tensor that `slice` is a part of. Indices
/// that data choose may lie outside, and have to be as far outside of all.
static std::optional<SmallVector<Value>>
getIndicesBefore(OpBuilder &b, linalg::GenericOp op,
                 tensor::ExtractSliceOp slice, ValueRange indices) {
  Location loc = op.getLoc();
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<Value> before;
  unsigned next = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    std::optional<int64_t> offset =
        getConstantIntValue(slice.getMixedOffsets()[dim]);
    if (!offset || !isConstantIntValue(slice.getMixedStrides()[dim], 1))
      return std::nullopt;
    Value at = arith::ConstantIndexOp::create(b, loc, *offset);
    if (dropped.test(dim)) {
      before.push_back(at);
      continue;
    }
    Value index = indices[next++];
    int64_t size = slice.getSourceType().getDimSize(dim);
    bool isWhole = *offset == 0 && !ShapedType::isDynamic(size) &&
                   isConstantIntValue(slice.getMixedSizes()[dim], size);
    if (!isWhole && !getIndexExpr(op, index))
      return std::nullopt;
    before.push_back(
        *offset == 0 ? index
                     : arith::AddIOp::create(b, loc, index, at).getResult());
  }
  return before;
}

/// Lets `op` look elements up in tensors of which it has parts, such as the
/// keys of what has keys and values.
static void readWholeTensors(linalg::GenericOp op) {
  for (auto extract :
       llvm::make_early_inc_range(op.getBody()->getOps<tensor::ExtractOp>())) {
    OpBuilder b(extract);
    Value tensor = extract.getTensor();
    SmallVector<Value> indices(extract.getIndices());
    while (Operation *view = tensor.getDefiningOp()) {
      std::optional<SmallVector<Value>> before;
      if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
        before = getIndicesBefore(b, op.getLoc(), collapse, indices);
      else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(view))
        if (!hasContract(slice))
          before = getIndicesBefore(b, op, slice, indices);
      if (!before)
        break;
      tensor = view->getOperand(0);
      indices = std::move(*before);
    }
    if (tensor == extract.getTensor())
      continue;
    Value element = tensor::ExtractOp::create(b, op.getLoc(), tensor, indices);
    extract.replaceAllUsesWith(element);
    extract.erase();
  }
}

void mlir::fusion::reshapeLookups(FunctionOpInterface func) {
  for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>())
    if (op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
        !hasContract(op) && isContracted(op->getResult(0)))
      readWholeTensors(op);
  SmallVector<Operation *> reshapes;
  for (Operation &op : func.getFunctionBody().front())
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      reshapes.push_back(&op);
  for (Operation *reshape : reshapes) {
    Value result = reshape->getResult(0);
    linalg::GenericOp op = getLookup(reshape->getOperand(0));
    std::optional<SmallVector<AffineExpr>> sources =
        op ? getSources(reshape) : std::nullopt;
    if (sources && isContracted(result))
      reshapeLookup(op, reshape, *sources);
  }
}
