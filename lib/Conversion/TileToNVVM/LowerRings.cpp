//===- LowerRings.cpp - Rings of buffers and tensor copies into them ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements tensor maps, the barriers of rings, and the copies of
// the tensor copy engine that complete on them.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "fusion/Dialect/Tile/Transforms/TensorCopy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

static constexpr int64_t kBarrierBytes = 8;

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

LogicalResult
ProgramLowering::collectTensorMaps(SmallVectorImpl<Type> &arguments) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  WalkResult result = program.getBody().walk([&](tile::TensorMapOp op) {
    auto view = op.getView().getDefiningOp<tile::MakeViewOp>();
    auto base = view ? dyn_cast<BlockArgument>(view.getBase()) : nullptr;
    if (!base || base.getOwner() != &program.getBody().front() ||
        !view.getShapeAttr()) {
      op.emitOpError("FUS-3309: the launch knows base and sizes only of a view "
                     "of an argument with 'shape'");
      return WalkResult::interrupt();
    }
    tensorMaps[op] = arguments.size();
    arguments.push_back(pointer);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void ProgramLowering::describeTensorMaps() {
  if (tensorMaps.empty())
    return;
  SmallVector<Attribute> descriptions;
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (auto [op, parameter] : tensorMaps) {
    auto map = cast<tile::TensorMapOp>(op);
    function.setArgAttr(parameter, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(bytes));
    function.setArgAttr(parameter, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(64));
    function.setArgAttr(parameter, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
    tile::TensorMapType type = map.getType();
    auto view = map.getView().getDefiningOp<tile::MakeViewOp>();
    SmallVector<int64_t> strides(type.getBox().size(), 1);
    if (std::optional<ArrayRef<int64_t>> given = map.getElementStrides())
      strides.assign(given->begin(), given->end());
    auto number = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    // Copies through a map of tf32 round f32 elements.
    Type element = map->hasAttr(tile::kTF32MapAttrName)
                       ? FloatTF32Type::get(builder.getContext())
                       : type.getElementType();
    SmallVector<NamedAttribute> entries{
        number("parameter", parameter),
        number("base", cast<BlockArgument>(view.getBase()).getArgNumber()),
        builder.getNamedAttr("shape", view.getShapeAttr()),
        builder.getNamedAttr("element", TypeAttr::get(element)),
        builder.getNamedAttr("box",
                             builder.getDenseI64ArrayAttr(type.getBox())),
        builder.getNamedAttr("element_strides",
                             builder.getDenseI64ArrayAttr(strides)),
        builder.getNamedAttr(
            "swizzle",
            builder.getI32IntegerAttr(static_cast<int>(type.getSwizzle())))};
    if (std::optional<tile::Im2ColAttr> im2col = map.getIm2col()) {
      ArrayRef<int64_t> box = type.getBox();
      entries.push_back(builder.getNamedAttr(
          "im2col",
          builder.getDictionaryAttr(
              {builder.getNamedAttr(
                   "lower", builder.getDenseI64ArrayAttr(im2col->getLower())),
               builder.getNamedAttr(
                   "upper", builder.getDenseI64ArrayAttr(im2col->getUpper())),
               number("channels", box.back()),
               number("pixels", box[box.size() - 2])})));
    }
    descriptions.push_back(builder.getDictionaryAttr(entries));
  }
  function->setAttr("tile.tensor_maps", builder.getArrayAttr(descriptions));

  // The first copy need not wait for its map.
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      thread, constant32(0));
  ifThread(first, [&] {
    for (auto [op, parameter] : tensorMaps)
      inlineAsm(nullptr, {entry->getArgument(parameter)},
                "prefetch.tensormap [$0];", "l");
  });
}

SmallVector<Value> ProgramLowering::boxCoordinates(ValueRange coordinates,
                                                   ArrayRef<int64_t> dims,
                                                   ArrayRef<int32_t> start) {
  SmallVector<Value> result;
  for (Value coordinate : coordinates)
    result.push_back(toI32(getScalar(coordinate)));
  for (auto [dim, offset] : llvm::zip(dims, start))
    if (offset != 0)
      result[dim] =
          arith::AddIOp::create(builder, loc, result[dim], constant32(offset));
  // The instruction counts dimensions from the fastest.
  std::reverse(result.begin(), result.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

ProgramLowering::RingStage ProgramLowering::stageAt(Value ring, Value at) {
  auto make = ring.getDefiningOp<tile::MakeRingOp>();
  tile::RingType type = make.getType();
  int64_t stages = type.getStages();
  Value stage, round = at;
  if (stages > 1 && llvm::isPowerOf2_64(stages)) {
    stage = arith::AndIOp::create(builder, loc, at, constant32(stages - 1));
    round = arith::ShRUIOp::create(builder, loc, at,
                                   constant32(llvm::Log2_64(stages)));
  } else if (stages > 1) {
    stage = arith::RemUIOp::create(builder, loc, at, constant32(stages));
    round = arith::DivUIOp::create(builder, loc, at, constant32(stages));
  }
  int64_t begin = *make.getOffset();
  int64_t barriers = begin + stages * type.getStageBytes();
  RingStage result;
  result.buffers = {begin, stage, type.getStageBytes()};
  result.full = {barriers, stage, kBarrierBytes};
  result.empty = {barriers + stages * kBarrierBytes, stage, kBarrierBytes};
  result.parity = arith::AndIOp::create(builder, loc, round, constant32(1));
  return result;
}

void ProgramLowering::setStageBuffers(const RingStage &stage,
                                      tile::RingType ring, ValueRange buffers) {
  for (auto [number, buffer] : llvm::enumerate(buffers))
    ringBuffers[buffer] = stage.buffers.plus(ring.getBufferOffset(number));
}

LogicalResult ProgramLowering::lowerMakeRing(tile::MakeRingOp op) {
  if (!op.getOffset())
    return op.emitOpError("FUS-3310: has no place in shared memory; run "
                          "tile-allocate-shared-memory first");
  tile::RingType type = op.getType();
  int64_t stages = type.getStages();
  auto barriers =
      SharedPlace::at(*op.getOffset() + stages * type.getStageBytes());
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      thread, constant32(0));
  // Full: one arrival, by who announces the bytes, or one by each thread that
  // copies. Empty: one by each warp that reads what is copied from here.
  int32_t writers = op.getByThreads() ? program.getNumWarps() * 32 : 1;
  int32_t readers = program.getNumWarps() * op.getGroups().value_or(1);
  if (op.getMulticast())
    readers *= program.getCluster().value_or(1);
  ifThread(first, [&] {
    for (int64_t i = 0; i < 2 * stages; ++i)
      NVVM::MBarrierInitOp::create(
          builder, loc, sharedAddress(barriers.plus(i * kBarrierBytes)),
          constant32(i < stages ? writers : readers),
          /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  });
  return success();
}

void ProgramLowering::waitForPhase(const SharedPlace &barrier, Value parity) {
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                           sharedAddress(barrier));
  inlineAsm(nullptr, {address, parity},
            "{\n"
            ".reg .pred done;\n"
            "again:\n"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n"
            "@!done bra again;\n"
            "}",
            "r,r,~{memory}");
}

LogicalResult ProgramLowering::lowerAcquire(tile::AcquireOp op) {
  RingStage stage = stageAt(op.getRing(), toI32(getScalar(op.getPosition())));
  // The first round finds every stage free: the phase before the first counts
  // as complete.
  waitForPhase(stage.empty, arith::XOrIOp::create(builder, loc, stage.parity,
                                                  constant32(1)));
  if (op.getBuffers().empty())
    return success();
  int64_t bytes = 0;
  for (Value buffer : op.getBuffers())
    bytes += cast<tile::BufferType>(buffer.getType())
                 .getLayout()
                 .getShared()
                 .sizeInBytes();
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, /*res=*/Type(), sharedAddress(stage.full),
      constant32(bytes), NVVM::MemScopeKind::CTA, /*relaxed=*/false,
      /*predicate=*/Value());
  setStageBuffers(stage, op.getRing().getType(), op.getBuffers());
  return success();
}

LogicalResult ProgramLowering::lowerDrain(tile::DrainOp op) {
  Value position = getScalar(op.getPosition());
  for (int64_t i = 0; i < op.getRing().getType().getStages(); ++i) {
    Value at =
        arith::AddIOp::create(builder, loc, toI32(position), constant32(i));
    RingStage stage = stageAt(op.getRing(), at);
    waitForPhase(stage.empty, arith::XOrIOp::create(builder, loc, stage.parity,
                                                    constant32(1)));
  }
  return success();
}

LogicalResult ProgramLowering::lowerWait(tile::WaitOp op) {
  RingStage stage = stageAt(op.getRing(), toI32(getScalar(op.getPosition())));
  waitForPhase(stage.full, stage.parity);
  setStageBuffers(stage, op.getRing().getType(), op.getBuffers());
  return success();
}

LogicalResult ProgramLowering::lowerGroupBuffer(tile::GroupBufferOp op) {
  SharedPlace place = placeOf(op.getBuffers().front());
  // The buffers are equal, so that alignment leaves them equally far apart.
  if (op.getBuffers().size() > 1) {
    place.group = groupNumber;
    place.groupBytes = placeOf(op.getBuffers()[1]).offset - place.offset;
  }
  ringBuffers[op.getResult()] = place;
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
    Value buffer = load.getBuffer();
    if (auto own = buffer.getDefiningOp<tile::GroupBufferOp>())
      buffer = own.getBuffers().front();
    auto wait = buffer.getDefiningOp<tile::WaitOp>();
    if (wait && wait.getRing() == op.getRing() &&
        !(waits && feedsProduct(load)))
      return true;
  }
  return false;
}

LogicalResult ProgramLowering::lowerRelease(tile::ReleaseOp op) {
  RingStage stage = stageAt(op.getRing(), toI32(getScalar(op.getPosition())));
  // An arrival does not wait for loads before it, and the copy that it lets go
  // on is of another proxy.
  if (followsReads(op))
    fenceCopies();
  // All lanes have read what they wanted before one of them says so.
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  Value lane = arith::AndIOp::create(builder, loc, thread, constant32(31));
  if (op.getRing().getDefiningOp<tile::MakeRingOp>().getMulticast()) {
    // One lane for each block that copies to here. The others' numbers are
    // made ranks too: what has no effect may be computed before the branch.
    int64_t blocks = program.getCluster().value_or(1);
    Value mine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       lane, constant32(blocks));
    Value rank =
        arith::AndIOp::create(builder, loc, lane, constant32(blocks - 1));
    ifThread(mine, [&] {
      Value remote = NVVM::MapaOp::create(builder, loc, clusterPointerType(),
                                          sharedAddress(stage.empty), rank);
      // Not at cluster scope: that waits for all of the thread's writes to be
      // known everywhere, to global memory too, and nothing is handed over
      // here but the leave to overwrite what has been read.
      arriveAt(remote);
    });
    return success();
  }
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, constant32(0));
  ifThread(first, [&] {
    NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(),
                                   sharedAddress(stage.empty),
                                   /*count=*/Value());
  });
  return success();
}

LogicalResult ProgramLowering::lowerAsyncLoad(tile::AsyncLoadOp op) {
  tile::TensorMapType map = op.getMap().getType();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  auto swizzle = static_cast<tile::TmaSwizzle>(map.getSwizzle());
  auto boxes = tile::getCopyBoxes(shared, map.getBox(), op.getDims(), swizzle);
  SharedPlace place = placeOf(op.getBuffer());
  if (!boxes || place.alignment() < tile::getSwizzleAlignment(swizzle))
    return op.emitOpError("FUS-3311: copies with this map do not give the "
                          "buffer's layout");
  // Of a copy for all blocks of a cluster each makes its part.
  int64_t blocks = op.getMulticast() ? program.getCluster().value_or(1) : 1;
  std::optional<tile::DealtBoxes> dealt = tile::dealBoxes(*boxes, blocks);
  if (!dealt || (blocks > 1 && !op.getOffsets().empty()))
    return op.emitOpError("FUS-3318: the boxes of a copy for ")
           << blocks << " blocks cannot be dealt to them";
  Value rank, mask;
  if (blocks > 1) {
    rank = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
    mask = arith::ConstantIntOp::create(builder, loc, builder.getI16Type(),
                                        (int64_t(1) << blocks) - 1);
  }
  auto byRank = [&](int64_t step) {
    return arith::MulIOp::create(builder, loc, rank, constant32(step))
        .getResult();
  };
  RingStage stage = stageAt(op.getRing(), toI32(getScalar(op.getPosition())));
  Value barrier = sharedAddress(stage.full);
  Value parameter =
      entry->getArgument(tensorMaps.lookup(op.getMap().getDefiningOp()));
  // From the fastest dimension on, as the coordinates.
  SmallVector<Value> offsets;
  for (Value offset : llvm::reverse(op.getOffsets()))
    offsets.push_back(arith::TruncIOp::create(
        builder, loc, builder.getI16Type(), toI32(getScalar(offset))));
  auto mode =
      offsets.empty() ? NVVM::TMALoadMode::TILE : NVVM::TMALoadMode::IM2COL;
  for (const tile::CopyBox &box : dealt->first) {
    // Only the engine knows where the windows of later pixels start.
    if (!offsets.empty() && box.start[0] != 0)
      return op.emitOpError("FUS-3311: a copy of windows takes all rows of the "
                            "buffer at once");
    Value moved = rank ? byRank(dealt->step.offset) : Value();
    Value target = LLVM::AddrSpaceCastOp::create(
        builder, loc, clusterPointerType(),
        sharedAddress(place.plus(box.offset), moved));
    SmallVector<Value> coordinates =
        boxCoordinates(op.getCoordinates(), op.getDims(), box.start);
    if (rank)
      for (auto [dim, step] : llvm::zip(op.getDims(), dealt->step.start))
        if (step != 0) {
          // The instruction counts dimensions from the fastest.
          Value &own = coordinates.rbegin()[dim];
          own = arith::AddIOp::create(builder, loc, own, byRank(step));
        }
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, target, parameter, coordinates, barrier,
        /*im2colOffsets=*/offsets, /*multicastMask=*/mask,
        /*l2CacheHint=*/Value(), mode, /*isCTAOnly=*/false,
        /*group=*/nullptr, /*predicate=*/Value());
  }
  return success();
}
