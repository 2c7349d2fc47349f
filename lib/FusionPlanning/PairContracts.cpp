//===- PairContracts.cpp - Contracts on two ops in plans ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the planner does about ops that are to share a
// kernel, or not to.
//
//===----------------------------------------------------------------------===//

#include "PairContracts.h"
#include "fusion/Dialect/Fusion/PairContracts.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::planning;

PairContracts::PairContracts(const ComputeGraph &graph) : graph(graph) {
  for (auto [id, node] : llvm::enumerate(graph.getNodes())) {
    for (int64_t number : getPairNumbers(node.op, kTogetherAttrName))
      together[number].push_back(id);
    for (int64_t number : getPairNumbers(node.op, kApartAttrName))
      apart[number].push_back(id);
  }
}

static bool haveCommon(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  return llvm::any_of(a,
                      [&](unsigned id) { return llvm::is_contained(b, id); });
}

FusionDecision PairContracts::checkApart(ArrayRef<unsigned> a,
                                         ArrayRef<unsigned> b) const {
  for (const auto &[number, nodes] : apart) {
    auto other = apart.find(number ^ 1);
    if (other == apart.end() || !haveCommon(nodes, a) ||
        !haveCommon(other->second, b))
      continue;
    // The even number was given to the op that the contract names first.
    unsigned first = nodes.front(), second = other->second.front();
    if (number & 1)
      std::swap(first, second);
    return FusionDecision::no(ReasonCode::ContractNever,
                              "'" + graph.getNode(first).label +
                                  "' apart from '" +
                                  graph.getNode(second).label + "'");
  }
  return FusionDecision::yes();
}

bool PairContracts::joins(ArrayRef<unsigned> a, ArrayRef<unsigned> b) const {
  return llvm::any_of(together, [&](const auto &pair) {
    return haveCommon(pair.second, a) && haveCommon(pair.second, b);
  });
}

SmallVector<std::pair<unsigned, unsigned>>
PairContracts::findBroken(ArrayRef<SmallVector<unsigned, 1>> holders) const {
  SmallVector<std::pair<unsigned, unsigned>> broken;
  for (const auto &[number, nodes] : together) {
    unsigned first = nodes.front();
    for (unsigned node : ArrayRef(nodes).drop_front())
      if (!haveCommon(holders[first], holders[node])) {
        broken.push_back({first, node});
        break;
      }
  }
  return broken;
}
