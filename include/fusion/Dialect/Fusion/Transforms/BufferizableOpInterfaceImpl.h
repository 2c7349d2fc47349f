//===- BufferizableOpInterfaceImpl.h - Kernels in bufferization -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what upstream's one-shot bufferization needs to know of
// kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define FUSION_DIALECT_FUSION_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;

namespace fusion {

/// Lets `fusion.kernel` become `fusion.buffer_kernel` in one-shot
/// bufferization.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace fusion
} // namespace mlir

#endif // FUSION_DIALECT_FUSION_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
