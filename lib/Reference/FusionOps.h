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

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {

/// Replaces the fusion ops of a module by what the rest of the pipeline knows.
LogicalResult lowerFusionOps(ModuleOp module);

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_FUSIONOPS_H
