//===- PlanResult.cpp - From groups to a plan with its ledger -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what planning hands over: kernels in an order in which
// they can run, the ledger, and the demands that could not be met.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"
#include "fusion/Support/Counts.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::planning;

unsigned Planner::countAlive() const {
  return llvm::count_if(groups, [](const Group &group) { return group.alive; });
}

/// Alive groups in an order in which they can run: of those that can run next,
/// the one whose last node comes first.
SmallVector<unsigned> Planner::getOrder() const {
  std::set<std::pair<unsigned, unsigned>> ready;
  SmallVector<unsigned> waiting(groups.size());
  for (auto [id, group] : llvm::enumerate(groups)) {
    waiting[id] = group.producers.size() + group.earlier.size();
    if (group.alive && waiting[id] == 0)
      ready.insert({group.nodes.back(), id});
  }
  SmallVector<unsigned> order;
  while (!ready.empty()) {
    unsigned id = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(id);
    for (const auto *next : {&groups[id].consumers, &groups[id].later})
      for (unsigned other : *next)
        if (--waiting[other] == 0)
          ready.insert({groups[other].nodes.back(), other});
  }
  return order;
}

/// Why a candidate was not taken, behind what is said of it.
static std::string describeRefusal(const LedgerEntry &entry) {
  std::string text = ": " + stringifyReason(entry.reason).str() + ", " +
                     describeReason(entry.reason).str();
  return entry.detail.empty() ? text : text + " (" + entry.detail + ")";
}

/// Reports values of ops with `fusion.must` that are still read from memory,
/// and ops that are to share a kernel and do not.
void Planner::checkDemands(FusionPlan &plan) const {
  for (auto [id, node] : llvm::enumerate(graph.getNodes())) {
    if (!node.must)
      continue;
    for (const TensorWrite &write : node.writes) {
      if (memoryReaders[write.value].empty())
        continue;
      unsigned reader = *memoryReaders[write.value].begin();
      unsigned holder = holders[id].front();
      std::string message =
          "'" + node.label + "' must be fused into its users, but '" +
          getKernelName(graph, groups[reader].nodes) + "' reads it from memory";
      auto it = candidates.find({Form::IntoConsumer, holder, reader});
      if (it != candidates.end())
        message += describeRefusal(it->second.entry);
      plan.violations.push_back({static_cast<unsigned>(id), message});
      break;
    }
  }
  for (auto [first, second] : pairs.findBroken(holders)) {
    std::string message = "'" + graph.getNode(first).label + "' and '" +
                          graph.getNode(second).label + "' must share a kernel";
    auto it = candidates.find(
        {Form::IntoConsumer, holders[first].front(), holders[second].front()});
    if (it != candidates.end())
      message += describeRefusal(it->second.entry);
    plan.violations.push_back({second, message});
  }
  if (!options.maxKernels || countAlive() <= *options.maxKernels)
    return;
  std::string message = "needs " + std::to_string(countAlive()) +
                        " kernels, the limit is " +
                        std::to_string(*options.maxKernels);
  std::set<StringRef> reasons;
  for (const auto &[key, candidate] : candidates)
    if (candidate.results.empty())
      reasons.insert(stringifyReason(candidate.entry.reason));
  if (!reasons.empty())
    message += " (in the way: " + llvm::join(reasons, ", ") + ")";
  plan.violations.push_back({std::nullopt, message});
}

void Planner::fillPlan(FusionPlan &plan) {
  Ledger &ledger = plan.ledger;
  ledger.target = target.name.str();
  ledger.kernelsBefore = graph.getNodes().size();
  ledger.bytesBefore = toCount(bytesBefore);
  ledger.timeBeforeUs = secondsBefore * 1e6;
  ledger.entries = taken;
  for (auto &[key, candidate] : candidates) {
    LedgerEntry entry = makeEntry(key);
    LedgerEntry &numbers = candidate.entry;
    numbers.producer = entry.producer;
    numbers.consumer = entry.consumer;
    numbers.producerNode = entry.producerNode;
    numbers.consumerNode = entry.consumerNode;
    ledger.entries.push_back(numbers);
  }

  llvm::BitVector counted(graph.getNodes().size());
  double bytesAfter = 0, secondsAfter = 0;
  for (unsigned id : getOrder()) {
    Group &group = groups[id];
    PlannedKernel kernel;
    kernel.name = getKernelName(graph, group.nodes);
    kernel.nodes = group.nodes;
    kernel.stored = group.stored;
    kernel.estimate = group.estimate;
    kernel.savedBytes = -group.bytes;
    kernel.savedLaunches = -1;
    LedgerKernel facts;
    if (group.estimate.mma)
      facts.products = "wgmma";
    if (auto obstacle = group.estimate.obstacle) {
      facts.products = group.estimate.byWarps ? "mma_sync" : "other";
      facts.obstacle = stringifyObstacle(*obstacle).str();
      facts.contraction = *llvm::find_if(group.nodes, [&](unsigned node) {
        return graph.getNode(node).kind == NodeKind::Contraction;
      });
    }
    for (unsigned node : group.nodes) {
      facts.ops.push_back(graph.getNode(node).label);
      if (counted.test(node))
        continue;
      counted.set(node);
      kernel.savedBytes += singleBytes[node];
      ++kernel.savedLaunches;
    }
    facts.name = kernel.name;
    facts.timeUs = group.estimate.seconds() * 1e6;
    facts.bound = stringifyBound(group.estimate.time.bound).str();
    facts.dramBytes = toCount(group.bytes);
    facts.flops = toCount(group.estimate.cost.flops());
    facts.registers = group.estimate.shape.registers;
    facts.sharedBytes = group.estimate.shape.sharedBytes;
    ledger.kernels.push_back(std::move(facts));
    bytesAfter += group.bytes;
    secondsAfter += group.estimate.seconds();
    plan.kernels.push_back(std::move(kernel));
  }
  ledger.kernelsAfter = plan.kernels.size();
  ledger.bytesAfter = toCount(bytesAfter);
  ledger.timeAfterUs = secondsAfter * 1e6;
}
