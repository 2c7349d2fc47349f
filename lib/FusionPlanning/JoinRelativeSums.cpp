//===- JoinRelativeSums.cpp - Losses in one sweep -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements sums of log-probabilities in one sweep with the softmax
// statistics that they are relative to. A divergence adds up t (log t - (x -
// l)) with l, the logarithm of a sum of exponentials, which is known when all x
// have been read. But l is the same for all terms, so that they may be added up
// without it: sum t (log t - x) + l sum t. That alone would cancel where x is
// large. What is added up is relative to the maximum m so far, x - m, and
// follows when the maximum grows, as a rescaled sum does; l - m, the logarithm
// of the sum relative to m, is small.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/JoinRelativeSums.h"

#include "JoinReductions.h"
#include "fusion/Analysis/RelativeSums.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Values that follow from tensors
//===----------------------------------------------------------------------===//

namespace {
/// Copies values of bodies into another body, whose inputs are what they are
/// computed from.
class BodyCopier {
public:
  /// Inputs do not depend on the loops `hidden`.
  explicit BodyCopier(llvm::SmallBitVector hidden)
      : hidden(std::move(hidden)) {}

  /// Adds the inputs that `value` needs; fails where it cannot be copied.
  LogicalResult add(const BodyValue &value, unsigned depth = 0);
  LogicalResult add(ArrayRef<SignedValue> values);
  ArrayRef<TensorElement> getInputs() const { return inputs; }

  /// Begins a body whose inputs are `arguments`.
  void enter(ValueRange arguments) {
    elements = arguments;
    copies.clear();
  }
  Value copy(OpBuilder &builder, const BodyValue &value);
  /// The sum of `values`; null: of none.
  Value copySum(OpBuilder &builder, Location loc, ArrayRef<SignedValue> values);

private:
  /// The input that `value` is an element of, if it is.
  std::optional<unsigned> findInput(const TensorElement &element) const;
  bool isHidden(const TensorElement &element) const;

  llvm::SmallBitVector hidden;
  SmallVector<TensorElement> inputs;
  ValueRange elements;
  SmallVector<std::pair<BodyValue, Value>> copies;
};
} // namespace

std::optional<unsigned>
BodyCopier::findInput(const TensorElement &element) const {
  const auto *known = llvm::find_if(inputs, [&](const TensorElement &input) {
    return input.tensor == element.tensor && input.coords == element.coords;
  });
  if (known == inputs.end())
    return std::nullopt;
  return known - inputs.begin();
}

bool BodyCopier::isHidden(const TensorElement &element) const {
  return llvm::any_of(hidden.set_bits(), [&](unsigned loop) {
    return llvm::any_of(element.coords, [&](AffineExpr coord) {
      return coord.isFunctionOfDim(loop);
    });
  });
}

LogicalResult BodyCopier::add(const BodyValue &value, unsigned depth) {
  if (depth == kMaxBodyDepth)
    return failure();
  if (std::optional<TensorElement> element = getElement(value)) {
    if (!isHidden(*element)) {
      if (!findInput(*element))
        inputs.push_back(*element);
      return success();
    }
    std::optional<BodyValue> producer = getProducer(*element);
    return producer ? add(*producer, depth + 1) : failure();
  }
  linalg::LinalgOp body = value.op;
  Operation *op = value.value.getDefiningOp();
  if (!op)
    return failure();
  if (op->getBlock() != body.getBlock())
    return success();
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isMemoryEffectFree(op) || isa<linalg::IndexOp>(op))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(add(value.at(operand), depth + 1)))
      return failure();
  return success();
}

LogicalResult BodyCopier::add(ArrayRef<SignedValue> values) {
  for (const SignedValue &term : values)
    if (failed(add(term.value)))
      return failure();
  return success();
}

Value BodyCopier::copy(OpBuilder &builder, const BodyValue &value) {
  if (std::optional<TensorElement> element = getElement(value)) {
    if (std::optional<unsigned> input = findInput(*element))
      return elements[*input];
    return copy(builder, *getProducer(*element));
  }
  linalg::LinalgOp body = value.op;
  Operation *op = value.value.getDefiningOp();
  if (op->getBlock() != body.getBlock())
    return value.value;
  for (auto &[known, copied] : copies)
    if (known.value == value.value && known.point == value.point)
      return copied;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, copy(builder, value.at(operand)));
  Value copied = builder.clone(*op, mapping)->getResult(0);
  copies.push_back({value, copied});
  return copied;
}

Value BodyCopier::copySum(OpBuilder &builder, Location loc,
                          ArrayRef<SignedValue> values) {
  Value sum;
  for (const auto &[value, isNegative] : values) {
    Value term = copy(builder, value);
    if (!sum)
      sum = isNegative ? arith::NegFOp::create(builder, loc, term) : term;
    else if (isNegative)
      sum = arith::SubFOp::create(builder, loc, sum, term);
    else
      sum = arith::AddFOp::create(builder, loc, sum, term);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

namespace {
/// Makes one reduction of a sum and of what it is relative to.
class RelativeJoiner {
public:
  explicit RelativeJoiner(const RelativeSum &sum)
      : found(sum), terms(llvm::SmallBitVector(sum.reduced.size())),
        constants(sum.reduced) {}

  /// Fails where a part of the sum cannot be computed elsewhere.
  LogicalResult collect();
  linalg::GenericOp join();

private:
  SmallVector<AffineMap> getMaps(const BodyCopier &copier) const;
  /// `exprs` of the sum's loops by those that `coords` are.
  AffineMap renumber(AffineMap map) const;
  linalg::GenericOp buildStates(OpBuilder &builder);
  SmallVector<Value> buildBody(OpBuilder &b, Location at, ValueRange kept);
  /// What the sum is along the loops of the statistics, for each of the others.
  Value buildResult(OpBuilder &builder, linalg::GenericOp states);
  Value buildConstants(OpBuilder &b, Location at, Value a, Value weights);
  /// The sum of `parts` along what else the sum reduces.
  Value buildRest(OpBuilder &builder, Value parts);
  bool isWhole() const { return found.reduced == getReducedLoops(found.sum); }

  const RelativeSum &found;
  /// Values along the statistics' loops, and values that are constant there.
  BodyCopier terms, constants;
  RescaledSums form;
};
} // namespace

LogicalResult RelativeJoiner::collect() {
  for (const RelativeSum::Source &source : found.sources)
    if (failed(terms.add(source.element)))
      return failure();
  for (const BodyValue &weight : found.weights)
    if (failed(terms.add(weight)))
      return failure();
  for (const ConstantFactor &factor : found.factors)
    if (failed(constants.add(factor.value)))
      return failure();
  return success(succeeded(terms.add(found.beside)) &&
                 succeeded(terms.add(found.plain)) &&
                 succeeded(constants.add(found.constants)) &&
                 succeeded(constants.add(found.exponents)));
}

SmallVector<AffineMap> RelativeJoiner::getMaps(const BodyCopier &copier) const {
  linalg::LinalgOp sum = found.sum;
  SmallVector<AffineMap> maps;
  for (const TensorElement &input : copier.getInputs())
    maps.push_back(
        AffineMap::get(sum.getNumLoops(), 0, input.coords, sum.getContext()));
  return maps;
}

AffineMap RelativeJoiner::renumber(AffineMap map) const {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> numbers(map.getNumDims(),
                                  getAffineConstantExpr(0, context));
  for (auto [number, coord] : llvm::enumerate(found.coords))
    numbers[cast<AffineDimExpr>(coord).getPosition()] =
        getAffineDimExpr(number, context);
  return map.replaceDimsAndSymbols(numbers, {}, found.coords.size(), 0);
}

SmallVector<Value> RelativeJoiner::buildBody(OpBuilder &b, Location at,
                                             ValueRange kept) {
  LinearSum &linear = form.linear.emplace();
  linear.distances = found.distances;
  linear.base = found.base;
  SmallVector<Value> elements;
  FloatType type = form.getType();
  Value one = arith::ConstantOp::create(b, at, b.getFloatAttr(type, 1.0));
  for (auto [pair, source] : llvm::zip_equal(form.pairs, found.sources)) {
    pair.element = terms.copy(b, source.element);
    pair.one = one;
    elements.push_back(pair.element);
  }
  for (const BodyValue &weight : found.weights) {
    Value factor = terms.copy(b, weight);
    linear.weight =
        linear.weight
            ? arith::MulFOp::create(b, at, linear.weight, factor).getResult()
            : factor;
  }
  linear.plain = terms.copySum(b, at, found.plain);
  if (linear.plain && linear.weight)
    linear.plain = arith::MulFOp::create(b, at, linear.weight, linear.plain);
  if (Value beside = terms.copySum(b, at, found.beside))
    linear.plain =
        linear.plain
            ? arith::AddFOp::create(b, at, beside, linear.plain).getResult()
            : beside;
  linear.element = buildLinearElement(b, at, linear, elements);
  SmallVector<Value> next;
  for (unsigned i = 0; i < form.getNumStates(); ++i)
    next.push_back(form.getElement(i));
  return form.combine(b, at, kept, next);
}

linalg::GenericOp RelativeJoiner::buildStates(OpBuilder &builder) {
  linalg::LinalgOp sum = found.sum;
  Location loc = sum.getLoc();
  for (const RelativeSum::Source &source : found.sources) {
    auto type = cast<FloatType>(source.element.value.getType());
    form.pairs.push_back({Value(), Value(), source.statistics.getCombiner(),
                          type, arith::FastMathFlags::none});
  }
  // The number of states follows from these.
  form.linear.emplace().base = found.base;
  if (!found.weights.empty())
    form.linear->weight = found.weights.front().value;
  SmallVector<Value> inputs, inits;
  for (const TensorElement &input : terms.getInputs())
    inputs.push_back(input.tensor);
  SmallVector<AffineMap> maps = getMaps(terms);
  SmallVector<int64_t> extents = sum.getStaticLoopRanges(), shape;
  for (AffineExpr coord : found.coords)
    shape.push_back(extents[cast<AffineDimExpr>(coord).getPosition()]);
  Value like =
      tensor::EmptyOp::create(builder, loc, shape, form.getType()).getResult();
  for (unsigned i = 0; i < form.getNumStates(); ++i) {
    inits.push_back(buildFilled(builder, loc, like, form.getNeutral(i)));
    maps.push_back(
        AffineMap::get(sum.getNumLoops(), 0, found.coords, sum.getContext()));
  }
  SmallVector<utils::IteratorType> kinds(sum.getNumLoops(),
                                         utils::IteratorType::parallel);
  for (unsigned loop : found.reduced.set_bits())
    kinds[loop] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
      builder, loc, ValueRange(inits).getTypes(), inputs, inits, maps, kinds,
      [&](OpBuilder &b, Location at, ValueRange arguments) {
        terms.enter(arguments.take_front(inputs.size()));
        linalg::YieldOp::create(
            b, at, buildBody(b, at, arguments.drop_front(inputs.size())));
      });
}

Value RelativeJoiner::buildConstants(OpBuilder &b, Location at, Value a,
                                     Value weights) {
  if (Value sum = constants.copySum(b, at, found.constants))
    a = arith::AddFOp::create(b, at, a,
                              arith::MulFOp::create(b, at, weights, sum));
  if (Value exponent = constants.copySum(b, at, found.exponents))
    a = arith::MulFOp::create(b, at, a, math::ExpOp::create(b, at, exponent));
  for (const auto &[value, isDivisor] : found.factors) {
    Value factor = constants.copy(b, value);
    a = isDivisor ? arith::DivFOp::create(b, at, a, factor).getResult()
                  : arith::MulFOp::create(b, at, a, factor).getResult();
  }
  return found.isNegative ? arith::NegFOp::create(b, at, a).getResult() : a;
}

Value RelativeJoiner::buildResult(OpBuilder &builder,
                                  linalg::GenericOp states) {
  linalg::LinalgOp sum = found.sum;
  Location loc = sum.getLoc();
  AffineMap identity = builder.getMultiDimIdentityMap(found.coords.size());
  Value a = states.getResult(2 * form.pairs.size());
  SmallVector<Value> inputs{a, states.getResult(form.getWeights())};
  for (unsigned k = 0; k < form.pairs.size(); ++k)
    inputs.push_back(states.getResult(2 * k));
  unsigned own = inputs.size();
  SmallVector<AffineMap> maps(own, identity);
  for (auto [input, map] :
       llvm::zip_equal(constants.getInputs(), getMaps(constants))) {
    inputs.push_back(input.tensor);
    maps.push_back(renumber(map));
  }
  auto type = cast<RankedTensorType>(a.getType());
  AffineMap made = identity;
  if (isWhole()) {
    made = renumber(sum.getMatchingIndexingMap(sum.getDpsInitOperand(0)));
    type = cast<RankedTensorType>(sum->getResult(0).getType());
  }
  maps.push_back(made);
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<utils::IteratorType> kinds(found.coords.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, inputs, empty, maps, kinds,
             [&](OpBuilder &b, Location at, ValueRange arguments) {
               constants.enter(arguments.drop_front(own).drop_back());
               // As terms are written, they are NaN where a maximum is
               // infinite.
               Value checked = arguments[0];
               for (Value m : arguments.slice(2, own - 2))
                 checked = arith::AddFOp::create(
                     b, at, checked, arith::SubFOp::create(b, at, m, m));
               linalg::YieldOp::create(
                   b, at, buildConstants(b, at, checked, arguments[1]));
             })
      .getResult(0);
}

Value RelativeJoiner::buildRest(OpBuilder &builder, Value parts) {
  linalg::LinalgOp sum = found.sum;
  SmallVector<utils::IteratorType> kinds;
  for (AffineExpr coord : found.coords)
    kinds.push_back(
        sum.getIteratorTypesArray()[cast<AffineDimExpr>(coord).getPosition()]);
  std::array<AffineMap, 2> maps{
      builder.getMultiDimIdentityMap(found.coords.size()),
      renumber(sum.getMatchingIndexingMap(sum.getDpsInitOperand(0)))};
  return linalg::GenericOp::create(
             builder, sum.getLoc(), sum->getResultTypes(), parts,
             sum.getDpsInits(), maps, kinds,
             [](OpBuilder &b, Location at, ValueRange arguments) {
               Value added =
                   arith::AddFOp::create(b, at, arguments[1], arguments[0]);
               linalg::YieldOp::create(b, at, added);
             })
      .getResult(0);
}

linalg::GenericOp RelativeJoiner::join() {
  linalg::LinalgOp sum = found.sum;
  Block *block = sum->getBlock();
  OpBuilder builder(sum);
  linalg::GenericOp states = buildStates(builder);
  Value result = buildResult(builder, states);
  sum->getResult(0).replaceAllUsesWith(isWhole() ? result
                                                 : buildRest(builder, result));
  SmallVector<Operation *> unused{sum};
  for (auto [k, source] : llvm::enumerate(found.sources)) {
    SoftmaxStatistics old = source.statistics;
    Value m = states.getResult(2 * k), s = states.getResult(2 * k + 1);
    if (!old.areJoined()) {
      s = buildChecked(builder, old.sum.getLoc(), m, s);
      unused.push_back(old.sum);
    }
    unused.push_back(old.maximum);
    old.getSum().replaceAllUsesWith(s);
    old.getMaximum().replaceAllUsesWith(m);
  }
  for (Operation *op : unused)
    eraseUnused(op);
  // Others need the statistics before the place of the sum.
  sortTopologically(block);
  return states;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

PricedRewrite mlir::fusion::getRelativeRewrite(const TargetInfo &target) {
  PricedRewrite rewrite = getJoinRewrite(
      ReasonCode::RelativeSum, target.fitted.kernels.relativeShare,
      [](linalg::LinalgOp op) -> std::optional<RewriteMatch> {
        std::optional<RelativeSum> found = findRelativeSum(op);
        if (!found)
          return std::nullopt;
        RewriteMatch match =
            getJoinMatch(found->sources.front().statistics.sum, op, [found]() {
              RelativeJoiner joiner(*found);
              [[maybe_unused]] LogicalResult collected = joiner.collect();
              assert(succeeded(collected) && "a match is made of values");
              return joiner.join();
            });
        if (!found->isLinear || failed(RelativeJoiner(*found).collect()))
          match.forbidden = ReasonCode::NoRepair;
        return match;
      });
  rewrite.showsRefused = true;
  return rewrite;
}
