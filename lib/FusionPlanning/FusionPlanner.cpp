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
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// The forms of a candidate.
enum class Form { IntoConsumer, IntoAllConsumers, Siblings, Meeting };

/// A kernel of the plan as it stands.
struct Group {
  SmallVector<unsigned> nodes;
  /// Values that other kernels or the caller need.
  SmallVector<unsigned> stored;
  KernelEstimate estimate;
  double bytes = 0;
  bool recomputes = false;
  /// Groups whose stored values this one reads, and that read its own.
  llvm::SmallSetVector<unsigned, 4> producers;
  llvm::SmallSetVector<unsigned, 4> consumers;
  bool alive = true;
};

/// What may be fused: two groups, one with all its consumers (second 0), or
/// one with all its producers that contract (second 0).
struct CandidateKey {
  Form form;
  unsigned first;
  unsigned second;

  bool operator<(const CandidateKey &other) const {
    return std::tie(form, first, second) <
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

/// A gain that rests on the price of recomputing values counts for this much
/// when candidates are ordered: of two that are about equal, the one that
/// computes nothing twice goes first.
constexpr double kRecomputeWeight = 0.8;
/// The place of a candidate in the queue. What a contract demands is best kept
/// by computing the value in every consumer: no later choice can undo that.
QueueEntry getQueueEntry(const CandidateKey &key, const Candidate &candidate) {
  double gain = candidate.gain;
  if (candidate.recomputes)
    gain *= kRecomputeWeight;
  if (candidate.demanded && key.form == Form::IntoAllConsumers)
    gain = std::numeric_limits<double>::infinity();
  return {candidate.demanded, gain, key};
}

class Planner {
public:
  Planner(const ComputeGraph &graph, const TargetInfo &target,
          const PlanOptions &options)
      : graph(graph), target(target), options(options) {}

  FusionPlan plan();

private:
  void addSingleGroups();
  void linkGroups();
  void addCandidates(unsigned group);
  void addCandidate(CandidateKey key);
  void removeCandidates(unsigned group);
  void take(const CandidateKey &key);
  void fuseUntilNoGain();
  void fuseUntilFewEnough();

  Candidate evaluate(const CandidateKey &key);
  /// Prices one kernel instead of those of `members`.
  Candidate evaluateTogether(const CandidateKey &key,
                             ArrayRef<unsigned> members);
  /// The group of a meeting and its producers that contract, ascending.
  SmallVector<unsigned> getMeeting(unsigned consumer) const;
  SmallVector<unsigned> getMembers(const CandidateKey &key) const;
  Candidate evaluateAllConsumers(const CandidateKey &key);
  /// Prices `group`; says no when it cannot be one kernel.
  FusionDecision price(Group &group);
  FusionDecision checkContracts(const Group &a, const Group &b) const;
  FusionDecision checkRepacked(const CandidateKey &key,
                               ArrayRef<unsigned> members) const;

  SmallVector<unsigned> getStored(ArrayRef<unsigned> nodes,
                                  ArrayRef<unsigned> parts) const;
  bool reaches(unsigned from, unsigned to, bool skipDirect) const;
  bool closesCycle(const CandidateKey &key) const;
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
  std::vector<Group> groups;
  /// Alive groups that hold each node; more than one when it is recomputed.
  std::vector<SmallVector<unsigned, 1>> holders;
  /// Alive groups that read each value from memory, ascending.
  std::vector<std::set<unsigned>> memoryReaders;
  std::map<CandidateKey, Candidate> candidates;
  std::set<QueueEntry> queue;
  std::vector<LedgerEntry> taken;
  /// What each op moves as a kernel of its own.
  SmallVector<double> singleBytes;
  double bytesBefore = 0;
  double secondsBefore = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

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
      if (value.escapes || isNeeded)
        stored.push_back(write.value);
    }
  llvm::sort(stored);
  return stored;
}

FusionDecision Planner::price(Group &group) {
  KernelBody body = KernelBody::get(graph, group.nodes, group.stored);
  FusionDecision decision = checkBody(body, options.limits);
  // One op alone is always a kernel: there is no other way to run it.
  if (!decision && group.nodes.size() > 1)
    return decision;
  group.estimate = estimateKernel(body, target);
  // Only tiles of tensor cores are made to hold rows, or granules, to reduce.
  if (group.estimate.obstacle && !group.estimate.byWarps)
    for (const BodyInstance &instance : body.getInstances())
      if (body.getNode(instance).kind == NodeKind::Reduction)
        return FusionDecision::no(ReasonCode::ReductionOfContraction,
                                  "'" + body.getNode(instance).label + "'");
  group.bytes = getUniqueBytes(body);
  group.recomputes = body.recomputes();
  return FusionDecision::yes();
}

void Planner::addSingleGroups() {
  unsigned numNodes = graph.getNodes().size();
  holders.resize(numNodes);
  memoryReaders.resize(graph.getValues().size());
  for (unsigned id = 0; id < numNodes; ++id) {
    Group &group = groups.emplace_back();
    group.nodes = {id};
    holders[id] = {id};
  }
  for (unsigned id = 0; id < numNodes; ++id) {
    Group &group = groups[id];
    group.stored = getStored(group.nodes, id);
    (void)price(group);
    singleBytes.push_back(group.bytes);
    bytesBefore += group.bytes;
    secondsBefore += group.estimate.seconds();
  }
  linkGroups();
}

/// Sets, for all groups, who reads what from whom.
void Planner::linkGroups() {
  for (Group &group : groups) {
    group.producers.clear();
    group.consumers.clear();
  }
  for (std::set<unsigned> &readers : memoryReaders)
    readers.clear();
  for (unsigned id = 0; id < groups.size(); ++id) {
    if (!groups[id].alive)
      continue;
    for (unsigned node : groups[id].nodes)
      for (const TensorRead &read : graph.getNode(node).reads) {
        unsigned base = graph.getBase(read.value);
        int producer = graph.getValue(base).producer;
        if (producer >= 0 && llvm::is_contained(holders[producer], id))
          continue;
        memoryReaders[base].insert(id);
        if (producer < 0)
          continue;
        unsigned source = holders[producer].front();
        groups[id].producers.insert(source);
        groups[source].consumers.insert(id);
      }
  }
}

/// True when a path of reads leads from one group to the other; with
/// `skipDirect`, one through a third group.
bool Planner::reaches(unsigned from, unsigned to, bool skipDirect) const {
  llvm::BitVector seen(groups.size());
  SmallVector<unsigned> worklist;
  auto visit = [&](unsigned group) {
    for (unsigned next : groups[group].consumers) {
      if (group == from && next == to && skipDirect)
        continue;
      if (seen.test(next))
        continue;
      seen.set(next);
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

bool Planner::closesCycle(const CandidateKey &key) const {
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
    return llvm::any_of(getMeeting(key.first), [&](unsigned member) {
      return member != key.first &&
             reaches(member, key.first, /*skipDirect=*/true);
    });
  }
  llvm_unreachable("not a form");
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

FusionDecision Planner::checkContracts(const Group &a, const Group &b) const {
  for (const Group *group : {&a, &b})
    for (unsigned id : group->nodes)
      if (graph.getNode(id).never)
        return FusionDecision::no(ReasonCode::ContractNever,
                                  "'" + graph.getNode(id).label + "'");
  return FusionDecision::yes();
}

/// Operands that are laid out anew reach their readers through memory: what
/// writes them takes producers in, but is no producer and no sibling of what is
/// fused.
FusionDecision Planner::checkRepacked(const CandidateKey &key,
                                      ArrayRef<unsigned> members) const {
  unsigned consumer = key.form == Form::Meeting ? key.first : key.second;
  for (unsigned member : members) {
    if (member == consumer && key.form != Form::Siblings)
      continue;
    for (unsigned id : groups[member].nodes)
      if (graph.getNode(id).repack)
        return FusionDecision::no(ReasonCode::Repacked,
                                  "'" + graph.getNode(id).label + "'");
  }
  return FusionDecision::yes();
}

/// True when an op of the first group carries `fusion.must` and the candidate
/// keeps a value of it out of memory.
bool Planner::isDemanded(const CandidateKey &key) const {
  if (key.form == Form::Siblings || key.form == Form::Meeting)
    return false;
  return llvm::any_of(groups[key.first].nodes, [&](unsigned id) {
    const GraphNode &node = graph.getNode(id);
    return node.must && llvm::any_of(node.writes, [&](const TensorWrite &w) {
             const std::set<unsigned> &readers = memoryReaders[w.value];
             return key.form == Form::IntoAllConsumers
                        ? !readers.empty()
                        : readers.count(key.second) != 0;
           });
  });
}

LedgerEntry Planner::makeEntry(const CandidateKey &key) const {
  LedgerEntry entry;
  if (key.form == Form::Meeting) {
    SmallVector<std::string> names;
    for (unsigned member : getMeeting(key.first))
      if (member != key.first) {
        names.push_back(getKernelName(graph, groups[member].nodes));
        entry.producerNode = groups[member].nodes.back();
      }
    entry.producer = llvm::join(names, ", ");
    entry.consumer = getKernelName(graph, groups[key.first].nodes);
    entry.consumerNode = groups[key.first].nodes.back();
    return entry;
  }
  entry.producer = getKernelName(graph, groups[key.first].nodes);
  entry.producerNode = groups[key.first].nodes.back();
  if (key.form == Form::IntoAllConsumers) {
    SmallVector<std::string> names;
    for (unsigned consumer : groups[key.first].consumers)
      names.push_back(getKernelName(graph, groups[consumer].nodes));
    entry.consumer = llvm::join(names, ", ");
    entry.consumerNode =
        groups[groups[key.first].consumers.front()].nodes.back();
  } else {
    entry.consumer = getKernelName(graph, groups[key.second].nodes);
    entry.consumerNode = groups[key.second].nodes.back();
  }
  return entry;
}

static SmallVector<unsigned> unite(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  SmallVector<unsigned> result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                 std::back_inserter(result));
  return result;
}

SmallVector<unsigned> Planner::getMeeting(unsigned consumer) const {
  SmallVector<unsigned> members;
  for (unsigned producer : groups[consumer].producers)
    if (llvm::any_of(groups[producer].nodes, [&](unsigned node) {
          return graph.getNode(node).kind == NodeKind::Contraction;
        }))
      members.push_back(producer);
  members.push_back(consumer);
  llvm::sort(members);
  return members;
}

/// The groups that a candidate other than IntoAllConsumers makes one.
SmallVector<unsigned> Planner::getMembers(const CandidateKey &key) const {
  if (key.form == Form::Meeting)
    return getMeeting(key.first);
  return {key.first, key.second};
}

Candidate Planner::evaluateTogether(const CandidateKey &key,
                                    ArrayRef<unsigned> members) {
  Candidate candidate;
  candidate.decision = checkRepacked(key, members);
  if (!candidate.decision)
    return candidate;
  Group fused;
  double before = 0, bytes = 0;
  for (unsigned member : members) {
    const Group &group = groups[member];
    candidate.decision = checkContracts(groups[key.first], group);
    if (!candidate.decision)
      return candidate;
    fused.nodes = unite(fused.nodes, group.nodes);
    before += group.estimate.seconds();
    bytes += group.bytes;
  }
  if (closesCycle(key)) {
    candidate.decision = FusionDecision::no(ReasonCode::Cycle);
    return candidate;
  }
  fused.stored = getStored(fused.nodes, members);
  candidate.decision = price(fused);
  if (!candidate.decision)
    return candidate;
  candidate.gain = before - fused.estimate.seconds();
  // A product's epilogue that saves bytes, within the error of the model.
  if (fused.estimate.mma && fused.bytes < bytes &&
      candidate.gain <= options.minGainSeconds &&
      candidate.gain > -options.productError * before)
    candidate.gain = 2 * options.minGainSeconds;
  candidate.recomputes = fused.recomputes;
  candidate.entry.timeBeforeUs = before * 1e6;
  candidate.entry.timeAfterUs = fused.estimate.seconds() * 1e6;
  candidate.entry.savedBytes = static_cast<int64_t>(bytes - fused.bytes);
  candidate.entry.savedLaunches = members.size() - 1;
  candidate.entry.registers = fused.estimate.shape.registers;
  candidate.entry.sharedBytes = fused.estimate.shape.sharedBytes;
  candidate.results.push_back(std::move(fused));
  return candidate;
}

Candidate Planner::evaluateAllConsumers(const CandidateKey &key) {
  Candidate candidate;
  const Group &a = groups[key.first];
  for (unsigned id : a.nodes) {
    const GraphNode &node = graph.getNode(id);
    if (node.repack) {
      candidate.decision =
          FusionDecision::no(ReasonCode::Repacked, "'" + node.label + "'");
      return candidate;
    }
    bool leaves = llvm::any_of(node.writes, [&](const TensorWrite &write) {
      return graph.getValue(write.value).escapes;
    });
    if (leaves || node.kind != NodeKind::Pointwise) {
      candidate.decision =
          FusionDecision::no(ReasonCode::NotShared, "'" + node.label + "'");
      return candidate;
    }
  }
  double before = a.estimate.seconds(), after = 0;
  double bytes = a.bytes;
  for (unsigned consumer : a.consumers) {
    const Group &b = groups[consumer];
    candidate.decision = checkContracts(a, b);
    if (!candidate.decision)
      return candidate;
    Group fused;
    fused.nodes = unite(a.nodes, b.nodes);
    // All other readers of the producer's values compute them as well.
    fused.stored = b.stored;
    candidate.decision = price(fused);
    if (!candidate.decision) {
      candidate.results.clear();
      return candidate;
    }
    before += b.estimate.seconds();
    after += fused.estimate.seconds();
    bytes += b.bytes - fused.bytes;
    candidate.entry.registers =
        std::max(candidate.entry.registers, fused.estimate.shape.registers);
    candidate.entry.sharedBytes =
        std::max(candidate.entry.sharedBytes, fused.estimate.shape.sharedBytes);
    candidate.results.push_back(std::move(fused));
  }
  candidate.gain = before - after;
  candidate.recomputes = true;
  candidate.entry.timeBeforeUs = before * 1e6;
  candidate.entry.timeAfterUs = after * 1e6;
  candidate.entry.savedBytes = static_cast<int64_t>(bytes);
  candidate.entry.savedLaunches = 1;
  return candidate;
}

static ReasonCode getAcceptedReason(Form form) {
  switch (form) {
  case Form::IntoConsumer:
    return ReasonCode::IntoConsumer;
  case Form::IntoAllConsumers:
    return ReasonCode::IntoAllConsumers;
  case Form::Siblings:
    return ReasonCode::Siblings;
  case Form::Meeting:
    return ReasonCode::ProductsMeet;
  }
  llvm_unreachable("not a form");
}

Candidate Planner::evaluate(const CandidateKey &key) {
  Candidate candidate = key.form == Form::IntoAllConsumers
                            ? evaluateAllConsumers(key)
                            : evaluateTogether(key, getMembers(key));
  LedgerEntry &entry = candidate.entry;
  if (!candidate.decision) {
    entry.reason = candidate.decision.getCode();
    entry.detail = candidate.decision.getDetail().str();
    return candidate;
  }
  candidate.demanded = isDemanded(key);
  entry.reason = getAcceptedReason(key.form);
  if (candidate.gain <= options.minGainSeconds) {
    entry.reason = ReasonCode::NotProfitable;
    candidate.decision = FusionDecision::no(ReasonCode::NotProfitable);
  }
  return candidate;
}

SmallVector<unsigned> Planner::getSiblings(unsigned group) const {
  llvm::SmallSetVector<unsigned, 8> siblings;
  for (unsigned node : groups[group].nodes)
    for (const TensorRead &read : graph.getNode(node).reads) {
      const std::set<unsigned> &readers =
          memoryReaders[graph.getBase(read.value)];
      auto self = readers.find(group);
      if (self == readers.end())
        continue;
      unsigned left = options.siblingWindow;
      for (auto it = std::next(self); it != readers.end() && left; ++it, --left)
        siblings.insert(*it);
      left = options.siblingWindow;
      for (auto it = self; it != readers.begin() && left; --left)
        siblings.insert(*--it);
    }
  SmallVector<unsigned> result;
  for (unsigned sibling : siblings)
    if (!groups[group].consumers.contains(sibling) &&
        !groups[group].producers.contains(sibling))
      result.push_back(sibling);
  return result;
}

void Planner::addCandidate(CandidateKey key) {
  if (key.form == Form::Siblings && key.first > key.second)
    std::swap(key.first, key.second);
  if (candidates.count(key))
    return;
  // Readers of one tensor that depend on each other are no siblings.
  if (key.form == Form::Siblings && closesCycle(key))
    return;
  Candidate candidate = evaluate(key);
  if (candidate.decision || candidate.demanded)
    queue.insert(getQueueEntry(key, candidate));
  candidates.emplace(key, std::move(candidate));
}

/// Adds every candidate that `group` takes part in.
void Planner::addCandidates(unsigned group) {
  auto addShared = [&](unsigned producer) {
    if (groups[producer].consumers.size() > 1)
      addCandidate({Form::IntoAllConsumers, producer, 0});
  };
  // With one product it is a pair.
  auto addMeeting = [&](unsigned consumer) {
    if (getMeeting(consumer).size() > 2)
      addCandidate({Form::Meeting, consumer, 0});
  };
  addShared(group);
  addMeeting(group);
  for (unsigned consumer : groups[group].consumers) {
    addCandidate({Form::IntoConsumer, group, consumer});
    addMeeting(consumer);
  }
  for (unsigned producer : groups[group].producers) {
    addCandidate({Form::IntoConsumer, producer, group});
    addShared(producer);
  }
  for (unsigned sibling : getSiblings(group))
    addCandidate({Form::Siblings, group, sibling});
}

/// Forgets every candidate that `group` takes part in.
void Planner::removeCandidates(unsigned group) {
  for (auto it = candidates.begin(); it != candidates.end();) {
    const CandidateKey &key = it->first;
    bool concerned = key.first == group;
    if (key.form == Form::IntoAllConsumers)
      concerned |= groups[key.first].consumers.contains(group);
    else if (key.form == Form::Meeting)
      concerned |= groups[key.first].producers.contains(group);
    else
      concerned |= key.second == group;
    if (!concerned) {
      ++it;
      continue;
    }
    queue.erase(getQueueEntry(key, it->second));
    it = candidates.erase(it);
  }
}

//===----------------------------------------------------------------------===//
// Taking candidates
//===----------------------------------------------------------------------===//

void Planner::take(const CandidateKey &key) {
  LedgerEntry entry = makeEntry(key);
  Candidate candidate = std::move(candidates.find(key)->second);
  const LedgerEntry &numbers = candidate.entry;
  entry.accepted = true;
  entry.reason = getAcceptedReason(key.form);
  entry.timeBeforeUs = numbers.timeBeforeUs;
  entry.timeAfterUs = numbers.timeAfterUs;
  entry.savedBytes = numbers.savedBytes;
  entry.savedLaunches = numbers.savedLaunches;
  entry.registers = numbers.registers;
  entry.sharedBytes = numbers.sharedBytes;
  if (candidate.gain <= options.minGainSeconds)
    entry.detail = "demanded by a contract";
  taken.push_back(std::move(entry));

  // A fused group keeps the lower number, which is canonical.
  SmallVector<unsigned> targets;
  SmallVector<unsigned> changed = {key.first};
  if (key.form == Form::IntoAllConsumers) {
    targets.assign(groups[key.first].consumers.begin(),
                   groups[key.first].consumers.end());
    llvm::append_range(changed, targets);
  } else {
    changed = getMembers(key);
    targets.push_back(*llvm::min_element(changed));
  }
  for (unsigned group : changed)
    removeCandidates(group);

  for (unsigned group : changed) {
    for (unsigned node : groups[group].nodes)
      llvm::erase(holders[node], group);
    groups[group].alive = false;
  }
  for (auto [group, result] : llvm::zip_equal(targets, candidate.results)) {
    groups[group] = std::move(result);
    for (unsigned node : groups[group].nodes) {
      holders[node].push_back(group);
      llvm::sort(holders[node]);
    }
  }
  linkGroups();
  for (unsigned group : targets)
    addCandidates(group);
}

void Planner::fuseUntilNoGain() {
  for (unsigned id = 0; id < groups.size(); ++id)
    addCandidates(id);
  while (!queue.empty()) {
    QueueEntry best = *queue.begin();
    // Other fusions may have made a path since it was priced.
    if (closesCycle(best.key)) {
      queue.erase(queue.begin());
      Candidate &candidate = candidates[best.key];
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
          closesCycle(key))
        continue;
      best = &key;
      gain = candidate.gain;
    }
    if (!best)
      return;
    take(CandidateKey(*best));
    // What became profitable by it is taken as usual.
    while (!queue.empty() && !closesCycle(queue.begin()->key))
      take(CandidateKey(queue.begin()->key));
  }
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

unsigned Planner::countAlive() const {
  return llvm::count_if(groups, [](const Group &group) { return group.alive; });
}

/// Alive groups in an order in which they can run: of those that can run next,
/// the one whose last node comes first.
SmallVector<unsigned> Planner::getOrder() const {
  std::set<std::pair<unsigned, unsigned>> ready;
  SmallVector<unsigned> waiting(groups.size());
  for (auto [id, group] : llvm::enumerate(groups)) {
    waiting[id] = group.producers.size();
    if (group.alive && waiting[id] == 0)
      ready.insert({group.nodes.back(), id});
  }
  SmallVector<unsigned> order;
  while (!ready.empty()) {
    unsigned id = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(id);
    for (unsigned consumer : groups[id].consumers)
      if (--waiting[consumer] == 0)
        ready.insert({groups[consumer].nodes.back(), consumer});
  }
  return order;
}

/// Reports values of ops with `fusion.must` that are still read from memory.
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
      if (it != candidates.end()) {
        const LedgerEntry &entry = it->second.entry;
        message += ": " + stringifyReason(entry.reason).str() + ", " +
                   describeReason(entry.reason).str();
        if (!entry.detail.empty())
          message += " (" + entry.detail + ")";
      }
      plan.violations.push_back({static_cast<unsigned>(id), message});
      break;
    }
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
    message += "; what stands in the way: " + llvm::join(reasons, ", ");
  plan.violations.push_back({std::nullopt, message});
}

void Planner::fillPlan(FusionPlan &plan) {
  Ledger &ledger = plan.ledger;
  ledger.target = target.name.str();
  ledger.kernelsBefore = graph.getNodes().size();
  ledger.bytesBefore = static_cast<int64_t>(bytesBefore);
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
    facts.dramBytes = static_cast<int64_t>(group.bytes);
    facts.flops = static_cast<int64_t>(group.estimate.cost.flops());
    facts.registers = group.estimate.shape.registers;
    facts.sharedBytes = group.estimate.shape.sharedBytes;
    ledger.kernels.push_back(std::move(facts));
    bytesAfter += group.bytes;
    secondsAfter += group.estimate.seconds();
    plan.kernels.push_back(std::move(kernel));
  }
  ledger.kernelsAfter = plan.kernels.size();
  ledger.bytesAfter = static_cast<int64_t>(bytesAfter);
  ledger.timeAfterUs = secondsAfter * 1e6;
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

FusionPlan mlir::fusion::planFusion(const ComputeGraph &graph,
                                    const TargetInfo &target,
                                    const PlanOptions &options) {
  return Planner(graph, target, options).plan();
}

FailureOr<FusionPlan> mlir::fusion::planFusion(FunctionOpInterface func,
                                               const TargetInfo &target,
                                               PlanOptions options) {
  if (auto limit =
          func->getAttrOfType<IntegerAttr>(FusionDialect::kMaxKernelsAttrName))
    options.maxKernels = limit.getInt();
  FailureOr<ComputeGraph> graph =
      ComputeGraph::build(func.getFunctionBody().front(), options.graph);
  if (failed(graph))
    return failure();
  FusionPlan plan = planFusion(*graph, target, options);
  plan.ledger.function = func.getName().str();
  return plan;
}
