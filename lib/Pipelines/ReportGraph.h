//===- ReportGraph.h - The graph of a program for reports -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what an explanation says of a program beside the decisions
// of the planner: its graph before and after, the chip, the launches and their
// memory. docs/schema/explanation.schema.json defines the form.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PIPELINES_REPORTGRAPH_H
#define FUSION_LIB_PIPELINES_REPORTGRAPH_H

#include "fusion/Executable/PackageModel.h"
#include "fusion/FusionPlanning/FusionPlanner.h"
#include "llvm/Support/JSON.h"

namespace mlir::fusion {

/// The ledger of `plan` with the operations and values of `graph`, what each
/// kernel is made of, and what each operation would take as a kernel of its
/// own. The last asks for a second plan, without fusion.
llvm::json::Object describePlan(const ComputeGraph &graph,
                                const FusionPlan &plan,
                                const TargetInfo &target);

/// Rates and limits of the chip, as far as pictures need them.
llvm::json::Object describeTarget(const TargetInfo &target);

/// The launches of `entry` and the buffers that they use, from the first step
/// to the last that names them, with `size` for each size that the run alone
/// knows.
llvm::json::Object describeEntry(const fusionpkg::PackageModel &model,
                                 const fusionpkg::Entry &entry, int64_t size);

} // namespace mlir::fusion

#endif // FUSION_LIB_PIPELINES_REPORTGRAPH_H
