//===- fusion-reduce.cpp - Smaller programs with the same bug -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-reduce, which makes a program smaller as long as
// a script finds it interesting. The script gets the path of a program and
// returns 1 if the program still shows the bug.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::fusion::registerAllDialects(registry);
  mlir::registerAllPasses();
  mlir::fusion::registerAllPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
