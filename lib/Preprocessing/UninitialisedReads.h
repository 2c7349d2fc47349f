//===- UninitialisedReads.h - Tensors that nothing wrote --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the search for reads of tensors that nothing wrote.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PREPROCESSING_UNINITIALISEDREADS_H
#define FUSION_LIB_PREPROCESSING_UNINITIALISEDREADS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::fusion {

/// What `op` reads or returns although nothing wrote it, "operand #2, which a
/// tensor.empty gives, without that anything was written"; empty if there is
/// no such operand.
std::string describeUninitialisedRead(Operation *op);

} // namespace mlir::fusion

#endif // FUSION_LIB_PREPROCESSING_UNINITIALISEDREADS_H
