//===- CheckLimits.cpp - Kernels against the limits of the target ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that refuses kernels which the target cannot
// launch.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Pipelines/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_CHECKLIMITSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-gpu-check-limits"

using namespace mlir;
using namespace mlir::fusion;

static LogicalResult check(LLVM::LLVMFuncOp kernel, const TargetInfo &target) {
  if (auto shared =
          kernel->getAttrOfType<IntegerAttr>("fusion_tile.shared_bytes"))
    if (shared.getInt() > target.maxSharedPerBlock)
      return kernel.emitError("FUS-3401: kernel '")
             << kernel.getName() << "' needs " << shared.getInt()
             << " bytes of shared memory a block, " << target.name << " gives "
             << target.maxSharedPerBlock
             << "; choose smaller tiles in its schedule";
  if (auto block = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid")) {
    int64_t threads = 1;
    for (int32_t extent : block.asArrayRef())
      threads *= extent;
    if (threads > target.maxThreadsPerBlock)
      return kernel.emitError("FUS-3402: kernel '")
             << kernel.getName() << "' has blocks of " << threads
             << " threads, " << target.name << " allows "
             << target.maxThreadsPerBlock
             << "; choose fewer warps in its schedule";
  }
  return success();
}

namespace {
class CheckLimitsPass
    : public fusion::impl::CheckLimitsPassBase<CheckLimitsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetInfo> limits = resolveTarget(getOperation(), target);
    if (failed(limits))
      return signalPassFailure();
    bool fits = true;
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
        fits &= succeeded(check(kernel, *limits));
    if (!fits)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
