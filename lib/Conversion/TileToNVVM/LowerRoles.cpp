//===- LowerRoles.cpp - Roles of warps ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the branch into the roles of warps, and barriers among
// those that share a role.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Barrier 0 is the whole block's; from this one on each group of consumers has
/// one, and then one for each of its warpgroups.
static constexpr int32_t kConsumerBarrier = 1;

void ProgramLowering::namedBarrier(Value number, int32_t threads) {
  NVVM::BarrierOp::create(builder, loc, /*res=*/Type(), number,
                          constant32(threads), NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

Value ProgramLowering::barrierOfGroup(Value number) {
  if (!groupNumber)
    return number;
  constexpr int32_t kWarpgroup = 4;
  int32_t each = 1 + (program.getNumWarps() + kWarpgroup - 1) / kWarpgroup;
  return arith::AddIOp::create(
      builder, loc, number,
      arith::MulIOp::create(builder, loc, groupNumber, constant32(each)));
}

void ProgramLowering::lowerBarrier() {
  if (inConsumer)
    namedBarrier(barrierOfGroup(constant32(kConsumerBarrier)),
                 program.getNumWarps() * 32);
  else
    NVVM::BarrierOp::create(builder, loc);
}

void ProgramLowering::enterGroup(tile::SpecializeOp op) {
  // From here on a thread's number is that in its group.
  int32_t warps = program.getNumWarps();
  groupNumber = arith::ShRUIOp::create(builder, loc, warpNumber(),
                                       constant32(llvm::Log2_32(warps)));
  thread =
      arith::AndIOp::create(builder, loc, thread, constant32(warps * 32 - 1));
  lastThreadOp = thread.getDefiningOp();
  warp = nullptr;
  threadValues.clear();
  op.getConsumer().walk([&](tile::AllocOp alloc) {
    ringBuffers[alloc] = {static_cast<int64_t>(*alloc.getOffset()), groupNumber,
                          static_cast<int64_t>(*op.getGroupBytes())};
  });
}

void ProgramLowering::ifThread(Value condition, function_ref<void()> body) {
  auto guarded = scf::IfOp::create(builder, loc, condition,
                                   /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  body();
}

LogicalResult ProgramLowering::lowerSpecialize(tile::SpecializeOp op) {
  // Barriers of rings made before are ready from here on.
  if (program.getCluster().value_or(1) > 1)
    clusterBarrier();
  else
    NVVM::BarrierOp::create(builder, loc);
  int32_t consumers = program.getNumWarps() * op.getGroups();
  Value number = warpNumber();
  auto setRegisters = [&](unsigned role, NVVM::SetMaxRegisterAction action) {
    if (std::optional<ArrayRef<int64_t>> registers = op.getRegisters())
      NVVM::SetMaxRegisterOp::create(builder, loc, (*registers)[role], action);
  };

  // ptxas gives a kernel that moves registers an even share of them only where
  // the number of resident blocks is said, and else may refuse to move any.
  if (op.getRegisters())
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      builder.getI32IntegerAttr(1));

  OpBuilder::InsertionGuard guard(builder);
  Value produces = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::uge, number, constant32(consumers));
  auto roles = scf::IfOp::create(builder, loc, produces,
                                 /*withElseRegion=*/true);
  builder.setInsertionPointToStart(roles.thenBlock());
  setRegisters(0, NVVM::SetMaxRegisterAction::decrease);
  for (auto [i, region] : llvm::enumerate(op.getProducers())) {
    OpBuilder::InsertionGuard inner(builder);
    Value mine =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                              constant32(consumers + static_cast<int>(i)));
    auto ofWarp = scf::IfOp::create(builder, loc, mine,
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(ofWarp.thenBlock());
    Value elected = NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(),
                                              /*membermask=*/Value());
    auto ofThread = scf::IfOp::create(builder, loc, elected,
                                      /*withElseRegion=*/false);
    builder.setInsertionPointToStart(ofThread.thenBlock());
    inProducer = true;
    LogicalResult lowered = lowerBlock(region.front());
    inProducer = false;
    if (failed(lowered))
      return failure();
  }
  builder.setInsertionPointToStart(roles.elseBlock());
  setRegisters(1, NVVM::SetMaxRegisterAction::increase);
  inConsumer = true;
  if (op.getGroups() > 1)
    enterGroup(op);
  LogicalResult result = lowerBlock(op.getConsumer().front());
  inConsumer = false;
  return result;
}
