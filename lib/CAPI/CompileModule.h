//===- CompileModule.h - One compilation, for both interfaces - -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what compilations of text and of modules have in common.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CAPI_COMPILEMODULE_H
#define FUSION_LIB_CAPI_COMPILEMODULE_H

#include "Compilation.h"
#include "fusion/Pipelines/Compiler.h"
#include "fusion/Support/ErrorCodes.h"
#include <optional>

namespace mlir::fusion {

/// Reads the options of a caller whose struct may be older, and so shorter,
/// than ours, of which what it does not have is zero; or newer. Returns what is
/// wrong with it, or nothing.
std::optional<DiagnosticRecord> readOptions(const FusionCompileOptions *options,
                                            FusionCompileOptions &result);

/// `value`, or `fallback` for null and the empty string.
std::string orDefault(const char *value, const char *fallback);

/// An error that has no place in the program.
DiagnosticRecord makeError(ErrorCode code, const Twine &cause);

/// Runs the compiler on `module`; errors go to the handler of its context. The
/// output is the package, or PTX if that is the last phase, or nothing. The
/// page that `given` may ask for calls the program `name` and shows its `text`.
LogicalResult compileModule(ModuleOp module, const FusionCompileOptions &given,
                            StringRef name, StringRef text,
                            FusionCompilation &result);

/// Moves what was reported to `result`, whose status becomes that of the first
/// error. If the work failed without any, the error is that.
void takeDiagnostics(LogicalResult outcome, const CodedDiagnostics &diagnostics,
                     FusionCompilation &result);

} // namespace mlir::fusion

#endif // FUSION_LIB_CAPI_COMPILEMODULE_H
