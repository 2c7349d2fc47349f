//===- ScalarForm.h - What an op does at one iteration ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how an op with TilingInterface, of any dialect, is asked
// what it does at one iteration.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PREPROCESSING_SCALARFORM_H
#define FUSION_LIB_PREPROCESSING_SCALARFORM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>

namespace mlir::fusion {

/// How often a loop iterates: a number, or the size of an operand.
struct LoopCount {
  std::optional<int64_t> number;
  unsigned operand = 0;
  int64_t dim = 0;
};

/// The loops of an op, and the code of one iteration, in a function of its own
/// in which operands that are tensors are buffers.
class ScalarForm {
public:
  /// Asks a copy of `op` on buffers. Nothing, and why in `reason`, if it has no
  /// such form.
  static std::optional<ScalarForm> create(Operation *op, std::string &reason);

  unsigned getNumLoops() const { return counts.size(); }
  const LoopCount &getCount(unsigned loop) const { return counts[loop]; }
  utils::IteratorType getIterator(unsigned loop) const {
    return iterators[loop];
  }
  /// The operations of an iteration, in order.
  ArrayRef<Operation *> getOps() const { return ops; }

  /// Whether `op`, of an iteration, takes arguments and what others of the
  /// iteration compute alone.
  bool isClosed(Operation *op) const;

  /// The operand of the op that `value` stands for, or one after the last for
  /// a value that its regions take from outside; nothing for others.
  std::optional<unsigned> getOperand(Value value) const;
  /// The values that regions of the op take from outside.
  ArrayRef<Value> getCaptured() const { return captured; }
  /// The loop whose index `value` is.
  std::optional<unsigned> getLoop(Value value) const;
  /// `value` as an expression of the loops' indices, if it is an affine one.
  AffineExpr getAffine(Value value) const;

private:
  void buildFunction(Operation *op);
  std::string clone(Operation *op);
  std::string readLoops(OpBuilder &b);
  std::optional<LoopCount> readCount(OpFoldResult size) const;
  std::string buildIteration(OpBuilder &b);

  OwningOpRef<ModuleOp> module;
  /// Of the function: operands and indices, then the copy and the iteration.
  Block *block = nullptr;
  Operation *buffered = nullptr;
  SmallVector<Value> captured;
  SmallVector<LoopCount> counts;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<Value> indices;
  SmallVector<Operation *> ops;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_PREPROCESSING_SCALARFORM_H
