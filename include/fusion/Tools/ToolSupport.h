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

#include "fusion/Support/CrashReport.h"
#include "fusion/Support/Diagnostics.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::fusion {

/// Prints "error: <message>" and returns the exit status of its code.
int reportError(const Twine &message);
/// Prints formatError(code, cause, remedy) and returns its exit status.
int reportError(ErrorCode code, const Twine &cause, StringRef remedy = "");

/// The diagnostics of a tool, printed on the standard error.
class ToolDiagnostics : public CodedDiagnostics {
public:
  ToolDiagnostics(llvm::SourceMgr &sourceMgr, MLIRContext *context);
};

/// Reads and parses the program in `path` ("-" is the standard input), MLIR's
/// text or bytecode, and checks it: nesting of text before it is parsed, types
/// after. Null after an error, which is emitted through `context`.
OwningOpRef<ModuleOp> loadProgram(StringRef path, llvm::SourceMgr &sourceMgr,
                                  MLIRContext *context);
/// The text that loadProgram read; empty if it was bytecode.
StringRef getProgramText(const llvm::SourceMgr &sourceMgr);

/// `module` as text, or as bytecode.
std::string writeProgram(ModuleOp module, bool asBytecode);
/// Whether bytecode may go to `path`: an error text with a code if that is the
/// standard output and a terminal, else empty.
std::string checkBytecodeOutput(StringRef path);

/// Registers the dialects of the plugins in `paths`, as fusion-opt does with
/// --load-dialect-plugin. Returns an error text with a code, empty if all is
/// well.
std::string loadDialectPlugins(ArrayRef<std::string> paths,
                               DialectRegistry &registry);

/// Refuses to write `output` where it is the file `input`, under whatever name:
/// returns an error text with a code, empty if all is well. `option` names the
/// output. "-" is never a file.
std::string checkOutput(StringRef option, StringRef output, StringRef input);

/// Writes `path` so that it holds its old content or all of `bytes`. Returns
/// an error text with a code, empty on success. "-" is the standard output.
std::string writeOutput(StringRef path, StringRef bytes);
/// The same for several outputs: after an error all hold what they held. Empty
/// paths are no outputs.
std::string writeOutputs(ArrayRef<std::pair<StringRef, StringRef>> outputs);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_TOOLSUPPORT_H
