//===- Formulas.cpp - Operations by their documentation -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the evaluation of an operation by its formula.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Formulas.h"

#include "FormulaRegistry.h"
#include "ScalarProgram.h"

#include "fusion/Analysis/Contraction.h"
#include "fusion/Support/ElementType.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

const FormulaRegistry &FormulaRegistry::get() {
  static const FormulaRegistry registry = [] {
    FormulaRegistry registry;
    addActivationFormulas(registry);
    addAttentionFormulas(registry);
    addGroupFormulas(registry);
    addIndexFormulas(registry);
    addLossFormulas(registry);
    addNormalizationFormulas(registry);
    addPointwiseFormulas(registry);
    addQuantizationFormulas(registry);
    addWindowFormulas(registry);
    return registry;
  }();
  return registry;
}

DType formulas::getFactorType(Type elementType) {
  return isa<FloatType>(elementType) ? *getDType(elementType) : DType::F64;
}

/// f32 for floats up to it, f64 for wider ones and for integers, whose sums it
/// holds exactly.
static DType getComputeType(Operation *op) {
  bool hasFloats = false, hasWideFloats = false;
  auto look = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    hasFloats |= isa<FloatType>(element);
    hasWideFloats |= element.isF64();
  };
  llvm::for_each(op->getOperandTypes(), look);
  llvm::for_each(op->getResultTypes(), look);
  return hasFloats && !hasWideFloats ? DType::F32 : DType::F64;
}

bool fusion::hasFormula(Operation *op) {
  return FormulaRegistry::get().contains(op) &&
         llvm::all_of(op->getRegions(), [](Region &region) {
           return region.empty() || ScalarProgram::canEvaluate(region);
         });
}

SmallVector<BoundedTensor>
fusion::evaluateFormula(Operation *op,
                        const llvm::DenseMap<Value, BoundedTensor> &values) {
  Arithmetic arithmetic{getComputeType(op), allowsTF32(op)};
  return FormulaRegistry::get().evaluate(op, Operands(values, arithmetic));
}
