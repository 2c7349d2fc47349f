//===- CostModel.cpp - Predicted time of a kernel -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements occupancy, the register estimate and the time of a
// kernel.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/CostModel.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace mlir::fusion;

double KernelCost::uniqueBytes() const {
  double bytes = 0;
  for (const AccessCost &access : accesses)
    bytes += access.uniqueBytes;
  return bytes;
}

double mlir::fusion::coalescingFactor(double strideBytes, double elementBytes) {
  if (strideBytes <= elementBytes || elementBytes <= 0)
    return 1;
  return std::min(strideBytes, std::max(cost::kSectorBytes, elementBytes)) /
         elementBytes;
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

int64_t mlir::fusion::getRegisterLimit(int64_t threads,
                                       const TargetInfo &target) {
  int64_t warps = llvm::divideCeil(std::max<int64_t>(threads, 1), kWarpThreads);
  int64_t ofWarp = target.registersPerSM / warps / target.registerGranularity *
                   target.registerGranularity;
  return std::clamp<int64_t>(ofWarp / kWarpThreads, 1,
                             target.maxRegistersPerThread);
}

Occupancy mlir::fusion::computeOccupancy(const KernelShape &shape,
                                         const TargetInfo &target) {
  Occupancy result;
  int64_t warps =
      llvm::divideCeil(std::max<int64_t>(shape.threads, 1), kWarpThreads);
  int64_t threads = warps * kWarpThreads;
  if (threads > target.maxThreadsPerBlock)
    return result;
  if (shape.sharedBytes > target.maxSharedPerBlock) {
    result.limit = OccupancyLimit::Shared;
    return result;
  }

  int64_t registers = std::clamp<int64_t>(shape.registers, 1,
                                          getRegisterLimit(threads, target));
  int64_t registersPerWarp =
      llvm::alignTo(registers * kWarpThreads, target.registerGranularity);
  int64_t sharedPerBlock = shape.sharedBytes + target.reservedSharedPerBlock;

  std::pair<int64_t, OccupancyLimit> limits[] = {
      {target.maxThreadsPerSM / threads, OccupancyLimit::Threads},
      {target.maxBlocksPerSM, OccupancyLimit::Blocks},
      {target.registersPerSM / (registersPerWarp * warps),
       OccupancyLimit::Registers},
      {target.sharedPerSM / sharedPerBlock, OccupancyLimit::Shared}};
  auto *tightest = std::min_element(
      std::begin(limits), std::end(limits),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  result.blocksPerSM = tightest->first;
  result.limit = tightest->second;
  result.fraction = static_cast<double>(result.blocksPerSM * threads) /
                    static_cast<double>(target.maxThreadsPerSM);
  return result;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

int64_t mlir::fusion::estimateRegisters(llvm::ArrayRef<LiveValue> values,
                                        int64_t numOperands) {
  // A sweep over the points where values begin and end.
  llvm::SmallVector<std::pair<int64_t, double>> changes;
  changes.reserve(2 * values.size());
  for (const LiveValue &value : values) {
    changes.emplace_back(value.begin, value.registers);
    changes.emplace_back(value.end + 1, -value.registers);
  }
  // At equal points what ends goes first.
  std::sort(changes.begin(), changes.end());
  double live = 0, widest = 0;
  for (auto [point, change] : changes) {
    live += change;
    widest = std::max(widest, live);
  }
  return cost::kBaseRegisters + cost::kRegistersPerOperand * numOperands +
         static_cast<int64_t>(std::ceil(widest));
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

llvm::StringRef mlir::fusion::stringifyBound(Bound bound) {
  switch (bound) {
  case Bound::Launch:
    return "launch";
  case Bound::Memory:
    return "memory";
  case Bound::Tensor:
    return "tensor";
  case Bound::Fp32:
    return "fp32";
  case Bound::Fp64:
    return "fp64";
  case Bound::Sfu:
    return "sfu";
  case Bound::Shared:
    return "shared";
  }
  llvm_unreachable("not a bound");
}

int64_t mlir::fusion::getClusterSlots(int64_t size, const TargetInfo &target) {
  const KernelConstants &fitted = target.fitted.kernels;
  double share = size <= 2   ? 1
                 : size <= 8 ? fitted.clusterShare
                             : fitted.wideClusterShare;
  auto slots = static_cast<double>(target.numSMs) * share;
  return std::max<int64_t>(1, static_cast<int64_t>(slots) / size) * size;
}

/// Blocks of the kernel that are resident: of parts of the chip that have as
/// many SMs, clusters leave what has room for some of their blocks alone. Where
/// some of those that wait for each other have room, they wait for the others.
static int64_t countSlots(const KernelShape &shape, const Occupancy &occupancy,
                          const TargetInfo &target) {
  int64_t places = occupancy.blocksPerSM * target.numSMs;
  if (shape.together > 1)
    return std::max<int64_t>(places / shape.together, 1) * shape.together;
  if (shape.cluster == 1)
    return places;
  int64_t ofPart = places / target.fitted.kernels.clusterParts;
  return std::max<int64_t>(ofPart / shape.cluster, 1) * shape.cluster *
         target.fitted.kernels.clusterParts;
}

namespace {
/// How the blocks of a kernel fill the chip: `fullBlocks` of them in waves that
/// fill every slot, the rest in one last wave.
struct Waves {
  double blocks;
  double slots;
  double blocksPerSM;
  double fullBlocks;
  double tailBlocks;

  Waves(const KernelShape &shape, const Occupancy &occupancy,
        const TargetInfo &target)
      : blocks(static_cast<double>(std::max<int64_t>(shape.blocks, 1))),
        slots(static_cast<double>(countSlots(shape, occupancy, target))),
        blocksPerSM(static_cast<double>(occupancy.blocksPerSM)),
        fullBlocks(std::floor(blocks / slots) * slots),
        tailBlocks(blocks - fullBlocks) {}

  /// The time of work that takes `seconds` when `rate(n)` = 1, where `rate(n)`
  /// is the share of the full speed that n resident blocks reach.
  template <typename Rate>
  double stretch(double seconds, Rate rate) const {
    double time = 0;
    if (fullBlocks > 0)
      time += seconds * (fullBlocks / blocks) / rate(slots);
    if (tailBlocks > 0)
      time += seconds * (tailBlocks / blocks) / rate(tailBlocks);
    return time;
  }
};
} // namespace

namespace {
/// Bytes that pass DRAM, and those that pass L2.
struct Traffic {
  double dram = 0;
  double l2 = 0;
};
} // namespace

/// What `cost` reads, and what it writes.
static std::pair<Traffic, Traffic> splitTraffic(const KernelCost &cost,
                                                const TargetInfo &target) {
  Traffic reads, writes;
  for (const AccessCost &access : cost.accesses) {
    Traffic &own = access.isWrite ? writes : reads;
    double first = access.uniqueBytes * access.factor;
    double again = std::max(0.0, access.requestedBytes - access.uniqueBytes) *
                   access.factor;
    own.l2 += (first + again) * access.lineFactor;
    own.dram += first;
    if (access.reuseDistanceBytes > static_cast<double>(target.l2Bytes))
      own.dram += again;
  }
  return {reads, writes};
}

/// Seconds that memory takes: a rate is reached with enough SMs, each of which
/// can take only so much, and by reads with enough bytes in flight (Little's
/// law). Nobody waits for what is written.
static double estimateMemory(const KernelCost &cost, const KernelShape &shape,
                             const TargetInfo &target, const Waves &waves,
                             const Occupancy &occupancy,
                             int64_t spilledRegisters) {
  const KernelConstants &fitted = target.fitted.kernels;
  const RateConstants &rates = target.fitted.rates;
  const double threads = static_cast<double>(shape.threads);
  auto [reads, writes] = splitTraffic(cost, target);
  double spillBytes = std::max(fitted.spillBytes,
                               fitted.spillBytesOfStep * shape.spillingSteps) *
                      static_cast<double>(spilledRegisters) * threads *
                      waves.blocks;
  auto estimate = [&](double bytes, double peak, double bytesPerClockPerSM,
                      double latency) {
    return waves.stretch(bytes / peak, [&](double blocks) {
      double activeSMs = std::min(blocks, static_cast<double>(target.numSMs));
      double perSM = activeSMs * bytesPerClockPerSM * target.clockHz;
      double inFlight =
          blocks * threads * std::max(shape.bytesInFlightPerThread, 1.0);
      double share = std::min(1.0, perSM / peak);
      return latency > 0 ? std::min(share, inFlight / (peak * latency)) : share;
    });
  };
  auto ofDram = [&](double bytes, bool isRead) {
    return estimate(bytes, rates.dramBytesPerSecond,
                    rates.dramBytesPerClockAlone,
                    isRead ? rates.dramLatencySeconds : 0);
  };
  auto ofL2 = [&](double bytes, bool isRead) {
    return estimate(bytes, target.l2BytesPerSecond(),
                    rates.l2BytesPerClockAlone,
                    isRead ? rates.l2LatencySeconds : 0);
  };
  // The first cache is what blocks leave of shared memory.
  auto ofSM = static_cast<double>(occupancy.blocksPerSM);
  bool inL1 =
      cost.keptInL1 &&
      ofSM * (cost.sweptOfBlock + static_cast<double>(shape.sharedBytes)) <=
          fitted.keptInL1 * static_cast<double>(target.sharedPerSM);
  // What a later sweep reads again, all resident blocks have read meanwhile.
  double resident =
      std::min(waves.blocks, ofSM * static_cast<double>(target.numSMs));
  bool inL2 = cost.sweptOfBlock * resident <=
              fitted.keptInL2 * static_cast<double>(target.l2Bytes);
  double sweepRate = inL1   ? target.sharedBytesPerSecond()
                     : inL2 ? target.l2BytesPerSecond()
                            : rates.dramBytesPerSecond;
  double sweepTime =
      inL1 ? estimate(cost.sweptBytes, sweepRate, rates.sharedBytesPerClock, 0)
      : inL2 ? ofL2(cost.sweptBytes, /*isRead=*/true)
             : ofDram(cost.sweptBytes, /*isRead=*/true);
  double atPeak =
      std::max((reads.dram + writes.dram) / rates.dramBytesPerSecond,
               (reads.l2 + writes.l2) / target.l2BytesPerSecond()) +
      cost.sweptBytes / sweepRate + ofL2(spillBytes, /*isRead=*/false);
  double memory =
      std::max(ofDram(reads.dram, /*isRead=*/true) + ofDram(writes.dram, false),
               ofL2(reads.l2, /*isRead=*/true) + ofL2(writes.l2, false)) +
      sweepTime + ofL2(spillBytes, /*isRead=*/false);
  double stores =
      cost.storeClocks / (static_cast<double>(target.numSMs) * target.clockHz);
  // The first loads' way is among the steps of the launch.
  return std::max(atPeak, memory - rates.dramLatencySeconds) + stores;
}

/// Sets the seconds of arithmetic, and of shared memory: the fullest SM
/// decides.
static void estimateArithmetic(const KernelCost &cost, const KernelShape &shape,
                               const TargetInfo &target, const Waves &waves,
                               KernelTime &time) {
  const KernelConstants &fitted = target.fitted.kernels;
  const double numSMs = static_cast<double>(target.numSMs);
  const double threads = static_cast<double>(shape.threads);
  auto computeRate = [&](double blocks) {
    double fullest = std::ceil(blocks / numSMs);
    double balance = blocks / (fullest * numSMs);
    // Of products, what threads compute beside them is fitted at the full rate.
    double busy =
        cost.tensorFlops > 0
            ? 1
            : fullest * threads / (fullest * threads + fitted.halfRateThreads);
    return balance * busy;
  };
  auto compute = [&](double amount, double rate) {
    return amount > 0 ? waves.stretch(amount / rate, computeRate) : 0;
  };
  time.tensor =
      compute(cost.tensorFlops, target.fitted.rates.tensorFlopsPerSecond);
  time.fp32 = compute(cost.fp32Flops, target.fp32FlopsPerSecond());
  time.fp64 = compute(cost.fp64Flops, target.fp64FlopsPerSecond());
  time.sfu = compute(cost.sfuOps, target.sfuPerSecond());
  time.shared = compute(cost.sharedBytes, target.sharedBytesPerSecond());
}

/// Seconds of memory with those that later rounds of blocks wait: in `steps` in
/// all, in `exchanges` for other blocks.
static double exposeWaits(const KernelCost &cost, const KernelTime &time,
                          double steps, double exchanges, double groups,
                          const KernelConstants &fitted) {
  if (cost.reductionSteps + cost.gridSteps + cost.clusterSteps == 0)
    return time.memory;
  // Of few groups all are at the same step.
  if (cost.gridSteps > 0 && groups <= fitted.groupsInStep)
    return time.memory + (std::ceil(time.waves) - 1) * steps;
  // What a block waits for, others of its multiprocessor use. Those that wait
  // for each other are in step: they load, then wait.
  auto ofSM = static_cast<double>(time.occupancy.blocksPerSM);
  double inStep =
      time.memory + std::max(0.0, time.waves - 1) * exchanges / ofSM;
  double inTurns = (std::ceil(time.waves) - 1) * steps + time.memory / ofSM;
  return std::max(inStep, inTurns);
}

/// Sets what bounds the kernel, and the seconds of all it does.
static void sumTerms(const KernelCost &cost, const KernelConstants &fitted,
                     KernelTime &time) {
  std::pair<double, Bound> terms[] = {{time.tensor, Bound::Tensor},
                                      {time.fp32, Bound::Fp32},
                                      {time.fp64, Bound::Fp64},
                                      {time.sfu, Bound::Sfu},
                                      {time.shared, Bound::Shared}};
  double compute = 0, sum = 0;
  time.bound = Bound::Memory;
  for (auto [seconds, bound] : terms) {
    sum += seconds;
    if (seconds <= compute)
      continue;
    compute = seconds;
    if (compute > time.memory)
      time.bound = bound;
  }
  double largest = std::max(compute, time.memory);
  if (largest < time.launch)
    time.bound = Bound::Launch;
  // A block that is alone on its multiprocessor loads, then computes; but for
  // what it loads ahead. Its warps keep all of its units busy.
  auto ofSM = static_cast<double>(time.occupancy.blocksPerSM);
  double beside =
      cost.tensorFlops > 0 ? ofSM : std::clamp(time.waves * ofSM, 1.0, ofSM);
  double alone = 1 / (beside * beside);
  time.overlap = fitted.overlap;
  time.hidden = std::min(fitted.overlap * (1 - alone * (1 - cost.aheadShare)),
                         1 - cost.exposedShare);
  time.total = time.launch + largest + (1 - time.overlap) * (sum - compute) +
               (1 - time.hidden) * std::min(compute, time.memory);
}

KernelTime mlir::fusion::estimateTime(const KernelCost &cost,
                                      const KernelShape &shape,
                                      const TargetInfo &target) {
  const KernelConstants &fitted = target.fitted.kernels;
  KernelTime time;
  time.occupancy = computeOccupancy(shape, target);
  if (time.occupancy.blocksPerSM == 0) {
    time.total = std::numeric_limits<double>::infinity();
    return time;
  }
  Waves waves(shape, time.occupancy, target);
  time.waves = waves.blocks / waves.slots;
  time.spilledRegisters = std::max<int64_t>(
      0, shape.registers - getRegisterLimit(shape.threads, target));
  time.memory = estimateMemory(cost, shape, target, waves, time.occupancy,
                               time.spilledRegisters);
  estimateArithmetic(cost, shape, target, waves, time);
  double exchanges = cost.gridSteps * fitted.gridStepSeconds +
                     cost.clusterSteps * fitted.clusterStepSeconds;
  double steps = target.fitted.rates.dramLatencySeconds +
                 cost.reductionSteps * fitted.reductionStepSeconds + exchanges;
  time.launch = target.fitted.rates.launchSeconds + steps;
  time.memory =
      exposeWaits(cost, time, steps, exchanges,
                  waves.slots / static_cast<double>(shape.together), fitted);
  sumTerms(cost, fitted, time);
  // One after the other they begin, however little each does.
  double begun = time.launch +
                 static_cast<double>(shape.blocks) * fitted.blockStartSeconds;
  if (begun > time.total) {
    time.launch += begun - time.total;
    time.total = begun;
  }
  return time;
}
