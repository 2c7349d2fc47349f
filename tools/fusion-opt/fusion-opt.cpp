//===- fusion-opt.cpp - Pass driver ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-opt, which runs any pass or named pipeline of the
// project, and those of MLIR, on a textual module. --list-phases prints the
// phases of the compiler, which are pipelines called fusion-<phase> and
// fusion-to-<phase>.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"
#include "fusion/Target/PTX/KernelTargets.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  for (llvm::StringRef argument : llvm::ArrayRef(argv, argc).drop_front())
    if (argument == "--list-phases" || argument == "-list-phases") {
      mlir::fusion::printPhases(llvm::outs());
      return 0;
    }
  mlir::DialectRegistry registry;
  mlir::fusion::registerAllDialects(registry);
  mlir::fusion::registerKernelTargets(registry);
  mlir::registerAllPasses();
  mlir::fusion::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Fusion: tensor programs to fused GPU kernels\n", registry));
}
