//===- KernelNames.cpp - Names that say what is fused ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the names of kernels. Nothing is decided by a name.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/FusionPlanner.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fusion;

/// Words of a name before the rest is only counted.
static constexpr unsigned kMaxWords = 6;

/// The word for the reductions of a kernel and what surrounds them, by the
/// labels of its ops; empty when it is nothing well known.
static StringRef getFamily(const llvm::StringMap<unsigned> &labels,
                           unsigned numReductions) {
  auto count = [&](StringRef label) { return labels.lookup(label); };
  auto mentions = [&](StringRef word) {
    return llvm::any_of(labels, [&](const auto &entry) {
      return entry.getKey().contains(word);
    });
  };
  if (numReductions == 0)
    return "";
  if (count("reduce_max") && count("sum") && mentions("exp"))
    return mentions("log") ? (mentions("gather") ? "cross_entropy"
                                                 : "log_softmax")
                           : "softmax";
  if (mentions("rsqrt") || mentions("sqrt"))
    return numReductions > 1 ? "layer_norm" : "rms_norm";
  return "";
}

std::string mlir::fusion::getKernelName(const ComputeGraph &graph,
                                        ArrayRef<unsigned> nodes) {
  llvm::StringMap<unsigned> labels;
  unsigned numReductions = 0, first = nodes.size(), last = 0;
  for (auto [i, id] : llvm::enumerate(nodes)) {
    const GraphNode &node = graph.getNode(id);
    ++labels[node.label];
    if (node.kind != NodeKind::Reduction)
      continue;
    ++numReductions;
    first = std::min<unsigned>(first, i);
    last = i;
  }
  SmallVector<std::string> words;
  auto addWord = [&](StringRef word) {
    // `cast` and `copy` say little beside anything else.
    if (nodes.size() > 1 && (word == "cast" || word == "copy"))
      return;
    if (!llvm::is_contained(words, word))
      words.push_back(word.str());
  };
  StringRef family = getFamily(labels, numReductions);
  for (auto [i, id] : llvm::enumerate(nodes)) {
    if (!family.empty() && i >= first && i <= last) {
      addWord(family);
      continue;
    }
    addWord(graph.getNode(id).label);
  }
  if (words.empty())
    words.push_back(graph.getNode(nodes.front()).label);
  if (words.size() > kMaxWords) {
    std::string rest = std::to_string(words.size() - kMaxWords) + "_more";
    words.resize(kMaxWords);
    words.push_back(rest);
  }
  return llvm::join(words, "_");
}
