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

#include "../CommandLine.h"
#include "fusion/InitAll.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::fusion::installCrashHandlers("fusion-lsp-server");
  mlir::fusion::setCrashArguments("fusion-lsp-server", argc, argv);
  if (auto status = mlir::fusion::explainErrorIfAsked(argc, argv))
    return *status;
  mlir::fusion::watchUsageErrors();
  mlir::fusion::PageOptions pages(
      "fusion-lsp-server", "Language server for MLIR with Fusion's dialects",
      llvm::cl::getGeneralCategory());
  mlir::DialectRegistry registry;
  mlir::fusion::registerAllDialects(registry);
  mlir::fusion::endWith(mlir::MlirLspServerMain(argc, argv, registry));
}
