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
/// rates (`fitted.rates`) are those of the part named by `part`. Sizes are in
/// bytes.
struct TargetInfo {
  llvm::StringLiteral name;
  llvm::StringLiteral part;

  int64_t numSMs;
  double clockHz;

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

  /// Threads that wait for an mbarrier are suspended.
  bool hasWaitingBarriers;
  /// Warpgroups multiply what tensor copies bring (wgmma, TMA, mbarriers).
  bool hasWarpgroups;
  /// Single warps multiply float8 (mma.sync).
  bool hasFloat8Products;

  /// Rates, and what else was measured of the chip; what was not, of the one
  /// that is most like it.
  FittedConstants fitted;

  double l2BytesPerSecond() const {
    return fitted.rates.l2BytesPerClock * numSMs * clockHz;
  }
  double sharedBytesPerSecond() const {
    return fitted.rates.sharedBytesPerClock * numSMs * clockHz;
  }
  /// A multiply-add counts as two.
  double fp32FlopsPerSecond() const {
    return 2 * fitted.rates.fp32PerClock * numSMs * clockHz;
  }
  double fp64FlopsPerSecond() const {
    return 2 * fitted.rates.fp64PerClock * numSMs * clockHz;
  }
  /// Special functions.
  double sfuPerSecond() const {
    return fitted.rates.sfuPerClock * numSMs * clockHz;
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
