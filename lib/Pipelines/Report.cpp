//===- Report.cpp - What the compiler says of its work --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the report of a compilation: totals, kernels, and every
// decision as JSON and as text.
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Report/Format.h"
#include "fusion/Report/Page.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void explainEntry(const Ledger &ledger, const LedgerEntry &entry,
                         raw_ostream &os) {
  os << (entry.accepted ? "  fused   " : "  refused ") << entry.producer
     << formatLine(entry.producerLine) << " -> " << entry.consumer
     << formatLine(entry.consumerLine) << ": " << stringifyReason(entry.reason)
     << ", " << describeReason(entry.reason);
  if (!entry.detail.empty())
    os << " (" << entry.detail << ")";
  // Refused before it was priced: there are no numbers.
  if (entry.timeBeforeUs != 0)
    os << llvm::formatv("; {0:F2} us -> {1:F2} us, saves {2}{3}",
                        entry.timeBeforeUs, entry.timeAfterUs,
                        formatByteCount(entry.savedBytes),
                        formatAssumedSize(ledger.representativeSize));
  os << "\n";
}

static void explainKernel(const Ledger &ledger, const LedgerKernel &kernel,
                          raw_ostream &os) {
  os << "  kernel  " << kernel.name << formatLine(kernel.line) << ": "
     << llvm::join(kernel.ops, ", ") << "; " << kernel.kind;
  if (!kernel.xlaKind.empty() && kernel.xlaKind != kernel.kind)
    os << " (XLA: " << kernel.xlaKind << ")";
  os << llvm::formatv("; {0:F2} us, bound by {1}, {2}{3}", kernel.timeUs,
                      kernel.bound, formatByteCount(kernel.dramBytes),
                      formatAssumedSize(ledger.representativeSize));
  if (!kernel.products.empty())
    os << "; products by " << kernel.products;
  if (!kernel.obstacle.empty())
    os << ", not by wgmma: " << kernel.obstacle;
  os << "\n";
}

static void explain(const Ledger &ledger, raw_ostream &os) {
  os << "@" << ledger.function << " for " << ledger.target << ": "
     << ledger.kernelsBefore << " operations -> " << ledger.kernelsAfter
     << (ledger.kernelsAfter == 1 ? " kernel, " : " kernels, ")
     << formatByteCount(ledger.bytesBefore) << " -> "
     << formatByteCount(ledger.bytesAfter)
     << llvm::formatv(", {0:F2} us -> {1:F2} us predicted{2}\n",
                      ledger.timeBeforeUs, ledger.timeAfterUs,
                      formatAssumedSize(ledger.representativeSize));
  for (const LedgerKernel &kernel : ledger.kernels)
    explainKernel(ledger, kernel, os);
  for (const LedgerEntry &entry : ledger.entries)
    explainEntry(ledger, entry, os);
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// What is known of a kernel beyond its plan; -1 is unknown.
static llvm::json::Value getFacts(StringRef name,
                                  const fusionpkg::Kernel &kernel) {
  auto getResources = [](const fusionpkg::KernelResources &resources) {
    return llvm::json::Object{{"registers", resources.registers},
                              {"spill_bytes", resources.spillBytes},
                              {"shared_bytes", resources.sharedBytes}};
  };
  return llvm::json::Object{{"name", name},
                            {"entry", kernel.name},
                            {"threads", kernel.blockX},
                            {"dynamic_shared_bytes", kernel.dynamicSharedBytes},
                            {"predicted", getResources(kernel.predicted)},
                            {"measured", getResources(kernel.measured)}};
}

/// The facts on one kernel of the plan, `kernel` being what became of it; null
/// where there is no package.
static KernelSummary summarize(const LedgerKernel &planned,
                               const fusionpkg::Kernel *kernel) {
  KernelSummary summary;
  summary.name = planned.name;
  summary.dramBytes = planned.dramBytes;
  summary.flops = planned.flops;
  summary.timeUs = planned.timeUs;
  summary.ops = planned.ops;
  summary.line = planned.line;
  summary.kind = planned.kind;
  if (!kernel)
    return summary;
  summary.measured = kernel->measured.registers >= 0;
  const fusionpkg::KernelResources &resources =
      summary.measured ? kernel->measured : kernel->predicted;
  summary.registers = resources.registers;
  summary.spillBytes = resources.spillBytes;
  summary.sharedBytes = kernel->dynamicSharedBytes;
  return summary;
}

void fusion::fillReport(ArrayRef<Ledger> ledgers,
                        const KernelsByPlanName &kernels,
                        CompileReport &report) {
  report = CompileReport();
  llvm::raw_string_ostream os(report.explain);
  llvm::json::Array functions;
  for (const Ledger &ledger : ledgers) {
    report.kernelsBefore += ledger.kernelsBefore;
    report.kernelsAfter += ledger.kernelsAfter;
    report.bytesBefore += ledger.bytesBefore;
    report.bytesAfter += ledger.bytesAfter;
    report.predictedUs += ledger.timeAfterUs;
    report.representativeSize =
        std::max(report.representativeSize, ledger.representativeSize);
    for (const LedgerKernel &planned : ledger.kernels)
      report.kernels.push_back(
          summarize(planned, kernels.lookup(planned.name)));
    explain(ledger, os);
    functions.push_back(ledger.toJson());
  }
  llvm::json::Object root =
      makeExplanation(std::move(functions), report, kernels);
  report.ledgerJson =
      llvm::formatv("{0:2}", llvm::json::Value(std::move(root))).str();
}

llvm::json::Object fusion::makeExplanation(llvm::json::Array functions,
                                           const CompileReport &report,
                                           const KernelsByPlanName &kernels) {
  llvm::json::Array facts;
  for (const KernelSummary &summary : report.kernels)
    if (const fusionpkg::Kernel *kernel = kernels.lookup(summary.name))
      facts.push_back(getFacts(summary.name, *kernel));
  llvm::json::Object root{{"version", kExplanationVersion},
                          {"functions", std::move(functions)}};
  if (!facts.empty())
    root["kernels"] = std::move(facts);
  return root;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Elements of a constant beyond which its text says nothing.
static constexpr int64_t kMostElements = 16;

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().elideLargeElementsAttrs(kMostElements));
  return text;
}

PhaseText fusion::describePhase(
    ModuleOp module, const PhaseInfo &phase,
    function_ref<void(function_ref<void(StringRef, StringRef)>)> ptx) {
  PhaseText result;
  result.phase = phase.name.str();
  result.description = phase.description.str();
  if (phase.phase == Phase::Ptx) {
    ptx([&](StringRef name, StringRef text) {
      result.parts.push_back({name.str(), text.str()});
    });
    return result;
  }
  auto add = [&](Operation &op) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      result.parts.push_back({symbol.getName().str(), print(&op)});
    op.walk([&](KernelOp kernel) {
      result.parts.push_back({kernel.getKernelName().str(), print(kernel)});
    });
  };
  for (Operation &op : *module.getBody()) {
    // Kernels of a module of kernels are parts of their own.
    if (auto kernels = dyn_cast<gpu::GPUModuleOp>(op))
      for (Operation &kernel : *kernels.getBody())
        add(kernel);
    else
      add(op);
  }
  return result;
}

std::string fusion::renderReport(const CompileReport &report, StringRef path,
                                 StringRef program) {
  std::vector<PageText> texts;
  for (const PhaseText &phase : report.phases) {
    PageText &text = texts.emplace_back();
    text.name = phase.phase;
    text.description = phase.description;
    for (const PhaseText::Part &part : phase.parts)
      text.parts.emplace_back(part.name, part.text);
  }
  return renderPage(report.explanation, texts, llvm::sys::path::filename(path),
                    program);
}
