//===- CommandLineTarget.cpp - Command lines of the compiler's tools
//-------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the fuzz target of the command lines of fusion-compile
// and fusion-run: their main functions up to the tool behind, which is replaced
// here, so that nothing is compiled, read or written.
//
//===----------------------------------------------------------------------===//

#include "CompilerTargets.h"
#include "Lines.h"
#include "fusion/Tools/CompileTool.h"
#include "fusion/Tools/RunTool.h"
#include "fusion/Tools/ToolSupport.h"

#include <cmath>

using namespace mlir::fusion;

// The tools' sources are compiled with other names for these.
int fusionCompileMain(int argc, char **argv);
int fusionRunMain(int argc, char **argv);

static constexpr int kReached = 1000;
/// What is wrong with the options that a tool would have run with.
static std::string wrong;

namespace mlir::fusion {

void ignoreCrashHandlers(StringRef) {}

int recordCompileTool(const CompileToolOptions &options) {
  if (options.input.empty() && options.output.empty())
    wrong = "fusion-compile without input and output";
  return kReached;
}

int recordRunTool(const RunToolOptions &options) {
  const RandomInputOptions &random = options.randomOptions;
  if (random.intLow > random.intHigh)
    wrong = "fusion-run with an empty range";
  if (!(random.floatStd > 0))
    wrong = "fusion-run with a deviation that is not above 0";
  for (const auto &[name, size] : random.dims)
    if (size < 0)
      wrong = "fusion-run with a size below 0";
  return kReached;
}

} // namespace mlir::fusion

/// Options that end the process (--help, -h with what follows, --version), or
/// read a file with more options.
static bool isForbidden(llvm::StringRef argument) {
  llvm::StringRef name = argument.ltrim('-');
  return argument.starts_with("@") || name.starts_with("h") ||
         name.starts_with("man-page") || name.starts_with("completion") ||
         name.starts_with("version") || name.starts_with("print-");
}

std::string fusionfuzz::fuzzCommandLine(const uint8_t *data, size_t size) {
  std::vector<std::string> args = splitLines(data, size);
  if (args.empty() || llvm::any_of(args, isForbidden))
    return {};
  bool isRun = args[0].find("run") != std::string::npos;
  std::vector<char *> argv;
  for (std::string &arg : args)
    argv.push_back(arg.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(args.size());
  wrong.clear();
  int status = isRun ? fusionRunMain(argc, argv.data())
                     : fusionCompileMain(argc, argv.data());
  if (!wrong.empty())
    return wrong;
  if (status != kReached && status != kExitOk && status != kExitUsage)
    return "exit status " + std::to_string(status);
  return {};
}
