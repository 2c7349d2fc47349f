//===- Pipeline.cpp - The input phase -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pipeline of the input phase.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Preprocessing/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fusion;

/// TOSA as linalg on tensors. Validation against a TOSA profile is left out:
/// programs may use what the profiles do not allow.
static void addTosaPasses(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createLowerTosaExtremaPass());
  TosaToLinalgOptions options;
  TosaToLinalgNamedOptions namedOptions;
  tosa::addTosaToLinalgPasses(manager, options, namedOptions, std::nullopt);
  OpPassManager &functions = manager.nest<func::FuncOp>();
  TosaToArithPassOptions arithOptions;
  arithOptions.includeApplyRescale = true;
  functions.addPass(createTosaToArithPass(arithOptions));
  functions.addPass(createTosaToTensorPass());
}

void fusion::buildInputPipeline(OpPassManager &manager,
                                const InputOptions &options) {
  // Before anything else takes time that the program decides.
  manager.addPass(createLimitInputPass());
  manager.addPass(createLowerGlobalsPass());
  // Calls first, so that what remains of them is an error. Nothing is folded
  // before it is verified.
  manager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  manager.addPass(createSymbolDCEPass());
  // Before any upstream pass sees the sizes: upstream does not check them.
  manager.addPass(createVerifyInputPass());
  manager.addNestedPass<func::FuncOp>(createNoteContractsPass());
  manager.addPass(createRaiseForeignPass());
  manager.addNestedPass<func::FuncOp>(createNormalizeSlicesPass());
  manager.addNestedPass<func::FuncOp>(createGeneralizeDynamicPass());
  if (options.lowerTosa)
    addTosaPasses(manager);
  manager.addPass(createDecomposePass());
  manager.addPass(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createLowerImportsPass());
  manager.addNestedPass<func::FuncOp>(createGeneralizePass());
  manager.addNestedPass<func::FuncOp>(createResolveAssertsPass());
  // Before equal ops are merged: those with other contracts are not equal.
  manager.addNestedPass<func::FuncOp>(createRestoreContractsPass());
  manager.addNestedPass<func::FuncOp>(createWidenInt4Pass());
  manager.addNestedPass<func::FuncOp>(createMultiplyByReciprocalsPass());
  manager.addNestedPass<func::FuncOp>(createMultiplyPowersPass());
  manager.addNestedPass<func::FuncOp>(createApproximateRoundedPass());
  // Unit dimensions stay: in a loop nest they cost nothing, and the reshapes
  // that would drop them stand between ops that fuse.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  VerifyInputPassOptions verifyOptions;
  verifyOptions.normalForm = true;
  manager.addPass(createVerifyInputPass(verifyOptions));
}

void fusion::registerInputPipeline() {
  PassPipelineRegistration<>(
      "fusion-input",
      "The input phase: refuse what cannot be compiled, bring the rest into "
      "normal form",
      [](OpPassManager &manager) { buildInputPipeline(manager); });
}
