//===- LowerClusters.cpp - Sums over the blocks of a cluster --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what blocks of a cluster do together. Consumers of all
// blocks meet at mbarriers of their own: the cluster's barrier would wait for
// the producers, which may be waiting for the consumers.
//
//===----------------------------------------------------------------------===//

#include "ClusterBarriers.h"
#include "PanelExchange.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

/// On the first barrier the shares of a sum arrive, on the second the blocks
/// meet when they have read theirs. They take turns: nobody comes to one again
/// before all have left it, since all have then come to the other.
static constexpr unsigned kNumMeetings = 2;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void mlir::fusion::arriveAtCluster(ThreadBuilder &builder) {
  // The fence that follows the initialisation of barriers is what others must
  // know of; waiting for all else would take microseconds.
  NVVM::ClusterArriveRelaxedOp::create(builder, builder.getUnitAttr());
}

void mlir::fusion::waitForCluster(ThreadBuilder &builder) {
  NVVM::ClusterWaitOp::create(builder, builder.getUnitAttr());
}

LLVM::LLVMPointerType
mlir::fusion::getClusterPointerType(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(
      context, static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
}

void mlir::fusion::arriveAt(ThreadBuilder &builder, Value remote) {
  builder.inlineAsm(nullptr, {remote},
                    "mbarrier.arrive.shared::cluster.b64 _, [$0];",
                    "l,~{memory}");
}

void mlir::fusion::sendAsync(ThreadBuilder &builder, Value value,
                             unsigned bytes, Value address, Value barrier) {
  unsigned words = bytes / 4;
  Type word = builder.getI32Type();
  auto vector = VectorType::get(words, word);
  value = LLVM::BitcastOp::create(builder, words == 1 ? word : vector, value);
  SmallVector<Value> operands{address, barrier};
  std::string text = "st.async.weak.shared::cluster.mbarrier::complete_tx::"
                     "bytes",
              list, constraints = "l,l";
  for (unsigned i = 0; i < words; ++i) {
    operands.push_back(words == 1 ? value : builder.extractElement(value, i));
    list += (i ? ", $" : "$") + std::to_string(i + 2);
    constraints += ",r";
  }
  if (words > 1) {
    text += ".v" + std::to_string(words);
    list = "{" + list + "}";
  }
  builder.inlineAsm(nullptr, operands, text + ".b32 [$0], " + list + ", [$1];",
                    constraints + ",~{memory}");
}

namespace {
/// What the consumers of a cluster meet at.
struct ClusterMeetings {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ClusterMeetings)
  /// Where the barriers lie.
  SharedPlace place;
  /// Blocks have arrived at the cluster's barrier, none has waited there.
  bool awaitsCluster = false;
};

/// What the blocks of a cluster exchange through.
struct ClusterExchanges {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ClusterExchanges)
  /// Blocks have arrived at the cluster's barrier, none has waited there.
  bool awaitsCluster = false;
};

struct ClusterMemoryLowering : public TileOpLowering<tile::ClusterMemoryOp> {
  /// Makes the barriers.
  LogicalResult beginKernel(ProgramLowering &lowering) const override;
  LogicalResult lower(tile::ClusterMemoryOp op,
                      ProgramLowering &lowering) const override;
};

struct ClusterRankLowering : public TileOpLowering<tile::ClusterRankOp> {
  LogicalResult lower(tile::ClusterRankOp op,
                      ProgramLowering &lowering) const override;
};

struct ClusterReduceLowering : public TileOpLowering<tile::ClusterReduceOp> {
  /// Makes the barriers.
  LogicalResult beginKernel(ProgramLowering &lowering) const override;
  LogicalResult lower(tile::ClusterReduceOp op,
                      ProgramLowering &lowering) const override;
};

/// Builds a sum over the blocks of a cluster.
class ClusterReduceEmitter : public OpEmitter {
public:
  ClusterReduceEmitter(ProgramLowering &lowering, tile::ClusterReduceOp op)
      : OpEmitter(lowering), op(op),
        meetings(lowering.getState<ClusterMeetings>().place),
        whole(tile::getLayout(op.getValue().getType()).getLinear()),
        part(tile::getLayout(op.getType()).getLinear()),
        shared(op.getBuffer().getType().getLayout().getShared()),
        blocks(lowering.getProgram().getCluster().value_or(1)),
        dim(op.getDim()), firstBit(part.dimLog2(dim)) {}

  LogicalResult emit();

private:
  /// What threads send: the accesses to the buffer, and for lane and warp what
  /// their bits add to the place of an element within its part, and to the
  /// number of the part.
  struct Shares {
    tile::SharedAccess access;
    tile::BitMatrix places[2], parts[2];
    /// Threads may differ in the part that their elements belong to, and so in
    /// the block that they write to.
    bool threadsDiffer = false;
  };

  /// The bytes that the bits of `number` move a place along the dimension,
  /// from the first bit of a part's number on.
  uint64_t offsetOfPart(unsigned number) const;
  unsigned partOf(unsigned reg) const {
    return whole.elementOf(reg, 0, 0)[dim] >> firstBit;
  }
  std::optional<tile::SharedAccess> findAccess() const;
  FailureOr<Shares> planShares();
  /// Announces the bytes of the other blocks' shares.
  void expectShares();
  /// Writes to each block of the cluster this block's share of the part that it
  /// finishes: the part whose number is the upper bits of a coordinate.
  LogicalResult pushParts();
  /// Offset of the thread's first element in another block's buffer, and the
  /// bits of it that differ between threads and blocks.
  std::pair<Value, uint64_t> findOffset(const Shares &shares);
  /// The buffer and the barrier of the block that finishes each part, for
  /// register part 0 of this thread.
  std::pair<SmallVector<Value>, SmallVector<Value>>
  findTargets(const Shares &shares);
  /// Sums up the shares that lie in the buffer.
  LogicalResult addShares();
  /// Arrives, as all consumers do, and waits for the phase to complete.
  void arriveAndWait(const SharedPlace &barrier);
  /// Waits until the consumers of all blocks have come here.
  void meetCluster();

  tile::ClusterReduceOp op;
  SharedPlace meetings;
  const LinearLayout &whole, &part;
  const tile::SharedLayout &shared;
  unsigned blocks, dim, firstBit;
};
} // namespace

LogicalResult
ClusterReduceLowering::beginKernel(ProgramLowering &lowering) const {
  tile::ProgramOp program = lowering.getProgram();
  bool isSpecialized = false, reduces = false, reducesOnce = true;
  program.getBody().walk([&](Operation *op) {
    isSpecialized |= isa<tile::SpecializeOp>(op);
    reduces |= isa<tile::ClusterReduceOp>(op);
    if (isa<tile::ClusterReduceOp>(op))
      reducesOnce &= op->getParentOp() == program;
  });
  if (!reduces)
    return success();
  // Allocation left room for the barriers at the end.
  ThreadBuilder &builder = lowering.getBuilder();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  auto &[place, awaitsCluster] = lowering.getState<ClusterMeetings>();
  place = SharedPlace::at(program.getSharedBytes().value_or(0) -
                          kNumMeetings * kBarrierBytes);
  // All threads arrive at their own block's, at the second one of each other
  // block does too.
  int32_t threads = program.getNumWarps() * kWarpThreads;
  int32_t others = program.getCluster().value_or(1) - 1;
  SharedPlace at = place;
  builder.ifThread(lowering.getThreads().isFirst(), [&] {
    for (unsigned i = 0; i < kNumMeetings; ++i)
      NVVM::MBarrierInitOp::create(
          builder, sharedMemory.getAddress(at.plus(i * kBarrierBytes)),
          builder.constant32(threads + (i == 0 ? 0 : others)),
          /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(builder);
  });
  if (isSpecialized)
    return success();
  // Other blocks matter when the first share is sent: loads need not wait for
  // them to begin.
  arriveAtCluster(builder);
  awaitsCluster = reducesOnce;
  if (!awaitsCluster)
    waitForCluster(builder);
  return success();
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

void mlir::fusion::awaitClusterMemory(ProgramLowering &lowering) {
  bool &awaitsCluster = lowering.getState<ClusterExchanges>().awaitsCluster;
  if (awaitsCluster)
    waitForCluster(lowering.getBuilder());
  awaitsCluster = false;
}

LogicalResult
ClusterMemoryLowering::beginKernel(ProgramLowering &lowering) const {
  tile::ProgramOp program = lowering.getProgram();
  tile::ClusterMemoryOp memory;
  SmallVector<tile::PanelReduceOp> exchanges;
  program.getBody().walk([&](Operation *op) {
    if (auto own = dyn_cast<tile::ClusterMemoryOp>(op))
      memory = own;
    if (auto exchange = dyn_cast<tile::PanelReduceOp>(op))
      exchanges.push_back(exchange);
  });
  if (!memory)
    return success();
  if (!memory.getOffset())
    return memory.emitOpError("FUS-3304: shared memory is not allocated");
  // A barrier completes its only phase when all words have arrived.
  ThreadBuilder &builder = lowering.getBuilder();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  auto start = static_cast<int64_t>(*memory.getOffset());
  builder.ifThread(lowering.getThreads().isFirst(), [&] {
    for (tile::PanelReduceOp exchange : exchanges) {
      auto place = SharedPlace::at(
          start + static_cast<int64_t>(exchange.getOffset()) - kHeadBytes);
      NVVM::MBarrierInitOp::create(builder, sharedMemory.getAddress(place),
                                   builder.constant32(1),
                                   /*predicate=*/Value());
      int64_t bytes = kSentBytes * exchange.getNumWords() *
                      static_cast<int64_t>(exchange.getValues().size());
      builder.inlineAsm(nullptr,
                        {sharedMemory.getAddress32(place),
                         builder.constant32(static_cast<int32_t>(bytes))},
                        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], "
                        "$1;",
                        "r,r,~{memory}");
    }
    NVVM::FenceMbarrierInitOp::create(builder);
  });
  // Others send when they know that: loads need not wait for them to begin.
  arriveAtCluster(builder);
  lowering.getState<ClusterExchanges>().awaitsCluster = true;
  return success();
}

LogicalResult ClusterMemoryLowering::lower(tile::ClusterMemoryOp op,
                                           ProgramLowering &lowering) const {
  lowering.set(op.getResult(),
               {lowering.getSharedMemory().getAddress(
                   SharedPlace::at(static_cast<int64_t>(*op.getOffset())))});
  return success();
}

LogicalResult ClusterRankLowering::lower(tile::ClusterRankOp op,
                                         ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  Value rank = NVVM::ClusterId::create(builder, builder.getI32Type());
  lowering.set(op.getResult(), {builder.toIndex(rank)});
  return success();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void ClusterReduceEmitter::arriveAndWait(const SharedPlace &barrier) {
  Value address = sharedMemory.getAddress32(barrier);
  // Not at cluster scope, which waits for all of a thread's writes to be known
  // everywhere: what passes between blocks here is ordered by the barrier.
  builder.inlineAsm(nullptr, {address},
                    "{\n"
                    ".reg .pred done;\n"
                    ".reg .b64 phase;\n"
                    "mbarrier.arrive.shared::cta.b64 phase, [$0];\n"
                    "again:\n"
                    "mbarrier.try_wait.shared::cta.b64 done, [$0], phase;\n"
                    "@!done bra again;\n"
                    "}",
                    "r,~{memory}");
}

void ClusterReduceEmitter::meetCluster() {
  SharedPlace place = meetings.plus(kBarrierBytes);
  lowering.getRole().createBarrier();
  Value rank = NVVM::ClusterId::create(builder, builder.getI32Type());
  Value first = threads.isFirst();
  builder.ifThread(first, [&] {
    for (int32_t step = 1; step < int32_t(blocks); ++step) {
      Value other = arith::AndIOp::create(
          builder,
          arith::AddIOp::create(builder, rank, builder.constant32(step)),
          builder.constant32(blocks - 1));
      arriveAt(builder,
               NVVM::MapaOp::create(builder,
                                    getClusterPointerType(builder.getContext()),
                                    sharedMemory.getAddress(place), other));
    }
  });
  arriveAndWait(place);
}

uint64_t ClusterReduceEmitter::offsetOfPart(unsigned number) const {
  uint64_t offset = 0;
  for (unsigned bit = 0; number >> bit; ++bit)
    if (number >> bit & 1)
      offset ^= shared.offsetBasis(dim, firstBit + bit);
  return offset;
}

std::optional<tile::SharedAccess> ClusterReduceEmitter::findAccess() const {
  // A vector goes to one block: no more elements than lie in one part.
  auto mixesParts = [&](const tile::SharedAccess::Group &group) {
    return llvm::any_of(group.regs, [&](unsigned reg) {
      return partOf(reg) != partOf(group.regs.front());
    });
  };
  unsigned width = tile::getWidestSharedVector(whole, shared);
  std::optional<tile::SharedAccess> access =
      tile::getSharedAccess(whole, shared, width);
  for (; access && llvm::any_of(access->groups, mixesParts); width /= 2)
    access = tile::getSharedAccess(whole, shared, width / 2);
  return access;
}

FailureOr<ClusterReduceEmitter::Shares> ClusterReduceEmitter::planShares() {
  std::optional<tile::SharedAccess> access = findAccess();
  if (!access)
    return op.emitOpError("FUS-3307: no access of this layout to the buffer");
  Shares shares{*access, {}, {}};
  for (HwDim hw : {HwDim::Lane, HwDim::Warp}) {
    SmallVector<uint64_t, 5> places, parts;
    for (unsigned bit = 0; bit < whole.numBits(hw); ++bit) {
      unsigned number = whole.basis(hw, bit)[dim] >> firstBit;
      const tile::BitMatrix &offsets =
          hw == HwDim::Lane ? access->laneOffset : access->warpOffset;
      places.push_back(offsets.column(bit) ^ offsetOfPart(number));
      parts.push_back(number);
      shares.threadsDiffer |= number != 0;
    }
    unsigned rows = access->laneOffset.numRows();
    shares.places[hw == HwDim::Warp] = tile::BitMatrix(places, rows);
    shares.parts[hw == HwDim::Warp] = tile::BitMatrix(parts, rows);
  }
  return shares;
}

std::pair<Value, uint64_t>
ClusterReduceEmitter::findOffset(const Shares &shares) {
  // In the buffer of the block that finishes a part, this block's share of it
  // lies where the part of this block's rank would.
  Value offset = threads.apply(shares.places[0], shares.places[1]);
  Value rank = NVVM::ClusterId::create(builder, builder.getI32Type());
  uint64_t mask = 0;
  for (const tile::BitMatrix &places : shares.places)
    for (uint64_t column : places.getColumns())
      mask |= column;
  for (unsigned bit = 0; 1u << bit < blocks; ++bit) {
    uint64_t step = shared.offsetBasis(dim, firstBit + bit);
    Value set = arith::AndIOp::create(
        builder, arith::ShRUIOp::create(builder, rank, builder.constant32(bit)),
        builder.constant32(1));
    offset =
        arith::XOrIOp::create(builder, offset,
                              builder.toIndex(arith::MulIOp::create(
                                  builder, set, builder.constant32(step))));
    mask |= step;
  }
  return {offset, mask};
}

std::pair<SmallVector<Value>, SmallVector<Value>>
ClusterReduceEmitter::findTargets(const Shares &shares) {
  LLVM::LLVMPointerType cluster = getClusterPointerType(builder.getContext());
  SmallVector<Value> bases, barriers;
  Value own = sharedMemory.getAddress(sharedMemory.getPlace(op.getBuffer()));
  Value ofThread =
      shares.threadsDiffer
          ? builder.toI32(threads.apply(shares.parts[0], shares.parts[1]))
          : Value();
  for (unsigned block = 0; block < blocks; ++block) {
    Value number = builder.constant32(block);
    if (ofThread)
      number = arith::XOrIOp::create(builder, ofThread, number);
    bases.push_back(NVVM::MapaOp::create(builder, cluster, own, number));
    barriers.push_back(NVVM::MapaOp::create(
        builder, cluster, sharedMemory.getAddress(meetings), number));
  }
  return {bases, barriers};
}

LogicalResult ClusterReduceEmitter::pushParts() {
  FailureOr<Shares> shares = planShares();
  if (failed(shares))
    return failure();
  auto [offset, mask] = findOffset(*shares);
  auto [bases, barriers] = findTargets(*shares);
  const Scalars &source = lowering.get(op.getValue());
  // Bytes are counted: of threads that have the same elements one sends them.
  OpBuilder::InsertionGuard guard(builder);
  if (Value owner = threads.isOwner(whole)) {
    auto guarded = scf::IfOp::create(builder, owner,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  for (const tile::SharedAccess::Group &group : shares->access.groups) {
    unsigned number = partOf(group.regs.front());
    uint64_t place = group.offset ^ offsetOfPart(number);
    SmallVector<Value> members;
    for (unsigned reg : group.regs)
      members.push_back(source[reg]);
    Value value = builder.packForMemory(members);
    Value moved = offset;
    if (place & mask)
      moved = arith::XOrIOp::create(builder, offset,
                                    builder.constantIndex(place & mask));
    Value address = builder.advance(bases[number], moved);
    if (int32_t constant = place & ~mask)
      address = builder.advance(address, constant);
    unsigned bytes = shared.elementBytes() * members.size();
    if (bytes % 4 != 0)
      return op.emitOpError("FUS-3317: shares are sent in pieces of 4 bytes, "
                            "this layout has ")
             << bytes;
    sendAsync(builder, value, bytes, address, barriers[number]);
  }
  return success();
}

void ClusterReduceEmitter::expectShares() {
  builder.ifThread(threads.isFirst(), [&] {
    builder.inlineAsm(
        nullptr,
        {sharedMemory.getAddress32(meetings),
         builder.constant32(shared.sizeInBytes())},
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;",
        "r,r,~{memory}");
  });
}

LogicalResult ClusterReduceEmitter::addShares() {
  // The shares of the blocks lie in the buffer one after the other.
  std::optional<LinearLayout> inWhole = LinearLayout::fromBases(
      shared.shape(), tile::getBases(part, HwDim::Register),
      tile::getBases(part, HwDim::Lane), tile::getBases(part, HwDim::Warp));
  std::optional<tile::SharedAccess> access;
  if (inWhole)
    access = tile::getSharedAccess(
        *inWhole, shared, tile::getWidestSharedVector(*inWhole, shared));
  if (!access)
    return op.emitOpError("FUS-3307: no access of this layout to the buffer");
  Value offset = threads.apply(access->laneOffset, access->warpOffset);
  SharedPlace place = sharedMemory.getPlace(op.getBuffer());
  Type element = lowering.scalarType(op.getType());
  Type stored = memoryType(element);
  Scalars results(part.numRegs());
  for (const tile::SharedAccess::Group &group : access->groups) {
    unsigned count = group.regs.size();
    Type type = count == 1 ? stored : Type(VectorType::get(count, stored));
    // In the order of ranks, so that the sum is the same in every run.
    for (unsigned block = 0; block < blocks; ++block) {
      uint64_t at = group.offset ^ offsetOfPart(block);
      Value address = sharedMemory.getAddress(
          place, offset, at & access->threadMask, at & ~access->threadMask);
      Value loaded = LLVM::LoadOp::create(builder, type, address,
                                          shared.elementBytes() * count);
      for (auto [i, reg] : llvm::enumerate(group.regs)) {
        Value value = builder.fromMemory(
            count == 1 ? loaded : builder.extractElement(loaded, i), element);
        results[reg] =
            block == 0 ? value : builder.createSum(results[reg], value);
      }
    }
  }
  for (unsigned reg = 0; reg < part.numRegs(); ++reg)
    results[reg] = results[access->holder[reg]];
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult ClusterReduceEmitter::emit() {
  if (!llvm::isPowerOf2_32(blocks))
    return op.emitOpError("FUS-3317: a cluster of ") << blocks << " blocks";
  bool &awaitsCluster = lowering.getState<ClusterMeetings>().awaitsCluster;
  if (awaitsCluster)
    waitForCluster(builder);
  awaitsCluster = false;
  expectShares();
  // Stores to other blocks cost no waiting, where loads from them would; each
  // counts at the barrier of the block it goes to.
  if (failed(pushParts()))
    return failure();
  arriveAndWait(meetings);
  if (failed(addShares()))
    return failure();
  // Nobody may write shares of another sum here before all of these are read.
  if (op->getParentOfType<scf::ForOp>())
    meetCluster();
  return success();
}

LogicalResult ClusterReduceLowering::lower(tile::ClusterReduceOp op,
                                           ProgramLowering &lowering) const {
  return ClusterReduceEmitter(lowering, op).emit();
}

void mlir::fusion::populateClusterLowerings(LoweringSet &lowerings) {
  lowerings
      .add<ClusterMemoryLowering, ClusterRankLowering, ClusterReduceLowering>();
}
