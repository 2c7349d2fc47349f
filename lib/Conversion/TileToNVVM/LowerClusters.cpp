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

#include "ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

static constexpr int64_t kBarrierBytes = 8;
/// On the first barrier the shares of a sum arrive, on the second the blocks
/// meet when they have read theirs. They take turns: nobody comes to one again
/// before all have left it, since all have then come to the other.
static constexpr unsigned kNumMeetings = 2;

void ProgramLowering::arriveAtCluster() {
  // The fence that follows the initialisation of barriers is what others must
  // know of; waiting for all else would take microseconds.
  NVVM::ClusterArriveRelaxedOp::create(builder, loc, builder.getUnitAttr());
}

void ProgramLowering::waitForCluster() {
  NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
}

void ProgramLowering::clusterBarrier() {
  arriveAtCluster();
  waitForCluster();
}

LLVM::LLVMPointerType ProgramLowering::clusterPointerType() {
  return LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
}

void ProgramLowering::prepareCluster() {
  bool isSpecialized = false, reduces = false, reducesOnce = true;
  program.getBody().walk([&](Operation *op) {
    isSpecialized |= isa<tile::SpecializeOp>(op);
    reduces |= isa<tile::ClusterReduceOp>(op);
    if (isa<tile::ClusterReduceOp>(op))
      reducesOnce &= op->getParentOp() == program;
  });
  if (!reduces)
    return;
  // Allocation left room for the barriers at the end.
  meetings = SharedPlace::at(program.getSharedBytes().value_or(0) -
                             kNumMeetings * kBarrierBytes);
  // All threads arrive at their own block's, at the second one of each other
  // block does too.
  int32_t threads = program.getNumWarps() * 32;
  int32_t others = program.getCluster().value_or(1) - 1;
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      thread, constant32(0));
  ifThread(first, [&] {
    for (unsigned i = 0; i < kNumMeetings; ++i)
      NVVM::MBarrierInitOp::create(
          builder, loc, sharedAddress(meetings.plus(i * kBarrierBytes)),
          constant32(threads + (i == 0 ? 0 : others)), /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  });
  if (isSpecialized)
    return;
  // Other blocks matter when the first share is sent: loads need not wait for
  // them to begin.
  arriveAtCluster();
  awaitsCluster = reducesOnce;
  if (!awaitsCluster)
    waitForCluster();
}

LogicalResult ProgramLowering::lowerClusterRank(tile::ClusterRankOp op) {
  Value rank = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  values[op.getResult()] = {toIndex(rank)};
  return success();
}

void ProgramLowering::arriveAndWait(const SharedPlace &barrier) {
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                           sharedAddress(barrier));
  // Not at cluster scope, which waits for all of a thread's writes to be known
  // everywhere: what passes between blocks here is ordered by the barrier.
  inlineAsm(nullptr, {address},
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

/// Waits until the consumers of all blocks have come here.
void ProgramLowering::meetCluster() {
  SharedPlace place = meetings.plus(kBarrierBytes);
  lowerBarrier();
  Value rank = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      thread, constant32(0));
  int32_t blocks = program.getCluster().value_or(1);
  ifThread(first, [&] {
    for (int32_t step = 1; step < blocks; ++step) {
      Value other = arith::AndIOp::create(
          builder, loc,
          arith::AddIOp::create(builder, loc, rank, constant32(step)),
          constant32(blocks - 1));
      arriveAt(NVVM::MapaOp::create(builder, loc, clusterPointerType(),
                                    sharedAddress(place), other));
    }
  });
  arriveAndWait(place);
}

void ProgramLowering::arriveAt(Value remote) {
  inlineAsm(nullptr, {remote}, "mbarrier.arrive.shared::cluster.b64 _, [$0];",
            "l,~{memory}");
}

/// The bytes that the bits of `number` move a place along dimension `dim` of
/// `shared`, from bit `first` of its coordinate on.
static uint64_t offsetOfPart(const tile::SharedLayout &shared, unsigned dim,
                             unsigned first, unsigned number) {
  uint64_t offset = 0;
  for (unsigned bit = 0; number >> bit; ++bit)
    if (number >> bit & 1)
      offset ^= shared.offsetBasis(dim, first + bit);
  return offset;
}

void ProgramLowering::sendAsync(Value value, unsigned bytes, Value address,
                                Value barrier) {
  unsigned words = bytes / 4;
  Type word = builder.getI32Type();
  auto vector = VectorType::get(words, word);
  value =
      LLVM::BitcastOp::create(builder, loc, words == 1 ? word : vector, value);
  SmallVector<Value> operands{address, barrier};
  std::string text = "st.async.weak.shared::cluster.mbarrier::complete_tx::"
                     "bytes",
              list, constraints = "l,l";
  for (unsigned i = 0; i < words; ++i) {
    operands.push_back(words == 1 ? value : extractElement(value, i));
    list += (i ? ", $" : "$") + std::to_string(i + 2);
    constraints += ",r";
  }
  if (words > 1) {
    text += ".v" + std::to_string(words);
    list = "{" + list + "}";
  }
  inlineAsm(nullptr, operands, text + ".b32 [$0], " + list + ", [$1];",
            constraints + ",~{memory}");
}

LogicalResult ProgramLowering::pushParts(tile::ClusterReduceOp op,
                                         unsigned firstBit) {
  unsigned blocks = program.getCluster().value_or(1), dim = op.getDim();
  const LinearLayout &layout =
      tile::getLayout(op.getValue().getType()).getLinear();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  // A vector goes to one block: no more elements than lie in one part.
  auto partOf = [&](unsigned reg) {
    return layout.elementOf(reg, 0, 0)[dim] >> firstBit;
  };
  auto mixesParts = [&](const tile::SharedAccess::Group &group) {
    return llvm::any_of(group.regs, [&](unsigned reg) {
      return partOf(reg) != partOf(group.regs.front());
    });
  };
  unsigned width = tile::getWidestSharedVector(layout, shared);
  std::optional<tile::SharedAccess> access =
      tile::getSharedAccess(layout, shared, width);
  for (; access && llvm::any_of(access->groups, mixesParts); width /= 2)
    access = tile::getSharedAccess(layout, shared, width / 2);
  if (!access)
    return op.emitOpError("FUS-3307: no access of this layout to the buffer");
  // Threads may differ in the part that their elements belong to, and so in the
  // block that they write to.
  tile::BitMatrix placeOfThread[2], partOfThread[2];
  bool threadsDiffer = false;
  for (HwDim hw : {HwDim::Lane, HwDim::Warp}) {
    SmallVector<uint64_t, 5> places, parts;
    for (unsigned bit = 0; bit < layout.numBits(hw); ++bit) {
      unsigned part = layout.basis(hw, bit)[dim] >> firstBit;
      const tile::BitMatrix &offsets =
          hw == HwDim::Lane ? access->laneOffset : access->warpOffset;
      places.push_back(offsets.column(bit) ^
                       offsetOfPart(shared, dim, firstBit, part));
      parts.push_back(part);
      threadsDiffer |= part != 0;
    }
    unsigned rows = access->laneOffset.numRows();
    placeOfThread[hw == HwDim::Warp] = tile::BitMatrix(places, rows);
    partOfThread[hw == HwDim::Warp] = tile::BitMatrix(parts, rows);
  }

  // In the buffer of the block that finishes a part, this block's share of it
  // lies where the part of this block's rank would.
  Value offset = applyToThread(placeOfThread[0], placeOfThread[1]);
  Value rank = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  uint64_t mask = 0;
  for (const tile::BitMatrix &places : placeOfThread)
    for (uint64_t column : places.getColumns())
      mask |= column;
  for (unsigned bit = 0; 1u << bit < blocks; ++bit) {
    uint64_t step = shared.offsetBasis(dim, firstBit + bit);
    Value set = arith::AndIOp::create(
        builder, loc,
        arith::ShRUIOp::create(builder, loc, rank, constant32(bit)),
        constant32(1));
    offset = arith::XOrIOp::create(
        builder, loc, offset,
        toIndex(arith::MulIOp::create(builder, loc, set, constant32(step))));
    mask |= step;
  }
  LLVM::LLVMPointerType cluster = clusterPointerType();
  SmallVector<Value> bases, barriers;
  Value own = sharedAddress(placeOf(op.getBuffer()));
  Value ofThread = threadsDiffer
                       ? toI32(applyToThread(partOfThread[0], partOfThread[1]))
                       : Value();
  for (unsigned block = 0; block < blocks; ++block) {
    Value number = constant32(block);
    if (ofThread)
      number = arith::XOrIOp::create(builder, loc, ofThread, number);
    bases.push_back(NVVM::MapaOp::create(builder, loc, cluster, own, number));
    barriers.push_back(NVVM::MapaOp::create(builder, loc, cluster,
                                            sharedAddress(meetings), number));
  }
  const Scalars &source = get(op.getValue());
  // Bytes are counted: of threads that have the same elements one sends them.
  OpBuilder::InsertionGuard guard(builder);
  if (Value owner = isOwner(layout)) {
    auto guarded = scf::IfOp::create(builder, loc, owner,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  for (const tile::SharedAccess::Group &group : access->groups) {
    unsigned part = partOf(group.regs.front());
    uint64_t place = group.offset ^ offsetOfPart(shared, dim, firstBit, part);
    SmallVector<Value> members;
    for (unsigned reg : group.regs)
      members.push_back(toMemory(source[reg]));
    Value value = members.size() == 1 ? members.front() : buildVector(members);
    Value moved = offset;
    if (place & mask)
      moved = arith::XOrIOp::create(builder, loc, offset,
                                    constantIndex(place & mask));
    Value address =
        LLVM::GEPOp::create(builder, loc, cluster, builder.getI8Type(),
                            bases[part], ArrayRef<LLVM::GEPArg>{moved});
    if (int32_t constant = place & ~mask)
      address = LLVM::GEPOp::create(builder, loc, cluster, builder.getI8Type(),
                                    address, ArrayRef<LLVM::GEPArg>{constant});
    unsigned bytes = shared.elementBytes() * members.size();
    if (bytes % 4 != 0)
      return op.emitOpError("FUS-3317: shares are sent in pieces of 4 bytes, "
                            "this layout has ")
             << bytes;
    sendAsync(value, bytes, address, barriers[part]);
  }
  return success();
}

LogicalResult ProgramLowering::lowerClusterReduce(tile::ClusterReduceOp op) {
  unsigned blocks = program.getCluster().value_or(1), dim = op.getDim();
  const LinearLayout &part = tile::getLayout(op.getType()).getLinear();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  if (!llvm::isPowerOf2_32(blocks))
    return op.emitOpError("FUS-3317: a cluster of ") << blocks << " blocks";
  if (awaitsCluster)
    waitForCluster();
  awaitsCluster = false;
  unsigned firstBit = part.dimLog2(dim);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      thread, constant32(0));
  ifThread(first, [&] {
    Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                             sharedAddress(meetings));
    inlineAsm(nullptr, {address, constant32(shared.sizeInBytes())},
              "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;",
              "r,r,~{memory}");
  });
  // Stores to other blocks cost no waiting, where loads from them would; each
  // counts at the barrier of the block it goes to.
  if (failed(pushParts(op, firstBit)))
    return failure();
  arriveAndWait(meetings);

  // The shares of the blocks lie in the buffer one after the other.
  SmallVector<tile::Coords> bases[3];
  for (HwDim hw : {HwDim::Register, HwDim::Lane, HwDim::Warp})
    for (unsigned bit = 0; bit < part.numBits(hw); ++bit)
      bases[static_cast<unsigned>(hw)].push_back(part.basis(hw, bit));
  std::optional<LinearLayout> inWhole =
      LinearLayout::fromBases(shared.shape(), bases[0], bases[1], bases[2]);
  std::optional<tile::SharedAccess> access;
  if (inWhole)
    access = tile::getSharedAccess(
        *inWhole, shared, tile::getWidestSharedVector(*inWhole, shared));
  if (!access)
    return op.emitOpError("FUS-3307: no access of this layout to the buffer");
  Value offset = applyToThread(access->laneOffset, access->warpOffset);
  SharedPlace place = placeOf(op.getBuffer());
  Type element = scalarType(op.getType());
  Type stored = memoryType(element);
  Scalars results(part.numRegs());
  for (const tile::SharedAccess::Group &group : access->groups) {
    unsigned count = group.regs.size();
    Type type = count == 1 ? stored : Type(VectorType::get(count, stored));
    // In the order of ranks, so that the sum is the same in every run.
    for (unsigned block = 0; block < blocks; ++block) {
      uint64_t at = group.offset ^ offsetOfPart(shared, dim, firstBit, block);
      Value address = sharedAddress(place, offset, at & access->threadMask,
                                    at & ~access->threadMask);
      Value loaded = LLVM::LoadOp::create(builder, loc, type, address,
                                          shared.elementBytes() * count);
      for (auto [i, reg] : llvm::enumerate(group.regs)) {
        Value value = fromMemory(
            count == 1 ? loaded : extractElement(loaded, i), element);
        if (block == 0)
          results[reg] = value;
        else if (isa<FloatType>(element))
          results[reg] =
              arith::AddFOp::create(builder, loc, results[reg], value);
        else
          results[reg] =
              arith::AddIOp::create(builder, loc, results[reg], value);
      }
    }
  }
  for (unsigned reg = 0; reg < part.numRegs(); ++reg)
    results[reg] = results[access->holder[reg]];
  values[op.getResult()] = results;
  // Nobody may write shares of another sum here before all of these are read.
  if (op->getParentOfType<scf::ForOp>())
    meetCluster();
  return success();
}
