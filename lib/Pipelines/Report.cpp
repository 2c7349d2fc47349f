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
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// 1234567 as "1.23 MB".
static std::string formatBytes(int64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? llvm::formatv("{0} B", bytes).str()
                   : llvm::formatv("{0:F2} {1}", value, kUnits[unit]).str();
}

/// " (line 5)", or nothing.
static std::string formatLine(unsigned line) {
  return line ? " (line " + std::to_string(line) + ")" : "";
}

static void explainEntry(const LedgerEntry &entry, raw_ostream &os) {
  os << (entry.accepted ? "  fused   " : "  refused ") << entry.producer
     << formatLine(entry.producerLine) << " -> " << entry.consumer
     << formatLine(entry.consumerLine) << ": " << stringifyReason(entry.reason)
     << ", " << describeReason(entry.reason);
  if (!entry.detail.empty())
    os << " (" << entry.detail << ")";
  // Refused before it was priced: there are no numbers.
  if (entry.timeBeforeUs != 0)
    os << llvm::formatv("; {0:F2} us -> {1:F2} us, saves {2}",
                        entry.timeBeforeUs, entry.timeAfterUs,
                        formatBytes(entry.savedBytes));
  os << "\n";
}

static void explain(const Ledger &ledger, raw_ostream &os) {
  os << "@" << ledger.function << " for " << ledger.target << ": "
     << ledger.kernelsBefore << " operations -> " << ledger.kernelsAfter
     << (ledger.kernelsAfter == 1 ? " kernel, " : " kernels, ")
     << formatBytes(ledger.bytesBefore) << " -> "
     << formatBytes(ledger.bytesAfter)
     << llvm::formatv(", {0:F2} us -> {1:F2} us predicted\n",
                      ledger.timeBeforeUs, ledger.timeAfterUs);
  if (ledger.representativeSize)
    os << "  all figures take a dynamic size for " << ledger.representativeSize
       << "\n";
  for (const LedgerKernel &kernel : ledger.kernels) {
    os << "  kernel  " << kernel.name << formatLine(kernel.line) << ": "
       << llvm::join(kernel.ops, ", ")
       << llvm::formatv("; {0:F2} us, bound by {1}, ", kernel.timeUs,
                        kernel.bound)
       << formatBytes(kernel.dramBytes);
    if (!kernel.products.empty())
      os << "; products by " << kernel.products;
    if (!kernel.obstacle.empty())
      os << ", not by wgmma: " << kernel.obstacle;
    os << "\n";
  }
  for (const LedgerEntry &entry : ledger.entries)
    explainEntry(entry, os);
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

void fusion::fillReport(ArrayRef<Ledger> ledgers,
                        const KernelsByPlanName &kernels,
                        CompileReport &report) {
  report = CompileReport();
  llvm::raw_string_ostream os(report.explain);
  llvm::json::Array functions, facts;
  for (const Ledger &ledger : ledgers) {
    report.kernelsBefore += ledger.kernelsBefore;
    report.kernelsAfter += ledger.kernelsAfter;
    report.bytesBefore += ledger.bytesBefore;
    report.bytesAfter += ledger.bytesAfter;
    report.predictedUs += ledger.timeAfterUs;
    report.representativeSize =
        std::max(report.representativeSize, ledger.representativeSize);
    for (const LedgerKernel &planned : ledger.kernels) {
      KernelSummary summary;
      summary.name = planned.name;
      summary.dramBytes = planned.dramBytes;
      summary.flops = planned.flops;
      summary.timeUs = planned.timeUs;
      summary.ops = planned.ops;
      summary.line = planned.line;
      if (const fusionpkg::Kernel *kernel = kernels.lookup(planned.name)) {
        summary.measured = kernel->measured.registers >= 0;
        const fusionpkg::KernelResources &resources =
            summary.measured ? kernel->measured : kernel->predicted;
        summary.registers = resources.registers;
        summary.spillBytes = resources.spillBytes;
        summary.sharedBytes = kernel->dynamicSharedBytes;
        facts.push_back(getFacts(planned.name, *kernel));
      }
      report.kernels.push_back(std::move(summary));
    }
    explain(ledger, os);
    functions.push_back(ledger.toJson());
  }
  llvm::json::Object root{{"functions", std::move(functions)}};
  if (!facts.empty())
    root["kernels"] = std::move(facts);
  report.ledgerJson =
      llvm::formatv("{0:2}", llvm::json::Value(std::move(root))).str();
}
