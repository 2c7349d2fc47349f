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
#include "fusion/Executable/StagedFile.h"
#include "fusion/Preprocessing/ParseProgram.h"
#include "fusion/Preprocessing/ProgramText.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
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
  bool hasText = !isBytecode((*buffer)->getMemBufferRef());
  StringRef text = (*buffer)->getBuffer();
  if (hasText && failed(checkProgramText(text, path, context)))
    return nullptr;
  if (hasText)
    setCrashInput(text);
  sourceMgr.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseProgram(sourceMgr, context);
  if (module && !hasText) {
    // What reproduces a crash is read by people too.
    static std::string printed;
    printed = writeProgram(*module, /*asBytecode=*/false);
    setCrashInput(printed);
  }
  return module;
}

StringRef fusion::getProgramText(const llvm::SourceMgr &sourceMgr) {
  const llvm::MemoryBuffer *buffer =
      sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID());
  return isBytecode(buffer->getMemBufferRef()) ? "" : buffer->getBuffer();
}

std::string fusion::writeProgram(ModuleOp module, bool asBytecode) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (asBytecode) {
    // Into a string, and of the newest version: nothing of it can fail.
    [[maybe_unused]] LogicalResult written = writeBytecodeToFile(module, os);
    assert(succeeded(written) && "bytecode of no version");
    return bytes;
  }
  module->print(os);
  os << "\n";
  return bytes;
}

std::string fusion::checkBytecodeOutput(StringRef path) {
  if (path != "-" || !llvm::outs().is_displayed())
    return "";
  return formatError(ErrorCode::BadCommandLine,
                     "--emit-bytecode would write bytes to a terminal",
                     "name a file with -o");
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

/// Writes to the standard output: an error text with a code, or empty.
static std::string writeStandardOutput(StringRef bytes) {
  llvm::raw_fd_ostream &os = llvm::outs();
  os << bytes;
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error ? formatError(ErrorCode::OutputUnwritable,
                             "the standard output: " + error.message())
               : "";
}

std::string
fusion::writeOutputs(ArrayRef<std::pair<StringRef, StringRef>> outputs) {
  auto describe = [](const fusionpkg::Error &error) {
    return formatError(ErrorCode::OutputUnwritable, error.getCause());
  };
  std::vector<fusionpkg::StagedFile> files;
  StringRef printed;
  for (auto [path, bytes] : outputs) {
    if (path == "-")
      printed = bytes;
    if (path.empty() || path == "-")
      continue;
    auto file = fusionpkg::StagedFile::write(path.str(), bytes.str());
    if (!file)
      return describe(file.getError());
    files.push_back(std::move(*file));
  }
  // What has been printed cannot be taken back, but it can fail.
  if (std::string error = writeStandardOutput(printed); !error.empty())
    return error;
  for (bool areDevices : {true, false})
    for (fusionpkg::StagedFile &file : files)
      if (file.isDevice() == areDevices)
        if (fusionpkg::Error error = file.commit())
          return describe(error);
  return "";
}

std::string fusion::writeOutput(StringRef path, StringRef bytes) {
  return writeOutputs({{path, bytes}});
}
