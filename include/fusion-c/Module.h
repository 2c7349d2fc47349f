//===- Module.h - The compiler, on modules of MLIR -------------- -*- C -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the compiler to programs that have their program as a
// module of MLIR's C API: no text is written or read. The results are those of
// fusion-c/Fusion.h, with its functions to read them.
//
// These functions are in the static library FusionCAPI, not in libfusion-c.so:
// the program says which MLIR it links, and there must be one in a process
// (docs/Embedding.md). They run in the caller's process, on the caller's
// context, so that a defect of the compiler is the caller's crash.
//
// Errors, warnings and their notes go to the result, and to no handler of the
// context. The context gets the dialects and interfaces that the compiler
// needs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_C_MODULE_H
#define FUSION_C_MODULE_H

#include "fusion-c/Fusion.h"
#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Compiles `module` to a package. The module becomes what the last phase makes
/// of it: with `compileTo` of the options that phase's, and the output is PTX
/// for "ptx" and empty for those before it. Clone it before to keep it; after a
/// failure nothing is said of its content. `*compilation` is made in any case.
///
/// `options` may be null. `fileName` and `inProcess` do not count here, and
/// `timeLimitSeconds` is refused: there is no other process to end.
MLIR_CAPI_EXPORTED FusionStatus
fusionCompileModule(MlirModule module, const FusionCompileOptions *options,
                    FusionCompilation **compilation);

/// Plans the function `op`, or all functions in it, and changes nothing: which
/// operations share a kernel, what each candidate saves and why it was taken or
/// not, are the explanation and the ledger of `*compilation`. The functions are
/// of the form that the input phase leaves ("fusion-input"); rewrites that make
/// better kernels, which the plan phase tries as well, are not part of it. Of
/// the options `target` counts, all others must not be set.
MLIR_CAPI_EXPORTED FusionStatus
fusionPlanOperation(MlirOperation op, const FusionCompileOptions *options,
                    FusionCompilation **compilation);

/// Runs passes of any origin that are registered, on `op`:
/// "builtin.module(fusion-to-plan{target=sm_90a})". The pipeline is anchored on
/// the op's name, or on "any".
MLIR_CAPI_EXPORTED FusionStatus fusionRunPipeline(
    MlirOperation op, MlirStringRef pipeline, FusionCompilation **compilation);

#ifdef __cplusplus
}
#endif

#endif // FUSION_C_MODULE_H
