//===- ScalarOps.h - Operations on bounded scalars --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the table of operations on scalars that regions may hold.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FORMULAS_SCALAROPS_H
#define FUSION_LIB_REFERENCE_FORMULAS_SCALAROPS_H

#include "ScalarProgram.h"

namespace mlir::fusion::formulas {

/// Computes the result of an operation from its operands.
using ScalarOp = Scalar (*)(Operation *op, ArrayRef<Scalar> operands);

/// How `op` is evaluated, null if it is not known here.
ScalarOp findScalarOp(Operation *op);

} // namespace mlir::fusion::formulas

#endif // FUSION_LIB_REFERENCE_FORMULAS_SCALAROPS_H
