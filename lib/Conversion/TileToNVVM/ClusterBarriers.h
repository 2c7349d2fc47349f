//===- ClusterBarriers.h - What blocks of a cluster wait for ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the barriers of clusters.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_CLUSTERBARRIERS_H
#define FUSION_LIB_CONVERSION_TILETONVVM_CLUSTERBARRIERS_H

#include "fusion/Conversion/TileToNVVM/ThreadBuilder.h"

namespace mlir::fusion {

class ProgramLowering;

/// Arrives at the cluster's barrier, and waits there for all threads of all
/// blocks.
void arriveAtCluster(ThreadBuilder &builder);
void waitForCluster(ThreadBuilder &builder);

/// Waits before the first exchange through `fusion_tile.cluster_memory` until
/// all blocks of the cluster run and have made the barriers of theirs.
void awaitClusterMemory(ProgramLowering &lowering);

/// Stores `value` to `address`, of shared memory of a block of the cluster; the
/// store counts at `barrier`, of the same block, with its 4, 8 or 16 bytes.
void sendAsync(ThreadBuilder &builder, Value value, unsigned bytes,
               Value address, Value barrier);

/// Of shared memory of any block of the cluster.
LLVM::LLVMPointerType getClusterPointerType(MLIRContext *context);

/// Arrives at a barrier of any block of the cluster.
void arriveAt(ThreadBuilder &builder, Value remote);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_CLUSTERBARRIERS_H
