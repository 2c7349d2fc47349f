//===- DecomposeActivation.h - Decomposition of activations -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the decomposition that the generated code of every
// activation calls.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_DECOMPOSEACTIVATION_H
#define FUSION_LIB_DIALECT_FUSION_DECOMPOSEACTIVATION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::fusion {

/// One elementwise linalg.generic over operand 0 of `op`: `function` maps a
/// scalar of compute type to a scalar of compute type.
FailureOr<SmallVector<Value>>
decomposeActivation(OpBuilder &builder, Operation *op,
                    function_ref<Value(OpBuilder &, Location, Value)> function);

} // namespace mlir::fusion

#endif // FUSION_LIB_DIALECT_FUSION_DECOMPOSEACTIVATION_H
