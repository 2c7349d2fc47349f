//===- PairContracts.h - Contracts on two ops in plans ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what a plan has to know of ops that are to share a kernel,
// or not to.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_PAIRCONTRACTS_H
#define FUSION_LIB_FUSIONPLANNING_PAIRCONTRACTS_H

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/FusionPlanning/FusionDecision.h"
#include <map>

namespace mlir::fusion::planning {

/// The contracts `fusion.together` and `fusion.apart` of one graph.
class PairContracts {
public:
  explicit PairContracts(const ComputeGraph &graph);

  /// No, if a node of `a` must not share a kernel with one of `b`.
  FusionDecision checkApart(ArrayRef<unsigned> a, ArrayRef<unsigned> b) const;
  /// Whether a node of `a` is to share a kernel with one of `b`.
  bool joins(ArrayRef<unsigned> a, ArrayRef<unsigned> b) const;
  /// Pairs of nodes that are to share a kernel and have no group in common:
  /// `holders` are the groups of each node.
  SmallVector<std::pair<unsigned, unsigned>>
  findBroken(ArrayRef<SmallVector<unsigned, 1>> holders) const;

private:
  const ComputeGraph &graph;
  /// Nodes by their numbers.
  std::map<int64_t, SmallVector<unsigned>> together, apart;
};

} // namespace mlir::fusion::planning

#endif // FUSION_LIB_FUSIONPLANNING_PAIRCONTRACTS_H
