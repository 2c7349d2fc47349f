//===- LowerRings.cpp - Rings of buffers and tensor copies into them ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the barriers of rings, and the copies of the tensor copy
// engine that complete on them.
//
//===----------------------------------------------------------------------===//

#include "ClusterBarriers.h"
#include "OpEmitter.h"
#include "RingStages.h"
#include "SharedStores.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct MakeRingLowering : public TileOpLowering<tile::MakeRingOp> {
  LogicalResult lower(tile::MakeRingOp op,
                      ProgramLowering &lowering) const override;
};

struct AcquireLowering : public TileOpLowering<tile::AcquireOp> {
  LogicalResult lower(tile::AcquireOp op,
                      ProgramLowering &lowering) const override;
};

struct WaitLowering : public TileOpLowering<tile::WaitOp> {
  LogicalResult lower(tile::WaitOp op,
                      ProgramLowering &lowering) const override;
};

struct DrainLowering : public TileOpLowering<tile::DrainOp> {
  LogicalResult lower(tile::DrainOp op,
                      ProgramLowering &lowering) const override;
};

struct GroupBufferLowering : public TileOpLowering<tile::GroupBufferOp> {
  LogicalResult lower(tile::GroupBufferOp op,
                      ProgramLowering &lowering) const override;
};

struct TransposeBufferLowering
    : public TileOpLowering<tile::TransposeBufferOp> {
  LogicalResult lower(tile::TransposeBufferOp op,
                      ProgramLowering &lowering) const override;
};

struct ReleaseLowering : public TileOpLowering<tile::ReleaseOp> {
  LogicalResult lower(tile::ReleaseOp op,
                      ProgramLowering &lowering) const override;
};

struct AsyncLoadLowering : public TileOpLowering<tile::AsyncLoadOp> {
  LogicalResult lower(tile::AsyncLoadOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

/// Waits until the phase of `barrier` whose parity is `parity` is complete.
static void waitForPhase(ProgramLowering &lowering, const SharedPlace &barrier,
                         Value parity) {
  Value address = lowering.getSharedMemory().getAddress32(barrier);
  lowering.getBuilder().inlineAsm(
      nullptr, {address, parity},
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n"
      "@!done bra again;\n"
      "}",
      "r,r,~{memory}");
}

/// Waits until the stage may be written to. The first round finds every stage
/// free: the phase before the first counts as complete.
static void waitUntilEmpty(ProgramLowering &lowering, const RingStage &stage) {
  ThreadBuilder &builder = lowering.getBuilder();
  waitForPhase(
      lowering, stage.empty,
      arith::XOrIOp::create(builder, stage.parity, builder.constant32(1)));
}

/// Gives the buffers of a stage their places.
static void setBuffers(ProgramLowering &lowering, const RingStage &stage,
                       tile::RingType ring, ValueRange buffers) {
  for (auto [number, buffer] : llvm::enumerate(buffers))
    lowering.getSharedMemory().setPlace(
        buffer, stage.buffers.plus(ring.getBufferOffset(number)));
}

/// The stage that `op` names.
template <typename OpT>
static RingStage getStage(OpT op, ProgramLowering &lowering) {
  Value position = lowering.getScalar(op.getPosition());
  return getStage(lowering, op.getRing(),
                  lowering.getBuilder().toI32(position));
}

LogicalResult MakeRingLowering::lower(tile::MakeRingOp op,
                                      ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  if (!op.getOffset())
    return op.emitOpError("FUS-3310: has no place in shared memory; run "
                          "fusion-tile-allocate-shared-memory first");
  tile::RingType type = op.getType();
  int64_t stages = type.getStages();
  auto barriers =
      SharedPlace::at(*op.getOffset() + stages * type.getStageBytes());
  Value first = threads.isFirst();
  // Full: one arrival, by who announces the bytes, or one by each thread that
  // copies. Empty: one by each warp that reads what is copied from here.
  int32_t writers = op.getByThreads()
                        ? lowering.getProgram().getNumWarps() * kWarpThreads
                        : 1;
  int32_t readers =
      lowering.getProgram().getNumWarps() * op.getGroups().value_or(1);
  if (op.getMulticast())
    readers *= lowering.getProgram().getCluster().value_or(1);
  builder.ifThread(first, [&] {
    for (int64_t i = 0; i < 2 * stages; ++i)
      NVVM::MBarrierInitOp::create(
          builder, sharedMemory.getAddress(barriers.plus(i * kBarrierBytes)),
          builder.constant32(i < stages ? writers : readers),
          /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(builder);
  });
  return success();
}

LogicalResult AcquireLowering::lower(tile::AcquireOp op,
                                     ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  RingStage stage = getStage(op, lowering);
  waitUntilEmpty(lowering, stage);
  if (op.getBuffers().empty())
    return success();
  int64_t bytes = 0;
  for (Value buffer : op.getBuffers())
    bytes += cast<tile::BufferType>(buffer.getType())
                 .getLayout()
                 .getShared()
                 .sizeInBytes();
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, /*res=*/Type(), sharedMemory.getAddress(stage.full),
      builder.constant32(bytes), NVVM::MemScopeKind::CTA, /*relaxed=*/false,
      /*predicate=*/Value());
  setBuffers(lowering, stage, op.getRing().getType(), op.getBuffers());
  return success();
}

LogicalResult DrainLowering::lower(tile::DrainOp op,
                                   ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  Value position = lowering.getScalar(op.getPosition());
  for (int64_t i = 0; i < op.getRing().getType().getStages(); ++i) {
    Value at = arith::AddIOp::create(builder, builder.toI32(position),
                                     builder.constant32(i));
    RingStage stage = getStage(lowering, op.getRing(), at);
    waitUntilEmpty(lowering, stage);
  }
  return success();
}

LogicalResult WaitLowering::lower(tile::WaitOp op,
                                  ProgramLowering &lowering) const {
  RingStage stage = getStage(op, lowering);
  waitForPhase(lowering, stage.full, stage.parity);
  setBuffers(lowering, stage, op.getRing().getType(), op.getBuffers());
  return success();
}

LogicalResult GroupBufferLowering::lower(tile::GroupBufferOp op,
                                         ProgramLowering &lowering) const {
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  SharedPlace place = sharedMemory.getPlace(op.getBuffers().front());
  // The buffers are equal, so that alignment leaves them equally far apart.
  if (op.getBuffers().size() > 1) {
    place.group = lowering.getRole().getGroup();
    place.groupBytes =
        sharedMemory.getPlace(op.getBuffers()[1]).offset - place.offset;
  }
  sharedMemory.setPlace(op.getResult(), place);
  return success();
}

LogicalResult TransposeBufferLowering::lower(tile::TransposeBufferOp op,
                                             ProgramLowering &lowering) const {
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  sharedMemory.setPlace(op.getResult(), sharedMemory.getPlace(op.getBuffer()));
  return success();
}

/// True when a product takes what is computed from `load`: it has then been
/// read whole once the product has been waited for.
static bool feedsProduct(tile::LocalLoadOp load) {
  SmallVector<Operation *> worklist{load};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      if (isa<tile::MmaAsyncOp, tile::LocalStoreOp>(user))
        return true;
      if (user->getBlock() == load->getBlock() && seen.insert(user).second)
        worklist.push_back(user);
    }
  return false;
}

/// True when threads may still be reading a stage into registers where `op`
/// frees it: nothing between need have used what they read.
static bool followsReads(tile::ReleaseOp op) {
  bool waits = false;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    waits |= isa<tile::MmaWaitOp>(before);
    auto load = dyn_cast<tile::LocalLoadOp>(before);
    if (!load)
      continue;
    auto wait =
        tile::getStageBuffer(load.getBuffer()).getDefiningOp<tile::WaitOp>();
    if (wait && wait.getRing() == op.getRing() &&
        !(waits && feedsProduct(load)))
      return true;
  }
  return false;
}

LogicalResult ReleaseLowering::lower(tile::ReleaseOp op,
                                     ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  RingStage stage = getStage(op, lowering);
  // An arrival does not wait for loads before it, and the copy that it lets go
  // on is of another proxy.
  if (followsReads(op))
    fenceCopies(builder);
  // All lanes have read what they wanted before one of them says so.
  builder.syncWarp();
  Value lane = threads.getLane();
  if (op.getRing().getDefiningOp<tile::MakeRingOp>().getMulticast()) {
    // One lane for each block that copies to here. The others' numbers are
    // made ranks too: what has no effect may be computed before the branch.
    int64_t blocks = lowering.getProgram().getCluster().value_or(1);
    Value mine = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, lane,
                                       builder.constant32(blocks));
    Value rank =
        arith::AndIOp::create(builder, lane, builder.constant32(blocks - 1));
    builder.ifThread(mine, [&] {
      Value remote = NVVM::MapaOp::create(
          builder, getClusterPointerType(builder.getContext()),
          sharedMemory.getAddress(stage.empty), rank);
      // Not at cluster scope: that waits for all of the thread's writes to be
      // known everywhere, to global memory too, and nothing is handed over
      // here but the leave to overwrite what has been read.
      arriveAt(builder, remote);
    });
    return success();
  }
  Value first = builder.isEqual(lane, 0);
  builder.ifThread(first, [&] {
    NVVM::MBarrierArriveOp::create(builder, builder.getI64Type(),
                                   sharedMemory.getAddress(stage.empty),
                                   /*count=*/Value());
  });
  return success();
}

namespace {
/// Builds the copies that fill a buffer.
class AsyncLoadEmitter : public OpEmitter {
public:
  AsyncLoadEmitter(ProgramLowering &lowering, tile::AsyncLoadOp op)
      : OpEmitter(lowering), op(op),
        place(sharedMemory.getPlace(op.getBuffer())),
        blocks(op.getMulticast()
                   ? lowering.getProgram().getCluster().value_or(1)
                   : 1) {}

  LogicalResult emit();

private:
  /// The boxes of this block: of a copy for all blocks of a cluster each makes
  /// its part.
  FailureOr<tile::DealtBoxes> dealBoxes();
  /// `step` times the block's rank.
  Value byRank(int64_t step) {
    return arith::MulIOp::create(builder, rank, builder.constant32(step));
  }
  void copyBox(const tile::CopyBox &box, const tile::CopyBox &step);

  tile::AsyncLoadOp op;
  SharedPlace place;
  int64_t blocks;
  /// The block's rank and who gets its copies; null where each block copies
  /// for itself.
  Value rank, mask;
  Value barrier, parameter;
  /// Of windows, of each piece from the fastest dimension on.
  SmallVector<SmallVector<Value>> offsets;
};
} // namespace

FailureOr<tile::DealtBoxes> AsyncLoadEmitter::dealBoxes() {
  tile::TensorMapType map = op.getMap().getType();
  auto swizzle = static_cast<tile::TmaSwizzle>(map.getSwizzle());
  auto boxes =
      tile::getCopyBoxes(op.getBuffer().getType().getLayout().getShared(),
                         map.getBox(), op.getDims(), swizzle);
  if (!boxes || place.alignment() < tile::getSwizzleAlignment(swizzle))
    return op.emitOpError("FUS-3311: copies with this map do not give the "
                          "buffer's layout");
  std::optional<tile::DealtBoxes> dealt = tile::dealBoxes(*boxes, blocks);
  if (!dealt || (blocks > 1 && !op.getOffsets().empty()))
    return op.emitOpError("FUS-3318: the boxes of a copy for ")
           << blocks << " blocks cannot be dealt to them";
  // Only the engine knows where the windows of later pixels start.
  int64_t pixels = map.getBox().size() - 2;
  unsigned rows = llvm::find(op.getDims(), pixels) - op.getDims().begin();
  if (!op.getOffsets().empty() &&
      llvm::any_of(dealt->first, [&](const tile::CopyBox &box) {
        return box.start[rows] != 0;
      }))
    return op.emitOpError("FUS-3311: a copy of windows takes all rows of the "
                          "buffer at once");
  return *dealt;
}

void AsyncLoadEmitter::copyBox(const tile::CopyBox &box,
                               const tile::CopyBox &step) {
  Value moved = rank ? byRank(step.offset) : Value();
  Value target = LLVM::AddrSpaceCastOp::create(
      builder, getClusterPointerType(builder.getContext()),
      sharedMemory.getAddress(place.plus(box.offset), moved));
  // Each piece has coordinates of its own.
  tile::Coords start = box.start;
  int64_t pieces = op.getNumPieces(), piece = 0;
  if (std::optional<int64_t> along = op.getAlong()) {
    int64_t length = op.getBuffer().getType().getShape()[*along] / pieces;
    piece = start[*along] / length;
    start[*along] %= length;
  }
  size_t numDims = op.getCoordinates().size() / pieces;
  SmallVector<Value> coordinates = getBoxCoordinates(
      lowering, op.getCoordinates().slice(piece * numDims, numDims),
      op.getDims(), start);
  if (rank)
    for (auto [dim, distance] : llvm::zip(op.getDims(), step.start))
      if (distance != 0) {
        // The instruction counts dimensions from the fastest.
        Value &own = coordinates.rbegin()[dim];
        own = arith::AddIOp::create(builder, own, byRank(distance));
      }
  ValueRange ofPiece;
  if (!offsets.empty())
    ofPiece = offsets[piece];
  auto mode =
      offsets.empty() ? NVVM::TMALoadMode::TILE : NVVM::TMALoadMode::IM2COL;
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, target, parameter, coordinates, barrier,
      /*im2colOffsets=*/ofPiece, /*multicastMask=*/mask,
      /*l2CacheHint=*/Value(), mode, /*isCTAOnly=*/false,
      /*group=*/nullptr, /*predicate=*/Value());
}

LogicalResult AsyncLoadEmitter::emit() {
  FailureOr<tile::DealtBoxes> dealt = dealBoxes();
  if (failed(dealt))
    return failure();
  if (blocks > 1) {
    rank = NVVM::ClusterId::create(builder, builder.getI32Type());
    mask = arith::ConstantIntOp::create(builder, builder.getI16Type(),
                                        (int64_t(1) << blocks) - 1);
  }
  barrier = sharedMemory.getAddress(getStage(op, lowering).full);
  parameter = lowering.getParameter(op.getMap().getDefiningOp());
  size_t each = op.getOffsets().size() / op.getNumPieces();
  for (auto offset = op.getOffsets().begin(); offset != op.getOffsets().end();
       offset += each) {
    SmallVector<Value> &own = offsets.emplace_back();
    for (Value place : llvm::reverse(llvm::make_range(offset, offset + each)))
      own.push_back(
          arith::TruncIOp::create(builder, builder.getI16Type(),
                                  builder.toI32(lowering.getScalar(place))));
  }
  for (const tile::CopyBox &box : dealt->first)
    copyBox(box, dealt->step);
  return success();
}

LogicalResult AsyncLoadLowering::lower(tile::AsyncLoadOp op,
                                       ProgramLowering &lowering) const {
  return AsyncLoadEmitter(lowering, op).emit();
}

void mlir::fusion::populateRingLowerings(LoweringSet &lowerings) {
  lowerings.add<MakeRingLowering, AcquireLowering, WaitLowering, DrainLowering,
                GroupBufferLowering, TransposeBufferLowering, ReleaseLowering,
                AsyncLoadLowering>();
}
