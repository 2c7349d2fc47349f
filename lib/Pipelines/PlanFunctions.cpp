//===- PlanFunctions.cpp - The planner alone ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements planning of functions that stay as they are.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/PlanFunctions.h"
#include "Report.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/Support/ErrorCodes.h"

using namespace mlir;
using namespace mlir::fusion;

/// Plans `func`, which is brought into the form that planning reads.
static FailureOr<Ledger> planFunction(FunctionOpInterface func,
                                      const TargetInfo &target) {
  if (failed(prepareForPlanning(func)))
    return failure();
  std::optional<ComputeGraph> graph;
  FailureOr<FusionPlan> plan = planFusion(func, target, PlanOptions(), graph);
  if (failed(plan))
    return failure();
  describeKernels(*graph, *plan);
  for (const ContractViolation &violation : plan->violations)
    func.emitOpError("FUS-2006: contract broken: ") << violation.message;
  if (!plan->violations.empty())
    return failure();
  return std::move(plan->ledger);
}

LogicalResult mlir::fusion::planFunctions(Operation *op, StringRef target,
                                          CompileReport &report) {
  FailureOr<TargetInfo> chip = resolveTarget(op, target);
  if (failed(chip))
    return failure();
  OwningOpRef<Operation *> copy(op->clone());
  std::vector<Ledger> ledgers;
  WalkResult walked = copy->walk([&](FunctionOpInterface func) {
    if (func.isExternal())
      return WalkResult::advance();
    FailureOr<Ledger> ledger = planFunction(func, *chip);
    if (failed(ledger))
      return WalkResult::interrupt();
    ledgers.push_back(std::move(*ledger));
    return WalkResult::skip();
  });
  if (walked.wasInterrupted())
    return failure();
  if (ledgers.empty())
    return emitCodedError(op->getLoc(), ErrorCode::InputInvalid,
                          "there is no function with a body to plan");
  fillReport(ledgers, /*kernels=*/{}, report);
  return success();
}
