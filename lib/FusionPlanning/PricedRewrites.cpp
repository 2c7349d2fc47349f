//===- PricedRewrites.cpp - Rewrites that have to pay ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decision on rewrites by the plans without and with
// them.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/PricedRewrites.h"

using namespace mlir;
using namespace mlir::fusion;

/// Matches of one rewrite that are refused before no more are looked at: each
/// costs a plan.
static constexpr unsigned kMaxRefused = 16;

bool RewriteDriver::decide(const PricedRewrite &rewrite,
                           const RewriteMatch &match, unsigned number,
                           LedgerEntry &entry) {
  entry.producer = match.producer;
  entry.consumer = match.consumer;
  entry.reason = match.forbidden.value_or(ReasonCode::NotProfitable);
  if (match.forbidden)
    return rewrite.showsRefused;
  if (!current) {
    FailureOr<FusionPlan> plan = planFusion(func, target, options);
    if (failed(plan))
      return rewrite.showsRefused;
    current = std::move(*plan);
  }
  OwningOpRef<Operation *> copy = func->clone();
  auto changed = cast<FunctionOpInterface>(copy.get());
  Operation *made = rewrite.find(changed)[number].apply();
  FailureOr<ComputeGraph> graph =
      ComputeGraph::build(changed.getFunctionBody().front(), options.graph);
  if (failed(graph))
    return rewrite.showsRefused;
  FusionPlan after = planFusion(*graph, target, options);
  compareRewrite(*current, after, options, entry);
  bool isServed = rewrite.isServed(made, *graph, after);
  entry.accepted &=
      isServed && entry.timeAfterUs < rewrite.mostTime * entry.timeBeforeUs;
  if (entry.accepted) {
    entry.reason = rewrite.reason;
    // What is planned for the copy is planned for the function as well.
    current = std::move(after);
  }
  return entry.accepted || (rewrite.showsRefused && isServed);
}

void RewriteDriver::run(const PricedRewrite &rewrite) {
  unsigned next = 0;
  while (next < kMaxRefused) {
    std::vector<RewriteMatch> matches = rewrite.find(func);
    if (next >= matches.size())
      return;
    const RewriteMatch &match = matches[next];
    LedgerEntry entry;
    bool isShown = decide(rewrite, match, next, entry);
    Operation *made = entry.accepted ? match.apply() : nullptr;
    if (isShown)
      entries.emplace_back(match.shown ? match.shown : made, entry);
    next += !entry.accepted;
  }
}
