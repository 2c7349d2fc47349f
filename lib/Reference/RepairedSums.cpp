//===- RepairedSums.cpp - Roundings of sums that a walk repairs -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the roundings of what contractions weigh where they may
// be made in one walk with a maximum, or a sum, that the weights depend on.
//
//===----------------------------------------------------------------------===//

#include "Bounder.h"
#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Reference/Passes.h"

#include "fusion/Preprocessing/UnusedResults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_REPAIREDSUMSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

static void mark(Operation *op) {
  op->setDiscardableAttr(kRepairedAttrName, UnitAttr::get(op->getContext()));
}

/// Marks what is rounded of a softmax on its way to `tensor`, if it is one but
/// for conversions.
static bool markSoftmax(Value tensor) {
  SmallVector<Operation *> roundings;
  while (Operation *op = tensor.getDefiningOp()) {
    if (isa<SoftmaxOp>(op)) {
      llvm::for_each(roundings, mark);
      mark(op);
      return true;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() != 0 ||
        generic.getNumDpsInputs() != 1)
      return false;
    for (Operation &inner : generic.getBody()->without_terminator()) {
      if (!isa<arith::TruncFOp, arith::ExtFOp>(inner))
        return false;
      if (isa<arith::TruncFOp>(inner))
        roundings.push_back(&inner);
    }
    tensor = generic.getDpsInputs().front();
  }
  return false;
}

/// Marks contraction `op`, and what is rounded of its factors, if it may share
/// a walk with those of `earlier` or with a softmax.
static void markSum(linalg::LinalgOp op, ArrayRef<linalg::LinalgOp> earlier) {
  FailureOr<CascadeLinks> links = matchRepairs(op, earlier);
  bool isRepaired = succeeded(links) && !links->roundings.empty();
  if (isRepaired)
    llvm::for_each(links->roundings, mark);
  for (Value input : SmallVector<Value>(op.getDpsInputs()))
    isRepaired |= markSoftmax(input);
  if (isRepaired)
    mark(op);
}

namespace {
struct RepairedSumsPass : fusion::impl::RepairedSumsPassBase<RepairedSumsPass> {
  void runOnOperation() override {
    if (failed(dropUnusedResults(getOperation())))
      return signalPassFailure();
    getOperation().walk([](Block *block) {
      // A contraction of contractions is found by those between them alone.
      SmallVector<linalg::LinalgOp> earlier;
      for (auto op : block->getOps<linalg::LinalgOp>()) {
        if (sumsProducts(op))
          markSum(op, earlier);
        else if (isPlainReduction(op))
          earlier.push_back(op);
      }
    });
  }
};
} // namespace
