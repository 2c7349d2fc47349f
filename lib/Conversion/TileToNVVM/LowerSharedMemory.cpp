//===- LowerSharedMemory.cpp - Buffers in shared memory -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of accesses to buffers in shared
// memory, and barriers.
//
//===----------------------------------------------------------------------===//

#include "SharedStores.h"
#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"
#include "fusion/Dialect/Tile/IR/MatrixAccess.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

/// True when each thread reads what it has copied itself: it waits for no other
/// one, which instructions of a warp would have it read for.
static bool readsOwnCopy(tile::LocalLoadOp op) {
  auto stage = op.getBuffer().getDefiningOp<tile::StageOp>();
  if (!stage)
    return false;
  for (Operation *user : stage.getBuffer().getUsers())
    for (Operation *copy : user->getUsers())
      if (auto start = dyn_cast<tile::CopyStartOp>(copy))
        return start.getLayout() == tile::getLayout(op.getType());
  return false;
}

static std::optional<tile::MatrixAccess> getMatrixAccess(tile::LocalLoadOp op) {
  if (readsOwnCopy(op))
    return std::nullopt;
  return tile::getMatrixAccess(
      tile::getLayout(op.getType()).getLinear(),
      op.getBuffer().getType().getLayout().getShared());
}

namespace {
struct LocalStoreLowering : public TileOpLowering<tile::LocalStoreOp> {
  LogicalResult lower(tile::LocalStoreOp op,
                      ProgramLowering &lowering) const override;
};

struct LocalLoadLowering : public TileOpLowering<tile::LocalLoadOp> {
  LogicalResult lower(tile::LocalLoadOp op,
                      ProgramLowering &lowering) const override;
};

/// Reads by ldmatrix.
struct LoadMatrixLowering : public TileOpLowering<tile::LocalLoadOp> {
  bool matches(tile::LocalLoadOp op) const override {
    return getMatrixAccess(op).has_value();
  }
  LogicalResult lower(tile::LocalLoadOp op,
                      ProgramLowering &lowering) const override;
};

struct BarrierLowering : public TileOpLowering<tile::BarrierOp> {
  LogicalResult lower(tile::BarrierOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

LogicalResult LocalStoreLowering::lower(tile::LocalStoreOp op,
                                        ProgramLowering &lowering) const {
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  if (failed(storeShared(lowering, op, lowering.get(op.getValue()),
                         tile::getLayout(op.getValue().getType()).getLinear(),
                         op.getBuffer().getType().getLayout().getShared(),
                         sharedMemory.getPlace(op.getBuffer()))))
    return failure();
  // Tensor cores read operands past the caches of threads.
  if (llvm::any_of(op.getBuffer().getUsers(), llvm::IsaPred<tile::MmaAsyncOp>))
    fenceCopies(lowering.getBuilder());
  return success();
}

LogicalResult LocalLoadLowering::lower(tile::LocalLoadOp op,
                                       ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  const LinearLayout &layout = tile::getLayout(op.getType()).getLinear();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  SharedPlace place = sharedMemory.getPlace(op.getBuffer());
  unsigned width = tile::getWidestSharedVector(layout, shared);
  std::optional<tile::SharedAccess> access =
      tile::getSharedAccess(layout, shared, width);
  if (!access)
    return op.emitOpError("FUS-3307: no access of this layout to the buffer");
  Type element = lowering.scalarType(op.getType());
  Type stored = memoryType(element);
  Value threadOffset = threads.apply(access->laneOffset, access->warpOffset);
  Scalars results(layout.numRegs());
  for (const tile::SharedAccess::Group &group : access->groups) {
    unsigned count = group.regs.size();
    Type type = count == 1 ? stored : Type(VectorType::get(count, stored));
    Value address =
        sharedMemory.getAddress(place, threadOffset, access->xorPart(group),
                                access->immediatePart(group));
    Value loaded = LLVM::LoadOp::create(builder, type, address,
                                        shared.elementBytes() * count);
    for (auto [i, reg] : llvm::enumerate(group.regs))
      results[reg] = builder.fromMemory(
          count == 1 ? loaded : builder.extractElement(loaded, i), element);
  }
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg)
    results[reg] = results[access->holder[reg]];
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult LoadMatrixLowering::lower(tile::LocalLoadOp op,
                                        ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  std::optional<tile::MatrixAccess> access = getMatrixAccess(op);
  Type i32 = builder.getI32Type();
  Type element = lowering.scalarType(op.getType());
  Type stored = memoryType(element);
  unsigned perWord = access->groups.front().regs.front().size();
  Type result = access->matrices == 1
                    ? i32
                    : Type(LLVM::LLVMStructType::getLiteral(
                          builder.getContext(),
                          SmallVector<Type>(access->matrices, i32)));
  auto name = builder.getStringAttr(
      "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + Twine(access->matrices) +
      (access->transposed ? ".trans" : "") + ".b16");
  SharedPlace place = sharedMemory.getPlace(op.getBuffer());
  Value threadOffset = threads.apply(access->laneOffset, access->warpOffset);
  Scalars results(access->holder.size());
  for (const tile::MatrixAccess::Group &group : access->groups) {
    Value address =
        sharedMemory.getAddress(place, threadOffset, access->xorPart(group),
                                access->immediatePart(group));
    Value loaded = LLVM::CallIntrinsicOp::create(builder, result, name, address)
                       .getResult(0);
    for (auto [matrix, members] : llvm::enumerate(group.regs)) {
      Value word = loaded;
      if (access->matrices != 1)
        word = LLVM::ExtractValueOp::create(
            builder, loaded, ArrayRef<int64_t>{static_cast<int64_t>(matrix)});
      Type type = perWord == 1 ? stored : VectorType::get(perWord, stored);
      Value parts =
          type == i32
              ? word
              : LLVM::BitcastOp::create(builder, type, word).getResult();
      for (auto [i, reg] : llvm::enumerate(members))
        results[reg] = builder.fromMemory(
            perWord == 1 ? parts : builder.extractElement(parts, i), element);
    }
  }
  for (unsigned reg = 0; reg < access->holder.size(); ++reg)
    results[reg] = results[access->holder[reg]];
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult BarrierLowering::lower(tile::BarrierOp op,
                                     ProgramLowering &lowering) const {
  if (op.getWithinWarp())
    lowering.getBuilder().syncWarp();
  else
    lowering.getRole().createBarrier();
  return success();
}

void mlir::fusion::populateSharedMemoryLowerings(LoweringSet &lowerings) {
  lowerings.add<NoCodeLowering<tile::AllocOp>, LocalStoreLowering,
                LocalLoadLowering, LoadMatrixLowering, BarrierLowering>();
}
