//===- Formulas.h - Operations by their documentation -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the evaluation of fusion operations by formulas that are
// written from their documentation, apart from what they are decomposed into,
// so that a wrong decomposition is seen.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_FORMULAS_H
#define FUSION_REFERENCE_FORMULAS_H

#include "fusion/Reference/BoundedTensor.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fusion {

/// True if `op` can be evaluated by a formula. An op whose region holds an
/// operation that is not evaluated on scalars cannot.
bool hasFormula(Operation *op);

/// The results of `op`, which has a formula, given the values of its operands
/// and of what its regions use from outside; scalars are tensors of rank 0.
/// Each element is off by no more than its bound in any correct implementation
/// of what the op's documentation says.
SmallVector<BoundedTensor>
evaluateFormula(Operation *op,
                const llvm::DenseMap<Value, BoundedTensor> &values);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_FORMULAS_H
