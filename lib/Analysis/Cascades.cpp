//===- Cascades.cpp - Reductions that follow one another ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for the factors by which what a sum adds up
// depends on the results of earlier reductions. An element is looked through
// from its value to what it is made of: where it is a product, any factor may
// be an exponential of which the earlier result is a term.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/RescalableSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

bool mlir::fusion::needsAny(Operation *op, ArrayRef<Operation *> others) {
  SmallVector<Operation *> worklist{op};
  llvm::SmallPtrSet<Operation *, 16> seen;
  // What comes before all others needs none of them.
  auto isEarly = [&](Operation *producer) {
    return llvm::all_of(others, [&](Operation *other) {
      return producer->getBlock() == other->getBlock() &&
             producer->isBeforeInBlock(other);
    });
  };
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    for (Value operand : next->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !seen.insert(producer).second || isEarly(producer))
        continue;
      if (llvm::is_contained(others, producer))
        return true;
      worklist.push_back(producer);
    }
  }
  return false;
}

/// The number that `value` is, if it is a constant.
static std::optional<double> getNumber(Value value) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  return std::nullopt;
}

namespace {
/// The search in the elements of one sum.
class RepairMatcher {
public:
  RepairMatcher(linalg::LinalgOp later, ArrayRef<linalg::LinalgOp> earlier)
      : later(later), earlier(earlier) {
    for (linalg::LinalgOp op : earlier)
      sources.push_back(op);
  }

  /// Finds the factors of `value` that depend on sources; fails where
  /// anything but factors does.
  LogicalResult matchFactors(const BodyValue &value, unsigned depth = 0);
  FailureOr<CascadeLinks> takeLinks();

private:
  /// An earlier result, times a number, in a sum.
  struct Term {
    TensorElement source;
    double scale;
  };

  bool isSource(Value tensor) const {
    return llvm::is_contained(sources, tensor.getDefiningOp());
  }
  bool depends(const BodyValue &value);
  /// The sources in the sum `value`; fails where it depends on any in another
  /// way.
  FailureOr<SmallVector<Term>> matchTerms(const BodyValue &value,
                                          unsigned depth = 0);
  /// The earlier sum that `value` is, but for extensions.
  std::optional<TensorElement> findSum(BodyValue value);
  /// Notes that operand `operand` of `op`, a product or quotient, can be
  /// divided by later, if it can.
  bool defer(const BodyValue &value, Operation *op, unsigned operand);
  /// Notes that `choice`, between zero and an element, can be made later, if it
  /// is the same for all elements: the operand that is the element.
  std::optional<unsigned> deferChoice(const BodyValue &value,
                                      arith::SelectOp choice);
  /// Adds what exponential `op` with the terms `terms` is repaired by.
  void addRepairs(Operation *op, ArrayRef<Term> terms);

  linalg::LinalgOp later;
  ArrayRef<linalg::LinalgOp> earlier;
  SmallVector<Operation *> sources;
  CascadeLinks links;
};
} // namespace

bool RepairMatcher::depends(const BodyValue &value) {
  SmallVector<Value> worklist{value.value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op) {
      std::optional<TensorElement> element = getElement(value.at(next));
      op = element ? element->tensor.getDefiningOp() : nullptr;
      if (op && (llvm::is_contained(sources, op) || needsAny(op, sources)))
        return true;
      continue;
    }
    if (!seen.insert(op).second)
      continue;
    // Bodies capture scalars that are elements of tensors.
    if (op->getBlock() != linalg::LinalgOp(value.op).getBlock()) {
      if (llvm::is_contained(sources, op) || needsAny(op, sources))
        return true;
      continue;
    }
    llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

FailureOr<SmallVector<RepairMatcher::Term>>
RepairMatcher::matchTerms(const BodyValue &value, unsigned depth) {
  if (!depends(value))
    return SmallVector<Term>();
  if (depth == kMaxBodyDepth)
    return failure();
  if (std::optional<TensorElement> element = getElement(value)) {
    if (isSource(element->tensor))
      return SmallVector<Term>{{*element, 1.0}};
    std::optional<BodyValue> producer = getProducer(*element);
    if (!producer)
      return failure();
    return matchTerms(*producer, depth + 1);
  }
  Operation *op = value.value.getDefiningOp();
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op))
    return failure();
  SmallVector<Term> all;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    FailureOr<SmallVector<Term>> terms =
        matchTerms(value.at(operand), depth + 1);
    if (failed(terms))
      return failure();
    double scale = 1;
    if (isa<arith::NegFOp>(op) || (isa<arith::SubFOp>(op) && i == 1))
      scale = -1;
    if (isa<arith::MulFOp>(op) && !terms->empty()) {
      std::optional<double> number = getNumber(op->getOperand(1 - i));
      if (!number)
        return failure();
      scale = *number;
    }
    for (Term &term : *terms)
      all.push_back({term.source, term.scale * scale});
  }
  return all;
}

void RepairMatcher::addRepairs(Operation *op, ArrayRef<Term> terms) {
  for (const Term &term : terms) {
    auto *same = llvm::find_if(links.repairs, [&](const Repair &repair) {
      return repair.source.tensor == term.source.tensor &&
             repair.source.coords == term.source.coords &&
             repair.exponential->getName() == op->getName();
    });
    // A term -s m makes a factor e^(s (m - m')).
    if (same == links.repairs.end())
      links.repairs.push_back({term.source, op, -term.scale});
    else
      same->scale -= term.scale;
  }
}

LogicalResult RepairMatcher::matchFactors(const BodyValue &value,
                                          unsigned depth) {
  if (!depends(value))
    return success();
  if (depth == kMaxBodyDepth)
    return failure();
  if (std::optional<TensorElement> element = getElement(value)) {
    std::optional<BodyValue> producer = getProducer(*element);
    return producer ? matchFactors(*producer, depth + 1) : failure();
  }
  Operation *op = value.value.getDefiningOp();
  auto follow = [&](Value operand) {
    return matchFactors(value.at(operand), depth + 1);
  };
  if (isa<math::ExpOp, math::Exp2Op>(op)) {
    FailureOr<SmallVector<Term>> terms =
        matchTerms(value.at(op->getOperand(0)));
    if (failed(terms))
      return failure();
    addRepairs(op, *terms);
    return success();
  }
  // What rounds an element rounds it relative to itself.
  if (isa<arith::TruncFOp>(op))
    links.roundings.push_back(op);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(op))
    return follow(op->getOperand(0));
  if (isa<arith::MulFOp>(op))
    for (unsigned i = 0; i < 2; ++i)
      if (defer(value, op, i))
        return follow(op->getOperand(1 - i));
  if (isa<arith::MulFOp>(op))
    return success(succeeded(follow(op->getOperand(0))) &&
                   succeeded(follow(op->getOperand(1))));
  if (auto quotient = dyn_cast<arith::DivFOp>(op)) {
    if (depends(value.at(quotient.getRhs())) && !defer(value, op, 1))
      return failure();
    return follow(quotient.getLhs());
  }
  // A choice would hide that an element is no number where m is infinite, but
  // for one that is made for all of them.
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    if (std::optional<unsigned> element = deferChoice(value, choice))
      return follow(op->getOperand(*element));
  return failure();
}

std::optional<TensorElement> RepairMatcher::findSum(BodyValue value) {
  for (unsigned depth = 0; depth < kMaxBodyDepth; ++depth) {
    if (auto extension = value.value.getDefiningOp<arith::ExtFOp>()) {
      value = value.at(extension.getIn());
      continue;
    }
    std::optional<TensorElement> element = getElement(value);
    if (!element)
      return std::nullopt;
    if (isSource(element->tensor)) {
      auto sum = element->tensor.getDefiningOp<linalg::LinalgOp>();
      if (isa<arith::AddFOp>(matchCombiner(sum, 0).op))
        return element;
      return std::nullopt;
    }
    std::optional<BodyValue> producer = getProducer(*element);
    if (!producer)
      return std::nullopt;
    value = *producer;
  }
  return std::nullopt;
}

bool RepairMatcher::defer(const BodyValue &value, Operation *op,
                          unsigned operand) {
  BodyValue factor = value.at(op->getOperand(operand));
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if (!quotient) {
    auto [reciprocal, place] = findOp<arith::DivFOp>(factor);
    if (!reciprocal || getNumber(reciprocal.getLhs()) != 1.0)
      return false;
    quotient = reciprocal;
    factor = place.at(reciprocal.getRhs());
  }
  std::optional<TensorElement> source = findSum(factor);
  if (!source ||
      !isRelativeToMaximum(source->tensor.getDefiningOp<linalg::LinalgOp>()))
    return false;
  links.deferrals.push_back({*source, op, 1 - operand, quotient.getFastmath()});
  links.roundings.push_back(op);
  return true;
}

std::optional<unsigned> RepairMatcher::deferChoice(const BodyValue &value,
                                                   arith::SelectOp choice) {
  auto isZero = [&](Value operand) {
    std::optional<TensorElement> element = getElement(value.at(operand));
    return matchPattern(element ? element->tensor : operand, m_AnyZeroFloat());
  };
  bool isFirstZero = isZero(choice.getTrueValue());
  if (!isFirstZero && !isZero(choice.getFalseValue()))
    return std::nullopt;
  BodyValue condition = value.at(choice.getCondition());
  std::optional<TensorElement> source = getElement(condition);
  if (!source)
    return std::nullopt;
  for (auto [loop, kind] : llvm::enumerate(later.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction &&
        llvm::any_of(source->coords, [&, loop = loop](AffineExpr coord) {
          return coord.isFunctionOfDim(loop);
        }))
      return std::nullopt;
  unsigned element = isFirstZero ? 2 : 1;
  links.deferrals.push_back({*source, choice, element});
  return element;
}

FailureOr<CascadeLinks> RepairMatcher::takeLinks() {
  for (const Repair &repair : links.repairs) {
    auto source = repair.source.tensor.getDefiningOp<linalg::LinalgOp>();
    Combiner combiner = matchCombiner(source, 0);
    Value init = source.getDpsInitOperand(0)->get();
    bool isMaximum = isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner.op);
    bool isMinimum = isa<arith::MinimumFOp, arith::MinNumFOp>(combiner.op);
    if (!isIdentityFill(init, combiner) ||
        (!(isMaximum && repair.scale > 0) && !(isMinimum && repair.scale < 0)))
      return failure();
  }
  return std::move(links);
}

bool mlir::fusion::isPlainReduction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics())
    return false;
  Combiner combiner = matchCombiner(op, 0);
  return combiner.op &&
         combiner.type == getElementTypeOrSelf(op.getDpsInitOperand(0)->get());
}

bool mlir::fusion::sumsProducts(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1;
}

FailureOr<CascadeLinks>
mlir::fusion::matchRepairs(linalg::LinalgOp op,
                           ArrayRef<linalg::LinalgOp> earlier) {
  RepairMatcher matcher(op, earlier);
  SmallVector<Operation *> others(earlier.begin(), earlier.end());
  if (!needsAny(op, others))
    return CascadeLinks();
  if (!isPlainReduction(op) || !llvm::all_of(earlier, isPlainReduction))
    return failure();
  // What a walk begins with would have to be repaired as well.
  for (Value init : op.getDpsInits())
    if (Operation *producer = init.getDefiningOp())
      if (needsAny(producer, others))
        return failure();
  Combiner combiner = matchCombiner(op, 0);
  if (!isa<arith::AddFOp>(combiner.op) ||
      failed(matcher.matchFactors({combiner.element, op, getLoops(op)})))
    return failure();
  FailureOr<CascadeLinks> links = matcher.takeLinks();
  bool haveType = succeeded(links) &&
                  llvm::all_of(links->deferrals, [&](const Deferral &one) {
                    return one.isChoice() ||
                           getElementTypeOrSelf(one.source.tensor.getType()) ==
                               combiner.type;
                  });
  if (!haveType)
    return failure();
  return links;
}
