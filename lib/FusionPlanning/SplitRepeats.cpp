//===- SplitRepeats.cpp - Contractions along what their operands lack -----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the splitting of dimensions that operands of
// contractions repeat. Heads that share keys are written as one dimension, and
// the keys as repeated for each of them, by copies or by quotients:
//
//   matmul(q<32>, collapse(repeat(k<8>)<8x4>))   ==>
//   matmul(q<32>, k[head floordiv 4])            ==>
//   collapse(matmul'(expand(q)<8x4>, k<8>))
//
// The contraction is made along both dimensions, reads the operand where it
// comes from, and what follows, reductions and all, up to the next contraction
// works on both as well. A batch whose parts are put apart by a permutation
// behind a contraction is not joined for it:
//
//   transpose(expand(batch_matmul(collapse(x), collapse(y))))  ==>
//   transpose(matmul'(x, y))
//
// Nor is that of another contraction whose result meets one of these.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations looked at on the way from a reshape to what it is computed from.
static constexpr unsigned kMaxVisited = 64;

//===----------------------------------------------------------------------===//
// Quotients and remainders
//===----------------------------------------------------------------------===//

namespace {
/// A coordinate that runs along `size` elements, each for `repeats` iterations
/// of `loop`, or all of them again and again.
struct RepeatedCoord {
  unsigned loop;
  int64_t size, repeats;
  bool inTurn;
};
} // namespace

/// What `coord`, of a dimension of `size` elements, repeats, if it is the
/// quotient or the remainder of one of the loops with `ranges`.
static std::optional<RepeatedCoord>
matchRepeatedCoord(AffineExpr coord, int64_t size, ArrayRef<int64_t> ranges) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(coord);
  if (!binary || (binary.getKind() != AffineExprKind::FloorDiv &&
                  binary.getKind() != AffineExprKind::Mod))
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!loop || !divisor || ShapedType::isDynamic(size))
    return std::nullopt;
  int64_t range = ranges[loop.getPosition()];
  bool inTurn = binary.getKind() == AffineExprKind::Mod;
  int64_t repeats = inTurn && size > 0 ? range / size : divisor.getValue();
  if ((inTurn && divisor.getValue() != size) || repeats < 2 ||
      range != size * repeats)
    return std::nullopt;
  return RepeatedCoord{loop.getPosition(), size, repeats, inTurn};
}

/// `source`, with each element of dimension `dim` repeated as `repeated` says.
static Value createRepeat(OpBuilder &builder, Location loc, Value source,
                          int64_t dim, const RepeatedCoord &repeated) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  int64_t added = repeated.inTurn ? dim : dim + 1;
  sizes.insert(sizes.begin() + added, builder.getIndexAttr(repeated.repeats));
  SmallVector<AffineExpr> coords;
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
    if (i != added)
      coords.push_back(builder.getAffineDimExpr(i));
    if (i == dim + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  }
  auto type = cast<RankedTensorType>(source.getType());
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  SmallVector<AffineMap> maps = {
      AffineMap::get(sizes.size(), 0, coords, builder.getContext()),
      builder.getMultiDimIdentityMap(sizes.size())};
  auto copy = linalg::GenericOp::create(
      builder, loc, TypeRange(empty), source, empty, maps,
      SmallVector<utils::IteratorType>(sizes.size(),
                                       utils::IteratorType::parallel),
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inner, at, arguments.front());
      });
  return tensor::CollapseShapeOp::create(builder, loc, copy.getResult(0),
                                         groups);
}

/// Lets contraction `op` read, instead of operands at quotients or remainders
/// of a loop, copies of them at the loop itself.
static void readCopies(linalg::GenericOp op) {
  if (!sumsProducts(op) || hasContract(op))
    return;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<std::tuple<OpOperand *, int64_t, RepeatedCoord>> found;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap &map = maps[operand->getOperandNumber()];
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    for (auto [dim, coord] : llvm::enumerate(map.getResults()))
      if (std::optional<RepeatedCoord> repeated =
              type ? matchRepeatedCoord(coord, type.getDimSize(dim), ranges)
                   : std::nullopt;
          repeated && linalg::isParallelIterator(iterators[repeated->loop])) {
        found.emplace_back(operand, dim, *repeated);
        map = map.replace(coord,
                          getAffineDimExpr(repeated->loop, op.getContext()),
                          map.getNumDims(), 0);
        break;
      }
  }
  // Other coordinates would keep the loops from being split.
  if (found.empty() || !llvm::all_of(maps, [](AffineMap map) {
        return map.isProjectedPermutation();
      }))
    return;
  OpBuilder builder(op);
  for (auto &[operand, dim, repeated] : found)
    operand->set(
        createRepeat(builder, op.getLoc(), operand->get(), dim, repeated));
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

/// Lets the copy that `collapse` is of, which repeats a tensor along a
/// dimension that is joined with dimensions of size one, do without these: all
/// that reads it has the same.
static void dropUnitLoops(tensor::CollapseShapeOp collapse) {
  auto copy = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!copy || copy.getNumDpsInputs() != 1 || copy.getNumReductionLoops() > 0 ||
      !copy->hasOneUse() || hasContract(copy) ||
      copy.getBody()->getTerminator()->getOperand(0) !=
          copy.getBody()->getArgument(0) ||
      !copy.getIndexingMapsArray().back().isIdentity())
    return;
  SmallVector<unsigned> dropped;
  for (ArrayRef<int64_t> group : collapse.getReassociationIndices()) {
    auto isOne = [&](int64_t dim) {
      return collapse.getSrcType().getDimSize(dim) == 1;
    };
    if (llvm::count_if(group, isOne) + 1 == static_cast<int64_t>(group.size()))
      llvm::append_range(dropped, llvm::make_filter_range(group, isOne));
  }
  if (dropped.empty())
    return;
  linalg::ControlDropUnitDims options;
  options.controlFn = [&](Operation *) { return dropped; };
  IRRewriter rewriter(copy);
  FailureOr<linalg::DropUnitDimsResult> made =
      linalg::dropUnitDims(rewriter, copy, options);
  if (succeeded(made))
    rewriter.replaceOp(copy, made->replacements);
}

//===----------------------------------------------------------------------===//
// Reshapes of what is repeated
//===----------------------------------------------------------------------===//

/// Where `map` has `loops`: the places of all of them, or of none; nothing
/// where it has some alone.
static std::optional<SmallVector<int64_t>> getPlaces(AffineMap map,
                                                     ArrayRef<int64_t> loops) {
  SmallVector<int64_t> places;
  for (int64_t loop : loops)
    if (std::optional<unsigned> place =
            map.getResultPosition(getAffineDimExpr(loop, map.getContext())))
      places.push_back(*place);
  if (!places.empty() && places.size() != loops.size())
    return std::nullopt;
  return places;
}

/// Is `value` computed from a tensor that has some of dimensions `dims`, and
/// not the others? Of several operations on the way, `contracts` says whether
/// one contracts.
static bool isFromParts(Value value, ArrayRef<int64_t> dims, bool &contracts) {
  SmallVector<std::pair<Value, SmallVector<int64_t>>> worklist;
  worklist.emplace_back(value, llvm::to_vector(dims));
  bool isFound = false;
  for (unsigned visited = 0; !worklist.empty() && visited < kMaxVisited;
       ++visited) {
    auto [present, own] = worklist.pop_back_val();
    auto op = present.getDefiningOp<linalg::GenericOp>();
    if (!op || op.getNumDpsInits() != 1)
      continue;
    AffineMap made = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!made.isProjectedPermutation())
      continue;
    contracts |= sumsProducts(op);
    SmallVector<int64_t> loops = llvm::map_to_vector(own, [&](int64_t dim) {
      return static_cast<int64_t>(made.getDimPosition(dim));
    });
    for (OpOperand *input : op.getDpsInputOperands()) {
      std::optional<SmallVector<int64_t>> places =
          getPlaces(op.getMatchingIndexingMap(input), loops);
      if (!places)
        isFound = true;
      else if (!places->empty())
        worklist.emplace_back(input->get(), *places);
    }
  }
  return isFound;
}

/// Should the reshape that `operand` reads follow its user instead?
static bool shouldSplit(OpOperand *operand) {
  auto user = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  // The rewriting would lose contracts.
  if (!user || !collapse || hasContract(user))
    return false;
  bool contracts = false;
  AffineMap map = user.getMatchingIndexingMap(operand);
  bool isSplit = false;
  for (auto [dim, group] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    SmallVector<int64_t> large;
    for (int64_t part : group)
      if (collapse.getSrcType().getDimSize(part) != 1)
        large.push_back(part);
    if (large.size() < 2 || !isFromParts(collapse.getSrc(), large, contracts))
      continue;
    // What is reduced stays one dimension.
    auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
    if (!loop || !linalg::isParallelIterator(
                     user.getIteratorTypesArray()[loop.getPosition()]))
      return false;
    isSplit = true;
  }
  if (!isSplit)
    return false;
  // A contraction takes what is repeated for it, no results of others; and what
  // is repeated goes to contractions on its own.
  if (contracts)
    return !sumsProducts(user);
  return sumsProducts(user) ||
         (user.getNumReductionLoops() == 0 && user.getNumDpsInputs() == 1);
}

/// The sizes of the parts of a dimension: what a reshape joins or splits.
static SmallVector<int64_t> getPartSizes(RankedTensorType type,
                                         ArrayRef<int64_t> parts) {
  return llvm::map_to_vector(
      parts, [&](int64_t part) { return type.getDimSize(part); });
}

/// Does every user split dimension `dim` of `value` into parts of `sizes`
/// again, pointwise operations on all of it aside?
static bool isSplitAgain(Value value, int64_t dim, ArrayRef<int64_t> sizes,
                         unsigned visited = 0) {
  auto splits = [&](OpOperand &use) {
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(use.getOwner()))
      return ArrayRef<int64_t>(
                 getPartSizes(expand.getResultType(),
                              expand.getReassociationIndices()[dim])) == sizes;
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    return op && visited < kMaxVisited && !hasContract(op) &&
           op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
           op.getMatchingIndexingMap(&use).isIdentity() &&
           op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
           isSplitAgain(op.getResult(0), dim, sizes, visited + 1);
  };
  return !value.use_empty() && llvm::all_of(value.getUses(), splits);
}

/// Where dimensions `dims` of the value that `use` reads are in what the user
/// computes, if it has all of them.
static SmallVector<int64_t> followDims(OpOperand &use, ArrayRef<int64_t> dims) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!op || op.getNumDpsInits() == 0)
    return {};
  AffineMap read = op.getMatchingIndexingMap(&use);
  AffineMap made = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> result;
  for (int64_t dim : dims)
    if (std::optional<unsigned> place =
            made.getResultPosition(read.getResult(dim)))
      result.push_back(*place);
  return result.size() == dims.size() ? result : SmallVector<int64_t>();
}

/// Does each of `dims` follow the one before it?
static bool areSideBySide(ArrayRef<int64_t> dims) {
  for (size_t i = 1; i < dims.size(); ++i)
    if (dims[i] != dims[i - 1] + 1)
      return false;
  return true;
}

/// Where a batch, joined as one dimension or split as `numParts`, is in the
/// result of a reshape, if that joins or splits it, or leaves it as it is.
static SmallVector<int64_t>
followReshape(Operation *reshape, ArrayRef<int64_t> dims, size_t numParts) {
  SmallVector<int64_t> result;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape)) {
    auto groups = expand.getReassociationIndices();
    for (int64_t dim : dims)
      llvm::append_range(result, groups[dim]);
    if (result.size() == numParts)
      return result;
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape)) {
    size_t joined = 0;
    for (auto [dim, group] :
         llvm::enumerate(collapse.getReassociationIndices()))
      if (llvm::any_of(group, [&](int64_t part) {
            return llvm::is_contained(dims, part);
          })) {
        result.push_back(dim);
        joined += group.size();
      }
    if (joined == dims.size())
      return result;
  }
  return {};
}

/// Is `value` computed from what a contraction gives, without a reshape?
static bool comesFromContraction(Value value) {
  SmallVector<Value> worklist = {value};
  for (unsigned visited = 0; !worklist.empty() && visited < kMaxVisited;
       ++visited) {
    auto op = worklist.pop_back_val().getDefiningOp<linalg::GenericOp>();
    if (op && sumsProducts(op))
      return true;
    if (op)
      llvm::append_range(worklist, op.getDpsInputs());
  }
  return false;
}

/// Where `dims`, all of the split batch, are in the result of an operation that
/// puts tensors together along another dimension, or adds dimensions of one
/// element.
static SmallVector<int64_t> followShaping(Operation *op,
                                          ArrayRef<int64_t> dims) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return llvm::is_contained(dims, static_cast<int64_t>(concat.getDim()))
               ? SmallVector<int64_t>()
               : llvm::to_vector(dims);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (!expand)
    return {};
  SmallVector<int64_t> result;
  for (int64_t dim : dims)
    for (int64_t part : expand.getReassociationIndices()[dim])
      if (expand.getResultType().getDimSize(part) != 1)
        result.push_back(part);
  return result.size() == dims.size() ? result : SmallVector<int64_t>();
}

/// Does `use`, of the parts of a batch, join them with what a contraction gives
/// that has them as well?
static bool meetsSplit(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  return op && op.getNumReductionLoops() == 0 &&
         llvm::any_of(op.getDpsInputs(), [&](Value input) {
           return input != use.get() && comesFromContraction(input);
         });
}

/// Is `value`, which has a joined batch as dimension `joined`, split again, by
/// itself or in what is computed from it, and are its parts, so many, put apart
/// by a permutation, or needed with those of another contraction?
static bool isNeededSplit(Value value, int64_t joined, size_t numParts) {
  SmallVector<std::pair<Value, SmallVector<int64_t>>> worklist;
  worklist.push_back({value, {joined}});
  for (unsigned visited = 0; !worklist.empty() && visited < kMaxVisited;
       ++visited) {
    auto [present, dims] = worklist.pop_back_val();
    for (OpOperand &use : present.getUses()) {
      SmallVector<int64_t> next = followDims(use, dims);
      if (next.empty())
        next = followReshape(use.getOwner(), dims, numParts);
      if (next.empty() && dims.size() == numParts)
        next = followShaping(use.getOwner(), dims);
      if (next.empty())
        continue;
      if (!areSideBySide(next) || (dims.size() == numParts && meetsSplit(use)))
        return true;
      worklist.emplace_back(use.getOwner()->getResult(0), next);
    }
  }
  return false;
}

/// Are dimensions `dims` of `value` put side by side by a permutation?
static bool isPutTogether(Value value, ArrayRef<int64_t> dims) {
  SmallVector<std::pair<Value, SmallVector<int64_t>>> worklist;
  worklist.emplace_back(value, llvm::to_vector(dims));
  for (unsigned visited = 0; !worklist.empty() && visited < kMaxVisited;
       ++visited) {
    auto [present, own] = worklist.pop_back_val();
    auto op = present.getDefiningOp<linalg::GenericOp>();
    if (!op || op.getNumDpsInits() != 1)
      continue;
    AffineMap made = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!made.isProjectedPermutation())
      continue;
    SmallVector<int64_t> loops = llvm::map_to_vector(own, [&](int64_t dim) {
      return static_cast<int64_t>(made.getDimPosition(dim));
    });
    for (OpOperand *input : op.getDpsInputOperands()) {
      std::optional<SmallVector<int64_t>> places =
          getPlaces(op.getMatchingIndexingMap(input), loops);
      if (!places || places->empty())
        continue;
      if (!areSideBySide(*places))
        return true;
      worklist.emplace_back(input->get(), *places);
    }
  }
  return false;
}

/// Is the batch of `op` that `operand` has joined at dimension `dim`, of
/// dimensions `parts` of what `collapse` joins, joined for it alone?
static bool isJoinedAlone(linalg::GenericOp op, OpOperand *operand, int64_t dim,
                          tensor::CollapseShapeOp collapse,
                          ArrayRef<int64_t> parts) {
  SmallVector<int64_t> sizes = getPartSizes(collapse.getSrcType(), parts);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineExpr loop = op.getMatchingIndexingMap(operand).getResult(dim);
  std::optional<unsigned> place = result.getResultPosition(loop);
  bool isBatch = llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *one) {
    return op.getMatchingIndexingMap(one).getResultPosition(loop);
  });
  // Two unknown sizes tell nothing about their product.
  return place && (isBatch || !sumsProducts(op)) &&
         llvm::count(sizes, ShapedType::kDynamic) <= 1 &&
         isSplitAgain(op.getResult(0), *place, sizes) &&
         (isNeededSplit(op.getResult(0), *place, sizes.size()) ||
          isPutTogether(collapse.getSrc(), parts) ||
          comesFromContraction(collapse.getSrc()));
}

/// Does what reads `operand` have its batch joined for a contraction alone,
/// while its parts are put apart before or behind it? Importers join them,
/// since what they have to call takes one dimension.
static bool isJoinedForUser(OpOperand *operand) {
  auto op = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  if (!op || !collapse || hasContract(op) || op.getNumDpsInits() != 1 ||
      (op.getNumReductionLoops() > 0 && !sumsProducts(op)))
    return false;
  bool isJoined = false;
  for (auto [dim, parts] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    if (parts.size() == 1)
      continue;
    if (!isJoinedAlone(op, operand, dim, collapse, parts))
      return false;
    isJoined = true;
  }
  return isJoined;
}

void mlir::fusion::splitRepeats(FunctionOpInterface func) {
  for (auto op : llvm::make_early_inc_range(
           func.getFunctionBody().front().getOps<linalg::GenericOp>()))
    readCopies(op);
  for (auto collapse : llvm::make_early_inc_range(
           func.getFunctionBody().front().getOps<tensor::CollapseShapeOp>()))
    dropUnitLoops(collapse);
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  linalg::populateFoldReshapeOpsByExpansionPatterns(
      patterns, [](OpOperand *operand) {
        return shouldSplit(operand) || isJoinedForUser(operand);
      });
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  (void)applyPatternsGreedily(
      func, std::move(patterns),
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled));
  // What is repeated is next to what reads it now.
  foldCopies(func);
}
