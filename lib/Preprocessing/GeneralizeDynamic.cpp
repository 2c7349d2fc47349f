//===- GeneralizeDynamic.cpp - Arithmetic whose folds lose sizes ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that makes generics of elementwise arithmetic
// on tensors of dynamic sizes before anything folds it. Upstream folds x xor x
// to a constant of x's type also where that has dynamic sizes: nobody knows
// afterwards how large the result is. The body of a generic folds as well, and
// the generic keeps its sizes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_GENERALIZEDYNAMICPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct GeneralizeDynamicPass
    : public fusion::impl::GeneralizeDynamicPassBase<GeneralizeDynamicPass> {
  using Base::Base;

  void runOnOperation() override {
    auto isDynamic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && !tensor.hasStaticShape();
    };
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getBody().getOps())
      if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
          llvm::any_of(op.getResultTypes(), isDynamic))
        ops.push_back(&op);
    if (ops.empty())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    // What is no elementwise arithmetic is refused later.
    (void)applyOpPatternsGreedily(
        ops, std::move(patterns),
        GreedyRewriteConfig()
            .setStrictness(GreedyRewriteStrictness::ExistingOps)
            .enableFolding(false)
            .enableConstantCSE(false));
  }
};
} // namespace
