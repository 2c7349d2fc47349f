//===- Planner.h - The state of planning ------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what planning works on: the groups of the plan as it stands
// and the candidates to fuse them, best first.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_PLANNER_H
#define FUSION_LIB_FUSIONPLANNING_PLANNER_H

#include "PairContracts.h"
#include "PlanMemory.h"
#include "fusion/FusionPlanning/FusionPlanner.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <set>

namespace mlir::fusion::planning {

/// The forms of a candidate.
enum class Form { IntoConsumer, IntoAllConsumers, Siblings, Meeting, Walk };

/// A kernel of the plan as it stands.
struct Group : Price {
  SmallVector<unsigned> nodes;
  /// Values that other kernels or the caller need.
  SmallVector<unsigned> stored;
  /// Groups whose stored values this one reads, and that read its own.
  std::set<unsigned> producers;
  std::set<unsigned> consumers;
  /// Groups that have to run before it, or after it, whatever they read.
  std::set<unsigned> earlier;
  std::set<unsigned> later;
  bool alive = true;
};

/// What may be fused: two groups, one with all its consumers (second 0), one
/// with all its producers that contract (second 0), or one that contracts with
/// a later one that does and what lies between.
struct CandidateKey {
  Form form;
  unsigned first;
  unsigned second;

  bool operator<(const CandidateKey &other) const {
    return std::tie(form, first, second) <
           std::tie(other.form, other.first, other.second);
  }
  bool operator==(const CandidateKey &other) const {
    return std::tie(form, first, second) ==
           std::tie(other.form, other.first, other.second);
  }
};

/// A candidate and its price.
struct Candidate {
  FusionDecision decision = FusionDecision::yes();
  double gain = 0;
  /// Values are computed more often than before.
  bool recomputes = false;
  /// A contract asks for it, whatever the gain.
  bool demanded = false;
  /// The groups that it makes one, or that it makes part of each consumer.
  SmallVector<unsigned, 2> members;
  /// The groups that it would make: one, or one for each consumer.
  SmallVector<Group, 1> results;
  LedgerEntry entry;
};

/// The order in which candidates are taken: demanded ones, then larger gains,
/// then by key, which does not depend on the order of independent ops.
struct QueueEntry {
  bool demanded;
  double gain;
  CandidateKey key;

  bool operator<(const QueueEntry &other) const {
    if (demanded != other.demanded)
      return demanded;
    if (gain != other.gain)
      return gain > other.gain;
    return key < other.key;
  }
};

/// The place of a candidate in the queue.
QueueEntry getQueueEntry(const CandidateKey &key, const Candidate &candidate);

/// The reason that the ledger gives for a candidate that is taken.
ReasonCode getAcceptedReason(Form form);

/// The plan as it grows: groups, candidates with their prices, and what was
/// taken.
class Planner {
public:
  Planner(const ComputeGraph &graph, const TargetInfo &target,
          const PlanOptions &options)
      : graph(graph), target(target), options(options),
        memory(options.memory ? options.memory : createPlanMemory()),
        shapes(graph, memory->classes), pairs(graph) {}

  FusionPlan plan();

private:
  void addSingleGroups();
  /// Sets who reads what from whom, of `group` or without it.
  void link(unsigned group);
  void linkOrder(unsigned group);
  void unlink(unsigned group);
  /// Adds every candidate that one of `changed` takes part in.
  void addCandidates(ArrayRef<unsigned> changed);
  /// Adds the keys of those of `group` to `keys`.
  void findCandidates(unsigned group, std::vector<CandidateKey> &keys) const;
  void removeCandidates(unsigned group);
  void take(const CandidateKey &key);
  void fuseUntilNoGain();
  void fuseUntilFewEnough();

  Candidate evaluate(const CandidateKey &key) const;
  /// Prices one kernel instead of those of `members`.
  Candidate evaluateTogether(const CandidateKey &key) const;
  /// The group of a meeting and its producers that contract, ascending.
  SmallVector<unsigned> getMeeting(unsigned consumer) const;
  bool contracts(unsigned group) const;
  /// Two groups that contract, what lies between them, and what reads what that
  /// would store step by step; ascending.
  SmallVector<unsigned> getWalk(unsigned first, unsigned last) const;
  /// Groups that contract, the nearest to `group` before or after it.
  SmallVector<unsigned> getNearestContracting(unsigned group,
                                              bool isBefore) const;
  void findWalks(unsigned group, std::vector<CandidateKey> &keys) const;
  SmallVector<unsigned> getMembers(const CandidateKey &key) const;
  /// The groups that the candidate is about.
  SmallVector<unsigned> getConcerned(const CandidateKey &key,
                                     const Candidate &candidate) const;
  Candidate evaluateAllConsumers(const CandidateKey &key) const;
  /// Prices kernels that compute `producers`, the last of which they all read,
  /// each for itself.
  Candidate evaluateRepeated(ArrayRef<unsigned> producers) const;
  /// Has one of `results`, which all compute what they need of the nodes
  /// `producers`, store the values `leaving`: that which takes least more time.
  FusionDecision storeLeaving(ArrayRef<unsigned> leaving,
                              ArrayRef<unsigned> producers,
                              MutableArrayRef<Group> results) const;
  /// `last`, and before it the contractions whose results nothing is stored for
  /// once all consumers of `last` compute it.
  SmallVector<unsigned> getRepeated(unsigned last) const;
  /// Prices `group`; says no when it cannot be one kernel. Groups that are
  /// alike are priced once.
  FusionDecision price(Group &group) const;
  FusionDecision checkContracts(const Group &a, const Group &b) const;
  FusionDecision checkParts(ArrayRef<unsigned> nodes) const;
  FusionDecision checkRepacked(const CandidateKey &key,
                               ArrayRef<unsigned> members) const;

  SmallVector<unsigned> getStored(ArrayRef<unsigned> nodes,
                                  ArrayRef<unsigned> parts) const;
  bool reaches(unsigned from, unsigned to, bool skipDirect) const;
  /// Gives `group`, and who reads it, larger ranks than what they read.
  void restoreRanks(unsigned group);
  /// Making one of `members`, those of `key`, closes a cycle.
  bool closesCycle(const CandidateKey &key, ArrayRef<unsigned> members) const;
  bool isDemanded(const CandidateKey &key) const;
  /// Groups other than itself that `group` may be fused with as siblings.
  SmallVector<unsigned> getSiblings(unsigned group) const;
  LedgerEntry makeEntry(const CandidateKey &key) const;

  unsigned countAlive() const;
  SmallVector<unsigned> getOrder() const;
  void checkDemands(FusionPlan &plan) const;
  void fillPlan(FusionPlan &plan);

  const ComputeGraph &graph;
  const TargetInfo &target;
  PlanOptions options;
  std::shared_ptr<PlanMemory> memory;
  mutable GroupShapes shapes;
  PairContracts pairs;
  std::vector<Group> groups;
  /// Of each alive group a number larger than those of the groups it reads, as
  /// Pearce and Kelly keep it: A Dynamic Topological Sort Algorithm for
  /// Directed Acyclic Graphs, 2006.
  std::vector<unsigned> ranks;
  /// Groups that somebody with a smaller rank reads, since `take` linked them.
  std::set<unsigned> misplaced;
  /// Alive groups that hold each node; more than one when it is recomputed.
  std::vector<SmallVector<unsigned, 1>> holders;
  /// Alive groups that read each value from memory, ascending.
  std::vector<std::set<unsigned>> memoryReaders;
  std::map<CandidateKey, Candidate> candidates;
  /// The candidates that each group took part in when they were added; some of
  /// them may be gone.
  std::vector<SmallVector<CandidateKey, 0>> candidatesOf;
  std::set<QueueEntry> queue;
  std::vector<LedgerEntry> taken;
  /// What each op moves as a kernel of its own.
  SmallVector<double> singleBytes;
  double bytesBefore = 0;
  double secondsBefore = 0;
};

} // namespace mlir::fusion::planning

#endif // FUSION_LIB_FUSIONPLANNING_PLANNER_H
