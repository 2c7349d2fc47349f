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

/// The word for the reductions of a kernel and what surrounds them, by the ops
/// they are made of; empty when it is nothing well known.
static StringRef getFamily(const ComputeGraph &graph,
                           ArrayRef<unsigned> nodes) {
  llvm::StringSet<> labels, ops;
  unsigned numReductions = 0, maxReduced = 0;
  for (unsigned id : nodes) {
    const GraphNode &node = graph.getNode(id);
    labels.insert(node.label);
    node.op->walk(
        [&](Operation *op) { ops.insert(op->getName().getStringRef()); });
    if (node.kind != NodeKind::Reduction)
      continue;
    // Moments are a mean and a variance.
    numReductions += node.label == "moments" ? 2 : 1;
    maxReduced =
        std::max<unsigned>(maxReduced, llvm::count(node.reduced, true));
  }
  if (labels.contains("max_exp_sum") ||
      (labels.contains("reduce_max") && labels.contains("sum") &&
       ops.contains("math.exp"))) {
    if (!ops.contains("math.log"))
      return "softmax";
    return ops.contains("tensor.extract") ? "cross_entropy" : "log_softmax";
  }
  if (!numReductions ||
      !(ops.contains("math.rsqrt") || ops.contains("math.sqrt")))
    return "";
  if (maxReduced > 1)
    return "norm";
  return numReductions > 1 ? "layer_norm" : "rms_norm";
}

/// The results of reductions among `nodes`, which are in order, and what is
/// computed of such results alone.
static llvm::DenseSet<unsigned> getStatistics(const ComputeGraph &graph,
                                              ArrayRef<unsigned> nodes) {
  llvm::DenseSet<unsigned> statistics;
  for (unsigned id : nodes) {
    const GraphNode &node = graph.getNode(id);
    bool ofStatistics =
        !node.reads.empty() && llvm::all_of(node.reads, [&](auto &read) {
          return statistics.contains(read.value);
        });
    if (node.kind == NodeKind::Reduction || ofStatistics)
      for (const TensorWrite &write : node.writes)
        statistics.insert(write.value);
  }
  return statistics;
}

std::string mlir::fusion::getKernelName(const ComputeGraph &graph,
                                        ArrayRef<unsigned> nodes) {
  unsigned first = nodes.size(), last = 0;
  for (auto [i, id] : llvm::enumerate(nodes)) {
    if (graph.getNode(id).kind != NodeKind::Reduction)
      continue;
    first = std::min<unsigned>(first, i);
    last = i;
  }
  SmallVector<std::string> words;
  auto addWord = [&](StringRef word) {
    // These say little beside anything else.
    if (nodes.size() > 1 &&
        (word == "cast" || word == "copy" || word == "broadcast"))
      return;
    if (!llvm::is_contained(words, word))
      words.push_back(word.str());
  };
  StringRef family = getFamily(graph, nodes);
  llvm::DenseSet<unsigned> statistics = getStatistics(graph, nodes);
  // What finishes the family's formula goes without saying.
  auto isFinish = [&](const GraphNode &node) {
    StringRef label = node.label;
    return statistics.contains(node.writes.front().value) ||
           label.contains("div") || label.contains("sqrt") ||
           label.contains("log");
  };
  for (auto [i, id] : llvm::enumerate(nodes)) {
    const GraphNode &node = graph.getNode(id);
    if (!family.empty() && i >= first && i <= last)
      addWord(family);
    else if (family.empty() || i < first || !isFinish(node))
      addWord(node.label);
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
