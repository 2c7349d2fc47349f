//===- Verification.h - Checks that several ops share -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares checks of axes and sizes whose messages name the op, both
// numbers and both places.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_VERIFICATION_H
#define FUSION_LIB_DIALECT_FUSION_VERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace mlir::fusion {

/// Fails `inferReturnTypes`, where there is no op yet: an error at `loc`, or
/// silence when there is no location.
template <typename... Args>
LogicalResult emitInferError(std::optional<Location> loc, StringRef opName,
                             Args &&...args) {
  return emitOptionalError(loc, "'", opName, "' op ",
                           std::forward<Args>(args)...);
}

/// Checks the result types against the inferred ones. An op that infers its
/// types calls this first in `verify`: the trait would check only afterwards,
/// and add a second message of its own.
LogicalResult verifyInferredTypes(Operation *op);

/// The size of a dimension when only types are known: the static one of two
/// sizes that must agree.
int64_t mergeSizes(int64_t a, int64_t b);

/// True when both sizes are static and differ.
bool sizesDiffer(int64_t a, int64_t b);

/// Checks 0 <= axis < rank of `type`.
LogicalResult verifyAxis(Operation *op, StringRef attribute, int64_t axis,
                         RankedTensorType type);

/// Checks that `type`, of the operand called `name`, has the sizes `expected`
/// (rank included); `what` says what they stand for.
LogicalResult verifySizes(Operation *op, StringRef name, RankedTensorType type,
                          ArrayRef<int64_t> expected, StringRef what);

/// Same, of an operand that may be absent.
LogicalResult verifyOptionalSizes(Operation *op, StringRef name, Value operand,
                                  ArrayRef<int64_t> expected, StringRef what);

/// Checks that `body`, of a kernel, takes what `inputs` hold.
LogicalResult verifyKernelInputs(Operation *op, ValueRange inputs, Block &body);

/// What the body of a kernel has for an operand of type `type`: of memory, the
/// tensor in it.
Type getBodyType(Type type);

} // namespace mlir::fusion

#endif // FUSION_LIB_DIALECT_FUSION_VERIFICATION_H
