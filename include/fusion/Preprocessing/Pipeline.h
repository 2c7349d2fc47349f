//===- Pipeline.h - The input phase -----------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the pipeline of the input phase and the function that
// decomposes fusion ops.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_PIPELINE_H
#define FUSION_PREPROCESSING_PIPELINE_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::fusion {

/// Options of the input phase.
struct InputOptions {
  /// Lower TOSA ops first. Programs without any pay a little time for it.
  bool lowerTosa = true;
};

/// Adds the input phase to a pass manager of modules: what cannot be compiled
/// is refused, the rest is brought into the normal form that the description of
/// fusion-input-verify lists.
void buildInputPipeline(OpPassManager &manager,
                        const InputOptions &options = {});

/// Registers the pipeline as "fusion-input".
void registerInputPipeline();

/// Makes every `linalg.softmax` of tensors below `root` a `fusion.softmax`.
/// Nothing in its meaning rounds the sum of a row to the element type, as its
/// own decomposition does: that of more than 65504 exponentials is no f16.
/// Fails on one of integers, with an error on the op.
LogicalResult nameSoftmaxOps(Operation *root);

/// Replaces the ops of other dialects below `root` that say what they mean: by
/// what they decompose into (AggregatedOpInterface), or by a linalg.generic of
/// their loops and the code of one iteration (TilingInterface). Fails with an
/// error on the first of which neither can be made.
LogicalResult raiseForeignOps(Operation *root);

/// Replaces every op below `root` that has a DecomposeInterface; those that the
/// code generator handles itself only with `all`. Fails where an op has no
/// decomposition, with an error on the op.
LogicalResult decomposeFusionOps(Operation *root, bool all = false);

/// Adds the patterns of fusion-input-generalize: named ops of linalg,
/// arithmetic on tensors, and ops of tensor that plans have no other form for,
/// become linalg.generic and linalg.fill.
void populateGeneralizePatterns(RewritePatternSet &patterns);

/// Checks `root`, a module or a function, as fusion-input-verify does and
/// reports every offence.
LogicalResult verifyInput(Operation *root, bool normalForm);
/// Whether `op`, in a function of a program, would pass the first of these
/// checks, and can go where its users are.
bool canCompile(Operation *op);

} // namespace mlir::fusion

#endif // FUSION_PREPROCESSING_PIPELINE_H
