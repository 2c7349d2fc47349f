//===- PlanDiff.cpp - Two plans side by side ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the comparison of two plans. Kernels are matched by what
// they compute: kernels of either side that have operations in common, and
// those that have some in common with these, make one change.
//
//===----------------------------------------------------------------------===//

#include "fusion/Report/PlanDiff.h"
#include "fusion/Report/Format.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

using namespace mlir::fusion;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// What operations are called in both plans
//===----------------------------------------------------------------------===//

using OpNames = std::set<std::string>;

/// Of each kernel of `function` what it computes: labels with their places
/// where both plans know these, numbered where one occurs again.
static std::vector<OpNames> nameOperations(const ExplainedFunction &function,
                                           bool byPlace) {
  std::map<std::string, unsigned> uses;
  auto number = [&](const std::string &name) {
    unsigned use = uses[name]++;
    return use ? name + " #" + std::to_string(use + 1) : name;
  };
  std::vector<std::string> names;
  if (byPlace)
    for (const ExplainedOperation &op : function.operations)
      names.push_back(number(op.sources.empty()
                                 ? op.label
                                 : op.label + " (" + op.sources.front() + ")"));
  std::vector<OpNames> result;
  for (const ExplainedKernel &kernel : function.kernels) {
    OpNames &own = result.emplace_back();
    if (byPlace)
      for (int64_t op : kernel.operations)
        own.insert(names[op]);
    else
      for (const std::string &label : kernel.labels)
        own.insert(number(label));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

namespace {
/// Kernels of both plans that have operations in common.
struct Change {
  std::vector<size_t> before, after;
};

class FunctionDiff {
public:
  FunctionDiff(const ExplainedFunction &before, const ExplainedFunction &after,
               llvm::raw_ostream &os)
      : before(before), after(after), os(os) {
    bool byPlace = !before.operations.empty() && !after.operations.empty();
    namesBefore = nameOperations(before, byPlace);
    namesAfter = nameOperations(after, byPlace);
  }

  void print();

private:
  std::vector<Change> findChanges() const;
  void printTotals();
  bool isSame(const Change &change) const;
  void printChange(const Change &change);
  void printMoved(size_t from, size_t to);
  void printReasons(const Change &change);
  StringRef getVerb(const Change &change) const;

  const ExplainedFunction &before, &after;
  llvm::raw_ostream &os;
  std::vector<OpNames> namesBefore, namesAfter;
};
} // namespace

/// " (+35.0 %)" for what grew or shrank.
static std::string formatChange(int64_t from, int64_t to) {
  if (from == to || from == 0)
    return "";
  return llvm::formatv(" ({0}{1:F1} %)", to > from ? "+" : "",
                       100.0 * double(to - from) / double(from))
      .str();
}

void FunctionDiff::printTotals() {
  os << "@" << after.name << ": ";
  if (before.target != after.target)
    os << before.target << " -> " << after.target << ", ";
  os << before.kernelsAfter << " -> " << after.kernelsAfter << " kernels, "
     << formatByteCount(before.bytesAfter) << " -> "
     << formatByteCount(after.bytesAfter)
     << formatChange(before.bytesAfter, after.bytesAfter) << ", "
     << formatNanoseconds(before.timeAfterNs) << " -> "
     << formatNanoseconds(after.timeAfterNs)
     << formatChange(before.timeAfterNs, after.timeAfterNs) << " predicted"
     << formatAssumedSize(after.representativeSize) << "\n";
}

/// Changes in the order of the kernels, those of the plan before first.
std::vector<Change> FunctionDiff::findChanges() const {
  // Kernels after are numbered behind those before.
  size_t numBefore = namesBefore.size();
  llvm::EquivalenceClasses<size_t> classes;
  std::map<std::string, size_t> owners;
  auto add = [&](size_t kernel, const OpNames &names) {
    classes.insert(kernel);
    for (const std::string &name : names)
      classes.unionSets(owners.try_emplace(name, kernel).first->second, kernel);
  };
  for (auto [i, names] : llvm::enumerate(namesBefore))
    add(i, names);
  for (auto [i, names] : llvm::enumerate(namesAfter))
    add(numBefore + i, names);
  std::map<size_t, size_t> numbers;
  std::vector<Change> changes;
  for (size_t kernel = 0; kernel < numBefore + namesAfter.size(); ++kernel) {
    auto [it, isNew] =
        numbers.try_emplace(classes.getLeaderValue(kernel), changes.size());
    if (isNew)
      changes.emplace_back();
    Change &change = changes[it->second];
    if (kernel < numBefore)
      change.before.push_back(kernel);
    else
      change.after.push_back(kernel - numBefore);
  }
  return changes;
}

StringRef FunctionDiff::getVerb(const Change &change) const {
  if (change.before.empty())
    return "new     ";
  if (change.after.empty())
    return "gone    ";
  if (change.before.size() == 1 && change.after.size() > 1)
    return "split   ";
  if (change.before.size() > 1 && change.after.size() == 1)
    return "joined  ";
  if (change.before.size() > 1)
    return "moved   ";
  return namesBefore[change.before.front()] == namesAfter[change.after.front()]
             ? "priced  "
             : "changed ";
}

/// Time and bytes of kernels.
static std::pair<int64_t, int64_t> sum(const ExplainedFunction &function,
                                       ArrayRef<size_t> kernels) {
  int64_t ns = 0, bytes = 0;
  for (size_t id : kernels) {
    ns += function.kernels[id].timeNs;
    bytes += function.kernels[id].bytes;
  }
  return {ns, bytes};
}

/// A line for each kernel, behind `sign`.
static void printKernels(const ExplainedFunction &function,
                         ArrayRef<size_t> kernels, char sign,
                         llvm::raw_ostream &os) {
  for (size_t id : kernels) {
    const ExplainedKernel &kernel = function.kernels[id];
    os << "    " << sign << " " << kernel.name << formatLine(kernel.line)
       << ": " << formatNanoseconds(kernel.timeNs) << ", "
       << formatByteCount(kernel.bytes) << ", bound by " << kernel.bound;
    if (!kernel.kind.empty())
      os << ", " << kernel.kind;
    os << "\n";
  }
}

/// Says which operations one kernel lost and gained.
void FunctionDiff::printMoved(size_t from, size_t to) {
  for (auto [verb, names, others] :
       {std::tuple("lost", &namesBefore[from], &namesAfter[to]),
        {"gained", &namesAfter[to], &namesBefore[from]}}) {
    std::vector<StringRef> only;
    for (const std::string &name : *names)
      if (!others->count(name))
        only.push_back(name);
    if (!only.empty())
      os << "    " << verb << " " << llvm::join(only, ", ") << "\n";
  }
}

/// Of `function`, what was decided between two of `kernels`.
static void printDecisions(const ExplainedFunction &function,
                           ArrayRef<size_t> kernels, StringRef when,
                           llvm::raw_ostream &os) {
  auto isOf = [&](int64_t op) {
    return llvm::any_of(
        kernels, [&](size_t id) { return function.kernels[id].computes(op); });
  };
  llvm::StringSet<> known;
  for (const ExplainedCandidate &entry : function.candidates) {
    // Rewrites are of one operation, whatever kernels there are.
    bool isRewrite = entry.producerOp == entry.consumerOp;
    if (entry.accepted || isRewrite || !isOf(entry.producerOp) ||
        !isOf(entry.consumerOp))
      continue;
    std::string text = entry.producer + formatLine(entry.producerLine) +
                       " -> " + entry.consumer +
                       formatLine(entry.consumerLine) + ": " + entry.reason;
    if (entry.isPriced())
      text += "; " + formatNanoseconds(entry.timeBeforeNs) + " -> " +
              formatNanoseconds(entry.timeAfterNs);
    if (!entry.detail.empty())
      text += " (" + entry.detail + ")";
    if (known.insert(text).second)
      os << "    " << when << " refused " << text << "\n";
  }
}

/// What kept apart those kernels that were joined, and keeps those that were
/// split.
void FunctionDiff::printReasons(const Change &change) {
  if (change.before.size() > 1)
    printDecisions(before, change.before, "was", os);
  if (change.after.size() > 1)
    printDecisions(after, change.after, "now", os);
}

/// True if the same kernels are there, at the same price.
bool FunctionDiff::isSame(const Change &change) const {
  std::multiset<OpNames> left, right;
  for (size_t id : change.before)
    left.insert(namesBefore[id]);
  for (size_t id : change.after)
    right.insert(namesAfter[id]);
  return left == right &&
         sum(before, change.before) == sum(after, change.after);
}

void FunctionDiff::printChange(const Change &change) {
  auto [nsBefore, bytesBefore] = sum(before, change.before);
  auto [nsAfter, bytesAfter] = sum(after, change.after);
  os << "  " << getVerb(change) << formatNanoseconds(nsBefore) << " -> "
     << formatNanoseconds(nsAfter) << formatChange(nsBefore, nsAfter) << ", "
     << formatByteCount(bytesBefore) << " -> " << formatByteCount(bytesAfter)
     << formatChange(bytesBefore, bytesAfter) << "\n";
  printKernels(before, change.before, '-', os);
  printKernels(after, change.after, '+', os);
  if (change.before.size() == 1 && change.after.size() == 1)
    printMoved(change.before.front(), change.after.front());
  printReasons(change);
}

void FunctionDiff::print() {
  printTotals();
  size_t same = 0;
  for (const Change &change : findChanges())
    if (isSame(change))
      same += change.after.size();
    else
      printChange(change);
  os << "  " << same << (same == 1 ? " kernel is" : " kernels are")
     << " the same\n";
}

//===----------------------------------------------------------------------===//
// All functions
//===----------------------------------------------------------------------===//

std::string mlir::fusion::diffPlans(const Explanation &before,
                                    const Explanation &after) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto find = [](const Explanation &explanation, StringRef name) {
    return llvm::find_if(explanation, [&](const ExplainedFunction &function) {
      return function.name == name;
    });
  };
  for (const ExplainedFunction &function : before)
    if (find(after, function.name) == after.end())
      os << "@" << function.name << ": gone\n";
  for (const ExplainedFunction &function : after) {
    auto known = find(before, function.name);
    if (known == before.end())
      os << "@" << function.name << ": new\n";
    else
      FunctionDiff(*known, function, os).print();
  }
  return text;
}
