//===- Wgmma.h - Matrix products of a warpgroup -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how wgmma instructions are issued and computed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_WGMMA_H
#define FUSION_LIB_RUNTIME_EMULATOR_WGMMA_H

#include "Machine/Context.h"
#include "Matrix/MatrixDescriptor.h"

namespace fusionemu {

/// The shape of A (64 rows) and of B as their descriptors see them.
MatrixExtent getExtentA(const WgmmaOp &op);
MatrixExtent getExtentB(const WgmmaOp &op);

/// Warp::registerWrite holds the time of the last access to a register that
/// matters to a wgmma.fence: of the last write or, if a fence has ordered that,
/// of the last read, with this bit.
constexpr uint64_t readFlag = 1;
constexpr uint64_t writtenAt(uint64_t time) { return time << 1; }
constexpr uint64_t timeOf(uint64_t access) { return access >> 1; }

/// Computes the 16 rows of D that `warp` owns: rows 16 * (warp.index % 4) and
/// up of the warpgroup's 64. Reads A and B from the block's shared memory, or
/// A from registers, and reads and writes D in registers of `warp`. The
/// operands' ranges must have been found to lie in shared memory.
void computeWgmma(Context &c, Warp &warp, const WgmmaOp &op, uint64_t descA,
                  uint64_t descB, bool scaleD, Block &block);

/// True when all 32 lanes of the warp execute this .sync.aligned instruction,
/// which are then in c.exec. Otherwise `next` says what the handler returns:
/// an error, or a wait for lanes that have diverged.
bool gatherWholeWarp(Context &c, Next &next);

/// wgmma.mma_async; aux is an index into Kernel::wgmmas.
Next wgmmaIssue(Context &c, const Instruction &I);
Next wgmmaFence(Context &c, const Instruction &I);
Next wgmmaCommit(Context &c, const Instruction &I);
/// aux is the number of groups that may stay in flight.
Next wgmmaWait(Context &c, const Instruction &I);

/// Lets waits go on for which all warps of the warpgroup have come; true when
/// there was one.
bool releaseWarpgroups(Block &block);
/// Reports a warp that exited with a wgmma in flight. False on error.
bool checkWgmmasAtEnd(Context &c, Block &block);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_WGMMA_H
