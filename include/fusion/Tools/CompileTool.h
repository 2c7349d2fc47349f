//===- CompileTool.h - fusion-compile as a function -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what fusion-compile does, with its command line parsed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMPILETOOL_H
#define FUSION_TOOLS_COMPILETOOL_H

#include "fusion/Pipelines/Compiler.h"
#include "fusion/Tools/Steering.h"

namespace mlir::fusion {

struct CompileToolOptions {
  CompileOptions compile;
  /// Print the time of each phase and pass on standard error.
  bool timing = false;
  std::string input, output;
  /// Shared libraries with dialects that the program uses.
  std::vector<std::string> dialectPlugins;
  /// Where the ledger goes, empty for nowhere.
  std::string ledger;
  /// Print every decision, or, as JSON, the whole explanation.
  bool explain = false, explainAsJson = false;
  /// Print what was decided on two operations, empty for none; both or neither.
  std::string firstOperation, secondOperation;
  /// An explanation, a ledger or a package that the plan is compared with,
  /// empty for none.
  std::string compareWith;
  /// Where the page goes, empty for nowhere.
  std::string report;
  SteeringOptions steering;
  /// Write the IR of `compile.compileTo` as bytecode.
  bool emitBytecode = false;
};

/// Compiles a file into a file. Returns the exit status; on any other than 0
/// no output was written.
int runCompileTool(const CompileToolOptions &options);

/// "5 unfused -> 1" and so on, one line a figure, then a line a kernel.
void printReport(const CompileReport &report, raw_ostream &os);

/// 1234567 as "1.23 MB"; "unknown" below 0.
std::string formatBytes(double bytes);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_COMPILETOOL_H
