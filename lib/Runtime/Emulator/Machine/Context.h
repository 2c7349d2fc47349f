//===- Context.h - The state of a running block -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines warps, fragments, barriers and the context that every
// handler receives.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_CONTEXT_H
#define FUSION_LIB_RUNTIME_EMULATOR_CONTEXT_H

#include "Machine/LaneOrder.h"

#include <deque>
#include <map>
#include <string>

namespace fusionemu {

struct Allocation;
struct Cluster;
struct ReadQueue;
class Launch;
struct InstructionCounts;

constexpr unsigned maxWarps = 32; ///< 1024 threads.
constexpr unsigned numBarriers = 16;

/// What somebody knows of the time of each party that the race detector tells
/// apart: agent k is a warp, agent maxWarps + k its asynchronous operations.
constexpr unsigned maxAgents = 2 * maxWarps;
using Clock = uint32_t[maxAgents];

/// Lanes that run together. A warp starts as one fragment; a divergent branch
/// splits it and the join at the immediate post-dominator puts it together.
struct Fragment {
  enum class State : uint8_t {
    Ready,
    WarpSync,
    WarpBarrier,
    BlockBarrier,
    ClusterBarrier,
    MBarrier,
    WarpGroup,
  };
  uint32_t pc = 0;
  uint32_t mask = 0;
  int8_t join = -1;
  State state = State::Ready;
  /// For MBarrier: the wait gives up when it runs again.
  bool timedOut = false;
  /// With Asynchrony::Late: waits that have given up once, by pc modulo 64.
  uint64_t gaveUp = 0;
  /// For WarpSync and WarpBarrier: the lanes that must come. For BlockBarrier:
  /// the number of the barrier. For MBarrier: the cluster address of it.
  uint32_t waitsFor = 0;
  /// The lanes that execute the instruction that waits.
  uint32_t exec = 0;
};

/// A place where fragments meet. `outstanding` are the lanes still to come.
struct Join {
  uint32_t pc = noTarget;
  uint32_t outstanding = 0, arrived = 0;
  int8_t parent = -1;
  bool used = false;
};

/// A copy of one thread by cp.async, or the arrival that follows its copies.
struct ThreadCopy {
  uint8_t lane = 0;
  bool isArrival = false;
  bool moved = false;
  uint8_t bytes = 0, sourceBytes = 0; ///< The rest is filled with zeros.
  uint32_t group = 0;                 ///< Of the lane.
  uint32_t pc = 0;
  uint32_t shared = 0; ///< Offset of the destination, or of the mbarrier.
  uint64_t global = 0;
};

/// A wgmma that was issued and whose result nobody has waited for.
struct PendingWgmma {
  uint32_t index = 0; ///< In Kernel::wgmmas.
  uint32_t pc = 0;
  uint32_t group = 0;
  uint64_t descriptorA = 0, descriptorB = 0;
  bool scaleD = true;
  bool done = false; ///< Computed, but not yet waited for.
};

struct Warp {
  uint8_t *regs = nullptr;
  uint32_t *preds = nullptr;
  uint8_t *local = nullptr;
  uint32_t index = 0;
  /// The party that the race detector knows this warp as: its number in the
  /// cluster, or in the block where a cluster has too many.
  uint32_t agent = 0;
  uint32_t exists = 0; ///< Lanes that the block has.
  uint32_t live = 0;   ///< Lanes that have not exited.
  uint32_t carry = 0;  ///< CC.CF of every lane.
  unsigned numFragments = 0;
  unsigned current = 0;
  uint64_t steps = 0;
  /// When its fragments last met, split or waited.
  uint64_t lastSwitch = 0;
  Fragment fragments[warpSize];
  Join joins[warpSize];
  /// The race detector's clocks: what this warp knows of each agent's time.
  /// Its own entry is its time.
  Clock clock;
  /// Everything at or before this time of any warp is ordered before now.
  uint32_t oldestClock = 0;
  /// The same between its lanes.
  LaneOrder lanes;
  /// What it knows to be visible to the async proxy.
  Clock proxyClock;
  /// Its clocks at its last fence of cluster scope, and of any scope.
  Clock fencedClock, fencedProxy, blockFencedClock;
  /// What relaxed waits have seen, which a fence makes known.
  Clock seenClock;
  /// Lanes that arrived at the cluster's barrier in this phase, and lanes that
  /// have not waited for it since.
  uint32_t clusterArrived = 0, clusterPending = 0;
  std::vector<ThreadCopy> copies;
  uint32_t copyGroups[warpSize]; ///< Committed by each lane with cp.async.
  uint32_t bulkGroups[warpSize]; ///< With cp.async.bulk.
  std::vector<PendingWgmma> wgmmas;
  uint32_t wgmmaGroups = 0;
  uint64_t wgmmaIssued = 0; ///< By this warp, from its start.
  /// By 32 bytes of the register file: WgmmaUse of the wgmmas in flight, and
  /// when another instruction last wrote it. Only with Kernel::usesWgmma.
  uint8_t *registerUse = nullptr;
  uint64_t *registerWrite = nullptr;
  uint64_t registerTime = 1; ///< Counts instructions for registerWrite.
  uint64_t wgmmaFence = 0;   ///< When the last wgmma.fence ran; 0 for never.
  /// Loads that may be queued still, and by 32 bytes of the register file the
  /// serial number of the last one whose value is there, or 0. Only with
  /// Kernel::overwritesShared.
  ReadQueue *reads = nullptr;
  uint32_t *registerLoad = nullptr;
};

/// How wgmmas in flight use a register.
enum WgmmaUse : uint8_t { wgmmaReads = 1, wgmmaAccumulates = 2 };

struct Barrier {
  bool inUse = false;
  bool counted = false;  ///< Expects `expected` threads, not all.
  uint32_t expected = 0; ///< Threads, a multiple of the warp size.
  uint32_t arrivedThreads = 0;
  uint32_t arrived[maxWarps] = {}; ///< Lanes waiting, by warp.
  uint32_t votesTrue = 0, votes = 0;
  Clock clock = {}, proxyClock = {}; ///< Joined clocks of who arrived.
  /// When each warp arrived in this phase, and in the one before.
  Clock arrivals = {}, lastArrivals = {};
};

/// An mbarrier object. Its eight bytes of shared memory hold nothing that a
/// program may look at.
struct MBarrier {
  uint32_t expected = 0, pending = 0;
  int64_t bytes = 0; ///< The transaction count.
  uint64_t phase = 0;
  /// Whether its initialisation was made visible to asynchronous copies.
  bool fenced = false;
  uint32_t initAgent = 0, initTime = 0, initPc = 0;
  uint32_t initStamp = 0; ///< Of the lane, see LaneOrder.
  /// Joined clocks of who arrived in this phase, and in all before.
  Clock clock = {}, proxyClock = {};
  Clock doneClock = {}, doneProxy = {};
};

/// The wgmmas of a warpgroup that not all of its warps have waited for, from
/// number `first` on.
struct WgmmaLog {
  struct Entry {
    PendingWgmma op;
    /// The first warp to wait has found its operands free again, at this time.
    bool released = false;
    uint32_t agent = 0, time = 0;
  };
  uint64_t first = 0;
  std::deque<Entry> entries;
};

struct Block {
  Dim3 id;
  uint64_t linear = 0;
  unsigned numWarps = 0;
  Warp *warps = nullptr;
  uint32_t rank = 0; ///< In the cluster.
  Cluster *cluster = nullptr;
  const Kernel *kernel = nullptr;
  uint8_t *shared = nullptr;
  uint32_t sharedBytes = 0;
  /// One byte for each byte of shared: SharedState.
  uint8_t *sharedInit = nullptr;
  /// Last writer of each granule: its time << 8 | its agent, proxyWriter and
  /// strongWriter.
  uint32_t *sharedWriter = nullptr;
  /// Readers of each granule since the last write: the earliest time << 32 |
  /// a bit for each agent.
  uint64_t *sharedReader = nullptr;
  /// The stamp of the lane that last wrote each granule, see LaneOrder, and of
  /// the lanes of one warp that have read it since: the earliest stamp << 32 |
  /// a bit for each lane.
  uint32_t *laneWriter = nullptr;
  uint64_t *laneReader = nullptr;
  /// With Kernel::usesAsync: for each four bytes, how many operations in
  /// flight read and write them, and the last one that was through with
  /// reading, as time << 8 | agent.
  uint16_t *sharedReading = nullptr, *sharedWriting = nullptr;
  uint32_t *sharedAsyncReader = nullptr;
  uint32_t inFlight = 0; ///< Operations that use this shared memory.
  /// When agents of other blocks and asynchronous operations last used this
  /// shared memory, and by which instruction.
  Clock touched = {};
  uint32_t touchedPc[maxAgents] = {};
  Barrier barriers[numBarriers];
  std::map<uint32_t, MBarrier> mbarriers; ///< By offset.
  WgmmaLog wgmmaLogs[maxWarps / 4];
  /// What arrivals at the cluster's barrier made visible, in this phase and in
  /// those that are complete. Of a cluster that shares clocks the first block
  /// keeps them for all.
  Clock clusterClock = {}, clusterProxy = {};
  Clock clusterDoneClock = {}, clusterDoneProxy = {};
};

/// Everything an instruction can reach. One for each host thread.
struct Context {
  uint8_t *regs = nullptr;
  uint32_t *preds = nullptr;
  uint32_t exec = 0;   ///< Lanes that this instruction acts on.
  uint32_t active = 0; ///< Lanes of the fragment.
  bool full = false;   ///< Every lane of the warp may be written.
  uint32_t pc = 0;     ///< Of the next instruction.

  Warp *warp = nullptr;
  Block *block = nullptr;
  const Kernel *kernel = nullptr;
  Launch *launch = nullptr;
  const uint8_t *params = nullptr;
  uint32_t paramBytes = 0;

  Allocation *const *allocations = nullptr; ///< Sorted by base.
  uint32_t numAllocations = 0;
  Allocation **allocationCache = nullptr; ///< By Instruction::memoryIndex.

  bool checkUninitialized = true;
  bool checkSharedRaces = true;
  bool checkGlobalRaces = true;
  bool checkAsync = true;
  bool isLate = true; ///< Asynchrony::Late.
  bool countMemory = true;
  /// Grows with what may let a waiting thread go on; see Worker.
  uint64_t events = 0;
  Counters counters;
  InstructionCounts *profile = nullptr; ///< By instruction, or null.
  Status error;

  template <typename T>
  T *slot(int32_t offset) const {
    return reinterpret_cast<T *>(regs + offset);
  }
  /// The instruction being executed.
  uint32_t here() const { return pc - 1; }
};

/// Records an error of the current instruction and returns Next::Fail. `lane`
/// is the lane it is about, or warpSize for the warp as a whole. `what` is the
/// sentence after "thread (x,y,z)".
Next fail(Context &c, ErrorKind kind, unsigned lane, const std::string &what);

/// "thread (3,0,0) of block (1,0,0)", for a lane of a warp.
std::string describeThread(const Context &c, const Warp &warp, unsigned lane);
/// "thread (3,0,0) of the same warp", for a lane of the current one.
std::string describeLane(const Context &c, unsigned lane);
/// "PTX line 12 (file.cu:7), bar.sync".
std::string describePlace(const Context &c, uint32_t pc);

/// Control flow, in ControlHandlers.cpp.
Next branch(Context &c, const Instruction &I);
Next branchIndexed(Context &c, const Instruction &I);
Next reconverge(Context &c, const Instruction &I);
Next exitLanes(Context &c, const Instruction &I);
Next trap(Context &c, const Instruction &I);
Next warpBarrier(Context &c, const Instruction &I);
/// True when all lanes of `required` take part in this instruction, whose
/// lanes are then all in c.exec; otherwise the fragment now waits for them.
bool gatherLanes(Context &c, uint32_t required);
/// Makes fragments ready whose wait for lanes of their warp is over.
void wakeFragments(Warp &warp);

/// Checks and notes the registers that the current instruction names, in a
/// kernel with wgmma; in RegisterUse.cpp. False after a report.
bool trackRegisters(Context &c);

/// Barriers of the block, in Barriers.cpp.
Next blockBarrier(Context &c, const Instruction &I);
/// Releases every barrier that is complete; true when there was one.
bool releaseBarriers(Context &c, Block &block);
/// Explains why no warp of the cluster can go on.
void failDeadlock(Context &c, Cluster &cluster);

/// Meaning of Instruction::aux for blockBarrier.
enum BarrierFlags : uint32_t {
  barrierArrive = 1,
  barrierReduce = 2,
  barrierAligned = 4,
  barrierPopc = 8,
  barrierAnd = 16,
  barrierOr = 32,
  barrierNegate = 64,
};

/// In Block::sharedWriter, marks an atomic or volatile store.
constexpr uint32_t strongWriter = uint32_t(1) << 31;
/// In Block::sharedWriter, marks what was stored through the async proxy.
constexpr uint32_t proxyWriter = uint32_t(1) << 6;
constexpr uint32_t agentMask = maxAgents - 1;
/// The bit of an agent that stands for asynchronous operations.
constexpr uint32_t asyncAgent = maxWarps;

/// Bits of Block::sharedInit.
enum SharedState : uint8_t { sharedWritten = 1, sharedMBarrier = 2 };
/// Times of the race detector stay below this; later races go unseen.
constexpr uint32_t maxTime = (uint32_t(1) << 23) - 1;

/// How an access takes part in races. Two strong accesses never race.
enum class AccessMode : uint8_t {
  Read = 0,
  Write = 1,
  StrongRead = 2,
  StrongWrite = 3,
  Atomic = 4,
};

/// Slow paths and reports of memory access, in MemoryAccess.cpp. `verb` is
/// "reads" or "writes".
Allocation *findAllocation(const Context &c, uint64_t address);
/// Explains why a lane may not access global memory at `address`.
Next failGlobal(Context &c, unsigned lane, uint64_t address, unsigned bytes,
                const char *verb);
Next failSpace(Context &c, unsigned lane, const char *space, uint64_t offset,
               uint64_t limit, unsigned bytes, const char *verb);
/// Reports an address of shared memory that lies in no block.
Next failNoBlock(Context &c, unsigned lane, uint64_t address);
Next failUninitializedGlobal(Context &c, unsigned lane, const Allocation &a,
                             uint64_t offset, unsigned bytes);
Next failUninitializedShared(Context &c, unsigned lane, uint64_t offset,
                             unsigned bytes);
/// Reports a race with another agent over the shared memory of `block`.
Next failSharedRace(Context &c, unsigned lane, const Block &block,
                    uint64_t offset, unsigned bytes, AccessMode mode,
                    unsigned otherAgent, bool otherWrites);
/// Reports a race with another lane of the warp.
Next failLaneRace(Context &c, unsigned lane, const Block &block,
                  uint64_t offset, unsigned bytes, AccessMode mode,
                  unsigned otherLane, bool otherWrites);
/// Reports an access to bytes that hold an mbarrier, or that an asynchronous
/// operation in flight uses.
Next failSharedState(Context &c, unsigned lane, const Block &block,
                     uint64_t offset, unsigned bytes, AccessMode mode);
/// "warp 3" or "an asynchronous operation of warp 3", with its block where
/// that is another one.
std::string describeAgent(const Context &c, unsigned agent);
/// Reports a race with another block over global memory.
Next failGlobalRace(Context &c, unsigned lane, const Allocation &a,
                    uint64_t offset, unsigned bytes, AccessMode mode,
                    uint32_t otherBlock, bool otherWrites);
/// True when the lane is about to store what memory holds already.
bool storesSameValue(const Context &c, const Instruction &I, unsigned lane,
                     const uint8_t *memory);
/// True when two lanes are about to store the same.
bool storeSameValue(const Context &c, const Instruction &I, unsigned lane,
                    unsigned other);
/// Creates a bitmap of sectors, or the race shadow, of an allocation.
uint64_t *createSectors(Context &c, Allocation &a, bool isStore);
bool createRaceShadow(Context &c, Allocation &a);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_CONTEXT_H
