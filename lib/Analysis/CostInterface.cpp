//===- CostInterface.cpp - Prices by other compilers ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how prices of other compilers are asked for.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/CostInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

void mlir::fusion::askForPrice(const KernelBody &body, const TargetInfo &target,
                               KernelEstimate &estimate) {
  if (body.getNodes().empty())
    return;
  Operation *op = body.getGraph().getNode(body.getNodes().front()).op;
  // Sorted by name: prices do not depend on what was loaded first.
  for (Dialect *dialect : op->getContext()->getLoadedDialects())
    if (auto *costs = dialect->getRegisteredInterface<CostInterface>()) {
      costs->priceKernel(body, target, estimate);
      assert(std::isfinite(estimate.seconds()) && estimate.seconds() > 0 &&
             "a price is positive and finite");
    }
}
