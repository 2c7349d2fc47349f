//===- Passes.cpp - The compiler's passes, from C -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-c/Passes.h.
//
//===----------------------------------------------------------------------===//

#include "fusion-c/Passes.h"
#include "fusion/InitAll.h"
#include "fusion/Pipelines/Compiler.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

// The generated functions are declared extern "C".
#include "fusion/Codegen/Passes.capi.cpp.inc"
#include "fusion/Conversion/MathExpansion/Passes.capi.cpp.inc"
#include "fusion/Conversion/TileToNVVM/Passes.capi.cpp.inc"
#include "fusion/Dialect/Tile/Transforms/Passes.capi.cpp.inc"
#include "fusion/FusionPlanning/Passes.capi.cpp.inc"
#include "fusion/HostLowering/Passes.capi.cpp.inc"
#include "fusion/Pipelines/Passes.capi.cpp.inc"
#include "fusion/Preprocessing/Passes.capi.cpp.inc"
#include "fusion/Scheduling/Passes.capi.cpp.inc"
#include "fusion/Target/PTX/Passes.capi.cpp.inc"

void mlirFusionRegisterAllDialects(MlirDialectRegistry registry) {
  registerAllForTools(*unwrap(registry));
}

void mlirFusionRegisterAllPasses(void) {
  // A name that is registered twice is an error for pipelines.
  static bool done = (registerAllPasses(), true);
  (void)done;
}
