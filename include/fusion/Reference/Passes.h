//===- Passes.h - Passes of the CPU reference -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the entry points to the passes that turn a tensor program
// into CPU code, and the pipeline made of them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_PASSES_H
#define FUSION_REFERENCE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
class OpPassManager;

namespace fusion {

#define GEN_PASS_DECL
#include "fusion/Reference/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Reference/Passes.h.inc"

/// Makes every float in `module` a bounded number, see BoundFloatsPass.
LogicalResult boundFloats(ModuleOp module);

/// Appends the passes that make a module of linalg, tensor, arith, math and scf
/// on tensors one on bounded numbers. Named ops of other dialects must have
/// been decomposed before.
void buildBoundingPipeline(OpPassManager &pm);

/// Appends the passes from there to the LLVM dialect.
void buildReferencePipeline(OpPassManager &pm);

/// Registers the dialects and the interface implementations that
/// buildReferencePipeline and the JIT need.
void registerReferenceDialects(DialectRegistry &registry);

} // namespace fusion
} // namespace mlir

#endif // FUSION_REFERENCE_PASSES_H
