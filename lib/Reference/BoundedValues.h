//===- BoundedValues.h - Which values are bounded numbers -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the analysis that tells which values of a program the
// reference carries with a bound on their error: all floats, and the integers
// that derive from them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_BOUNDEDVALUES_H
#define FUSION_LIB_REFERENCE_BOUNDEDVALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::fusion {

/// Values that have the same elements, whatever op moves them.
struct MovedValues {
  /// What is read: operands of the op and of its terminators.
  SmallVector<OpOperand *> from;
  /// What is made: results and block arguments.
  SmallVector<Value> to;
};

/// How `op` moves elements: results of tensor ops, loop-carried values, and
/// operands with the arguments that stand for them. Empty for ops that compute.
SmallVector<MovedValues> getMovedValues(Operation *op);

/// True if elements of `type` are floats.
bool hasFloats(Type type);
/// True if elements of `type` are integers or indices.
bool hasIntegers(Type type);

class BoundedValues {
public:
  explicit BoundedValues(ModuleOp module);

  bool isBounded(Value value) const {
    return hasFloats(value.getType()) || integers.contains(value);
  }
  /// The same for the results of functions.
  bool isBounded(func::FuncOp function, unsigned result) const {
    return hasFloats(function.getResultTypes()[result]) ||
           functionResults.contains({function, result});
  }

private:
  bool mark(Value value);
  bool update(Operation *op);
  bool updateCalls(Operation *op);

  llvm::DenseSet<Value> integers;
  llvm::DenseSet<std::pair<Operation *, unsigned>> functionResults;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_BOUNDEDVALUES_H
