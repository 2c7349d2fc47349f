//===- FittedOnH200.cpp - What was measured of an H200 --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the constants fitted on one H200 SXM, with what they were
// fitted to. docs/CostModel.md has the errors of the models.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/FittedConstants.h"

using namespace mlir::fusion;

/// Driver 580, 2026-11-21.
static constexpr RateConstants getRates() {
  RateConstants c;
  // 64 dependent tiny kernels replayed from a CUDA graph in 119 us: 1.86 us a
  // kernel, a DRAM round trip included.
  c.launchSeconds = 1.2e-6;
  c.dramLatencySeconds = 0.66e-6;
  // What the walks of a second sweep take, 2026-11-24.
  c.l2LatencySeconds = 0.3e-6;
  // Data sheet: 4.8.
  c.dramBytesPerSecond = 4.38e12;
  // One block of 256 threads reads 114 GB/s, 2026-11-24.
  c.dramBytesPerClockAlone = 57;
  // Estimates.
  c.l2BytesPerClockAlone = 64;
  // A 6144 x 6144 x 6144 bf16 product in tiles of 128 x 128 took 0.64 ms, in
  // which L2 delivered 7.2 GB: 11.3 TB/s.
  c.l2BytesPerClock = 43;
  // The programming guide.
  c.sharedBytesPerClock = 128;
  c.fp32PerClock = 128;
  c.fp64PerClock = 64;
  c.sfuPerClock = 16;
  // cuBLAS; data sheet: 989.
  c.tensorFlopsPerSecond = 802e12;
  c.warpProductShare = 0.6;
  return c;
}

static constexpr KernelConstants getKernels() {
  KernelConstants c;
  // Blocks of one element a thread: 0.62 to 0.83 ns, 2026-11-24.
  c.blockStartSeconds = 0.65e-9;
  // Chosen 2026-11-21; XLA uses 0.95.
  c.overlap = 0.9;
  // 315 schedules of 120 reductions, norms and softmaxes, 2026-11-23.
  c.halfRateThreads = 100;
  // What one half of the chip reads from the other half's part is in both.
  c.keptInL2 = 0.5;
  // What is written passes it as well. With all of it, walks of 196 KB twice
  // were predicted a quarter too fast (H100, 2026-11-26).
  c.keptInL1 = 0.5;
  // A KL divergence over columns, 2026-11-23; norms take a quarter of it.
  c.spillBytes = 64;
  c.spillBytesOfStep = 8;
  c.reductionStepSeconds = 0.1e-6;
  // 205 schedules of 80 programs, of which two thirds, 2026-11-24: the fit says
  // 3.4 us, drawn programs less.
  c.gridStepSeconds = 3e-6;
  // Twelve schedules of softmaxes along 18 and 58 thousand rows of 224 to 320
  // columns, of 2 to 14 groups, 2026-11-26.
  c.groupsInStep = 16;
  // In clusters of 2 to 8; less makes seven blocks the choice where one is
  // faster (4096 rows of 50,000).
  c.clusterStepSeconds = 0.33e-6;
  c.clusterShare = 120.0 / 132;
  c.wideClusterShare = 112.0 / 132;
  // 36 clusters of 7, two blocks an SM, were resident 32 at a time.
  c.clusterParts = 8;
  c.transposeFactor = 1.1;
  // 41 rows and columns with one schedule and the other, 2026-11-23.
  c.alike = 1.01;
  c.leastGain = 0.1;
  // Sums of rows and columns of 1000x300 f32 took 8.0 us where two kernels of
  // one launch take 6.2, predicted as 4.6 and 4.9 (H100, 2026-11-25).
  c.finishedShare = 0.92;
  // No gain is predicted more exactly than that.
  c.joinedShare = 0.95;
  c.relativeShare = 0.9;
  // A few loads of 16 bytes.
  c.mostInFlight = 64;
  return c;
}

static constexpr LoopConstants getLoops() {
  LoopConstants c;
  c.accessInstructions = 8;
  // Beside those that the operations say.
  c.convertInstructions = 1;
  // 617 schedules of 100 pools, 2026-11-24.
  c.windowInstructions = 1.5;
  c.windowPass = 0.3;
  c.windowExposed = 0.3;
  c.windowRegisters = 0.8;
  c.mostWindowRegisters = 150;
  c.partialSector = 2;
  // 519 schedules of 58 pools, and 108 programs in both forms, 2026-11-26.
  c.partInstructions = 6;
  // Flat concatenations of two f16 or bf16 have 25 for each element in all
  // (nvdisasm).
  c.checkInstructions = 4;
  // A comparison and a branch.
  c.branchInstructions = 2;
  c.runningShare = 0.5;
  c.partialLineClocks = 3;
  c.shuffleInstructions = 1;
  c.functionInstructions = 8;
  c.vainLoad = 1;
  c.vainStore = 2;
  // A shuffle, a comparison and a selection.
  c.laneStepInstructions = 3;
  c.warpStepInstructions = 12;
  c.exchangeInstructions = 8;
  // ptxas, rows of 3 to 22 elements: stores, loads and what pads a row.
  c.rowExchangeInstructions = 3;
  c.carriedSteps = 3;
  // What ptxas gave kernels that keep 25 to 100 elements, 2026-11-23.
  c.elementsAtATime = 4;
  // 30 kernels that keep 16-bit elements, 2026-11-24.
  c.keptRegisters = 0.85;
  // Loads of 16 bytes, as many as wait for each other.
  c.mostInFlight = 256;
  // Walks by 1 to 256 blocks, 2026-11-24.
  c.walkingShare = 0.65;
  c.walkingSteps = 4;
  c.copyInstructions = 8;
  // 84 walks with and without, 2026-11-23: what several blocks of a
  // multiprocessor read is 0 to 9 % slower.
  c.copiedCost = 1.02;
  return c;
}

static constexpr LayoutConstants getLayouts() {
  LayoutConstants c;
  c.accessInstructions = 1.5;
  c.scatteredElement = 0.8;
  c.partOfSector = 1;
  c.spreadInstructions = 2.5;
  c.leastSpread = 8;
  c.leastExchanged = 128;
  c.warpScanInstructions = 16;
  // About.
  c.stateExchangeInstructions = 100;
  // More take registers from what the thread keeps.
  c.mostGathered = 16;
  return c;
}

static constexpr PointwiseConstants getPointwise() {
  PointwiseConstants c;
  // A counter-based random generator alone has about 100.
  c.longBody = 64;
  // Whole cache lines of 16-bit elements.
  c.squareSide = 64;
  // More accesses in flight did not help at full occupancy, more blocks did,
  // 2026-11-21.
  c.threads = 256;
  c.squareWarps = 16;
  // Transposes of rows of 256 and 2212 bf16 that begin anywhere took 1.10 and
  // 1.05 times as long with 16, those of 18 and 19 f32 0.71 and 0.78 times with
  // 8 instead of 4, 2026-11-26.
  c.squareSingles = 8;
  c.sharingThreads = 128;
  c.sharingAccesses = 4;
  c.sharingSteps = 8;
  c.leastTile = 128;
  return c;
}

static constexpr ReductionConstants getReductions() {
  ReductionConstants c;
  // 2026-11-21.
  c.columnTile = 16384;
  c.smallColumnTile = 4096;
  c.rowChunk = 4096;
  c.splitChunk = 16384;
  c.minSpreadElements = 8192;
  c.maxShareElements = 32 * 1024;
  // All registers of a multiprocessor.
  c.maxKeptRow = 64 * 1024;
  c.maxKeptColumn = 1024;
  // A thread then has 32 in registers, twice, at most.
  c.keptColumnElements = 16384;
  // 2026-11-21.
  c.shortTile = 1024;
  c.shortPerThread = 8;
  c.mediumTile = 4096;
  c.mediumPerThread = 16;
  c.longPerThread = 32;
  c.shareThreads = 512;
  c.rowElements = 1024;
  c.columnElements = 2048;
  c.keptByThread = 64;
  c.keepingThreads = 128;
  // What a thread computes besides, and loads of a scale, is shared by so many.
  c.rowsByThread = 16;
  c.fewElements = 32;
  c.fewThreads = 256;
  // Half of the registers that each of 512 threads of a multiprocessor has.
  c.mostSingle = 64;
  c.minShareElements = 8192;
  c.mostPadding = 1.1;
  // Each has half the threads.
  c.walkBlocksPerSM = 2;
  c.maxSplit = 128;
  c.walkStages = 3;
  // On an H100, 2026-11-25: one block took 0.97 to 1.02 of the time, four 1.02
  // to 1.2 of it. Blocks of 1024 threads with 32 elements each, which are alone
  // on their multiprocessor, took as long as reading rows of 30000 twice.
  c.granulesPerSM = 2;
  c.granuleRow = 16 * 1024;
  return c;
}

static constexpr ScanConstants getScans() {
  ScanConstants c;
  // Six sums and maxima of odd rows took 10 to 20 more for each than even rows
  // do, one of logarithms, which computes meanwhile, less than 8 (H100,
  // 2026-11-26).
  c.partialRunClocks = 8;
  // With a thread's elements and results there are registers enough for them.
  c.stateBytes = 64;
  c.mostElements = 16;
  // A sum along 424 rows of 310 bf16 took 239 us with 64, 330 with 32 and 407
  // with 16, 2026-11-26.
  c.longPerThread = 64;
  // Such a scan takes no other threads.
  c.wholeBytes = 128;
  c.expensive = 8;
  c.warps = 4;
  c.warpsWanted = 24;
  c.columns = 64;
  // The smallest parts have 114 multiprocessors.
  c.maxSplit = 112;
  c.busyShare = 2.0 / 3;
  // What ptxas needed for 39 scans, 2026-11-25, and for 41 others, 2026-11-26.
  c.narrowRegisters = 1;
  c.otherRegisters = 0.5;
  // A row's are so few.
  c.freeWords = 4;
  // 12 schedules of three scans of 15 to 122 million elements, 2026-11-24.
  c.tilesAhead = 2;
  c.aheadShare = 0.5;
  // Four recurrences along 28 thousand to 14 million rows, 2026-11-26.
  c.wordSeconds = 0.7e-9;
  c.runWarps = 16;
  return c;
}

/// 200 schedules of nine depthwise convolutions, 2026-11-21: mean error 6 %,
/// the choice within 6 % of the best of each.
static constexpr WindowConstants getWindows() {
  WindowConstants c;
  c.busyWarps = 11;
  c.threads = 128;
  c.otherRegisters = 30;
  c.maxRegisters = 245;
  c.raggedRegisters = 1.1;
  c.settledRegisters = 168;
  c.settledError = 8;
  c.settledAccumulators = 64;
  c.threadInstructions = 88;
  c.placeInstructions = 4;
  c.loadInstructions = 1.2;
  c.keepInstructions = 0.5;
  c.borderShare = 0.08;
  c.rowBytes = 64;
  c.narrowRows = 1.45;
  c.exposed = 0.25;
  c.walkExposed = 0.23;
  c.roundsShare = 0.25;
  c.stepClocks = 800;
  c.firstSteps = 1.9;
  c.loneWarp = 1.04;
  c.lanes = 113;
  c.bytesPerClock = 17;
  // 5.5 TB/s.
  c.sectorBytesPerClock = 25;
  // Rows of half a line are no slower.
  c.linesPerClock = 2;
  return c;
}

/// Products of python/benchmarks/tensorcore, 2026-11-21.
static constexpr MmaConstants getMma() {
  MmaConstants c;
  c.startSeconds = 5.06e-6;
  c.productRate = 1.058;
  c.narrowCost = 0.058;
  c.loneCost = 1.055;
  c.feedBytesPerClock = 71;
  c.straddledBytesPerClock = 25;
  // 55 convolutions.
  c.windowBytesPerClock = 31;
  c.filterBytesPerClock = 160;
  c.outsideBytesPerClock = 13;
  c.feedLatency = 1.4e-6;
  c.idleLatency = 0.6;
  // With three stages 128x256 tiles lose nothing (0.65 us a stage), 128x160
  // tiles a tenth (0.41).
  c.largeFeedLatency = 1.0e-6;
  c.largeSums = 96;
  c.epilogueSeconds = 0.34e-6;
  c.clocksPerElement = 5;
  c.clocksPerOp = 1.06;
  c.clocksPerByte = 1.5;
  // Tiles of 192x192 and 128x224.
  c.chunkSeconds = 0.25e-6;
  c.wideChunk = 64;
  c.clocksPerConversion = 14;
  // The latency of one hides the other's work: 64x8192x8192 with weights of 8
  // bits in halves of the depth 29 us, 39 by blocks that are alone.
  c.sharedConversion = 0.5;
  c.clusterSeconds = 4.8e-6;
  c.clusterFeedCost = 1.3;
  c.multicastSeconds = 0.5e-6;
  // Twelve shapes. 1x1 convolutions: 63.6 us with 64 columns, 50.4 with 160.
  c.turnFeedCost = 0.075;
  c.turnNarrowCost = 0.3;
  c.oddStagesCost = 1.04;
  c.turnPartSeconds = 0.12e-6;
  c.aloneInEpilogue = 2.35;
  c.turnLatency = 0.9e-6;
  c.exchangeSeconds = 1.5e-6;
  c.exchangeBytesPerClock = 24;
  c.streamCost = 1.05;
  // The epilogue's operations count for too much with long rows: layer norm of
  // 8192 rows of 4096 and of 1024, 393 and 102 us.
  c.panelSeconds = 0.9e-6;
  // Tiles that leave copies no time to spare lose: 1024x1024x65536 with
  // 128x128.
  c.apartSeconds = 3.2e-6;
  c.apartBytesPerClock = 10;
  c.apartFeedCost = 1.5;
  c.sharedCost = 1.3;
  c.sharedEpilogue = 1.25;
  c.trafficShare = 0.9;
  c.overlapLoss = 0.05;
  // 8192x1408x2048 in 64 groups takes 136 to 170 us with tiles of 128x192 to
  // 64x128.
  c.groupedCopies = 4.5;
  // Shorter contractions, of 1x1 convolutions, were not measured.
  c.deepChunks = 24;
  c.mostStreamRounds = 24;
  // Blocks read fewer operands from memory (4096x4096x4096 by 128x256: 145 MB,
  // by eight rows 186), which takes 0.1 to 0.9 % less time in 13 of 14
  // products.
  c.wideGroup = 16;
  c.headColumns = 128;
  c.fewRows = 32;
  c.fewRowsCost = 1.6;
  return c;
}

/// Chosen for the gradients of ResNet-50's filters, 2026-11-28.
static constexpr SplitConstants getSplits() {
  SplitConstants c;
  c.parts = 32;
  c.tileResults = 64 * 64;
  c.mostResults = 512;
  c.busyShare = 0.5;
  c.blocksPerSM = 4;
  c.leastPart = 512;
  return c;
}

static constexpr WarpProductConstants getWarpProducts() {
  WarpProductConstants c;
  // bf16 777x1531x2049 and 4097x4095x4099 at 14 to 21 TFLOP/s, convolutions of
  // three and four f16 channels at 19 and 21 TFLOP/s, 2026-11-21. What is
  // copied in 16 bits was planned with this share in all that was measured;
  // tf32 with KxN operands from 4096 on runs at 126 TFLOP/s, and gradients of
  // filters in f32 at a third of it, 2026-11-29.
  c.copiedShare = 0.31;
  c.copiedWideShare = 0.26;
  c.elementShare = 0.037;
  // 3x3 windows of images with channels first, 128 of 64x128x128 and 64 of
  // 256x56x56: f16 at 45 and 47 TFLOP/s, 2026-11-22; tf32 at 37 and 39, which
  // would be 0.15.
  c.windowShare = 0.09;
  // Warps have 1438 instructions for 192 products of a tile of 128x64, and 876
  // for 96 of one of 64x64; counted, not measured.
  c.splitOperandCost = 80;
  // A convolution of 144 products an element took 1 us longer than by
  // warpgroups.
  c.stepSeconds = 0.42e-6;
  c.fewRows = 64;
  c.registerTile = 8;
  c.tensorTile = 96;
  // Not measured: most are products of 64-bit numbers and of integers.
  c.plainSide = 64;
  c.plainDepth = 16;
  c.leastPlainTile = 1024;
  c.plainPerThread = 16;
  c.plainWarps = 8;
  return c;
}

/// 150 kernels of 1 to 64 rows, weights of 4, 8 and 16 bits, 2026-11-21.
static constexpr FewRowsConstants getFewRows() {
  FewRowsConstants c;
  c.maxRows = 32;
  c.maxUnpackedRows = 64;
  // Beyond, rows of bytes along the depth lose 3 %, twice as many rows 10 %,
  // what is multiplied as it is stored 6 %.
  c.producedPackedRows = 32;
  c.producedRows = 16;
  c.bytesAhead = 64 * 1024;
  c.longRowBytes = 128;
  c.shortRowShare = 0.8;
  c.startSeconds = 4e-6;
  c.trafficShare = 0.93;
  c.cacheBytesPerSecond = 5.5e12;
  c.clocksPerRead = 0.5;
  c.clocksPerUnpack = 2.5;
  c.productsPerClock = 512;
  return c;
}

/// Attention of f16 with 32 to 256 features, 48 schedules of one to three
/// warpgroups in steps of 32, 64 and 128 keys, whole, and what causal masks
/// add, 2026-11-27.
static constexpr CascadeConstants getCascades() {
  CascadeConstants c;
  c.registers = 32;
  c.stepSeconds = 0.07e-6;
  c.limitedSeconds = 0.15e-6;
  c.issueClocks = 3.3;
  c.productsWait = 0.5;
  c.arithmeticWait = 0.31;
  c.copyBytesPerSecond = 6.7e12;
  c.blockSeconds = 3.3e-6;
  c.tileSeconds = 0.87e-6;
  c.dealtShare = 1.05;
  c.bytesUnderWay = 65536;
  c.crowdedShare = 0.08;
  return c;
}

constexpr FittedConstants mlir::fusion::kFittedOnH200 = {
    /*part=*/"H200 SXM",
    /*rates=*/getRates(),
    /*kernels=*/getKernels(),
    /*loops=*/getLoops(),
    /*layouts=*/getLayouts(),
    /*pointwise=*/getPointwise(),
    /*reductions=*/getReductions(),
    /*scans=*/getScans(),
    /*windows=*/getWindows(),
    /*mma=*/getMma(),
    /*splits=*/getSplits(),
    /*warpProducts=*/getWarpProducts(),
    /*cascades=*/getCascades(),
    /*fewRows=*/getFewRows(),
};
