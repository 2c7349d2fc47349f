//===- LowerGrid.cpp - Exchange between blocks of the grid ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the lowering of tiles that blocks of the grid hand to
// each other through global memory. Threads write their registers side by side
// and read what the thread of the same number wrote: no tile is rearranged, and
// warps need not wait for each other.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;

/// Bytes of the widest access of a thread, and of a signal.
static constexpr int64_t kWidestBytes = 16, kWordBytes = 4;
/// Reads of a thread that are in flight together.
static constexpr size_t kMostInFlight = 12;

void ProgramLowering::collectScratches(SmallVectorImpl<Type> &arguments) {
  program.getBody().walk([&](tile::ScratchOp op) {
    scratches[op] = arguments.size();
    arguments.push_back(op.getType());
  });
}

void ProgramLowering::describeScratches() {
  if (scratches.empty())
    return;
  // In the order of the parameters, which follow those of the sizes.
  SmallVector<Attribute> descriptions;
  for (auto [op, parameter] : scratches) {
    auto scratch = cast<tile::ScratchOp>(op);
    descriptions.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("bytes", scratch.getBytesAttr()),
         builder.getNamedAttr("signals",
                              builder.getBoolAttr(scratch.getSignals()))}));
  }
  function->setAttr("tile.scratches", builder.getArrayAttr(descriptions));
}

struct ProgramLowering::SlotPlan {
  /// The thread's first byte in the slot, and its warp's signal.
  Value first, signal;
  /// Registers that lie next to each other, and how far after `first`.
  struct Group {
    unsigned tile, reg, count;
    int64_t offset;
  };
  SmallVector<Group> groups;
};

FailureOr<ProgramLowering::SlotPlan>
ProgramLowering::planSlot(Operation *op, ValueRange tiles, Value slots,
                          Value signals, Value number) {
  SlotPlan plan;
  int64_t warps = program.getNumWarps(), threads = warps * 32;
  int64_t offset = 0, bytesOfTiles = 0, width = kWidestBytes;
  for (Value tile : tiles)
    width = std::min<int64_t>(
        width, numScalars(tile.getType()) *
                   scalarType(tile.getType()).getIntOrFloatBitWidth() / 8);
  for (auto [position, tile] : llvm::enumerate(tiles)) {
    int64_t bytes = scalarType(tile.getType()).getIntOrFloatBitWidth() / 8;
    bytesOfTiles +=
        cast<RankedTensorType>(tile.getType()).getNumElements() * bytes;
    unsigned count = width / bytes;
    for (unsigned reg = 0; reg < numScalars(tile.getType()); reg += count) {
      plan.groups.push_back({unsigned(position), reg, count, offset});
      offset += threads * width;
    }
  }
  if (offset != bytesOfTiles)
    return op->emitOpError("FUS-3324: threads hold ")
           << offset << " bytes of tiles that have " << bytesOfTiles;
  auto pointer = cast<LLVM::LLVMPointerType>(slots.getType());
  auto at = [&](Value base, Value index) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                               getScalar(base), ArrayRef<LLVM::GEPArg>{index});
  };
  auto times = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, value, constantIndex(factor));
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  Value slot = getScalar(number);
  plan.first =
      at(slots, add(times(slot, offset), times(toIndex(thread), width)));
  plan.signal = at(signals, add(times(slot, warps * kWordBytes),
                                times(toIndex(warpNumber()), kWordBytes)));
  return plan;
}

LogicalResult ProgramLowering::lowerPublish(tile::PublishOp op) {
  FailureOr<SlotPlan> plan = planSlot(op, op.getValues(), op.getSlots(),
                                      op.getSignals(), op.getNumber());
  if (failed(plan))
    return failure();
  for (const SlotPlan::Group &group : plan->groups) {
    SmallVector<Value> members;
    for (unsigned i = 0; i < group.count; ++i)
      members.push_back(
          toMemory(get(op.getValues()[group.tile])[group.reg + i]));
    Value value = members.size() == 1 ? members.front() : buildVector(members);
    Value address = LLVM::GEPOp::create(
        builder, loc, plan->first.getType(), builder.getI8Type(), plan->first,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(group.offset)});
    unsigned bytes =
        group.count * members.front().getType().getIntOrFloatBitWidth() / 8;
    LLVM::StoreOp::create(builder, loc, value, address, bytes);
  }
  // What the warp has written is known wherever its signal is.
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  signalFromWarp(plan->signal, "st.release.gpu.global.u32 [$0], 1;");
  return success();
}

void ProgramLowering::signalFromWarp(Value signal, StringRef text) {
  Value lane = arith::AndIOp::create(builder, loc, thread, constant32(31));
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, constant32(0));
  ifThread(first, [&] { inlineAsm(nullptr, {signal}, text, "l,~{memory}"); });
}

LogicalResult ProgramLowering::lowerCollect(tile::CollectOp op) {
  FailureOr<SlotPlan> plan = planSlot(op, op.getValues(), op.getSlots(),
                                      op.getSignals(), op.getNumber());
  if (failed(plan))
    return failure();
  inlineAsm(nullptr, {plan->signal},
            "{\n"
            ".reg .pred waits;\n"
            ".reg .b32 word;\n"
            "again:\n"
            "ld.acquire.gpu.global.u32 word, [$0];\n"
            "setp.eq.u32 waits, word, 0;\n"
            "@waits bra again;\n"
            "}",
            "l,~{memory}");
  for (auto [value, result] : llvm::zip(op.getValues(), op.getResults()))
    values[result] = Scalars(get(value));
  for (auto [number, group] : llvm::enumerate(plan->groups)) {
    // ptxas moves no read over a barrier, and else so many to the front that
    // the sums are short of registers.
    if (number % kMostInFlight == 0 && number != 0)
      lowerBarrier();
    Value result = op.getResult(group.tile);
    Type element = scalarType(result.getType());
    Type stored = memoryType(element);
    Type type =
        group.count == 1 ? stored : Type(VectorType::get(group.count, stored));
    Value address = LLVM::GEPOp::create(
        builder, loc, plan->first.getType(), builder.getI8Type(), plan->first,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(group.offset)});
    Value loaded =
        LLVM::LoadOp::create(builder, loc, type, address,
                             group.count * stored.getIntOrFloatBitWidth() / 8);
    for (unsigned i = 0; i < group.count; ++i) {
      Value share = fromMemory(
          group.count == 1 ? loaded : extractElement(loaded, i), element);
      Value &sum = values[result][group.reg + i];
      sum = isa<FloatType>(element)
                ? arith::AddFOp::create(builder, loc, sum, share).getResult()
                : arith::AddIOp::create(builder, loc, sum, share).getResult();
    }
  }
  // The signal is zero again for the next launch; all of the warp have seen it.
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  signalFromWarp(plan->signal, "st.relaxed.gpu.global.u32 [$0], 0;");
  return success();
}
