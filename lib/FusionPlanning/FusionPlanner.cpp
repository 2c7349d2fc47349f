//===- FusionPlanner.cpp - Which ops share a kernel -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements planning: every op starts as a kernel of its own; the
// candidate with the largest gain is taken, its neighbours are priced again,
// until no candidate gains anything. docs/Rationale/FusionPlanning.md says why.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/FusionPlanner.h"
#include "Planner.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::planning;

void Planner::take(const CandidateKey &key) {
  LedgerEntry entry = makeEntry(key);
  // What else is known of it says which groups forget it.
  Candidate &known = candidates.find(key)->second;
  SmallVector<Group, 1> results = std::move(known.results);
  const Candidate candidate = known;
  const LedgerEntry &numbers = candidate.entry;
  entry.accepted = true;
  entry.reason = getAcceptedReason(key.form);
  entry.timeBeforeUs = numbers.timeBeforeUs;
  entry.timeAfterUs = numbers.timeAfterUs;
  entry.savedBytes = numbers.savedBytes;
  entry.savedLaunches = numbers.savedLaunches;
  entry.registers = numbers.registers;
  entry.sharedBytes = numbers.sharedBytes;
  if (candidate.demanded)
    entry.detail = options.whoAsks("fusion.must");
  else if (candidate.gain <= options.minGainSeconds)
    entry.detail = options.whoAsks("fusion.max_kernels");
  taken.push_back(std::move(entry));

  // A fused group keeps the lower number, which is canonical.
  SmallVector<unsigned> targets;
  SmallVector<unsigned> changed(ArrayRef<unsigned>(candidate.members));
  if (key.form == Form::IntoAllConsumers) {
    targets.assign(groups[key.first].consumers.begin(),
                   groups[key.first].consumers.end());
    llvm::append_range(changed, targets);
  } else {
    targets.push_back(*llvm::min_element(changed));
  }
  for (unsigned group : changed)
    removeCandidates(group);

  // Into all consumers, these stay where they are; else what is fused is behind
  // all that its members read.
  unsigned last = 0;
  for (unsigned group : changed) {
    unlink(group);
    last = std::max(last, ranks[group]);
  }
  for (unsigned group : changed) {
    for (unsigned node : groups[group].nodes)
      llvm::erase(holders[node], group);
    groups[group].alive = false;
  }
  for (auto [group, result] : llvm::zip_equal(targets, results)) {
    groups[group] = std::move(result);
    for (unsigned node : groups[group].nodes) {
      holders[node].push_back(group);
      llvm::sort(holders[node]);
    }
  }
  for (unsigned group : targets) {
    if (key.form != Form::IntoAllConsumers)
      ranks[group] = last;
    link(group);
  }
  for (unsigned group : std::exchange(misplaced, {}))
    restoreRanks(group);
  addCandidates(targets);
}

void Planner::fuseUntilNoGain() {
  addCandidates(llvm::to_vector(llvm::seq<unsigned>(0, groups.size())));
  while (!queue.empty()) {
    QueueEntry best = *queue.begin();
    // Other fusions may have made a path since it was priced.
    Candidate &candidate = candidates.find(best.key)->second;
    if (closesCycle(best.key, candidate.members)) {
      queue.erase(queue.begin());
      candidate.decision = FusionDecision::no(ReasonCode::Cycle);
      candidate.entry.reason = ReasonCode::Cycle;
      candidate.results.clear();
      continue;
    }
    take(best.key);
  }
}

/// Takes legal candidates that cost least until the limit on kernels is kept.
void Planner::fuseUntilFewEnough() {
  while (options.maxKernels && countAlive() > *options.maxKernels) {
    const CandidateKey *best = nullptr;
    double gain = -std::numeric_limits<double>::infinity();
    for (const auto &[key, candidate] : candidates) {
      if (candidate.results.empty() || candidate.gain <= gain ||
          closesCycle(key, candidate.members))
        continue;
      best = &key;
      gain = candidate.gain;
    }
    if (!best)
      return;
    take(CandidateKey(*best));
    // What became profitable by it is taken as usual.
    auto isNextOrdered = [&] {
      const CandidateKey &key = queue.begin()->key;
      return !closesCycle(key, candidates.find(key)->second.members);
    };
    while (!queue.empty() && isNextOrdered())
      take(CandidateKey(queue.begin()->key));
  }
}

FusionPlan Planner::plan() {
  FusionPlan plan;
  addSingleGroups();
  if (options.fuse) {
    fuseUntilNoGain();
    fuseUntilFewEnough();
    checkDemands(plan);
  }
  fillPlan(plan);
  return plan;
}

std::shared_ptr<PlanMemory> mlir::fusion::createPlanMemory() {
  return std::make_shared<PlanMemory>();
}

FusionPlan mlir::fusion::planFusion(const ComputeGraph &graph,
                                    const TargetInfo &target,
                                    const PlanOptions &options) {
  return Planner(graph, target, options).plan();
}

FailureOr<FusionPlan> mlir::fusion::planFusion(FunctionOpInterface func,
                                               const TargetInfo &target,
                                               PlanOptions options) {
  std::optional<ComputeGraph> graph;
  return planFusion(func, target, options, graph);
}

FailureOr<FusionPlan>
mlir::fusion::planFusion(FunctionOpInterface func, const TargetInfo &target,
                         PlanOptions options,
                         std::optional<ComputeGraph> &graph) {
  if (auto limit =
          func->getAttrOfType<IntegerAttr>(FusionDialect::kMaxKernelsAttrName))
    options.maxKernels = limit.getInt();
  FailureOr<ComputeGraph> built =
      ComputeGraph::build(func.getFunctionBody().front(), options.graph);
  if (failed(built))
    return failure();
  graph = std::move(*built);
  FusionPlan plan = planFusion(*graph, target, options);
  plan.ledger.function = func.getName().str();
  return plan;
}

void mlir::fusion::compareRewrite(const FusionPlan &before,
                                  const FusionPlan &after,
                                  const PlanOptions &options,
                                  LedgerEntry &entry) {
  entry.timeBeforeUs = before.ledger.timeAfterUs;
  entry.timeAfterUs = after.ledger.timeAfterUs;
  entry.savedBytes = before.ledger.bytesAfter - after.ledger.bytesAfter;
  entry.savedLaunches = before.ledger.kernelsAfter - after.ledger.kernelsAfter;
  entry.accepted = entry.gainUs() > options.minGainSeconds * 1e6;
}
