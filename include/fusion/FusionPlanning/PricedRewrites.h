//===- PricedRewrites.h - Rewrites that have to pay -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how rewrites of a program before planning are decided:
// each is applied to a copy of what lies around it, the copy is planned, and
// the rewrite is kept if the plan is predicted to be faster. A new rewrite says
// where it applies and what it does there; whether it pays is the planner's
// word.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_PRICEDREWRITES_H
#define FUSION_FUSIONPLANNING_PRICEDREWRITES_H

#include "fusion/FusionPlanning/FusionPlanner.h"
#include <functional>
#include <optional>

namespace mlir::fusion {

struct Neighbourhood;

/// A place where a rewrite applies.
struct RewriteMatch {
  /// What the parts compute, for the ledger.
  std::string producer, consumer;
  /// The operation that it is found at.
  Operation *center = nullptr;
  /// Rewrites, and returns the operation that it is about from then on.
  std::function<Operation *()> apply;
  /// The operation that shows the entry in the program; null: the one that
  /// `apply` returns, of what is refused `center`.
  Operation *shown = nullptr;
  /// Why it must not be applied, whatever it gains.
  std::optional<ReasonCode> forbidden;
};

/// A rewrite that is kept where it pays.
struct PricedRewrite {
  /// The places in a function, in an order that is the same in each copy of it.
  /// One is gone when the rewrite was applied at it; others may have come.
  std::function<std::vector<RewriteMatch>(FunctionOpInterface)> find;
  /// Why it was applied.
  ReasonCode reason;
  /// Of the time before, what the program may take.
  double mostTime = 1;
  /// Whether the plan without the rewrite, of `op` where it is found, has what
  /// it takes away.
  std::function<bool(Operation *op, const ComputeGraph &, const FusionPlan &)>
      isWanted = [](Operation *, const ComputeGraph &, const FusionPlan &) {
        return true;
      };
  /// Whether a plan does what the rewrite, which returned `op`, is for; where
  /// it does not, the plan says why.
  std::function<bool(Operation *op, const ComputeGraph &, const FusionPlan &)>
      isServed = [](Operation *, const ComputeGraph &, const FusionPlan &) {
        return true;
      };
  /// Refused matches are in the ledger; else the plan says enough. So are those
  /// whose plan does not do what the rewrite is for.
  bool showsRefused = false;
  bool showsUnserved = false;
};

/// True when `plan` puts `op` into a kernel with a node that `isMeant`.
bool isBeside(Operation *op, const ComputeGraph &graph, const FusionPlan &plan,
              llvm::function_ref<bool(const GraphNode &)> isMeant);

/// What was considered, each with the operation that shows it.
using RewriteEntries = SmallVector<std::pair<Operation *, LedgerEntry>>;

/// Applies rewrites to a function, one after the other.
class RewriteDriver {
public:
  RewriteDriver(FunctionOpInterface func, const TargetInfo &target,
                const PlanOptions &options)
      : func(func), target(target), options(options) {}

  /// Applies `rewrite` wherever that pays.
  void run(const PricedRewrite &rewrite);

  /// What was considered so far; others may add theirs.
  RewriteEntries &getEntries() { return entries; }

private:
  /// What became of a match.
  struct Decision {
    LedgerEntry entry;
    /// The entry is to be shown.
    bool isShown = false;
  };
  /// By what lies around matches: layers of a network are alike.
  class Decisions;

  /// Decides by plans of a match's surroundings.
  Decision decideNear(const PricedRewrite &rewrite, Neighbourhood &near) const;

  FunctionOpInterface func;
  const TargetInfo &target;
  const PlanOptions &options;
  RewriteEntries entries;
};

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_PRICEDREWRITES_H
