//===- FormulaRegistry.h - Which formula an op has --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the table from ops to formulas and what a formula is given.
// Each family of ops adds its own.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FORMULAS_FORMULAREGISTRY_H
#define FUSION_LIB_REFERENCE_FORMULAS_FORMULAREGISTRY_H

#include "Array.h"

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace mlir::fusion::formulas {

/// The values of an op's operands, and of what its regions use from outside.
class Operands {
public:
  Operands(const llvm::DenseMap<Value, BoundedTensor> &values,
           const Arithmetic &arithmetic)
      : values(values), arithmetic(arithmetic) {}

  const Arithmetic &getArithmetic() const { return arithmetic; }
  /// The operand as it is.
  const BoundedTensor &get(Value operand) const {
    return values.find(operand)->second;
  }
  /// The operand in the arithmetic of the formula.
  Array operator[](Value operand) const { return {get(operand), arithmetic}; }

private:
  const llvm::DenseMap<Value, BoundedTensor> &values;
  const Arithmetic &arithmetic;
};

using Results = SmallVector<BoundedTensor>;

class FormulaRegistry {
public:
  template <typename OpTy>
  void add(Results (*formula)(OpTy, const Operands &)) {
    formulas[OpTy::getOperationName()] = [formula](Operation *op,
                                                   const Operands &operands) {
      return formula(cast<OpTy>(op), operands);
    };
  }

  /// All formulas there are.
  static const FormulaRegistry &get();

  bool contains(Operation *op) const {
    return formulas.contains(op->getName().getStringRef());
  }
  Results evaluate(Operation *op, const Operands &operands) const {
    return formulas.find(op->getName().getStringRef())->second(op, operands);
  }

private:
  llvm::StringMap<std::function<Results(Operation *, const Operands &)>>
      formulas;
};

void addActivationFormulas(FormulaRegistry &registry);
void addAttentionFormulas(FormulaRegistry &registry);
void addGroupFormulas(FormulaRegistry &registry);
void addIndexFormulas(FormulaRegistry &registry);
void addLossFormulas(FormulaRegistry &registry);
void addNormalizationFormulas(FormulaRegistry &registry);
void addPointwiseFormulas(FormulaRegistry &registry);
void addQuantizationFormulas(FormulaRegistry &registry);
void addWindowFormulas(FormulaRegistry &registry);

/// The type in which factors of `elementType` are multiplied; sums of products
/// of integers are exact.
DType getFactorType(Type elementType);

/// The element type of a tensor, or the type of a scalar.
inline Type elementTypeOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

} // namespace mlir::fusion::formulas

#endif // FUSION_LIB_REFERENCE_FORMULAS_FORMULAREGISTRY_H
