//===- RepairedSums.cpp - Roundings of sums that a walk repairs -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the marks on sums that may be made in one walk with a
// maximum that their elements depend on.
//
//===----------------------------------------------------------------------===//

#include "Bounder.h"
#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Reference/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_REPAIREDSUMSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// A maximum or minimum of one result.
static bool isExtremum(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return false;
  Combiner combiner = matchCombiner(op, 0);
  return isa_and_present<arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
                         arith::MinNumFOp>(combiner.op) &&
         combiner.type == getElementTypeOrSelf(op.getDpsInitOperand(0)->get());
}

/// Marks `op` if it is repaired when one of `extrema` changes.
static void markSum(linalg::LinalgOp op, ArrayRef<linalg::LinalgOp> extrema) {
  SmallVector<Operation *> roundings;
  FailureOr<SmallVector<Repair>> repairs =
      matchRepairs(op, extrema, &roundings);
  if (failed(repairs) || repairs->empty() || roundings.empty())
    return;
  roundings.push_back(op);
  for (Operation *marked : roundings)
    marked->setDiscardableAttr(kRepairedAttrName,
                               UnitAttr::get(op.getContext()));
}

namespace {
struct RepairedSumsPass : fusion::impl::RepairedSumsPassBase<RepairedSumsPass> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      SmallVector<linalg::LinalgOp> extrema;
      for (auto op : block->getOps<linalg::LinalgOp>()) {
        if (isExtremum(op))
          extrema.push_back(op);
        else if (op.getNumReductionLoops() > 0)
          markSum(op, extrema);
      }
    });
  }
};
} // namespace
