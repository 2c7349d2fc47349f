//===- fusion-lsp-server.cpp - Editor support -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the language server for MLIR text with the dialects of
// the project.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::fusion::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
