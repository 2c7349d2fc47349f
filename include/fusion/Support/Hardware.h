//===- Hardware.h - What all chips have in common ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the facts of hardware that no chip known differs in. What
// differs is in TargetInfo.h, what is measured in FittedConstants.def. Sources:
// CUDA programming guide 13.0, PTX ISA 9.0.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_HARDWARE_H
#define FUSION_SUPPORT_HARDWARE_H

#include <cstdint>

namespace mlir::fusion {

/// Bits of a thread's number that are its lane's, and threads of a warp.
constexpr unsigned kLaneBits = 5;
constexpr int32_t kWarpThreads = 1 << kLaneBits;
/// Warps of a warpgroup, which makes some matrix instructions together.
constexpr int32_t kWarpgroupWarps = 4;
/// Columns of a warpgroup's result in which each thread has two: the least of
/// them that are registers of all threads.
constexpr int64_t kLeastSharedColumns = 8;
/// Threads that a multiprocessor begins an instruction of in a clock.
constexpr int32_t kLanesPerSM = 4 * kWarpThreads;
/// Registers of a thread at most.
constexpr int64_t kMaxThreadRegisters = 255;

/// Bytes of the smallest unit that DRAM and L2 move, and of a line of L1 and of
/// L2.
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kLineBytes = 128;

/// Shared memory: 32 banks of one 4-byte word.
constexpr unsigned kBankWordBytes = 4;
constexpr unsigned kBankRowBytes = kBankWordBytes * 32;
/// Bytes of the two barriers of a ring's stage (mbarrier).
constexpr int64_t kStageBarrierBytes = 16;

/// Bytes of the widest access of one thread, and of its narrowest copy to
/// shared memory (cp.async).
constexpr unsigned kMaxAccessBytes = 16;
constexpr int64_t kLeastCopyBytes = 4;

/// Tensor copies: the granule of addresses, strides and rows in bytes, the rank
/// of a tensor, the elements of a box along one dimension.
constexpr int64_t kCopyGranule = 16;
constexpr int64_t kMaxCopyRank = 5;
constexpr int64_t kMaxCopyBox = 256;

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_HARDWARE_H
