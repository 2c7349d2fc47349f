//===- AcceptFunctions.h - Functions that are taken or left -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a module is compiled of which the compiler does not
// take every function: each function goes through the phases by itself, with
// what it calls, and one that a phase refuses stays as it was.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_ACCEPTFUNCTIONS_H
#define FUSION_PIPELINES_ACCEPTFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlir::fusion {

/// Adds passes to a manager of modules.
using PipelineBuilder = std::function<void(OpPassManager &)>;

/// A module of a copy of `func`, public, and of what it uses of the symbols of
/// its module: functions and data. Attributes of the module are copied too.
OwningOpRef<ModuleOp> isolateFunction(func::FuncOp func);

/// Calls `callback`. What it has to say in `context` goes to `said` and nowhere
/// else.
LogicalResult collectDiagnostics(MLIRContext *context,
                                 std::vector<Diagnostic> &said,
                                 function_ref<LogicalResult()> callback);

/// Runs what `build` adds on `program`, which becomes isolateFunction(func),
/// and collects what there is to say.
LogicalResult tryFunction(func::FuncOp func, const PipelineBuilder &build,
                          OwningOpRef<ModuleOp> &program,
                          std::vector<Diagnostic> &said);

/// Says what was said of `func`: errors become diagnostics of `severity`, each
/// with a code and a note that names the function.
void reportTrial(func::FuncOp func, std::vector<Diagnostic> &said,
                 bool isRefused, DiagnosticSeverity severity);

/// Runs what `build` adds on each function of `module` by itself and puts the
/// result in its place; what it was inlined from goes, unless others use it.
/// Functions that are refused stay as they are, with a remark. Private
/// functions count where something still calls them.
void acceptFunctions(ModuleOp module, const PipelineBuilder &build);

/// Erases from `module` what is no part of a public function that `build`
/// takes. A warning says of each function that is refused why, and `refused`
/// gets its name. Fails where nothing is left, with what was wrong as errors.
LogicalResult dropRefused(ModuleOp module, const PipelineBuilder &build,
                          std::vector<std::string> &refused);

/// fusion-accept-functions, with the pipeline that `build` adds.
std::unique_ptr<Pass> createAcceptFunctionsPass(PipelineBuilder build);

} // namespace mlir::fusion

#endif // FUSION_PIPELINES_ACCEPTFUNCTIONS_H
