//===- Passes.h - Passes of the PTX target ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes of the PTX target.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_PTX_PASSES_H
#define FUSION_TARGET_PTX_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/Target/PTX/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Target/PTX/Passes.h.inc"

} // namespace mlir::fusion

#endif // FUSION_TARGET_PTX_PASSES_H
