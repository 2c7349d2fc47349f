//===- TileToNVVM.cpp - Distributes tile programs over threads ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the conversion of tile programs to kernels, and the pass
// that makes it.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"
#include "fusion/Conversion/TileToNVVM/Passes.h"
#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_TILETONVVMPASS
#include "fusion/Conversion/TileToNVVM/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-convert-tile-to-nvvm"

using namespace mlir;
using namespace mlir::fusion;

void mlir::fusion::populateTileToNVVMLowerings(
    LoweringSet &lowerings, const TileToNVVMOptions &options) {
  // Parameters and what a kernel begins with have this order.
  populateElementwiseLowerings(lowerings);
  populateControlFlowLowerings(lowerings);
  populateRegisterLowerings(lowerings);
  populateMemoryLowerings(lowerings);
  populateSharedMemoryLowerings(lowerings);
  populateExchangeLowerings(lowerings);
  populateScanLowerings(lowerings);
  populateDotLowerings(lowerings);
  populateMmaSyncLowerings(lowerings, options);
  populateMmaAsyncLowerings(lowerings, options);
  populateCopyLowerings(lowerings);
  populateGridLowerings(lowerings);
  populatePanelLowerings(lowerings);
  populatePanelScanLowerings(lowerings);
  populateRowGroupLowerings(lowerings);
  populateBoundLowerings(lowerings);
  populateFlagLowerings(lowerings);
  populateTensorMapLowerings(lowerings);
  populateRingLowerings(lowerings);
  populateAsyncStoreLowerings(lowerings);
  populateClusterLowerings(lowerings);
  populateRoleLowerings(lowerings);
}

/// Keeps on `kernel` what the launch needs to know of `program`.
static void describeLaunch(LLVM::LLVMFuncOp kernel, tile::ProgramOp program) {
  Builder builder(kernel.getContext());
  if (program.getGridAttr())
    kernel->setAttr("fusion_tile.grid", program.getGridAttr());
  if (program.getSizeArgumentsAttr())
    kernel->setAttr("fusion_tile.size_arguments",
                    program.getSizeArgumentsAttr());
  if (int64_t blocks = program.getCluster().value_or(1); blocks > 1)
    kernel->setAttr("fusion_tile.cluster", builder.getI64IntegerAttr(blocks));
  if (int64_t blocks = program.getTogether().value_or(1); blocks > 1)
    kernel->setAttr("fusion_tile.together", builder.getI64IntegerAttr(blocks));
  kernel->setAttr(
      "fusion_tile.shared_bytes",
      builder.getI64IntegerAttr(program.getSharedBytes().value_or(0)));
}

LogicalResult mlir::fusion::convertTileToNVVM(ModuleOp module,
                                              const LoweringSet &lowerings) {
  SmallVector<tile::ProgramOp> programs(module.getOps<tile::ProgramOp>());
  if (programs.empty())
    return success();
  OpBuilder builder(module.getBodyRegion());
  builder.setInsertionPointToEnd(module.getBody());
  auto kernels = gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
  builder.setInsertionPointToStart(kernels.getBody());
  // One external array stands for the block's dynamic shared memory.
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  auto shared = LLVM::GlobalOp::create(
      builder, module.getLoc(), bytes, /*isConstant=*/false,
      LLVM::Linkage::External, "fusion_shared", Attribute(),
      /*alignment=*/1024, static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  for (tile::ProgramOp program : programs) {
    builder.setInsertionPointToEnd(kernels.getBody());
    ProgramLowering lowering(program, lowerings, builder, shared);
    FailureOr<LLVM::LLVMFuncOp> kernel = lowering.run();
    if (failed(kernel))
      return failure();
    describeLaunch(*kernel, program);
    program.erase();
  }
  return success();
}

namespace {
class TileToNVVMPass : public fusion::impl::TileToNVVMPassBase<TileToNVVMPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    LoweringSet lowerings;
    populateTileToNVVMLowerings(lowerings, TileToNVVMOptions{plainFactors});
    for (Dialect *dialect : getContext().getLoadedDialects())
      if (auto *own = dialect->getRegisteredInterface<TileLoweringInterface>())
        own->populateLowerings(lowerings);
    if (failed(convertTileToNVVM(getOperation(), lowerings)))
      signalPassFailure();
  }
};
} // namespace
