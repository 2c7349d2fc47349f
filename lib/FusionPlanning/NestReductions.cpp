//===- NestReductions.cpp - Reductions past those of rows -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the nesting of reductions. A sum over all elements of a
// softmax cannot share a kernel with it: blocks have a row each. As the sum,
// over rows, of sums along each row, its first part can. So can that of a sum
// beside another one which reduces some of its dimensions.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/NestReductions.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/FusionPlanning/SplitReductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations looked at on the way from a reduction to an earlier one.
static constexpr unsigned kMaxVisited = 64;

//===----------------------------------------------------------------------===//
// Which reductions
//===----------------------------------------------------------------------===//

/// True when one of the loops that `op` reduces may come before the others.
static bool mayNest(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 1 && !op.hasDynamicShape() &&
         isUngroupedReduction(op) && isDivisible(op);
}

namespace {
/// A tensor that a reduction depends on element by element, and the
/// reduction's loop that each of its dimensions is.
struct Dependence {
  Value tensor;
  SmallVector<unsigned> loops;
};
} // namespace

/// The loops of `op` that `earlier` reduces, if those that are not of its
/// result `result` are.
static std::optional<SmallVector<unsigned>>
getInnerLoops(linalg::LinalgOp op, linalg::LinalgOp earlier,
              const Dependence &result) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  SmallVector<unsigned> inner;
  int64_t elements = 1, reduced = 1;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (llvm::is_contained(result.loops, loop))
      continue;
    if (iterators[loop] != utils::IteratorType::reduction)
      return std::nullopt;
    inner.push_back(loop);
    elements *= extents[loop];
  }
  for (auto [extent, kind] : llvm::zip(earlier.getStaticLoopRanges(),
                                       earlier.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      reduced *= extent;
  if (elements != reduced || elements == 1 ||
      inner.size() == op.getNumReductionLoops())
    return std::nullopt;
  return inner;
}

/// `op` and `other`, which reads a tensor by `map` whose dimensions are `loops`
/// of `op`, if both reduce some dimensions, and each others besides.
static std::optional<NestedReduction>
findCommonLoops(linalg::LinalgOp op, linalg::LinalgOp other, AffineMap map,
                ArrayRef<unsigned> loops) {
  auto own = op.getIteratorTypesArray(), others = other.getIteratorTypesArray();
  if (loops.size() != own.size() || !mayNest(other))
    return std::nullopt;
  NestedReduction both{op, other, {}, {}};
  for (auto [expr, loop] : llvm::zip_equal(map.getResults(), loops)) {
    unsigned otherLoop = cast<AffineDimExpr>(expr).getPosition();
    if (own[loop] == utils::IteratorType::parallel ||
        others[otherLoop] == utils::IteratorType::parallel)
      continue;
    both.inner.push_back(loop);
    both.innerOfEarlier.push_back(otherLoop);
  }
  if (both.inner.empty() || both.inner.size() == op.getNumReductionLoops() ||
      both.inner.size() == other.getNumReductionLoops())
    return std::nullopt;
  return both;
}

/// The loops of `op` that another reduction of the tensor of `read` reduces,
/// element by element of the same, with that reduction.
static std::optional<NestedReduction> findBeside(linalg::LinalgOp op,
                                                 const Dependence &read) {
  for (OpOperand &use : read.tensor.getUses()) {
    auto other = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!other || other == op || other->getBlock() != op->getBlock() ||
        other.getNumReductionLoops() == 0 || other.hasDynamicShape() ||
        !other.isDpsInput(&use) || isContraction(other))
      continue;
    AffineMap map = other.getMatchingIndexingMap(&use);
    if (!map.isPermutation())
      continue;
    auto iterators = other.getIteratorTypesArray();
    Dependence result{Value(), {}};
    for (auto [expr, loop] : llvm::zip_equal(map.getResults(), read.loops))
      if (iterators[cast<AffineDimExpr>(expr).getPosition()] ==
          utils::IteratorType::parallel)
        result.loops.push_back(loop);
    if (auto inner = getInnerLoops(op, other, result))
      return NestedReduction{op, other, *inner, {}};
    if (auto both = findCommonLoops(op, other, map, read.loops))
      return both;
  }
  return std::nullopt;
}

std::optional<NestedReduction>
mlir::fusion::findNestedReduction(linalg::LinalgOp op) {
  if (!mayNest(op))
    return std::nullopt;
  SmallVector<Dependence> worklist;
  llvm::SmallPtrSet<Value, 16> seen;
  auto addInputs = [&](linalg::LinalgOp of, ArrayRef<unsigned> loops) {
    for (OpOperand *input : of.getDpsInputOperands()) {
      AffineMap map = of.getMatchingIndexingMap(input);
      if (map.isProjectedPermutation() && seen.size() < kMaxVisited &&
          seen.insert(input->get()).second)
        worklist.push_back(
            {input->get(),
             llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
               return loops[cast<AffineDimExpr>(expr).getPosition()];
             })});
    }
  };
  addInputs(op, llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops())));
  while (!worklist.empty()) {
    Dependence dependence = worklist.pop_back_val();
    if (auto nested = findBeside(op, dependence))
      return nested;
    auto producer = dependence.tensor.getDefiningOp<linalg::LinalgOp>();
    if (!producer || producer.hasDynamicShape() || isContraction(producer))
      continue;
    if (producer.getNumReductionLoops() > 0) {
      if (auto inner = getInnerLoops(op, producer, dependence))
        return NestedReduction{op, producer, *inner, {}};
      continue;
    }
    unsigned number = cast<OpResult>(dependence.tensor).getResultNumber();
    AffineMap made =
        producer.getMatchingIndexingMap(producer.getDpsInitOperand(number));
    if (made.isIdentity())
      addInputs(producer, dependence.loops);
  }
  return std::nullopt;
}

std::optional<NestedReduction>
mlir::fusion::findInterleavedReduction(linalg::LinalgOp op) {
  if (!mayNest(op))
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  // Whose rows blocks should read as they lie in memory.
  AffineMap most;
  int64_t mostElements = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type || type.getNumElements() <= mostElements)
      continue;
    most = op.getMatchingIndexingMap(input);
    mostElements = type.getNumElements();
  }
  // Dimensions of the tensor from the innermost: reduced, kept, reduced.
  NestedReduction result{op, nullptr, {}, {}};
  bool reducesInside = false, isOutside = false;
  for (AffineExpr expr :
       llvm::reverse(most ? most.getResults() : ArrayRef<AffineExpr>())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (extents[loop] == 1)
      continue;
    bool isReduced = iterators[loop] == utils::IteratorType::reduction;
    isOutside |= !isReduced && reducesInside;
    reducesInside |= isReduced;
    if (isReduced && isOutside)
      result.inner.push_back(loop);
  }
  if (result.inner.empty())
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// The first part: along the inner loops, from the identity on.
static linalg::GenericOp buildFirst(OpBuilder &builder, linalg::LinalgOp op,
                                    ArrayRef<unsigned> inner) {
  Location loc = op.getLoc();
  SmallVector<int64_t> extents = op.getStaticLoopRanges(), shape;
  SmallVector<AffineExpr> kept;
  SmallVector<utils::IteratorType> kinds(op.getNumLoops(),
                                         utils::IteratorType::reduction);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (llvm::is_contained(inner, loop))
      continue;
    kept.push_back(builder.getAffineDimExpr(loop));
    shape.push_back(extents[loop]);
    kinds[loop] = utils::IteratorType::parallel;
  }
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(op.getMatchingIndexingMap(input));
  maps.resize(op->getNumOperands(),
              AffineMap::get(op.getNumLoops(), 0, kept, op.getContext()));
  SmallVector<Value> inits;
  bool isOfMoments = matchMoments(op).has_value();
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    TypedAttr neutral = isOfMoments ? TypedAttr(builder.getF32FloatAttr(0))
                                    : matchCombiner(op, i).neutral;
    Value identity = arith::ConstantOp::create(builder, loc, neutral);
    Value empty =
        tensor::EmptyOp::create(builder, loc, shape, neutral.getType());
    inits.push_back(
        linalg::FillOp::create(builder, loc, identity, empty).getResult(0));
  }
  auto first =
      linalg::GenericOp::create(builder, loc, ValueRange(inits).getTypes(),
                                op.getDpsInputs(), inits, maps, kinds);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&first.getRegion(), mapping);
  return first;
}

namespace {
/// The second part: what the first one gave, along the other loops.
class SecondPart {
public:
  SecondPart(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<unsigned> inner,
             linalg::LinalgOp first);

  SmallVector<Value> build();

private:
  /// Adds `added`, of the first part's results and `others`, which are of the
  /// second's, to result `number`.
  Value addUp(unsigned number, ValueRange others,
              function_ref<Value(OpBuilder &, Location, ValueRange)> added);
  SmallVector<Value> buildMoments();

  OpBuilder &builder;
  linalg::LinalgOp op, first;
  SmallVector<utils::IteratorType> kinds;
  /// Of the first part's results, and of results.
  AffineMap whole;
  SmallVector<AffineMap> results;
};
} // namespace

SecondPart::SecondPart(OpBuilder &builder, linalg::LinalgOp op,
                       ArrayRef<unsigned> inner, linalg::LinalgOp first)
    : builder(builder), op(op), first(first) {
  SmallVector<AffineExpr> numbers;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    numbers.push_back(builder.getAffineDimExpr(kinds.size()));
    if (!llvm::is_contained(inner, loop))
      kinds.push_back(kind);
  }
  whole = builder.getMultiDimIdentityMap(kinds.size());
  for (OpOperand &init : op.getDpsInitsMutable())
    results.push_back(op.getMatchingIndexingMap(&init).replaceDimsAndSymbols(
        numbers, {}, kinds.size(), 0));
}

SmallVector<Value> SecondPart::build() {
  if (matchMoments(op))
    return buildMoments();
  unsigned numResults = first->getNumResults();
  SmallVector<AffineMap> maps(numResults, whole);
  llvm::append_range(maps, results);
  return linalg::GenericOp::create(
             builder, op.getLoc(), op->getResultTypes(), first->getResults(),
             op.getDpsInits(), maps, kinds,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               SmallVector<Value> yielded;
               for (unsigned i = 0; i < numResults; ++i) {
                 Operation *like = matchCombiner(op, i).op;
                 Value sum = arguments[numResults + i];
                 yielded.push_back(
                     combineValues(b, loc, like, sum, arguments[i]));
               }
               linalg::YieldOp::create(b, loc, yielded);
             })
      .getResults();
}

Value SecondPart::addUp(
    unsigned number, ValueRange others,
    function_ref<Value(OpBuilder &, Location, ValueRange)> added) {
  SmallVector<Value> inputs(first->getResults());
  llvm::append_range(inputs, others);
  SmallVector<AffineMap> maps(first->getNumResults(), whole);
  maps.append(others.size() + 1, results[number]);
  return linalg::GenericOp::create(
             builder, op.getLoc(), op->getResultTypes()[number], inputs,
             op.getDpsInits()[number], maps, kinds,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               Value value = added(b, loc, arguments.drop_back());
               value = arith::AddFOp::create(b, loc, arguments.back(), value);
               linalg::YieldOp::create(b, loc, value);
             })
      .getResult(0);
}

/// Where parts have n, s and q of their own, none of no elements, q is the sum
/// of theirs and of the squares of the distances of their means.
SmallVector<Value> SecondPart::buildMoments() {
  auto pick = [&](unsigned number) {
    return addUp(number, {}, [&](OpBuilder &, Location, ValueRange own) {
      return own[number];
    });
  };
  Value n = pick(0), s = pick(1);
  Value q = addUp(2, {n, s}, [](OpBuilder &b, Location loc, ValueRange own) {
    Value mean = arith::DivFOp::create(b, loc, own[4], own[3]);
    Value distance = arith::SubFOp::create(
        b, loc, arith::DivFOp::create(b, loc, own[1], own[0]), mean);
    Value square = arith::MulFOp::create(b, loc, distance, distance);
    return arith::AddFOp::create(b, loc, own[2],
                                 arith::MulFOp::create(b, loc, square, own[0]));
  });
  return {n, s, q};
}

/// The number that result `number` of `op` starts from, if it is known.
static TypedAttr getStart(linalg::LinalgOp op, unsigned number) {
  auto fill =
      op.getDpsInitOperand(number)->get().getDefiningOp<linalg::FillOp>();
  TypedAttr start;
  if (fill)
    matchPattern(fill.value(), m_Constant(&start));
  return start;
}

bool mlir::fusion::mayBeginByParts(linalg::LinalgOp op) {
  if (op.hasDynamicShape() || !isUngroupedReduction(op))
    return false;
  auto isZero = [&](unsigned number) {
    auto start = dyn_cast_or_null<FloatAttr>(getStart(op, number));
    return start && start.getValue().isZero();
  };
  return isDivisible(op) || (matchMoments(op) && !op.hasIndexSemantics() &&
                             llvm::all_of(llvm::seq(0u, 3u), isZero));
}

/// True when `other` gives what `first`, the first part of `op`, does: what
/// both start from may differ in the sign of a zero that `op` adds as well.
static bool gives(linalg::LinalgOp other, linalg::LinalgOp op,
                  linalg::GenericOp first) {
  if (first->getResultTypes() != other->getResultTypes() ||
      first.getDpsInputs() != other.getDpsInputs() ||
      first.getIndexingMapsArray() != other.getIndexingMapsArray() ||
      first.getIteratorTypesArray() != other.getIteratorTypesArray() ||
      !OperationEquivalence::isRegionEquivalentTo(
          &first.getRegion(), &other->getRegion(0),
          OperationEquivalence::IgnoreLocations))
    return false;
  return llvm::all_of(
      llvm::seq<unsigned>(0, first.getNumResults()), [&](unsigned i) {
        Combiner combiner = matchCombiner(op, i);
        TypedAttr start = getStart(other, i);
        auto zero = dyn_cast_or_null<FloatAttr>(start);
        return start == combiner.neutral ||
               (zero && zero.getValue().isPosZero() &&
                isa<arith::AddFOp>(combiner.op) && start == getStart(op, i));
      });
}

/// Moves `op` before `place`, with what it starts from, which is known.
static void moveBefore(linalg::LinalgOp op, Operation *place) {
  OpBuilder builder(place);
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    TypedAttr start = getStart(op, number);
    auto type = cast<RankedTensorType>(init.get().getType());
    Operation *before = init.get().getDefiningOp();
    Value constant = arith::ConstantOp::create(builder, op.getLoc(), start);
    Value empty = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                          type.getElementType());
    init.set(linalg::FillOp::create(builder, op.getLoc(), constant, empty)
                 .getResult(0));
    if (isOpTriviallyDead(before))
      before->erase();
  }
  op->moveBefore(place);
}

/// Nests `op` along `inner`; a first part that `earlier` gives is not computed
/// again. Returns the first part.
static linalg::LinalgOp nest(linalg::LinalgOp op, ArrayRef<unsigned> inner,
                             linalg::LinalgOp earlier) {
  OpBuilder builder(op);
  linalg::GenericOp built = buildFirst(builder, op, inner);
  linalg::LinalgOp first = built;
  if (earlier && gives(earlier, op, built)) {
    if (op->isBeforeInBlock(earlier))
      moveBefore(earlier, built);
    built.erase();
    first = earlier;
  }
  op->replaceAllUsesWith(SecondPart(builder, op, inner, first).build());
  op.erase();
  return first;
}

linalg::LinalgOp mlir::fusion::nestReduction(const NestedReduction &reduction) {
  linalg::LinalgOp op = reduction.op, earlier = reduction.earlier;
  if (reduction.innerOfEarlier.empty())
    return nest(op, reduction.inner, earlier);
  if (op->isBeforeInBlock(earlier))
    return nest(earlier, reduction.innerOfEarlier,
                nest(op, reduction.inner, earlier));
  return nest(op, reduction.inner, nest(earlier, reduction.innerOfEarlier, op));
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite mlir::fusion::getInterleaveRewrite(const TargetInfo &target) {
  PricedRewrite rewrite;
  rewrite.find = [](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
      if (auto reduction = findInterleavedReduction(op)) {
        std::string label = getOpLabel(op, NodeKind::Reduction);
        matches.push_back({label, label, op, [reduction]() {
                             return nestReduction(*reduction);
                           }});
      }
    return matches;
  };
  rewrite.reason = ReasonCode::BegunByColumns;
  rewrite.mostTime = target.fitted.kernels.finishedShare;
  return rewrite;
}

PricedRewrite mlir::fusion::getNestRewrite() {
  PricedRewrite rewrite;
  rewrite.find = [](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
      if (auto reduction = findNestedReduction(op))
        matches.push_back(
            {getOpLabel(reduction->earlier, NodeKind::Reduction),
             getOpLabel(reduction->op, NodeKind::Reduction), reduction->op,
             [reduction]() { return nestReduction(*reduction); },
             reduction->innerOfEarlier.empty() ? reduction->earlier : nullptr,
             std::nullopt});
    return matches;
  };
  rewrite.reason = ReasonCode::BegunByRows;
  return rewrite;
}
