//===- WalkCandidates.cpp - Contractions that could share a walk ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the candidates of two contractions of which one needs
// the other, and of what lies between them. No two of these groups gain by
// being fused alone: the whole is one candidate.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"
#include "fusion/Analysis/CascadeBody.h"
#include "fusion/FusionPlanning/FusionLegality.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::planning;

/// Groups between two contractions, at most: bounds the time of planning. A
/// softmax with all that is done to scores has some ten operations.
static constexpr unsigned kMaxBetween = 32;

SmallVector<unsigned> Planner::getNearestContracting(unsigned group,
                                                     bool isBefore) const {
  llvm::SmallSetVector<unsigned, 8> seen;
  SmallVector<unsigned> found;
  seen.insert(group);
  for (unsigned i = 0; i < seen.size() && i < kMaxBetween; ++i) {
    const Group &next = groups[seen[i]];
    for (unsigned other : isBefore ? next.producers : next.consumers)
      if (contracts(other)) {
        if (!llvm::is_contained(found, other))
          found.push_back(other);
      } else {
        seen.insert(other);
      }
  }
  return found;
}

/// What both `first` leads to and `last` needs, with both of them; nothing
/// where that is far apart.
static SmallVector<unsigned> getBetween(unsigned first, unsigned last,
                                        ArrayRef<Group> groups,
                                        ArrayRef<unsigned> ranks) {
  auto collect = [&](unsigned from, auto &&getNext) {
    llvm::SmallSetVector<unsigned, 16> found;
    found.insert(from);
    for (unsigned i = 0; i < found.size() && i < kMaxBetween; ++i)
      for (unsigned next : getNext(groups[found[i]]))
        if (ranks[next] >= ranks[first] && ranks[next] <= ranks[last])
          found.insert(next);
    return found;
  };
  auto after =
      collect(first, [](const Group &group) -> const std::set<unsigned> & {
        return group.consumers;
      });
  auto before =
      collect(last, [](const Group &group) -> const std::set<unsigned> & {
        return group.producers;
      });
  SmallVector<unsigned> both = llvm::filter_to_vector(
      after, [&](unsigned group) { return before.contains(group); });
  llvm::sort(both);
  bool isWhole = after.size() <= kMaxBetween && before.size() <= kMaxBetween;
  return isWhole && after.contains(last) ? both : SmallVector<unsigned>();
}

/// Those of the values `stored` that a walk of `nodes` has of each step and
/// does not leave in memory.
static SmallVector<unsigned> findStepValues(const ComputeGraph &graph,
                                            ArrayRef<unsigned> nodes,
                                            ArrayRef<unsigned> stored) {
  KernelBody body = KernelBody::get(graph, nodes, stored);
  if (body.getProblem() != BodyProblem::None || !hasCascade(body))
    return {};
  CascadeBody cascade = analyzeCascade(body);
  // What only kernels read they make again, or read from memory where no walk
  // has it.
  if (cascade.problem != CascadeProblem::StoredSteps && !cascade.storesSteps)
    return {};
  SmallVector<unsigned> left;
  for (const BodyOutput &output : body.getOutputs())
    if ((output.mask & cascade.reduced) &&
        !isLeftBySteps(body, output, cascade))
      left.push_back(output.value);
  return left;
}

/// The same; walks that are alike are analysed once.
static SmallVector<unsigned> getStepValues(PlanMemory &memory,
                                           GroupShapes &shapes,
                                           const ComputeGraph &graph,
                                           ArrayRef<unsigned> nodes,
                                           ArrayRef<unsigned> stored) {
  std::optional<GroupShapes::Shape> shape = shapes.get(nodes, stored);
  if (!shape)
    return findStepValues(graph, nodes, stored);
  using Places = SmallVector<unsigned, 1>;
  Places places = memory.stepValues.get(std::move(*shape), [&] {
    Places own;
    for (unsigned value : findStepValues(graph, nodes, stored))
      own.push_back(llvm::find(stored, value) - stored.begin());
    return own;
  });
  return llvm::map_to_vector(places,
                             [&](unsigned place) { return stored[place]; });
}

SmallVector<unsigned> Planner::getWalk(unsigned first, unsigned last) const {
  SmallVector<unsigned> members = getBetween(first, last, groups, ranks);
  // What is only needed after the walk, a sum of exponentials, is no part of
  // the way, but reads what each step has.
  while (members.size() <= kMaxBetween) {
    SmallVector<unsigned> nodes;
    for (unsigned member : members)
      llvm::append_range(nodes, groups[member].nodes);
    llvm::sort(nodes);
    size_t before = members.size();
    for (unsigned value : getStepValues(*memory, shapes, graph, nodes,
                                        getStored(nodes, members)))
      for (unsigned reader : memoryReaders[value])
        if (!llvm::is_contained(members, reader))
          members.push_back(reader);
    if (members.size() == before)
      return members;
    llvm::sort(members);
  }
  return members;
}

void Planner::findWalks(unsigned group, std::vector<CandidateKey> &keys) const {
  if (!options.repairs)
    return;
  auto add = [&](ArrayRef<unsigned> before, ArrayRef<unsigned> after) {
    for (unsigned first : before)
      for (unsigned last : after)
        if (CandidateKey key = {Form::Walk, first, last};
            !candidates.count(key) &&
            !getBetween(first, last, groups, ranks).empty())
          keys.push_back(key);
  };
  SmallVector<unsigned> before = getNearestContracting(group, true);
  SmallVector<unsigned> after = getNearestContracting(group, false);
  if (!contracts(group))
    return add(before, after);
  add(before, group);
  add(group, after);
}
