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

#include "fusion-c/Fusion.h"

#include "fusion/Pipelines/Compiler.h"
#include "fusion/Preprocessing/NestingDepth.h"
#include "fusion/Preprocessing/ParseProgram.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

struct FusionCompilation {
  std::string output, diagnostics, explanation, ledger;
};

/// The options of a caller whose struct may be older, and so shorter, than
/// ours: what it does not have is zero.
static FusionCompileOptions readOptions(const FusionCompileOptions *options) {
  FusionCompileOptions result = {};
  if (options)
    std::memcpy(&result, options,
                std::min(options->structSize, sizeof(result)));
  return result;
}

static std::string orDefault(const char *value, const char *fallback) {
  return value && *value ? value : fallback;
}

/// Runs the compiler on the text in `sources`; errors go to the handler of
/// `context`.
static LogicalResult compile(MLIRContext &context, llvm::SourceMgr &sources,
                             const CompileOptions &options,
                             FusionCompilation &result) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  Location start =
      FileLineColLoc::get(&context, buffer->getBufferIdentifier(), 1, 1);
  if (std::optional<TextPosition> deep = findDeepNesting(buffer->getBuffer()))
    return emitCodedError(
        FileLineColLoc::get(&context, buffer->getBufferIdentifier(), deep->line,
                            deep->column),
        ErrorCode::InputTooDeep,
        "brackets nest more than " + Twine(kMaxNestingDepth) + " deep");
  OwningOpRef<ModuleOp> module = parseProgram(sources, &context);
  if (!module)
    return emitCodedError(start, ErrorCode::InputInvalid,
                          "the program is not valid");

  CompileReport report;
  FailureOr<std::string> package = compileToPackage(*module, options, &report);
  if (failed(package))
    return failure();
  result.explanation = std::move(report.explain);
  result.ledger = std::move(report.ledgerJson);
  if (!package->empty()) {
    result.output = std::move(*package);
  } else if (!report.ptx.empty()) {
    result.output = std::move(report.ptx);
  } else {
    llvm::raw_string_ostream os(result.output);
    module->print(os);
    os << "\n";
  }
  return success();
}

uint32_t fusionGetAbiVersion(void) { return FUSION_C_ABI_VERSION; }

FusionStatus fusionCompile(const char *text, size_t size,
                           const FusionCompileOptions *givenOptions,
                           FusionCompilation **compilation) {
  auto result = std::make_unique<FusionCompilation>();
  FusionCompileOptions given = readOptions(givenOptions);
  CompileOptions options;
  options.target = orDefault(given.target, "");
  options.compileTo = orDefault(given.compileTo, "");
  options.dumpPhasesTo = orDefault(given.dumpPhasesTo, "");
  options.fastNumerics = given.fastNumerics != 0;
  options.runPtxas = given.skipPtxas == 0;

  DialectRegistry registry;
  registerAllForTools(registry);
  // The caller has its own threads; ours would outlive their use here.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text, size),
                                           orDefault(given.fileName, "<text>")),
      SMLoc());

  llvm::raw_string_ostream os(result->diagnostics);
  SourceMgrDiagnosticHandler handler(sources, &context, os);
  bool fine = succeeded(compile(context, sources, options, *result));
  os.flush();

  FusionStatus status = FUSION_OK;
  if (!fine)
    status = static_cast<FusionStatus>(getExitStatus(result->diagnostics));
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

const char *
fusionCompilationGetExplanation(const FusionCompilation *compilation) {
  return compilation->explanation.c_str();
}

const char *fusionCompilationGetLedger(const FusionCompilation *compilation) {
  return compilation->ledger.c_str();
}
