//===- FusionOps.cpp - Ops of the fusion dialect --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements ops of the fusion dialect for the reference. Ops whose
// regions hold more than operations on scalars have no formula: here is the one
// place where the reference shares their decomposition with the compiler.
//
//===----------------------------------------------------------------------===//

#include "FusionOps.h"

#include "fusion/Preprocessing/Pipeline.h"

using namespace mlir;

LogicalResult fusion::lowerFusionOps(ModuleOp module, FormulaTable &formulas) {
  formulas.outline(module);
  return decomposeFusionOps(module, /*all=*/true);
}
