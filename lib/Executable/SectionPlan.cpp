//===- SectionPlan.cpp - Memory as a launch goes on -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements dividing the steps of an entry into sections.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/SectionPlan.h"
#include "fusion/Executable/Package.h"

#include <algorithm>
#include <map>

namespace fusionpkg {

namespace {

class SectionPlanner {
public:
  SectionPlanner(const Entry &entry, const std::vector<int64_t> &bytes,
                 const std::vector<bool> &isReleased)
      : entry(entry), bytes(bytes), isReleased(isReleased),
        steps(computeLifetimes(entry)),
        numSteps(static_cast<uint32_t>(entry.steps.size())) {
    for (size_t i = 0; i < steps.size(); ++i)
      steps[i].bytes = bytes[i];
  }

  /// The sum of all sizes, so that no sum of some of them overflows.
  Error checkSum(int64_t workspaceBytes) const;
  /// Sections that need no more than the neediest step.
  std::vector<uint32_t> divide() const;
  Result<SectionPlan> build(std::vector<uint32_t> firstSteps) const;
  /// What is needed if all is there all the time.
  int64_t sumWhole(int64_t workspaceBytes) const;

private:
  bool isUsed(size_t buffer) const {
    return steps[buffer].first <= steps[buffer].last;
  }
  bool isKind(size_t buffer, BufferKind kind) const {
    return entry.buffers[buffer].kind == kind;
  }
  /// An input that is the memory of an output stays whatever the caller says.
  bool isReleasedInput(size_t buffer) const {
    return isKind(buffer, BufferKind::Input) &&
           isReleased[entry.buffers[buffer].index] &&
           !isOverwritten(entry, static_cast<uint32_t>(buffer));
  }
  /// The steps for which a buffer takes memory that the launch decides about;
  /// `first > last` for others.
  Lifetime findHeld(size_t buffer) const;
  std::vector<Lifetime> findUses(const SectionPlan &plan) const;
  Error placeTemps(SectionPlan &plan) const;
  int64_t findPeak(const SectionPlan &plan) const;

  const Entry &entry;
  const std::vector<int64_t> &bytes;
  const std::vector<bool> &isReleased;
  /// Of every buffer, in steps.
  std::vector<Lifetime> steps;
  uint32_t numSteps;
};

} // namespace

Error SectionPlanner::checkSum(int64_t workspaceBytes) const {
  int64_t sum = workspaceBytes;
  for (int64_t size : bytes)
    if (__builtin_add_overflow(sum, size + kWorkspaceAlignment, &sum))
      return Error(ErrorCode::SizeOverflow,
                   "entry '" + entry.name +
                       "': its tensors together pass 2^63 bytes");
  return {};
}

Lifetime SectionPlanner::findHeld(size_t buffer) const {
  Lifetime held = steps[buffer];
  if (isKind(buffer, BufferKind::Output))
    return {held.bytes, isUsed(buffer) ? held.first : 0, numSteps - 1};
  if (isKind(buffer, BufferKind::Temp) && isUsed(buffer))
    return held;
  if (isReleasedInput(buffer) && isUsed(buffer))
    return {held.bytes, 0, held.last};
  return {0, 1, 0};
}

std::vector<uint32_t> SectionPlanner::divide() const {
  std::vector<int64_t> begun(numSteps + 1, 0), ended(numSteps + 1, 0);
  for (size_t i = 0; i < steps.size(); ++i) {
    Lifetime held = findHeld(i);
    if (held.first > held.last)
      continue;
    begun[held.first] += held.bytes;
    ended[held.last + 1] += held.bytes;
  }
  std::vector<int64_t> live(numSteps, 0);
  int64_t now = 0;
  for (uint32_t step = 0; step < numSteps; ++step)
    live[step] = now += begun[step] - ended[step];
  int64_t most = *std::max_element(live.begin(), live.end());

  std::vector<uint32_t> firstSteps = {0};
  int64_t held = live.front();
  for (uint32_t step = 1; step < numSteps; ++step) {
    held += begun[step];
    if (held <= most)
      continue;
    firstSteps.push_back(step);
    held = live[step];
  }
  return firstSteps;
}

/// Lives in sections, from those in steps.
std::vector<Lifetime> SectionPlanner::findUses(const SectionPlan &plan) const {
  auto sectionOf = [&](uint32_t step) {
    auto next =
        std::upper_bound(plan.firstSteps.begin(), plan.firstSteps.end(), step);
    return static_cast<uint32_t>(next - plan.firstSteps.begin() - 1);
  };
  std::vector<Lifetime> uses;
  for (size_t i = 0; i < steps.size(); ++i) {
    Lifetime use = {bytes[i], 1, 0};
    if (isUsed(i))
      use = {bytes[i], sectionOf(steps[i].first), sectionOf(steps[i].last)};
    if (isKind(i, BufferKind::Output))
      use = {bytes[i], isUsed(i) ? use.first : 0,
             static_cast<uint32_t>(plan.firstSteps.size() - 1)};
    uses.push_back(use);
  }
  return uses;
}

Error SectionPlanner::placeTemps(SectionPlan &plan) const {
  plan.blockOf.assign(steps.size(), UINT32_MAX);
  plan.offsets.assign(steps.size(), 0);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<size_t>> groups;
  for (size_t i = 0; i < steps.size(); ++i)
    if (isKind(i, BufferKind::Temp) && isUsed(i) && bytes[i] > 0)
      groups[{plan.uses[i].first, plan.uses[i].last}].push_back(i);
  for (const auto &[sections, members] : groups) {
    std::vector<Lifetime> lives;
    for (size_t member : members)
      lives.push_back(steps[member]);
    Result<BufferPlan> placed = planBuffers(lives);
    if (!placed)
      return placed.getError().inContext("entry '" + entry.name + "'");
    for (size_t i = 0; i < members.size(); ++i) {
      plan.blockOf[members[i]] = static_cast<uint32_t>(plan.blocks.size());
      plan.offsets[members[i]] = placed->offsets[i];
    }
    plan.blocks.push_back({placed->bytes, sections.first, sections.second});
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!isKind(i, BufferKind::Signals))
      continue;
    plan.blockOf[i] = static_cast<uint32_t>(plan.blocks.size());
    plan.blocks.push_back(
        {kSignalBytes, 0, static_cast<uint32_t>(plan.firstSteps.size() - 1)});
  }
  return {};
}

int64_t SectionPlanner::findPeak(const SectionPlan &plan) const {
  std::vector<int64_t> held(plan.firstSteps.size(), 0);
  auto add = [&](uint32_t first, const Lifetime &use) {
    for (uint32_t section = first; section <= use.last; ++section)
      held[section] += use.bytes;
  };
  for (size_t i = 0; i < plan.uses.size(); ++i)
    if (isKind(i, BufferKind::Output))
      add(plan.uses[i].first, plan.uses[i]);
    else if (isReleasedInput(i) && isUsed(i))
      add(0, plan.uses[i]);
  for (const Lifetime &block : plan.blocks)
    add(block.first, block);
  return *std::max_element(held.begin(), held.end());
}

Result<SectionPlan>
SectionPlanner::build(std::vector<uint32_t> firstSteps) const {
  SectionPlan plan;
  plan.firstSteps = std::move(firstSteps);
  plan.uses = findUses(plan);
  if (Error error = placeTemps(plan))
    return error;
  plan.bytes = findPeak(plan);
  return plan;
}

int64_t SectionPlanner::sumWhole(int64_t workspaceBytes) const {
  int64_t sum = workspaceBytes;
  for (size_t i = 0; i < steps.size(); ++i)
    if (isKind(i, BufferKind::Output) || isReleasedInput(i))
      sum += bytes[i];
  return sum;
}

Result<SectionPlan> planSections(const Entry &entry,
                                 const std::vector<int64_t> &bytes,
                                 const std::vector<bool> &isReleased,
                                 int64_t workspaceBytes, int64_t leastGain) {
  SectionPlanner planner(entry, bytes, isReleased);
  if (Error error = planner.checkSum(workspaceBytes))
    return error;
  int64_t whole = planner.sumWhole(workspaceBytes);
  Result<SectionPlan> plan = planner.build(
      entry.steps.empty() ? std::vector<uint32_t>{0} : planner.divide());
  // Divided, so that no product overflows.
  if (plan && plan->firstSteps.size() > 1 &&
      (whole - plan->bytes) / int64_t(plan->firstSteps.size() - 1) < leastGain)
    plan = planner.build({0});
  if (plan)
    plan->wholeBytes = whole;
  return plan;
}

} // namespace fusionpkg
