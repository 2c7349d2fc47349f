//===- CostInterface.h - Prices by other compilers ------------ -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a compiler that uses the planner gives it prices of
// its own: of the scalar ops of its dialect, and of kernels that it makes
// otherwise than Fusion does.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_COSTINTERFACE_H
#define FUSION_ANALYSIS_COSTINTERFACE_H

#include "fusion/Analysis/KernelEstimate.h"
#include "fusion/Analysis/OpCosts.h"
#include "mlir/IR/DialectInterface.h"

namespace mlir::fusion {

/// What a dialect knows of prices. It is asked wherever the planner is run,
/// alone or by the plan phase. Answers depend on nothing but the arguments:
/// what is alike is asked for once.
class CostInterface : public DialectInterface::Base<CostInterface> {
public:
  explicit CostInterface(Dialect *dialect) : Base(dialect) {}

  /// The arithmetic of `op`, a scalar op of this dialect in a body of linalg.
  virtual OpCost getScalarCost(Operation *op) const {
    OpCost cost;
    cost.instructions = 1;
    return cost;
  }

  /// Changes `estimate`, which is the model's or what dialects before this one
  /// made of it, to what the kernel of `body` takes. `estimate.time.total`, in
  /// seconds, is what plans are compared by; it stays positive and finite.
  /// Asked of every kernel, of whichever ops.
  virtual void priceKernel(const KernelBody &body, const TargetInfo &target,
                           KernelEstimate &estimate) const {}
};

/// Lets the dialects that are loaded change the price of a kernel, in the order
/// of their names.
void askForPrice(const KernelBody &body, const TargetInfo &target,
                 KernelEstimate &estimate);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_COSTINTERFACE_H
