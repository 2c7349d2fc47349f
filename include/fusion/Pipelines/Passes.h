//===- Passes.h - Passes between the levels of the GPU ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes that finish kernels: they belong to no dialect
// of the project.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_PASSES_H
#define FUSION_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Pipelines/Passes.h.inc"

} // namespace mlir::fusion

#endif // FUSION_PIPELINES_PASSES_H
