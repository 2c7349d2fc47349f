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
#include "fusion/Preprocessing/NestingDepth.h"
#include "fusion/Preprocessing/ParseProgram.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fusion;

std::string fusion::getVersionString(StringRef tool) {
  return (tool + " (fusion " FUSION_VERSION ", LLVM " LLVM_VERSION_STRING ")")
      .str();
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

static const char *crashMessage = "";

/// Runs in a signal handler: only calls that are safe there.
static void endAfterCrash(void *) {
  ssize_t ignored = write(STDERR_FILENO, crashMessage, strlen(crashMessage));
  (void)ignored;
  _exit(kExitInternal);
}

static void endAfterFatalError(void *, const char *reason, bool) {
  reportError(ErrorCode::InternalError, reason);
  _exit(kExitInternal);
}

static void endOutOfMemory(void *, const char *, bool) {
  // No allocation is possible here.
  static const char message[] =
      "error: FUS-1013: the host is out of memory; use a smaller program or "
      "smaller sizes\n";
  ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);
  (void)ignored;
  _exit(kExitDiagnosed);
}

void fusion::installCrashHandlers(StringRef tool) {
  static std::string message =
      "error: " +
      formatError(ErrorCode::InternalError,
                  getVersionString(tool) + " crashed") +
      "\n";
  crashMessage = message.c_str();
  llvm::sys::AddSignalHandler(endAfterCrash, nullptr);
  llvm::install_fatal_error_handler(endAfterFatalError);
  llvm::install_bad_alloc_error_handler(endOutOfMemory);
  llvm::install_out_of_memory_new_handler();
}

int fusion::reportError(const Twine &message) {
  std::string text = message.str();
  llvm::WithColor::error() << text << "\n";
  return getExitStatus(text);
}

int fusion::reportError(ErrorCode code, const Twine &cause, StringRef remedy) {
  return reportError(formatError(code, cause, remedy));
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

ToolDiagnostics::ToolDiagnostics(llvm::SourceMgr &sourceMgr,
                                 MLIRContext *context)
    : SourceMgrDiagnosticHandler(sourceMgr, context, llvm::errs()) {
  // The op is at the place shown; printing it again hides the message.
  context->printOpOnDiagnostic(false);
  setHandler([this](Diagnostic &diagnostic) {
    handle(diagnostic);
    return success();
  });
}

void ToolDiagnostics::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
    return;
  std::string message = diagnostic.str();
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    if (!findErrorNumber(message))
      message = formatError(defaultCode, message);
    if (exitStatus == kExitOk)
      exitStatus = fusion::getExitStatus(message);
  }
  emitDiagnostic(diagnostic.getLocation(), message, diagnostic.getSeverity());
  for (Diagnostic &note : diagnostic.getNotes())
    emitDiagnostic(note.getLocation(), note.str(), note.getSeverity());
}

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
  if (fusionpkg::looksLikePackage(text.data(), text.size())) {
    emitCodedError(UnknownLoc::get(context), ErrorCode::InputInvalid,
                   path + " is a package, not a program",
                   "give the text it was compiled from");
    return nullptr;
  }
  if (text.contains('\0') || text.starts_with("ML\xEFR")) {
    emitCodedError(UnknownLoc::get(context), ErrorCode::InputInvalid,
                   path + " is not text", "give the program as MLIR text");
    return nullptr;
  }
  if (std::optional<TextPosition> deep = findDeepNesting(text)) {
    emitCodedError(FileLineColLoc::get(context, path, deep->line, deep->column),
                   ErrorCode::InputTooDeep,
                   "brackets nest more than " + Twine(kMaxNestingDepth) +
                       " deep");
    return nullptr;
  }
  sourceMgr.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return parseProgram(sourceMgr, context);
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
