//===- CommandLine.h - Parsing in tools -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how tools parse their command line with llvm::cl: a wrong
// one is a coded error with the exit status for usage.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMMANDLINE_H
#define FUSION_TOOLS_COMMANDLINE_H

#include "fusion/Tools/ToolSupport.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/CommandLine.h"
#include <optional>

namespace mlir::fusion {

/// Takes the options of `category` out of llvm::cl's lists, which the caller's
/// options do not outlive. Their values stay.
inline void forgetOptions(llvm::cl::OptionCategory &category) {
  llvm::SmallPtrSet<llvm::cl::Option *, 32> options;
  for (auto &entry : llvm::cl::getRegisteredOptions())
    options.insert(entry.second);
  for (llvm::cl::Option *option :
       llvm::cl::SubCommand::getTopLevel().PositionalOpts)
    options.insert(option);
  for (llvm::cl::Option *option : options)
    if (llvm::is_contained(option->Categories, &category))
      option->removeArgument();
}

/// Parses the options of `category`, which live in the caller. Returns nothing
/// on success and the exit status after a reported error. --help and --version
/// end the process.
inline std::optional<int> parseCommandLine(int argc, char **argv,
                                           StringRef tool, StringRef overview,
                                           llvm::cl::OptionCategory &category) {
  llvm::cl::HideUnrelatedOptions(category);
  static std::string version = getVersionString(tool);
  llvm::cl::SetVersionPrinter([](raw_ostream &os) { os << version << "\n"; });
  std::string errors;
  llvm::raw_string_ostream os(errors);
  bool fine = llvm::cl::ParseCommandLineOptions(argc, argv, overview, &os);
  forgetOptions(category);
  if (fine)
    return std::nullopt;
  // The first line says what is wrong, the rest how to ask for help.
  StringRef cause = StringRef(errors).trim().split('\n').first;
  cause.consume_front((StringRef(argv[0]) + ": ").str());
  return reportError(ErrorCode::BadCommandLine, cause);
}

} // namespace mlir::fusion

#endif // FUSION_TOOLS_COMMANDLINE_H
