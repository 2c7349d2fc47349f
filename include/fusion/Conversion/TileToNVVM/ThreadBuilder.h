//===- ThreadBuilder.h - Builds the code of one thread ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares a builder with what lowerings of tile operations have in
// common: constants, conversions of indices, inline PTX, shuffles, and the
// forms that elements have in registers and in memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_TILETONVVM_THREADBUILDER_H
#define FUSION_CONVERSION_TILETONVVM_THREADBUILDER_H

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::fusion {

/// The scalars of a value that one thread holds.
using Scalars = SmallVector<Value>;

/// The type that holds an element of `type` in memory: one bit is a byte, and a
/// float without a register form is its bits.
Type memoryType(Type type);

/// Inserts the operations of one thread at the location of the operation that
/// is being lowered.
class ThreadBuilder : public ImplicitLocOpBuilder {
public:
  /// Inserts where `builder` does. Indices are of `indexType`.
  ThreadBuilder(Location loc, const OpBuilder &builder, IntegerType indexType)
      : ImplicitLocOpBuilder(loc, builder), indexType(indexType) {}

  //===--------------------------------------------------------------------===//
  // Indices and conditions
  //===--------------------------------------------------------------------===//

  IntegerType getIndexType() const { return indexType; }
  Value constantIndex(int64_t value);
  Value constant32(int32_t value);
  /// Converts an integer to the index type of the program.
  Value toIndex(Value value);
  /// An index as 32 bits.
  Value toI32(Value value);
  /// `expr` of non-negative symbols and dimensions.
  Value expand(AffineExpr expr, ArrayRef<Value> dims, ArrayRef<Value> symbols);
  Value isEqual(Value value, int32_t constant);
  Scalars selectAll(Value condition, const Scalars &yes, const Scalars &no);
  /// Inserts what `body` does under `condition`.
  void ifThread(Value condition, function_ref<void()> body);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// Between a value and its form in memory.
  Value fromMemory(Value value, Type type);
  Value toMemory(Value value);
  Value extractElement(Value vector, unsigned position);
  Value buildVector(ArrayRef<Value> elements);
  /// The elements' forms in memory as one value: a vector, or the only one.
  Value packForMemory(ArrayRef<Value> elements);
  /// The sum of two numbers of one type.
  Value createSum(Value lhs, Value rhs);

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  /// Inline PTX that LLVM may neither move nor drop. `result` may be null.
  Value inlineAsm(Type result, ValueRange operands, const Twine &text,
                  const Twine &constraints);
  /// Inline PTX whose results depend on its operands alone.
  Value pureAsm(Type result, ValueRange operands, const Twine &text,
                const Twine &constraints);
  /// `value` of another lane, of any type.
  Value shuffle(Value value, Value lane, NVVM::ShflKind kind);
  /// Waits for all lanes of the warp.
  void syncWarp();
  /// `pointer` so many bytes further.
  Value advance(Value pointer, Value bytes);
  Value advance(Value pointer, int32_t bytes);

private:
  IntegerType indexType;
};

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_TILETONVVM_THREADBUILDER_H
