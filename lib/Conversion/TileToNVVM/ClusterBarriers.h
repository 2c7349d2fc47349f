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

/// Arrives at the cluster's barrier, and waits there for all threads of all
/// blocks.
void arriveAtCluster(ThreadBuilder &builder);
void waitForCluster(ThreadBuilder &builder);

/// Of shared memory of any block of the cluster.
LLVM::LLVMPointerType getClusterPointerType(MLIRContext *context);

/// Arrives at a barrier of any block of the cluster.
void arriveAt(ThreadBuilder &builder, Value remote);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_CLUSTERBARRIERS_H
