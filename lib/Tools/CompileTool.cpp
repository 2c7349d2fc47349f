//===- CompileTool.cpp - fusion-compile as a function ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the compilation of a file into a package, a phase's IR
// or PTX.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/CompileTool.h"

#include "fusion/Executable/Package.h"
#include "fusion/Pipelines/Phases.h"
#include "fusion/Tools/ToolSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::fusion;

std::string fusion::formatBytes(double bytes) {
  if (bytes < 0)
    return "unknown";
  static constexpr const char *kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (unit == 0)
    os << static_cast<int64_t>(bytes);
  else
    os << llvm::format("%.2f", bytes);
  os << " " << kUnits[unit];
  return text;
}

void fusion::printReport(const CompileReport &report, raw_ostream &os) {
  os << "kernels: " << report.kernelsBefore << " unfused -> "
     << report.kernelsAfter;
  if (report.launches > 0 && report.launches < report.kernelsAfter)
    os << ", started by " << report.launches
       << (report.launches == 1 ? " launch" : " launches");
  os << "\n";
  os << "traffic: " << formatBytes(report.bytesBefore) << " unfused -> "
     << formatBytes(report.bytesAfter) << "\n";
  if (report.workspaceBytes >= 0)
    os << "between kernels: " << formatBytes(report.workspaceBytes)
       << " at once\n";
  os << "predicted: " << llvm::format("%.2f", report.predictedUs) << " us";
  if (report.representativeSize)
    os << " with dynamic sizes of " << report.representativeSize;
  os << "\n";
  for (const KernelSummary &kernel : report.kernels) {
    os << "  " << kernel.name;
    if (kernel.line)
      os << " (line " << kernel.line << ")";
    os << ":";
    if (kernel.timeUs >= 0)
      os << " " << llvm::format("%.2f", kernel.timeUs) << " us,";
    os << " " << formatBytes(kernel.dramBytes);
    if (kernel.registers >= 0)
      os << ", " << kernel.registers << " registers"
         << (kernel.measured ? "" : " predicted");
    if (kernel.spillBytes > 0)
      os << ", SPILLS " << kernel.spillBytes << " B"
         << (kernel.measured ? "" : " predicted");
    else if (kernel.measured)
      os << ", no spills";
    if (kernel.sharedBytes >= 0)
      os << ", " << kernel.sharedBytes << " B shared";
    if (!kernel.ops.empty())
      os << " [" << llvm::join(kernel.ops, ", ") << "]";
    os << "\n";
  }
}

/// True if the compiler stops at `phase` before there is a package.
static bool stopsEarly(const CompileOptions &options) {
  return !options.compileTo.empty() && options.compileTo != "package";
}

/// Refuses outputs that are the program, or each other, before anything is
/// written: an error text with a code, or empty.
static std::string checkOutputs(const CompileToolOptions &options) {
  std::string error = checkOutput("-o", options.output, options.input);
  if (error.empty())
    error = checkOutput("--ledger", options.ledger, options.input);
  if (error.empty() && !options.ledger.empty() &&
      (options.ledger == options.output ||
       fusionpkg::isSameFile(options.ledger, options.output)))
    error =
        formatError(ErrorCode::BadCommandLine, "-o and --ledger name one file");
  for (const PhaseInfo &info : getPhases())
    if (error.empty() && !options.compile.dumpPhasesTo.empty())
      error =
          checkOutput("--dump-phases-to",
                      options.compile.dumpPhasesTo + "/" + getDumpName(info),
                      options.input);
  return error;
}

int fusion::runCompileTool(const CompileToolOptions &options) {
  if (std::string error = checkOutputs(options); !error.empty())
    return reportError(error);
  DialectRegistry registry;
  registerAllForTools(registry);
  if (std::string error = loadDialectPlugins(options.dialectPlugins, registry);
      !error.empty())
    return reportError(error);
  MLIRContext context(registry);
  llvm::SourceMgr sourceMgr;
  ToolDiagnostics diagnostics(sourceMgr, &context);
  OwningOpRef<ModuleOp> module =
      loadProgram(options.input, sourceMgr, &context);
  if (!module)
    return diagnostics.getExitStatus();

  diagnostics.setDefaultCode(ErrorCode::CompileFailed);
  CompileReport report;
  FailureOr<std::string> package =
      compileToPackage(*module, options.compile, &report);
  if (failed(package)) {
    if (!diagnostics.hasError())
      return reportError(ErrorCode::CompileFailed,
                         "the compiler gave no reason");
    return diagnostics.getExitStatus();
  }

  std::string output = std::move(*package);
  if (stopsEarly(options.compile)) {
    output.clear();
    if (options.compile.compileTo == "ptx") {
      output = report.ptx;
    } else {
      llvm::raw_string_ostream os(output);
      module->print(os);
      os << "\n";
    }
  }
  if (!options.ledger.empty())
    if (std::string error = writeOutput(options.ledger, report.ledgerJson);
        !error.empty())
      return reportError(error);
  if (std::string error = writeOutput(options.output, output); !error.empty())
    return reportError(error);
  if (options.explain) {
    // The output itself may go to the standard output.
    raw_ostream &os = options.output == "-" ? llvm::errs() : llvm::outs();
    printReport(report, os);
    os << report.explain;
  }
  return kExitOk;
}
