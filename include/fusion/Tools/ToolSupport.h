//===- ToolSupport.h - What every tool does ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how tools read programs, word errors and end: one message
// with a code, a place, a cause and a remedy, and the exit status that goes
// with the code.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_TOOLSUPPORT_H
#define FUSION_TOOLS_TOOLSUPPORT_H

#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::fusion {

/// "fusion-run (fusion 0.1.0, LLVM 22.1.8)".
std::string getVersionString(StringRef tool);

/// Makes a crash, a fatal error of LLVM and an exhausted host memory end with
/// one coded error and the right exit status.
void installCrashHandlers(StringRef tool);

/// Prints "error: <message>" and returns the exit status of its code.
int reportError(const Twine &message);
/// Prints formatError(code, cause, remedy) and returns its exit status.
int reportError(ErrorCode code, const Twine &cause, StringRef remedy = "");

/// Prints diagnostics with the line that they are about. An error that has no
/// code gets the current one, so that every error has one. Remarks are dropped:
/// tools print decisions from the report.
class ToolDiagnostics : public SourceMgrDiagnosticHandler {
public:
  ToolDiagnostics(llvm::SourceMgr &sourceMgr, MLIRContext *context);

  /// The code for errors without one, from here on.
  void setDefaultCode(ErrorCode code) { defaultCode = code; }

  bool hasError() const { return exitStatus != kExitOk; }
  /// That of the first error; kExitOk if there is none.
  int getExitStatus() const { return exitStatus; }

private:
  void handle(Diagnostic &diagnostic);

  ErrorCode defaultCode = ErrorCode::InputInvalid;
  int exitStatus = kExitOk;
};

/// Reads and parses the text in `path` ("-" is the standard input) and checks
/// it: nesting before it is parsed, types after. Null after an error, which is
/// emitted through `context`.
OwningOpRef<ModuleOp> loadProgram(StringRef path, llvm::SourceMgr &sourceMgr,
                                  MLIRContext *context);

/// Writes `path` so that it holds its old content or all of `bytes`. Returns
/// an error text with a code, empty on success. "-" is the standard output.
std::string writeOutput(StringRef path, StringRef bytes);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_TOOLSUPPORT_H
