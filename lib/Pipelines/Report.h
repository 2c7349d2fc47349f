//===- Report.h - What the compiler says of its work ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the report of a compilation is put together.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PIPELINES_REPORT_H
#define FUSION_LIB_PIPELINES_REPORT_H

#include "fusion/Executable/PackageModel.h"
#include "fusion/FusionPlanning/Ledger.h"
#include "fusion/Pipelines/Compiler.h"
#include "fusion/Pipelines/Phases.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::fusion {

/// Of the JSON of ledgers and explanations. Members may be added; what a reader
/// of an older one would misunderstand raises it.
constexpr int64_t kExplanationVersion = 1;

/// The kernels of a package by the names that the planner gave them.
using KernelsByPlanName = llvm::StringMap<const fusionpkg::Kernel *>;

/// Writes what the planner decided to `report`, with the facts on those kernels
/// that are in `kernels`.
void fillReport(ArrayRef<Ledger> ledgers, const KernelsByPlanName &kernels,
                CompileReport &report);

/// The explanation of what the planner decided on `functions`, which are
/// ledgers as JSON or the results of describePlan, with those facts.
llvm::json::Object makeExplanation(llvm::json::Array functions,
                                   const CompileReport &report,
                                   const KernelsByPlanName &kernels);

/// The text of `module` as `phase` left it, in parts. `ptx` calls back with the
/// name and the text of each kernel.
PhaseText
describePhase(ModuleOp module, const PhaseInfo &phase,
              function_ref<void(function_ref<void(StringRef, StringRef)>)> ptx);

} // namespace mlir::fusion

#endif // FUSION_LIB_PIPELINES_REPORT_H
