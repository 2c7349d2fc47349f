//===- fusion-reduce.cpp - Smaller programs with the same bug -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-reduce, which makes a program smaller as long as
// a test finds it interesting: a program of the caller's that gets the path of
// a candidate and ends with status 1 if that still shows the bug.
//
//===----------------------------------------------------------------------===//

#include "../CommandLine.h"
#include "Edits.h"
#include "fusion/InitAll.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"

namespace cl = llvm::cl;
using namespace mlir;
using namespace mlir::fusion;

namespace {
/// The smallest program so far, and the test that decides.
class Reducer {
public:
  Reducer(MLIRContext &context, StringRef test, unsigned maxTests)
      : context(context), test(test), maxTests(maxTests) {}

  /// Whether the test finds the program interesting. A test that was not run
  /// does not.
  bool isInteresting(ModuleOp module);
  /// Takes a smaller program if it verifies and the test agrees.
  bool offer(OwningOpRef<ModuleOp> candidate);
  /// Tries all edits until none helps.
  void reduce(OwningOpRef<ModuleOp> program);

  ModuleOp getBest() { return *best; }
  unsigned getNumTests() const { return numTests; }

private:
  bool applyEdits(const EditKind &kind);
  bool cutRanges();
  bool shrink();
  bool isSpent() const { return numTests >= maxTests; }

  MLIRContext &context;
  StringRef test;
  unsigned maxTests;
  unsigned numTests = 0;
  OwningOpRef<ModuleOp> best;
  ProgramSize bestSize = {};
  /// That of the program to begin with.
  unsigned mostUninitialised = 0;
};
} // namespace

bool Reducer::isInteresting(ModuleOp module) {
  if (isSpent())
    return false;
  ++numTests;
  SmallString<128> path;
  int descriptor;
  if (llvm::sys::fs::createTemporaryFile("fusion-reduce", "mlir", descriptor,
                                         path))
    return false;
  llvm::FileRemover remover(path);
  {
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << printProgram(module);
  }
  StringRef arguments[] = {test, path};
  return llvm::sys::ExecuteAndWait(test, arguments, /*Env=*/std::nullopt,
                                   /*Redirects=*/{std::nullopt, "", ""}) == 1;
}

bool Reducer::offer(OwningOpRef<ModuleOp> candidate) {
  removeUnused(*candidate);
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  if (failed(verify(*candidate)))
    return false;
  // The text is what counts: it does not have the bodies of named ops, so that
  // an edit there is none.
  candidate = parseSourceString<ModuleOp>(printProgram(*candidate),
                                          ParserConfig(&context));
  if (!candidate)
    return false;
  if (countUninitialisedReads(*candidate) > mostUninitialised)
    return false;
  ProgramSize size = measure(*candidate);
  if (size >= bestSize || !isInteresting(*candidate))
    return false;
  best = std::move(candidate);
  bestSize = size;
  return true;
}

/// One kind of edit at each place. After a success, the same number is the next
/// place.
bool Reducer::applyEdits(const EditKind &kind) {
  bool changed = false;
  for (unsigned place = 0; !isSpent();) {
    OwningOpRef<ModuleOp> candidate = best->clone();
    if (!kind.apply(*candidate, place))
      return changed;
    if (offer(std::move(candidate)))
      changed = true;
    else
      ++place;
  }
  return changed;
}

/// Replaces ranges of ops by arguments, long ones first.
bool Reducer::cutRanges() {
  bool changed = false;
  for (unsigned length = countOps(*best); length; length /= 2)
    for (unsigned begin = 0; begin < countOps(*best) && !isSpent();) {
      OwningOpRef<ModuleOp> candidate = best->clone();
      cutOps(*candidate, begin, begin + length);
      if (offer(std::move(candidate)))
        changed = true;
      else
        begin += length;
    }
  return changed;
}

bool Reducer::shrink() {
  bool changed = false;
  for (bool again = true; again && !isSpent();) {
    again = false;
    ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
    for (const std::string &text : shrinkSizes(printProgram(*best))) {
      auto candidate =
          parseSourceString<ModuleOp>(text, ParserConfig(&context));
      if (candidate && offer(std::move(candidate))) {
        changed = again = true;
        break;
      }
    }
  }
  return changed;
}

void Reducer::reduce(OwningOpRef<ModuleOp> program) {
  best = std::move(program);
  bestSize = measure(*best);
  mostUninitialised = countUninitialisedReads(*best);
  for (bool changed = true; changed && !isSpent();) {
    changed = cutRanges();
    for (const EditKind &kind : getEditKinds())
      changed |= applyEdits(kind);
    changed |= shrink();
  }
}

int main(int argc, char **argv) {
  installCrashHandlers("fusion-reduce");
  cl::OptionCategory category("fusion-reduce");
  cl::opt<std::string> input(cl::Positional, cl::desc("IN.mlir|IN.mlirbc"),
                             cl::Required, cl::cat(category));
  cl::opt<std::string> output("o", cl::desc("Where the smaller program goes"),
                              cl::value_desc("OUT.mlir"), cl::init("-"),
                              cl::cat(category));
  cl::opt<std::string> test(
      "test",
      cl::desc("A program that gets the path of a candidate and ends with "
               "status 1 if that still shows the bug"),
      cl::value_desc("PATH"), cl::Required, cl::cat(category));
  cl::opt<unsigned> maxTests(
      "max-tests", cl::desc("Stop after so many runs of the test"),
      cl::value_desc("N"), cl::init(5000), cl::cat(category));
  cl::opt<bool> emitBytecode(
      "emit-bytecode", cl::desc("Write the smaller program as MLIR's bytecode"),
      cl::cat(category));
  if (std::optional<int> status = parseCommandLine(
          argc, argv, "fusion-reduce",
          "Makes a program smaller as long as a test finds it interesting",
          category))
    return *status;
  if (std::string error = checkOutput("-o", output, input); !error.empty())
    return reportError(error);
  if (std::string error = emitBytecode ? checkBytecodeOutput(output) : "";
      !error.empty())
    return reportError(error);

  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sourceMgr;
  ToolDiagnostics diagnostics(sourceMgr, &context);
  OwningOpRef<ModuleOp> program = loadProgram(input, sourceMgr, &context);
  if (!program)
    return diagnostics.getExitStatus();

  llvm::ErrorOr<std::string> path =
      llvm::sys::findProgramByName(test.getValue());
  if (!path || !llvm::sys::fs::can_execute(*path))
    return reportError(ErrorCode::BadCommandLine,
                       "--test=" + test + ": no program of this name",
                       "give a path that can be executed");
  Reducer reducer(context, *path, maxTests);
  if (!reducer.isInteresting(*program))
    return reportError(ErrorCode::BadCommandLine,
                       "the test does not find " + input + " interesting",
                       "the test has to end with status 1 for it");
  reducer.reduce(std::move(program));
  std::string smaller = emitBytecode
                            ? writeProgram(reducer.getBest(), emitBytecode)
                            : printProgram(reducer.getBest());
  if (std::string error = writeOutput(output, smaller); !error.empty())
    return reportError(error);
  llvm::errs() << "fusion-reduce: " << reducer.getNumTests() << " tests\n";
  return kExitOk;
}
