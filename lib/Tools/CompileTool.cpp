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
#include "fusion/Report/Format.h"
#include "fusion/Report/PlanDiff.h"
#include "fusion/Report/Question.h"
#include "fusion/Support/Counts.h"
#include "fusion/Tools/Progress.h"
#include "fusion/Tools/ToolSupport.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fusion;

std::string fusion::formatBytes(double bytes) {
  return bytes < 0 ? "unknown" : formatByteCount(toCount(bytes));
}

static void printKernel(const KernelSummary &kernel, StringRef assumption,
                        raw_ostream &os) {
  os << "  " << kernel.name << formatLine(kernel.line) << ":";
  if (kernel.timeUs >= 0)
    os << " " << llvm::format("%.2f", kernel.timeUs) << " us,";
  os << " " << formatBytes(kernel.dramBytes) << assumption;
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
  if (!kernel.kind.empty())
    os << ", " << kernel.kind;
  if (!kernel.ops.empty())
    os << " [" << llvm::join(kernel.ops, ", ") << "]";
  os << "\n";
}

void fusion::printReport(const CompileReport &report, raw_ostream &os) {
  std::string assumption = formatAssumedSize(report.representativeSize);
  os << "kernels: " << report.kernelsBefore << " unfused -> "
     << report.kernelsAfter;
  if (report.launches > 0 && report.launches < report.kernelsAfter)
    os << ", started by " << report.launches
       << (report.launches == 1 ? " launch" : " launches");
  os << "\n";
  os << "traffic: " << formatBytes(report.bytesBefore) << " unfused -> "
     << formatBytes(report.bytesAfter) << assumption << "\n";
  if (report.workspaceBytes >= 0)
    os << "between kernels: " << formatBytes(report.workspaceBytes)
       << " at once\n";
  os << "predicted: " << llvm::format("%.2f", report.predictedUs) << " us"
     << assumption << "\n";
  for (const KernelSummary &kernel : report.kernels)
    printKernel(kernel, assumption, os);
}

/// True if the compiler stops at `phase` before there is a package.
static bool stopsEarly(const CompileOptions &options) {
  return !options.compileTo.empty() && options.compileTo != "package";
}

/// Refuses outputs that are the program, or each other, before anything is
/// written: an error text with a code, or empty.
static std::string checkOutputs(const CompileToolOptions &options) {
  const std::pair<StringRef, StringRef> outputs[] = {
      {"-o", options.output},
      {"--ledger", options.ledger},
      {"--report", options.report}};
  for (const auto &[i, output] : llvm::enumerate(outputs)) {
    auto [name, path] = output;
    if (path.empty())
      continue;
    if (std::string error = checkOutput(name, path, options.input);
        !error.empty())
      return error;
    for (auto [otherName, other] : ArrayRef(outputs).take_front(i))
      if (path == other || fusionpkg::isSameFile(path.str(), other.str()))
        return formatError(ErrorCode::BadCommandLine,
                           otherName + " and " + name + " name one file");
  }
  if (options.compile.dumpPhasesTo.empty())
    return "";
  for (const PhaseInfo &info : getPhases())
    if (std::string error =
            checkOutput("--dump-phases-to",
                        options.compile.dumpPhasesTo + "/" + getDumpName(info),
                        options.input);
        !error.empty())
      return error;
  return "";
}

/// What the options need to know of the compilation.
static ReportDetail getDetail(const CompileToolOptions &options) {
  if (!options.report.empty())
    return ReportDetail::Phases;
  bool needsGraph = options.explainAsJson || !options.firstOperation.empty() ||
                    !options.compareWith.empty();
  return needsGraph ? ReportDetail::Graph : ReportDetail::Decisions;
}

/// The explanation in `path`: JSON, or the ledger of a package.
static llvm::Expected<Explanation>
readExplanationFile(const std::string &path) {
  auto refuse = [&](const Twine &cause) {
    return llvm::createStringError(formatError(
        ErrorCode::BadCommandLine, path + " is no explanation: " + cause,
        "name what --explain=json or --ledger wrote, or a package"));
  };
  auto bytes = fusionpkg::readFile(path);
  if (!bytes)
    return llvm::createStringError(formatError(
        ErrorCode::InputUnreadable, path + ": " + bytes.getError().getCause()));
  std::string text = std::move(*bytes);
  if (fusionpkg::looksLikePackage(text.data(), text.size())) {
    auto model = fusionpkg::readPackage(text);
    if (!model)
      return llvm::createStringError(model.getError().str());
    text = model->ledgerJson;
  }
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return refuse(llvm::toString(json.takeError()));
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return refuse("it is no object");
  llvm::Expected<Explanation> explanation = readExplanation(*object);
  if (!explanation)
    return refuse(llvm::toString(explanation.takeError()));
  return explanation;
}

/// What the options ask to be printed of `report`. An error has a code.
static llvm::Expected<std::string>
makeAnswers(const CompileToolOptions &options, const CompileReport &report,
            const Explanation &earlier) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (options.explain) {
    printReport(report, os);
    os << report.explain;
  }
  if (options.explainAsJson)
    os << llvm::formatv(
        "{0:2}\n", llvm::json::Value(llvm::json::Object(report.explanation)));
  if (options.firstOperation.empty() && options.compareWith.empty())
    return text;
  llvm::Expected<Explanation> explanation = readExplanation(report.explanation);
  if (!explanation)
    return explanation.takeError();
  if (!options.compareWith.empty())
    os << diffPlans(earlier, *explanation);
  if (options.firstOperation.empty())
    return text;
  llvm::Expected<std::string> answer = explainPair(
      *explanation, options.firstOperation, options.secondOperation);
  if (!answer)
    return llvm::createStringError(
        formatError(ErrorCode::BadCommandLine,
                    "--explain: " + llvm::toString(answer.takeError())));
  return text + *answer;
}

/// What -o gets: the package, or what the compiler stopped at.
static std::string getOutput(const CompileToolOptions &options, ModuleOp module,
                             CompileReport &report, std::string package) {
  if (!stopsEarly(options.compile))
    return package;
  if (options.compile.compileTo == "ptx")
    return std::move(report.ptx);
  return writeProgram(module, options.emitBytecode);
}

/// Refuses --emit-bytecode where it cannot be meant: an error text with a code,
/// or empty.
static std::string checkBytecode(const CompileToolOptions &options) {
  if (!options.emitBytecode)
    return "";
  if (!stopsEarly(options.compile) || options.compile.compileTo == "ptx")
    return formatError(ErrorCode::BadCommandLine,
                       "--emit-bytecode without a phase whose IR is written",
                       "name one with --compile-to");
  return checkBytecodeOutput(options.output);
}

int fusion::runCompileTool(const CompileToolOptions &options) {
  if (std::string error = checkOutputs(options); !error.empty())
    return reportError(error);
  if (std::string error = checkBytecode(options); !error.empty())
    return reportError(error);
  Explanation earlier;
  if (!options.compareWith.empty()) {
    llvm::Expected<Explanation> read = readExplanationFile(options.compareWith);
    if (!read)
      return reportError(llvm::toString(read.takeError()));
    earlier = std::move(*read);
  }
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
  if (std::string error = steer(*module, sourceMgr, options.steering);
      !error.empty())
    return reportError(error);
  // The page has the program as it was before it is compiled.
  std::string program;
  if (!options.report.empty())
    program = getProgramText(sourceMgr);
  if (!options.report.empty() && program.empty())
    program = writeProgram(*module, /*asBytecode=*/false);

  diagnostics.setDefaultCode(ErrorCode::CompileFailed);
  CompileOptions compileOptions = options.compile;
  compileOptions.detail = getDetail(options);
  // Printed when it goes, whatever becomes of the compilation.
  DefaultTimingManager timings;
  timings.setEnabled(options.timing);
  TimingScope whole = timings.getRootScope();
  compileOptions.timing = &whole;
  std::optional<Progress> progress(&context);
  compileOptions.onPhase = [&](StringRef phase) { progress->show(phase); };
  CompileReport report;
  FailureOr<std::string> package =
      compileToPackage(*module, compileOptions, &report);
  progress.reset();
  if (failed(package)) {
    if (!diagnostics.hasError())
      return reportError(ErrorCode::CompileFailed,
                         "the compiler gave no reason");
    return diagnostics.getExitStatus();
  }
  llvm::Expected<std::string> answers = makeAnswers(options, report, earlier);
  if (!answers)
    return reportError(llvm::toString(answers.takeError()));
  std::string page;
  if (!options.report.empty())
    page = renderReport(report, options.input, program);
  std::string output = getOutput(options, *module, report, std::move(*package));
  if (std::string error = writeOutputs({{options.report, page},
                                        {options.ledger, report.ledgerJson},
                                        {options.output, output}});
      !error.empty())
    return reportError(error);
  // The output itself may go to the standard output.
  (options.output == "-" ? llvm::errs() : llvm::outs()) << *answers;
  return kExitOk;
}
