//===- RescalableSums.cpp - Sums relative to a maximum --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for the maximum that a sum is relative to:
// first in the one form that sums are rescaled in, then in any, where exponent
// and compared element are sums of the same terms but for one factor.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/RescalableSums.h"

#include "fusion/Analysis/BodyValues.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

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
  return RescalableSum{maximum, sum, exponential.getFastmath()};
}

//===----------------------------------------------------------------------===//
// Exponents as sums
//===----------------------------------------------------------------------===//

namespace {
/// A value, times a number, in a sum.
struct ScaledTerm {
  BodyValue value;
  double scale;
};
} // namespace

/// Terms of an exponent at most; more are not looked at.
static constexpr unsigned kMaxTerms = 8;

/// Constants that are one number but for the rounding of f32 are the same.
static bool areClose(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

/// Adds what `value`, times `scale`, is a sum of, across the operations that
/// compute it, to `terms`.
static LogicalResult addTerms(const BodyValue &value, double scale,
                              SmallVectorImpl<ScaledTerm> &terms,
                              unsigned depth = 0) {
  if (depth == kMaxBodyDepth || terms.size() == kMaxTerms)
    return failure();
  if (std::optional<TensorElement> element = getElement(value))
    if (std::optional<BodyValue> producer = getProducer(*element))
      return addTerms(*producer, scale, terms, depth + 1);
  Operation *op = value.value.getDefiningOp();
  auto add = [&](unsigned operand, double factor) {
    return addTerms(value.at(op->getOperand(operand)), scale * factor, terms,
                    depth + 1);
  };
  if (isa_and_present<arith::AddFOp, arith::SubFOp>(op))
    return success(succeeded(add(0, 1)) &&
                   succeeded(add(1, isa<arith::AddFOp>(op) ? 1 : -1)));
  if (isa_and_present<arith::NegFOp>(op))
    return add(0, -1);
  if (isa_and_present<arith::MulFOp>(op))
    for (unsigned i = 0; i < 2; ++i) {
      FloatAttr number;
      if (matchPattern(op->getOperand(i), m_Constant(&number)))
        return add(1 - i, number.getValueAsDouble());
    }
  terms.push_back({value, scale});
  return success();
}

/// The result of a maximum along dimensions that `sum` adds up along, taken
/// from `terms` with the positive number that it is subtracted with.
static std::optional<std::pair<TensorElement, double>>
takeMaximum(linalg::LinalgOp sum, SmallVectorImpl<ScaledTerm> &terms) {
  for (auto [i, term] : llvm::enumerate(terms)) {
    std::optional<TensorElement> result = findReduced(term.value);
    auto maximum = result ? result->tensor.getDefiningOp<linalg::LinalgOp>()
                          : linalg::LinalgOp();
    std::optional<Combiner> combiner = getOnlyCombiner(maximum);
    if (!combiner || term.scale >= 0 ||
        !isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner->op) ||
        maximum.getNumLoops() != sum.getNumLoops())
      continue;
    double scale = -term.scale;
    terms.erase(terms.begin() + i);
    return std::pair(*result, scale);
  }
  return std::nullopt;
}

bool mlir::fusion::isRelativeToMaximum(linalg::LinalgOp sum) {
  std::optional<Combiner> combiner = getOnlyCombiner(sum);
  if (!combiner || !isa<arith::AddFOp>(combiner->op))
    return false;
  BodyValue element{combiner->element, sum, getLoops(sum)};
  SmallVector<ScaledTerm> terms, largest;
  auto [natural, place] = findOp<math::ExpOp>(element);
  auto [binary, otherPlace] = findOp<math::Exp2Op>(element);
  if (!natural && !binary)
    return false;
  BodyValue exponent = natural ? place.at(natural.getOperand())
                               : otherPlace.at(binary.getOperand());
  if (failed(addTerms(exponent, 1, terms)))
    return false;
  std::optional<std::pair<TensorElement, double>> taken =
      takeMaximum(sum, terms);
  if (!taken)
    return false;
  auto [result, scale] = *taken;
  auto maximum = result.tensor.getDefiningOp<linalg::LinalgOp>();
  BodyValue compared{getOnlyCombiner(maximum)->element, maximum,
                     getLoops(maximum)};
  LoopMatcher matcher(sum, maximum);
  if (!matcher.haveSameResults(result.coords) ||
      failed(addTerms(compared, scale, largest)) ||
      largest.size() != terms.size())
    return false;
  for (const ScaledTerm &own : largest) {
    auto *same = llvm::find_if(terms, [&](const ScaledTerm &term) {
      LoopMatcher attempt = matcher;
      if (!areClose(term.scale, own.scale) ||
          !attempt.areSame(term.value, own.value))
        return false;
      matcher = attempt;
      return true;
    });
    if (same == terms.end())
      return false;
    terms.erase(same);
  }
  return matcher.knowsAll();
}
