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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

LogicalResult ProgramLowering::lowerStage(tile::StageOp op) {
  auto alloc = op.getBuffer().getDefiningOp<tile::AllocOp>();
  if (!alloc || !alloc.getStages())
    return op.emitOpError("FUS-3320: not a stage of a buffer that has stages");
  ringBuffers[op.getResult()] = {static_cast<int64_t>(*alloc.getOffset()),
                                 toI32(getScalar(op.getNumber())),
                                 alloc.getStageBytes()};
  return success();
}

void ProgramLowering::startCopy(Value target, Value source, unsigned bytes,
                                Value inBounds, Value predicate) {
  // Only whole lines may pass by the first cache.
  StringRef cache = bytes == 16 ? "cg" : "ca";
  std::string copy =
      ("cp.async." + cache + ".shared.global [$0], [$1], " + Twine(bytes))
          .str();
  SmallVector<Value> operands = {target, source};
  std::string constraints = "l,l";
  auto asInteger = [&](Value flag, int32_t ifTrue) -> Value {
    return arith::SelectOp::create(builder, loc, flag, constant32(ifTrue),
                                   constant32(0));
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
  inlineAsm(nullptr, operands, copy, constraints + ",~{memory}");
}

LogicalResult ProgramLowering::lowerCopyStart(tile::CopyStartOp op) {
  tile::Access access = tile::Access::of(op);
  AccessPlan plan = planAccess(access, {});
  const LinearLayout &layout = *plan.layout;
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
  SharedPlace place = placeOf(op.getBuffer());
  Value threadOffset = applyToThread(target->laneOffset, target->warpOffset);
  Value predicate = op.getPredicate() ? getScalar(op.getPredicate()) : Value();
  if (Value owner = isOwner(layout))
    predicate =
        predicate
            ? arith::AndIOp::create(builder, loc, predicate, owner).getResult()
            : owner;
  for (const tile::SharedAccess::Group &group : target->groups) {
    auto [source, inBounds] = addressOf(plan, group.regs.front());
    Value address = sharedAddress(place, threadOffset, target->xorPart(group),
                                  target->immediatePart(group));
    startCopy(address, source, bytes, inBounds, predicate);
  }
  return success();
}

LogicalResult ProgramLowering::lowerCopyWait(tile::CopyWaitOp op) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, op.getPending());
  return success();
}

LogicalResult ProgramLowering::lowerCopyArrive(tile::CopyArriveOp op) {
  RingStage stage = stageAt(op.getRing(), toI32(getScalar(op.getPosition())));
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                           sharedAddress(stage.full));
  inlineAsm(nullptr, {address},
            "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];", "r,~{memory}");
  return success();
}

LogicalResult ProgramLowering::lowerCopyCommit(tile::CopyCommitOp op) {
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  return success();
}
