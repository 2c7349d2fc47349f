//===- Compile.cpp - The compiler behind a C interface --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-c/Fusion.h.
//
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"
#include "CompileModule.h"
#include "fusion/Preprocessing/ParseProgram.h"
#include "fusion/Preprocessing/ProgramText.h"
#include "fusion/Support/CrashReport.h"
#include "fusion/Support/DefaultChip.h"
#include "fusion/Version.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

/// Runs the compiler on the text in `sources`; errors go to the handler of
/// `context`.
static LogicalResult compile(MLIRContext &context, llvm::SourceMgr &sources,
                             const FusionCompileOptions &given,
                             CodedDiagnostics &diagnostics,
                             FusionCompilation &result) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  if (failed(checkProgramText(buffer->getBuffer(),
                              buffer->getBufferIdentifier(), &context)))
    return failure();
  OwningOpRef<ModuleOp> module = parseProgram(sources, &context);
  if (!module)
    return failure();

  diagnostics.setDefaultCode(ErrorCode::CompileFailed);
  if (failed(compileModule(*module, given, buffer->getBufferIdentifier(),
                           buffer->getBuffer(), result)))
    return failure();
  // The text of the phase, where it is not PTX.
  if (result.output.empty()) {
    llvm::raw_string_ostream os(result.output);
    module->print(os);
    os << "\n";
  }
  return success();
}

/// Compiles in this process: the caller's, which has its own threads, so that
/// ours would outlive their use here, or a child, which is left to us.
static FusionCompilation compileHere(StringRef text,
                                     const FusionCompileOptions &given,
                                     MLIRContext::Threading threading) {
  DialectRegistry registry;
  registerAllForTools(registry);
  MLIRContext context(registry, threading);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                                 text, orDefault(given.fileName, "<text>")),
                             SMLoc());

  FusionCompilation result;
  llvm::raw_string_ostream os(result.diagnostics);
  CodedDiagnostics diagnostics(sources, &context, os);
  LogicalResult outcome = compile(context, sources, given, diagnostics, result);
  os.flush();
  takeDiagnostics(outcome, diagnostics, result);
  return result;
}

/// The command line that compiles a file as these options say.
static std::string makeCommand(const FusionCompileOptions &given) {
  std::string command = "fusion-compile THIS.mlir -o OUT.fpk --target=" +
                        orDefault(given.target, kDefaultChip.data());
  if (given.compileTo && *given.compileTo)
    command += std::string(" --compile-to=") + given.compileTo;
  if (given.fastNumerics)
    command += " --numerics=fast";
  if (given.skipPtxas)
    command += " --ptxas=false";
  if (given.report && *given.report)
    command += " --report=OUT.html";
  return command;
}

/// What is known of a crash of the child: how it ended, where, and a file that
/// makes it happen again.
static DiagnosticRecord describeCrash(const ChildOutcome &outcome,
                                      StringRef text,
                                      const FusionCompileOptions &given) {
  std::string how = outcome.signal ? describeSignal(outcome.signal).str()
                                   : "it ended without a result";
  DiagnosticRecord record =
      makeError(ErrorCode::InternalError,
                getVersionString("fusion-c") + " crashed (" + how + ")");
  auto addNote = [&](std::string cause) {
    DiagnosticRecord note;
    note.severity = DiagnosticSeverity::Note;
    note.message.cause = std::move(cause);
    record.notes.push_back(std::move(note));
  };
  char path[kMaxReproducerPath];
  if (writeReproducer(
          text, makeReproducerTrailer("fusion-c", makeCommand(given)), path))
    addNote(std::string("reproducer: ") + path);
  if (StringRef errors = StringRef(outcome.errors).trim(); !errors.empty())
    addNote(errors.str());
  return record;
}

/// Compiles in a child process.
static FusionCompilation compileApart(StringRef text,
                                      const FusionCompileOptions &given) {
  ChildOutcome outcome = runInChild(
      [&] {
        return compileHere(text, given, MLIRContext::Threading::ENABLED)
            .write();
      },
      given.timeLimitSeconds);
  FusionCompilation result;
  switch (outcome.kind) {
  case ChildOutcome::Finished:
    if (result.read(outcome.result)) {
      std::fwrite(outcome.errors.data(), 1, outcome.errors.size(), stderr);
      return result;
    }
    result = FusionCompilation();
    LLVM_FALLTHROUGH;
  case ChildOutcome::Crashed:
    result.addError(describeCrash(outcome, text, given));
    return result;
  case ChildOutcome::OutOfMemory:
    result.addError(
        makeError(ErrorCode::HostOutOfMemory, "the host is out of memory"));
    return result;
  case ChildOutcome::TimedOut:
    result.addError(makeError(ErrorCode::TimeLimit,
                              "the compilation took longer than " +
                                  Twine(given.timeLimitSeconds) + " s"));
    return result;
  case ChildOutcome::NotStarted:
    result.addError(makeError(ErrorCode::NoProcess, outcome.errors));
    return result;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

uint32_t fusionGetAbiVersion(void) { return FUSION_C_ABI_VERSION; }

const char *fusionCheckVersion(uint32_t abiVersion, uint32_t apiVersion) {
  if (abiVersion == FUSION_C_ABI_VERSION && apiVersion <= FUSION_C_API_VERSION)
    return nullptr;
  auto name = [](uint32_t abi, uint32_t api) {
    return ("ABI " + Twine(abi) + ", interface " + Twine(api)).str();
  };
  thread_local std::string text;
  text = formatError(
      ErrorCode::LibraryMismatch,
      "the program was built for " + name(abiVersion, apiVersion) +
          " of the compiler; libfusion-c " + FUSION_VERSION_STRING + " has " +
          name(FUSION_C_ABI_VERSION, FUSION_C_API_VERSION));
  return text.c_str();
}

const char *fusionGetVersion(void) { return FUSION_VERSION_STRING; }

FusionStatus fusionCompile(const char *text, size_t size,
                           const FusionCompileOptions *givenOptions,
                           FusionCompilation **compilation) {
  if (!compilation)
    return FUSION_USAGE;
  auto result = std::make_unique<FusionCompilation>();
  FusionCompileOptions given;
  std::optional<DiagnosticRecord> wrong = readOptions(givenOptions, given);
  StringRef program(text, text ? size : 0);
  if (wrong)
    result->addError(std::move(*wrong));
  else if (!text && size)
    result->addError(
        makeError(ErrorCode::BadCommandLine, "the text is a null pointer"));
  else
    *result = given.inProcess ? compileHere(program, given,
                                            MLIRContext::Threading::DISABLED)
                              : compileApart(program, given);
  FusionStatus status = result->status;
  *compilation = result.release();
  return status;
}

void fusionCompilationDestroy(FusionCompilation *compilation) {
  delete compilation;
}

const char *fusionCompilationGetOutput(const FusionCompilation *compilation,
                                       size_t *size) {
  *size = compilation->output.size();
  return compilation->output.data();
}

const char *
fusionCompilationGetDiagnostics(const FusionCompilation *compilation) {
  return compilation->diagnostics.c_str();
}

/// Fills in as much of a caller's struct as it has.
static FusionStatus fill(const DiagnosticRecord &record,
                         FusionDiagnostic *diagnostic) {
  if (!diagnostic || diagnostic->structSize < sizeof(size_t))
    return FUSION_USAGE;
  FusionDiagnostic own = {};
  own.structSize = std::min(diagnostic->structSize, sizeof(own));
  own.severity =
      record.severity == DiagnosticSeverity::Error     ? FUSION_SEVERITY_ERROR
      : record.severity == DiagnosticSeverity::Warning ? FUSION_SEVERITY_WARNING
                                                       : FUSION_SEVERITY_NOTE;
  own.code = record.message.number;
  own.cause = record.message.cause.c_str();
  own.remedy = record.message.remedy.c_str();
  own.fileName = record.file.c_str();
  own.line = record.line;
  own.column = record.column;
  own.numNotes = static_cast<uint32_t>(record.notes.size());
  std::memcpy(diagnostic, &own, own.structSize);
  return FUSION_OK;
}

size_t
fusionCompilationGetNumDiagnostics(const FusionCompilation *compilation) {
  return compilation->records.size();
}

FusionStatus
fusionCompilationGetDiagnostic(const FusionCompilation *compilation,
                               size_t index, FusionDiagnostic *diagnostic) {
  if (index >= compilation->records.size())
    return FUSION_USAGE;
  return fill(compilation->records[index], diagnostic);
}

FusionStatus fusionCompilationGetNote(const FusionCompilation *compilation,
                                      size_t index, size_t noteIndex,
                                      FusionDiagnostic *note) {
  if (index >= compilation->records.size() ||
      noteIndex >= compilation->records[index].notes.size())
    return FUSION_USAGE;
  return fill(compilation->records[index].notes[noteIndex], note);
}

const char *
fusionCompilationGetExplanation(const FusionCompilation *compilation) {
  return compilation->explanation.c_str();
}

const char *fusionCompilationGetLedger(const FusionCompilation *compilation) {
  return compilation->ledger.c_str();
}
