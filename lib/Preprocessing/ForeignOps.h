//===- ForeignOps.h - Ops of other dialects ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares which ops of dialects that the compiler does not know can
// stand in a program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PREPROCESSING_FOREIGNOPS_H
#define FUSION_LIB_PREPROCESSING_FOREIGNOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::fusion {

/// Whether `op`, of a dialect that the compiler does not know, says what it
/// means: by our DecomposeInterface, upstream's AggregatedOpInterface or its
/// TilingInterface.
bool canRaise(Operation *op);

} // namespace mlir::fusion

#endif // FUSION_LIB_PREPROCESSING_FOREIGNOPS_H
