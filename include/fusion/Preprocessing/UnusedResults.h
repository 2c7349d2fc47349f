//===- UnusedResults.h - Operations without unused results ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the removal of results that nothing uses.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_UNUSEDRESULTS_H
#define FUSION_PREPROCESSING_UNUSEDRESULTS_H

#include "mlir/IR/Operation.h"

namespace mlir::fusion {

/// Takes results that nothing uses, and what only these are computed by, from
/// the generics in `root` that have others.
LogicalResult dropUnusedResults(Operation *root);

} // namespace mlir::fusion

#endif // FUSION_PREPROCESSING_UNUSEDRESULTS_H
