//===- plugin.cpp - Fusion as a plugin of mlir-opt ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file gives a tool of MLIR that loads plugins the dialects, passes and
// pipelines of Fusion.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"
#include "fusion/TransformOps/FusionTransformOps.h"
#include "fusion/Version.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fusion", FUSION_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            mlir::fusion::registerAllDialects(*registry);
            mlir::fusion::registerTransformDialectExtension(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fusion", FUSION_VERSION_STRING,
          [] { mlir::fusion::registerAllPasses(); }};
}
