//===- CompileModule.cpp - One compilation, for both interfaces -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what compilations of text and of modules have in common.
//
//===----------------------------------------------------------------------===//

#include "CompileModule.h"
#include "fusion/Executable/Package.h"
#include "fusion/Version.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

std::optional<DiagnosticRecord>
mlir::fusion::readOptions(const FusionCompileOptions *options,
                          FusionCompileOptions &result) {
  result = {};
  if (!options)
    return std::nullopt;
  size_t size = options->structSize;
  // No struct of the interface is nearly as large: it is another number.
  constexpr size_t kMaxSize = 4096;
  if (size < sizeof(size) || size > kMaxSize)
    return makeError(ErrorCode::BadCommandLine,
                     "the structSize of the options is " + Twine(size));
  StringRef bytes(reinterpret_cast<const char *>(options), size);
  if (llvm::any_of(bytes.drop_front(std::min(size, sizeof(result))),
                   [](char byte) { return byte != 0; }))
    return makeError(ErrorCode::LibraryMismatch,
                     "options of " + Twine(size) +
                         " bytes have a field set that libfusion-c " +
                         FUSION_VERSION_STRING + ", with " +
                         Twine(sizeof(result)) + " bytes, does not have");
  std::memcpy(&result, options, std::min(size, sizeof(result)));
  return std::nullopt;
}

std::string mlir::fusion::orDefault(const char *value, const char *fallback) {
  return value && *value ? value : fallback;
}

/// Those that concern the compiler.
static CompileOptions makeCompileOptions(const FusionCompileOptions &given) {
  CompileOptions options;
  options.target = orDefault(given.target, "");
  options.compileTo = orDefault(given.compileTo, "");
  options.dumpPhasesTo = orDefault(given.dumpPhasesTo, "");
  options.fastNumerics = given.fastNumerics != 0;
  options.runPtxas = given.skipPtxas == 0;
  if (given.report && *given.report)
    options.detail = ReportDetail::Phases;
  return options;
}

DiagnosticRecord mlir::fusion::makeError(ErrorCode code, const Twine &cause) {
  DiagnosticRecord record;
  record.message = parseMessage(formatError(code, cause));
  return record;
}

LogicalResult mlir::fusion::compileModule(ModuleOp module,
                                          const FusionCompileOptions &given,
                                          StringRef name, StringRef text,
                                          FusionCompilation &result) {
  CompileReport report;
  FailureOr<std::string> package =
      compileToPackage(module, makeCompileOptions(given), &report);
  if (failed(package))
    return failure();
  if (std::string page = orDefault(given.report, ""); !page.empty())
    if (fusionpkg::Error error = fusionpkg::writeFileAtomically(
            page, renderReport(report, name, text)))
      return emitCodedError(module.getLoc(), ErrorCode::OutputUnwritable,
                            error.getCause());
  result.explanation = std::move(report.explain);
  result.ledger = std::move(report.ledgerJson);
  result.output =
      package->empty() ? std::move(report.ptx) : std::move(*package);
  return success();
}

void mlir::fusion::takeDiagnostics(LogicalResult outcome,
                                   const CodedDiagnostics &diagnostics,
                                   FusionCompilation &result) {
  result.records = diagnostics.getRecords();
  if (succeeded(outcome))
    return;
  if (diagnostics.hasError())
    result.status = static_cast<FusionStatus>(diagnostics.getExitStatus());
  else
    result.addError(
        makeError(ErrorCode::CompileFailed, "the compiler gave no reason"));
}
