//===- DivideValues.cpp - Which values are made in parts ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decision which values are made in parts, and along
// which dimensions: the plan says what is stored, and what parts cost.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/DivideValues.h"

#include "Neighbourhood.h"
#include "ProductResults.h"
#include "ValueDivision.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "fusion/FusionPlanning/SplitReductions.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;

/// Of what is computed elementwise of a large value, so many are tried.
static constexpr unsigned kMostDerived = 16;
/// Plans of more and more parts that are made for one dimension.
static constexpr unsigned kMostTries = 8;

/// True where another slice is written into the memory of `value`: the last of
/// such values stands for all.
static bool isWrittenOn(const ComputeGraph &graph, const GraphValue &value) {
  return llvm::any_of(value.readers, [&](unsigned reader) {
    const GraphNode &node = graph.getNode(reader);
    return node.inPlace &&
           cast<tensor::InsertSliceOp>(node.op).getDest() == value.ssa;
  });
}

/// Values that `plan` stores between kernels and that are larger than
/// `mostBytes`, readers before what they read: parts of these may be made of
/// parts of those.
static SmallVector<unsigned> findLargeValues(const ComputeGraph &graph,
                                             const FusionPlan &plan,
                                             int64_t mostBytes) {
  SmallVector<unsigned> found;
  for (const PlannedKernel &kernel : plan.kernels)
    for (unsigned id : kernel.stored) {
      const GraphValue &value = graph.getValue(id);
      if (!value.escapes && !isWrittenOn(graph, value) &&
          value.bytes() > static_cast<double>(mostBytes))
        found.push_back(id);
    }
  llvm::sort(found, [&](unsigned a, unsigned b) {
    int makerA = graph.getValue(a).producer,
        makerB = graph.getValue(b).producer;
    return makerA != makerB ? makerA > makerB : a < b;
  });
  found.erase(llvm::unique(found), found.end());
  return found;
}

static double getBytes(const ComputeGraph &graph, ArrayRef<unsigned> values) {
  double bytes = 0;
  for (unsigned id : values)
    bytes += graph.getValue(id).bytes();
  return bytes;
}

/// Bytes of values of parts that the kernels of `plan` have between them at
/// once.
static double getPartBytes(const ComputeGraph &graph, const FusionPlan &plan) {
  std::map<unsigned, size_t> lastReads;
  for (auto [place, kernel] : llvm::enumerate(plan.kernels))
    for (unsigned node : kernel.nodes)
      for (const TensorRead &read : graph.getNode(node).reads)
        lastReads[graph.getBase(read.value)] = place;
  double bytes = 0, most = 0;
  std::multimap<size_t, double> ends;
  for (auto [place, kernel] : llvm::enumerate(plan.kernels)) {
    for (unsigned id : kernel.stored) {
      const GraphValue &value = graph.getValue(id);
      const GraphNode &maker = graph.getNode(value.producer);
      if (maker.divided < 0 || maker.inPlace || value.escapes)
        continue;
      bytes += value.bytes();
      ends.emplace(lastReads[id], value.bytes());
    }
    most = std::max(most, bytes);
    for (auto [end, freed] : llvm::make_range(ends.equal_range(place)))
      bytes -= freed;
  }
  return most;
}

/// `value`, and what is computed of it elementwise: the parts of that may do
/// with parts of `value`, where others read all of it before.
static SmallVector<Value> getDerived(Value value) {
  llvm::SmallSetVector<Value, 8> derived;
  derived.insert(value);
  for (unsigned i = 0; i < derived.size() && i < kMostDerived; ++i) {
    SmallVector<Operation *> users;
    for (Operation *user : derived[i].getUsers())
      if (user->getBlock() == value.getParentBlock())
        users.push_back(user);
    llvm::sort(users, [](Operation *a, Operation *b) {
      return a != b && a->isBeforeInBlock(b);
    });
    for (Operation *user : users)
      if (auto op = dyn_cast<linalg::LinalgOp>(user); isElementwise(op))
        derived.insert(op->getResult(0));
  }
  return derived.takeVector();
}

namespace {
/// Decides on the values of one function.
class ValueDivider {
public:
  ValueDivider(FunctionOpInterface func, const TargetInfo &target,
               const PlanOptions &options, int64_t mostBytes, int64_t number)
      : func(func), target(target), options(options), mostBytes(mostBytes),
        number(number) {}

  bool run(RewriteEntries &entries, RewriteEntries &refused);

private:
  /// What becomes of the function by a division.
  struct Outcome {
    FusionPlan plan;
    /// Bytes of values that are stored and too large.
    double largeBytes;
    /// Bytes of parts, and of sums over them, that are in memory at once.
    double partBytes;
  };
  FailureOr<Outcome> tryDivision(const ValueDivision &division) const;
  /// The cheapest division of `value`, or of what is derived of it, without
  /// which it is stored; fills `entry`.
  std::optional<ValueDivision> choose(unsigned value, LedgerEntry &entry) const;
  /// The fewest parts along `dim` whose plan keeps the limit.
  FusionDecision findFitting(Value value, unsigned dim, ValueDivision &division,
                             FailureOr<Outcome> &outcome) const;
  std::optional<ValueDivision>
  chooseDim(Value value, LedgerEntry &entry,
            std::optional<FusionDecision> &refused) const;
  std::string getLabels(ArrayRef<unsigned> nodes) const;

  FunctionOpInterface func;
  const TargetInfo &target;
  const PlanOptions &options;
  int64_t mostBytes, number;
  std::optional<ComputeGraph> graph;
  FusionPlan before;
  double largeBytes = 0;
};
} // namespace

FailureOr<ValueDivider::Outcome>
ValueDivider::tryDivision(const ValueDivision &division) const {
  IRMapping mapping;
  OwningOpRef<Operation *> owner = cloneForPlanning(func, mapping);
  auto copy = cast<FunctionOpInterface>(owner.get());
  ValueDivision same;
  if (!findDivision(mapping.lookup(division.value), division.dim, mostBytes,
                    division.getNumParts(), same))
    return failure();
  makeParts(same, number);
  RewriteDriver(copy, target, options).run(getSplitRewrite(options.repairs));
  FailureOr<ComputeGraph> after =
      ComputeGraph::build(copy.getFunctionBody().front(), options.graph);
  if (failed(after))
    return failure();
  Outcome outcome{planFusion(*after, target, options), 0, 0};
  outcome.partBytes = getPartBytes(*after, outcome.plan);
  outcome.largeBytes =
      getBytes(*after, findLargeValues(*after, outcome.plan, mostBytes));
  return outcome;
}

std::string ValueDivider::getLabels(ArrayRef<unsigned> nodes) const {
  SmallVector<StringRef> labels;
  for (unsigned node : nodes)
    labels.push_back(graph->getNode(node).label);
  return llvm::join(labels, ", ");
}

/// Notes whose value is divided and who reads it.
static void nameDivision(const ValueDivision &division, LedgerEntry &entry) {
  linalg::LinalgOp maker = division.makers.back().op;
  entry.producer =
      getOpLabel(maker, maker.getNumReductionLoops() ? NodeKind::Contraction
                                                     : NodeKind::Pointwise);
  SmallVector<std::string> readers;
  for (const DividedReader &reader : division.readers)
    readers.push_back(getOpLabel(reader.product.op, NodeKind::Contraction));
  entry.consumer = llvm::join(readers, ", ");
}

static std::string describeDivision(const ValueDivision &division,
                                    double bytes) {
  std::string shape;
  llvm::raw_string_ostream os(shape);
  auto type = cast<RankedTensorType>(division.value.getType());
  for (int64_t size : type.getShape())
    os << size << "x";
  os << type.getElementType();
  return llvm::formatv("{0} in {1} parts of {2} along dimension {3}; {4} bytes "
                       "of parts and of sums over parts at once",
                       shape, division.getNumParts(), division.size,
                       division.dim, toCount(bytes))
      .str();
}

FusionDecision ValueDivider::findFitting(Value value, unsigned dim,
                                         ValueDivision &division,
                                         FailureOr<Outcome> &outcome) const {
  int64_t leastParts = 2;
  for (unsigned tries = 0; tries < kMostTries; ++tries) {
    FusionDecision decision =
        findDivision(value, dim, mostBytes, leastParts, division);
    if (!decision)
      return decision;
    outcome = tryDivision(division);
    if (failed(outcome))
      return FusionDecision::no(ReasonCode::PartSizes);
    if (outcome->partBytes <= static_cast<double>(mostBytes))
      return FusionDecision::yes();
    double needed = outcome->partBytes / static_cast<double>(mostBytes);
    leastParts =
        std::max(division.getNumParts() + 1,
                 toCount(std::ceil(
                     needed * static_cast<double>(division.getNumParts()))));
  }
  return FusionDecision::no(ReasonCode::PartsTooLarge);
}

std::optional<ValueDivision>
ValueDivider::chooseDim(Value value, LedgerEntry &entry,
                        std::optional<FusionDecision> &refused) const {
  std::optional<ValueDivision> best;
  // A contract counts for more than sizes, and these for more than what stands
  // in the way along one dimension.
  auto getWeight = [](const FusionDecision &decision) {
    return decision.getDetail().empty()
               ? int(decision.getCode() == ReasonCode::PartsTooLarge)
               : 2;
  };
  auto refuse = [&](FusionDecision decision) {
    if (!refused || getWeight(decision) > getWeight(*refused))
      refused = std::move(decision);
  };
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (unsigned dim = 0; dim < rank; ++dim) {
    ValueDivision division;
    FailureOr<Outcome> outcome = failure();
    FusionDecision decision = findFitting(value, dim, division, outcome);
    if (!decision) {
      refuse(std::move(decision));
      continue;
    }
    const FusionPlan &after = outcome->plan;
    if (after.violations.size() > before.violations.size()) {
      refuse(FusionDecision::no(ReasonCode::PartMakers,
                                after.violations.front().message));
    } else if (outcome->largeBytes >= largeBytes) {
      refuse(FusionDecision::no(ReasonCode::PartReaders));
    } else if (!best || after.ledger.timeAfterUs < entry.timeAfterUs) {
      best = division;
      compareRewrite(before, after, options, entry);
      entry.detail = describeDivision(division, outcome->partBytes);
    }
  }
  return best;
}

std::optional<ValueDivision> ValueDivider::choose(unsigned id,
                                                  LedgerEntry &entry) const {
  const GraphValue &value = graph->getValue(id);
  entry.producer = graph->getNode(value.producer).label;
  entry.consumer = getLabels(value.readers);
  std::optional<ValueDivision> best;
  std::optional<FusionDecision> refused;
  for (Value candidate : getDerived(value.ssa))
    if ((best = chooseDim(candidate, entry, refused)))
      break;
  if (best)
    nameDivision(*best, entry);
  entry.accepted = best.has_value();
  entry.reason = ReasonCode::InParts;
  if (!best && refused) {
    entry.reason = refused->getCode();
    entry.detail = refused->getDetail().str();
  }
  return best;
}

bool ValueDivider::run(RewriteEntries &entries, RewriteEntries &refused) {
  refused.clear();
  FailureOr<ComputeGraph> built =
      ComputeGraph::build(func.getFunctionBody().front(), options.graph);
  if (failed(built))
    return false;
  graph = std::move(*built);
  // Most functions have no such value, whatever their plan.
  if (llvm::none_of(graph->getValues(), [&](const GraphValue &value) {
        return value.producer >= 0 && !value.escapes &&
               value.bytes() > static_cast<double>(mostBytes);
      }))
    return false;
  before = planFusion(*graph, target, options);
  SmallVector<unsigned> large = findLargeValues(*graph, before, mostBytes);
  largeBytes = getBytes(*graph, large);
  for (unsigned id : large) {
    LedgerEntry entry;
    Operation *maker = graph->getValue(id).ssa.getDefiningOp();
    if (std::optional<ValueDivision> division = choose(id, entry)) {
      entries.emplace_back(makeParts(*division, number), entry);
      return true;
    }
    refused.emplace_back(maker, entry);
  }
  return false;
}

bool mlir::fusion::storesLargeValue(FunctionOpInterface func,
                                    const TargetInfo &target,
                                    const PlanOptions &options,
                                    int64_t mostBytes) {
  auto products = func.getFunctionBody().front().getOps<linalg::GenericOp>();
  if (llvm::none_of(products, [&](linalg::GenericOp op) {
        return isContraction(op) && readsLargeValue(op, mostBytes);
      }))
    return false;
  IRMapping mapping;
  OwningOpRef<Operation *> owner = cloneForPlanning(func, mapping);
  auto copy = cast<FunctionOpInterface>(owner.get());
  RewriteEntries entries;
  repackOperands(copy, target, options, entries,
                 [](linalg::GenericOp) { return true; });
  FailureOr<ComputeGraph> graph =
      ComputeGraph::build(copy.getFunctionBody().front(), options.graph);
  return succeeded(graph) &&
         !findLargeValues(*graph, planFusion(*graph, target, options),
                          mostBytes)
              .empty();
}

bool mlir::fusion::readsLargeValue(linalg::LinalgOp product,
                                   int64_t mostBytes) {
  return mostBytes > 0 &&
         llvm::any_of(product.getDpsInputs(), [&](Value operand) {
           Operation *maker = operand.getDefiningOp();
           return maker && isComputeOp(maker) &&
                  getStaticBytes(operand).value_or(0) > mostBytes;
         });
}

bool mlir::fusion::isOfPart(Operation *op) {
  return op->hasAttr(FusionDialect::kPartAttrName);
}

bool mlir::fusion::divideValue(FunctionOpInterface func,
                               const TargetInfo &target,
                               const PlanOptions &options, int64_t mostBytes,
                               int64_t number, RewriteEntries &entries,
                               RewriteEntries &refused) {
  return ValueDivider(func, target, options, mostBytes, number)
      .run(entries, refused);
}
