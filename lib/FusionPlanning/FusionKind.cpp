//===- FusionKind.cpp - What kind of fusion a kernel is -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the words for what a kernel fuses.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/FusionKind.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct KindInfo {
  llvm::StringLiteral code, xla, text;
};
} // namespace

static constexpr KindInfo kKinds[] = {
#define FUSION_KIND(enumerator, code, xla, text) {code, xla, text},
#include "fusion/FusionPlanning/FusionKinds.def"
};

StringRef mlir::fusion::stringifyKind(FusionKind kind) {
  return kKinds[static_cast<unsigned>(kind)].code;
}

StringRef mlir::fusion::getXlaWord(FusionKind kind) {
  return kKinds[static_cast<unsigned>(kind)].xla;
}

StringRef mlir::fusion::describeKind(FusionKind kind) {
  return kKinds[static_cast<unsigned>(kind)].text;
}

ArrayRef<FusionKind> mlir::fusion::getAllKinds() {
  static constexpr FusionKind kinds[] = {
#define FUSION_KIND(enumerator, code, xla, text) FusionKind::enumerator,
#include "fusion/FusionPlanning/FusionKinds.def"
  };
  return kinds;
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// True when `node` reads a tensor so that another dimension than the one it
/// stores fastest lies fastest there.
static bool changesFastest(const GraphNode &node) {
  if (node.writes.empty() || node.writes.front().loops.empty())
    return false;
  int fastest = node.writes.front().loops.back();
  if (fastest < 0)
    return false;
  return llvm::any_of(node.reads, [&](const TensorRead &read) {
    if (read.coords.size() < 2)
      return false;
    ArrayRef<AffineExpr> outer = ArrayRef(read.coords).drop_back();
    return !read.coords.back().isFunctionOfDim(fastest) &&
           llvm::any_of(outer, [&](AffineExpr coord) {
             return coord.isFunctionOfDim(fastest);
           });
  });
}

namespace {
/// The nodes of a kernel around those of one kind.
struct Surroundings {
  unsigned count = 0;
  /// Another node comes before one, or behind one; one feeds another.
  bool before = false, behind = false, chained = false;
};
} // namespace

/// How `nodes` lie around those of them that are of `kind`.
static Surroundings look(const ComputeGraph &graph, ArrayRef<unsigned> nodes,
                         NodeKind kind) {
  Surroundings result;
  size_t size = graph.getNodes().size();
  llvm::BitVector inside(size), fed(size), feeds(size);
  for (unsigned id : nodes)
    inside.set(id);
  auto isOfKind = [&](unsigned id) { return graph.getNode(id).kind == kind; };
  for (unsigned id : nodes) {
    for (unsigned producer : graph.getProducers(id))
      if (inside.test(producer) && (fed.test(producer) || isOfKind(producer)))
        fed.set(id);
    result.count += isOfKind(id);
    result.chained |= isOfKind(id) && fed.test(id);
    result.behind |= !isOfKind(id) && fed.test(id);
  }
  for (unsigned id : llvm::reverse(nodes)) {
    for (unsigned consumer : graph.getConsumers(id))
      if (inside.test(consumer) && (feeds.test(consumer) || isOfKind(consumer)))
        feeds.set(id);
    result.before |= !isOfKind(id) && feeds.test(id);
  }
  return result;
}

FusionKind mlir::fusion::classifyFusion(const ComputeGraph &graph,
                                        ArrayRef<unsigned> nodes) {
  if (nodes.size() < 2)
    return FusionKind::Single;
  Surroundings products = look(graph, nodes, NodeKind::Contraction);
  if (products.chained)
    return FusionKind::Cascade;
  if (products.count && products.before)
    return products.behind ? FusionKind::PrologueEpilogue
                           : FusionKind::Prologue;
  if (products.count)
    return products.behind ? FusionKind::Epilogue : FusionKind::Siblings;
  auto has = [&](auto &&test) {
    return llvm::any_of(nodes,
                        [&](unsigned id) { return test(graph.getNode(id)); });
  };
  if (has([](const GraphNode &node) { return node.kind == NodeKind::Scan; }))
    return FusionKind::Scan;
  Surroundings reductions = look(graph, nodes, NodeKind::Reduction);
  if (reductions.count)
    return reductions.chained || reductions.behind ? FusionKind::Reduction
                                                   : FusionKind::Input;
  return has(changesFastest) ? FusionKind::Transpose : FusionKind::Loop;
}
