//===- Module.cpp - The compiler, on modules of MLIR ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-c/Module.h.
//
//===----------------------------------------------------------------------===//

#include "fusion-c/Module.h"
#include "../CompileModule.h"
#include "fusion/Pipelines/PlanFunctions.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fusion;

/// Runs `work` with the diagnostics of `context` going to its result.
static FusionStatus runOn(
    MLIRContext *context, FusionCompilation **compilation,
    function_ref<LogicalResult(CodedDiagnostics &, FusionCompilation &)> work) {
  if (!compilation)
    return FUSION_USAGE;
  DialectRegistry registry;
  registerAllForTools(registry);
  context->appendDialectRegistry(registry);
  llvm::scope_exit restore(
      [context, before = context->shouldPrintOpOnDiagnostic()] {
        context->printOpOnDiagnostic(before);
      });
  auto result = std::make_unique<FusionCompilation>();
  llvm::SourceMgr noSource;
  llvm::raw_string_ostream os(result->diagnostics);
  CodedDiagnostics diagnostics(noSource, context, os);
  diagnostics.setDefaultCode(ErrorCode::CompileFailed);
  LogicalResult outcome = work(diagnostics, *result);
  os.flush();
  takeDiagnostics(outcome, diagnostics, *result);
  FusionStatus status = result->status;
  *compilation = result.release();
  return status;
}

/// Reads the options of work in this process; what is wrong with them is an
/// error at no place.
static LogicalResult readOptionsHere(MLIRContext *context,
                                     const FusionCompileOptions *options,
                                     FusionCompileOptions &given) {
  Location nowhere = UnknownLoc::get(context);
  if (std::optional<DiagnosticRecord> wrong = readOptions(options, given))
    return emitError(nowhere) << wrong->message.str();
  if (given.timeLimitSeconds != 0)
    return emitCodedError(nowhere, ErrorCode::BadCommandLine,
                          "modules are compiled in the caller's process, which "
                          "has no time limit",
                          "leave timeLimitSeconds at 0");
  return success();
}

FusionStatus fusionCompileModule(MlirModule module,
                                 const FusionCompileOptions *options,
                                 FusionCompilation **compilation) {
  ModuleOp program = unwrap(module);
  MLIRContext *context = program.getContext();
  return runOn(
      context, compilation, [&](CodedDiagnostics &, FusionCompilation &result) {
        FusionCompileOptions given;
        if (failed(readOptionsHere(context, options, given)))
          return failure();
        std::string text;
        llvm::raw_string_ostream os(text);
        if (given.report && *given.report)
          program.print(os);
        return compileModule(program, given, "<module>", os.str(), result);
      });
}

FusionStatus fusionPlanOperation(MlirOperation op,
                                 const FusionCompileOptions *options,
                                 FusionCompilation **compilation) {
  Operation *root = unwrap(op);
  return runOn(
      root->getContext(), compilation,
      [&](CodedDiagnostics &, FusionCompilation &result) {
        FusionCompileOptions given;
        CompileReport report;
        if (failed(readOptionsHere(root->getContext(), options, given)) ||
            failed(planFunctions(root, orDefault(given.target, ""), report)))
          return failure();
        result.explanation = std::move(report.explain);
        result.ledger = std::move(report.ledgerJson);
        return success();
      });
}

FusionStatus fusionRunPipeline(MlirOperation op, MlirStringRef pipeline,
                               FusionCompilation **compilation) {
  Operation *root = unwrap(op);
  return runOn(root->getContext(), compilation,
               [&](CodedDiagnostics &, FusionCompilation &) -> LogicalResult {
                 std::string error;
                 llvm::raw_string_ostream os(error);
                 FailureOr<OpPassManager> passes =
                     parsePassPipeline(unwrap(pipeline), os);
                 if (failed(passes))
                   return emitCodedError(UnknownLoc::get(root->getContext()),
                                         ErrorCode::BadCommandLine,
                                         StringRef(error).split('\n').first,
                                         "name passes that are registered");
                 PassManager manager(root->getContext(),
                                     root->getName().getStringRef());
                 static_cast<OpPassManager &>(manager) = std::move(*passes);
                 return manager.run(root);
               });
}
