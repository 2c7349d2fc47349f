//===- Passes.h - Passes of the code generation stage ----------*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes of the code generation stage.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CODEGEN_PASSES_H
#define FUSION_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Codegen/Passes.h.inc"

} // namespace mlir::fusion

#endif // FUSION_CODEGEN_PASSES_H
