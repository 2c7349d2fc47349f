//===- FusionPlanner.h - Which ops share a kernel ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines planning as a pure function: it reads a graph and a target
// and returns a plan. No IR is changed and nothing is remembered.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_FUSIONPLANNER_H
#define FUSION_FUSIONPLANNING_FUSIONPLANNER_H

#include "fusion/Analysis/KernelEstimate.h"
#include "fusion/FusionPlanning/FusionLegality.h"
#include "fusion/FusionPlanning/Ledger.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <memory>
#include <optional>
#include <vector>

namespace mlir::fusion {

/// Prices of kernels, for plans of one target with the same `graph` and
/// `limits`.
class PlanMemory;
std::shared_ptr<PlanMemory> createPlanMemory();

struct PlanOptions {
  GraphOptions graph;
  KernelLimits limits;
  /// A fusion must gain more than this. Guards against ties decided by the
  /// last bits of a sum.
  double minGainSeconds = 1e-9;
  /// Of times of products that differ by less than this share nothing is known:
  /// what moves fewer bytes is taken.
  double productError = 0.02;
  /// Of the readers of one tensor, each is tried as a sibling of so many that
  /// follow it. Bounds the number of candidates.
  unsigned siblingWindow = 16;
  /// Contractions may share a walk, in which sums are repaired.
  bool repairs = true;
  /// Without it every op is a kernel, and contracts count for nothing.
  bool fuse = true;
  /// At most so many kernels, or an error; from `fusion.max_kernels`.
  std::optional<int64_t> maxKernels;
  /// Who asks for what contracts and the limit demand, as the ledger names it;
  /// empty: the attribute does.
  std::string demandedBy;
  std::string whoAsks(StringRef attribute) const {
    return "asked for by " +
           (demandedBy.empty() ? attribute.str() : demandedBy);
  }
  /// What earlier plans found out; null: a plan begins with nothing.
  std::shared_ptr<PlanMemory> memory;
};

/// One kernel of a plan.
struct PlannedKernel {
  /// Says what is fused; other kernels may have the same.
  std::string name;
  /// Graph nodes, ascending: an order in which they can run.
  SmallVector<unsigned> nodes;
  /// Graph values that the kernel stores, ascending.
  SmallVector<unsigned> stored;
  KernelEstimate estimate;
  /// Against one kernel for each op.
  double savedBytes = 0;
  int64_t savedLaunches = 0;
};

/// A contract that the plan cannot keep.
struct ContractViolation {
  /// The node concerned; none for a limit of the whole function.
  std::optional<unsigned> node;
  std::string message;
};

struct FusionPlan {
  /// In an order in which they can run.
  std::vector<PlannedKernel> kernels;
  Ledger ledger;
  std::vector<ContractViolation> violations;
};

/// Plans the kernels of `graph`.
FusionPlan planFusion(const ComputeGraph &graph, const TargetInfo &target,
                      const PlanOptions &options);

/// Builds the graph of `func`, of one block, and plans it. Fails with a
/// diagnostic when an op is not in the normal form.
FailureOr<FusionPlan> planFusion(FunctionOpInterface func,
                                 const TargetInfo &target, PlanOptions options);

/// Same, and leaves the graph in `graph`.
FailureOr<FusionPlan> planFusion(FunctionOpInterface func,
                                 const TargetInfo &target, PlanOptions options,
                                 std::optional<ComputeGraph> &graph);

/// Notes what the ledger's kernels are made of, what kind of fusion that is,
/// and where they and the candidates come from. Plans that are only compared do
/// without.
void describeKernels(const ComputeGraph &graph, FusionPlan &plan);

/// Notes in `entry` what a rewrite changes, by the plans without and with it;
/// it is accepted if it gains.
void compareRewrite(const FusionPlan &before, const FusionPlan &after,
                    const PlanOptions &options, LedgerEntry &entry);

/// A name that says what `nodes` compute, e.g. `matmul_add_relu`.
std::string getKernelName(const ComputeGraph &graph, ArrayRef<unsigned> nodes);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_FUSIONPLANNER_H
