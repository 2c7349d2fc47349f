//===- Passes.h - Passes of the input phase ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes of the input phase.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_PASSES_H
#define FUSION_PREPROCESSING_PASSES_H

#include "fusion/Analysis/FunctionPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/Preprocessing/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Preprocessing/Passes.h.inc"

} // namespace mlir::fusion

#endif // FUSION_PREPROCESSING_PASSES_H
