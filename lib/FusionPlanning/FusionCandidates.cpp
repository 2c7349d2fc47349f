//===- FusionCandidates.cpp - What may be fused and what it gains ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements candidates: which pairs and sets of groups may become
// one kernel, and the gain of each.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"
#include "fusion/Support/Counts.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::planning;

/// A gain that rests on the price of recomputing values counts for this much
/// when candidates are ordered: of two that are about equal, the one that
/// computes nothing twice goes first.
static constexpr double kRecomputeWeight = 0.8;

/// What a contract demands is best kept by computing the value in every
/// consumer: no later choice can undo that.
QueueEntry planning::getQueueEntry(const CandidateKey &key,
                                   const Candidate &candidate) {
  double gain = candidate.gain;
  if (candidate.recomputes)
    gain *= kRecomputeWeight;
  if (candidate.demanded && key.form == Form::IntoAllConsumers)
    gain = std::numeric_limits<double>::infinity();
  return {candidate.demanded, gain, key};
}

ReasonCode planning::getAcceptedReason(Form form) {
  switch (form) {
  case Form::IntoConsumer:
    return ReasonCode::IntoConsumer;
  case Form::IntoAllConsumers:
    return ReasonCode::IntoAllConsumers;
  case Form::Siblings:
    return ReasonCode::Siblings;
  case Form::Meeting:
    return ReasonCode::ProductsMeet;
  case Form::Walk:
    return ReasonCode::SharedWalk;
  }
  llvm_unreachable("not a form");
}

FusionDecision Planner::checkContracts(const Group &a, const Group &b) const {
  for (const Group *group : {&a, &b})
    for (unsigned id : group->nodes)
      if (graph.getNode(id).never)
        return FusionDecision::no(ReasonCode::ContractNever,
                                  "asked for at '" + graph.getNode(id).label +
                                      "'");
  return pairs.checkApart(a.nodes, b.nodes);
}

/// Parts of a value are made one after the other: a kernel of two would need
/// memory for both.
FusionDecision Planner::checkParts(ArrayRef<unsigned> nodes) const {
  std::map<int64_t, int64_t> parts;
  for (unsigned id : nodes) {
    const GraphNode &node = graph.getNode(id);
    if (node.divided < 0)
      continue;
    auto [known, isNew] = parts.try_emplace(node.divided, node.part);
    if (!isNew && known->second != node.part)
      return FusionDecision::no(ReasonCode::OtherPart, "'" + node.label + "'");
  }
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
/// keeps a value of it out of memory, or when ops of the two groups are to
/// share a kernel.
bool Planner::isDemanded(const CandidateKey &key) const {
  if ((key.form == Form::IntoConsumer || key.form == Form::Siblings) &&
      pairs.joins(groups[key.first].nodes, groups[key.second].nodes))
    return true;
  if (key.form != Form::IntoConsumer && key.form != Form::IntoAllConsumers)
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
        groups[*groups[key.first].consumers.begin()].nodes.back();
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

bool Planner::contracts(unsigned group) const {
  return llvm::any_of(groups[group].nodes, [&](unsigned node) {
    return graph.getNode(node).kind == NodeKind::Contraction;
  });
}

SmallVector<unsigned> Planner::getMeeting(unsigned consumer) const {
  SmallVector<unsigned> members;
  for (unsigned producer : groups[consumer].producers)
    if (contracts(producer))
      members.push_back(producer);
  members.push_back(consumer);
  llvm::sort(members);
  return members;
}

/// The groups that a candidate other than IntoAllConsumers makes one.
SmallVector<unsigned> Planner::getMembers(const CandidateKey &key) const {
  if (key.form == Form::Meeting)
    return getMeeting(key.first);
  if (key.form == Form::Walk)
    return getWalk(key.first, key.second);
  return {key.first, key.second};
}

Candidate Planner::evaluateTogether(const CandidateKey &key) const {
  Candidate candidate;
  candidate.members = getMembers(key);
  ArrayRef<unsigned> members = candidate.members;
  candidate.decision = checkRepacked(key, members);
  if (!candidate.decision)
    return candidate;
  Group fused;
  double before = 0, bytes = 0;
  for (unsigned member : members) {
    const Group &group = groups[member];
    candidate.decision = checkContracts(groups[key.first], group);
    if (candidate.decision)
      candidate.decision = pairs.checkApart(fused.nodes, group.nodes);
    if (!candidate.decision)
      return candidate;
    fused.nodes = unite(fused.nodes, group.nodes);
    before += group.estimate.seconds();
    bytes += group.bytes;
  }
  candidate.decision = checkParts(fused.nodes);
  if (!candidate.decision)
    return candidate;
  if (closesCycle(key, members)) {
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
  candidate.entry.savedBytes = toCount(bytes - fused.bytes);
  candidate.entry.savedLaunches = members.size() - 1;
  candidate.entry.registers = fused.estimate.shape.registers;
  candidate.entry.sharedBytes = fused.estimate.shape.sharedBytes;
  candidate.results.push_back(std::move(fused));
  return candidate;
}

/// Those of `nodes`, ascending, that `stored` needs: what a consumer reads of
/// several values of its producer is not all.
static SmallVector<unsigned> getNeeded(const ComputeGraph &graph,
                                       ArrayRef<unsigned> nodes,
                                       ArrayRef<unsigned> stored) {
  llvm::SmallSetVector<unsigned, 16> needed;
  auto need = [&](unsigned value) {
    int producer = graph.getValue(graph.getBase(value)).producer;
    if (producer >= 0 && llvm::binary_search(nodes, producer))
      needed.insert(producer);
  };
  llvm::for_each(stored, need);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (const TensorRead &read : graph.getNode(needed[i]).reads)
      need(read.value);
  SmallVector<unsigned> result(needed.getArrayRef());
  llvm::sort(result);
  return result;
}

/// Whether all consumers may compute `producer`, walks if `areWalks`; adds
/// those of its values that leave the function to `leaving`.
static FusionDecision checkRepeated(const ComputeGraph &graph,
                                    const Group &producer, bool areWalks,
                                    SmallVectorImpl<unsigned> &leaving) {
  for (unsigned id : producer.nodes) {
    const GraphNode &node = graph.getNode(id);
    std::string label = "'" + node.label + "'";
    if (node.repack)
      return FusionDecision::no(ReasonCode::Repacked, label);
    if (node.kind != NodeKind::Pointwise &&
        !(node.kind == NodeKind::Contraction && areWalks))
      return FusionDecision::no(ReasonCode::NotShared, label);
    for (const TensorWrite &write : node.writes)
      if (graph.getValue(write.value).escapes) {
        // A step of a walk stores what it has.
        if (!areWalks)
          return FusionDecision::no(ReasonCode::NotShared, label);
        leaving.push_back(write.value);
      }
  }
  return FusionDecision::yes();
}

FusionDecision Planner::storeLeaving(ArrayRef<unsigned> leaving,
                                     ArrayRef<unsigned> producers,
                                     MutableArrayRef<Group> results) const {
  FusionDecision decision = FusionDecision::yes();
  std::optional<std::pair<unsigned, Group>> best;
  double least = std::numeric_limits<double>::infinity();
  for (auto [number, result] : llvm::enumerate(results)) {
    Group storing;
    storing.stored = unite(result.stored, leaving);
    storing.nodes =
        getNeeded(graph, unite(producers, result.nodes), storing.stored);
    FusionDecision own = price(storing);
    if (!own) {
      decision = own;
      continue;
    }
    double more = storing.estimate.seconds() - result.estimate.seconds();
    if (more >= least)
      continue;
    least = more;
    best = {static_cast<unsigned>(number), std::move(storing)};
  }
  if (!best)
    return decision;
  results[best->first] = std::move(best->second);
  return FusionDecision::yes();
}

Candidate Planner::evaluateRepeated(ArrayRef<unsigned> producers) const {
  const std::set<unsigned> &consumers = groups[producers.back()].consumers;
  // Walks can make a product's steps again; whether that pays is their price.
  bool areWalks = llvm::all_of(
      consumers, [&](unsigned consumer) { return contracts(consumer); });
  Candidate candidate;
  candidate.members.assign(producers.begin(), producers.end());
  SmallVector<unsigned> nodes, leaving;
  double before = 0, after = 0, bytes = 0;
  for (unsigned producer : producers) {
    const Group &a = groups[producer];
    candidate.decision = checkRepeated(graph, a, areWalks, leaving);
    if (!candidate.decision)
      return candidate;
    nodes = unite(nodes, a.nodes);
    before += a.estimate.seconds();
    bytes += a.bytes;
  }
  auto refuse = [&](FusionDecision decision) {
    candidate.decision = std::move(decision);
    candidate.results.clear();
    return candidate;
  };
  for (unsigned consumer : consumers) {
    const Group &b = groups[consumer];
    for (unsigned producer : producers)
      if (FusionDecision kept = checkContracts(groups[producer], b); !kept)
        return refuse(kept);
    Group fused;
    // All other readers of the producers' values compute them as well.
    fused.stored = b.stored;
    fused.nodes = getNeeded(graph, unite(nodes, b.nodes), b.stored);
    if (FusionDecision parts = checkParts(fused.nodes); !parts)
      return refuse(parts);
    if (FusionDecision decision = price(fused); !decision)
      return refuse(decision);
    before += b.estimate.seconds();
    bytes += b.bytes;
    candidate.results.push_back(std::move(fused));
  }
  llvm::sort(leaving);
  if (!leaving.empty())
    if (FusionDecision decision =
            storeLeaving(leaving, nodes, candidate.results);
        !decision)
      return refuse(decision);
  LedgerEntry &entry = candidate.entry;
  for (const Group &fused : candidate.results) {
    after += fused.estimate.seconds();
    bytes -= fused.bytes;
    entry.registers = std::max(entry.registers, fused.estimate.shape.registers);
    entry.sharedBytes =
        std::max(entry.sharedBytes, fused.estimate.shape.sharedBytes);
  }
  candidate.gain = before - after;
  candidate.recomputes = true;
  entry.timeBeforeUs = before * 1e6;
  entry.timeAfterUs = after * 1e6;
  entry.savedBytes = toCount(bytes);
  entry.savedLaunches = producers.size();
  return candidate;
}

SmallVector<unsigned> Planner::getRepeated(unsigned last) const {
  llvm::SmallSetVector<unsigned, 8> repeated;
  repeated.insert(last);
  const std::set<unsigned> &consumers = groups[last].consumers;
  for (unsigned i = 0; i < repeated.size(); ++i)
    for (unsigned producer : groups[repeated[i]].producers)
      if (contracts(producer) &&
          llvm::all_of(groups[producer].consumers, [&](unsigned reader) {
            return repeated.contains(reader) || consumers.count(reader);
          }))
        repeated.insert(producer);
  return SmallVector<unsigned>(llvm::reverse(repeated));
}

Candidate Planner::evaluateAllConsumers(const CandidateKey &key) const {
  Candidate candidate = evaluateRepeated(key.first);
  SmallVector<unsigned> all = getRepeated(key.first);
  if (all.size() == 1)
    return candidate;
  // Steps of which one product alone is made again read the other's from
  // memory.
  Candidate whole = evaluateRepeated(all);
  bool isBetter =
      whole.decision && (!candidate.decision || whole.gain > candidate.gain);
  return isBetter ? whole : candidate;
}

Candidate Planner::evaluate(const CandidateKey &key) const {
  Candidate candidate = key.form == Form::IntoAllConsumers
                            ? evaluateAllConsumers(key)
                            : evaluateTogether(key);
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
    if (!groups[group].consumers.count(sibling) &&
        !groups[group].producers.count(sibling))
      result.push_back(sibling);
  return result;
}

SmallVector<unsigned> Planner::getConcerned(const CandidateKey &key,
                                            const Candidate &candidate) const {
  SmallVector<unsigned> concerned = {key.first};
  const Group &first = groups[key.first];
  if (key.form == Form::IntoAllConsumers) {
    concerned.assign(candidate.members.begin(), candidate.members.end());
    concerned.append(first.consumers.begin(), first.consumers.end());
    // Those that could be made again as well, once nothing else reads them.
    llvm::copy_if(first.producers, std::back_inserter(concerned),
                  [&](unsigned producer) {
                    return contracts(producer) &&
                           !llvm::is_contained(candidate.members, producer);
                  });
  } else if (key.form == Form::Meeting)
    concerned.append(first.producers.begin(), first.producers.end());
  else
    concerned.assign(candidate.members.begin(), candidate.members.end());
  return concerned;
}

void Planner::findCandidates(unsigned group,
                             std::vector<CandidateKey> &keys) const {
  auto addShared = [&](unsigned producer) {
    if (groups[producer].consumers.size() > 1)
      keys.push_back({Form::IntoAllConsumers, producer, 0});
  };
  // With one product it is a pair.
  auto addMeeting = [&](unsigned consumer) {
    if (getMeeting(consumer).size() > 2)
      keys.push_back({Form::Meeting, consumer, 0});
  };
  addShared(group);
  addMeeting(group);
  findWalks(group, keys);
  for (unsigned consumer : groups[group].consumers) {
    if (contracts(group))
      addShared(consumer);
    keys.push_back({Form::IntoConsumer, group, consumer});
    addMeeting(consumer);
  }
  for (unsigned producer : groups[group].producers) {
    keys.push_back({Form::IntoConsumer, producer, group});
    addShared(producer);
  }
  // Readers of one tensor that depend on each other are no siblings.
  for (unsigned sibling : getSiblings(group)) {
    CandidateKey key = {Form::Siblings, std::min(group, sibling),
                        std::max(group, sibling)};
    if (!closesCycle(key, {}))
      keys.push_back(key);
  }
}

void Planner::addCandidates(ArrayRef<unsigned> changed) {
  std::vector<CandidateKey> keys;
  for (unsigned group : changed)
    findCandidates(group, keys);
  llvm::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  llvm::erase_if(keys, [&](const CandidateKey &key) {
    return candidates.count(key) != 0;
  });
  // What a candidate is worth depends on groups alone.
  std::vector<Candidate> found(keys.size());
  parallelFor(graph.getContext(), 0, keys.size(),
              [&](size_t i) { found[i] = evaluate(keys[i]); });
  for (auto [key, candidate] : llvm::zip_equal(keys, found)) {
    if (candidate.decision || candidate.demanded)
      queue.insert(getQueueEntry(key, candidate));
    for (unsigned group : getConcerned(key, candidate))
      candidatesOf[group].push_back(key);
    candidates.emplace(key, std::move(candidate));
  }
}

/// Forgets every candidate that `group` takes part in.
void Planner::removeCandidates(unsigned group) {
  for (const CandidateKey &key : candidatesOf[group]) {
    auto it = candidates.find(key);
    if (it == candidates.end() ||
        !llvm::is_contained(getConcerned(key, it->second), group))
      continue;
    queue.erase(getQueueEntry(key, it->second));
    candidates.erase(it);
  }
  candidatesOf[group].clear();
}
