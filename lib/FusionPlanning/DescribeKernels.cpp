//===- DescribeKernels.cpp - What a ledger's kernels are ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what a ledger says of kernels beyond their prices.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/FusionKind.h"
#include "fusion/FusionPlanning/FusionPlanner.h"

using namespace mlir;
using namespace mlir::fusion;

/// The line of the program that `op` comes from, 0 if that is not known.
static unsigned getLine(Operation *op) {
  auto place = op->getLoc()->findInstanceOf<FileLineColRange>();
  return place ? place.getStartLine() : 0;
}

void mlir::fusion::describeKernels(const ComputeGraph &graph,
                                   FusionPlan &plan) {
  for (auto [kernel, facts] :
       llvm::zip_equal(plan.kernels, plan.ledger.kernels)) {
    FusionKind kind = classifyFusion(graph, kernel.nodes);
    facts.kind = stringifyKind(kind).str();
    facts.xlaKind = getXlaWord(kind).str();
    facts.nodes.assign(kernel.nodes.begin(), kernel.nodes.end());
    if (!kernel.nodes.empty())
      facts.line = getLine(graph.getNode(kernel.nodes.front()).op);
  }
  for (LedgerEntry &entry : plan.ledger.entries) {
    entry.producerLine = getLine(graph.getNode(entry.producerNode).op);
    entry.consumerLine = getLine(graph.getNode(entry.consumerNode).op);
  }
}
