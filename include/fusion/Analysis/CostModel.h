//===- CostModel.h - Predicted time of a kernel -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the cost model: pure functions from what a kernel does
// (KernelCost) and how it is launched (KernelShape) to its time on a target.
// The formulas and constants are explained in docs/CostModel.md.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_COSTMODEL_H
#define FUSION_ANALYSIS_COSTMODEL_H

#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Support/Hardware.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace mlir::fusion {

//===----------------------------------------------------------------------===//
// Constants that no chip changes; others are in FittedConstants.def
//===----------------------------------------------------------------------===//

namespace cost {
/// Of a sector, as prices count.
constexpr double kSectorBytes = fusion::kSectorBytes;
/// Registers of every kernel: addresses, indices, parameters, temporaries.
constexpr int64_t kBaseRegisters = 16;
/// Registers of the address of one more operand.
constexpr int64_t kRegistersPerOperand = 2;
/// Registers that an estimate may be short of.
constexpr int64_t kRegisterError = 12;
} // namespace cost

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// What a kernel does to one tensor in global memory.
struct AccessCost {
  /// Bytes of the part of the tensor that is touched, each counted once.
  double uniqueBytes = 0;
  /// Bytes that blocks ask L2 for; at least `uniqueBytes` when a part is read
  /// more than once.
  double requestedBytes = 0;
  /// Bytes touched between two reads of the same byte. Decides whether the
  /// second read is served by L2 or by DRAM.
  double reuseDistanceBytes = 0;
  /// Bytes moved for each byte used: 1 when neighbouring threads read
  /// neighbouring elements, up to a sector for each element when they do not.
  double factor = 1;
  /// Bytes that L2 is busy for, for each byte that is moved: a store of a part
  /// of a line takes the turn of all of it.
  double lineFactor = 1;
  bool isWrite = false;
};

/// What a kernel does, whatever its launch.
struct KernelCost {
  llvm::SmallVector<AccessCost> accesses;
  double fp32Flops = 0;
  double fp64Flops = 0;
  /// Flops that run on the tensor cores.
  double tensorFlops = 0;
  double sfuOps = 0;
  /// Bytes that pass through shared memory or L1.
  double sharedBytes = 0;
  /// Bytes that later sweeps of blocks over what they walk ask for: nothing
  /// else is read meanwhile.
  double sweptBytes = 0;
  /// What one block sweeps: of those that are resident together, L2 may hold
  /// it, or the first cache of their multiprocessor.
  double sweptOfBlock = 0;
  bool keptInL1 = true;
  /// Steps in which a block waits for all its threads, in sequence.
  double reductionSteps = 0;
  /// Steps in which co-resident blocks wait for each other, in sequence.
  double gridSteps = 0;
  /// The same of blocks of a cluster.
  double clusterSteps = 0;
  /// Of what blocks load, the share that they load ahead of what they compute.
  double aheadShare = 0;
  /// Of the smaller of memory and arithmetic, what is not hidden at least.
  double exposedShare = 0;
  /// Clocks of multiprocessors in which stores wait for lines that each of them
  /// fills in part.
  double storeClocks = 0;

  /// Bytes read from and written to memory, each element once: the figure of
  /// the report.
  double uniqueBytes() const;
  double flops() const { return fp32Flops + fp64Flops + tensorFlops; }
};

/// How a kernel is launched.
struct KernelShape {
  int64_t blocks = 1;
  /// Blocks that are resident together in one group of SMs.
  int64_t cluster = 1;
  /// Blocks that wait for each other through memory, wherever they are.
  int64_t together = 1;
  int64_t threads = 128;
  /// Registers a thread; more than the target's limit are spilled, at a price.
  int64_t registers = cost::kBaseRegisters;
  /// Steps of a walk, in each of which they are stored and loaded again; 0
  /// where a thread goes through its code once.
  double spillingSteps = 0;
  /// Shared memory of a block in bytes.
  int64_t sharedBytes = 0;
  /// Bytes that a thread has asked for and not received, on average.
  double bytesInFlightPerThread = 16;
};

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

enum class OccupancyLimit { Threads, Blocks, Registers, Shared };

struct Occupancy {
  /// Blocks that one SM holds at a time; 0 when a block does not fit at all.
  int64_t blocksPerSM = 0;
  OccupancyLimit limit = OccupancyLimit::Threads;
  /// Resident threads over the threads that an SM can hold.
  double fraction = 0;
};

/// Registers that a thread of a block of so many can have.
int64_t getRegisterLimit(int64_t threads, const TargetInfo &target);

/// Blocks of `shape` that one SM of `target` holds, and what limits them.
/// Registers above the limit of a thread count as that limit.
Occupancy computeOccupancy(const KernelShape &shape, const TargetInfo &target);

/// Blocks of clusters of `size` that find room together for sure, one on each
/// SM. Clusters lie in one of the chip's parts, of which some SMs remain, how
/// many of them differs between chips of one kind.
int64_t getClusterSlots(int64_t size, const TargetInfo &target);

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// A value that a thread holds from program point `begin` to `end`, both
/// included.
struct LiveValue {
  int64_t begin = 0;
  int64_t end = 0;
  double registers = 0;
};

/// Registers a thread needs: the widest program point of `values`, a base, and
/// the addresses of `numOperands` tensors. May exceed a target's limit.
int64_t estimateRegisters(llvm::ArrayRef<LiveValue> values,
                          int64_t numOperands);

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

enum class Bound { Launch, Memory, Tensor, Fp32, Fp64, Sfu, Shared };

llvm::StringRef stringifyBound(Bound bound);

/// The predicted time of a kernel and its terms, in seconds.
struct KernelTime {
  double total = 0;
  double launch = 0;
  double memory = 0;
  double tensor = 0;
  double fp32 = 0;
  double fp64 = 0;
  double sfu = 0;
  double shared = 0;
  /// What memory and the largest of the other terms hide of each other, and
  /// what that one hides of the rest: the total is launch + the larger + (1 -
  /// hidden) * the smaller + (1 - overlap) * the rest.
  double hidden = 0;
  double overlap = 0;
  /// Waves of blocks over the chip; the last may be partly filled.
  double waves = 0;
  Occupancy occupancy;
  Bound bound = Bound::Launch;
  /// Registers a thread that do not fit and live in local memory.
  int64_t spilledRegisters = 0;
};

/// Predicts the time of a kernel. When a block does not fit an SM of the target
/// the total is infinite.
KernelTime estimateTime(const KernelCost &cost, const KernelShape &shape,
                        const TargetInfo &target);

/// Bytes moved for each byte used when consecutive threads read elements of
/// `elementBytes` that lie `strideBytes` apart: 1 up to a sector over the
/// element. A stride of 0 (all threads read one element) is 1.
double coalescingFactor(double strideBytes, double elementBytes);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_COSTMODEL_H
