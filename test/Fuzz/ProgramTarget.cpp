//===- ProgramTarget.cpp - Programs from strangers ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the fuzz target of programs: the text front end, the
// whole compiler behind it, and the package that comes out.
//
//===----------------------------------------------------------------------===//

#include "CompilerTargets.h"
#include "PackageTarget.h"
#include "fusion/Executable/Package.h"
#include "fusion/Pipelines/Compiler.h"
#include "fusion/Preprocessing/ParseProgram.h"
#include "fusion/Preprocessing/ParserFaults.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fusion;

std::string fusionfuzz::fuzzProgram(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  // Refused before it is parsed, as every tool does.
  if (findDeepNesting(text) || findParserFault(text) ||
      text.find('\0') != std::string::npos)
    return {};
  static const DialectRegistry &registry = [] {
    static DialectRegistry all;
    registerAllForTools(all);
    return std::ref(all);
  }();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  bool hasError = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), {});
  OwningOpRef<ModuleOp> module = parseProgram(sources, &context);
  if (!module)
    return hasError ? "" : "not parsed, and no error";

  static const char *const targets[] = {"sm_90a", "sm_80", "sm_100a", "sm_90"};
  CompileOptions options;
  options.target = targets[size % std::size(targets)];
  options.fastNumerics = size % 3 == 0;
  options.runPtxas = false;
  CompileReport report;
  FailureOr<std::string> package = compileToPackage(*module, options, &report);
  if (failed(package))
    return hasError ? "" : "not compiled, and no error";
  if (auto model = fusionpkg::readPackage(*package); !model)
    return "a package that is none: " + model.getError().str();
  PackageOutcome outcome = runPackage(*package, 5);
  if (outcome.kind == PackageOutcome::Kind::Refused)
    return "a package that does not load: " + std::to_string(outcome.status);
  return outcome.wrong;
}
