//===- LowerRoles.cpp - Roles of warps ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the branch into the roles of warps.
//
//===----------------------------------------------------------------------===//

#include "ClusterBarriers.h"
#include "OpEmitter.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct SpecializeLowering : public TileOpLowering<tile::SpecializeOp> {
  LogicalResult lower(tile::SpecializeOp op,
                      ProgramLowering &lowering) const override;
};

struct GroupNumberLowering : public TileOpLowering<tile::GroupNumberOp> {
  LogicalResult lower(tile::GroupNumberOp op,
                      ProgramLowering &lowering) const override;
};

/// Builds the branches into roles.
class RoleEmitter : public OpEmitter {
public:
  RoleEmitter(ProgramLowering &lowering, tile::SpecializeOp op)
      : OpEmitter(lowering), op(op), role(lowering.getRole()),
        numWarps(lowering.getProgram().getNumWarps()) {}

  LogicalResult emit();

private:
  void setRegisters(unsigned number, NVVM::SetMaxRegisterAction action);
  /// Lowers the code of a producer, in one thread of warp `warp`.
  LogicalResult lowerProducer(Region &region, int32_t warp);
  LogicalResult lowerConsumer();
  /// Makes the code that follows that of the groups, which are the last to have
  /// code: thread, warp and buffers are those of a group.
  void enterGroup();

  tile::SpecializeOp op;
  WarpRole &role;
  int32_t numWarps;
};
} // namespace

void RoleEmitter::setRegisters(unsigned number,
                               NVVM::SetMaxRegisterAction action) {
  if (std::optional<ArrayRef<int64_t>> registers = op.getRegisters())
    NVVM::SetMaxRegisterOp::create(builder, (*registers)[number], action);
}

void RoleEmitter::enterGroup() {
  // From here on a thread's number is that in its group.
  Value group = arith::ShRUIOp::create(
      builder, threads.getWarp(), builder.constant32(llvm::Log2_32(numWarps)));
  Value thread =
      arith::AndIOp::create(builder, threads.getThread(),
                            builder.constant32(numWarps * kWarpThreads - 1));
  role.setGroup(group);
  threads.setThread(thread, thread.getDefiningOp());
  op.getConsumer().walk([&](tile::AllocOp alloc) {
    sharedMemory.setPlace(alloc,
                          {static_cast<int64_t>(*alloc.getOffset()), group,
                           static_cast<int64_t>(*op.getGroupBytes())});
  });
}

LogicalResult RoleEmitter::lowerProducer(Region &region, int32_t warp) {
  OpBuilder::InsertionGuard guard(builder);
  Value mine = builder.isEqual(threads.getWarp(), warp);
  auto ofWarp = scf::IfOp::create(builder, mine, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(ofWarp.thenBlock());
  Value elected = NVVM::ElectSyncOp::create(builder, builder.getI1Type(),
                                            /*membermask=*/Value());
  auto ofThread = scf::IfOp::create(builder, elected, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(ofThread.thenBlock());
  role.setKind(WarpRole::Kind::Producer);
  LogicalResult lowered = lowering.lowerBlock(region.front());
  role.setKind(WarpRole::Kind::Block);
  return lowered;
}

LogicalResult RoleEmitter::lowerConsumer() {
  setRegisters(1, NVVM::SetMaxRegisterAction::increase);
  role.setKind(WarpRole::Kind::Consumer);
  if (op.getGroups() > 1)
    enterGroup();
  LogicalResult lowered = lowering.lowerBlock(op.getConsumer().front());
  role.setKind(WarpRole::Kind::Block);
  return lowered;
}

LogicalResult RoleEmitter::emit() {
  // Barriers of rings made before are ready from here on.
  if (lowering.getProgram().getCluster().value_or(1) > 1) {
    arriveAtCluster(builder);
    waitForCluster(builder);
  } else {
    NVVM::BarrierOp::create(builder);
  }
  // ptxas gives a kernel that moves registers an even share of them only where
  // the number of resident blocks is said, and else may refuse to move any.
  if (op.getRegisters())
    lowering.getKernel()->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                                  builder.getI32IntegerAttr(1));
  int32_t consumers = numWarps * op.getGroups();
  OpBuilder::InsertionGuard guard(builder);
  Value produces =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::uge,
                            threads.getWarp(), builder.constant32(consumers));
  auto roles = scf::IfOp::create(builder, produces, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(roles.thenBlock());
  setRegisters(0, NVVM::SetMaxRegisterAction::decrease);
  for (auto [i, region] : llvm::enumerate(op.getProducers()))
    if (failed(lowerProducer(region, consumers + static_cast<int32_t>(i))))
      return failure();
  builder.setInsertionPointToStart(roles.elseBlock());
  return lowerConsumer();
}

LogicalResult SpecializeLowering::lower(tile::SpecializeOp op,
                                        ProgramLowering &lowering) const {
  return RoleEmitter(lowering, op).emit();
}

LogicalResult GroupNumberLowering::lower(tile::GroupNumberOp op,
                                         ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  Value group = lowering.getRole().getGroup();
  lowering.set(op.getResult(),
               {group ? builder.toIndex(group) : builder.constantIndex(0)});
  return success();
}

void mlir::fusion::populateRoleLowerings(LoweringSet &lowerings) {
  lowerings.add<SpecializeLowering, GroupNumberLowering>();
}
