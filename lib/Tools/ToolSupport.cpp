//===- ToolSupport.cpp - What every tool does -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of programs and the reporting of errors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/ToolSupport.h"

#include "fusion/Executable/Package.h"
#include "fusion/Preprocessing/ParseProgram.h"
#include "fusion/Preprocessing/ProgramText.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::fusion;

int fusion::reportError(const Twine &message) {
  std::string text = message.str();
  llvm::WithColor::error() << text << "\n";
  return getExitStatus(text);
}

int fusion::reportError(ErrorCode code, const Twine &cause, StringRef remedy) {
  return reportError(formatError(code, cause, remedy));
}

ToolDiagnostics::ToolDiagnostics(llvm::SourceMgr &sourceMgr,
                                 MLIRContext *context)
    : CodedDiagnostics(sourceMgr, context, llvm::errs()) {}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> fusion::loadProgram(StringRef path,
                                          llvm::SourceMgr &sourceMgr,
                                          MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (std::error_code error = buffer.getError()) {
    emitCodedError(UnknownLoc::get(context), ErrorCode::InputUnreadable,
                   path + ": " + error.message());
    return nullptr;
  }
  StringRef text = (*buffer)->getBuffer();
  if (failed(checkProgramText(text, path, context)))
    return nullptr;
  setCrashInput(text);
  sourceMgr.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return parseProgram(sourceMgr, context);
}

std::string fusion::loadDialectPlugins(ArrayRef<std::string> paths,
                                       DialectRegistry &registry) {
  for (const std::string &path : paths) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(path);
    if (!plugin)
      return formatError(ErrorCode::InputUnreadable,
                         "--load-dialect-plugin: " +
                             llvm::toString(plugin.takeError()),
                         "name a shared library with a dialect plugin for this "
                         "release of MLIR");
    plugin->registerDialectRegistryCallbacks(registry);
  }
  return "";
}

std::string fusion::checkOutput(StringRef option, StringRef output,
                                StringRef input) {
  if (output == "-" || input == "-" ||
      !fusionpkg::isSameFile(output.str(), input.str()))
    return "";
  return formatError(ErrorCode::BadCommandLine,
                     option + " names '" + output + "', which is the input",
                     "name another file for the output");
}

std::string fusion::writeOutput(StringRef path, StringRef bytes) {
  if (path == "-") {
    llvm::outs() << bytes;
    llvm::outs().flush();
    return "";
  }
  if (fusionpkg::Error error =
          fusionpkg::writeFileAtomically(path.str(), bytes.str()))
    return formatError(ErrorCode::OutputUnwritable, error.getCause());
  return "";
}
