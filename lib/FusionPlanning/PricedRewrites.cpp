//===- PricedRewrites.cpp - Rewrites that have to pay ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decision on rewrites by the plans without and with
// them.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/PricedRewrites.h"

#include "Neighbourhood.h"
#include "fusion/Analysis/OpKeys.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/ThreadPool.h"
#include <unordered_set>

using namespace mlir;
using namespace mlir::fusion;

bool mlir::fusion::isBeside(
    Operation *op, const ComputeGraph &graph, const FusionPlan &plan,
    llvm::function_ref<bool(const GraphNode &)> isMeant) {
  return llvm::any_of(plan.kernels, [&](const PlannedKernel &kernel) {
    bool has = false, isFound = false;
    for (unsigned id : kernel.nodes) {
      const GraphNode &node = graph.getNode(id);
      has |= node.op == op;
      isFound |= isMeant(node);
    }
    return has && isFound;
  });
}

/// Operations that are planned for a match, next to it: a few kernels in each
/// direction. What lies further away changes by none of the rewrites.
static constexpr unsigned kMostOps = 64;
/// Matches of one rewrite that are refused before no more are looked at, of
/// those whose surroundings are alike one: each costs two plans of these.
static constexpr size_t kMaxRefused = 64;

/// What tells the surroundings of a match from others.
static OpKey getKeyOf(Neighbourhood &near) {
  OpKey key = getKey(near.func);
  Block &block = near.func.getFunctionBody().front();
  key.push_back(std::distance(block.begin(), Block::iterator(near.center)));
  return key;
}

/// The decisions of one run of a rewrite.
class RewriteDriver::Decisions {
public:
  Decisions(RewriteDriver &driver, const PricedRewrite &rewrite)
      : driver(driver), rewrite(rewrite) {}

  /// The decision on `matches[number]`.
  Decision get(ArrayRef<RewriteMatch> matches, size_t number);
  /// Refused matches, each with others around it.
  size_t countRefused() const { return refused.size(); }

private:
  /// Surroundings that nothing is known of, by their keys.
  using Open = std::vector<std::pair<OpKey, Neighbourhood>>;

  void add(const RewriteMatch &match, Open &open) const;
  void addLater(ArrayRef<RewriteMatch> matches, size_t number,
                Open &open) const;

  RewriteDriver &driver;
  const PricedRewrite &rewrite;
  OpKeyMemory<Decision> known;
  std::unordered_set<OpKey, OpKeyHash> refused;
  /// Whether the last match was accepted.
  std::optional<bool> last;
};

void RewriteDriver::Decisions::add(const RewriteMatch &match,
                                   Open &open) const {
  if (match.forbidden)
    return;
  Neighbourhood near = copyNeighbourhood(match.center, kMostOps);
  OpKey key = getKeyOf(near);
  bool isOpen = llvm::any_of(open, [&](auto &one) { return one.first == key; });
  if (!isOpen && !known.find(key))
    open.emplace_back(std::move(key), std::move(near));
}

/// Adds what lies around the matches behind `matches[number]`, as it will be if
/// the decision on each is the last one: as many as there are threads for.
void RewriteDriver::Decisions::addLater(ArrayRef<RewriteMatch> matches,
                                        size_t number, Open &open) const {
  MLIRContext *context = driver.func.getContext();
  if (!last || !context->isMultithreadingEnabled())
    return;
  size_t most = context->getThreadPool().getMaxConcurrency();
  if (!*last) {
    for (const RewriteMatch &later : matches.drop_front(number + 1))
      if (open.size() < most)
        add(later, open);
    return;
  }
  IRMapping mapping;
  OwningOpRef<Operation *> owner = cloneForPlanning(driver.func, mapping);
  auto copy = cast<FunctionOpInterface>(owner.get());
  std::vector<RewriteMatch> rest = rewrite.find(copy);
  // Others may follow one that is applied: as many turns as there are matches.
  for (size_t turns = rest.size();
       turns > 0 && open.size() < most && number < rest.size() &&
       !rest[number].forbidden;
       --turns) {
    rest[number].apply();
    rest = rewrite.find(copy);
    if (number < rest.size())
      add(rest[number], open);
  }
}

RewriteDriver::Decision
RewriteDriver::Decisions::get(ArrayRef<RewriteMatch> matches, size_t number) {
  Neighbourhood near = copyNeighbourhood(matches[number].center, kMostOps);
  OpKey key = getKeyOf(near);
  if (!known.find(key)) {
    Open open;
    open.emplace_back(key, std::move(near));
    addLater(matches, number, open);
    parallelForEach(driver.func.getContext(), open, [&](auto &one) {
      known.get(one.first,
                [&] { return driver.decideNear(rewrite, one.second); });
    });
  }
  Decision decision = *known.find(key);
  last = decision.entry.accepted;
  if (!decision.entry.accepted)
    refused.insert(std::move(key));
  return decision;
}

RewriteDriver::Decision RewriteDriver::decideNear(const PricedRewrite &rewrite,
                                                  Neighbourhood &near) const {
  Decision decision;
  decision.entry.reason = ReasonCode::NotProfitable;
  decision.isShown = rewrite.showsRefused;
  PlanOptions nearOptions = options;
  nearOptions.maxKernels = std::nullopt;
  std::optional<ComputeGraph> graphBefore;
  FailureOr<FusionPlan> before =
      planFusion(near.func, target, nearOptions, graphBefore);
  std::vector<RewriteMatch> matches = rewrite.find(near.func);
  auto copy = llvm::find_if(matches, [&](const RewriteMatch &candidate) {
    return candidate.center == near.center;
  });
  // What it needs may reach further than what was copied.
  if (failed(before) || copy == matches.end() ||
      !rewrite.isWanted(near.center, *graphBefore, *before))
    return decision;
  Operation *made = copy->apply();
  FailureOr<ComputeGraph> graph = ComputeGraph::build(
      near.func.getFunctionBody().front(), nearOptions.graph);
  if (failed(graph))
    return decision;
  FusionPlan after = planFusion(*graph, target, nearOptions);
  LedgerEntry &entry = decision.entry;
  compareRewrite(*before, after, nearOptions, entry);
  bool isServed = rewrite.isServed(made, *graph, after);
  entry.accepted &=
      isServed && entry.timeAfterUs < rewrite.mostTime * entry.timeBeforeUs;
  if (entry.accepted)
    entry.reason = rewrite.reason;
  decision.isShown = entry.accepted || (rewrite.showsRefused && isServed) ||
                     rewrite.showsUnserved;
  return decision;
}

void RewriteDriver::run(const PricedRewrite &rewrite) {
  // Those before `next` are refused.
  size_t next = 0;
  Decisions decisions(*this, rewrite);
  std::vector<RewriteMatch> matches = rewrite.find(func);
  while (next < matches.size() && decisions.countRefused() < kMaxRefused) {
    const RewriteMatch &match = matches[next];
    Decision decision;
    if (match.forbidden)
      decision = {LedgerEntry(), rewrite.showsRefused};
    else
      decision = decisions.get(matches, next);
    LedgerEntry &entry = decision.entry;
    entry.producer = match.producer;
    entry.consumer = match.consumer;
    if (match.forbidden)
      entry.reason = *match.forbidden;
    Operation *made = entry.accepted ? match.apply() : nullptr;
    Operation *shown = match.shown ? match.shown : made;
    if (decision.isShown)
      entries.emplace_back(shown ? shown : match.center, entry);
    if (entry.accepted)
      matches = rewrite.find(func);
    else
      ++next;
  }
}
