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
#include "OpKeys.h"

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
/// Matches of one rewrite that are refused before no more are looked at: each
/// costs a plan.
static constexpr unsigned kMaxRefused = 16;

class RewriteDriver::Decisions {
public:
  /// The decision on `near`, made by `decide` if it is the first of its like.
  const Decision &get(Neighbourhood &near,
                      llvm::function_ref<Decision()> decide) {
    planning::OpKey key = planning::getKey(near.func);
    Block &block = near.func.getFunctionBody().front();
    key.push_back(std::distance(block.begin(), Block::iterator(near.center)));
    auto [found, isNew] = known.try_emplace(std::move(key));
    if (isNew)
      found->second = decide();
    return found->second;
  }

private:
  planning::OpKeyMap<Decision> known;
};

RewriteDriver::Decision RewriteDriver::decideNear(const PricedRewrite &rewrite,
                                                  Neighbourhood &near) {
  Decision decision;
  decision.entry.reason = ReasonCode::NotProfitable;
  decision.isShown = rewrite.showsRefused;
  PlanOptions nearOptions = options;
  nearOptions.maxKernels = std::nullopt;
  FailureOr<FusionPlan> before = planFusion(near.func, target, nearOptions);
  std::vector<RewriteMatch> matches = rewrite.find(near.func);
  auto copy = llvm::find_if(matches, [&](const RewriteMatch &candidate) {
    return candidate.center == near.center;
  });
  // What it needs may reach further than what was copied.
  if (failed(before) || copy == matches.end())
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

RewriteDriver::Decision RewriteDriver::decide(const PricedRewrite &rewrite,
                                              const RewriteMatch &match,
                                              Decisions &known) {
  Decision decision;
  if (match.forbidden) {
    decision.entry.reason = *match.forbidden;
    decision.isShown = rewrite.showsRefused;
  } else {
    Neighbourhood near = copyNeighbourhood(match.center, kMostOps);
    decision = known.get(near, [&] { return decideNear(rewrite, near); });
  }
  decision.entry.producer = match.producer;
  decision.entry.consumer = match.consumer;
  return decision;
}

void RewriteDriver::run(const PricedRewrite &rewrite) {
  unsigned refused = 0;
  Decisions known;
  std::vector<RewriteMatch> matches = rewrite.find(func);
  while (refused < kMaxRefused && refused < matches.size()) {
    const RewriteMatch &match = matches[refused];
    auto [entry, isShown] = decide(rewrite, match, known);
    Operation *made = entry.accepted ? match.apply() : nullptr;
    Operation *shown = match.shown ? match.shown : made;
    if (isShown)
      entries.emplace_back(shown ? shown : match.center, entry);
    if (entry.accepted)
      matches = rewrite.find(func);
    else
      ++refused;
  }
}
