//===- ApproximateScans.cpp - Scans whose results are rounded ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements approximations in scans of logarithms of sums whose
// results are rounded to 16 bits or fewer.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/LogOfSums.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

static bool isHalf(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() <= 16;
}

/// Whether `use` of a tensor takes of its elements what 16 bits or fewer hold.
static bool takesHalf(OpOperand &use) {
  if (isa<tensor::DimOp>(use.getOwner()))
    return true;
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  return op && op.isDpsInput(&use) &&
         llvm::all_of(op.getMatchingBlockArgument(&use).getUsers(),
                      [](Operation *user) {
                        return isa<arith::TruncFOp>(user) &&
                               isHalf(user->getResult(0).getType());
                      });
}

void mlir::fusion::approximateScans(FunctionOpInterface func) {
  func->walk([](ScanOp scan) {
    std::optional<LogOfSum> sum = LogOfSum::match(scan.getCombiner().front());
    if (!sum || (!isHalf(scan.getResult(0).getType()) &&
                 !llvm::all_of(scan.getResult(0).getUses(), takesHalf)))
      return;
    // What a combination adds is off by less than 2^-17 of it and less than
    // 2^-21, and all that combinations add is what the result is above the
    // largest element (docs/Rationale/Scans.md).
    auto allow = [](auto op) {
      op.setFastmath(op.getFastmath() | arith::FastMathFlags::afn);
    };
    allow(sum->exponential);
    allow(sum->logarithm);
  });
}
