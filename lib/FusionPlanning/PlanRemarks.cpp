//===- PlanRemarks.cpp - The ledger as remarks ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the remarks of planning: one for each candidate fusion,
// one for the totals of a function.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::fusion;

/// Microseconds with two digits: remarks are compared as text.
static std::string formatUs(double microseconds) {
  return llvm::formatv("{0:F2}", microseconds).str();
}

static remark::RemarkOpts getOpts(StringRef name, FunctionOpInterface func) {
  return remark::RemarkOpts::name(name)
      .category("fusion-plan")
      .function(func.getName());
}

static std::string getSentence(const LedgerEntry &entry) {
  std::string text = entry.producer + " -> " + entry.consumer + ": " +
                     describeReason(entry.reason).str();
  if (!entry.detail.empty())
    text += " (" + entry.detail + ")";
  return text;
}

static void emitEntry(FunctionOpInterface func, const ComputeGraph &graph,
                      const LedgerEntry &entry) {
  Location loc = graph.getNode(entry.consumerNode).op->getLoc();
  remark::RemarkOpts opts = getOpts(stringifyReason(entry.reason), func);
  auto remark =
      entry.accepted ? remark::passed(loc, opts) : remark::missed(loc, opts);
  if (!remark)
    return;
  remark << getSentence(entry);
  // Refused before it was priced: there are no numbers.
  if (entry.timeBeforeUs == 0)
    return;
  remark << remark::metric("TimeBeforeUs", formatUs(entry.timeBeforeUs))
         << remark::metric("TimeAfterUs", formatUs(entry.timeAfterUs))
         << remark::metric("SavedBytes", entry.savedBytes)
         << remark::metric("Registers", entry.registers)
         << remark::metric("SharedBytes", entry.sharedBytes);
}

/// Says what keeps a kernel's products from warpgroups.
static void emitObstacle(FunctionOpInterface func, const ComputeGraph &graph,
                         const LedgerKernel &kernel) {
  if (kernel.obstacle.empty())
    return;
  Location loc = graph.getNode(kernel.contraction).op->getLoc();
  auto remark = remark::missed(loc, getOpts(kernel.obstacle, func));
  if (!remark)
    return;
  for (TensorCoreObstacle obstacle : getAllObstacles())
    if (stringifyObstacle(obstacle) == kernel.obstacle)
      remark << kernel.name + ": no products by warpgroups: " +
                    describeObstacle(obstacle).str();
}

void mlir::fusion::emitPlanRemarks(FunctionOpInterface func,
                                   const ComputeGraph &graph,
                                   const FusionPlan &plan) {
  const Ledger &ledger = plan.ledger;
  for (const LedgerEntry &entry : ledger.entries)
    emitEntry(func, graph, entry);
  for (const LedgerKernel &kernel : ledger.kernels)
    emitObstacle(func, graph, kernel);
  auto remark = remark::analysis(func.getLoc(), getOpts("totals", func));
  if (!remark)
    return;
  remark << remark::metric("KernelsBefore", ledger.kernelsBefore)
         << remark::metric("KernelsAfter", ledger.kernelsAfter)
         << remark::metric("BytesBefore", ledger.bytesBefore)
         << remark::metric("BytesAfter", ledger.bytesAfter)
         << remark::metric("TimeBeforeUs", formatUs(ledger.timeBeforeUs))
         << remark::metric("TimeAfterUs", formatUs(ledger.timeAfterUs));
}
