//===- Passes.h - Passes from programs to host code -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes that compile parts of a module and leave host
// code that launches their kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_HOSTLOWERING_PASSES_H
#define FUSION_HOSTLOWERING_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/HostLowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/HostLowering/Passes.h.inc"

/// Does what `fusion-outline-offloads` does.
LogicalResult outlineOffloads(ModuleOp module, bool findAll);

} // namespace mlir::fusion

#endif // FUSION_HOSTLOWERING_PASSES_H
