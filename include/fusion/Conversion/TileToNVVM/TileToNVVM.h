//===- TileToNVVM.h - Distributes tile programs over threads ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the conversion of tile programs to kernels, and the sets
// of lowerings that it is made of.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_TILETONVVM_TILETONVVM_H
#define FUSION_CONVERSION_TILETONVVM_TILETONVVM_H

#include "fusion/Conversion/TileToNVVM/TileLowering.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"

namespace mlir::fusion {

/// How to lower.
struct TileToNVVMOptions {
  /// Matrix instructions get factors as they are, not in parts or pairs that
  /// are made of their bits.
  bool plainFactors = false;
};

/// Loops, branches, the block's number, returns.
void populateControlFlowLowerings(LoweringSet &lowerings);
/// Operations of arith and math on each element by itself.
void populateElementwiseLowerings(LoweringSet &lowerings);
/// Tiles made of registers that a thread has: index, splat, broadcast, repeat,
/// slice, reshape.
void populateRegisterLowerings(LoweringSet &lowerings);
/// Loads and stores of global memory.
void populateMemoryLowerings(LoweringSet &lowerings);
/// Shared memory and the barriers of who shares it.
void populateSharedMemoryLowerings(LoweringSet &lowerings);
/// Reductions, layout conversions and exchanges within a warp.
void populateExchangeLowerings(LoweringSet &lowerings);
/// Scans within a warp.
void populateScanLowerings(LoweringSet &lowerings);
/// Copies to shared memory by the threads.
void populateCopyLowerings(LoweringSet &lowerings);
/// Tensor maps, which are parameters.
void populateTensorMapLowerings(LoweringSet &lowerings);
/// Rings of buffers and the tensor copies into them.
void populateRingLowerings(LoweringSet &lowerings);
/// Tensor copies to global memory.
void populateAsyncStoreLowerings(LoweringSet &lowerings);
/// Products by each thread of its own elements.
void populateDotLowerings(LoweringSet &lowerings);
/// Products by the instructions of a warp, where the layouts are those of one:
/// to be added after those by each thread.
void populateMmaSyncLowerings(LoweringSet &lowerings,
                              const TileToNVVMOptions &options = {});
/// Products in flight by the instructions of a warpgroup.
void populateMmaAsyncLowerings(LoweringSet &lowerings,
                               const TileToNVVMOptions &options = {});
/// The branch into roles of warps.
void populateRoleLowerings(LoweringSet &lowerings);
/// Sums over the blocks of a cluster.
void populateClusterLowerings(LoweringSet &lowerings);
/// Tiles that blocks of the grid hand to each other, and the memory for it.
void populateGridLowerings(LoweringSet &lowerings);
/// The search for the group of a tile of rows.
void populateRowGroupLowerings(LoweringSet &lowerings);
void populateBoundLowerings(LoweringSet &lowerings);
void populateFlagLowerings(LoweringSet &lowerings);
/// Reductions over the blocks of a panel, and their leave.
void populatePanelLowerings(LoweringSet &lowerings);
/// Scans over the blocks of a panel.
void populatePanelScanLowerings(LoweringSet &lowerings);

/// All of the above.
void populateTileToNVVMLowerings(LoweringSet &lowerings,
                                 const TileToNVVMOptions &options = {});

/// Lets a dialect have its operations lowered by
/// `-fusion-convert-tile-to-nvvm`.
class TileLoweringInterface
    : public DialectInterface::Base<TileLoweringInterface> {
public:
  explicit TileLoweringInterface(Dialect *dialect) : Base(dialect) {}

  /// Adds lowerings to those above; they come before them.
  virtual void populateLowerings(LoweringSet &lowerings) const = 0;
};

/// Replaces every `fusion_tile.program` of `module` by a kernel.
LogicalResult convertTileToNVVM(ModuleOp module, const LoweringSet &lowerings);

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_TILETONVVM_TILETONVVM_H
