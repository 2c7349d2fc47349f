//===- fusion-compile.cpp - Programs to packages --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the command line of fusion-compile.
//
//===----------------------------------------------------------------------===//

#include "../CommandLine.h"
#include "fusion/Tools/CompileTool.h"
#include "fusion/Tools/ToolSupport.h"

namespace cl = llvm::cl;
using namespace mlir::fusion;

/// Sets what --explain=`value` asks for; false where that is nothing.
static bool readExplain(llvm::StringRef value, CompileToolOptions &options) {
  options.explain = value.empty();
  options.explainAsJson = value == "json";
  if (options.explain || options.explainAsJson)
    return true;
  auto [first, second] = value.split(',');
  options.firstOperation = first.trim().str();
  options.secondOperation = second.trim().str();
  return !options.firstOperation.empty() && !options.secondOperation.empty();
}

/// Refuses values that mean nothing: an exit status after a reported error.
static std::optional<int> checkValues(const CompileToolOptions &options,
                                      llvm::StringRef numerics) {
  if (numerics != "precise" && numerics != "fast")
    return reportError(ErrorCode::BadCommandLine,
                       "--numerics=" + numerics +
                           " is neither precise nor fast");
  if (options.compile.largestValue < 0)
    return reportError(
        ErrorCode::BadCommandLine,
        "--largest-value=" + llvm::Twine(options.compile.largestValue) +
            " is less than 0");
  if (options.input.empty() || options.output.empty())
    return reportError(ErrorCode::BadCommandLine,
                       "the name of the input or the output is empty");
  return std::nullopt;
}

namespace {
/// The options of the command line.
struct CompileCommandLine {
  cl::OptionCategory category{"fusion-compile"};
  cl::opt<std::string> input{cl::Positional, cl::desc("IN.mlir|IN.mlirbc"),
                             cl::Required, cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Where the package goes"),
                              cl::value_desc("OUT.fpk"), cl::Required,
                              cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc("The chip to compile for; by default the module's "
               "fusion.target, or sm_90a"),
      cl::value_desc("sm_90a"), cl::init(CompileOptions().target),
      cl::cat(category)};
  cl::opt<std::string> targetFile{
      "target-file",
      cl::desc("Constants measured on the chip, instead of the built-in ones"),
      cl::value_desc("F.json"), cl::cat(category)};
  cl::opt<std::string> compileTo{
      "compile-to",
      cl::desc("The last phase to run; OUT is its IR, or PTX for ptx"),
      cl::value_desc("PHASE"), cl::cat(category)};
  cl::opt<bool> emitBytecode{
      "emit-bytecode",
      cl::desc("Write the IR of --compile-to as MLIR's bytecode"),
      cl::cat(category)};
  cl::opt<std::string> dump{"dump-phases-to",
                            cl::desc("Write the IR after every phase"),
                            cl::value_desc("DIR"), cl::cat(category)};
  cl::opt<std::string> ledger{"ledger",
                              cl::desc("Write every decision as JSON"),
                              cl::value_desc("F.json"), cl::cat(category)};
  cl::opt<std::string> explain{
      "explain",
      cl::desc("Print every decision; as JSON the graph too; or what was "
               "decided on two operations, each a label, a line or both "
               "(matmul:17)"),
      cl::value_desc("json|A,B"), cl::ValueOptional, cl::cat(category)};
  cl::opt<std::string> explainDiff{
      "explain-diff",
      cl::desc("Print how the plan differs from that of an explanation, a "
               "ledger or a package"),
      cl::value_desc("F.json|F.fpk"), cl::cat(category)};
  cl::opt<std::string> report{
      "report",
      cl::desc("Write a page that shows the program before and after, every "
               "decision, predictions, memory, IR and PTX"),
      cl::value_desc("F.html"), cl::cat(category)};
  cl::opt<std::string> numerics{
      "numerics",
      cl::desc("precise: keep every declared rounding; fast: roundings may be "
               "dropped"),
      cl::value_desc("precise|fast"), cl::init("precise"), cl::cat(category)};
  cl::opt<int64_t> largestValue{
      "largest-value",
      cl::desc("Bytes of the largest value that kernels may store for "
               "contractions: larger ones are made in parts where that can be "
               "done; 0: any"),
      cl::value_desc("N"), cl::init(CompileOptions().largestValue),
      cl::cat(category)};
  SteeringFlags steering{category};
  cl::opt<bool> partial{"partial", cl::desc("Leave refused functions out"),
                        cl::cat(category)};
  cl::opt<bool> lineInfo{"line-info",
                         cl::desc("Tell profilers the lines of the program"),
                         cl::cat(category)};
  cl::opt<bool> verifyEach{"verify-each",
                           cl::desc("Verify the IR after each pass"),
                           cl::cat(category)};
  cl::opt<bool> timing{
      "timing",
      cl::desc("Print the time of each phase and pass on standard error"),
      cl::cat(category)};
  cl::opt<bool> ptxas{"ptxas", cl::desc("Assemble with ptxas if it is found"),
                      cl::init(true), cl::cat(category)};
  cl::list<std::string> dialectPlugins{
      "load-dialect-plugin",
      cl::desc("A shared library with a dialect that the program uses"),
      cl::value_desc("F.so"), cl::cat(category)};

  /// Sets `options`. Nothing on success; the exit status after a reported
  /// error.
  std::optional<int> read(CompileToolOptions &options) const;
};
} // namespace

std::optional<int> CompileCommandLine::read(CompileToolOptions &options) const {
  options.input = input;
  options.output = output;
  options.compile.largestValue = largestValue;
  if (std::optional<int> status = checkValues(options, numerics))
    return status;
  if (std::optional<int> status = steering.read(options.steering))
    return status;
  options.dialectPlugins.assign(dialectPlugins.begin(), dialectPlugins.end());
  options.ledger = ledger;
  options.report = report;
  options.emitBytecode = emitBytecode;
  options.compareWith = explainDiff;
  if (explain.getNumOccurrences() && !readExplain(explain, options))
    return reportError(ErrorCode::BadCommandLine,
                       "--explain=" + explain +
                           " is neither json nor two operations, A,B");
  options.compile.target = target;
  options.compile.targetFile = targetFile;
  options.compile.compileTo = compileTo;
  options.compile.dumpPhasesTo = dump;
  options.compile.fastNumerics = numerics == "fast";
  options.compile.runPtxas = ptxas;
  options.compile.lineInfo = lineInfo;
  options.compile.partial = partial;
  options.compile.verifyEachPass = verifyEach;
  options.timing = timing;
  return std::nullopt;
}

int main(int argc, char **argv) {
  installCrashHandlers("fusion-compile");
  CompileCommandLine commandLine;
  if (std::optional<int> status = parseCommandLine(
          argc, argv, "fusion-compile",
          "Compiles tensor programs into a package of fused GPU kernels",
          commandLine.category))
    return *status;
  CompileToolOptions options;
  if (std::optional<int> status = commandLine.read(options))
    return *status;
  return runCompileTool(options);
}
