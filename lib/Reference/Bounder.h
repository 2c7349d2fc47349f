//===- Bounder.h - A program on bounded numbers -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the parts of the pass share that makes a program
// compute on bounded numbers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_BOUNDER_H
#define FUSION_LIB_REFERENCE_BOUNDER_H

#include "BoundedRuntime.h"
#include "BoundedValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace mlir::fusion {

/// The operations on bounded numbers, as IR: a number is a complex<f64>, its
/// error the imaginary part.
class BoundedBuilder {
public:
  explicit BoundedBuilder(ModuleOp module);

  ComplexType getType() const { return complex; }
  /// `type` with bounded numbers for elements.
  Type getBoundedType(Type type) const;

  Value constant(OpBuilder &b, Location loc, double value, double error = 0);
  Value create(OpBuilder &b, Location loc, Value value, Value error);
  Value getValue(OpBuilder &b, Location loc, Value bounded);
  Value getError(OpBuilder &b, Location loc, Value bounded);
  Value f64(OpBuilder &b, Location loc, double value);

  /// Calls for `op` of at most three operands.
  Value compute(OpBuilder &b, Location loc, BoundedOp op, ValueRange operands,
                int32_t format = 0, int32_t flags = 0);
  /// Calls a function with results (f64, f64).
  Value call(OpBuilder &b, Location loc, StringRef name, ValueRange arguments);

  /// An integer as a bounded number, and back: what it most likely is.
  Value fromInteger(OpBuilder &b, Location loc, Value integer);
  Value toInteger(OpBuilder &b, Location loc, Value bounded, Type type);
  /// The same for what decides how the program goes on: an open number is
  /// noted.
  Value decide(OpBuilder &b, Location loc, Value bounded, Type type);
  /// A tensor of integers or f64 as one of bounded numbers.
  Value fromTensor(OpBuilder &b, Location loc, Value tensor);

  /// An elementwise op over `inputs`, which have one shape.
  Value map(OpBuilder &b, Location loc, ValueRange inputs, Type element,
            function_ref<Value(OpBuilder &, ValueRange)> body);

private:
  func::FuncOp declare(StringRef name, TypeRange arguments, TypeRange results);

  ModuleOp module;
  ComplexType complex;
};

/// True for what compiled code may compute as a sigmoid: a quotient by
/// 1 + exp(x), or 1 + tanh(x) (docs/Numerics.md, "Arithmetic"). The parts may
/// be in the bodies of several structured ops, since those are fused.
bool isSigmoid(Operation *op);

/// The unit attribute of sums whose factors a walk rounds relative to results
/// so far, and of these roundings (docs/Rationale/Cascades.md).
constexpr llvm::StringLiteral kRepairedAttrName = "repaired";

/// One result of a structured op that is a sum.
struct BoundedSumInfo {
  /// The addition to the running sum, and which operand it adds.
  Operation *add = nullptr;
  unsigned term = 0;
  bool isNegative = false;
  /// The product that is added, if it is one, and the type of its factors.
  Operation *product = nullptr;
  int32_t factors = -1;
  bool tf32 = false;
  /// Factors may be rounded relative to another number than the program says.
  bool repaired = false;
  /// Terms have no error.
  bool isExact = false;
  /// In the declared type.
  int32_t format = 0;
};

/// The sums that `op` makes, one for each result; no `add` where it is none.
SmallVector<BoundedSumInfo> findSums(linalg::GenericOp op);

/// Replaces `op`, whose body is on bounded numbers but for the additions and
/// products of `sums`, by one that keeps the parts of a BoundedSum.
void splitSums(BoundedBuilder &builder, linalg::GenericOp op,
               ArrayRef<BoundedSumInfo> sums);

/// What an operation was declared on, element by element.
struct DeclaredTypes {
  SmallVector<Type> operands, results;
};

/// What converts one scalar operation.
class ScalarBounder {
public:
  ScalarBounder(BoundedBuilder &builder, Operation *op,
                const DeclaredTypes &declared, int32_t flags);

  /// The results as bounded numbers, or integers; failure for an operation that
  /// is not known.
  FailureOr<SmallVector<Value>> convert();

private:
  int32_t getFormat(Type type) const;
  unsigned getWidth(Type type) const;
  /// Operand `i` as a bounded number.
  Value operand(unsigned i);
  Value compute(BoundedOp op, ValueRange operands, int32_t format = 0);
  /// `op` of all operands, in the format of the result.
  Value computeAll(BoundedOp op);

  Value convertFloat();
  Value convertFunction();
  Value convertConversion();
  Value convertInteger();
  Value compareFloats(arith::CmpFPredicate predicate);
  Value compareIntegers(arith::CmpIPredicate predicate);
  Value asUnsigned(unsigned i);
  /// Evaluates the operation on the integers that the operands most likely are.
  Value evaluateExactly();

  BoundedBuilder &builder;
  Operation *op;
  const DeclaredTypes &declared;
  int32_t flags;
  OpBuilder b;
  Location loc;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_BOUNDER_H
