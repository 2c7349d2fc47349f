//===- Question.cpp - Why two operations are, or are not, fused -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the answer to --explain=A,B, from an explanation alone.
//
//===----------------------------------------------------------------------===//

#include "fusion/Report/Question.h"
#include "fusion/Report/Format.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>

using namespace mlir::fusion;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

/// Pairs that are answered; a label may be that of many operations.
static constexpr unsigned kMostPairs = 12;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// True for "17" and "model.py:17" of the source "model.py:17".
static bool isAt(StringRef source, StringRef place) {
  return source == place || source.rsplit(':').second == place;
}

bool mlir::fusion::isCalled(const ExplainedOperation &op, StringRef name) {
  if (name == op.label || llvm::is_contained(op.names, name))
    return true;
  auto isHere = [&](StringRef place) {
    return llvm::any_of(op.sources, [&](const std::string &source) {
      return isAt(source, place);
    });
  };
  if (isHere(name))
    return true;
  auto [label, place] = name.split(':');
  return label == op.label && !place.empty() && isHere(place);
}

static std::string describe(const ExplainedFunction &function, int64_t op) {
  const ExplainedOperation &known = function.operations[op];
  std::string text = known.label + " (#" + std::to_string(op);
  if (!known.sources.empty())
    text += ", " + known.sources.front();
  return text + ")";
}

namespace {
/// The answers for the operations of one function.
class Answer {
public:
  Answer(const ExplainedFunction &function, llvm::raw_ostream &os)
      : function(function), os(os) {}

  std::vector<int64_t> find(StringRef name) const;
  void explain(int64_t first, int64_t second);

private:
  std::vector<size_t> getKernels(int64_t op) const;
  void print(const ExplainedCandidate &entry) const;
  void explainShared(const ExplainedKernel &kernel, int64_t first,
                     int64_t second);
  bool explainBetween(size_t first, size_t second);
  std::vector<size_t> findPath(size_t first, size_t second) const;
  bool feeds(size_t producer, size_t consumer) const;
  void explainApart(size_t first, size_t second);

  const ExplainedFunction &function;
  llvm::raw_ostream &os;
};
} // namespace

std::vector<int64_t> Answer::find(StringRef name) const {
  std::vector<int64_t> found;
  for (auto [number, op] : llvm::enumerate(function.operations))
    if (name == "#" + std::to_string(number) || isCalled(op, name))
      found.push_back(number);
  return found;
}

/// The kernels that compute `op`: several where each computes it again.
std::vector<size_t> Answer::getKernels(int64_t op) const {
  std::vector<size_t> found;
  for (auto [i, kernel] : llvm::enumerate(function.kernels))
    if (kernel.computes(op))
      found.push_back(i);
  return found;
}

void Answer::print(const ExplainedCandidate &entry) const {
  os << (entry.accepted ? "    fused   " : "    refused ") << entry.producer
     << formatLine(entry.producerLine) << " -> " << entry.consumer
     << formatLine(entry.consumerLine) << ": " << entry.reason << ", "
     << entry.explanation;
  if (!entry.detail.empty())
    os << " (" << entry.detail << ")";
  if (entry.isPriced())
    os << "; " << formatNanoseconds(entry.timeBeforeNs) << " -> "
       << formatNanoseconds(entry.timeAfterNs) << ", saves "
       << formatByteCount(entry.savedBytes)
       << formatAssumedSize(function.representativeSize);
  os << "\n";
}

//===----------------------------------------------------------------------===//
// In one kernel
//===----------------------------------------------------------------------===//

/// Prints the decisions by which the two got into `kernel`, in the order taken:
/// those after which both are in one part of it.
void Answer::explainShared(const ExplainedKernel &kernel, int64_t first,
                           int64_t second) {
  os << "  share the kernel " << kernel.name << formatLine(kernel.line) << ", "
     << kernel.kind << ", " << formatNanoseconds(kernel.timeNs) << ", "
     << formatByteCount(kernel.bytes)
     << formatAssumedSize(function.representativeSize) << "\n";
  llvm::EquivalenceClasses<int64_t> parts;
  parts.insert(first);
  parts.insert(second);
  for (const ExplainedCandidate &entry : function.candidates) {
    if (!entry.accepted || entry.producerOp == entry.consumerOp ||
        !kernel.computes(entry.producerOp) ||
        !kernel.computes(entry.consumerOp))
      continue;
    parts.unionSets(entry.producerOp, entry.consumerOp);
    print(entry);
    if (parts.isEquivalent(first, second))
      return;
  }
}

//===----------------------------------------------------------------------===//
// In two kernels
//===----------------------------------------------------------------------===//

/// Prints what was refused between two kernels; false if nothing was.
bool Answer::explainBetween(size_t first, size_t second) {
  const ExplainedKernel &left = function.kernels[first];
  const ExplainedKernel &right = function.kernels[second];
  bool found = false;
  for (const ExplainedCandidate &entry : function.candidates) {
    if (entry.accepted)
      continue;
    bool isForward =
        left.computes(entry.producerOp) && right.computes(entry.consumerOp);
    bool isBackward =
        right.computes(entry.producerOp) && left.computes(entry.consumerOp);
    if (!isForward && !isBackward)
      continue;
    print(entry);
    found = true;
  }
  return found;
}

bool Answer::feeds(size_t producer, size_t consumer) const {
  const std::vector<int64_t> &stores = function.kernels[producer].stores;
  return llvm::any_of(function.kernels[consumer].reads, [&](int64_t value) {
    return llvm::is_contained(stores, value);
  });
}

/// The shortest way from one kernel to the other along what they read, both
/// included; empty if there is none.
std::vector<size_t> Answer::findPath(size_t first, size_t second) const {
  std::vector<std::optional<size_t>> from(function.kernels.size());
  std::deque<size_t> queue = {first};
  from[first] = first;
  while (!queue.empty() && !from[second]) {
    size_t at = queue.front();
    queue.pop_front();
    for (size_t next = 0; next < from.size(); ++next)
      if (!from[next] && feeds(at, next)) {
        from[next] = at;
        queue.push_back(next);
      }
  }
  std::vector<size_t> path;
  if (!from[second])
    return path;
  for (size_t at = second; at != first; at = *from[at])
    path.push_back(at);
  path.push_back(first);
  std::reverse(path.begin(), path.end());
  return path;
}

void Answer::explainApart(size_t first, size_t second) {
  os << "  are in " << function.kernels[first].name
     << formatLine(function.kernels[first].line) << " and "
     << function.kernels[second].name
     << formatLine(function.kernels[second].line) << "\n";
  if (explainBetween(first, second))
    return;
  std::vector<size_t> path = findPath(first, second);
  if (path.empty())
    path = findPath(second, first);
  if (path.size() < 3) {
    os << "    no candidate: "
       << (path.empty() ? "neither needs the other" : "nothing was tried")
       << "\n";
    return;
  }
  os << "    no candidate: other kernels lie between them\n";
  for (size_t i = 0; i + 1 < path.size(); ++i)
    if (!explainBetween(path[i], path[i + 1]))
      os << "    nothing was tried between " << function.kernels[path[i]].name
         << " and " << function.kernels[path[i + 1]].name << "\n";
}

void Answer::explain(int64_t first, int64_t second) {
  os << "@" << function.name << ": " << describe(function, first) << " and "
     << describe(function, second) << "\n";
  std::vector<size_t> left = getKernels(first), right = getKernels(second);
  bool areShared = false;
  for (size_t kernel : left)
    if (llvm::is_contained(right, kernel)) {
      explainShared(function.kernels[kernel], first, second);
      areShared = true;
    }
  if (areShared)
    return;
  for (size_t a : left)
    for (size_t b : right)
      explainApart(a, b);
}

//===----------------------------------------------------------------------===//
// All functions
//===----------------------------------------------------------------------===//

llvm::Expected<std::string>
mlir::fusion::explainPair(const Explanation &explanation, StringRef first,
                          StringRef second) {
  std::string text;
  llvm::raw_string_ostream os(text);
  bool hasFirst = false, hasSecond = false;
  unsigned pairs = 0, left = 0;
  for (const ExplainedFunction &function : explanation) {
    Answer answer(function, os);
    std::vector<int64_t> firsts = answer.find(first);
    std::vector<int64_t> seconds = answer.find(second);
    hasFirst |= !firsts.empty();
    hasSecond |= !seconds.empty();
    for (int64_t a : firsts)
      for (int64_t b : seconds) {
        if (a == b)
          continue;
        if (pairs == kMostPairs) {
          ++left;
          continue;
        }
        ++pairs;
        answer.explain(a, b);
      }
  }
  if (!hasFirst || !hasSecond) {
    llvm::SetVector<StringRef> labels;
    for (const ExplainedFunction &function : explanation)
      for (const ExplainedOperation &op : function.operations)
        labels.insert(op.label);
    return llvm::createStringError("there is no operation called '" +
                                   (hasFirst ? second : first) + "', of " +
                                   llvm::join(labels.takeVector(), ", "));
  }
  if (!pairs)
    return llvm::createStringError("'" + first + "' and '" + second +
                                   "' are one operation");
  if (left)
    os << "and " << left
       << " more pairs; matmul:17 is the one of line 17, #4 the one of number "
          "4\n";
  return text;
}
