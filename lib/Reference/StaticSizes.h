//===- StaticSizes.h - Tensors that cannot exist ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the check for tensors of a fixed size that overflows.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_STATICSIZES_H
#define FUSION_LIB_REFERENCE_STATICSIZES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {

/// Emits an error for the first value whose type has a fixed size of more bytes
/// than 63 bits can count: upstream lowerings wrap around silently.
LogicalResult verifyStaticSizes(ModuleOp module);

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_STATICSIZES_H
