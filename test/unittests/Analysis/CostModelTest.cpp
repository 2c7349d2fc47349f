//===- CostModelTest.cpp - Tests of the cost model ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests occupancy, the register estimate and the time of a kernel
// against values worked out by hand.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/CostModel.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir::fusion;

namespace {

const TargetInfo &h200() { return *lookupTarget("sm_90a"); }

KernelShape makeShape(int64_t blocks, int64_t threads, int64_t registers = 32,
                      int64_t shared = 0) {
  KernelShape shape;
  shape.blocks = blocks;
  shape.threads = threads;
  shape.registers = registers;
  shape.sharedBytes = shared;
  shape.bytesInFlightPerThread = 32;
  return shape;
}

/// A kernel that reads and writes `bytes` each, in order.
KernelCost makeCopy(double bytes) {
  KernelCost cost;
  cost.accesses.push_back({bytes, bytes, bytes, 1, false});
  cost.accesses.push_back({bytes, bytes, bytes, 1, true});
  return cost;
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

TEST(OccupancyTest, LimitedByThreads) {
  Occupancy occupancy = computeOccupancy(makeShape(1, 256, 32), h200());
  EXPECT_EQ(occupancy.blocksPerSM, 8);
  EXPECT_EQ(occupancy.limit, OccupancyLimit::Threads);
  EXPECT_DOUBLE_EQ(occupancy.fraction, 1.0);
}

TEST(OccupancyTest, LimitedByRegisters) {
  // 128 registers x 32 lanes = 4096 a warp, 8 warps a block: 65536 / 32768.
  Occupancy occupancy = computeOccupancy(makeShape(1, 256, 128), h200());
  EXPECT_EQ(occupancy.blocksPerSM, 2);
  EXPECT_EQ(occupancy.limit, OccupancyLimit::Registers);
  EXPECT_DOUBLE_EQ(occupancy.fraction, 0.25);
}

TEST(OccupancyTest, RegistersAreGivenInUnits) {
  // 33 registers x 32 = 1056, rounded up to 1280 a warp; 65536 / 1280 = 51
  // warps, in blocks of 8 that is 6.
  EXPECT_EQ(computeOccupancy(makeShape(1, 256, 33), h200()).blocksPerSM, 6);
}

TEST(OccupancyTest, LimitedBySharedMemory) {
  // (100 + 1) KiB a block of 228.
  Occupancy occupancy =
      computeOccupancy(makeShape(1, 128, 32, 100 * 1024), h200());
  EXPECT_EQ(occupancy.blocksPerSM, 2);
  EXPECT_EQ(occupancy.limit, OccupancyLimit::Shared);
}

TEST(OccupancyTest, BlocksThatDoNotFit) {
  EXPECT_EQ(computeOccupancy(makeShape(1, 2048), h200()).blocksPerSM, 0);
  EXPECT_EQ(
      computeOccupancy(makeShape(1, 128, 32, 228 * 1024), h200()).blocksPerSM,
      0);
  EXPECT_TRUE(std::isinf(
      estimateTime(makeCopy(1e6), makeShape(1, 2048), h200()).total));
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

TEST(RegistersTest, WidestPointNotTheSum) {
  // Lives 0-1, 1-2, 2-3: two at most are live together.
  LiveValue values[] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}};
  EXPECT_EQ(estimateRegisters(values, 0), cost::kBaseRegisters + 8);
}

TEST(RegistersTest, OperandsCostAddresses) {
  EXPECT_EQ(estimateRegisters({}, 3),
            cost::kBaseRegisters + 3 * cost::kRegistersPerOperand);
}

TEST(RegistersTest, FractionsRoundUp) {
  LiveValue values[] = {{0, 0, 1.5}, {0, 0, 1.0}};
  EXPECT_EQ(estimateRegisters(values, 0), cost::kBaseRegisters + 3);
}

//===----------------------------------------------------------------------===//
// Coalescing
//===----------------------------------------------------------------------===//

TEST(CoalescingTest, FromOrderedToASectorAnElement) {
  EXPECT_DOUBLE_EQ(coalescingFactor(4, 4), 1);
  EXPECT_DOUBLE_EQ(coalescingFactor(0, 4), 1);
  EXPECT_DOUBLE_EQ(coalescingFactor(8, 4), 2);
  EXPECT_DOUBLE_EQ(coalescingFactor(4096, 4), 8);
  EXPECT_DOUBLE_EQ(coalescingFactor(4096, 2), 16);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

TEST(TimeTest, LargeCopyRunsAtTheCopyRate) {
  KernelTime time =
      estimateTime(makeCopy(268e6), makeShape(65536, 256), h200());
  double floor = 2 * 268e6 / 4.38e12;
  EXPECT_GE(time.total, floor);
  EXPECT_LE(time.total, 1.05 * floor);
  EXPECT_EQ(time.bound, Bound::Memory);
}

TEST(TimeTest, TinyKernelCostsALaunch) {
  KernelTime time = estimateTime(makeCopy(1024), makeShape(1, 128), h200());
  EXPECT_EQ(time.bound, Bound::Launch);
  EXPECT_GE(time.total, h200().fitted.rates.launchSeconds);
  EXPECT_LE(time.total, 1.2 * (h200().fitted.rates.launchSeconds +
                               h200().fitted.rates.dramLatencySeconds));
}

TEST(TimeTest, FewBlocksStarveTheBandwidth) {
  KernelTime few = estimateTime(makeCopy(64e6), makeShape(8, 1024), h200());
  KernelTime many = estimateTime(makeCopy(64e6), makeShape(528, 1024), h200());
  // Eight SMs take 32 bytes a clock each.
  double starved = 128e6 / (8 * 32 * 1.98e9);
  EXPECT_GE(few.memory, starved * (1 - 1e-9));
  EXPECT_LT(many.memory, few.memory / 5);
}

TEST(TimeTest, ScatteredReadsCostTheirSectors) {
  KernelCost cost = makeCopy(64e6);
  double ordered = estimateTime(cost, makeShape(65536, 256), h200()).memory;
  cost.accesses[0].factor = coalescingFactor(4096, 4);
  double scattered = estimateTime(cost, makeShape(65536, 256), h200()).memory;
  // (8 + 1) / (1 + 1).
  EXPECT_NEAR(scattered / ordered, 4.5, 1e-9);
}

TEST(TimeTest, RepeatedReadsComeFromL2WhileTheyFit) {
  KernelCost cost = makeCopy(16e6);
  cost.accesses[0].requestedBytes = 4 * 16e6;
  KernelShape shape = makeShape(65536, 256);
  double near = estimateTime(cost, shape, h200()).memory;
  cost.accesses[0].reuseDistanceBytes = 1e9;
  double far = estimateTime(cost, shape, h200()).memory;
  EXPECT_NEAR(far, (4 + 1) * 16e6 / 4.38e12, 0.02 * far);
  EXPECT_LT(near, far);
}

TEST(TimeTest, NobodyWaitsForWhatIsWritten) {
  // One warp, which has far fewer bytes on their way than memory takes.
  KernelShape shape = makeShape(1, 32);
  KernelCost reads, writes;
  reads.accesses.push_back({1e6, 1e6, 0, 1, 1, /*isWrite=*/false});
  writes.accesses.push_back({1e6, 1e6, 0, 1, 1, /*isWrite=*/true});
  const RateConstants &rates = h200().fitted.rates;
  double perSecond = 32 * shape.bytesInFlightPerThread;
  EXPECT_NEAR(estimateTime(reads, shape, h200()).memory,
              (1e6 / perSecond - 1) * rates.dramLatencySeconds, 1e-9);
  EXPECT_NEAR(estimateTime(writes, shape, h200()).memory,
              1e6 / (rates.dramBytesPerClockAlone * h200().clockHz) -
                  rates.dramLatencySeconds,
              1e-9);
}

TEST(TimeTest, StoresOfPartsOfLinesTakeAllOfThem) {
  KernelCost cost = makeCopy(64e6);
  KernelShape shape = makeShape(65536, 256);
  double whole = estimateTime(cost, shape, h200()).memory;
  cost.accesses[1].lineFactor = 8;
  double parts = estimateTime(cost, shape, h200()).memory;
  EXPECT_LT(whole, parts);
  // But for one round trip, and the share of a last wave.
  EXPECT_NEAR(parts, 9 * 64e6 / h200().l2BytesPerSecond(), 0.15 * parts);
}

TEST(TimeTest, WavesAndTails) {
  KernelCost cost;
  cost.fp32Flops = 1e9;
  // One block an SM at a time.
  KernelShape shape = makeShape(132, 1024, 64, 200 * 1024);
  KernelTime full = estimateTime(cost, shape, h200());
  EXPECT_DOUBLE_EQ(full.waves, 1.0);
  double half = h200().fitted.kernels.halfRateThreads;
  EXPECT_NEAR(full.fp32,
              1e9 / h200().fp32FlopsPerSecond() * (1024 + half) / 1024, 1e-12);
  // One block more is a second wave: 2 x 132/133 of the time.
  shape.blocks = 133;
  KernelTime tail = estimateTime(cost, shape, h200());
  EXPECT_NEAR(tail.fp32 / full.fp32, 2.0 * 132 / 133, 1e-9);
}

TEST(TimeTest, ClustersLeaveMultiprocessorsIdle) {
  KernelCost cost;
  cost.fp32Flops = 1e9;
  // Two blocks an SM, in eight parts of the chip: 33 places in each.
  KernelShape shape = makeShape(252, 1024, 32, 100 * 1024);
  EXPECT_LT(estimateTime(cost, shape, h200()).waves, 1);
  shape.cluster = 3;
  EXPECT_DOUBLE_EQ(estimateTime(cost, shape, h200()).waves, 252.0 / 264);
  shape.cluster = 7;
  EXPECT_DOUBLE_EQ(estimateTime(cost, shape, h200()).waves, 252.0 / 224);
}

TEST(TimeTest, ThreadsMakeTheMoreOfTheRateTheMoreTheyAre) {
  KernelCost cost;
  cost.fp32Flops = 1e12;
  auto timeWith = [&](int64_t threads) {
    // One block an SM at a time.
    return estimateTime(cost, makeShape(132, threads, 64, 200 * 1024), h200())
        .fp32;
  };
  double half = h200().fitted.kernels.halfRateThreads;
  EXPECT_NEAR(timeWith(128) / timeWith(1024),
              (1 + half / 128) / (1 + half / 1024), 1e-9);
}

TEST(TimeTest, LaterRoundsOfBlocksWaitAgain) {
  KernelCost alone = makeCopy(64e6), cluster = alone, grid = alone;
  cluster.clusterSteps = grid.gridSteps = 2;
  // Four rounds of one block an SM.
  KernelShape shape = makeShape(4 * 132, 1024, 64, 200 * 1024);
  auto memoryOf = [&](const KernelCost &cost) {
    return estimateTime(cost, shape, h200()).memory;
  };
  EXPECT_LT(memoryOf(alone), memoryOf(cluster));
  const KernelConstants &fitted = h200().fitted.kernels;
  EXPECT_NEAR(memoryOf(grid) - memoryOf(cluster),
              3 * 2 * (fitted.gridStepSeconds - fitted.clusterStepSeconds),
              1e-12);
}

TEST(TimeTest, BlocksOfAMultiprocessorUseWhatOneWaits) {
  KernelCost alone = makeCopy(64e6), block = alone, grid = alone;
  block.reductionSteps = 1;
  grid.gridSteps = 1;
  auto waitsOf = [&](const KernelCost &cost, int64_t blocks, int64_t shared) {
    KernelShape shape = makeShape(blocks, 1024, 32, shared);
    return estimateTime(cost, shape, h200()).memory -
           estimateTime(alone, shape, h200()).memory;
  };
  const FittedConstants &fitted = h200().fitted;
  double latency = fitted.rates.dramLatencySeconds;
  // Four rounds of one block an SM.
  EXPECT_NEAR(waitsOf(block, 4 * 132, 200 * 1024),
              3 * (latency + fitted.kernels.reductionStepSeconds), 1e-12);
  EXPECT_NEAR(waitsOf(grid, 4 * 132, 200 * 1024),
              3 * (latency + fitted.kernels.gridStepSeconds), 1e-12);
  // And of two, which wait for others in step.
  EXPECT_EQ(waitsOf(block, 8 * 132, 100 * 1024), 0);
  EXPECT_NEAR(waitsOf(grid, 8 * 132, 100 * 1024),
              3 * fitted.kernels.gridStepSeconds / 2, 1e-12);
}

TEST(TimeTest, UnitsOverlapWhereBlocksAreAlone) {
  KernelCost cost = makeCopy(64e6);
  cost.fp32Flops = 2e9;
  cost.sfuOps = 1e8;
  KernelTime time =
      estimateTime(cost, makeShape(1320, 1024, 64, 200 * 1024), h200());
  EXPECT_EQ(time.hidden, 0);
  EXPECT_NEAR(time.total,
              time.launch + time.memory + std::max(time.fp32, time.sfu) +
                  (1 - time.overlap) * std::min(time.fp32, time.sfu),
              1e-12);
}

TEST(TimeTest, TheLargestTermDecidesAndOthersOverlap) {
  KernelCost cost = makeCopy(64e6);
  cost.tensorFlops = 1e12;
  KernelTime time = estimateTime(cost, makeShape(66000, 256), h200());
  EXPECT_EQ(time.bound, Bound::Tensor);
  auto blocks = static_cast<double>(time.occupancy.blocksPerSM);
  double overlap = h200().fitted.kernels.overlap * (1 - 1 / (blocks * blocks));
  EXPECT_NEAR(time.total,
              time.launch + time.tensor + (1 - overlap) * time.memory, 1e-12);
  // A block that is alone loads, then computes.
  KernelTime alone =
      estimateTime(cost, makeShape(66000, 1024, 64, 200 * 1024), h200());
  EXPECT_EQ(alone.occupancy.blocksPerSM, 1);
  EXPECT_NEAR(alone.total, alone.launch + alone.tensor + alone.memory, 1e-12);
}

TEST(TimeTest, SpillsHaveAPriceNotACliff) {
  KernelCost cost = makeCopy(64e6);
  double first = estimateTime(cost, makeShape(4096, 256, 255), h200()).total;
  double previous = first;
  for (int64_t registers : {263, 320, 512}) {
    KernelTime time =
        estimateTime(cost, makeShape(4096, 256, registers), h200());
    EXPECT_EQ(time.spilledRegisters, registers - 255);
    EXPECT_GE(time.total, previous);
    EXPECT_LT(time.total, 100 * previous);
    previous = time.total;
  }
  EXPECT_GT(previous, 1.2 * first);
}

TEST(TimeTest, EveryTargetPricesTheSameKernel) {
  for (const TargetInfo &target : getKnownTargets()) {
    KernelTime time =
        estimateTime(makeCopy(64e6), makeShape(4096, 256), target);
    EXPECT_GT(time.total, 128e6 / target.fitted.rates.dramBytesPerSecond)
        << target.name.str();
    EXPECT_TRUE(std::isfinite(time.total));
  }
}

} // namespace
