//===- FoldRows.cpp - Reductions over rows of any length ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the folding of rows that are no whole vectors:
//
//   x<N x 35> -> sum along N   ==>
//   x<N/8 x 8 x 35> -> sum along N/8 -> sum along 8
//
// Nothing tells the dimensions of 8 and 35 apart in the first sum, which reads
// rows of 280.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/FoldRows.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/FusionPlanning/NestReductions.h"
#include "fusion/Support/Hardware.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// Operations looked at on the way from a reduction to what it reads.
static constexpr unsigned kMaxVisited = 64;

/// The operation that computes `value` element by element from tensors of its
/// shape and from numbers, if one does.
static linalg::GenericOp getElementwise(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() > 0 || op.getNumDpsInits() != 1 ||
      op.hasIndexSemantics() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return nullptr;
  bool isElementwise =
      llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
        return map.isIdentity() || map.getNumResults() == 0;
      });
  return isElementwise ? op : nullptr;
}

/// What `values` are computed from element by element: tensors that operations
/// between give, users last, and those that others give.
static std::pair<llvm::SetVector<linalg::GenericOp>, llvm::SetVector<Value>>
getElements(ValueRange values) {
  llvm::SetVector<linalg::GenericOp> between;
  llvm::SetVector<Value> sources;
  auto visit = [&](auto &&self, Value value) -> void {
    linalg::GenericOp op = getElementwise(value);
    if (!op || between.size() == kMaxVisited) {
      sources.insert(value);
      return;
    }
    if (between.contains(op))
      return;
    for (OpOperand *input : op.getDpsInputOperands())
      if (op.getMatchingIndexingMap(input).getNumResults() > 0)
        self(self, input->get());
    between.insert(op);
  };
  for (Value value : values)
    visit(visit, value);
  return {between, sources};
}

//===----------------------------------------------------------------------===//
// Which reductions
//===----------------------------------------------------------------------===//

std::optional<FoldedRows> mlir::fusion::findFoldedRows(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() == 0 || !mayBeginByParts(op))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (!map.isPermutation() ||
      llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
        return op.getMatchingIndexingMap(input) != map;
      }))
    return std::nullopt;
  auto iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto getLoop = [&](unsigned dim) { return map.getDimPosition(dim); };
  auto isReduced = [&](unsigned dim) {
    return iterators[getLoop(dim)] == utils::IteratorType::reduction;
  };
  FoldedRows result{op};
  unsigned end = map.getNumResults();
  int64_t row = 1, count = 1;
  for (; end > 0 && !isReduced(end - 1); --end)
    row *= extents[getLoop(end - 1)];
  result.first = end;
  for (; result.first > 0 && isReduced(result.first - 1); --result.first)
    count *= extents[getLoop(result.first - 1)];
  result.count = end - result.first;
  if (row == 1 || count <= 1)
    return std::nullopt;
  for (Value source : getElements(op.getDpsInputs()).second) {
    Type element = getElementTypeOrSelf(source.getType());
    int64_t bytes = std::max(element.getIntOrFloatBitWidth() / 8, 1u);
    // Lanes fill lines by a word each, wherever rows begin.
    if (bytes >= kLineBytes / kWarpThreads)
      continue;
    result.rows = std::max<int64_t>(
        result.rows,
        kMaxAccessBytes / std::gcd<int64_t>(row * bytes, kMaxAccessBytes));
  }
  result.rows = std::gcd(result.rows, count);
  if (result.rows == 1)
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

namespace {
/// Builds a reduction that tells the folded rows apart.
class RowFolder {
public:
  RowFolder(OpBuilder &builder, const FoldedRows &folded);

  /// The reduction, and its loops by the dimensions of what it reads.
  linalg::GenericOp buildReduction();

private:
  /// `value` with the dimensions of rows as one, which is then split.
  Value reshape(Value value);
  /// What the reduction reads, with its rows folded.
  SmallVector<Value> buildInputs();
  /// `map`, to dimensions of what is read, in terms of those of what is folded.
  AffineMap getFolded(AffineMap map) const;

  OpBuilder &builder;
  FoldedRows folded;
  /// The sizes with the dimensions of rows as one, and with that one split.
  SmallVector<int64_t> joined, split;
};
} // namespace

RowFolder::RowFolder(OpBuilder &builder, const FoldedRows &folded)
    : builder(builder), folded(folded) {
  linalg::LinalgOp op = folded.op;
  auto type = cast<RankedTensorType>(op.getDpsInputs().front().getType());
  joined.assign(type.getShape().begin(), type.getShape().end());
  auto *first = joined.begin() + folded.first;
  for (unsigned i = 1; i < folded.count; ++i)
    *first *= first[i];
  joined.erase(first + 1, first + folded.count);
  split = joined;
  split[folded.first] /= folded.rows;
  split.insert(split.begin() + folded.first + 1, folded.rows);
}

Value RowFolder::reshape(Value value) {
  Location loc = value.getLoc();
  SmallVector<ReassociationIndices> groups;
  auto addGroups = [&](unsigned number, unsigned inFirst) {
    groups.clear();
    for (int64_t next = 0; groups.size() < number;) {
      groups.emplace_back();
      unsigned size = groups.size() == folded.first + 1 ? inFirst : 1;
      for (unsigned i = 0; i < size; ++i)
        groups.back().push_back(next++);
    }
  };
  if (folded.count > 1) {
    addGroups(joined.size(), folded.count);
    value = tensor::CollapseShapeOp::create(builder, loc, value, groups);
  }
  addGroups(joined.size(), 2);
  Type element = getElementTypeOrSelf(value.getType());
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(split, element), value, groups);
}

SmallVector<Value> RowFolder::buildInputs() {
  linalg::LinalgOp reduction = folded.op;
  auto [between, sources] = getElements(reduction.getDpsInputs());
  IRMapping mapping;
  for (Value source : sources)
    mapping.map(source, reshape(source));
  AffineMap identity = builder.getMultiDimIdentityMap(split.size());
  AffineMap none = AffineMap::get(split.size(), 0, builder.getContext());
  for (linalg::GenericOp op : between) {
    SmallVector<AffineMap> maps;
    for (AffineMap map : op.getIndexingMapsArray())
      maps.push_back(map.getNumResults() > 0 ? identity : none);
    SmallVector<Value> inputs;
    for (Value input : op.getDpsInputs())
      inputs.push_back(mapping.lookupOrDefault(input));
    Type element = getElementTypeOrSelf(op->getResultTypes().front());
    Value empty = tensor::EmptyOp::create(builder, op.getLoc(), split, element);
    SmallVector<utils::IteratorType> kinds(split.size(),
                                           utils::IteratorType::parallel);
    auto copy = linalg::GenericOp::create(builder, op.getLoc(), empty.getType(),
                                          inputs, empty, maps, kinds);
    IRMapping inside;
    op->getRegion(0).cloneInto(&copy.getRegion(), inside);
    mapping.map(op->getResult(0), copy->getResult(0));
  }
  return llvm::map_to_vector(reduction.getDpsInputs(), [&](Value input) {
    return mapping.lookup(input);
  });
}

AffineMap RowFolder::getFolded(AffineMap map) const {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    results.push_back(builder.getAffineDimExpr(
        dim < folded.first ? dim : dim + 2 - folded.count));
  }
  return AffineMap::get(split.size(), 0, results, builder.getContext());
}

linalg::GenericOp RowFolder::buildReduction() {
  linalg::LinalgOp op = folded.op;
  // Loops become dimensions of what is read.
  AffineMap dims =
      inversePermutation(op.getMatchingIndexingMap(op.getDpsInputOperand(0)));
  auto iterators = op.getIteratorTypesArray();
  SmallVector<utils::IteratorType> kinds(split.size(),
                                         utils::IteratorType::reduction);
  for (auto [loop, kind] : llvm::enumerate(iterators))
    if (kind == utils::IteratorType::parallel)
      kinds[cast<AffineDimExpr>(getFolded(AffineMap::get(iterators.size(), 0,
                                                         dims.getResult(loop)))
                                    .getResult(0))
                .getPosition()] = kind;
  SmallVector<Value> inputs = buildInputs();
  SmallVector<AffineMap> maps(inputs.size(),
                              builder.getMultiDimIdentityMap(split.size()));
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(getFolded(op.getMatchingIndexingMap(&init).compose(dims)));
  auto whole =
      linalg::GenericOp::create(builder, op.getLoc(), op->getResultTypes(),
                                inputs, op.getDpsInits(), maps, kinds);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&whole.getRegion(), mapping);
  return whole;
}

linalg::LinalgOp mlir::fusion::foldRows(const FoldedRows &folded) {
  linalg::LinalgOp op = folded.op;
  OpBuilder builder(op);
  linalg::GenericOp whole = RowFolder(builder, folded).buildReduction();
  op->replaceAllUsesWith(whole);
  op.erase();
  // All but the rows that are folded.
  NestedReduction nested{whole, nullptr, {}, {}};
  for (auto [loop, kind] : llvm::enumerate(whole.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction && loop != folded.first + 1)
      nested.inner.push_back(loop);
  return nestReduction(nested);
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite mlir::fusion::getFoldRewrite() {
  PricedRewrite rewrite;
  rewrite.find = [](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
      if (auto folded = findFoldedRows(op)) {
        std::string label = getOpLabel(op, NodeKind::Reduction);
        matches.push_back(
            {label, label, op, [folded]() { return foldRows(*folded); }});
      }
    return matches;
  };
  rewrite.reason = ReasonCode::BegunByFoldedRows;
  return rewrite;
}
