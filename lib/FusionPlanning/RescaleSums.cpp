//===- RescaleSums.cpp - Sums relative to a maximum -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements softmax statistics in one sweep. The sum of exp(x - m)
// needs the maximum m of all x; but exp(x - m') = exp(x - m) exp(m - m'), so
// that a sum relative to a maximum so far is put right by a factor when a
// larger element comes. Rows that no block can keep are then read once for
// both.
//
// Where m is infinite, or NaN, the sum as it was written is NaN: an element
// equal to m gives exp(m - m). The rewritten sum adds m - m, which is zero for
// all other m.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/RescaleSums.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations on the way from a sum to what it depends on, at most.
static constexpr unsigned kMaxDepth = 16;
/// Of the time before, what a rewrite may take: arithmetic grows where reading
/// shrinks, and a gain that might be none is not worth it.
static constexpr double kMostTime = 0.95;

//===----------------------------------------------------------------------===//
// Which sums
//===----------------------------------------------------------------------===//

namespace {
/// An element of a tensor, at coordinates that the loops of a sum give.
struct TensorElement {
  Value tensor;
  SmallVector<AffineExpr> coords;
};

/// A value of an operation's body, at the point of its loops that those of a
/// sum give.
struct BodyValue {
  Value value;
  linalg::LinalgOp op;
  SmallVector<AffineExpr> point;

  BodyValue at(Value other) const { return {other, op, point}; }
};
} // namespace

/// The element of an operand that `value` is, if it is one.
static std::optional<TensorElement> getElement(const BodyValue &value) {
  linalg::LinalgOp op = value.op;
  auto argument = dyn_cast<BlockArgument>(value.value);
  if (!argument || argument.getOwner() != op.getBlock())
    return std::nullopt;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  if (!op.isDpsInput(operand))
    return std::nullopt;
  TensorElement element{operand->get(), {}};
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
    element.coords.push_back(expr.replaceDims(value.point));
  return element;
}

/// What computes `element`, where that is done point by point.
static std::optional<BodyValue> getProducer(const TensorElement &element) {
  auto producer = element.tensor.getDefiningOp<linalg::LinalgOp>();
  if (!producer || !producer.hasPureTensorSemantics() ||
      producer.getNumParallelLoops() != producer.getNumLoops())
    return std::nullopt;
  unsigned number = cast<OpResult>(element.tensor).getResultNumber();
  OpOperand *init = producer.getDpsInitOperand(number);
  if (!producer.getMatchingIndexingMap(init).isIdentity())
    return std::nullopt;
  return BodyValue{producer.getBlock()->getTerminator()->getOperand(number),
                   producer, element.coords};
}

/// `value`, or what computes it, when `Op` does.
template <typename Op>
static std::pair<Op, BodyValue> findOp(BodyValue value) {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    if (auto op = value.value.getDefiningOp<Op>())
      return {op, value};
    std::optional<TensorElement> element = getElement(value);
    std::optional<BodyValue> producer =
        element ? getProducer(*element) : std::nullopt;
    if (!producer)
      break;
    value = *producer;
  }
  return {nullptr, value};
}

/// The element of a reduction's result that `value` is.
static std::optional<TensorElement> findReduced(BodyValue value) {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    std::optional<TensorElement> element = getElement(value);
    auto op = element ? element->tensor.getDefiningOp<linalg::LinalgOp>()
                      : linalg::LinalgOp();
    if (!op)
      break;
    if (op.getNumReductionLoops() > 0)
      return element;
    std::optional<BodyValue> producer = getProducer(*element);
    if (!producer)
      break;
    value = *producer;
  }
  return std::nullopt;
}

/// The only combiner of `op`, a reduction that begins with its identity and
/// keeps one type.
static std::optional<Combiner> getOnlyCombiner(linalg::LinalgOp op) {
  if (!op || op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
      isContraction(op) || hasContract(op) || matchGranules(op))
    return std::nullopt;
  Combiner combiner = matchCombiner(op, 0);
  Value init = op.getDpsInitOperand(0)->get();
  if (!combiner.op || combiner.type != getElementTypeOrSelf(init) ||
      combiner.element.getType() != combiner.type ||
      !isIdentityFill(init, combiner))
    return std::nullopt;
  return combiner;
}

namespace {
/// Compares what a maximum is taken of with what is computed at the loops of a
/// sum, and finds out which loop of the sum each of the maximum's is.
class LoopMatcher {
public:
  LoopMatcher(linalg::LinalgOp sum, linalg::LinalgOp maximum)
      : sum(sum), maximum(maximum), loops(maximum.getNumLoops()),
        taken(sum.getNumLoops()) {}

  /// The results of the maximum are at `coords`, where the sum has its own.
  bool haveSameResults(ArrayRef<AffineExpr> coords);
  /// `value` is what `other`, of the maximum's body, is.
  bool areSame(const BodyValue &value, const BodyValue &other,
               unsigned depth = 0);
  bool knowsAll() {
    return taken.all() && sum.getNumLoops() == maximum.getNumLoops();
  }

private:
  /// Both run along one dimension.
  bool isSameLoop(AffineExpr coord, AffineExpr own);
  bool areSameLoops(ArrayRef<AffineExpr> coords, ArrayRef<AffineExpr> own);

  linalg::LinalgOp sum, maximum;
  SmallVector<AffineExpr> loops;
  llvm::SmallBitVector taken;
};
} // namespace

bool LoopMatcher::isSameLoop(AffineExpr coord, AffineExpr own) {
  auto loop = dyn_cast<AffineDimExpr>(coord);
  auto ownLoop = dyn_cast<AffineDimExpr>(own);
  if (!loop || !ownLoop)
    return false;
  AffineExpr &known = loops[ownLoop.getPosition()];
  if (known)
    return known == coord;
  if (taken.test(loop.getPosition()) ||
      sum.getIteratorTypesArray()[loop.getPosition()] !=
          maximum.getIteratorTypesArray()[ownLoop.getPosition()])
    return false;
  taken.set(loop.getPosition());
  known = coord;
  return true;
}

bool LoopMatcher::areSameLoops(ArrayRef<AffineExpr> coords,
                               ArrayRef<AffineExpr> own) {
  return coords.size() == own.size() &&
         llvm::all_of(llvm::zip(coords, own), [&](auto pair) {
           return isSameLoop(std::get<0>(pair), std::get<1>(pair));
         });
}

bool LoopMatcher::haveSameResults(ArrayRef<AffineExpr> coords) {
  AffineMap map = sum.getMatchingIndexingMap(sum.getDpsInitOperand(0));
  AffineMap own = maximum.getMatchingIndexingMap(maximum.getDpsInitOperand(0));
  return map.getResults() == coords && areSameLoops(coords, own.getResults());
}

bool LoopMatcher::areSame(const BodyValue &value, const BodyValue &other,
                          unsigned depth) {
  if (depth == kMaxDepth)
    return false;
  std::optional<TensorElement> element = getElement(value);
  std::optional<TensorElement> otherElement = getElement(other);
  if (element && otherElement && element->tensor == otherElement->tensor)
    return areSameLoops(element->coords, otherElement->coords);
  // Either may be computed by an operation before.
  if (element)
    if (std::optional<BodyValue> producer = getProducer(*element))
      return areSame(*producer, other, depth + 1);
  if (otherElement)
    if (std::optional<BodyValue> producer = getProducer(*otherElement))
      return areSame(value, *producer, depth + 1);
  if (element || otherElement)
    return false;
  Operation *a = value.value.getDefiningOp(), *b = other.value.getDefiningOp();
  if (!a || !b)
    return false;
  if (a == b)
    return a->hasTrait<OpTrait::ConstantLike>();
  if (a->getName() != b->getName() || a->getNumRegions() != 0 ||
      a->getNumOperands() != b->getNumOperands() || a->getNumResults() != 1 ||
      !isMemoryEffectFree(a) || isa<linalg::IndexOp>(a) ||
      a->getResultTypes() != b->getResultTypes() ||
      a->getAttrDictionary() != b->getAttrDictionary())
    return false;
  return llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()),
                      [&](auto pair) {
                        return areSame(value.at(std::get<0>(pair)),
                                       other.at(std::get<1>(pair)), depth + 1);
                      });
}

/// The loops of `op`, as they are.
static SmallVector<AffineExpr> getLoops(linalg::LinalgOp op) {
  SmallVector<AffineExpr> point;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    point.push_back(getAffineDimExpr(loop, op.getContext()));
  return point;
}

std::optional<RescalableSum>
mlir::fusion::findRescalableSum(linalg::LinalgOp sum) {
  std::optional<Combiner> combiner = getOnlyCombiner(sum);
  if (!combiner || !isa<arith::AddFOp>(combiner->op))
    return std::nullopt;
  auto [exponential, base] =
      findOp<math::ExpOp>({combiner->element, sum, getLoops(sum)});
  if (!exponential)
    return std::nullopt;
  auto [difference, terms] =
      findOp<arith::SubFOp>(base.at(exponential.getOperand()));
  if (!difference)
    return std::nullopt;
  std::optional<TensorElement> result =
      findReduced(terms.at(difference.getRhs()));
  if (!result)
    return std::nullopt;
  auto maximum = result->tensor.getDefiningOp<linalg::LinalgOp>();
  std::optional<Combiner> largest = getOnlyCombiner(maximum);
  if (!largest || !isa<arith::MaximumFOp, arith::MaxNumFOp>(largest->op) ||
      largest->type != combiner->type)
    return std::nullopt;
  LoopMatcher matcher(sum, maximum);
  if (!matcher.haveSameResults(result->coords) ||
      !matcher.areSame(terms.at(difference.getLhs()),
                       {largest->element, maximum, getLoops(maximum)}) ||
      !matcher.knowsAll())
    return std::nullopt;
  return RescalableSum{maximum, sum};
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// A tensor like `like` of `value`.
static Value buildFilled(OpBuilder &builder, Location loc, Value like,
                         TypedAttr value) {
  Value scalar = arith::ConstantOp::create(builder, loc, value);
  return linalg::FillOp::create(builder, loc, scalar, like).getResult(0);
}

/// s + (m - m), element by element.
static Value buildChecked(OpBuilder &builder, Location loc, Value m, Value s) {
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

/// Erases `op` and what only it needed.
static void eraseUnused(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *producer = operand.getDefiningOp())
      if (producer->use_empty() && isMemoryEffectFree(producer))
        eraseUnused(producer);
}

linalg::GenericOp mlir::fusion::rescaleSum(const RescalableSum &found) {
  linalg::LinalgOp maximum = found.maximum, sum = found.sum;
  OpBuilder builder(maximum);
  Location loc = sum.getLoc();
  Combiner combiner = matchCombiner(maximum, 0);
  RescaledSum form{Value(), Value(), combiner.op,
                   cast<FloatType>(combiner.type)};
  Value init = maximum.getDpsInitOperand(0)->get();
  SmallVector<Value> inits;
  for (TypedAttr neutral : form.getNeutral())
    inits.push_back(buildFilled(builder, loc, init, neutral));
  AffineMap kept = maximum.getMatchingIndexingMap(maximum.getDpsInitOperand(0));
  SmallVector<AffineMap> maps;
  for (OpOperand *input : maximum.getDpsInputOperands())
    maps.push_back(maximum.getMatchingIndexingMap(input));
  maps.append(2, kept);
  auto both = linalg::GenericOp::create(
      builder, loc, ValueRange(inits).getTypes(), maximum.getDpsInputs(), inits,
      maps, maximum.getIteratorTypesArray(),
      [&](OpBuilder &b, Location at, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(maximum.getBlock()->getArguments().drop_back(),
                    arguments.drop_back(2));
        for (Operation &inner : maximum.getBlock()->without_terminator())
          if (&inner != combiner.op)
            b.clone(inner, mapping);
        Value element = mapping.lookupOrDefault(combiner.element);
        Value one =
            arith::ConstantOp::create(b, at, b.getFloatAttr(form.type, 1.0));
        linalg::YieldOp::create(
            b, at, form.combine(b, at, arguments.take_back(2), {element, one}));
      });
  Value checked =
      buildChecked(builder, loc, both.getResult(0), both.getResult(1));
  maximum->getResult(0).replaceAllUsesWith(both.getResult(0));
  sum->getResult(0).replaceAllUsesWith(checked);
  eraseUnused(sum);
  eraseUnused(maximum);
  return both;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite mlir::fusion::getRescaleRewrite() {
  PricedRewrite rewrite;
  rewrite.find = [](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
      if (auto sum = findRescalableSum(op))
        matches.push_back({getOpLabel(sum->maximum, NodeKind::Reduction),
                           getOpLabel(sum->sum, NodeKind::Reduction), sum->sum,
                           [sum]() { return rescaleSum(*sum); }});
    return matches;
  };
  rewrite.reason = ReasonCode::RescaledSum;
  rewrite.mostTime = kMostTime;
  return rewrite;
}
