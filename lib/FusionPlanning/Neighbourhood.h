//===- Neighbourhood.h - What lies around an operation ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares copies of parts of a function: what a decision about one
// operation depends on lies around it, however large the function is.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_NEIGHBOURHOOD_H
#define FUSION_LIB_FUSIONPLANNING_NEIGHBOURHOOD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fusion {

/// A function of copies of `ops`, of one block, that returns `results`,
/// computed by them; what they need of others are its arguments. `mapping` maps
/// operations and values to their copies.
OwningOpRef<func::FuncOp> copyOps(const llvm::SetVector<Operation *> &ops,
                                  ValueRange results, IRMapping &mapping);

/// A part of a function, as a function of its own.
struct Neighbourhood {
  OwningOpRef<func::FuncOp> owner;
  FunctionOpInterface func;
  /// The copy of the operation that it lies around.
  Operation *center = nullptr;
};

/// Copies the `mostOps` operations next to `center`, by the number of
/// operations between, and the constants and sizes that they need. What comes
/// from further away is an argument, what goes there a result.
Neighbourhood copyNeighbourhood(Operation *center, unsigned mostOps);

/// A copy of `func` that is planned as it is.
OwningOpRef<Operation *> cloneForPlanning(FunctionOpInterface func,
                                          IRMapping &mapping);

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_NEIGHBOURHOOD_H
