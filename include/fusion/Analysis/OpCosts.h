//===- OpCosts.h - Arithmetic of scalar code --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how much arithmetic one evaluation of a region of scalar
// ops costs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_OPCOSTS_H
#define FUSION_ANALYSIS_OPCOSTS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"

namespace mlir::fusion {

/// Arithmetic of one evaluation.
struct OpCost {
  /// What kernels that combine elements are priced by.
  double fp32 = 0;
  double fp64 = 0;
  double sfu = 0;
  /// Instructions that are emitted, and those of f64 beside them: what
  /// pointwise kernels are priced by.
  double instructions = 0;
  double doubles = 0;

  OpCost &operator+=(const OpCost &other) {
    fp32 += other.fp32;
    fp64 += other.fp64;
    sfu += other.sfu;
    instructions += other.instructions;
    doubles += other.doubles;
    return *this;
  }
};

/// The arithmetic of one scalar op, not counting its regions. Ops that move
/// values only cost nothing.
OpCost getOpCost(Operation *op);

/// The arithmetic of all ops of `region`, each counted once. Instructions are
/// those for each element: what follows from values outside is computed before,
/// and what follows from the index of a group of elements once for the group.
OpCost getRegionCost(Region &region);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_OPCOSTS_H
