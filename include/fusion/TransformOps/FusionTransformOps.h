//===- FusionTransformOps.h - Scripts of plans and schedules ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the ops by which scripts of the transform dialect plan,
// schedule and compile kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TRANSFORMOPS_FUSIONTRANSFORMOPS_H
#define FUSION_TRANSFORMOPS_FUSIONTRANSFORMOPS_H

#include "fusion/Dialect/Fusion/FusionAttrs.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#include "fusion/TransformOps/FusionTransformEnums.h.inc"

#define GET_OP_CLASSES
#include "fusion/TransformOps/FusionTransformOps.h.inc"

namespace mlir {
class DialectRegistry;

namespace fusion {
/// Registers the ops with the transform dialect.
void registerTransformDialectExtension(DialectRegistry &registry);
} // namespace fusion
} // namespace mlir

#endif // FUSION_TRANSFORMOPS_FUSIONTRANSFORMOPS_H
