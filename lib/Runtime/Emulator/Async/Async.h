//===- Async.h - Operations that threads do not wait for --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the asynchronous part of the machine: mbarriers, copies by
// cp.async and cp.async.bulk, and the checks that they share.
//
// An operation is recorded when it is issued. With Asynchrony::Early it takes
// effect at once, with Late only when a thread has to wait for it. Until it has
// taken effect its bytes count as in flight; from then on the race detector
// knows them as written by an agent of their own, which only those have heard
// of who have waited.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_ASYNC_H
#define FUSION_LIB_RUNTIME_EMULATOR_ASYNC_H

#include "Machine/Cluster.h"

namespace fusionemu {

/// How an operation uses bytes of shared memory.
enum class SharedUse : uint8_t {
  GenericWrite,  ///< As a store of the thread.
  GenericReduce, ///< As an atomic operation of the thread.
  WgmmaRead,     ///< Through the async proxy, by all lanes of the warp.
  AsyncRead,     ///< The same by one lane.
  AsyncWrite,
  AsyncReduce,
};

/// The block and offset of the address in the register slot `slot`, which is
/// 64 bits wide and of the space I.space. Null after a report when it is not
/// `bytes` bytes of shared memory, aligned to `align`.
Block *findShared(Context &c, const Instruction &I, int32_t slot, unsigned lane,
                  uint32_t bytes, uint32_t align, const char *verb,
                  uint64_t &offset);
Block *findShared(Context &c, Space space, uint64_t address, unsigned lane,
                  uint32_t bytes, uint32_t align, const char *verb,
                  uint64_t &offset);

/// Checks that the current warp may use the bytes now. False after a report.
bool checkAsyncShared(Context &c, unsigned lane, const Block &block,
                      uint32_t offset, uint32_t bytes, SharedUse use);
/// Counts an operation in flight on the bytes, or takes it off.
void markReading(Block &block, uint32_t offset, uint32_t bytes, int change);
void markWriting(Block &block, uint32_t offset, uint32_t bytes, int change);
/// Records that `warp` has seen an asynchronous read come to its end.
void recordAsyncRead(Block &block, const Warp &warp, uint32_t offset,
                     uint32_t bytes);
/// Records an asynchronous read that was over for `agent` at `time`.
void recordAsyncRead(Block &block, uint32_t agent, uint32_t time,
                     uint32_t offset, uint32_t bytes);
/// Records bytes as written by `agent` at `time`; `flags` are proxyWriter and
/// strongWriter.
void recordAsyncWrite(Block &block, uint32_t agent, uint32_t time,
                      uint32_t offset, uint32_t bytes, uint32_t flags);
/// The agent that stands for the asynchronous operations of a warp.
inline uint32_t asyncAgentOf(const Warp &w) { return w.agent | asyncAgent; }

/// The host address of bytes of global memory for an asynchronous access, with
/// all checks; null after a report.
uint8_t *accessGlobal(Context &c, unsigned lane, uint64_t address,
                      uint64_t bytes, AccessMode mode);

/// Handlers of mbarriers, in MBarrier.cpp. `a` is the address.
Next mbarrierInit(Context &c, const Instruction &I);
Next mbarrierInval(Context &c, const Instruction &I);
Next mbarrierBytes(Context &c, const Instruction &I);
Next mbarrierArrive(Context &c, const Instruction &I);
Next mbarrierPending(Context &c, const Instruction &I);
Next mbarrierWait(Context &c, const Instruction &I);

/// Instruction::aux of mbarrierArrive and mbarrierWait.
enum MBarrierFlags : uint32_t {
  arriveDrop = 1,
  arriveNoComplete = 2,
  waitState = 4,
  orderRelaxed = 8,
  allLanes = 16, ///< With .aligned: of barrier.cluster and setmaxnreg.
};

/// Lets waits go on whose phase is complete; true when there was one.
bool releaseMBarrierWaits(Context &c, Cluster &cluster);
/// Makes all waits give up once; true when there was one.
bool expireMBarrierWaits(Cluster &cluster);
/// Whether a thread waits for the mbarrier at `offset` in one of `ranks`.
bool isAwaited(Cluster &cluster, uint32_t ranks, uint32_t offset);
/// Takes `bytes` off the transaction count and makes what `agent` did up to
/// `time` visible. False on error.
bool completeBytes(Context &c, unsigned lane, Block &block, uint32_t offset,
                   uint32_t bytes, uint32_t agent, uint32_t time);
/// One arrival of an asynchronous copy, and one more to expect. False on error.
bool arriveFor(Context &c, unsigned lane, Block &block, uint32_t offset,
               uint32_t agent, uint32_t time);
bool addPending(Context &c, unsigned lane, Block &block, uint32_t offset);
/// Checks that an asynchronous copy, through the async proxy or not, may
/// signal an mbarrier. False on error.
bool checkSignal(Context &c, unsigned lane, Block &block, uint32_t offset,
                 bool byProxy);
/// Makes initialisations that the current warp knows of visible to
/// asynchronous copies.
void fenceMBarriers(Context &c);
/// Reports phases that are half done when a block ends. False on error.
bool checkMBarriersAtEnd(Context &c, Block &block);

/// Handlers of cp.async, in ThreadCopy.cpp.
Next threadCopy(Context &c, const Instruction &I);
Next threadCopyCommit(Context &c, const Instruction &I);
Next threadCopyWait(Context &c, const Instruction &I);
Next threadCopyArrive(Context &c, const Instruction &I);
/// Completes what the oldest arrival at an awaited mbarrier depends on. False
/// on error; `progress` tells whether there was one.
bool forceThreadCopies(Context &c, Cluster &cluster, bool &progress);
/// Completes all copies when their threads have exited. False on error.
bool finishThreadCopies(Context &c, Cluster &cluster);

/// Handlers of cp.async.bulk, in BulkCopy.cpp and BulkIssue.cpp.
Next bulkCopy(Context &c, const Instruction &I);
Next bulkCommit(Context &c, const Instruction &I);
Next bulkWait(Context &c, const Instruction &I);
/// st.async and red.async, in StoreAsync.cpp.
Next storeAsync(Context &c, const Instruction &I);

/// setmaxnreg.
Next setMaxRegisters(Context &c, const Instruction &I);

/// Proxy fences: aux says which.
Next fenceProxy(Context &c, const Instruction &I);
enum FenceFlags : uint32_t {
  fenceAsync = 1,
  fenceMBarrierInit = 2,
  fenceClusterScope = 4,
  fenceBlockScope = 8, ///< Of any scope: goes with fenceClusterScope too.
};

/// mapa: dst is the address of a in block b of the cluster. getctarank.
Next mapAddress(Context &c, const Instruction &I);
Next getBlockRank(Context &c, const Instruction &I);

/// Completes what a wait depends on when no thread can go on. `progress` tells
/// whether there was anything; false on error.
bool forceAsync(Context &c, Cluster &cluster, bool &progress);
/// Ends what is in flight when all threads have exited. False on error.
bool finishAsync(Context &c, Cluster &cluster);
/// Reports uses of the shared memory of a block that nothing puts before its
/// end. False on error.
bool checkExit(Context &c, Cluster &cluster);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_ASYNC_H
