//===- Passes.h - Passes of the math expansion ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the pass of the math expansion.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_MATHEXPANSION_PASSES_H
#define FUSION_CONVERSION_MATHEXPANSION_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/Conversion/MathExpansion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Conversion/MathExpansion/Passes.h.inc"

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_MATHEXPANSION_PASSES_H
