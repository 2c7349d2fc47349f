//===- RelativeSums.cpp - Sums of log-probabilities -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for what a sum's terms are made of. A term is
// looked through from its value to what it is made of: first as a product, of
// which one factor may be a sum and one an exponential of a sum; where a sum
// has an element and the maximum of such elements, that is a distance.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/RelativeSums.h"

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/RescalableSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;

/// Values looked at on the way to statistics, and operations on the way from a
/// maximum to the sum relative to it.
static constexpr unsigned kMaxVisited = 256, kMaxUsers = 16;

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

Value SoftmaxStatistics::getElement() const {
  if (areJoined())
    return matchRescaledSums(maximum)->pairs.front().element;
  return matchCombiner(maximum, 0).element;
}

Operation *SoftmaxStatistics::getCombiner() const {
  if (areJoined())
    return matchRescaledSums(maximum)->pairs.front().maximum;
  return matchCombiner(maximum, 0).op;
}

/// The statistics that `maximum` is the maximum of, if a sum follows it.
static std::optional<SoftmaxStatistics> findSumAfter(linalg::LinalgOp maximum) {
  SmallVector<Operation *> worklist{maximum};
  for (unsigned i = 0; i < worklist.size(); ++i)
    for (Operation *user : worklist[i]->getUsers()) {
      auto op = dyn_cast<linalg::LinalgOp>(user);
      if (!op || worklist.size() == kMaxUsers ||
          llvm::is_contained(worklist, user))
        continue;
      if (op.getNumReductionLoops() == 0) {
        worklist.push_back(user);
        continue;
      }
      std::optional<RescalableSum> found = findRescalableSum(op);
      if (found && found->maximum == maximum)
        return SoftmaxStatistics{maximum, op};
    }
  return std::nullopt;
}

/// The statistics that `op` makes a result of.
static std::optional<SoftmaxStatistics> getStatistics(linalg::LinalgOp op) {
  if (std::optional<RescaledSums> sums = matchRescaledSums(op)) {
    if (sums->pairs.size() != 1 || sums->linear)
      return std::nullopt;
    return SoftmaxStatistics{op, op};
  }
  if (std::optional<RescalableSum> found = findRescalableSum(op))
    return SoftmaxStatistics{found->maximum, found->sum};
  std::optional<Combiner> combiner = getOnlyCombiner(op);
  if (!combiner || !isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner->op))
    return std::nullopt;
  return findSumAfter(op);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
class RelativeMatcher {
public:
  explicit RelativeMatcher(linalg::LinalgOp sum) { found.sum = sum; }
  std::optional<RelativeSum> match();

private:
  /// Finds the statistics that `value` depends on element by element, and the
  /// loops that they are along.
  void findStatistics(const BodyValue &value);
  void addStatistics(const TensorElement &element,
                     const SoftmaxStatistics &own);
  /// True when `value` is not the same along the reduced loops.
  bool varies(const BodyValue &value, unsigned depth = 0) const;
  bool needsStatistics(const BodyValue &value) const;

  LogicalResult matchTerm(const BodyValue &value);
  LogicalResult matchProduct(const BodyValue &value, unsigned depth = 0);
  /// The terms of a sum; with `product`, one may be a product.
  LogicalResult matchTerms(const BodyValue &value, bool isNegative,
                           SmallVector<SignedValue> &terms,
                           std::optional<SignedValue> *product,
                           unsigned depth = 0);
  LogicalResult matchExponent(const BodyValue &exponent);
  LogicalResult matchLinear(ArrayRef<SignedValue> terms);
  /// The distances that `terms` have, which are taken from them.
  SmallVector<LinearSum::Distance, 2>
  takeDistances(SmallVector<SignedValue> &terms);
  std::optional<LinearSum::Distance> matchDistance(const SignedValue &element,
                                                   const SignedValue &maximum);

  RelativeSum found;
  SmallVector<SoftmaxStatistics> statistics;
  /// The operations that make them.
  SmallVector<Operation *> makers;
};
} // namespace

void RelativeMatcher::addStatistics(const TensorElement &element,
                                    const SoftmaxStatistics &own) {
  if (llvm::is_contained(makers, element.tensor.getDefiningOp()))
    return;
  llvm::SmallBitVector reduced(found.sum.getNumLoops(), true);
  for (AffineExpr coord : element.coords) {
    auto loop = dyn_cast<AffineDimExpr>(coord);
    if (!loop || !reduced.test(loop.getPosition()))
      return;
    reduced.reset(loop.getPosition());
  }
  llvm::SmallBitVector others = reduced;
  others.reset(getReducedLoops(found.sum));
  if (reduced.none() || others.any())
    return;
  if (statistics.empty()) {
    found.reduced = reduced;
    found.coords = element.coords;
  }
  if (found.coords != element.coords)
    return;
  statistics.push_back(own);
  makers.push_back(own.maximum);
  makers.push_back(own.sum);
}

void RelativeMatcher::findStatistics(const BodyValue &value) {
  SmallVector<BodyValue> worklist{value};
  for (unsigned i = 0; i < worklist.size() && i < kMaxVisited; ++i) {
    BodyValue next = worklist[i];
    if (std::optional<TensorElement> element = getElement(next)) {
      auto op = element->tensor.getDefiningOp<linalg::LinalgOp>();
      bool isReduced = op && op.getNumReductionLoops() > 0;
      std::optional<SoftmaxStatistics> own =
          isReduced ? getStatistics(op) : std::nullopt;
      if (own)
        addStatistics(*element, *own);
      else if (std::optional<BodyValue> producer = getProducer(*element))
        worklist.push_back(*producer);
      continue;
    }
    Operation *op = next.value.getDefiningOp();
    if (op && op->getBlock() == next.op.getBlock())
      for (Value operand : op->getOperands())
        worklist.push_back(next.at(operand));
  }
}

bool RelativeMatcher::varies(const BodyValue &value, unsigned depth) const {
  if (depth == kMaxBodyDepth)
    return true;
  if (std::optional<TensorElement> element = getElement(value)) {
    bool isAlong = llvm::any_of(element->coords, [&](AffineExpr coord) {
      return llvm::any_of(found.reduced.set_bits(), [&](unsigned loop) {
        return coord.isFunctionOfDim(loop);
      });
    });
    std::optional<BodyValue> producer =
        isAlong ? getProducer(*element) : std::nullopt;
    return isAlong && (!producer || varies(*producer, depth + 1));
  }
  Operation *op = value.value.getDefiningOp();
  if (!op || isa<linalg::IndexOp>(op))
    return true;
  linalg::LinalgOp body = value.op;
  return op->getBlock() == body.getBlock() &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return varies(value.at(operand), depth + 1);
         });
}

bool RelativeMatcher::needsStatistics(const BodyValue &value) const {
  SmallVector<Value> worklist{value.value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  linalg::LinalgOp body = value.op;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (std::optional<TensorElement> element = getElement(value.at(next)))
      op = element->tensor.getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (op->getBlock() == body.getBlock())
      llvm::append_range(worklist, op->getOperands());
    else if (llvm::is_contained(makers, op) || needsAny(op, makers))
      return true;
  }
  return false;
}

std::optional<LinearSum::Distance>
RelativeMatcher::matchDistance(const SignedValue &element,
                               const SignedValue &maximum) {
  if (element.isNegative == maximum.isNegative || !varies(element.value) ||
      varies(maximum.value))
    return std::nullopt;
  std::optional<TensorElement> result = findReduced(maximum.value);
  if (!result)
    return std::nullopt;
  auto *own = llvm::find_if(statistics, [&](const SoftmaxStatistics &one) {
    return one.getMaximum() == result->tensor;
  });
  if (own == statistics.end())
    return std::nullopt;
  linalg::LinalgOp op = own->maximum;
  LoopMatcher matcher(found.sum, op, found.reduced);
  if (!matcher.haveResultsAt(result->coords) ||
      !matcher.areSame(element.value, {own->getElement(), op, getLoops(op)}) ||
      !matcher.knowsAll())
    return std::nullopt;
  auto *known =
      llvm::find_if(found.sources, [&](const RelativeSum::Source &source) {
        return source.statistics.maximum == op;
      });
  unsigned number = known - found.sources.begin();
  if (known == found.sources.end())
    found.sources.push_back({*own, element.value});
  return LinearSum::Distance{number, element.isNegative};
}

SmallVector<LinearSum::Distance, 2>
RelativeMatcher::takeDistances(SmallVector<SignedValue> &terms) {
  SmallVector<LinearSum::Distance, 2> distances;
  for (unsigned i = 0; i < terms.size();) {
    std::optional<LinearSum::Distance> distance;
    unsigned other = 0;
    for (; other < terms.size() && !distance; ++other)
      if (other != i)
        distance = matchDistance(terms[i], terms[other]);
    if (!distance) {
      ++i;
      continue;
    }
    distances.push_back(*distance);
    terms.erase(terms.begin() + std::max(i, other - 1));
    terms.erase(terms.begin() + std::min(i, other - 1));
    i = 0;
  }
  return distances;
}

LogicalResult RelativeMatcher::matchTerms(const BodyValue &value,
                                          bool isNegative,
                                          SmallVector<SignedValue> &terms,
                                          std::optional<SignedValue> *product,
                                          unsigned depth) {
  if (depth == kMaxBodyDepth)
    return failure();
  if (!varies(value) || !needsStatistics(value)) {
    terms.push_back({value, isNegative});
    return success();
  }
  if (std::optional<TensorElement> element = getElement(value)) {
    std::optional<BodyValue> producer = getProducer(*element);
    return producer
               ? matchTerms(*producer, isNegative, terms, product, depth + 1)
               : failure();
  }
  Operation *op = value.value.getDefiningOp();
  if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op)) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      bool isTurned =
          isa<arith::NegFOp>(op) || (isa<arith::SubFOp>(op) && i == 1);
      if (failed(matchTerms(value.at(operand), isNegative != isTurned, terms,
                            product, depth + 1)))
        return failure();
    }
    return success();
  }
  if (!product || *product)
    return failure();
  *product = {value, isNegative};
  return success();
}

LogicalResult RelativeMatcher::matchExponent(const BodyValue &exponent) {
  SmallVector<SignedValue> terms;
  if (found.base || failed(matchTerms(exponent, false, terms, nullptr)))
    return failure();
  SmallVector<LinearSum::Distance, 2> distances = takeDistances(terms);
  if (distances.size() != 1 || distances.front().isNegative ||
      llvm::any_of(terms,
                   [&](const SignedValue &term) { return varies(term.value); }))
    return failure();
  found.base = distances.front().pair;
  found.exponents = std::move(terms);
  return success();
}

/// True for logarithms, none of which is above 104. What is large and cancels
/// in each term would not where terms are added up without it.
static bool isSmall(const BodyValue &constant) {
  return findOp<math::LogOp>(constant).first != nullptr;
}

LogicalResult RelativeMatcher::matchLinear(ArrayRef<SignedValue> all) {
  SmallVector<SignedValue> terms(all);
  if (!found.distances.empty())
    return failure();
  found.distances = takeDistances(terms);
  for (const SignedValue &term : terms) {
    if (varies(term.value))
      found.plain.push_back(term);
    else if (isSmall(term.value))
      found.constants.push_back(term);
    else
      return failure();
  }
  return success(!found.distances.empty());
}

LogicalResult RelativeMatcher::matchProduct(const BodyValue &value,
                                            unsigned depth) {
  if (depth == kMaxBodyDepth)
    return failure();
  if (!varies(value)) {
    found.factors.push_back({value});
    return success();
  }
  if (!needsStatistics(value)) {
    found.weights.push_back(value);
    return success();
  }
  if (std::optional<TensorElement> element = getElement(value)) {
    std::optional<BodyValue> producer = getProducer(*element);
    return producer ? matchProduct(*producer, depth + 1) : failure();
  }
  Operation *op = value.value.getDefiningOp();
  auto follow = [&](unsigned operand) {
    return matchProduct(value.at(op->getOperand(operand)), depth + 1);
  };
  if (isa<math::ExpOp>(op))
    return matchExponent(value.at(op->getOperand(0)));
  if (isa<arith::MulFOp>(op))
    return success(succeeded(follow(0)) && succeeded(follow(1)));
  if (isa<arith::NegFOp>(op)) {
    found.isNegative = !found.isNegative;
    return follow(0);
  }
  if (isa<arith::DivFOp>(op)) {
    BodyValue divisor = value.at(op->getOperand(1));
    if (varies(divisor))
      return failure();
    found.factors.push_back({divisor, /*isDivisor=*/true});
    return follow(0);
  }
  SmallVector<SignedValue> terms;
  if (!isa<arith::AddFOp, arith::SubFOp>(op) ||
      failed(matchTerms(value, false, terms, nullptr)))
    return failure();
  return matchLinear(terms);
}

LogicalResult RelativeMatcher::matchTerm(const BodyValue &value) {
  SmallVector<SignedValue> terms;
  std::optional<SignedValue> product;
  if (failed(matchTerms(value, false, terms, &product)))
    return failure();
  if (!product)
    return matchLinear(terms);
  if (terms.empty()) {
    found.isNegative = product->isNegative;
    return matchProduct(product->value);
  }
  // Terms beside a product are no multiples of its factors: of u (x - m) alone.
  if (failed(matchProduct(product->value)) || found.base ||
      !found.factors.empty() ||
      llvm::any_of(terms, [&](const SignedValue &term) {
        return !varies(term.value) || needsStatistics(term.value);
      }))
    return failure();
  found.isNegative ^= product->isNegative;
  for (SignedValue &term : terms) {
    term.isNegative ^= found.isNegative;
    found.beside.push_back(std::move(term));
  }
  return success();
}

std::optional<RelativeSum> RelativeMatcher::match() {
  linalg::LinalgOp sum = found.sum;
  std::optional<Combiner> combiner = getOnlyCombiner(sum);
  if (!combiner || !isa<arith::AddFOp>(combiner->op) || sum.hasDynamicShape() ||
      findRescalableSum(sum))
    return std::nullopt;
  BodyValue term{combiner->element, sum, getLoops(sum)};
  findStatistics(term);
  if (statistics.empty())
    return std::nullopt;
  // A sum without distances is no loss.
  found.isLinear =
      succeeded(matchTerm(term)) && !found.distances.empty() &&
      llvm::all_of(found.sources, [&](const RelativeSum::Source &source) {
        return source.statistics.getElement().getType() == combiner->type &&
               !needsAny(source.statistics.maximum, makers);
      });
  if (found.isLinear)
    return std::move(found);
  // Threads that keep elements read nothing again.
  if (!llvm::all_of(statistics, [](const SoftmaxStatistics &one) {
        return one.areJoined();
      }))
    return std::nullopt;
  found.sources.assign(1, {statistics.front(), term});
  return std::move(found);
}

std::optional<RelativeSum> mlir::fusion::findRelativeSum(linalg::LinalgOp sum) {
  return RelativeMatcher(sum).match();
}
