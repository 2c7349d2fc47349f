//===- GroupGraph.cpp - The kernels of a plan and who reads whom ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the groups of a plan: what they store, what they cost,
// and the paths between them.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"
#include "fusion/Analysis/CostInterface.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::planning;

/// Values that a kernel of `nodes`, made of the groups `parts`, must store:
/// those that leave the function and those that another group reads.
SmallVector<unsigned> Planner::getStored(ArrayRef<unsigned> nodes,
                                         ArrayRef<unsigned> parts) const {
  SmallVector<unsigned> stored;
  for (unsigned id : nodes)
    for (const TensorWrite &write : graph.getNode(id).writes) {
      const GraphValue &value = graph.getValue(write.value);
      // A group that computes the value for itself needs no store. A reader may
      // be in several groups, some of them beyond `parts`.
      bool isNeeded = llvm::any_of(value.readers, [&](unsigned reader) {
        return llvm::any_of(holders[reader], [&](unsigned group) {
          return !llvm::is_contained(parts, group) &&
                 !llvm::is_contained(holders[id], group);
        });
      });
      // Of several groups that compute it one stores it for the caller.
      bool isElsewhere = llvm::any_of(holders[id], [&](unsigned group) {
        return !llvm::is_contained(parts, group) &&
               llvm::is_contained(groups[group].stored, write.value);
      });
      if ((value.escapes && !isElsewhere) || isNeeded)
        stored.push_back(write.value);
    }
  llvm::sort(stored);
  return stored;
}

/// Prices `group` whatever others are like it.
static FusionDecision priceAnew(Group &group, const ComputeGraph &graph,
                                const TargetInfo &target,
                                const PlanOptions &options) {
  // Nothing asks for what is computed: rewrites may leave such operations.
  if (group.stored.empty())
    return FusionDecision::no(ReasonCode::NotShared);
  KernelBody body = KernelBody::get(graph, group.nodes, group.stored);
  FusionDecision decision = checkBody(body, options.limits);
  // One op alone is always a kernel: there is no other way to run it.
  if (!decision && group.nodes.size() > 1)
    return decision;
  group.estimate = priceKernel(body, target);
  if (std::isinf(group.estimate.seconds()))
    return FusionDecision::no(ReasonCode::CascadeTiles);
  askForPrice(body, target, group.estimate);
  // Only tiles of tensor cores are made to hold rows, or granules, to reduce,
  // and what is exchanged, and only blocks of warpgroups finish rows together.
  if (group.estimate.obstacle) {
    if (!group.estimate.byWarps && body.exchangesProduct())
      return FusionDecision::no(
          ReasonCode::ExchangeOfContraction,
          "'" + body.getGraph().getNode(group.nodes.front()).label + "'");
    for (const BodyInstance &instance : body.getInstances()) {
      const GraphNode &node = body.getNode(instance);
      if (node.kind != NodeKind::Reduction)
        continue;
      std::string label = "'" + node.label + "'";
      if (!group.estimate.byWarps)
        return FusionDecision::no(ReasonCode::ReductionOfContraction, label);
      if (node.granuleLoop < 0 &&
          body.getPoints(body.getReducedMask(instance)) > kMaxWholeRow)
        return FusionDecision::no(ReasonCode::RowOfSeveralTiles, label);
    }
  }
  group.bytes = getUniqueBytes(body);
  group.recomputes = body.recomputes(/*copiesPad=*/!group.estimate.obstacle);
  return FusionDecision::yes();
}

FusionDecision Planner::price(Group &group) const {
  std::optional<GroupShapes::Shape> shape =
      shapes.get(group.nodes, group.stored);
  if (!shape)
    return priceAnew(group, graph, target, options);
  auto [decision, price] =
      memory->prices.get(std::move(*shape), [&]() -> PricedKernel {
        FusionDecision own = priceAnew(group, graph, target, options);
        return {own, group};
      });
  static_cast<Price &>(group) = price;
  return decision;
}

void Planner::addSingleGroups() {
  unsigned numNodes = graph.getNodes().size();
  holders.resize(numNodes);
  memoryReaders.resize(graph.getValues().size());
  for (unsigned id = 0; id < numNodes; ++id) {
    Group &group = groups.emplace_back();
    group.nodes = {id};
    holders[id] = {id};
    ranks.push_back(id);
  }
  for (unsigned id = 0; id < numNodes; ++id) {
    Group &group = groups[id];
    group.stored = getStored(group.nodes, id);
    (void)price(group);
    singleBytes.push_back(group.bytes);
    bytesBefore += group.bytes;
    secondsBefore += group.estimate.seconds();
  }
  candidatesOf.resize(numNodes);
  for (unsigned id = 0; id < numNodes; ++id)
    link(id);
  // Node numbers know who reads what, but not what comes earlier for other
  // reasons.
  for (auto [rank, group] : llvm::enumerate(getOrder()))
    ranks[group] = rank;
  misplaced.clear();
}

void Planner::link(unsigned group) {
  auto connect = [&](unsigned producer, unsigned reader) {
    unsigned source = holders[producer].front();
    groups[reader].producers.insert(source);
    groups[source].consumers.insert(reader);
    if (ranks[source] > ranks[reader])
      misplaced.insert(source);
  };
  for (unsigned node : groups[group].nodes) {
    for (const TensorRead &read : graph.getNode(node).reads) {
      unsigned base = graph.getBase(read.value);
      int producer = graph.getValue(base).producer;
      if (producer >= 0 && llvm::is_contained(holders[producer], group))
        continue;
      memoryReaders[base].insert(group);
      if (producer >= 0)
        connect(producer, group);
    }
    for (const TensorWrite &write : graph.getNode(node).writes)
      for (unsigned reader : memoryReaders[write.value])
        connect(node, reader);
  }
  linkOrder(group);
}

void Planner::linkOrder(unsigned group) {
  auto order = [&](unsigned before, unsigned after) {
    if (before == after)
      return;
    groups[before].later.insert(after);
    groups[after].earlier.insert(before);
    if (ranks[before] > ranks[after])
      misplaced.insert(before);
  };
  for (unsigned node : groups[group].nodes) {
    for (unsigned other : graph.getEarlier(node))
      for (unsigned holder : holders[other])
        order(holder, group);
    for (unsigned other : graph.getLater(node))
      for (unsigned holder : holders[other])
        order(group, holder);
  }
}

void Planner::unlink(unsigned group) {
  for (unsigned node : groups[group].nodes)
    for (const TensorRead &read : graph.getNode(node).reads)
      memoryReaders[graph.getBase(read.value)].erase(group);
  for (unsigned producer : groups[group].producers)
    groups[producer].consumers.erase(group);
  for (unsigned consumer : groups[group].consumers)
    groups[consumer].producers.erase(group);
  for (unsigned before : groups[group].earlier)
    groups[before].later.erase(group);
  for (unsigned after : groups[group].later)
    groups[after].earlier.erase(group);
  groups[group].producers.clear();
  groups[group].consumers.clear();
  groups[group].earlier.clear();
  groups[group].later.clear();
}

void Planner::restoreRanks(unsigned group) {
  // Who reads it, at whatever distance, and has a smaller rank; then what it
  // reads that has a larger one than the first of these.
  using Groups = std::set<unsigned>;
  auto collect = [&](unsigned from, Groups Group::*read, Groups Group::*ordered,
                     auto &&isWanted) {
    llvm::SmallSetVector<unsigned, 8> found;
    auto add = [&](const Group &group) {
      for (const Groups *next : {&(group.*read), &(group.*ordered)})
        for (unsigned id : *next)
          if (isWanted(ranks[id]))
            found.insert(id);
    };
    add(groups[from]);
    for (size_t i = 0; i < found.size(); ++i)
      add(groups[found[i]]);
    return found.takeVector();
  };
  unsigned own = ranks[group];
  auto readers = collect(group, &Group::consumers, &Group::later,
                         [&](unsigned rank) { return rank < own; });
  if (readers.empty())
    return;
  auto byRank = [&](unsigned a, unsigned b) { return ranks[a] < ranks[b]; };
  llvm::sort(readers, byRank);
  unsigned first = ranks[readers.front()];
  auto moved = collect(group, &Group::producers, &Group::earlier,
                       [&](unsigned rank) { return rank > first; });
  moved.push_back(group);
  llvm::sort(moved, byRank);
  llvm::append_range(moved, readers);
  SmallVector<unsigned> free = llvm::map_to_vector(
      moved, [&](unsigned member) { return ranks[member]; });
  llvm::sort(free);
  for (auto [member, rank] : llvm::zip_equal(moved, free))
    ranks[member] = rank;
}

/// True when a path of reads and of order leads from one group to the other;
/// with `skipDirect`, one through a third group.
bool Planner::reaches(unsigned from, unsigned to, bool skipDirect) const {
  if (ranks[from] >= ranks[to])
    return false;
  llvm::SmallDenseSet<unsigned> seen;
  SmallVector<unsigned> worklist;
  auto visit = [&](unsigned group) {
    for (const auto *all : {&groups[group].consumers, &groups[group].later})
      for (unsigned next : *all) {
        if (group == from && next == to && skipDirect)
          continue;
        // Those behind it do not lead there.
        if (ranks[next] <= ranks[to] && seen.insert(next).second)
          worklist.push_back(next);
      }
  };
  visit(from);
  while (!worklist.empty()) {
    unsigned group = worklist.pop_back_val();
    if (group == to)
      return true;
    visit(group);
  }
  return false;
}

bool Planner::closesCycle(const CandidateKey &key,
                          ArrayRef<unsigned> members) const {
  switch (key.form) {
  case Form::IntoConsumer:
    return reaches(key.first, key.second, /*skipDirect=*/true);
  case Form::IntoAllConsumers:
    // The consumers read what the producer read, which is upstream of it.
    return false;
  case Form::Siblings:
    return reaches(key.first, key.second, /*skipDirect=*/false) ||
           reaches(key.second, key.first, /*skipDirect=*/false);
  case Form::Meeting:
    return llvm::any_of(members, [&](unsigned member) {
      return member != key.first &&
             reaches(member, key.first, /*skipDirect=*/true);
    });
  case Form::Walk:
    return llvm::any_of(members, [&](unsigned member) {
      return llvm::any_of(groups[member].consumers, [&](unsigned next) {
        return !llvm::is_contained(members, next) &&
               llvm::any_of(members, [&](unsigned other) {
                 return reaches(next, other, /*skipDirect=*/false);
               });
      });
    });
  }
  llvm_unreachable("not a form");
}
