//===- FormulaCalls.h - Formulas in compiled references ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how compiled references evaluate fusion operations by their
// formulas: each becomes the call of one C function that knows the operation.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FORMULACALLS_H
#define FUSION_LIB_REFERENCE_FORMULACALLS_H

#include "fusion/Reference/BoundedTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::fusion {

/// The name of the C function that calls of formulas end in.
constexpr llvm::StringLiteral kFormulaSymbol = "fusion_reference_formula";

/// One op that is evaluated by its formula.
class FormulaCall {
public:
  /// Reads the inputs and writes the results that `words` describes: for each
  /// tensor a pointer and the sizes, for each scalar two words. An error comes
  /// back as text, empty if there is none.
  std::string run(const int64_t *words) const;

private:
  friend class FormulaTable;

  /// A function around a clone of the op, whose arguments are the op's operands
  /// and what its regions use from outside.
  func::FuncOp function;
  Operation *op = nullptr;
  /// Which arguments and results are bounded numbers, in compiled code.
  std::vector<bool> boundedArguments, boundedResults;
};

/// The ops of one program that are evaluated by formulas.
class FormulaTable {
public:
  /// Replaces each op of `module` that has a formula by the call of an external
  /// function on tensors. Arguments of the call are the op's operands, what its
  /// regions use from outside, and the sizes of results that types lack.
  void outline(ModuleOp module);

  /// Once floats are bounded numbers: replaces these calls by calls of the C
  /// function, on buffers.
  void expand(ModuleOp module);

private:
  void outline(ModuleOp module, Operation *op);
  void expand(func::CallOp call, FormulaCall &formula, func::FuncOp callee);

  OwningOpRef<ModuleOp> ops;
  std::vector<std::unique_ptr<FormulaCall>> calls;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_FORMULACALLS_H
