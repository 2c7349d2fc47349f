//===- Passes.h - The compiler's passes, from C ----------------- -*- C -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes to programs that use MLIR's C API. For each
// folder with passes there is `mlirRegister<Folder>Passes`, and for each pass
// `mlirCreate<Folder><Pass>` and `mlirRegister<Folder><Pass>`. Passes with
// other options than the default ones are made by their names
// (mlirOpPassManagerAddPipeline) once they are registered.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_C_PASSES_H
#define FUSION_C_PASSES_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#include "fusion/Codegen/Passes.capi.h.inc"
#include "fusion/Conversion/MathExpansion/Passes.capi.h.inc"
#include "fusion/Conversion/TileToNVVM/Passes.capi.h.inc"
#include "fusion/Dialect/Tile/Transforms/Passes.capi.h.inc"
#include "fusion/FusionPlanning/Passes.capi.h.inc"
#include "fusion/HostLowering/Passes.capi.h.inc"
#include "fusion/Pipelines/Passes.capi.h.inc"
#include "fusion/Preprocessing/Passes.capi.h.inc"
#include "fusion/Scheduling/Passes.capi.h.inc"
#include "fusion/Target/PTX/Passes.capi.h.inc"

#ifdef __cplusplus
extern "C" {
#endif

/// Adds both dialects of Fusion, those of MLIR that its programs and phases
/// use, and the implementations of interfaces that its passes rely on.
MLIR_CAPI_EXPORTED void
mlirFusionRegisterAllDialects(MlirDialectRegistry registry);

/// Registers every pass, and the pipelines of phases: "fusion-input",
/// "fusion-to-plan{target=sm_90a}" and so on. Once is enough for a process, and
/// more is allowed.
MLIR_CAPI_EXPORTED void mlirFusionRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // FUSION_C_PASSES_H
