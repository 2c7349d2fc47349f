//===- FoldCopies.cpp - Operands that are read where they come from -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the folding of what only gives a tensor other
// dimensions into the maps of what reads it:
//
//   matmul(x, transpose(y))  ==>  matmul'(x, y)
//   sub(x, expand(m))        ==>  sub'(x, m)
//
// Contractions read transposed and repeated operands as they are: whether one
// is written in another order after all is decided later, by price. Dimensions
// of size one that a reduction gives its result for the sake of its users are
// not made, and not read.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Slices.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A tensor whose elements are those of another.
struct Copy {
  Value source;
  /// From coordinates of the copy to those of the source.
  AffineMap map;
};
} // namespace

/// The copy that `tensor` is, if an operation without a contract permutes or
/// repeats another tensor's dimensions.
static std::optional<Copy> matchCopy(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics() ||
      hasContract(op) || op->hasAttr(FusionDialect::kRepackAttrName))
    return std::nullopt;
  AffineMap in = op.getIndexingMapsArray()[0];
  AffineMap out = op.getIndexingMapsArray()[1];
  if (op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0) ||
      !in.isProjectedPermutation() || !out.isPermutation())
    return std::nullopt;
  return Copy{op.getDpsInputs().front(), in.compose(inversePermutation(out))};
}

/// The copy that `tensor` is, if it is one whose dimensions are joined, each
/// group of which lies side by side in the source as well: the source's are
/// joined instead, by an operation that this makes. Importers join heads and
/// batch behind a transpose.
static std::optional<Copy> matchJoinedCopy(Value tensor) {
  auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>();
  std::optional<Copy> copy =
      collapse ? matchCopy(collapse.getSrc()) : std::nullopt;
  if (!copy)
    return std::nullopt;
  // The group of each dimension of the copy, and of each one of the source.
  SmallVector<unsigned> groups;
  for (auto [group, dims] : llvm::enumerate(collapse.getReassociationIndices()))
    groups.append(dims.size(), group);
  SmallVector<ReassociationIndices> joined;
  SmallVector<AffineExpr> coords;
  std::optional<unsigned> before;
  for (auto [dim, coord] : llvm::enumerate(copy->map.getResults())) {
    unsigned at = cast<AffineDimExpr>(coord).getPosition();
    bool isNext = before && at == *before + 1 && groups[at] == groups[*before];
    if (!isNext) {
      joined.emplace_back();
      coords.push_back(getAffineDimExpr(groups[at], tensor.getContext()));
    }
    joined.back().push_back(dim);
    before = at;
  }
  // Whole groups, or none of one.
  for (auto [coord, dims] : llvm::zip_equal(coords, joined))
    if (dims.size() != static_cast<size_t>(llvm::count(
                           groups, cast<AffineDimExpr>(coord).getPosition())))
      return std::nullopt;
  Value source = copy->source;
  if (joined.size() < copy->map.getNumResults()) {
    OpBuilder builder(collapse);
    source = tensor::CollapseShapeOp::create(builder, collapse.getLoc(), source,
                                             joined);
  }
  return Copy{source, AffineMap::get(collapse.getResultType().getRank(), 0,
                                     coords, tensor.getContext())};
}

/// The copy that `tensor` is, if it is another one with dimensions of size one
/// more.
static std::optional<Copy> matchUnitDims(Value tensor) {
  auto op = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  if (!op)
    return std::nullopt;
  SmallVector<AffineExpr> coords;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    // Of a group that has only ones, any is the source's.
    auto isOne = [&](int64_t dim) {
      return op.getResultType().getDimSize(dim) == 1;
    };
    auto *other = llvm::find_if_not(group, isOne);
    if (other == group.end())
      other = group.begin();
    for (int64_t dim : group)
      if (dim != *other && !isOne(dim))
        return std::nullopt;
    coords.push_back(getAffineDimExpr(*other, op.getContext()));
  }
  return Copy{op.getSrc(), AffineMap::get(op.getResultType().getRank(), 0,
                                          coords, op.getContext())};
}

/// The tensor whose elements `tensor` repeats, in whatever order.
static std::optional<Copy> matchRepeat(Value tensor) {
  std::optional<Copy> copy = matchCopy(tensor);
  while (copy && copy->map.getNumResults() == copy->map.getNumDims()) {
    std::optional<Copy> source = matchCopy(copy->source);
    if (!source)
      return std::nullopt;
    copy = Copy{source->source, source->map.compose(copy->map)};
  }
  return copy;
}

/// The tensor that `op` can read instead of its operand `value`.
static std::optional<Copy> matchReadable(linalg::GenericOp op, Value value) {
  if (isContraction(op)) {
    std::optional<Copy> copy = matchCopy(value);
    return copy ? copy : matchJoinedCopy(value);
  }
  // One row for each of several that share a matrix: together they are a
  // contraction.
  if (sumsProducts(op))
    if (std::optional<Copy> repeat = matchRepeat(value))
      return repeat;
  // A dimension of size one may be what makes two operands of a contraction
  // belong together.
  return matchUnitDims(value);
}

/// Lets `operand` read the source of `copy`, unless nothing else would then
/// tell how far some loop runs.
static bool readSource(OpOperand &operand, const Copy &copy) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[operand.getOperandNumber()];
  map = copy.map.compose(map);
  if (!inversePermutation(concatAffineMaps(maps, op.getContext())))
    return false;
  op.setIndexingMapsAttr(Builder(op).getAffineMapArrayAttr(maps));
  operand.set(copy.source);
  return true;
}

/// Lets `op`, whose only result has dimensions of size one that no loop runs
/// along, have a result without these, which its users see with them.
static linalg::GenericOp dropUnitResults(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op->getNumResults() != 1 || hasContract(op))
    return op;
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(init);
  llvm::SmallBitVector dropped(map.getNumResults());
  for (auto [dim, coord] : llvm::enumerate(map.getResults()))
    dropped[dim] = isa<AffineConstantExpr>(coord);
  if (dropped.none())
    return op;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, init->get());
  Value kept;
  if (auto fill = init->get().getDefiningOp<linalg::FillOp>()) {
    SmallVector<OpFoldResult> keptSizes;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (!dropped.test(dim))
        keptSizes.push_back(size);
    Value empty =
        tensor::EmptyOp::create(builder, loc, keptSizes, type.getElementType());
    kept = linalg::FillOp::create(builder, loc, fill.getInputs().front(), empty)
               .getResult(0);
  } else {
    kept = tensor::dropGivenUnitDims(builder, loc, init->get(), dropped);
  }
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = map.dropResults(dropped);
  auto made = linalg::GenericOp::create(
      builder, loc, TypeRange(kept), op.getDpsInputs(), kept, maps,
      op.getIteratorTypesArray(), /*bodyBuild=*/nullptr,
      llvm::to_vector(op->getDiscardableAttrs()));
  made.getRegion().takeBody(op.getRegion());
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, type, made.getResult(0), groupByKept(dropped), sizes);
  op.getResult(0).replaceAllUsesWith(expanded);
  op.erase();
  return made;
}

void mlir::fusion::foldCopies(FunctionOpInterface func) {
  SmallVector<linalg::GenericOp> ops(
      func.getFunctionBody().front().getOps<linalg::GenericOp>());
  for (linalg::GenericOp &op : ops)
    op = dropUnitResults(op);
  for (linalg::GenericOp op : ops)
    for (OpOperand *operand : op.getDpsInputOperands())
      for (bool isRead = true; isRead;) {
        std::optional<Copy> copy = matchReadable(op, operand->get());
        Operation *maker = operand->get().getDefiningOp();
        isRead = copy && readSource(*operand, *copy);
        if (!isRead && copy && copy->source.use_empty())
          copy->source.getDefiningOp()->erase();
        // A copy of a copy goes with it.
        while (isRead &&
               isa_and_present<linalg::GenericOp, tensor::ExpandShapeOp,
                               tensor::CollapseShapeOp>(maker) &&
               maker->use_empty()) {
          Operation *before = maker->getOperand(0).getDefiningOp();
          maker->erase();
          maker = before;
        }
      }
}
