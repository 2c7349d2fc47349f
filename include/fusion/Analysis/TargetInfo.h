//===- TargetInfo.h - Limits and rates of a GPU -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the description of a chip that the cost model, planning and
// scheduling read. It needs no GPU and no driver.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_TARGETINFO_H
#define FUSION_ANALYSIS_TARGETINFO_H

#include "fusion/Analysis/FittedConstants.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace mlir::fusion {

/// Limits and rates of one chip. Limits are those of the compute capability;
/// rates are those of the part named by `part`. Sizes are in bytes, rates per
/// second.
struct TargetInfo {
  llvm::StringLiteral name;
  llvm::StringLiteral part;

  int64_t numSMs;
  double clockHz;
  int64_t warpSize;

  int64_t registersPerSM;
  int64_t maxRegistersPerThread;
  /// Registers are given to a warp in units of this many.
  int64_t registerGranularity;
  int64_t maxThreadsPerSM;
  int64_t maxThreadsPerBlock;
  int64_t maxBlocksPerSM;
  /// Blocks of a cluster, which always find room together; 1 without clusters.
  int64_t maxBlocksPerCluster;

  int64_t sharedPerSM;
  int64_t maxSharedPerBlock;
  /// Shared memory that the system takes from each resident block.
  int64_t reservedSharedPerBlock;
  int64_t l2Bytes;

  double dramBytesPerSecond;
  double l2BytesPerSecond;
  /// What one SM can take from L2, and from DRAM through it, in bytes a clock.
  double l2BytesPerClockPerSM;
  double dramBytesPerClockPerSM;
  /// Shared memory traffic of one SM, in bytes a clock.
  double sharedBytesPerClockPerSM;

  double fp32FlopsPerSecond;
  double fp64FlopsPerSecond;
  /// Dense bf16 or f16 products accumulated in f32.
  double tensorFlopsPerSecond;
  /// Special functions (exp2, log2, reciprocal, ...) of one SM a clock.
  double sfuPerClockPerSM;

  /// Threads that wait for an mbarrier are suspended.
  bool hasWaitingBarriers;
  /// Warpgroups multiply what tensor copies bring (wgmma, TMA, mbarriers).
  bool hasWarpgroups;
  /// Single warps multiply float8 (mma.sync).
  bool hasFloat8Products;
  /// The share of tensorFlopsPerSecond that products of single warps (mma.sync)
  /// reach: 1 where there are no others.
  double warpProductShare;

  /// What one more kernel costs in a CUDA graph, its work aside.
  double launchSeconds;
  /// One round trip to DRAM: no kernel that reads is shorter.
  double dramLatencySeconds;

  /// What was measured of the chip, or of the one that is most like it.
  FittedConstants fitted;

  /// Special functions a second, of the whole chip.
  double sfuPerSecond() const { return sfuPerClockPerSM * numSMs * clockHz; }
  /// Shared memory bytes a second, of the whole chip.
  double sharedBytesPerSecond() const {
    return sharedBytesPerClockPerSM * numSMs * clockHz;
  }
};

/// The chips known, oldest first.
llvm::ArrayRef<TargetInfo> getKnownTargets();

/// The chip called `name`, or null.
const TargetInfo *lookupTarget(llvm::StringRef name);

/// The chip called `name`, or an error that names the nearest one known and
/// lists all.
llvm::Expected<const TargetInfo *> getTarget(llvm::StringRef name);

/// The chip whose code suits a device of compute capability `major`.`minor`
/// best: itself, with the instructions that only it has where code uses them,
/// or else the newest whose code the device can run; null if there is none.
const TargetInfo *findTargetFor(int major, int minor);

/// The chip that is compiled for when none is named.
const TargetInfo &getDefaultTarget();

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_TARGETINFO_H
