//===- KnownTargets.cpp - The table of known chips ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the table of limits and rates, one function a chip.
//
// Sources, as of 2026-11-21:
//   [CC]   CUDA C++ Programming Guide 13.0, "Technical Specifications per
//          Compute Capability": registers, threads, blocks, shared memory;
//          "Throughput of Native Arithmetic Instructions": special functions a
//          clock (16 an SM on every chip here).
//   [PTX]  PTX ISA 9.0, "Target ISA Notes" of wgmma.mma_async (sm_90a alone)
//          and of mma (float8 from sm_89 on); mbarrier.try_wait (from sm_90
//          on).
//   [DS]   The data sheet of the part named in the row: SMs, boost clock, L2,
//          DRAM bandwidth, arithmetic rates (dense, without sparsity).
//   [M]    Measured on one H200, as are the constants of all models
//          (FittedOnH200.cpp): no other chip was.
//   [EST]  Estimates, used where neither a data sheet nor a measurement speaks:
//          streaming copies reach 0.91 of the data sheet's bandwidth and
//          library products 0.81 of its rate, as on the H200 of [M]; an SM
//          takes 64 bytes a clock from L2 and half of that from DRAM when it
//          reads alone; a launch and a DRAM round trip cost the same as on the
//          H200 of [M], and single warps multiply as much a clock and SM as
//          there on every chip whose rate is that of more than one warp.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Support/Hardware.h"

using namespace mlir::fusion;

namespace {
constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;

/// [EST] What a streaming copy reaches of the data sheet's bandwidth.
constexpr double kCopyShare = 0.91;
/// [EST] What a library product reaches of the data sheet's rate.
constexpr double kProductShare = 0.81;
/// [DS] SMs and clock of the H200 of [M].
constexpr int64_t kMeasuredSMs = 132;
constexpr double kMeasuredHz = 1980 * kMega;
} // namespace

/// [CC] Blocks of a cluster on every chip that has clusters.
static constexpr int64_t kPortableCluster = 8;

/// What every chip since sm_80 has in common [CC], and every one since sm_90
/// [PTX], and what is measured [M].
static TargetInfo getCommon(llvm::StringLiteral name,
                            llvm::StringLiteral part) {
  TargetInfo t{/*name=*/name,
               /*part=*/part,
               /*numSMs=*/0,
               /*clockHz=*/0,
               /*registersPerSM=*/64 * kKiB,
               /*maxRegistersPerThread=*/kMaxThreadRegisters,
               /*registerGranularity=*/256,
               /*maxThreadsPerSM=*/2048,
               /*maxThreadsPerBlock=*/1024,
               /*maxBlocksPerSM=*/32,
               /*maxBlocksPerCluster=*/1,
               /*sharedPerSM=*/0,
               /*maxSharedPerBlock=*/0,
               /*reservedSharedPerBlock=*/1 * kKiB,
               /*l2Bytes=*/0,
               /*hasWaitingBarriers=*/true,
               /*hasWarpgroups=*/false,
               /*hasFloat8Products=*/true,
               /*fitted=*/kFittedOnH200};
  t.fitted.rates.warpProductShare = 1;
  return t;
}

/// Sets the SMs, the clock and what follows from them: `fp32PerClock` and
/// `fp64PerClock` count fused multiply-adds of one SM a clock.
static void setCore(TargetInfo &target, int64_t numSMs, double clockHz,
                    double fp32PerClock, double fp64PerClock) {
  target.numSMs = numSMs;
  target.clockHz = clockHz;
  target.fitted.rates.fp32PerClock = fp32PerClock;
  target.fitted.rates.fp64PerClock = fp64PerClock;
}

/// Sets the rate of products, which warps make together, and the share of it
/// that one warp alone reaches [M].
static void setGroupProducts(TargetInfo &target, double rate) {
  const RateConstants &measured = kFittedOnH200.rates;
  double warpFlopsPerClock = measured.warpProductShare *
                             measured.tensorFlopsPerSecond /
                             (kMeasuredSMs * kMeasuredHz);
  target.fitted.rates.tensorFlopsPerSecond = rate;
  target.fitted.rates.warpProductShare =
      warpFlopsPerClock * target.numSMs * target.clockHz / rate;
}

/// A100 SXM4 80 GB [DS]: 108 SMs, 1410 MHz, 40 MB L2, 2039 GB/s, 312 TFLOP/s.
static TargetInfo getSm80(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "A100 SXM4 80 GB");
  setCore(t, 108, 1410 * kMega, 64, 32);
  t.hasWaitingBarriers = t.hasFloat8Products = false;
  t.sharedPerSM = 164 * kKiB;
  t.maxSharedPerBlock = 163 * kKiB;
  t.l2Bytes = 40 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 2039 * kGiga;
  t.fitted.rates.tensorFlopsPerSecond = kProductShare * 312 * kTera;
  return t;
}

/// A10 [DS]: 72 SMs, 1695 MHz, 6 MB L2, 600 GB/s, 125 TFLOP/s. 8.6 has 48
/// warps and 16 blocks an SM [CC].
static TargetInfo getSm86(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "A10");
  setCore(t, 72, 1695 * kMega, 128, 2);
  t.maxThreadsPerSM = 1536;
  t.maxBlocksPerSM = 16;
  t.hasWaitingBarriers = t.hasFloat8Products = false;
  t.sharedPerSM = 100 * kKiB;
  t.maxSharedPerBlock = 99 * kKiB;
  t.l2Bytes = 6 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 600 * kGiga;
  t.fitted.rates.tensorFlopsPerSecond = kProductShare * 125 * kTera;
  return t;
}

/// Jetson AGX Orin 64 GB [DS]: 16 SMs, 1300 MHz, 4 MB L2, 204.8 GB/s,
/// 42.6 TFLOP/s. 8.7 has 48 warps and 16 blocks an SM [CC].
static TargetInfo getSm87(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "Jetson AGX Orin 64 GB");
  setCore(t, 16, 1300 * kMega, 128, 2);
  t.maxThreadsPerSM = 1536;
  t.maxBlocksPerSM = 16;
  t.hasWaitingBarriers = t.hasFloat8Products = false;
  t.sharedPerSM = 164 * kKiB;
  t.maxSharedPerBlock = 163 * kKiB;
  t.l2Bytes = 4 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 204.8 * kGiga;
  t.fitted.rates.tensorFlopsPerSecond = kProductShare * 42.6 * kTera;
  return t;
}

/// L40S [DS]: 142 SMs, 2520 MHz, 96 MB L2, 864 GB/s, 362 TFLOP/s. 8.9 has 48
/// warps and 24 blocks an SM [CC].
static TargetInfo getSm89(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "L40S");
  setCore(t, 142, 2520 * kMega, 128, 2);
  t.maxThreadsPerSM = 1536;
  t.maxBlocksPerSM = 24;
  t.hasWaitingBarriers = false;
  t.sharedPerSM = 100 * kKiB;
  t.maxSharedPerBlock = 99 * kKiB;
  t.l2Bytes = 96 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 864 * kGiga;
  t.fitted.rates.tensorFlopsPerSecond = kProductShare * 362 * kTera;
  return t;
}

/// H200 SXM: 132 SMs, 1980 MHz [DS]; 60 MB L2 as the driver reports, 4.38 TB/s
/// and 802 TFLOP/s as measured [M].
static TargetInfo getSm90(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "H200 SXM");
  t.maxBlocksPerCluster = kPortableCluster;
  setCore(t, kMeasuredSMs, kMeasuredHz, 128, 64);
  t.sharedPerSM = 228 * kKiB;
  t.maxSharedPerBlock = 227 * kKiB;
  t.l2Bytes = 60 * kMiB;
  setGroupProducts(t, kFittedOnH200.rates.tensorFlopsPerSecond);
  return t;
}

/// The same part, with the instructions that only it has.
static TargetInfo getSm90a(llvm::StringLiteral name) {
  TargetInfo t = getSm90(name);
  t.hasWarpgroups = true;
  return t;
}

/// B200 [DS]: 148 SMs, 1965 MHz, 126 MB L2, 8 TB/s, 2250 TFLOP/s.
static TargetInfo getSm100(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "B200");
  t.maxBlocksPerCluster = kPortableCluster;
  setCore(t, 148, 1965 * kMega, 128, 64);
  t.sharedPerSM = 228 * kKiB;
  t.maxSharedPerBlock = 227 * kKiB;
  t.l2Bytes = 126 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 8 * kTera;
  setGroupProducts(t, kProductShare * 2250 * kTera);
  return t;
}

/// B300 [DS]: as B200 but for doubles, of which it makes 1.25 TFLOP/s.
static TargetInfo getSm103(llvm::StringLiteral name) {
  TargetInfo t = getSm100(name);
  t.part = "B300";
  setCore(t, 148, 1965 * kMega, 128, 2);
  return t;
}

/// Jetson AGX Thor T5000 [DS]: 20 SMs, 1575 MHz, 32 MB L2, 273 GB/s,
/// 258 TFLOP/s. 11.0 has 48 warps and 24 blocks an SM [CC].
static TargetInfo getSm110(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "Jetson AGX Thor T5000");
  t.maxBlocksPerCluster = kPortableCluster;
  setCore(t, 20, 1575 * kMega, 128, 2);
  t.maxThreadsPerSM = 1536;
  t.maxBlocksPerSM = 24;
  t.sharedPerSM = 228 * kKiB;
  t.maxSharedPerBlock = 227 * kKiB;
  t.l2Bytes = 32 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 273 * kGiga;
  setGroupProducts(t, kProductShare * 258 * kTera);
  return t;
}

/// RTX 5090 [DS]: 170 SMs, 2407 MHz, 96 MB L2, 1792 GB/s, 209.5 TFLOP/s. 12.0
/// has 48 warps and 24 blocks an SM [CC].
static TargetInfo getSm120(llvm::StringLiteral name) {
  TargetInfo t = getCommon(name, "RTX 5090");
  t.maxBlocksPerCluster = kPortableCluster;
  setCore(t, 170, 2407 * kMega, 128, 2);
  t.maxThreadsPerSM = 1536;
  t.maxBlocksPerSM = 24;
  t.sharedPerSM = 100 * kKiB;
  t.maxSharedPerBlock = 99 * kKiB;
  t.l2Bytes = 96 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 1792 * kGiga;
  t.fitted.rates.tensorFlopsPerSecond = kProductShare * 209.5 * kTera;
  return t;
}

/// GB10 [DS]: 48 SMs, 2418 MHz, 24 MB L2, 273 GB/s; products at the rate of
/// sm_120 a clock and SM, 62 TFLOP/s [EST]. 12.1 is like 12.0 [CC].
static TargetInfo getSm121(llvm::StringLiteral name) {
  TargetInfo t = getSm120(name);
  t.part = "GB10";
  setCore(t, 48, 2418 * kMega, 128, 2);
  t.l2Bytes = 24 * kMiB;
  t.fitted.rates.dramBytesPerSecond = kCopyShare * 273 * kGiga;
  t.fitted.rates.tensorFlopsPerSecond = kProductShare * 62 * kTera;
  return t;
}

llvm::ArrayRef<TargetInfo> mlir::fusion::getKnownTargets() {
  static const TargetInfo targets[] = {
#define FUSION_CHIP(name, describe) describe(name),
#include "fusion/Support/Chips.def"
  };
  return targets;
}
