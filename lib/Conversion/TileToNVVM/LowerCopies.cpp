//===- LowerCopies.cpp - Copies by the threads themselves -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of copies from global to shared memory
// that threads make without registers (cp.async).
//
//===----------------------------------------------------------------------===//

#include "AccessPlan.h"
#include "RingStages.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

namespace {
struct StageLowering : public TileOpLowering<tile::StageOp> {
  LogicalResult lower(tile::StageOp op,
                      ProgramLowering &lowering) const override;
};

struct CopyStartLowering : public TileOpLowering<tile::CopyStartOp> {
  LogicalResult lower(tile::CopyStartOp op,
                      ProgramLowering &lowering) const override;
};

struct CopyArriveLowering : public TileOpLowering<tile::CopyArriveOp> {
  LogicalResult lower(tile::CopyArriveOp op,
                      ProgramLowering &lowering) const override;
};

struct CopyCommitLowering : public TileOpLowering<tile::CopyCommitOp> {
  LogicalResult lower(tile::CopyCommitOp op,
                      ProgramLowering &lowering) const override;
};

struct CopyWaitLowering : public TileOpLowering<tile::CopyWaitOp> {
  LogicalResult lower(tile::CopyWaitOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

LogicalResult StageLowering::lower(tile::StageOp op,
                                   ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  auto alloc = op.getBuffer().getDefiningOp<tile::AllocOp>();
  if (!alloc || !alloc.getStages())
    return op.emitOpError("FUS-3320: not a stage of a buffer that has stages");
  sharedMemory.setPlace(op.getResult(),
                        {static_cast<int64_t>(*alloc.getOffset()),
                         builder.toI32(lowering.getScalar(op.getNumber())),
                         alloc.getStageBytes()});
  return success();
}

/// Starts the copy of `bytes` bytes, or as many zeros where `inBounds` fails,
/// if `predicate` holds; null stands for true.
static void startCopy(ThreadBuilder &builder, Value target, Value source,
                      unsigned bytes, Value inBounds, Value predicate) {
  // Only whole lines may pass by the first cache.
  StringRef cache = bytes == 16 ? "cg" : "ca";
  std::string copy =
      ("cp.async." + cache + ".shared.global [$0], [$1], " + Twine(bytes))
          .str();
  SmallVector<Value> operands = {target, source};
  std::string constraints = "l,l";
  auto asInteger = [&](Value flag, int32_t ifTrue) -> Value {
    return arith::SelectOp::create(builder, flag, builder.constant32(ifTrue),
                                   builder.constant32(0));
  };
  if (inBounds) {
    // What is not read becomes zero.
    operands.push_back(asInteger(inBounds, bytes));
    constraints += ",r";
    copy += ", $2";
  }
  copy += ";";
  if (predicate) {
    std::string number = std::to_string(operands.size());
    operands.push_back(asInteger(predicate, 1));
    constraints += ",r";
    copy = "{\n.reg .pred p;\nsetp.ne.b32 p, $" + number + ", 0;\n@p " + copy +
           "\n}";
  }
  builder.inlineAsm(nullptr, operands, copy, constraints + ",~{memory}");
}

LogicalResult CopyStartLowering::lower(tile::CopyStartOp op,
                                       ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  AccessPlan plan(lowering, tile::Access::of(op));
  const LinearLayout &layout = *plan.getLayout();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  std::optional<tile::SharedAccess> target =
      tile::getSharedAccess(layout, shared, plan.width());
  unsigned bytes = plan.width() * shared.elementBytes();
  bool fits = target && (bytes == 4 || bytes == 8 || bytes == 16);
  if (fits)
    for (const tile::SharedAccess::Group &group : target->groups)
      fits &= group.regs == plan.groupOf(group.regs.front());
  if (!fits)
    return op.emitOpError("FUS-3321: no copies of 4, 8 or 16 bytes move the "
                          "tile as it is laid out");
  SharedPlace place = sharedMemory.getPlace(op.getBuffer());
  Value threadOffset = threads.apply(target->laneOffset, target->warpOffset);
  Value predicate =
      op.getPredicate() ? lowering.getScalar(op.getPredicate()) : Value();
  if (Value owner = threads.isOwner(layout))
    predicate =
        predicate ? arith::AndIOp::create(builder, predicate, owner).getResult()
                  : owner;
  for (const tile::SharedAccess::Group &group : target->groups) {
    auto [source, inBounds] = plan.getAddress(group.regs.front());
    Value address =
        sharedMemory.getAddress(place, threadOffset, target->xorPart(group),
                                target->immediatePart(group));
    startCopy(builder, address, source, bytes, inBounds, predicate);
  }
  return success();
}

LogicalResult CopyWaitLowering::lower(tile::CopyWaitOp op,
                                      ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  NVVM::CpAsyncWaitGroupOp::create(builder, op.getPending());
  return success();
}

LogicalResult CopyArriveLowering::lower(tile::CopyArriveOp op,
                                        ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  RingStage stage =
      getStage(lowering, op.getRing(),
               builder.toI32(lowering.getScalar(op.getPosition())));
  Value address = sharedMemory.getAddress32(stage.full);
  builder.inlineAsm(nullptr, {address},
                    "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];",
                    "r,~{memory}");
  return success();
}

LogicalResult CopyCommitLowering::lower(tile::CopyCommitOp op,
                                        ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  NVVM::CpAsyncCommitGroupOp::create(builder);
  return success();
}

void mlir::fusion::populateCopyLowerings(LoweringSet &lowerings) {
  lowerings.add<StageLowering, CopyStartLowering, CopyArriveLowering,
                CopyCommitLowering, CopyWaitLowering>();
}
