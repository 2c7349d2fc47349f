//===- KernelTargets.h - Targets that passes attach to kernels --*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how kernels become binaries for the targets that passes of
// MLIR attach to them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_PTX_KERNELTARGETS_H
#define FUSION_TARGET_PTX_KERNELTARGETS_H

namespace mlir {
class DialectRegistry;

namespace fusion {

/// Registers what `gpu-module-to-binary` asks of the targets of a gpu.module,
/// for tools that take it by name: it does not ask whether anything is there.
/// Kernels are NVIDIA's, so that other targets give an error.
void registerKernelTargets(DialectRegistry &registry);

} // namespace fusion
} // namespace mlir

#endif // FUSION_TARGET_PTX_KERNELTARGETS_H
