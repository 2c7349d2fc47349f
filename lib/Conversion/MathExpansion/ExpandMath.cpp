//===- ExpandMath.cpp - Pass that expands math ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that expands math operations into operations
// that NVPTX has instructions for.
//
//===----------------------------------------------------------------------===//

#include "AngleGroups.h"
#include "SharedDivisors.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Conversion/MathExpansion/MathExpansion.h"
#include "fusion/Conversion/MathExpansion/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "fusion/Conversion/MathExpansion/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Emits an error at the first math operation on scalars or vectors that is
/// left below `root`.
static LogicalResult checkNoneLeft(Operation *root) {
  WalkResult result = root->walk([](Operation *op) -> WalkResult {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) ||
        isa<TensorType>(op->getResult(0).getType()))
      return WalkResult::advance();
    return op->emitOpError()
           << "FUS-0720: has no expansion for " << op->getOperand(0).getType()
           << "; use f64, f32, f16, bf16, f8E4M3FN or f8E5M2, or integers of "
              "up to 64 bits";
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ExpandMath final : fusion::impl::ExpandMathPassBase<ExpandMath> {
  using Base::Base;

  void runOnOperation() override {
    MathOptions options;
    options.fast = fast;
    options.alone = alone;
    FailureOr<TargetInfo> target = resolveTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    RewritePatternSet first(&getContext());
    if (alone) {
      populateFloat8InstructionPatterns(first);
    } else {
      if (target->hasFloat8Products)
        populateFloat8PairPatterns(first);
      populateLogisticPatterns(first);
      populateFractionPatterns(first, options);
    }
    walkAndApplyPatterns(getOperation(), std::move(first));
    if (!alone) {
      groupAngles(getOperation(), options);
      if (!fast)
        shareReciprocals(getOperation());
    }

    RewritePatternSet patterns(&getContext());
    populateMathExpansionPatterns(patterns, options);
    // Expansions hold nothing to expand, so one walk does.
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    if (failed(checkNoneLeft(getOperation())))
      signalPassFailure();
  }
};
} // namespace
