//===- FusionOps.h - Ops of the fusion dialect ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the reference evaluates ops of the fusion dialect.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FUSIONOPS_H
#define FUSION_LIB_REFERENCE_FUSIONOPS_H

#include "FormulaCalls.h"

namespace mlir::fusion {

/// Replaces the fusion ops of a module by calls of their formulas, which
/// `formulas` keeps, and those without one by what they are decomposed into.
LogicalResult lowerFusionOps(ModuleOp module, FormulaTable &formulas);

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_FUSIONOPS_H
