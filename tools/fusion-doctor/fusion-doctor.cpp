//===- fusion-doctor.cpp - What is here and what is missing ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the command line of fusion-doctor.
//
//===----------------------------------------------------------------------===//

#include "../CommandLine.h"
#include "fusion/Pipelines/TargetFile.h"
#include "fusion/Tools/Doctor.h"
#include "fusion/Tools/ToolSupport.h"

using namespace mlir::fusion;

int main(int argc, char **argv) {
  installCrashHandlers("fusion-doctor");
  llvm::cl::OptionCategory category("fusion-doctor");
  llvm::cl::opt<std::string> constants(
      "target-file",
      llvm::cl::desc("Print the constants of a chip, as --target-file of "
                     "fusion-compile takes them"),
      llvm::cl::value_desc("sm_90a"), llvm::cl::cat(category));
  if (std::optional<int> status = parseCommandLine(
          argc, argv, "fusion-doctor",
          "Says what is installed, what is missing, and what to do about it\n",
          category))
    return *status;
  if (!constants.empty()) {
    llvm::Expected<const TargetInfo *> target = getTarget(constants);
    if (!target)
      return reportError(llvm::toString(target.takeError()));
    writeTargetFile(**target, llvm::outs());
    return kExitOk;
  }
  printFindings(examine(), llvm::outs());
  return kExitOk;
}
